"""A user's own file as a dataset."""

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from math import isinf
from os import PathLike
from pathlib import Path

from skliquid.datasets.catalogue import DATASET_NAMES
from skliquid.datasets.dataset import Dataset, dataset_from_table, import_pandas
from skliquid.datasets.table import MISSING, Table, infer_kind, numbers, read_csv


def check_name(name: str | PathLike[str]) -> None:
    """Raise unless ``name`` ends as the path of a file that can be read."""
    if not Path(name).name.lower().endswith(tuple(_READERS)):
        meant = get_close_matches(str(name), DATASET_NAMES, n=1)
        way_out = f"Did you mean {meant[0]!r}?" if meant else "Choose one of them."
        raise ValueError(
            f"name must be one of {', '.join(DATASET_NAMES)}, or the path of a file that ends in "
            f"{', '.join(_READERS)}: {str(name)!r} is neither. {way_out}"
        )


def check_path(name: str | PathLike[str]) -> Path:
    """Return ``name`` as the path of a file that can be read, or raise."""
    check_name(name)
    path = Path(name)
    if not path.is_file():
        raise FileNotFoundError(
            f"name must be the path of a file that is there: {path} is not, seen from "
            f"{Path.cwd()}. Correct the path."
        )
    return path


def load_own_file(path: Path, *, as_frame: bool, target: str | None) -> Dataset:
    """Return the dataset in a file whose column ``target``, or the last, holds the classes."""
    ending, read = next(
        (ending, read) for ending, read in _READERS.items() if path.name.lower().endswith(ending)
    )
    table = read(path)
    if target is None:
        target = table.names[-1]
    _check_columns(table, path, target)
    _check_classes(table, path, target)
    features = {name: cells for name, cells in zip(*table, strict=True) if name != target}
    kinds = tuple(map(infer_kind, features.values()))
    for name, kind in zip(features, kinds, strict=True):
        if kind == "numerical":
            _check_finite(name, features[name], path)
    return dataset_from_table(
        table,
        kinds,
        target=target,
        as_frame=as_frame,
        name=path.name[: -len(ending)],
        source=str(path),
    )


def _check_columns(table: Table, path: Path, target: str) -> None:
    if len(table.names) < 2:
        raise ValueError(
            f"A dataset must have a feature besides the class: {path} has one column, "
            f"{table.names[0]!r}. Add features, and separate the columns by commas."
        )
    if target not in table.names:
        meant = get_close_matches(target, table.names, n=1)
        way_out = f"Did you mean {meant[0]!r}?" if meant else "Choose one of them."
        raise ValueError(
            f"target must be a column of {path}: {target!r} is none of {', '.join(table.names)}. "
            f"{way_out}"
        )
    if len(set(table.names)) < len(table.names):
        twice = next(name for name in table.names if table.names.count(name) > 1)
        raise ValueError(
            f"Columns must have different names: {path} has {twice!r} more than once. "
            "Rename one; the first line of the file must name the columns."
        )


def _check_classes(table: Table, path: Path, target: str) -> None:
    labels = table.columns[table.names.index(target)]
    n_missing = sum(label in MISSING for label in labels)
    if n_missing:
        raise ValueError(
            f"Each row must have a class: {n_missing} of the {len(labels)} rows of {path} have "
            f"none in the column {target!r}. Remove these rows, or choose another target."
        )
    if len(set(labels)) < 2:
        raise ValueError(
            f"A dataset must have two classes or more: the column {target!r} of {path} holds only "
            f"{labels[0]!r}. Choose another target."
        )


def _check_finite(name: str, column: Sequence[str], path: Path) -> None:
    for text, number in zip(column, numbers(column), strict=True):
        if isinf(number):
            raise ValueError(
                f"Numbers must be finite: the column {name!r} of {path} holds {text!r}. "
                "Leave the cell empty, or give a number."
            )


def _read_csv(path: Path) -> Table:
    return read_csv(path.read_bytes(), path)


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
    columns = (
        tuple(
            "" if missing else str(value).strip()
            for value, missing in zip(frame[name].tolist(), frame[name].isna(), strict=True)
        )
        for name in frame
    )
    return Table(tuple(map(str, frame)), tuple(columns))


_READERS: dict[str, Callable[[Path], Table]] = {
    ".csv": _read_csv,
    ".csv.gz": _read_csv,
    ".csv.xz": _read_csv,
    ".parquet": _read_parquet,
    ".pq": _read_parquet,
}
