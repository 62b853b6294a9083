"""Column encoders: numbers, categories, dates and texts as columns of numbers.

An encoder works on the distinct values of a column, not on its cells. ``learn_and_encode`` is for
training rows, ``encode`` for all others. A column may have several encoders.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

from skliquid.delegation.arrays import Floats
from skliquid.delegation.storable import Array, require, storable
from skliquid.tables.frames import DATE, NUMBER, Column
from skliquid.tables.text_values import DateFormat, NumberFormat

OTHER = 62
"""The code of all categories except the 62 most frequent; missing values are NaN."""

N_HASHES, N_SPELLING, N_WORDS = 2**12, 10, 30
"""Texts are hashed to 4,096 weights, and reduced to 10 components of spelling or 30 of words."""

MAX_CLASSES = 20
"""Target statistics are for the 20 most frequent classes at most."""

MAX_VALUES, MAX_TEXTS = 100_000, 10_000
"""The most categories with target statistics, and the most texts that components are fitted to."""

N_FOLDS, PRIOR_ROWS = 5, 10.0
"""Target statistics of training rows come from four of five folds. The prior counts as 10 rows."""


class Target(NamedTuple):
    """The classes of the rows, as encoders need them."""

    labels: NDArray[np.intp]  # positions in the classes of the target statistics, -1 for others
    n_classes: int
    folds: NDArray[np.intp]  # of each row
    is_first: bool  # whether the encoders have not learned before


class ColumnEncoder:
    """Base class: an encoder that learns nothing from later rows."""

    is_categorical = False

    def learn_and_encode(self, column: Column, target: Target) -> Floats:  # noqa: ARG002
        """Learn from training rows, and return their encoding."""
        return self.encode(column)

    def encode(self, column: Column) -> Floats:
        """Return rows as columns of numbers."""
        raise NotImplementedError

    def names(self, column: Any) -> list[str]:
        """Return the names of the columns."""
        return [str(column)]


# Numbers


@storable
@dataclass(eq=False)
class Numbers(ColumnEncoder):
    """Numbers, or texts that are numbers."""

    format: NumberFormat = field(default_factory=NumberFormat)
    are_texts: bool = False  # in training; odd cells are then missing

    def encode(self, column: Column) -> Floats:
        """Return the numbers; missing ones are NaN."""
        numbers = self._numbers(column)
        if np.isinf(numbers).any():
            raise ValueError(
                f"X must hold finite numbers: the column {column.name!r} holds an infinite one. "
                "Replace it, or leave it missing."
            )
        return numbers[:, None]

    def _numbers(self, column: Column) -> Floats:
        if column.column_type == NUMBER:
            return column.numbers
        if column.column_type == DATE:
            raise column.error("numbers", "dates")
        numbers, odd = self.format.parse(column.texts.values)
        if odd and not self.are_texts:
            raise column.error("numbers", repr(odd[0]))
        if odd:
            column.warn_of_odd(odd, "numbers")
        return column.texts.look_up(numbers)


# Categories

_SPELLINGS = {
    **dict.fromkeys(("false", "FALSE", "0"), "False"),
    **dict.fromkeys(("true", "TRUE", "1"), "True"),
}


@storable
@dataclass(eq=False)
class Codes(ColumnEncoder):
    """Categories as codes from 0, the most frequent first; all others have the code 62."""

    values: list[str] = field(default_factory=list)
    is_categorical: bool = True  # two categories are a number to trees
    missing_is_other: bool = False

    @cached_property
    def known(self) -> dict[str, float]:
        """The code of each category; booleans have several spellings."""
        codes = {value: float(code) for code, value in enumerate(self.values)}
        if codes.keys() <= {"True", "False"}:
            codes |= {other: codes[text] for other, text in _SPELLINGS.items() if text in codes}
        return codes

    def learn_and_encode(self, column: Column, target: Target) -> Floats:  # noqa: ARG002
        """Give codes to new categories, and return the codes."""
        values = column.texts.values
        counts = column.texts.counts()
        new = [k for k in np.flatnonzero(counts).tolist() if values[k] not in self.known]
        new.sort(key=lambda k: (-counts[k], values[k]))
        self.values += list(dict.fromkeys(values[k] for k in new))[: OTHER - len(self.values)]
        self.__dict__.pop("known", None)
        return self.encode(column)

    def encode(self, column: Column) -> Floats:
        """Return the codes."""
        known, texts = self.known, column.texts
        codes = [known.get(value, OTHER) for value in texts.values]
        return texts.look_up(codes, OTHER if self.missing_is_other else np.nan)[:, None]

    def check_stored(self) -> None:
        """Raise unless categories are different, and not too many."""
        is_valid = len(set(self.values)) == len(self.values) <= OTHER
        require(is_valid, f"at most {OTHER} different categories")


def _no_numbers() -> Floats:
    return np.empty(0)


def _no_rows() -> Floats:
    return np.empty((0, 0))


@storable
@dataclass(eq=False)
class TargetShares(ColumnEncoder):
    r"""The share of each class among the training rows of a category, for many categories.

    .. math:: \frac{n_{kc} + a \pi_c}{n_k + a}

    for :math:`n_{kc}` rows of category k and class c, the share :math:`\pi_c` of the class and a
    prior of a = 10 rows. A training row is encoded by rows of other folds, and a row of a stream by
    earlier rows, so no row is encoded by its own class. Two classes give one column, more classes
    one column each.
    """

    values: list[str] = field(default_factory=list)
    shares: Annotated[Floats, Array("n_values", "n_outputs")] = field(default_factory=_no_rows)
    prior: Annotated[Floats, Array("n_outputs")] = field(default_factory=_no_numbers)
    counts: Annotated[Floats, Array("n_values", "n_counts", low=0)] | None = None

    def learn_and_encode(self, column: Column, target: Target) -> Floats:
        """Count classes, and return the shares by other rows."""
        if target.is_first:
            return self._learn_by_folds(column, target)
        encoded = self.encode(column)
        if self.counts is not None:
            before, n_before = self.counts, len(self.values)
            self.values = list(dict.fromkeys([*self.values, *column.texts.values]))[:MAX_VALUES]
            counts = _count(self._positions(column), target, len(self.values))
            counts[:n_before] += before
            self._set_counts(counts)
        return encoded

    def _learn_by_folds(self, column: Column, target: Target) -> Floats:
        """Count classes, and return the shares of each row by the rows of other folds."""
        self.values = list(dict.fromkeys(column.texts.values))[:MAX_VALUES]
        positions, n_values = self._positions(column), len(self.values)
        encoded = np.empty((column.n_rows, _n_outputs(target.n_classes)))
        for fold in range(N_FOLDS):
            is_own = target.folds == fold
            self._set_counts(_count(positions, target, n_values, ~is_own))
            encoded[is_own] = self._encode(positions[is_own])
        self._set_counts(_count(positions, target, n_values))
        return encoded

    def _set_counts(self, counts: Floats) -> None:
        """Compute shares from the rows of each category and class, with a last column of others."""
        self.counts = counts
        chosen = slice(1, 2) if counts.shape[1] == 3 else slice(0, -1)
        of_classes = counts.sum(axis=0)
        self.prior = of_classes[chosen] / max(of_classes.sum(), 1.0)
        n_rows = counts.sum(axis=1, keepdims=True)
        self.shares = (counts[:, chosen] + PRIOR_ROWS * self.prior) / (n_rows + PRIOR_ROWS)

    def encode(self, column: Column) -> Floats:
        """Return the shares; missing values are NaN, and unseen categories have the prior."""
        return self._encode(self._positions(column))

    def _encode(self, positions: NDArray[np.intp]) -> Floats:
        missing = np.full_like(self.prior, np.nan)
        return np.vstack([self.shares, self.prior, missing])[positions]

    def _positions(self, column: Column) -> NDArray[np.intp]:
        """Return the position of each row's category; unseen and missing ones follow the last."""
        known = {value: k for k, value in enumerate(self.values)}
        codes, values = column.texts
        found = [known.get(value, len(known)) for value in values]
        positions: NDArray[np.intp] = np.array([*found, len(known) + 1], dtype=np.intp)[codes]
        return positions

    def names(self, column: Any) -> list[str]:
        """Return the names of the columns."""
        return [f"{column}_share_{k}" for k in range(len(self.prior))]

    def check_stored(self) -> None:
        """Raise unless shares, counts and values belong together."""
        n_values = len(set(self.values))
        require(n_values == len(self.values) == len(self.shares), "a share of each category")
        if self.counts is not None:
            n_outputs = _n_outputs(self.counts.shape[1] - 1)
            require(n_outputs == len(self.prior), "counts of its classes")


