"""Own table: a user's CSV or Parquet file as a dataset, beside those of the paper."""

import lzma
import warnings
import zlib
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from skliquid.datasets import DATASET_NAMES, Dataset, load_dataset

_SEPARATORS = {".csv": ",", ".csv.gz": ",", ".csv.xz": ",", ".tsv": "\t"}
_ENDINGS = (*_SEPARATORS, ".parquet", ".pq")
_UNREADABLE = (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error, pd.errors.ParserWarning)


def load_data(name: str, target: str | None = None) -> Dataset:
    """Return a dataset of the paper, or the one in a file.

    ``target`` is the column of a file with the classes; None means the last one. A feature is
    numerical when every value present is a number, which must be finite, and else categorical.
    Missing values of CSV files are those of ``pandas.read_csv`` and ``?``.
    """
    if name not in DATASET_NAMES:
        return _load_file(_check_path(name), target)
    if target is not None:
        raise ValueError(
            f"target must be left out for a dataset of the paper: got {target!r} for {name}. Leave "
            "it out, or give the path of a file."
        )
    return load_dataset(name)


def _check_path(name: str) -> Path:
    path = Path(name)
    if not path.name.lower().endswith(_ENDINGS):
        raise ValueError(
            f"name must be one of {', '.join(DATASET_NAMES)}, or the path of a file that ends in "
            f"{', '.join(_ENDINGS)}: got {str(name)!r}. {_suggestion(name, DATASET_NAMES)}"
        )
    if not path.is_file():
        raise FileNotFoundError(
            f"name must be the path of an existing file: {path} is not, seen from "
            f"{Path.cwd()}. Correct the path."
        )
    return path


def _suggestion(name: str, choices: Iterable[str]) -> str:
    closest = get_close_matches(name, choices, n=1)
    return f"Did you mean {closest[0]!r}?" if closest else "Choose one of them."


def _load_file(path: Path, target: str | None) -> Dataset:
    ending = next(ending for ending in _ENDINGS if path.name.lower().endswith(ending))
    table = _read_text(path, ending)
    if len(table.columns) < 2 or table.empty:
        raise ValueError(
            f"A dataset must have rows, and a feature besides the class: {path} has {len(table)} "
            f"rows and the columns {', '.join(table)}. Give more; the columns of a CSV file are "
            "separated by commas, those of a TSV file by tabs."
        )
    target = list(table)[-1] if target is None else target
    _check_target(target, table, path)
    names = tuple(name for name in table if name != target)
    columns = [_typed(table[name], path) for name in names]
    are_numbers = [column.dtype == float for column in columns]
    return Dataset(
        name=path.name[: -len(ending)],
        X=np.array(columns, dtype=float if all(are_numbers) else object).T.copy(),
        y=np.array(table[target].tolist()),
        feature_names=names,
        column_types=tuple("numerical" if k else "categorical" for k in are_numbers),
        target_name=target,
        source=str(path),
    )


def _read_text(path: Path, ending: str) -> Any:
    """Return the columns of a file as text, with missing values."""
    frame: Any
    options: Any = {"dtype": str, "na_values": "?", "skipinitialspace": True, "index_col": False}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # rows have too many cells
            if ending in _SEPARATORS:
                frame = pd.read_csv(path, sep=_SEPARATORS[ending], **options)
            else:
                frame = pd.read_parquet(path)
    except _UNREADABLE as error:
        raise ValueError(
            f"A dataset that ends in {ending} must be a file that pandas can read: {path} is not "
            f"({error}). Correct the file, or its name."
        ) from error
    return frame.rename(columns=str).astype(object).map(str, na_action="ignore")


def _check_target(target: str, table: Any, path: Path) -> None:
    if target not in table:
        raise ValueError(
            f"target must be a column of {path}, which has {', '.join(table)}: got {target!r}. "
            f"{_suggestion(target, table)}"
        )
    labels = table[target]
    if n_missing := int(labels.isna().sum()):
        raise ValueError(
            f"Each row must have a class: {n_missing} of the {len(labels)} rows of {path} have "
            f"none in the column {target!r}. Remove these rows, or choose another target."
        )
    if labels.nunique() < 2:
        raise ValueError(
            f"A dataset must have two classes or more: the column {target!r} of {path} holds only "
            f"{labels[0]!r}. Choose another target."
        )


def _typed(column: Any, path: Path) -> Any:
    """Return a column as floats if all values present are numbers, else as text and None."""
    try:
        numbers: Any = pd.to_numeric(column).astype(float)
    except ValueError:
        return column.astype(object).where(column.notna(), None)
    if np.isinf(numbers).any():
        raise ValueError(
            f"Numbers must be finite: the column {column.name!r} of {path} holds "
            f"{column[np.isinf(numbers)].iloc[0]!r}. Leave the cell empty, or give a number."
        )
    return numbers
