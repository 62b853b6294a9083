"""tabular_pipeline: an ensemble for tables as people have them."""

from math import isnan
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from skliquid.ensemble import LiquidEnsembleClassifier

_MOST_CATEGORIES = 50


def tabular_pipeline(classifier: Any = None, **parameters: Any) -> Pipeline:
    """Return an ensemble that takes tables with numbers, categories and missing values.

    Columns of numbers are scaled, missing numbers replaced by the median and told by a column of
    their own; columns of text, categories and truth values are coded one-hot, missing being a
    category. Of a column with many categories the rare ones become one, and so do categories that
    training has not seen. Other columns, such as dates, are left out.

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
    return Pipeline([("coder", table_coder()), ("classifier", classifier)])


def table_coder() -> ColumnTransformer:
    """Return what turns the columns of a table into numbers, as ``tabular_pipeline`` says."""
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    categories = make_pipeline(
        FunctionTransformer(_as_text, feature_names_out="one-to-one"),
        OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=_MOST_CATEGORIES),
    )
    return ColumnTransformer(
        [("numbers", numbers, numerical_columns), ("categories", categories, categorical_columns)],
        sparse_threshold=0,
    )


def numerical_columns(table: Any) -> list[Any]:
    """Return the columns of numbers: their names, or their positions in an array."""
    return [name for name, kind in _kinds(table) if kind == "number"]


def categorical_columns(table: Any) -> list[Any]:
    """Return the columns of text, categories or truth values."""
    return [name for name, kind in _kinds(table) if kind == "category"]


def _kinds(table: Any) -> list[tuple[Any, str]]:
    if not hasattr(table, "columns"):
        return [(k, "number") for k in range(table.shape[1])]
    return [(name, _kind(table[name].dtype)) for name in table.columns]


def _kind(dtype: Any) -> str:
    """Return what a column of pandas or polars holds."""
    name = str(dtype).lower()
    if name.startswith(("int", "uint", "float", "decimal")):
        return "number"
    if name.startswith(("bool", "str", "object", "categor", "enum", "large_string", "utf8")):
        return "category"
    return "other"


def _as_text(columns: Any) -> Any:
    """Return categories as text, missing ones as an empty text."""
    values = np.asarray(columns, dtype=object)
    return np.where(_is_missing(values), "", values.astype(str))


@np.vectorize(otypes=[bool])
def _is_missing(value: Any) -> bool:
    return (
        value is None
        or type(value).__name__ == "NAType"
        or (isinstance(value, float) and isnan(value))
    )
