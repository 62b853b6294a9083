"""tabular_pipeline: an ensemble for tables with categories and missing values."""

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from math import isnan
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from skliquid.checks import refuse_lazy_frame
from skliquid.ensemble import LiquidEnsembleClassifier

_POLARS_CATEGORIES = ("Boolean", "Categorical", "Enum", "Object", "String")


def tabular_pipeline(classifier: Any = None, **parameters: Any) -> Pipeline:
    """Return an ensemble that takes tables with numbers, categories and missing values.

    Numerical columns are scaled; missing numbers are imputed by the median, and get an indicator
    column if the training data has any. Columns of text, categories and booleans get a one-hot
    encoding, not an ordinal one; a missing value is a category, and an empty text another.
    Categories with the same text are the same, such as True and ``"True"``. Of more than 50
    categories the rare ones share one column, with those that were not in the training data. Other
    columns, such as dates, are left out with a warning that names them, and columns without any
    value in the training data without a warning; ``pipeline["encoder"].left_out_`` holds both.

    Parameters
    ----------
    classifier : classifier, default=None
        What follows the encoding; None means ``LiquidEnsembleClassifier(**parameters)``.
    **parameters
        Parameters of the ensemble.

    Returns
    -------
    pipeline : Pipeline
        Takes pandas and polars data frames, and arrays, whose columns are all numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": [20, 30, None, 60] * 10, "town": ["a", "b", "b", None] * 10})
    >>> model = tabular_pipeline(n_estimators=20, n_final=3, random_state=0)
    >>> bool(model.fit(table, [0, 0, 1, 1] * 10).score(table, [0, 0, 1, 1] * 10) == 1)
    True
    """
    if classifier is None:
        classifier = LiquidEnsembleClassifier(**parameters)
    elif parameters:
        raise ValueError(
            f"parameters are those of LiquidEnsembleClassifier: {sorted(parameters)[0]!r} cannot "
            "be given to another classifier. Set it there."
        )
    return Pipeline([("encoder", TableEncoder()), ("classifier", classifier)])


class TableEncoder(TransformerMixin, BaseEstimator):
    """Turns a table into scaled numbers and one-hot categories, as in :func:`tabular_pipeline`.

    Attributes
    ----------
    encoder_ : ColumnTransformer
        The fitted transformer of the columns that are used.
    left_out_ : dict
        Columns that are not used, by name, or by position in an array: the type of those that hold
        neither numbers nor categories, and ``"empty"`` for those without a value in training.
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn medians, scales and categories from a data frame or array."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn medians, scales and categories, and return the table as numbers."""
        table = _as_table(X)
        column_types = _column_types(table)
        types = list(column_types.values())
        self.left_out_ = {k: t for k, t in column_types.items() if t not in ("number", "category")}
        _check_left_out(self.left_out_, n_columns=len(types))
        self.encoder_ = column_encoder(
            numbers=[k for k, column_type in enumerate(types) if column_type == "number"],
            categories=[k for k, column_type in enumerate(types) if column_type == "category"],
        )
        encoded = self.encoder_.fit_transform(table)
        for name in {"n_features_in_", "feature_names_in_"} & vars(self.encoder_).keys():
            setattr(self, name, getattr(self.encoder_, name))
        return encoded

    def transform(self, X: Any) -> Any:
        """Return a table as an array of numbers of shape (n_samples, n_features_out)."""
        check_is_fitted(self)
        return self.encoder_.transform(_as_table(X))

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return names like ``"categories__town_Oslo"``, ``"categories__town_"`` for missing."""
        check_is_fitted(self)
        return self.encoder_.get_feature_names_out(input_features)


def column_encoder(*, numbers: Sequence[Any], categories: Sequence[Any]) -> ColumnTransformer:
    """Return the transformer of the columns ``numbers`` and ``categories``, by position or name."""
    number_steps = make_pipeline(
        FunctionTransformer(_as_numbers, feature_names_out="one-to-one"),
        SimpleImputer(strategy="median", add_indicator=True),
        StandardScaler(),
    )
    category_steps = make_pipeline(
        FunctionTransformer(_as_text, feature_names_out="one-to-one"),
        OneHotEncoder(
            handle_unknown="infrequent_if_exist",
            max_categories=50,
            sparse_output=False,
            feature_name_combiner=_category_name,
        ),
    )
    steps = [("numbers", number_steps, numbers), ("categories", category_steps, categories)]
    # always arrays: a data frame may turn None, which is a category here, into another value
    return ColumnTransformer(steps).set_output(transform="default")


def _category_name(column: str, category: str | None) -> str:
    """Return the name of a category's column: "None" is a text, so a missing one has no text."""
    return f"{column}_{'' if category is None else category or repr(category)}"


