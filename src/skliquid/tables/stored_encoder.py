"""Stored encoders: the learned state of column encoders, as model files hold it.

Files hold categories, medians and components, but no transformers. Loading creates the transformers
and sets their learned state.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from skliquid.delegation.arrays import Floats
from skliquid.delegation.storable import Array, require, storable
from skliquid.tables.column_encoders import N_COMPONENTS, N_HASHES

_Categories = Annotated[NDArray[Any], Array("")]


@storable
@dataclass(frozen=True, eq=False)
class NumberState:
    """Medians of columns of numbers, which have missing values, and averages and deviations."""

    imputer: SimpleImputer
    scaler: StandardScaler

    @classmethod
    def of(cls, steps: Pipeline) -> "NumberState":
        """Return the state of fitted steps."""
        return cls(steps[1], steps[-1])

    def restore(self, steps: Any) -> None:
        """Give the steps this state."""
        _replace_steps(steps, {1: self.imputer, 2: self.scaler})


@storable
@dataclass(frozen=True, eq=False)
class CategoryState:
    """The categories of each column, and those that are infrequent and share a column."""

    categories: list[_Categories]
    are_infrequent: list[Annotated[NDArray[np.bool_], Array("")]]

    @classmethod
    def of(cls, steps: Pipeline) -> "CategoryState":
        """Return the state of fitted steps."""
        known, infrequent = steps[-1].categories_, steps[-1].infrequent_categories_
        rare = [set() if own is None else set(own.tolist()) for own in infrequent]
        pairs = zip(known, rare, strict=True)
        return cls(known, [np.array([c in own for c in all_.tolist()]) for all_, own in pairs])

    def restore(self, steps: Any) -> None:
        """Give the steps this state."""
        encoder = _fit_categories(steps[-1], self.categories)
        counts = [np.where(own, 1, 2) for own in self.are_infrequent]
        lengths = zip(self.categories, counts, strict=True)
        is_complete = all(len(known) == len(own) for known, own in lengths)
        require(is_complete, "categories that are infrequent or not")
        encoder._fit_infrequent_category_mapping(1, counts, {})
        encoder._n_features_outs = encoder._compute_n_features_outs()
        found = zip(CategoryState.of(steps).are_infrequent, self.are_infrequent, strict=True)
        are_same = all(np.array_equal(one, other) for one, other in found)
        require(are_same, "as many frequent categories as the encoder keeps")


@storable
@dataclass(frozen=True, eq=False)
class TargetState:
    """The categories of each column, and the share of each class in their rows."""

    categories: list[_Categories]
    encodings: list[Annotated[Floats, Array("")]]
    target_mean: Annotated[Floats, Array("")]
    classes: _Categories
    target_type: Literal["binary", "multiclass"]
    scaler: StandardScaler

    @classmethod
    def of(cls, steps: Pipeline) -> "TargetState":
        """Return the state of fitted steps."""
        encoder = steps[1]
        target = np.atleast_1d(encoder.target_mean_), encoder.classes_, encoder.target_type_
        return cls(encoder.categories_, list(encoder.encodings_), *target, steps[-1])

    def restore(self, steps: Any) -> None:
        """Give the steps this state."""
        is_binary = self.target_type == "binary"
        n_outputs = 1 if is_binary else len(self.classes)
        lengths = [len(known) for known in self.categories for _ in range(n_outputs)]
        is_complete = lengths == [len(own) for own in self.encodings]
        require(is_complete and len(self.target_mean) == n_outputs, "an encoding of each category")
        encoder = _fit_categories(steps[1], self.categories, self.classes[:2])
        encoder.encodings_, encoder.classes_ = self.encodings, self.classes
        encoder.target_mean_ = self.target_mean[0] if is_binary else self.target_mean
        encoder.target_type_ = self.target_type
        _replace_steps(steps, {2: self.scaler})


@storable
@dataclass(frozen=True, eq=False)
class TextState:
    """The weights of hashed words or spellings in a column of texts, and their components."""

    idf: Annotated[Floats, Array(N_HASHES)]
    components: Annotated[Floats, Array("n_components", N_HASHES)]
    scaler: StandardScaler

    @classmethod
    def of(cls, encoder: Any) -> "list[TextState]":
        """Return the state of each column of a fitted text encoder."""
        return [cls(steps[1].idf_, steps[2].components_, steps[3]) for steps in encoder.encoders_]

    def restore(self, steps: Any) -> None:
        """Give the steps of one column this state."""
        require(len(self.components) == N_COMPONENTS, f"{N_COMPONENTS} components")
        steps[1].fit(scipy.sparse.csr_matrix((1, N_HASHES)))
        steps[1].idf_ = self.idf
        steps[2].components_, steps[2].n_features_in_ = self.components, N_HASHES
        _replace_steps(steps, {3: self.scaler})


@storable
@dataclass(frozen=True, eq=False)
class DateState:
    """Medians of the calendar parts of dates, the parts that vary, averages and deviations."""

    imputer: SimpleImputer
    varies: Annotated[NDArray[np.bool_], Array("n_parts")]
    scaler: StandardScaler

    @classmethod
    def of(cls, steps: Pipeline) -> "DateState":
        """Return the state of fitted steps."""
        return cls(steps[1], steps[2].get_support(), steps[-1])

    def restore(self, steps: Any) -> None:
        """Give the steps this state."""
        steps[2].fit(np.stack([np.zeros(len(self.varies)), self.varies]))
        _replace_steps(steps, {1: self.imputer, 3: self.scaler})


State = NumberState | CategoryState | TargetState | DateState | list[TextState]

_STATES: dict[str, Any] = {
    "numbers": NumberState,
    "categories": CategoryState,
    "dates": DateState,
    "classes": TargetState,
    "spelling": TextState,
    "words": TextState,
}


def states_of(encoder: ColumnTransformer) -> dict[str, Any]:
    """Return the state of each part of a fitted encoder of columns."""
    parts = [(name, part) for name, part, columns in encoder.transformers_ if len(columns)]
    return {name: _STATES[name].of(part) for name, part in parts if name in _STATES}


def restore_encoder(encoder: ColumnTransformer, states: Mapping[str, Any], rows: Any) -> int:
    """Give a new encoder of columns the states of its parts.

    ``rows`` is one row like those of training; the number of columns that it becomes is returned.
    """
    unfitted = encoder.transformers
    names = {name for name, _, columns in unfitted if len(columns)}
    require(states.keys() == names, f"the state of {', '.join(sorted(names))}")
    parts = []
    for name, part, columns in unfitted:
        if name in states:
            _restore_part(part, states[name], len(columns))
        parts.append((name, FrozenEstimator(part) if name in states else part, columns))
    encoder.transformers = parts
    encoded = encoder.fit_transform(rows)
    require(np.isfinite(encoded).all(), "finite numbers for a row")
    encoder.transformers = unfitted
    encoder.transformers_ = [
        (name, getattr(part, "estimator", part), columns)
        for name, part, columns in encoder.transformers_
    ]
    return int(encoded.shape[1])


def _restore_part(part: Any, state: Any, n_columns: int) -> None:
    if not isinstance(state, list):
        state.restore(part)
        return
    require(len(state) == n_columns, "the state of each column of texts")
    part.encoders_ = [part.new_steps() for _ in state]
    for own, steps in zip(state, part.encoders_, strict=True):
        own.restore(steps)


def _fit_categories(encoder: Any, categories: list[NDArray[Any]], *target: Any) -> Any:
    """Return an encoder of ``categories``, fitted without the rows that had them."""
    require(all(len(known) for known in categories), "categories in each column")
    n_rows = len(target[0]) if target else 1
    rows = np.array([[known[0] for known in categories]] * n_rows, dtype=object)
    encoder.set_params(categories=categories).fit(rows, *target)
    return encoder.set_params(categories="auto")


def _replace_steps(steps: Any, fitted: Mapping[int, Any]) -> None:
    for k, step in fitted.items():
        steps.steps[k] = steps.steps[k][0], step
