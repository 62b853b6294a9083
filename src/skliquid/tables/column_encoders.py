"""Column encoders: numbers, categories, dates and texts as columns of numbers."""

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler, TargetEncoder
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from skliquid.delegation.arrays import Floats
from skliquid.tables.table_columns import (
    MAX_CATEGORIES,
    as_moments,
    as_numbers,
    as_text,
    columns_of,
)

PARTS = (
    *("days", "year", "month", "day", "weekday", "hour"),
    *("year_sin", "year_cos", "week_sin", "week_cos", "day_sin", "day_cos", "missing"),
)
"""The columns that a date is encoded as."""

N_COMPONENTS, N_HASHES = 30, 2**12
"""A text is hashed to 4,096 weights, which are reduced to 30 numbers."""

MIN_ROWS, MAX_CLASSES = 5, 20
"""Limits of target encoding: TargetEncoder has five folds, and makes a column per class."""


def column_encoder(
    *,
    numbers: Sequence[Any],
    categories: Sequence[Any],
    others: Sequence[tuple[str, Any, Sequence[Any]]] = (),
) -> ColumnTransformer:
    """Return a ColumnTransformer of columns, by position or name, and of ``others``."""
    imputer = SimpleImputer(strategy="median", add_indicator=True)
    number_steps = make_pipeline(_function(as_numbers), imputer, StandardScaler())
    one_hot = OneHotEncoder(
        handle_unknown="infrequent_if_exist",
        max_categories=MAX_CATEGORIES,
        sparse_output=False,
        feature_name_combiner=category_name,
    )
    category_steps = make_pipeline(_function(as_text), one_hot)
    steps = [("numbers", number_steps, numbers), ("categories", category_steps, categories)]
    # always arrays: a data frame may turn None, which is a category here, into another value
    return ColumnTransformer([*steps, *others]).set_output(transform="default")


def _function(function: Callable[[Any], Any], names: Any = "one-to-one") -> FunctionTransformer:
    return FunctionTransformer(function, feature_names_out=names)


def category_name(column: str, category: str | None) -> str:
    """Return the name of a category's column; for missing values it ends in ``_``."""
    return f"{column}_{'' if category is None else category or repr(category)}"


# Many categories


def target_steps(random_state: Any) -> Pipeline:
    """Return the target encoder of categories: each becomes the class shares of its rows.

    Training rows are encoded by other rows, in five folds, and so not by their own class.
    """
    from sklearn.model_selection import StratifiedKFold  # noqa: PLC0415 (takes long to import)

    if TargetEncoder().get_params().get("random_state", "deprecated") is None:
        encoder = TargetEncoder(random_state=random_state)  # before scikit-learn 1.9
    else:
        encoder = TargetEncoder(cv=StratifiedKFold(shuffle=True, random_state=random_state))
    return make_pipeline(_function(as_text), encoder, StandardScaler())


def frequent_classes(y: Any) -> NDArray[Any] | None:
    """Return ``y`` with rare classes replaced by the largest, or None if fewer than two remain."""
    if y is None:
        return None
    classes, codes, counts = np.unique(np.ravel(y), return_inverse=True, return_counts=True)
    by_size = np.argsort(-counts, kind="stable")
    kept = [c for c in by_size[:MAX_CLASSES].tolist() if counts[c] >= MIN_ROWS]
    return classes[np.where(np.isin(codes, kept), codes, by_size[0])] if len(kept) > 1 else None


# Texts


