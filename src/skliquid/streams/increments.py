"""increments_from: a file of any size as increments for ``partial_fit``."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from numbers import Integral
from os import PathLike
from typing import Any

import pyarrow as pa
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer

from skliquid.arrays import Floats
from skliquid.increments import slices
from skliquid.streams.coding import Coding, check_numbers
from skliquid.streams.files import DataFiles, cut
from skliquid.streams.kinds import Kind, is_used
from skliquid.streams.labels import announced, check_known, check_target, classes_in, labels_of

INCREMENT_SIZE = 1000
SAMPLE_SIZE = 10_000
_BYTES_AT_ONCE = 2 << 20


def increments_from(
    path: str | PathLike[str],
    *,
    target: str,
    increment_size: int = INCREMENT_SIZE,
    classes: Sequence[Any] | None = None,
    kinds: Mapping[str, Kind] | None = None,
    sample_size: int = SAMPLE_SIZE,
) -> "Increments":
    """Return the increments of a file or folder, which may be larger than memory.

    Parameters
    ----------
    path : str or path
        A Parquet or CSV file, or a folder of such files, taken in the order of their names.
    target : str
        The column that holds the classes: text, whole numbers or truth values.
    increment_size : int, default=1000
        Number of rows of each increment; only the last may be shorter.
    classes : sequence, default=None
        All labels that may come. When None, the target is read once from beginning to end, so
        that a class which comes late is known from the start.
    kinds : mapping from str to {"number", "text", "truth", "left_out"}, default=None
        What columns shall be taken for, where this is not what their file says.
    sample_size : int, default=10000
        Number of first rows to which the coder is fitted.

    Returns
    -------
    increments : Increments
        Iterating over it yields pairs (X, y), again and again if wanted.

    Examples
    --------
    >>> import tempfile, pandas as pd
    >>> from pathlib import Path
    >>> from skliquid import LiquidEnsembleClassifier
    >>> from skliquid.streams import increments_from
    >>> file = Path(tempfile.mkdtemp()) / "people.parquet"
    >>> people = pd.DataFrame({"age": [20, 30, None, 60] * 100, "town": ["a", "b", "b", "a"] * 100})
    >>> people.assign(ill=[False, False, True, True] * 100).to_parquet(file)
    >>> increments = increments_from(file, target="ill", increment_size=50)
    >>> ensemble = LiquidEnsembleClassifier(n_estimators=20, n_final=3, random_state=0)
    >>> for X, y in increments:
    ...     ensemble = ensemble.partial_fit(X, y, classes=increments.classes)
    >>> len(increments), X.shape, ensemble.n_samples_seen_
    (8, (50, 4), 400)
    """
    check_count("increment_size", increment_size, like=INCREMENT_SIZE)
    check_count("sample_size", sample_size, like=SAMPLE_SIZE)
    files = DataFiles(path, kinds)
    check_target(target, files)
    if files.kinds[target] == "code":
        files.read_as({target: "number"})
    return Increments(files, target, increment_size, classes, sample_size)


def check_count(name: str, value: object, *, like: int) -> None:
    """Raise unless a parameter is a whole number from 1 on."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(
            f"{name} must be a whole number: {value!r} is none. Give a number like {like}."
        )
    if value < 1:
        raise ValueError(f"{name} must be 1 or more: {value} is less. Give a number like {like}.")


class Increments:
    """The rows of files as pairs (X, y) of ``increment_size`` rows, all numbers.

    Attributes
    ----------
    files : DataFiles
        Where they come from.
    target : str
        The column of the labels.
    increment_size : int
        Number of rows of all increments but the last.
    """

    def __init__(
        self,
        files: DataFiles,
        target: str,
        increment_size: int,
        classes: Sequence[Any] | None,
        sample_size: int,
    ):
        self.files, self.target, self.increment_size = files, target, increment_size
        self._announced = None if classes is None else announced(classes, files.kinds[target])
        self._sample_size = sample_size

    @cached_property
    def classes(self) -> NDArray[Any]:
        """The classes, sorted: those announced, or all that the target holds."""
        if self._announced is not None:
            return self._announced
        return classes_in(self.files, self.target)

    @cached_property
    def n_rows(self) -> int:
        """Number of rows: of Parquet files at once, of CSV files by reading them."""
        return sum(self.files.n_rows_by_file)

    @cached_property
    def coding(self) -> Coding:
        """How columns become numbers."""
        kinds = {
            name: kind
            for name, kind in self.files.kinds.items()
            if is_used(kind) and name != self.target
        }
        if not kinds:
            raise ValueError(
                f"Rows must have features: {self.files.path} has no column of numbers, text or "
                f"truth values besides the target {self.target!r}. Add features."
            )
        sample = next(cut(self.files.batches(list(kinds)), self._sample_size), None)
        if sample is None:
            raise ValueError(
                f"Data must have rows: {self.files.path} has none. Give a file with rows."
            )
        check_numbers(sample, kinds, 0, self.files)
        return Coding.fitted(sample, kinds)

    @property
    def coder(self) -> ColumnTransformer:
        """The scikit-learn transformer that turns columns into numbers, fitted."""
        return self.coding.coder

    @property
    def left_out(self) -> list[str]:
        """Columns that are not learned from: dates and the like, or without a value at first."""
        used = {*self.coding.kinds, self.target}
        return [name for name in self.files.kinds if name not in used]

    def __len__(self) -> int:
        return len(range(0, self.n_rows, self.increment_size))

    def __iter__(self) -> Iterator[tuple[Floats, NDArray[Any]]]:
        return self.from_row(0)

    def from_row(self, start: int) -> Iterator[tuple[Floats, NDArray[Any]]]:
        """Yield the increments that begin at row ``start``, counted from 0, and after it."""
        columns = [*self.coding.kinds, self.target]
        for table in cut(self.files.batches(columns, start), self._rows_at_once()):
            X, y = self._coded(table, start), self._labels(table, start)
            yield from ((X[part], y[part]) for part in slices(len(y), self.increment_size))
            start += len(y)

    def _rows_at_once(self) -> int:
        """Return a multiple of the increment's size, so that no increment is torn apart."""
        n_increments = _BYTES_AT_ONCE // (8 * self.coding.n_features * self.increment_size)
        return self.increment_size * max(n_increments, 1)

    def _labels(self, table: pa.Table, start: int) -> NDArray[Any]:
        labels = labels_of(table[self.target], start, self.files)
        if self._announced is not None:
            check_known(labels, self._announced, start, self.files)
        return labels

    def _coded(self, table: pa.Table, start: int) -> Floats:
        check_numbers(table, self.coding.kinds, start, self.files)
        return self.coding.code(table)
