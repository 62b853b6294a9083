"""StreamedModel: the result of training on a file, with predictions for other files."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from skliquid.delegation.arrays import Floats
from skliquid.delegation.storable import Array, Classes, Count, require, storable
from skliquid.delegation.votes import winner
from skliquid.ensemble import LiquidEnsembleClassifier
from skliquid.files.container import ModelFileError
from skliquid.files.saving import load, save
from skliquid.streams.column_encoding import Encoding, Unseen, find_unseen
from skliquid.streams.column_types import (
    ColumnType,
    ColumnTypes,
    booleans_as_text,
    check_column,
)
from skliquid.streams.csv_dialect import GivenDialect
from skliquid.streams.data_files import DataFiles

_ROWS_AT_ONCE = 8192
_ID: ColumnType = "id"
_INTERCHANGEABLE = ({"code", "number"}, {"code", "text"})  # types in Parquet files


class Predictions(NamedTuple):
    """The predictions for a batch of rows, compared with their labels."""

    classes: NDArray[Any]
    probabilities: Floats
    ids: pa.Table  # the id columns
    unseen: Mapping[str, Unseen]  # categories that the model does not know, by column
    n_correct: int = 0  # rows whose label was predicted
    n_labelled: int = 0  # rows with a label
    n_unknown: int = 0  # rows with a label that is not a class of the model


@storable
@dataclass(eq=False)
class StreamedModel:
    """A trained ensemble, with the encoding that turns rows of a file into its features.

    Attributes
    ----------
    ensemble : LiquidEnsembleClassifier
        The ensemble.
    encoding : Encoding
        The columns that are used, and their encoding as numbers.
    classes : array
        The classes, sorted.
    target, target_type : str
        The name of the target, and whether it is a "number", "text" or "boolean".
    chosen_types : dict
        Types of columns that differ from those in the training data, as the user chose them.
    left_out : list of str
        Columns that are not used.
    settings : dict
        Hashes of all settings and data on which the bits depend, if there was a checkpoint.
    n_rows, n_scored, n_correct : int
        Number of rows read, predicted before training on them, and predicted correctly.
    confusion : array of shape (n_classes, n_classes) or None
        How often held-out rows of each class (a row of the array) were predicted as each class (a
        column); None if no rows were held out, or training is not finished.
    """

    ensemble: LiquidEnsembleClassifier
    encoding: Encoding
    classes: Classes
    target: str
    target_type: ColumnType
    chosen_types: Mapping[str, ColumnType]
    left_out: list[str]
    settings: dict[str, str]
    n_rows: Count = 0
    n_scored: Count = 0
    n_correct: Count = 0
    confusion: Annotated[NDArray[np.int64], Array("n_classes", "n_classes")] | None = None

    def check_stored(self) -> None:
        """Raise unless the ensemble has its classes and features, and labels a type."""
        require(self.target_type in ("number", "text", "boolean"), "a type of labels")
        require(self.target not in self.encoding.column_types, "a target that is not a feature")
        if self.ensemble.__sklearn_is_fitted__():
            are_same = np.array_equal(self.ensemble.classes_, self.classes)
            is_valid = are_same and self.ensemble.n_features_in_ == self.encoding.n_features
            require(is_valid, "an ensemble of its classes and features")

    @property
    def test_accuracy(self) -> float:
        """The accuracy on held-out rows, NaN if there are none."""
        if self.confusion is None or not self.confusion.any():
            return float("nan")
        return float(np.trace(self.confusion) / self.confusion.sum())

    @property
    def accuracy(self) -> float:
        """The accuracy on rows before training on them (prequential), NaN if there are none."""
        return self.n_correct / self.n_scored if self.n_scored else float("nan")

    @property
    def pipeline(self) -> Pipeline:
        """The same model as a scikit-learn pipeline for data frames."""
        types = {"column_types": self.encoding.column_types}
        booleans = FunctionTransformer(booleans_as_text, kw_args=types)
        steps = [("booleans", booleans), ("encoder", self.encoding.encoder)]
        return Pipeline([*steps, ("classifier", self.ensemble)])

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file, as :func:`skliquid.save` does."""
        save(self, path)

    def predictions(
        self,
        path: str | PathLike[str],
        *,
        ids: Sequence[str] | None = None,
        separator: str | None = None,
        decimal: str | None = None,
        encoding: str | None = None,
    ) -> Iterator[Predictions]:
        """Yield the predictions for a Parquet or CSV file, or a folder, in batches of rows.

        It must have the columns of the training data. The target is optional, and other columns
        are ignored. If there are no rows, one batch without rows is yielded.

        Parameters
        ----------
        path, separator, decimal, encoding
            The data, as in :func:`increments_from`; its format may differ from that of training.
        ids : sequence of str, default=None
            Columns to keep beside the predictions; None means the ids of training that it has.
        """
        given = GivenDialect(separator, decimal, encoding)
        columns = DataFiles(path, given=given).column_types
        chosen = {k: t for k, t in self.chosen_types.items() if k in columns}
        files = DataFiles(path, chosen, given)
        if ids is None:
            ids = [k for k, t in self.chosen_types.items() if k in columns and t == "id"]
        for name in ids:
            check_column(name, columns, path, parameter="ids (--id)")
        column_types = self.encoding.column_types
        if self.target in columns:
            column_types = column_types | {self.target: self.target_type}
        for name, column_type in column_types.items():
            _check_column(name, column_type, files)
        return self._predictions(files, dict.fromkeys(ids, _ID) | column_types, list(ids))

    def _predictions(
        self, files: DataFiles, column_types: ColumnTypes, ids: list[str]
    ) -> Iterator[Predictions]:
        known, is_empty = self.encoding.categories, True
        for table, locate in files.tables(column_types, _ROWS_AT_ONCE):
            is_empty = False
            probabilities = self.ensemble.predict_proba(self.encoding.encode(table, locate))
            classes = self.ensemble.classes_[winner(probabilities)]
            counts = self._counts(classes, table) if self.target in column_types else (0, 0, 0)
            unseen = find_unseen(table, known)
            yield Predictions(classes, probabilities, table.select(ids), unseen, *counts)
        if is_empty:
            classes = self.ensemble.classes_
            no_ids = pa.table({name: pa.array([], pa.string()) for name in ids})
            yield Predictions(classes[:0], np.empty((0, len(classes))), no_ids, {})

    def _counts(self, classes: NDArray[Any], table: pa.Table) -> tuple[int, int, int]:
        """Return the numbers of correct predictions, of labels, and of unknown labels."""
        labels = table[self.target]
        is_labelled = ~pc.is_null(labels, nan_is_null=True).to_numpy()
        present = labels.to_numpy()[is_labelled]
        n_unknown = np.sum(~np.isin(present, self.ensemble.classes_))
        return int(np.sum(classes[is_labelled] == present)), len(present), int(n_unknown)

    def unused(
        self,
        path: str | PathLike[str],
        *,
        separator: str | None = None,
        decimal: str | None = None,
        encoding: str | None = None,
    ) -> list[str]:
        """Return the columns of a file or folder that are not in the training data."""
        known = {*self.encoding.column_types, *self.left_out, self.target}
        files = DataFiles(path, given=GivenDialect(separator, decimal, encoding))
        return [name for name in files.column_types if name not in known]


def _check_column(name: str, column_type: ColumnType, files: DataFiles) -> None:
    actual = files.column_types.get(name)
    is_readable = actual in (column_type, "empty") or {actual, column_type} in _INTERCHANGEABLE
    if actual is None or not (is_readable or files.are_csv):
        raise ValueError(
            f"Data must have the columns of the training data: {name!r} was {column_type}, and is "
            f"{actual or 'missing'} in {files.path}. Write the column as it was."
        )


def load_model(path: str | PathLike[str], *, parameter: str = "model") -> StreamedModel:
    """Return the model in a file that ``StreamedModel.save`` or ``skliquid train`` wrote.

    Nothing in the file is executed; see :func:`skliquid.load`.
    """
    if not Path(path).is_file():
        raise FileNotFoundError(
            f"{parameter} must be an existing file: {path} is not. Correct the path."
        )
    model = load(path)
    if not isinstance(model, StreamedModel):
        raise ModelFileError(
            f"{parameter} must be a file that 'skliquid train' wrote: {path} holds a "
            f"{type(model).__name__}. Use skliquid.load in Python."
        )
    return model
