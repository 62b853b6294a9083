"""Files larger than memory: read in increments, trained on, predicted.

1. ``kinds`` and ``category_text``: what a column holds, and how a category is written;
2. ``parquet_format`` and ``csv_format``: one file, a few thousand rows at a time;
3. ``files``: one file or a folder as one long table;
4. ``coding`` and ``labels``: its columns as numbers, its target as classes;
5. ``increments``: ``increments_from``, all of this for ``partial_fit``;
6. ``checkpoint``, ``value_hash`` and ``training``: ``train_on``, which can be stopped at any time;
7. ``model``: what comes of it, on disk and at work.
"""

try:
    import pandas as _pandas  # noqa: F401 (asked for here, so that one place says what is missing)
    import pyarrow as _pyarrow  # noqa: F401 (the same)
except ImportError as error:
    raise ImportError(
        f"Reading files in increments needs {error.name}, which is not installed: "
        "pip install 'skliquid[stream]'.",
        name=error.name,
    ) from error

from skliquid.streams.increments import Increments, increments_from
from skliquid.streams.model import StreamedModel, load_model
from skliquid.streams.training import Progress, train_on

__all__ = [
    "Increments",
    "Progress",
    "StreamedModel",
    "increments_from",
    "load_model",
    "train_on",
]