def _n_outputs(n_classes: int) -> int:
    return 1 if n_classes == 2 else n_classes


def _count(positions: NDArray[np.intp], target: Target, n_values: int, mask: Any = True) -> Floats:
    """Return the rows of each category and class; labels of -1 are in the last column."""
    width = target.n_classes + 1
    mask = mask & (positions < n_values)
    labels = target.labels[mask] % width
    flat = np.bincount(positions[mask] * width + labels, minlength=n_values * width)
    return flat.reshape(n_values, width).astype(np.float64)


# Texts


@storable
@dataclass(eq=False)
class TextComponents(ColumnEncoder):
    """The leading components of the tf-idf weights of hashed words, or of groups of characters.

    Similar texts have similar numbers: those with the same words or, ``by`` "spelling", with the
    same groups of three and four characters, which misspelled names share.
    """

    by: str = "words"
    seed: Any = None
    idf: Annotated[Floats, Array(N_HASHES)] = field(default_factory=_no_numbers)
    components: Annotated[Floats, Array("", N_HASHES)] = field(default_factory=_no_rows)

    def learn_and_encode(self, column: Column, target: Target) -> Floats:
        """Find the components in the first rows, and return those of all rows."""
        if target.is_first:
            self._fit(column.texts.values, column.texts.counts())
        return self.encode(column)

    def _fit(self, values: Sequence[str], n_rows: NDArray[np.intp]) -> None:
        """Fit to the distinct values, weighted by their numbers of rows."""
        order = np.argsort(np.array(values, dtype=object), kind="stable")  # the same for all frames
        order = order[:: -(-len(values) // MAX_TEXTS)]
        values, n_rows = [values[k] for k in order.tolist()], n_rows[order]
        hashed = self._hashed(values)
        is_present = scipy.sparse.csr_array(hashed > 0, dtype=np.float64)
        n_with = is_present.T @ n_rows
        self.idf = np.log((1 + n_rows.sum()) / (1 + n_with)) + 1
        weighted = scipy.sparse.diags_array(np.sqrt(n_rows)) @ self._weighted(hashed)
        n_components = N_WORDS if self.by == "words" else N_SPELLING
        svd = TruncatedSVD(n_components, random_state=self.seed)
        # with several BLAS threads, sums would depend on their number
        with threadpool_limits(1, user_api="blas"), np.errstate(invalid="ignore"):
            self.components = svd.fit(weighted).components_.astype(np.float64)

    def encode(self, column: Column) -> Floats:
        """Return the components; those of missing texts are NaN."""
        values = column.texts.values
        found = np.full((len(values) + 1, len(self.components)), np.nan)
        if values:
            found[:-1] = self._weighted(self._hashed(values)) @ self.components.T
        components: Floats = found[column.texts.codes]
        return components

    def _hashed(self, values: Any) -> Any:
        ngrams = {"analyzer": "char_wb", "ngram_range": (3, 4)} if self.by == "spelling" else {}
        options: Any = {"alternate_sign": False, "norm": None, "dtype": np.float32}
        return HashingVectorizer(n_features=N_HASHES, **options, **ngrams).transform(values)

    def _weighted(self, hashed: Any) -> Any:
        weighted = hashed.astype(np.float64)
        weighted.data *= self.idf[weighted.indices]
        return normalize(weighted, copy=False)

    def names(self, column: Any) -> list[str]:
        """Return the names of the columns."""
        return [f"{column}_{k}" for k in range(len(self.components))]

    def check_stored(self) -> None:
        """Raise unless it was fitted."""
        require(self.by in ("words", "spelling"), "words or spelling")
        require(len(self.components) <= N_WORDS, f"at most {N_WORDS} components")


# Dates

PARTS = (
    *("days", "year", "month", "day", "weekday", "hour"),
    *("year_sin", "year_cos", "week_sin", "week_cos", "day_sin", "day_cos"),
)
"""The columns that a date is encoded as, where they vary."""


@storable
@dataclass(eq=False)
class Calendar(ColumnEncoder):
    """Dates as numbers and positions in cycles; parts that do not vary are left out."""

    format: DateFormat | None = None
    parts: list[str] = field(default_factory=list)

    def learn_and_encode(self, column: Column, target: Target) -> Floats:
        """Find the parts that vary in the first rows, and return them."""
        if target.is_first:
            found = calendar(self._dates(column))
            low, high = np.nanmin(found, axis=0), np.nanmax(found, axis=0)
            self.parts = [PARTS[k] for k in np.flatnonzero(low < high)]
        return self.encode(column)

    def encode(self, column: Column) -> Floats:
        """Return the parts; those of missing dates are NaN."""
        return calendar(self._dates(column))[:, [PARTS.index(part) for part in self.parts]]

    def _dates(self, column: Column) -> NDArray[np.datetime64]:
        if column.column_type == DATE:
            return column.dates
        if column.column_type == NUMBER:
            raise column.error("dates", "numbers")
        dates, odd = (self.format or DateFormat("iso")).parse(column.texts.values)
        if odd and self.format is None:
            raise column.error("dates", repr(odd[0]))
        if odd:
            column.warn_of_odd(odd, "dates")
        return np.asarray(np.append(dates, np.datetime64("NaT"))[column.texts.codes])

    def names(self, column: Any) -> list[str]:
        """Return the names of the columns."""
        return [f"{column}_{part}" for part in self.parts]

    def check_stored(self) -> None:
        """Raise unless all parts exist."""
        require(set(self.parts) <= set(PARTS), "parts of dates")


def calendar(moments: NDArray[np.datetime64]) -> Floats:
    r"""Return the calendar parts of dates, as named in ``PARTS``.

    A position :math:`t` in a cycle of length :math:`c` is a point on the circle,
    :math:`(\sin 2 \pi t/c, \cos 2 \pi t/c)`, so that the last day of a year is next to the first.

    Examples
    --------
    >>> parts = calendar(np.array(["2024-12-31T18:00"], dtype="datetime64[us]")).round(2)
    >>> dict(zip(PARTS, parts[0].tolist()))  # doctest: +NORMALIZE_WHITESPACE
    {'days': 20088.75, 'year': 2024.0, 'month': 12.0, 'day': 31.0, 'weekday': 1.0, 'hour': 18.0,
     'year_sin': -0.0, 'year_cos': 1.0, 'week_sin': 0.78, 'week_cos': 0.62, 'day_sin': -1.0,
     'day_cos': -0.0}
    """
    days, months = moments.astype("datetime64[D]"), moments.astype("datetime64[M]")
    month, day = months.astype(int), days.astype(int)
    weekday = (day + 3) % 7  # the first day of 1970 was a Thursday
    hours = (moments - days) / np.timedelta64(1, "h")
    day_of_year = (days - moments.astype("datetime64[Y]")) / np.timedelta64(1, "D")
    cycles = 2 * np.pi * np.stack([day_of_year / 365.25, weekday / 7, hours / 24], axis=1)
    points = np.stack([np.sin(cycles), np.cos(cycles)], axis=2).reshape(len(moments), -1)
    dates = [day + hours / 24, month // 12 + 1970, month % 12 + 1, (days - months).astype(int) + 1]
    parts = np.column_stack([*dates, weekday, hours // 1, points])
    parts[np.isnat(moments)] = np.nan
    return parts
