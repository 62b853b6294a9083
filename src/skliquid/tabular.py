"""tabular_pipeline: an ensemble for tables as people have them."""

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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

from skliquid.arrays import Floats
from skliquid.ensemble import LiquidEnsembleClassifier
from skliquid.validation import refuse_plan

_MOST_CATEGORIES = 50
_CATEGORIES_OF_POLARS = ("Boolean", "Categorical", "Enum", "Object", "String")


def tabular_pipeline(classifier: Any = None, **parameters: Any) -> Pipeline:
    """Return an ensemble that takes tables with numbers, categories and missing values.

    Columns of numbers are scaled, missing numbers replaced by the median and told by a column of
    their own; columns of text, categories and truth values are coded one-hot, missing being a
    category, and an empty text another. Categories of the same text are one, such as True and
    ``"True"``. Of a column with many categories the rare ones become one, and so do categories that
    training has not seen. Other columns, such as dates, are left out with a warning that names
    them; columns without any value in training are left out too, whatever they hold later.
    ``pipeline["coder"].left_out_`` holds both.

    Parameters
    ----------
    classifier : classifier, default=None
        What comes after the coding; None means ``LiquidEnsembleClassifier(**parameters)``.
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
    if classifier is not None and parameters:
        raise ValueError(
            f"parameters are those of LiquidEnsembleClassifier: {sorted(parameters)[0]!r} cannot "
            "be given to another classifier. Set it there."
        )
    if classifier is None:
        classifier = LiquidEnsembleClassifier(**parameters)
    return Pipeline([("coder", TableCoder()), ("classifier", classifier)])


class TableCoder(TransformerMixin, BaseEstimator):
    """Turns the columns of a table into numbers, as :func:`tabular_pipeline` says.

    Attributes
    ----------
    coder_ : ColumnTransformer
        What was learned of the columns that are used.
    left_out_ : dict
        Columns that are not used, by name, or by position in an array: the type of those that hold
        neither numbers nor categories, and ``"empty"`` for those that held nothing in training.
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn medians, scales and categories.

        Parameters
        ----------
        X : data frame or array
            The table.
        y : None
            Not used.

        Returns
        -------
        self : TableCoder
            The transformer.
        """
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn medians, scales and categories, and return the table as numbers.

        Parameters
        ----------
        X : data frame or array
            The table.
        y : None
            Not used.

        Returns
        -------
        numbers : ndarray of shape (n_samples, n_features_out)
            Scaled numbers and coded categories.
        """
        table = _as_table(X)
        kinds = _kinds(table)
        self.left_out_ = _left_out(table, kinds)
        self.coder_ = column_coder(
            numbers=[k for k, kind in enumerate(kinds.values()) if kind == "number"],
            categories=[k for k, kind in enumerate(kinds.values()) if kind == "category"],
        )
        coded = self.coder_.fit_transform(table)
        for name in {"n_features_in_", "feature_names_in_"} & vars(self.coder_).keys():
            setattr(self, name, getattr(self.coder_, name))
        return coded

    def transform(self, X: Any) -> Any:
        """Return the table as numbers.

        Parameters
        ----------
        X : data frame or array
            The table.

        Returns
        -------
        numbers : ndarray of shape (n_samples, n_features_out)
            Scaled numbers and coded categories.
        """
        check_is_fitted(self)
        return self.coder_.transform(_as_table(X))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return what each column that comes out holds.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the columns, where the table had none.

        Returns
        -------
        names : ndarray of str
            Names such as ``"numbers__age"`` and ``"categories__town_Oslo"``; without a text at the
            end, ``"categories__town_"``, for a missing category, and with ``''`` for an empty one.
        """
        check_is_fitted(self)
        names: NDArray[Any] = self.coder_.get_feature_names_out(input_features)
        return names


def column_coder(*, numbers: Sequence[Any], categories: Sequence[Any]) -> ColumnTransformer:
    """Return what codes the columns ``numbers`` and ``categories``, given by position or name.

    It gives arrays, and so do its steps, whatever output is set elsewhere: a data frame may turn
    None, which is a category here, into another.
    """
    of_numbers = make_pipeline(
        FunctionTransformer(_as_numbers, feature_names_out="one-to-one"),
        SimpleImputer(strategy="median", add_indicator=True),
        StandardScaler(),
    )
    of_categories = make_pipeline(
        FunctionTransformer(_as_text, feature_names_out="one-to-one"),
        OneHotEncoder(
            handle_unknown="infrequent_if_exist",
            max_categories=_MOST_CATEGORIES,
            sparse_output=False,
            feature_name_combiner=_name_of,
        ),
    )
    coder = ColumnTransformer(
        [("numbers", of_numbers, numbers), ("categories", of_categories, categories)]
    )
    return coder.set_output(transform="default")


def _name_of(column: str, category: str | None) -> str:
    """Return the name of a category's column: "None" is a text, so a missing one has no text."""
    return f"{column}_{'' if category is None else category or repr(category)}"