def _as_table(X: Any) -> Any:
    """Return a data frame, whose columns have different names, or an array of two dimensions."""
    refuse_lazy_frame("X", X)
    if not _is_frame(X):
        return check_array(X, dtype=None, ensure_all_finite=False)
    if repeated := [name for name, count in Counter(X.columns).items() if count > 1]:
        raise ValueError(
            f"Columns must have different names: X has {repeated[0]!r} more than once. Rename one."
        )
    return X


def _is_frame(table: Any) -> bool:
    return hasattr(table, "columns") and hasattr(table, "dtypes")


def _column_types(table: Any) -> dict[Any, str]:
    """Return "number", "category", or what else a column holds, by its name or position."""
    if _is_frame(table):
        return {name: _column_type(table[name]) for name in table.columns}
    return {k: "number" if _has_value(column) else "empty" for k, column in enumerate(table.T)}


def _column_type(column: Any) -> str:
    dtype = column.dtype
    if not _has_value(column):
        return "empty"
    if hasattr(dtype, "is_numeric"):  # as in polars
        is_category = dtype.base_type().__name__ in _POLARS_CATEGORIES
        return "number" if dtype.is_numeric() else "category" if is_category else str(dtype)
    value = dtype.type
    if value is np.object_:
        return "number" if _are_measured(column) else "category"
    if issubclass(value, str | bool | np.bool_) or value.__name__ == "CategoricalDtypeType":
        return "category"
    is_number = issubclass(value, Real | Decimal) and value is not np.timedelta64
    return "number" if is_number else str(dtype)


def _has_value(column: Any) -> bool:
    return any(text_of(value) is not None for value in column)


def _are_measured(column: Any) -> bool:
    """Return whether objects are numbers, not all of them integers, which may be codes."""
    present = [value for value in column if text_of(value) is not None]
    are_numbers = all(isinstance(v, Real | Decimal) and not isinstance(v, bool) for v in present)
    return are_numbers and any(value != value // 1 for value in present)


def _check_left_out(left_out: Mapping[Any, str], *, n_columns: int) -> None:
    """Warn of columns that hold something else than numbers and categories, or raise if all do."""
    texts = {name: f"{name!r} ({column_type})" for name, column_type in left_out.items()}
    if left_out and len(left_out) == n_columns:
        raise ValueError(
            "X must have a column of numbers, text, categories or booleans: there is none among "
            f"{', '.join(texts.values())}. Convert one of them, or fill one in."
        )
    if others := [texts[name] for name in left_out if left_out[name] != "empty"]:
        warnings.warn(
            f"Columns that hold neither numbers nor categories are left out: {', '.join(others)}. "
            "Convert them, or drop them.",
            stacklevel=2,
        )


def _as_numbers(table: Any) -> Any:
    """Return columns of numbers as an array, with NaN for missing ones."""
    if not _is_frame(table):
        return table
    columns = [table[name] for name in table.columns]
    if hasattr(table, "isna"):  # pandas has several missing values, and polars one
        return np.column_stack([c.to_numpy(dtype=np.float64, na_value=np.nan) for c in columns])
    return np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])


def _as_text(table: Any) -> NDArray[np.object_]:
    """Return columns of categories as text, with None for missing ones."""
    columns = [table[name] for name in table.columns] if _is_frame(table) else table.T
    texts = [[text_of(value) for value in column] for column in columns]
    # as objects: one long text in an array of text would make all others as long
    return np.array(texts, dtype=object).T


def text_of(value: Any) -> str | None:
    """Return a category as text, or None if it is missing.

    A float without a fraction is written as an integer, as pandas makes floats of a column of
    integers when a value is missing.

    Examples
    --------
    >>> text_of(1001.0), text_of(0.5), text_of(True), text_of(float("nan"))
    ('1001', '0.5', 'True', None)
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, float | np.floating):
        if isnan(value):
            return None
        value = int(value) if value.is_integer() else float(value)
    return str(value)
