"""File increments: a file of any size as increments for ``partial_fit``, out of core."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from numbers import Integral
from os import PathLike
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from skliquid.delegation.class_weights import ClassCounts
from skliquid.presets import MAX_INCREMENTS, MIN_INCREMENT_ROWS
from skliquid.sources.csv_dialect import GivenDialect
from skliquid.sources.data_files import DataFiles, Report, draw_order, ignore
from skliquid.streams.target_labels import labels_of, parse_classes, parse_label, type_of_labels
from skliquid.validation.checks import check_number, printable, suggestion

OPTIONS = {
    "number": "--number",
    "category": "--category",
    "text": "--text",
    "date": "--date",
    "id": "--id",
    "left out": "--drop",
}
"""The types that users can give a column, and the options of the command line."""

_INCREMENT_SIZE = 1000
_ROWS_AT_ONCE = 8192
_MAX_HELD_OUT = 10_000  # more rows would hardly change the score
_MAX_LISTED = 20
_UNUSED = ("id", "left out", "empty")

Rows = tuple[pa.Table, NDArray[Any]]


def increments_from(
    source: str | PathLike[str],
    *,
    target: str,
    increment_size: int | None = _INCREMENT_SIZE,
    classes: Sequence[Any] | None = None,
    column_types: Mapping[str, str] | None = None,
    missing_values: Collection[str] = (),
    test_size: float = 0.0,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    report: Report = ignore,
    cluster: Any = None,
) -> "Increments":
    """Return the increments of a file, folder or query of any size.

    Parameters
    ----------
    source, target, classes, column_types, missing_values, test_size, separator, decimal, encoding
        As in :func:`train_on`. Held-out rows are in no increment; ``increments.test_rows()``
        yields them.
    increment_size : int, default=1000
        Number of rows of each increment; only the last may be shorter. None means 1000; with fewer
        than 50,000 rows, the number of rows that makes 50 increments, but at least 25.

    Returns
    -------
    increments : Increments
        Iterating over it yields pairs (X, y) of a pyarrow table and labels, as often as needed.

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
    (8, (50, 2), 400)
    """
    size = _INCREMENT_SIZE if increment_size is None else increment_size
    check_integer("increment_size", size, like=_INCREMENT_SIZE)
    rule = "a share from 0 to below 1"
    check_number("test_size", test_size, rule, lambda share: 0 <= share < 1, like=0.1)
    if not isinstance(column_types, Mapping | None):
        raise TypeError(
            f"column_types must be a mapping like {{'zip': 'category'}}: got {column_types!r}. "
            "Give one."
        )
    given = GivenDialect(separator, decimal, encoding)
    files = DataFiles(source, column_types, missing_values, given)
    files.cluster = cluster
    _check_chosen(files)
    check_column(target, files, "target")
    increments = Increments(files, target, size, classes, test_size, report=report)
    if increment_size is None:
        n_rows = max(-(-increments.n_rows // MAX_INCREMENTS), MIN_INCREMENT_ROWS)
        increments.increment_size = min(n_rows, _INCREMENT_SIZE)
    return increments


def check_integer(name: str, value: object, *, like: int) -> None:
    """Raise unless a parameter is an integer of 1 or more."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer: got {value!r}. Give a number like {like}.")
    if not 1 <= int(value) < 2**63:
        raise ValueError(
            f"{name} must be 1 or more, and below 2**63: got {value}. Give a number like {like}."
        )


def check_column(name: str, files: DataFiles, parameter: str) -> None:
    """Raise unless ``name`` is a column, and suggest the closest one."""
    columns = list(files.column_types)
    if name not in columns:
        dots = ["..."] if len(columns) > _MAX_LISTED else []
        raise ValueError(
            f"{parameter} must be a column of {printable(files.source)}, which has "
            f"{printable(', '.join([*columns[:_MAX_LISTED], *dots]))}: got {name!r}. "
            f"{suggestion(name, columns)}"
        )


def _check_chosen(files: DataFiles) -> None:
    for name, column_type in files.chosen.items():
        if column_type not in OPTIONS:
            raise ValueError(
                f"column_types must be among {', '.join(OPTIONS)}: got {column_type!r} for the "
                f"column {name!r}. {suggestion(column_type, OPTIONS)}"
            )
        check_column(name, files, f"column_types ({OPTIONS[column_type]})")