def _as_table(X: Any) -> Any:
    """Return a data frame, whose columns have different names, or an array of two dimensions."""
    refuse_plan("X", X)
    if not _is_frame(X):
        return check_array(X, dtype=None, ensure_all_finite=False)
    twice = [name for name, count in Counter(X.columns).items() if count > 1]
    if twice:
        raise ValueError(
            f"Columns must have different names: X has {twice[0]!r} more than once. Rename one."
        )
    return X


def _is_frame(table: Any) -> bool:
    return hasattr(table, "columns") and hasattr(table, "dtypes")


def _kinds(table: Any) -> dict[Any, str]:
    """Return what each column holds, by its name, or by its position in an array."""
    if not _is_frame(table):
        return {k: "number" if _has_value(each) else "empty" for k, each in enumerate(table.T)}
    kinds = {}
    for name, dtype in zip(table.columns, table.dtypes, strict=True):
        kinds[name] = _kind(dtype) if _has_value(table[name]) else "empty"
        if getattr(dtype, "type", None) is np.object_ and _are_measured(table[name]):
            kinds[name] = "number"
    return kinds


def _are_measured(values: Iterable[Any]) -> bool:
    """Return whether objects are numbers, not all of them whole: whole ones may be codes."""
    there = [value for value in values if text_of(value) is not None]
    are_numbers = all(
        isinstance(value, Real | Decimal) and not isinstance(value, bool) for value in there
    )
    return are_numbers and any(value != value // 1 for value in there)


def _has_value(column: Any) -> bool:
    return any(text_of(value) is not None for value in column)


def _kind(dtype: Any) -> str:
    """Return what a column of pandas or polars holds, by the type of its values."""
    if hasattr(dtype, "is_numeric"):  # as in polars
        is_category = dtype.base_type().__name__ in _CATEGORIES_OF_POLARS
        return "number" if dtype.is_numeric() else "category" if is_category else "other"
    value = dtype.type
    is_category = value.__name__ == "CategoricalDtypeType"
    if is_category or issubclass(value, str | bool | np.bool_ | np.object_):
        return "category"
    is_number = issubclass(value, Real | Decimal) and not issubclass(value, np.timedelta64)
    return "number" if is_number else "other"


def _left_out(table: Any, kinds: Mapping[Any, str]) -> dict[Any, str]:
    """Return the columns that are not used, and warn of those that hold something."""
    others = {name: str(table[name].dtype) for name, kind in kinds.items() if kind == "other"}
    left_out = others | {name: kind for name, kind in kinds.items() if kind == "empty"}
    if left_out and len(left_out) == len(kinds):
        raise ValueError(
            "X must have a column of numbers, text, categories or truth values: there is none "
            f"among {_named(left_out)}. Turn one into such, or fill one in."
        )
    if others:
        warnings.warn(
            f"Columns that hold neither numbers nor categories are left out: {_named(others)}. "
            "Turn them into such, or drop them.",
            stacklevel=2,
        )
    return left_out


def _named(left_out: Mapping[Any, str]) -> str:
    return ", ".join(f"{name!r} ({what})" for name, what in left_out.items())


def _as_numbers(table: Any) -> Any:
    """Return columns of numbers as an array in which missing ones are no numbers."""
    if not _is_frame(table):
        return table
    return np.column_stack([_numbers(table[name]) for name in table.columns])


def _numbers(column: Any) -> Floats:
    if hasattr(column, "isna"):  # pandas has many words for what is missing, and polars one
        numbers: Floats = column.to_numpy(dtype=np.float64, na_value=np.nan)
        return numbers
    return np.asarray(column, dtype=np.float64)


def _as_text(table: Any) -> NDArray[np.object_]:
    """Return columns of categories as text, in which missing ones are None.

    As objects: one long text in an array of text would make all others as long.
    """
    if _is_frame(table):
        columns = [table[name].to_list() for name in table.columns]
    else:
        columns = table.T.tolist()
    texts = [[text_of(value) for value in values] for values in columns]
    return np.column_stack([np.array(each, dtype=object) for each in texts])


def text_of(value: Any) -> str | None:
    """Return a category as text, or None if it is missing.

    A whole number is written without a point, as a column of whole numbers becomes one of broken
    ones in pandas when a value is missing.

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
