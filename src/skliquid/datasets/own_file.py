"""A user's own file as a dataset."""

from collections.abc import Callable
from math import isinf
from os import PathLike
from pathlib import Path

from skliquid.checks import suggestion
from skliquid.datasets.catalogue import DATASET_NAMES
from skliquid.datasets.columns import check_column
from skliquid.datasets.csv_dialect import (
    FIRST_BYTES,
    GivenDialect,
    find_dialect,
    with_decimal_points,
)
from skliquid.datasets.dataset import Dataset, dataset_from_table, import_pandas
from skliquid.datasets.table import (
    MISSING,
    Table,
    decompressed,
    inferred_type,
    numbers,
    parse_csv,
)


def check_name(name: str | PathLike[str]) -> None:
    """Raise unless ``name`` ends like the path of a file that can be read."""
    if not Path(name).name.lower().endswith(tuple(_READERS)):
        raise ValueError(
            f"name must be one of {', '.join(DATASET_NAMES)}, or the path of a file that ends in "
            f"{', '.join(_READERS)}: got {str(name)!r}. {suggestion(name, DATASET_NAMES)}"
        )


def check_path(name: str | PathLike[str]) -> Path:
    """Return ``name`` as the path of a file that can be read, or raise."""
    check_name(name)
    path = Path(name)
    if not path.is_file():
        raise FileNotFoundError(
            f"name must be the path of an existing file: {path} is not, seen from "
            f"{Path.cwd()}. Correct the path."
        )
    return path


def load_own_file(path: Path, *, as_frame: bool, target: str | None) -> Dataset:
    """Return the dataset in a file whose column ``target``, or the last, holds the classes."""
    ending = next(ending for ending in _READERS if path.name.lower().endswith(ending))
    table = _READERS[ending](path)
    if len(table) < 2:
        raise ValueError(
            f"A dataset must have a feature besides the class: {path} has one column, "
            f"{next(iter(table))!r}. Add features, and separate the columns by commas, semicolons, "
            "tabs or vertical bars."
        )
    if target is None:
        target = list(table)[-1]
    check_column(target, table, path, parameter="target")
    _check_classes(table[target], path, target)
    features = {name: column for name, column in table.items() if name != target}
    column_types = tuple(map(inferred_type, features.values()))
    for name, column_type in zip(features, column_types, strict=True):
        if column_type == "numerical":
            _check_finite(name, features[name], path)
    return dataset_from_table(
        table,
        column_types,
        target=target,
        as_frame=as_frame,
        name=path.name[: -len(ending)],
        source=str(path),
    )


def _check_classes(labels: tuple[str, ...], path: Path, target: str) -> None:
    if n_missing := sum(label in MISSING for label in labels):
        raise ValueError(
            f"Each row must have a class: {n_missing} of the {len(labels)} rows of {path} have "
            f"none in the column {target!r}. Remove these rows, or choose another target."
        )
    if len(set(labels)) < 2:
        raise ValueError(
            f"A dataset must have two classes or more: the column {target!r} of {path} holds only "
            f"{labels[0]!r}. Choose another target."
        )


def _check_finite(name: str, column: tuple[str, ...], path: Path) -> None:
    for text, number in zip(column, numbers(column), strict=True):
        if isinf(number):
            raise ValueError(
                f"Numbers must be finite: the column {name!r} of {path} holds {text!r}. "
                "Leave the cell empty, or give a number."
            )


def _read_csv(path: Path) -> Table:
    data = decompressed(path.read_bytes(), path)
    first_bytes, is_whole = data[:FIRST_BYTES], len(data) <= FIRST_BYTES
    dialect = find_dialect(first_bytes, GivenDialect(), path, is_whole=is_whole)
    table = parse_csv(
        data,
        path,
        separator=dialect.separator,
        encoding=dialect.encoding,
        n_skipped=dialect.n_skipped,
    )
    if dialect.decimal == ".":
        return table
    return {name: with_decimal_points(column) for name, column in table.items()}


def _read_parquet(path: Path) -> Table:
    pd = import_pandas("A Parquet file")
    try:
        frame = pd.read_parquet(path, engine="pyarrow")
    except ImportError as error:
        raise ImportError(
            "A Parquet file needs pyarrow, which is not installed: pip install pyarrow."
        ) from error
    except (OSError, ValueError) as error:
        raise ValueError(
            f"A dataset that ends in {path.suffix} must be a Parquet file: {path} is not "
            f"({error}). Save it again, or correct its name."
        ) from error
    if frame.empty:
        raise ValueError(f"A dataset must have rows: {path} has none. Give a file with rows.")
    return {
        str(name): tuple(
            "" if is_missing else str(value).strip()
            for value, is_missing in zip(column.tolist(), column.isna(), strict=True)
        )
        for name, column in frame.items()
    }


_READERS: dict[str, Callable[[Path], Table]] = {
    ".csv": _read_csv,
    ".csv.gz": _read_csv,
    ".csv.xz": _read_csv,
    ".tsv": _read_csv,
    ".parquet": _read_parquet,
    ".pq": _read_parquet,
}
