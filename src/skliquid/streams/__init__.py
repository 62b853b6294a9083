"""Streams: training and predictions out of core, on files larger than memory.

Start reading in ``file_training``, with ``train_on``.
"""

from skliquid.validation.checks import missing_extra

try:
    import duckdb as _duckdb  # noqa: F401 (imported here, so that one place reports it as missing)
    import pyarrow as _pyarrow  # noqa: F401 (the same)
except ImportError as error:
    raise missing_extra("Reading files in increments", error.name, "stream") from error

from skliquid.streams.file_increments import Increments, increments_from
from skliquid.streams.file_training import Progress, train_on
from skliquid.streams.model import StreamedModel, load_model

__all__ = ["Increments", "Progress", "StreamedModel", "increments_from", "load_model", "train_on"]