class Increments:
    """The labelled rows of files as pairs (X, y) of a table and labels, without held-out rows.

    ``classes`` are sorted, ``n_rows`` is the number of rows with a label, ``n_unlabelled`` of those
    without one. ``column_types`` are the types in which features are read.
    """

    def __init__(
        self,
        files: DataFiles,
        target: str,
        increment_size: int,
        classes: Sequence[Any] | None = None,
        test_size: float = 0.0,
        *,
        report: Report = ignore,
    ):
        self.files, self.target, self.increment_size = files, target, increment_size
        self.test_size = test_size
        columns = files.column_types.items()
        self.column_types = {k: t for k, t in columns if t not in _UNUSED and k != target}
        if not self.column_types:
            raise ValueError(
                f"Data must have features: {files.source} has no column of numbers, text, booleans "
                "or dates besides the target. Add one."
            )
        found = files.count_labels(target, _MAX_HELD_OUT if test_size else 0, report)
        values = [value for value, _, _ in found if value is not None]
        place = f"the column {target!r} of {files.source}"
        are_cells = files.parts[0].dialect is not None
        self.target_type = type_of_labels(values, place, are_cells=are_cells)
        self._rows_by_label: dict[Any, tuple[int, list[int]]] = {}
        for value, n_rows, drawn in found:
            if value is not None:
                label = parse_label(value, self.target_type)
                n_before, before = self._rows_by_label.get(label, (0, []))
                order = sorted(before + drawn, key=draw_order)
                self._rows_by_label[label] = n_before + n_rows, order
        known = sorted(self._rows_by_label)
        self.classes: NDArray[Any] = np.array(known)
        if classes is not None:
            self.classes = parse_classes(classes, self.target_type, known)
        self.n_rows = sum(n for n, _ in self._rows_by_label.values())
        self.n_unlabelled = sum(n for _, n, _ in found) - self.n_rows

    @property
    def left_out(self) -> dict[str, str]:
        """Columns that are not read, and the reasons."""
        names = [k for k in self.files.column_types if k not in (*self.column_types, self.target)]
        return {name: self.files.why_unused(name) for name in names}

    @cached_property
    def _held_out_by_label(self) -> dict[Any, list[int]]:
        share = min(self.test_size, _MAX_HELD_OUT / self.n_rows)
        held_out = {}
        for label, (n_rows, drawn) in self._rows_by_label.items():
            n_drawn = min(max(round(share * n_rows), 1), n_rows - 1) if share else 0
            held_out[label] = drawn[:n_drawn]
        return held_out

    @cached_property
    def held_out(self) -> NDArray[Any]:
        """The numbers of the rows that are held out: a share of each class."""
        rows = [row for drawn in self._held_out_by_label.values() for row in drawn]
        return np.array(rows, dtype=np.intp)

    @property
    def n_with_rows(self) -> int:
        """Number of increments with rows that are not held out."""
        firsts = np.arange(0, self.n_rows, self.increment_size)
        sizes = np.minimum(self.increment_size, self.n_rows - firsts)
        n_held_out = np.bincount(self.held_out // self.increment_size, minlength=len(firsts))
        return int(np.sum(n_held_out < sizes))

    def __len__(self) -> int:
        return len(range(0, self.n_rows, self.increment_size))

    def __iter__(self) -> Iterator[Rows]:
        return self.from_row(0)

    def from_row(self, start: int) -> Iterator[Rows]:
        """Yield the increments that begin at row ``start``, counted from 0, and after it."""
        size = self.increment_size
        n_rows = max(_ROWS_AT_ONCE // size, 1) * size  # several at once, none of them torn apart
        for table in self._tables(n_rows, start):
            for begin in range(0, len(table), size):
                yield self._take(table.slice(begin, size), start + begin)
            start += len(table)

    def take(self, drawn: NDArray[np.int64] | None, report: Report = ignore) -> tuple[Rows, Rows]:
        """Return rows by their numbers among those that are not held out, and the held-out rows.

        None means all. ``report`` is called with the share of the data that has been read.
        """
        held_out = np.sort(self.held_out)
        n_before = held_out - np.arange(len(held_out))  # rows that are not held out
        drawn = np.arange(self.n_rows - len(held_out)) if drawn is None else drawn
        numbers = drawn + np.searchsorted(n_before, drawn, side="right")
        both = np.union1d(numbers, held_out)
        rows = self.files.take(self._read_types, both, self.target, report)
        is_test = np.isin(both, held_out)
        test = self._rows_in(rows.filter(pa.array(is_test)), held_out)
        taken = {}
        for name in rows.column_names if len(held_out) else ():  # each replaces its original
            taken[name] = rows[name].filter(pa.array(~is_test))
            rows = rows.drop_columns(name)
        return self._rows_in(pa.table(taken) if taken else rows, numbers), test

    def _rows_in(self, rows: pa.Table, numbers: NDArray[Any]) -> Rows:
        table = self.files.convert(rows, self._read_types).unify_dictionaries()
        pa.default_memory_pool().release_unused()
        self._last = table.drop_columns(self.target), numbers
        return self._last[0], labels_of(table[self.target], self.target_type)

    def counts(self) -> ClassCounts:
        """Return the number of rows per class that are not held out."""
        held_out = {label: len(rows) for label, rows in self._held_out_by_label.items()}
        n_rows = [self._rows_by_label.get(c, (0, []))[0] for c in self.classes.tolist()]
        n_held_out = [held_out.get(c, 0) for c in self.classes.tolist()]
        return ClassCounts(self.classes, np.array(n_rows) - np.array(n_held_out))

    def test_rows(self) -> Iterator[Rows]:
        """Yield the held-out rows, as one pair (X, y); the files are read again."""
        yield self.take(np.empty(0, dtype=np.int64))[1]

    @property
    def _read_types(self) -> dict[str, str]:
        return self.column_types | {self.target: "id"}

    def _tables(self, n_rows: int, start: int = 0) -> Iterator[pa.Table]:
        return self.files.tables(self._read_types, n_rows, start, self.target)

    def _take(self, table: pa.Table, start: int) -> Rows:
        rows = np.arange(start, start + len(table))
        is_taken = np.isin(rows, self.held_out, invert=True)
        if not is_taken.all():
            table = table.filter(pa.array(is_taken))
        X = table.drop_columns(self.target)
        self._last = X, rows[is_taken]
        return X, labels_of(table[self.target], self.target_type)

    def forget_rows(self) -> None:
        """Free the memory of the last rows."""
        del self._last
        pa.default_memory_pool().release_unused()

    @contextmanager
    def naming_odd_cells(self) -> Iterator[None]:
        """Return a context in which errors about the last rows name the first odd cell."""
        try:
            yield
        except ValueError as error:
            X, rows = self._last
            place = partial(self._locate, rows)
            if text := self.files.explain(X, self.column_types, place):
                raise ValueError(text) from error
            raise

    def _locate(self, rows: NDArray[Any], k: int) -> str:
        return self.files.locate(int(rows[k]), self.target)
