"""increments_from: a file of any size as increments for ``partial_fit``, out of core."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from os import PathLike
from typing import Any

from numpy.typing import NDArray

from skliquid.arrays import Floats
from skliquid.increments import FEWEST_ROWS, MOST_INCREMENTS, slices
from skliquid.streams.column_types import ARROW_TYPES, ColumnType
from skliquid.streams.encoding import Encoding
from skliquid.streams.files import DataFiles
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
) -> "Increments":
    """Return the increments of a file or folder, which may be larger than memory.

    Parameters
    ----------
    path : str or path
        A Parquet or CSV file, or a folder of such files, taken in the order of their names.
    target : str
        The column that holds the classes: text, integers or booleans.
    increment_size : int, default=1000
        Number of rows of each increment; only the last may be shorter. None means 1000, and for
        fewer than 50,000 rows as many as make 50 increments, but at least 25.
    classes : sequence, default=None
        All labels that may occur. When None, the target is read once from beginning to end, so
        that a class that occurs late is known from the start.
    column_types : mapping from str to {"number", "text", "boolean", "left_out"}, default=None
        Types of columns that differ from those in the file, such as ``{"zip": "text"}``.
    sample_size : int, default=10000
        Number of first rows to which the encoder is fitted.

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
    files = DataFiles(path, column_types)
    target_type = check_target(target, files)
    given = None if classes is None else given_classes(classes, target_type)
    increments = Increments(files, target, target_type, size, sample_size, given)
    if increment_size is None:
        n_rows = max(-(-increments.n_rows // MOST_INCREMENTS), FEWEST_ROWS)
        increments.increment_size = min(n_rows, _INCREMENT_SIZE)
    return increments


def check_count(name: str, value: object, *, like: int) -> None:
    """Raise unless a parameter is an integer from 1 on."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer: got {value!r}. Give a number like {like}.")
    if value < 1:
        raise ValueError(f"{name} must be 1 or more: got {value}. Give a number like {like}.")


@dataclass(eq=False)
class Increments:
    """The rows of files as pairs (X, y), all numbers; ``given`` are classes that the user gave."""

    files: DataFiles
    target: str
    target_type: ColumnType
    increment_size: int
    sample_size: int
    given: NDArray[Any] | None

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
            return Encoding.fitted(sample, column_types, where)
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
        column_types = self.encoding.column_types | {self.target: self.target_type}
        # several increments at once, none of them torn apart
        n_increments = _BYTES_AT_ONCE // (8 * self.encoding.n_features * self.increment_size)
        n_rows = self.increment_size * max(n_increments, 1)
        for table, where in self.files.tables(column_types, n_rows, start):
            X, y = self.encoding.encode(table, where), labels_of(table[self.target], where)
            if self.given is not None:
                check_known(y, self.given, where)
            yield from ((X[part], y[part]) for part in slices(len(y), self.increment_size))
