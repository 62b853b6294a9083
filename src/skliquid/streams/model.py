"""StreamedModel: what training on a file leaves, on disk and at work."""

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
from skliquid.streams.category_text import with_texts
from skliquid.streams.checkpoint import read_whole, write_whole
from skliquid.streams.coding import Coding, check_numbers
from skliquid.streams.files import DataFiles, cut
from skliquid.streams.kinds import Kind, Kinds
from skliquid.voting import winner

_ROWS_AT_ONCE = 8192


class Predictions(NamedTuple):
    """Some rows' classes, the shares of the weight, and how they compare with what is known.

    Of ``n_known`` rows the label is there; ``n_right`` were predicted so, and ``n_strange`` have a
    label that is no class of the model. In ``strange`` columns training had seen no category.
    """

    classes: NDArray[Any]
    shares: Floats
    n_right: int = 0
    n_known: int = 0
    n_strange: int = 0
    strange: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class StreamedModel:
    """A trained ensemble, and all it takes to give it rows of a file.

    Attributes
    ----------
    ensemble : LiquidEnsembleClassifier
        The ensemble; its features are what ``coding`` makes of the columns.
    coding : Coding
        The columns that are used, and how they become numbers.
    target : str
        The name of the column that was learned.
    target_kind : {"number", "text", "truth"}
        What it held.
    wishes : mapping from str to kind
        What columns were taken for, where this was not what their file said.
    left_out : list of str
        Columns that were not learned from: dates and the like, or without a value at first.
    accuracy : float
        The ensemble's accuracy on rows that it was asked about before it trained on them.
    """

    ensemble: LiquidEnsembleClassifier
    coding: Coding
    target: str
    target_kind: Kind
    wishes: Kinds
    left_out: list[str]
    accuracy: float

    @property
    def pipeline(self) -> Pipeline:
        """The same as a scikit-learn pipeline, which takes data frames."""
        texts = FunctionTransformer(with_texts, kw_args={"kinds": self.coding.kinds})
        return Pipeline(
            [("texts", texts), ("coder", self.coding.coder), ("classifier", self.ensemble)]
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file, for ``load_model`` and ``skliquid predict``."""
        write_whole(Path(path), self)

    def predictions(self, path: str | PathLike[str]) -> Iterator[Predictions]:
        """Yield the predictions for the rows of a file or folder, some at a time.

        Parameters
        ----------
        path : str or path
            A Parquet or CSV file, or a folder of such files, with the columns that were trained
            on. Others are not looked at, but for the target, which need not be there.
        """
        files = self._files(path)
        kinds = self.coding.kinds
        if self.target in files.kinds:
            kinds = kinds | {self.target: self.target_kind}
        for name, kind in kinds.items():
            _check_column(name, kind, files)
        files.read_as(kinds)
        return self._predicted(files, list(kinds))

    @property
    def no_predictions(self) -> Predictions:
        """What is predicted for no row at all."""
        classes = self.ensemble.classes_
        return Predictions(classes[:0], np.empty((0, len(classes))))

    def unused(self, path: str | PathLike[str]) -> list[str]:
        """Return the columns of a file or folder that training did not have."""
        known = {*self.coding.kinds, *self.left_out, self.target}
        return [name for name in DataFiles(path).kinds if name not in known]

    def _files(self, path: str | PathLike[str]) -> DataFiles:
        """Return a file or folder, with columns taken for what training took them for."""
        there = DataFiles(path).kinds
        return DataFiles(path, {k: kind for k, kind in self.wishes.items() if k in there})

    def _predicted(self, files: DataFiles, columns: list[str]) -> Iterator[Predictions]:
        start = 0
        for table in cut(files.batches(columns), _ROWS_AT_ONCE):
            check_numbers(table, self.coding.kinds, start, files)
            shares = self.ensemble.predict_proba(self.coding.code(table))
            classes = self.ensemble.classes_[winner(shares)]
            counts = self._counts(classes, table) if self.target in columns else (0, 0, 0)
            strange = frozenset(self.coding.strange(table))
            yield Predictions(classes, shares, *counts, strange)
            start += len(table)

    def _counts(self, classes: NDArray[Any], table: pa.Table) -> tuple[int, int, int]:
        """Return how many classes are right, known, and none of the model's."""
        labels = table[self.target]
        is_known = ~pc.is_null(labels, nan_is_null=True).to_numpy()
        known = labels.to_numpy()[is_known]
        n_strange = np.sum(~np.isin(known, self.ensemble.classes_))
        return int(np.sum(classes[is_known] == known)), len(known), int(n_strange)


_READABLE_AS: dict[Kind, tuple[Kind, ...]] = {
    "number": ("number", "code"),
    "text": ("text", "code"),
    "truth": ("truth",),
    "code": ("code", "number", "text"),
}
"""What a column may be to be taken for a kind."""


def _check_column(name: str, kind: Kind, files: DataFiles) -> None:
    if name not in files.kinds:
        raise ValueError(
            f"Data must have the columns that the model was trained on: {files.path} lacks "
            f"{name!r}. Add the column."
        )
    if files.kinds[name] not in ("empty", *_READABLE_AS[kind]) and not files.are_csv:
        raise ValueError(
            f"Columns must hold what the model was trained on: {name!r} was of the kind {kind!r}, "
            f"and is {files.kinds[name]!r} in {files.path}. Write the column as it was."
        )


def load_model(path: str | PathLike[str]) -> StreamedModel:
    """Return the model in a file that ``StreamedModel.save`` or ``skliquid train`` wrote.

    Parameters
    ----------
    path : str or path
        The file. Loading runs what it says, as with any pickle, so it must be trusted.
    """
    return read_whole(Path(path), StreamedModel, parameter="model")
