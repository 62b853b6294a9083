"""tabular_pipeline: an ensemble for tables with categories, dates, texts and missing values."""

from collections.abc import Mapping
from typing import Any, Self

from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from skliquid.column_encoders import (
    TextEncoder,
    class_steps,
    column_encoder,
    date_steps,
    frequent_classes,
)
from skliquid.ensemble import LiquidEnsembleClassifier
from skliquid.table_columns import as_table, column_types, text_of
from skliquid.user_warnings import warn_user

__all__ = ["TableEncoder", "column_encoder", "tabular_pipeline", "text_of"]

_USED = ("number", "category", "many", "text", "date")


def tabular_pipeline(
    classifier: Any = None, *, random_state: Any = None, **parameters: Any
) -> Pipeline:
    """Return an ensemble that takes tables as they are: categories, dates, texts, missing values.

    What becomes of a column depends on what it holds in the training data:

    - **Numbers** are scaled; missing ones are imputed by the median and get an indicator column.
      Durations are numbers of seconds.
    - **Categories**, which are text, categorical types and booleans with up to 50 different values,
      get a one-hot encoding. A missing value is a category, and an empty text another. Categories
      with the same text are the same, such as True and ``"True"``. Those that were not in the
      training data have no column, or share that of the rarest.
    - **Many categories**: more than 50. They are encoded by the share of each class among the
      training rows that have them (:class:`~sklearn.preprocessing.TargetEncoder`), and by their
      spelling, as 30 components of groups of three and four characters.
    - **Texts**: the same, with eight words or more on average. They are encoded by their words, as
      30 components.
    - **Dates**: types of dates, and text like ``"2024-01-31"`` or ``"2024-01-31T09:30:00Z"``, the
      format of ISO 8601. They become days since 1970, year, month, day, weekday and hour, and
      positions in the year, the week and the day, as far as these vary. Dates with a time zone are
      read by the clock of UTC.

    Columns of other types, such as periods of pandas and lists of polars, are left out with a
    warning that names them; columns without any value in the training data, or with the same date
    in all rows, without a warning. ``pipeline["encoder"].left_out_`` has both.

    Parameters
    ----------
    classifier : classifier, default=None
        What follows the encoding; None means ``LiquidEnsembleClassifier(**parameters)``.
    random_state : int, RandomState instance or None, default=None
        Seeds the encoding of texts and many categories, and the ensemble.
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
        classifier = LiquidEnsembleClassifier(random_state=random_state, **parameters)
    elif parameters:
        raise ValueError(
            f"parameters are those of LiquidEnsembleClassifier: {sorted(parameters)[0]!r} cannot "
            "be given to another classifier. Set it there."
        )
    return Pipeline([("encoder", TableEncoder(random_state)), ("classifier", classifier)])


class TableEncoder(TransformerMixin, BaseEstimator):
    """Turns a table into numbers, as in :func:`tabular_pipeline`.

    Parameters
    ----------
    random_state : int, RandomState instance or None, default=None
        Seeds the encoding of texts and of columns with many categories.

    Attributes
    ----------
    encoder_ : ColumnTransformer
        The fitted transformer of the columns that are used.
    column_types_ : dict
        What each column holds, by name, or by position in an array: ``"number"``, ``"category"``,
        ``"many"`` (categories), ``"text"``, ``"date"``, ``"constant"`` (a date), ``"empty"``, or
        a type that is not used.
    left_out_ : dict
        Those that are not used, with their types.
    """

    def __init__(self, random_state: Any = None):
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn how to encode the columns of a data frame or array.

        Parameters
        ----------
        X : data frame, or array-like of shape (n_samples, n_columns)
            The rows.
        y : array-like of shape (n_samples,), default=None
            Classes. Without them, many categories are encoded by their spelling alone.

        Returns
        -------
        self : TableEncoder
            The encoder.
        """
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn how to encode the columns, and return the table as numbers.

        Many categories are encoded by the classes of other rows, which ``transform`` does not do.

        Parameters
        ----------
        X : data frame, or array-like of shape (n_samples, n_columns)
            The rows.
        y : array-like of shape (n_samples,), default=None
            Classes.

        Returns
        -------
        numbers : array of shape (n_samples, n_features_out)
            The encoded rows.
        """
        table = as_table(X)
        self.column_types_ = column_types(table)
        self.left_out_ = {k: t for k, t in self.column_types_.items() if t not in _USED}
        _check_left_out(self.left_out_, n_columns=len(self.column_types_))
        classes = frequent_classes(y) if self._positions("many") else None
        self.encoder_ = self._column_encoder(has_classes=classes is not None)
        encoded = self.encoder_.fit_transform(table, classes)
        for name in {"n_features_in_", "feature_names_in_"} & vars(self.encoder_).keys():
            setattr(self, name, getattr(self.encoder_, name))
        return encoded

    def transform(self, X: Any) -> Any:
        """Return a table as an array of numbers of shape (n_samples, n_features_out)."""
        check_is_fitted(self)
        return self.encoder_.transform(as_table(X))

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return names like ``"categories__town_Oslo"``, ``"categories__town_"`` for missing."""
        check_is_fitted(self)
        return self.encoder_.get_feature_names_out(input_features)

    def _column_encoder(self, *, has_classes: bool) -> ColumnTransformer:
        seed, many = self.random_state, self._positions("many")
        others = [
            ("dates", date_steps(), self._positions("date")),
            ("classes", class_steps(seed), many if has_classes else []),
            ("spelling", TextEncoder("spelling", seed), many),
            ("words", TextEncoder("words", seed), self._positions("text")),
        ]
        return column_encoder(
            numbers=self._positions("number"),
            categories=self._positions("category"),
            others=[step for step in others if step[2]],
        )

    def _positions(self, wanted: str) -> list[int]:
        return [k for k, t in enumerate(self.column_types_.values()) if t == wanted]


def _check_left_out(left_out: Mapping[Any, str], *, n_columns: int) -> None:
    """Warn of columns that are not used, or raise if all are."""
    texts = {name: f"{name!r} ({column_type})" for name, column_type in left_out.items()}
    if left_out and len(left_out) == n_columns:
        raise ValueError(
            "X must have a column of numbers, text, categories, booleans or dates: there is none "
            f"among {', '.join(texts.values())}. Convert one of them, or fill one in."
        )
    if others := [texts[name] for name in left_out if left_out[name] not in ("constant", "empty")]:
        warn_user(
            "Columns that hold neither numbers, categories, texts nor dates are left out: "
            f"{', '.join(others)}. Convert them, or drop them."
        )
