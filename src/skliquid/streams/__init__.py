"""Out of core: files larger than memory, read in increments, for training and predictions.

1. ``column_types`` and ``casting``: what a column holds, and its values in that type;
2. ``parquet_format`` and ``csv_format``: one file, a few thousand rows at a time;
3. ``data_paths`` and ``files``: one file or a folder as one long table;
4. ``encoding`` and ``labels``: its columns as numbers, its target as classes;
5. ``increments``: ``increments_from``, all of this for ``partial_fit``, without ``held_out`` rows;
6. ``model``: the trained model, or the unfinished one of a checkpoint, and ``unseen`` categories of
   the rows that it predicts; ``stored``: how model files hold it;
7. ``training``: ``train_on``, with ``outputs``, ``lock`` and ``ownership`` of the checkpoint.
"""

try:
    import pandas as _pandas  # noqa: F401 (imported here, so that one place reports what is missing)
    import pyarrow as _pyarrow  # noqa: F401 (the same)
except ImportError as error:
    message = "Reading files in increments needs {}, which is not installed: {}."
    install = "pip install 'skliquid[stream]'"
    raise ImportError(message.format(error.name, install), name=error.name) from error

from skliquid.streams.increments import Increments, increments_from
from skliquid.streams.model import StreamedModel, load_model
from skliquid.streams.training import Progress, train_on

__all__ = ["Increments", "Progress", "StreamedModel", "increments_from", "load_model", "train_on"]
