"""Parquet files, a few thousand rows at a time."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
from pyarrow.parquet import ParquetFile

from skliquid.streams.kinds import Kinds, kinds_of
from skliquid.streams.reason import reason

_ROWS_AT_ONCE = 2048
_BUFFER = 1 << 14
"""Bytes of each column read ahead; without it a row group is read whole, however large it is."""


def parquet_kinds(path: Path) -> Kinds:
    """Return what each column holds."""
    with _opened(path) as file:
        kinds = kinds_of(file.schema_arrow, path)
        categories = _categories_of_pandas(file.schema_arrow)
    is_code = {name for name, kind in kinds.items() if kind == "number"} & categories
    return kinds | dict.fromkeys(is_code, "code")


def _categories_of_pandas(schema: pa.Schema) -> set[str]:
    """Return columns that pandas wrote as categories, whose types do not tell if of numbers."""
    columns = (schema.pandas_metadata or {}).get("columns", [])
    return {each["field_name"] for each in columns if each.get("pandas_type") == "categorical"}


def parquet_n_rows(path: Path) -> int:
    """Return the number of rows, which the end of the file tells."""
    with _opened(path) as file:
        return int(file.metadata.num_rows)


def parquet_batches(
    path: Path, columns: Sequence[str], kinds: Kinds, start: int
) -> Iterator[pa.RecordBatch]:
    """Yield the rows from ``start`` on, in their order; only ``columns`` are read."""
    with _opened(path) as file:
        for group in range(file.num_row_groups):
            n_rows = file.metadata.row_group(group).num_rows
            if start < n_rows:
                try:
                    yield from _group_batches(file, group, columns, start, path)
                finally:  # also when nobody asks for more
                    pa.default_memory_pool().release_unused()
            start = max(start - n_rows, 0)


def _group_batches(
    file: ParquetFile, group: int, columns: Sequence[str], start: int, path: Path
) -> Iterator[pa.RecordBatch]:
    batches = file.iter_batches(
        _ROWS_AT_ONCE,
        row_groups=[group],
        columns=list(columns),
        use_threads=False,  # threads take memory, and reading is not what takes time
    )
    while True:
        try:
            batch = next(batches, None)
        except (pa.ArrowException, OSError) as error:
            raise ValueError(
                f"A row group must be readable: row group {group} (counted from 0, of "
                f"{file.num_row_groups}) of {path} is broken ({reason(error)}). Write the "
                "file again, or remove it."
            ) from error
        if batch is None:
            return
        if start < len(batch):
            yield batch.slice(start)
        start = max(start - len(batch), 0)


def _opened(path: Path) -> ParquetFile:
    try:
        return ParquetFile(
            path, pre_buffer=False, buffer_size=_BUFFER, page_checksum_verification=True
        )
    except (pa.ArrowException, OSError) as error:
        raise ValueError(
            f"A file that ends in .parquet must be a Parquet file: {path} is not "
            f"({reason(error)}). Write it again, or correct its name."
        ) from error