class TextEncoder(TransformerMixin, BaseEstimator):
    """Turns each column of texts into 30 numbers, so that similar texts have similar numbers.

    They are the leading components of the tf-idf weights of hashed words or, ``by`` "spelling", of
    groups of three and four characters, which misspelled names share. ``encoders_`` has one
    pipeline per column.
    """

    def __init__(self, by: str = "words", random_state: Any = None):
        self.by = by
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 (as scikit-learn calls it)
        """Find the components of texts."""
        # with several BLAS threads, sums would depend on their number
        with threadpool_limits(1, user_api="blas"), np.errstate(invalid="ignore"):
            self.encoders_ = [self.new_steps().fit(texts) for texts in _texts(X)]
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the components of texts; a missing text counts as an empty one."""
        check_is_fitted(self)
        pairs = zip(self.encoders_, _texts(X), strict=True)
        return np.hstack([steps.transform(texts) for steps, texts in pairs])

    def new_steps(self) -> Pipeline:
        """Return the unfitted steps of one column."""
        ngrams = {"analyzer": "char_wb", "ngram_range": (3, 4)} if self.by == "spelling" else {}
        counts = HashingVectorizer(
            n_features=N_HASHES, alternate_sign=False, norm=None, dtype=np.float32, **ngrams
        )
        components = TruncatedSVD(N_COMPONENTS, random_state=self.random_state)
        return make_pipeline(counts, TfidfTransformer(), components, StandardScaler())

    def get_feature_names_out(self, columns: Any) -> NDArray[np.object_]:
        """Return names like ``"review_7"``."""
        return np.array([f"{name}_{k}" for name in columns for k in range(N_COMPONENTS)], object)


def _texts(table: Any) -> list[list[str]]:
    return [[text or "" for text in column] for column in as_text(table).T]


# Dates


def date_steps() -> Pipeline:
    """Return the encoder of columns of dates, without parts that do not vary."""
    return make_pipeline(
        _function(calendar, part_names),
        SimpleImputer(strategy="median"),
        VarianceThreshold(),
        StandardScaler(),
    )


def calendar(table: Any) -> Floats:
    r"""Return the calendar parts of each column of dates, as named in ``PARTS``.

    A position :math:`t` in a cycle of length :math:`c` is a point on the circle,
    :math:`(\sin 2 \pi t/c, \cos 2 \pi t/c)`, so that the last day of a year is next to the first.

    Examples
    --------
    >>> import pandas as pd
    >>> parts = calendar(pd.DataFrame({"seen": ["2024-12-31T18:00"]})).round(2)
    >>> dict(zip(PARTS, parts[0].tolist()))  # doctest: +NORMALIZE_WHITESPACE
    {'days': 20088.75, 'year': 2024.0, 'month': 12.0, 'day': 31.0, 'weekday': 1.0, 'hour': 18.0,
     'year_sin': -0.0, 'year_cos': 1.0, 'week_sin': 0.78, 'week_cos': 0.62, 'day_sin': -1.0,
     'day_cos': -0.0, 'missing': 0.0}
    """
    return np.hstack([_parts(as_moments(column)) for column in columns_of(table)])


def _parts(moments: NDArray[np.datetime64]) -> Floats:
    days, months = moments.astype("datetime64[D]"), moments.astype("datetime64[M]")
    month, day = months.astype(int), days.astype(int)
    weekday = (day + 3) % 7  # the first day of 1970 was a Thursday
    hours = (moments - days) / np.timedelta64(1, "h")
    day_of_year = (days - moments.astype("datetime64[Y]")) / np.timedelta64(1, "D")
    cycles = 2 * np.pi * np.stack([day_of_year / 365.25, weekday / 7, hours / 24], axis=1)
    points = np.stack([np.sin(cycles), np.cos(cycles)], axis=2).reshape(len(moments), -1)
    dates = [day + hours / 24, month // 12 + 1970, month % 12 + 1, (days - months).astype(int) + 1]
    parts = np.column_stack([*dates, weekday, hours // 1, points])
    is_missing = np.isnat(moments)
    parts[is_missing] = np.nan
    return np.column_stack([parts, is_missing])


def part_names(_: Any, columns: Any) -> list[str]:
    """Return the names of the columns that dates become."""
    return [f"{column}_{part}" for column in columns for part in PARTS]
