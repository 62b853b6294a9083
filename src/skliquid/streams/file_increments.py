"""File increments: a file of any size as increments for ``partial_fit``, out of core."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from os import PathLike
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from skliquid.delegation.arrays import Floats
from skliquid.delegation.increments import slices
from skliquid.presets import MAX_INCREMENTS, MIN_INCREMENT_ROWS
from skliquid.streams.column_encoding import Encoding
from skliquid.streams.column_types import ARROW_TYPES, ColumnType, ColumnTypes
from skliquid.streams.csv_dialect import GivenDialect
from skliquid.streams.data_files import DataFiles, Locate
from skliquid.streams.target_labels import (
    check_known,
    check_target,
    find_classes,
    labels_of,
    parse_classes,
)
from skliquid.validation.checks import check_number

SAMPLE_SIZE = 10_000
_INCREMENT_SIZE = 1000
_BYTES_AT_ONCE = 2 << 20
_MAX_HELD_OUT = 10_000  # more rows would hardly change the score
_SEED = 20_250_101


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
    """Return the increments of a file or folder of any size.

    Parameters
    ----------
    path : str or path
        A Parquet, CSV or TSV file, or a folder of such files, taken in the order of their names.
    target : str
        The column that holds the classes: text, integers or booleans.
    increment_size : int, default=1000
        Number of rows of each increment; only the last may be shorter. None means 1000; with fewer
        than 50,000 rows, the number of rows that makes 50 increments, but at least 25.
    classes : sequence, default=None
        All labels that may occur. When None, the target is read once from beginning to end, so
        that a class that occurs late is known from the start.
    column_types : mapping from str to {"number", "text", "boolean", "id", "left_out"}, default=None
        Types of columns that differ from those in the file, such as ``{"zip": "text"}``. An id is
        left out as well, and the model of :func:`train_on` keeps it beside its predictions.
    sample_size : int, default=10000
        Number of first rows to which the encoder is fitted.
    test_size : float, default=0.0
        Share of the rows to hold out, lowered so that they are about 10,000 at most. They are in no
        increment, nor is the encoder fitted to them. ``increments.test_rows()`` yields them.
    separator : str, default=None
        The separator of CSV files; None finds a comma, semicolon, tab or vertical bar in each.
    decimal : {".", ","}, default=None
        The decimal mark of CSV files; None finds decimal commas where the separator is not a comma.
    encoding : str, default=None
        The encoding of CSV files, such as ``"cp1252"``; None means UTF-8, or UTF-16 or UTF-32 if
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
    check_integer("increment_size", size, like=_INCREMENT_SIZE)
    check_integer("sample_size", sample_size, like=SAMPLE_SIZE)
    rule = "a share from 0 to below 1"
    check_number("test_size", test_size, rule, lambda share: 0 <= share < 1, like=0.1)
    files = DataFiles(path, column_types, GivenDialect(separator, decimal, encoding))
    target_type = check_target(target, files)
    given = None if classes is None else parse_classes(classes, target_type)
    increments = Increments(files, target, target_type, size, sample_size, given, test_size)
    if increment_size is None:
        n_rows = max(-(-increments.n_rows // MAX_INCREMENTS), MIN_INCREMENT_ROWS)
        increments.increment_size = min(n_rows, _INCREMENT_SIZE)
    return increments


def check_integer(name: str, value: object, *, like: int) -> None:
    """Raise unless a parameter is an integer of 1 or more."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer: got {value!r}. Give a number like {like}.")
    if value < 1:
        raise ValueError(f"{name} must be 1 or more: got {value}. Give a number like {like}.")


@dataclass(eq=False)
class Increments:
    """The rows of files as pairs (X, y), all numbers; ``given`` are classes that the user gave.

    Increments lack the held-out rows, a share ``test_size`` of all rows.
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
        return find_classes(self.files, self.target, self.target_type)

    @cached_property
    def n_rows(self) -> int:
        """Number of rows: of Parquet files at once, of CSV files by reading them."""
        return sum(self.files.n_rows_by_file)

    def is_held_out(self, start: int, n_rows: int) -> NDArray[np.bool_]:
        """Return whether each of ``n_rows`` rows from ``start`` on is in no increment."""
        share = self.test_size and min(self.test_size, _MAX_HELD_OUT / max(self.n_rows, 1))
        return draw_held_out(share, self.increment_size, start, n_rows)

    @cached_property
    def encoding(self) -> Encoding:
        """The encoding of columns as numbers; its ``encoder`` is a scikit-learn transformer."""
        columns = self.files.column_types.items()
        column_types = {k: t for k, t in columns if t in ARROW_TYPES and k != self.target}
        tables = self.files.tables(column_types, self.sample_size) if column_types else ()
        for sample, locate in tables:
            is_used = ~self.is_held_out(0, len(sample))
            rows, locate_rows = _take(sample, locate, is_used)
            return Encoding.fit(rows, column_types, locate_rows)
        lacking = "row" if column_types else "number, text or boolean besides the target"
        raise ValueError(
            f"Data must have rows and features: {self.files.path} has no {lacking}. Add some."
        )

    @property
    def left_out(self) -> list[str]:
        """Columns that are not used: ids, dates, lists, and those without a value in the sample."""
        used = {*self.encoding.column_types, self.target}
        return [name for name in self.files.column_types if name not in used]

    def __len__(self) -> int:
        return len(range(0, self.n_rows, self.increment_size))

    def __iter__(self) -> Iterator[tuple[Floats, NDArray[Any]]]:
        return self.from_row(0)

    def from_row(self, start: int) -> Iterator[tuple[Floats, NDArray[Any]]]:
        """Yield the increments that begin at row ``start``, counted from 0, and after it."""
        for table, locate, is_held_out in self._tables(start):
            X, y = self._encode(table, locate)
            for part in slices(len(y), self.increment_size):
                is_kept = ~is_held_out[part]
                yield X[part][is_kept], y[part][is_kept]

    def test_rows(self) -> Iterator[tuple[Floats, NDArray[Any]]]:
        """Yield the held-out rows in batches; the files are read again."""
        for table, locate, is_held_out in self._tables(0):
            if is_held_out.any():
                yield self._encode(*_take(table, locate, is_held_out))

    def _tables(self, start: int) -> Iterator[tuple[pa.Table, Locate, NDArray[np.bool_]]]:
        """Yield tables from row ``start`` on, and whether each of their rows is held out."""
        column_types: ColumnTypes = self.encoding.column_types | {self.target: self.target_type}
        # several increments at once, none of them torn apart
        n_increments = _BYTES_AT_ONCE // (8 * self.encoding.n_features * self.increment_size)
        n_rows = self.increment_size * max(n_increments, 1)
        for table, locate in self.files.tables(column_types, n_rows, start):
            yield table, locate, self.is_held_out(start, len(table))
            start += len(table)

    def _encode(self, table: pa.Table, locate: Locate) -> tuple[Floats, NDArray[Any]]:
        X, y = self.encoding.encode(table, locate), labels_of(table[self.target], locate)
        if self.given is not None:
            check_known(y, self.given, locate)
        return X, y


def _take(table: pa.Table, locate: Locate, mask: NDArray[np.bool_]) -> tuple[pa.Table, Locate]:
    if mask.all():
        return table, locate
    rows = np.flatnonzero(mask)
    return table.take(rows), lambda row: locate(int(rows[row]))


def draw_held_out(share: float, increment_size: int, start: int, n_rows: int) -> NDArray[np.bool_]:
    """Return whether each of ``n_rows`` rows from ``start`` on is among a random ``share``.

    This depends on the number of a row alone, and so is the same when training is resumed. The
    first row of an increment is never held out: each increment has a row to train on.
    """
    if not share:
        return np.zeros(n_rows, dtype=bool)
    first, offset = divmod(start, increment_size)
    masks = np.empty((-(-(offset + n_rows) // increment_size), increment_size), dtype=bool)
    for number, mask in enumerate(masks, start=first):
        mask[:] = np.random.default_rng([_SEED, number]).random(increment_size) < share
    masks[:, 0] = False
    return masks.ravel()[offset : offset + n_rows]
