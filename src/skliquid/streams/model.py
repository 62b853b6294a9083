"""StreamedModel: the result of training on a file, with predictions for other files."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import eq
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from skliquid.delegation.arrays import Floats
from skliquid.delegation.storable import Array, Classes, Count, require, storable
from skliquid.delegation.votes import winner
from skliquid.ensemble import LiquidEnsembleClassifier
from skliquid.files.container import ModelFileError
from skliquid.files.saving import load, save
from skliquid.sources.csv_dialect import GivenDialect
from skliquid.sources.data_files import DataFiles
from skliquid.streams.file_increments import check_column
from skliquid.streams.target_labels import parse_label
from skliquid.tables.column_report import ColumnReport
from skliquid.tables.frames import text_of
from skliquid.tables.table_encoder import TableEncoder
from skliquid.validation.checks import suggestion

_ROWS_AT_ONCE = 8192


class Predictions(NamedTuple):
    """The predictions for a batch of rows, compared with their labels."""

    classes: NDArray[Any]
    probabilities: Floats
    ids: pa.Table  # the id columns
    unseen: Mapping[str, Mapping[str, int]]  # rows by unknown category, by column
    unused: Sequence[str]  # columns that are not in the training data
    n_correct: int = 0  # rows whose label was predicted
    n_labelled: int = 0  # rows with a label
    n_unknown: int = 0  # rows with a label that is not a class of the model


@storable
@dataclass(eq=False, kw_only=True)
class StreamedModel:
    """An ensemble trained on files, and how to read other files for it.

    Attributes
    ----------
    ensemble : LiquidEnsembleClassifier
        The ensemble; it predicts data frames.
    classes : array
        The classes, sorted.
    target, target_type : str
        The name of the target, and whether it is a "number", "text" or "boolean".
    column_types : dict
        The types in which the features are read.
    chosen_types : dict
        Types of columns that the user chose.
    missing_values : list of str
        More texts of missing values that the user gave.
    left_out : list of str
        Columns that are not read.
    settings : dict
        Hashes of all settings and data on which the bits depend, if there was a checkpoint.
    n_rows, n_scored, n_correct : int
        Number of rows read, predicted before training on them, and predicted correctly.
    n_unlabelled : int
        Number of rows without a label, which were skipped.
    confusion : array of shape (n_classes, n_classes) or None
        How often held-out rows of each class (a row of the array) were predicted as each class (a
        column); None if no rows were held out, or training is not finished.
    """

    ensemble: LiquidEnsembleClassifier
    encoding: Any = None  # of files of version 3, whose encoder was not in the ensemble
    classes: Classes
    target: str
    target_type: str
    chosen_types: Mapping[str, str]
    left_out: list[str]
    settings: dict[str, str] = field(default_factory=dict)
    n_rows: Count = 0
    n_scored: Count = 0
    n_correct: Count = 0
    confusion: Annotated[NDArray[np.int64], Array("n_classes", "n_classes")] | None = None
    column_types: Mapping[str, str] = field(default_factory=dict)
    missing_values: list[str] = field(default_factory=list)
    n_unlabelled: Count = 0

    def __post_init__(self) -> None:
        self.columns: Sequence[ColumnReport] = ()  # of the data it was trained on, not in files
        if self.encoding is not None:  # of a file of version 3
            types = self.encoding.column_types_.items()
            self.column_types = {k: t if t == "number" else "text" for k, t in types}

    def check_stored(self) -> None:
        """Raise unless the ensemble has its classes, and labels a type."""
        require(self.target_type in ("number", "text", "boolean"), "a type of labels")
        require(self.target not in self.column_types, "a target that is not a feature")
        if self.ensemble.__sklearn_is_fitted__():
            are_same = np.array_equal(self.ensemble.classes_, self.classes)
            require(are_same, "an ensemble of its classes")

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

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file, as :func:`skliquid.save` does."""
        save(self, path)

    def predictions(
        self,
        source: str | PathLike[str],
        *,
        ids: Sequence[str] | None = None,
        separator: str | None = None,
        decimal: str | None = None,
        encoding: str | None = None,
    ) -> Iterator[Predictions]:
        """Yield the predictions for a file, folder or query, in batches of rows.

        It must have the columns of the training data. The target is optional, and other columns
        are ignored. If there are no rows, one batch without rows is yielded.

        Parameters
        ----------
        source, separator, decimal, encoding
            The data, as in :func:`train_on`; its format may differ from that of training.
        ids : sequence of str, default=None
            Columns to keep beside the predictions; None means the ids of training that it has.
        """
        given = GivenDialect(separator, decimal, encoding)
        files = DataFiles(source, self.chosen_types, self.missing_values, given)
        names = files.column_types
        if files.parts[0].dialect:  # cells of CSV files are read as in training
            names |= {name: t for name, t in self.column_types.items() if name in names}
        if ids is None:
            ids = [name for name, t in self.chosen_types.items() if name in names and t == "id"]
        for name in ids:
            check_column(name, files, "ids (--id)")
        encoder = self.encoding or self.ensemble.encoder_
        left_out = {} if encoder is None else encoder.left_out_
        used = [name for name in self.column_types if name not in left_out]
        for name in used:
            if name not in names:
                raise ValueError(
                    f"Data must have the columns of the training data: {name!r} is missing in "
                    f"{source}. {suggestion(name, names)}"
                )
        return self._predictions(files, ids, {name: names[name] for name in used})

    def _predictions(
        self, files: DataFiles, ids: Sequence[str], features: dict[str, str]
    ) -> Iterator[Predictions]:
        others = [*ids, self.target] if self.target in files.column_types else list(ids)
        trained = {*self.column_types, *self.left_out, *others}
        unused = [name for name in files.column_types if name not in trained]
        encoder = self.encoding or self.ensemble.encoder_
        known, start = {} if encoder is None else _known_categories(encoder), 0
        for table in files.tables(dict.fromkeys(others, "id") | features, _ROWS_AT_ONCE):
            X = table.select(list(features))
            try:
                rows = X if self.encoding is None else self.encoding.transform(X)
                probabilities = self.ensemble.predict_proba(rows)
            except ValueError as error:
                first = start  # of the rows in X
                text = files.explain(X, features, lambda k: files.locate(first + k))  # noqa: B023
                raise ValueError(text or str(error)) from error
            start += len(table)
            classes = self.ensemble.classes_[winner(probabilities)]
            counts = self._counts(classes, table)
            unseen = _unseen(X, known)
            yield Predictions(classes, probabilities, table.select(ids), unseen, unused, *counts)
        if not start:
            classes = self.ensemble.classes_
            no_ids = pa.table({name: pa.array([], pa.string()) for name in ids})
            yield Predictions(classes[:0], np.empty((0, len(classes))), no_ids, {}, unused)

    def _counts(self, classes: NDArray[Any], table: pa.Table) -> tuple[int, int, int]:
        """Return the numbers of correct predictions, of labels, and of unknown labels."""
        if self.target not in table.column_names:
            return 0, 0, 0
        is_labelled = pc.is_valid(table[self.target]).to_numpy()
        labels = table[self.target].drop_null().to_pylist()
        present = [parse_label(label, self.target_type) for label in labels]
        n_correct = sum(map(eq, present, classes[is_labelled].tolist()))
        known = set(self.classes.tolist())
        return n_correct, len(present), sum(label not in known for label in present)


def _known_categories(encoder: TableEncoder) -> dict[str, set[str]]:
    """Return the categories of each column."""
    return {
        column.name: {value for e in column.encoders for value in getattr(e, "values", ())}
        for column in encoder.columns_
        if column.column_type == "category"
    }


def _unseen(X: pa.Table, known: Mapping[str, set[str]]) -> dict[str, dict[str, int]]:
    """Return the numbers of rows with unknown categories, by column."""
    unseen: dict[str, dict[str, int]] = {}
    for name, categories in known.items():
        counts = {text_of(c["values"]): c["counts"] for c in X[name].value_counts().to_pylist()}
        new = {k: n for k, n in counts.items() if k is not None and k not in categories}
        if new:
            unseen[name] = new
    return unseen


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
