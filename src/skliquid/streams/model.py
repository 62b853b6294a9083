"""StreamedModel: the result of training on a file, saved and used for predictions."""

from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from skliquid.arrays import Floats
from skliquid.ensemble import LiquidEnsembleClassifier
from skliquid.streams.casting import with_booleans
from skliquid.streams.column_types import ColumnType, ColumnTypes
from skliquid.streams.encoding import Encoding
from skliquid.streams.files import DataFiles
from skliquid.streams.whole_file import read_whole, write_whole
from skliquid.voting import winner

_ROWS_AT_ONCE = 8192
_INTERCHANGEABLE = ({"code", "number"}, {"code", "text"})
"""Types of columns in Parquet files of which each can be read as the other."""


class Predictions(NamedTuple):
    """The classes and class probabilities of some rows, compared with their labels.

    ``n_labelled`` rows have a label; ``n_correct`` of them were predicted correctly, and
    ``n_unknown`` have a label that is not a class of the model. In the columns ``unseen`` all
    categories are absent from the training data.
    """

    classes: NDArray[Any]
    probabilities: Floats
    n_correct: int = 0
    n_labelled: int = 0
    n_unknown: int = 0
    unseen: frozenset[str] = frozenset()


@dataclass(eq=False)
class StreamedModel:
    """A trained ensemble, with the encoding that turns rows of a file into its features.

    Attributes
    ----------
    ensemble : LiquidEnsembleClassifier
        The ensemble.
    encoding : Encoding
        The columns that are used, and how they become numbers.
    classes : array
        The classes, sorted.
    target, target_type : str
        The name of the target, and whether it is a "number", "text" or "boolean".
    chosen_types : dict
        Types of columns that differ from those in the training data, as the user chose them.
    left_out : list of str
        Columns that are not used.
    settings : dict
        Hashes of all that the bits depend on, if there was a checkpoint.
    n_rows, n_scored, n_correct : int
        Number of rows trained on, predicted before training on them, and predicted correctly.
    """

    ensemble: LiquidEnsembleClassifier
    encoding: Encoding
    classes: NDArray[Any]
    target: str
    target_type: ColumnType
    chosen_types: ColumnTypes
    left_out: list[str]
    settings: dict[str, str]
    n_rows: int = 0
    n_scored: int = 0
    n_correct: int = 0

    @property
    def accuracy(self) -> float:
        """The accuracy on rows before training on them (prequential), NaN if there are none."""
        return self.n_correct / self.n_scored if self.n_scored else float("nan")

    @property
    def pipeline(self) -> Pipeline:
        """The same model as a scikit-learn pipeline for data frames."""
        booleans = FunctionTransformer(
            with_booleans, kw_args={"column_types": self.encoding.column_types}
        )
        steps = [("booleans", booleans), ("encoder", self.encoding.encoder)]
        return Pipeline([*steps, ("classifier", self.ensemble)])

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file, for ``load_model`` and ``skliquid predict``."""
        write_whole(Path(path), self)

    def predictions(self, path: str | PathLike[str]) -> Iterator[Predictions]:
        """Yield the predictions for a Parquet or CSV file, or a folder, some rows at a time.

        It must have the columns of the training data. The target is optional, and other columns
        are ignored.
        """
        columns = DataFiles(path).column_types
        files = DataFiles(path, {k: t for k, t in self.chosen_types.items() if k in columns})
        column_types = self.encoding.column_types
        if self.target in columns:
            column_types = column_types | {self.target: self.target_type}
        for name, column_type in column_types.items():
            _check_column(name, column_type, files)
        return self._predictions(files, column_types)

    def _predictions(self, files: DataFiles, column_types: ColumnTypes) -> Iterator[Predictions]:
        for table, where in files.tables(column_types, _ROWS_AT_ONCE):
            probabilities = self.ensemble.predict_proba(self.encoding.encode(table, where))
            classes = self.ensemble.classes_[winner(probabilities)]
            counts = self._counts(classes, table) if self.target in column_types else (0, 0, 0)
            unseen = frozenset(self.encoding.unseen(table))
            yield Predictions(classes, probabilities, *counts, unseen)

    def _counts(self, classes: NDArray[Any], table: pa.Table) -> tuple[int, int, int]:
        """Return how many rows are predicted correctly, are labelled, and have an unknown label."""
        labels = table[self.target]
        is_labelled = ~pc.is_null(labels, nan_is_null=True).to_numpy()
        present = labels.to_numpy()[is_labelled]
        n_unknown = np.sum(~np.isin(present, self.ensemble.classes_))
        return int(np.sum(classes[is_labelled] == present)), len(present), int(n_unknown)

    def unused(self, path: str | PathLike[str]) -> list[str]:
        """Return the columns of a file or folder that are not in the training data."""
        known = {*self.encoding.column_types, *self.left_out, self.target}
        return [name for name in DataFiles(path).column_types if name not in known]


def _check_column(name: str, column_type: ColumnType, files: DataFiles) -> None:
    actual = files.column_types.get(name)
    is_readable = actual in (column_type, "empty") or {actual, column_type} in _INTERCHANGEABLE
    if actual is None or not (is_readable or files.are_csv):
        raise ValueError(
            f"Data must have the columns of the training data: {name!r} was {column_type}, and is "
            f"{actual or 'missing'} in {files.path}. Write the column as it was."
        )


def load_model(path: str | PathLike[str]) -> StreamedModel:
    """Return the model in a file that ``StreamedModel.save`` or ``skliquid train`` wrote.

    The file is a pickle, and loading it can run any code: load only files that you trust.
    """
    return read_whole(Path(path), StreamedModel, parameter="model")
