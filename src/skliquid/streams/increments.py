"""increments_from: a file of any size as increments for ``partial_fit``, out of core."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from os import PathLike
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from skliquid.arrays import Floats
from skliquid.checks import check_number
from skliquid.datasets.csv_dialect import GivenDialect
from skliquid.increments import FEWEST_ROWS, MOST_INCREMENTS, slices
from skliquid.streams.column_types import ARROW_TYPES, ColumnType, ColumnTypes
from skliquid.streams.encoding import Encoding
from skliquid.streams.files import DataFiles, Where
from skliquid.streams.held_out import MOST_HELD_OUT, HeldOut
from skliquid.streams.labels import check_known, check_target, classes_in, given_classes, labels_of

_INCREMENT_SIZE = 1000
SAMPLE_SIZE = 10_000
_BYTES_AT_ONCE = 2 << 20


def increments_from(
    path: str | PathLike[str],
    *,
    target: str,
    increment_size: int | None = _INCREMENT_SIZE,
    classes: Sequence[Any] | None = None,
    column_types: Mapping[str, ColumnType] | None = None,
    sample_size: int = SAMPLE_SIZE,
    test_size: float = 0.0,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
) -> "Increments":
    """Return the increments of a file or folder, which may be larger than memory.

    Parameters
    ----------
    path : str or path
        A Parquet, CSV or TSV file, or a folder of such files, taken in the order of their names.
    target : str
        The column that holds the classes: text, integers or booleans.
    increment_size : int, default=1000
        Number of rows of each increment; only the last may be shorter. None means 1000, and for
        fewer than 50,000 rows as many as make 50 increments, but at least 25.
    classes : sequence, default=None
        All labels that may occur. When None, the target is read once from beginning to end, so
        that a class that occurs late is known from the start.
    column_types : mapping from str to {"number", "text", "boolean", "id", "left_out"}, default=None
        Types of columns that differ from those in the file, such as ``{"zip": "text"}``. An id is
        left out as well, and the model of :func:`train_on` keeps it beside its predictions.
    sample_size : int, default=10000
        Number of first rows to which the encoder is fitted.
    test_size : float, default=0.0
        Share of the rows to hold out, of which at most some 10,000 are: they are in no increment,
        nor is the encoder fitted to them. ``increments.test_rows()`` yields them.
    separator : str, default=None
        What separates the cells of a CSV file; None means that it is found in each file among the
        comma, semicolon, tab and vertical bar.
    decimal : {".", ","}, default=None
        The decimal mark of a CSV file; None means that decimal commas are found in each file whose
        separator is not a comma.
    encoding : str, default=None
        The encoding of a CSV file, such as ``"cp1252"``; None means UTF-8, or UTF-16 or UTF-32 if
        the file begins with its byte order mark.

    Returns
    -------
    increments : Increments
        Iterating over it yields pairs (X, y), as often as needed.

    Examples
    --------
    >>> import tempfile, pandas as pd
    >>> from pathlib import Path
    >>> from skliquid import LiquidEnsembleClassifier, increments_from
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
    size = _INCREMENT_SIZE if increment_size is None else increment_size
    check_count("increment_size", size, like=_INCREMENT_SIZE)
    check_count("sample_size", sample_size, like=SAMPLE_SIZE)
    _check_share("test_size", test_size)
    files = DataFiles(path, column_types, GivenDialect(separator, decimal, encoding))
    target_type = check_target(target, files)
    given = None if classes is None else given_classes(classes, target_type)
    increments = Increments(files, target, target_type, size, sample_size, given, test_size)
    if increment_size is None:
        n_rows = max(-(-increments.n_rows // MOST_INCREMENTS), FEWEST_ROWS)
        increments.increment_size = min(n_rows, _INCREMENT_SIZE)
    return increments


def _check_share(name: str, share: float) -> None:
    check_number(name, share, "a share from 0 to below 1", lambda x: 0 <= x < 1, like=0.1)


def check_count(name: str, value: object, *, like: int) -> None:
    """Raise unless a parameter is an integer from 1 on."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer: got {value!r}. Give a number like {like}.")
    if value < 1:
        raise ValueError(f"{name} must be 1 or more: got {value}. Give a number like {like}.")


@dataclass(eq=False)
class Increments:
    """The rows of files as pairs (X, y), all numbers; ``given`` are classes that the user gave.

    Held-out rows, a share ``test_size``, are left out of the increments, which are then smaller.
    """

    files: DataFiles
    target: str
    target_type: ColumnType
    increment_size: int
    sample_size: int
    given: NDArray[Any] | None
    test_size: float = 0.0

    @cached_property
    def classes(self) -> NDArray[Any]:
        """The classes, sorted: those that were given, or all in the target."""
        if self.given is not None:
            return self.given
        return classes_in(self.files, self.target, self.target_type)

    @cached_property
    def n_rows(self) -> int:
        """Number of rows: of Parquet files at once, of CSV files by reading them."""
        return sum(self.files.n_rows_by_file)

    @property
    def held_out(self) -> HeldOut:
        """Which rows are in no increment."""
        share = self.test_size and min(self.test_size, MOST_HELD_OUT / max(self.n_rows, 1))
        return HeldOut(share, self.increment_size)

    @cached_property
    def encoding(self) -> Encoding:
        """How columns become numbers; its ``encoder`` is a scikit-learn transformer."""
        column_types = {
            name: column_type
            for name, column_type in self.files.column_types.items()
            if column_type in ARROW_TYPES and name != self.target
        }
        tables = self.files.tables(column_types, self.sample_size) if column_types else ()
        for sample, where in tables:
            is_held_out = self.held_out.rows(0, len(sample))
            rows, where_rows = _rows_of(sample, where, ~is_held_out)
            return Encoding.fitted(rows, column_types, where_rows)
        lacking = "row" if column_types else "number, text or boolean besides the target"
        raise ValueError(
            f"Data must have rows and features: {self.files.path} has no {lacking}. Add some."
        )

    @property
    def left_out(self) -> list[str]:
        """Columns that are not used: dates and the like, or without a value in the sample."""
        used = {*self.encoding.column_types, self.target}
        return [name for name in self.files.column_types if name not in used]

    def __len__(self) -> int:
        return len(range(0, self.n_rows, self.increment_size))

    def __iter__(self) -> Iterator[tuple[Floats, NDArray[Any]]]:
        return self.from_row(0)

    def from_row(self, start: int) -> Iterator[tuple[Floats, NDArray[Any]]]:
        """Yield the increments that begin at row ``start``, counted from 0, and after it."""
        for table, where, is_held_out in self._tables(start):
            X, y = self._encoded(table, where)
            for part in slices(len(y), self.increment_size):
                is_kept = ~is_held_out[part]
                yield X[part][is_kept], y[part][is_kept]

    def test_rows(self) -> Iterator[tuple[Floats, NDArray[Any]]]:
        """Yield the held-out rows, some at a time, for which the files are read again."""
        for table, where, is_held_out in self._tables(0):
            if is_held_out.any():
                yield self._encoded(*_rows_of(table, where, is_held_out))

    def _tables(self, start: int) -> Iterator[tuple[pa.Table, Where, NDArray[np.bool_]]]:
        """Yield tables, and which of their rows are held out, from row ``start`` on."""
        column_types: ColumnTypes = self.encoding.column_types | {self.target: self.target_type}
        # several increments at once, none of them torn apart
        n_increments = _BYTES_AT_ONCE // (8 * self.encoding.n_features * self.increment_size)
        n_rows, held_out = self.increment_size * max(n_increments, 1), self.held_out
        for table, where in self.files.tables(column_types, n_rows, start):
            yield table, where, held_out.rows(start, len(table))
            start += len(table)

    def _encoded(self, table: pa.Table, where: Where) -> tuple[Floats, NDArray[Any]]:
        X, y = self.encoding.encode(table, where), labels_of(table[self.target], where)
        if self.given is not None:
            check_known(y, self.given, where)
        return X, y


def _rows_of(table: pa.Table, where: Where, is_chosen: NDArray[np.bool_]) -> tuple[pa.Table, Where]:
    """Return some rows of a table, and where they are."""
    if is_chosen.all():
        return table, where
    rows = np.flatnonzero(is_chosen)
    return table.take(rows), lambda row: where(int(rows[row]))
