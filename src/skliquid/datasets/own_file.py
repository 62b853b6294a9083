"""Own file: a user's CSV or Parquet file as a dataset."""

from math import isinf
from os import PathLike
from pathlib import Path

from skliquid.datasets.catalogue import DATASET_NAMES
from skliquid.datasets.csv_dialect import MISSING
from skliquid.datasets.dataset import Dataset, dataset_from_table, import_pandas
from skliquid.datasets.table import Table, check_column, infer_type, numbers, read_csv
from skliquid.validation.checks import suggestion

_CSV = (".csv", ".csv.gz", ".csv.xz", ".tsv")
_ENDINGS = (*_CSV, ".parquet", ".pq")


def load_own_file(name: str | PathLike[str], *, as_frame: bool, target: str | None) -> Dataset:
    """Return the dataset in a file whose column ``target``, or the last, holds the classes."""
    path = _check_path(name)
    ending = next(ending for ending in _ENDINGS if path.name.lower().endswith(ending))
    is_csv = ending in _CSV
    table = read_csv(path.read_bytes(), path, dialect=None) if is_csv else _read_parquet(path)
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
    column_types = {k: infer_type(column) for k, column in table.items() if k != target}
    for feature, column_type in column_types.items():
        if column_type == "numerical":
            _check_finite(feature, table[feature], path)
    types, title = tuple(column_types.values()), path.name[: -len(ending)]
    return dataset_from_table(
        table, types, target=target, as_frame=as_frame, name=title, source=str(path)
    )


def _check_path(name: str | PathLike[str]) -> Path:
    path = Path(name)
    if not path.name.lower().endswith(_ENDINGS):
        raise ValueError(
            f"name must be one of {', '.join(DATASET_NAMES)}, or the path of a file that ends in "
            f"{', '.join(_ENDINGS)}: got {str(name)!r}. {suggestion(name, DATASET_NAMES)}"
        )
    if not path.is_file():
        raise FileNotFoundError(
            f"name must be the path of an existing file: {path} is not, seen from "
            f"{Path.cwd()}. Correct the path."
        )
    return path


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
