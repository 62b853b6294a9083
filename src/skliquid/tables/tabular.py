"""TableEncoder: tables with categories, dates, texts and missing values, as numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.utils.validation import check_is_fitted

from skliquid.delegation.storable import Array, require, storable
from skliquid.tables.column_encoders import (
    TextEncoder,
    column_encoder,
    date_steps,
    frequent_classes,
    target_steps,
)
from skliquid.tables.stored_encoder import State, restore_encoder, states_of
from skliquid.tables.table_columns import as_table, column_types
from skliquid.validation.user_warnings import warn_user

_USED = ("number", "category", "many", "text", "date")


@dataclass(frozen=True, eq=False)
class StoredTableEncoder:
    """The types of the columns, and what their encoders have learned; nothing before ``fit``."""

    random_state: Any
    names: list[Any]
    column_types: list[str]
    feature_names: Annotated[NDArray[Any], Array("n_columns")] | None
    states: dict[str, State]


@storable
class TableEncoder(TransformerMixin, BaseEstimator):
    """Turns a table into numbers, as in :func:`~skliquid.tabular_pipeline`.

    Parameters
    ----------
    random_state : int, RandomState instance or None, default=None
        Seeds the encoding of texts and of columns with many categories.

    Attributes
    ----------
    encoder_ : ColumnTransformer
        The fitted transformer of the columns that are used.
    column_types_ : dict
        The type of each column, by name, or by position in an array: ``"number"``, ``"category"``,
        ``"many"`` (categories), ``"text"``, ``"date"``, ``"constant"`` (a date), ``"empty"``, or
        a type that is not used.
    left_out_ : dict
        The types of the columns that are not used.
    """

    stored_as = StoredTableEncoder

    def __init__(self, random_state: Any = None):
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn how to encode the columns of a data frame or array.

        Without the classes ``y``, columns of many categories are encoded by their spelling alone.
        """
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn how to encode the columns, and return the table as an array of numbers.

        Unlike in ``transform``, many categories are encoded by the classes of other rows only.
        """
        table = as_table(X)
        self.column_types_ = column_types(table)
        self.left_out_ = {k: t for k, t in self.column_types_.items() if t not in _USED}
        _check_left_out(self.left_out_, n_columns=len(self.column_types_))
        classes = frequent_classes(y) if self._positions("many") else None
        self.encoder_ = self._column_encoder(has_classes=classes is not None)
        encoded = self.encoder_.fit_transform(table, classes)
        self.n_features_out_ = encoded.shape[1]
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

    def to_stored(self) -> StoredTableEncoder:
        """Return the column types and the learned state, for model files."""
        types = getattr(self, "column_types_", {})
        names = getattr(self, "feature_names_in_", None)
        states = states_of(self.encoder_) if types else {}
        return StoredTableEncoder(
            self.random_state, list(types), list(types.values()), names, states
        )

    @classmethod
    def from_stored(cls, stored: StoredTableEncoder) -> Self:
        """Return an encoder from a model file."""
        encoder = cls(stored.random_state)
        if stored.names:
            encoder._restore(stored)
        return encoder

    def _restore(self, stored: StoredTableEncoder) -> None:
        self.column_types_ = dict(zip(stored.names, stored.column_types, strict=True))
        self.left_out_ = {k: t for k, t in self.column_types_.items() if t not in _USED}
        self.encoder_ = self._column_encoder(has_classes="classes" in stored.states)
        row = np.array([[0.0 if t == "number" else None for t in stored.column_types]], object)
        self.n_features_out_ = restore_encoder(self.encoder_, stored.states, row)
        self.n_features_in_ = len(self.column_types_)
        names = stored.feature_names
        if names is not None:
            require(names.tolist() == stored.names, "the names of its columns")
            self.feature_names_in_ = self.encoder_.feature_names_in_ = names

    def _column_encoder(self, *, has_classes: bool) -> ColumnTransformer:
        seed, many = self.random_state, self._positions("many")
        others = [
            ("dates", date_steps(), self._positions("date")),
            ("classes", target_steps(seed), many if has_classes else []),
            ("spelling", TextEncoder("spelling", seed), many),
            ("words", TextEncoder("words", seed), self._positions("text")),
        ]
        return column_encoder(
            numbers=self._positions("number"),
            categories=self._positions("category"),
            others=[step for step in others if step[2]],
        )

    def _positions(self, column_type: str) -> list[int]:
        return [k for k, t in enumerate(self.column_types_.values()) if t == column_type]


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
