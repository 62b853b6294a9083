"""Stored encoders: table encoders in model files, also in those of format version 3.

In version 3, scikit-learn's transformers encoded tables. Their state is converted to column
encoders and a numeric view that give the same numbers.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import StandardScaler

from skliquid.delegation.arrays import Floats
from skliquid.delegation.storable import Array, Count, require, storable
from skliquid.tables.column_encoders import (
    N_HASHES,
    OTHER,
    PARTS,
    Calendar,
    Codes,
    ColumnEncoder,
    Numbers,
    TargetShares,
    TextComponents,
)
from skliquid.tables.frames import CATEGORY, DATE, NUMBER, TEXT
from skliquid.tables.numeric_view import IS_MISSING, MISSING_CODE, NumericView
from skliquid.tables.numeric_view import NUMBER as IS_NUMBER
from skliquid.validation.data_types import is_missing

_Categories = Annotated[NDArray[Any], Array("")]


# Files of version 3


@storable
@dataclass(frozen=True, eq=False)
class NumberState:
    """Medians, averages and deviations of columns of numbers."""

    imputer: SimpleImputer
    scaler: StandardScaler


@storable
@dataclass(frozen=True, eq=False)
class CategoryState:
    """The categories of each column, and those that are infrequent and share a column."""

    categories: list[_Categories]
    are_infrequent: list[Annotated[NDArray[np.bool_], Array("")]]


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


@storable
@dataclass(frozen=True, eq=False)
class TextState:
    """The weights of hashed words or spellings in a column of texts, and their components."""

    idf: Annotated[Floats, Array(N_HASHES)]
    components: Annotated[Floats, Array("n_components", N_HASHES)]
    scaler: StandardScaler


@storable
@dataclass(frozen=True, eq=False)
class DateState:
    """Medians of the calendar parts of dates, the parts that vary, averages and deviations."""

    imputer: SimpleImputer
    varies: Annotated[NDArray[np.bool_], Array("n_parts")]
    scaler: StandardScaler


State = NumberState | CategoryState | TargetState | DateState | list[TextState]


@storable
@dataclass(eq=False)
class EncodedColumn:
    """A column of a table: its type, its encoders, and notes for the user."""

    name: Any
    column_type: str
    encoders: list[ColumnEncoder] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def missing_texts(self, texts: Sequence[str]) -> set[str]:
        """Return the texts that count as missing in a column of numbers or dates."""
        form = getattr(next(iter(self.encoders), None), "format", None)
        if form is None or not texts:
            return set()
        found = zip(texts, form.parse(texts)[0].tolist(), strict=True)
        return {text for text, value in found if is_missing(value)}

    def check_stored(self) -> None:
        """Raise unless the column has a known type, with encoders or a reason for none."""
        is_used = self.column_type in (NUMBER, CATEGORY, DATE, TEXT)
        require(is_used or self.column_type == LEFT_OUT, "a type of columns")
        require(is_used == bool(self.encoders) and (is_used or self.notes), "encoders, or a reason")
        require(isinstance(self.name, Hashable), "a name")


@dataclass(frozen=True, eq=False)
class StoredTableEncoder:
    """The learned state of a table encoder; ``states`` are in files of version 3 only."""

    random_state: Any
    names: list[Any]
    column_types: list[str]
    feature_names: Annotated[NDArray[Any], Array("n_columns")] | None
    states: dict[str, State] = field(default_factory=dict)
    columns: list[EncodedColumn] = field(default_factory=list)
    view: NumericView | None = None
    categorical_features: Any = "from_dtype"
    gives_codes: bool = False
    seed: Count = 0
    classes: Annotated[NDArray[Any], Array("n_classes")] | None = None

    def converted(self) -> tuple[list[EncodedColumn], NumericView]:
        """Return the columns and the view, also of a file of version 3."""
        if self.view is not None:
            self._check_columns()
            return self.columns, self.view
        require(len(self.names) == len(self.column_types), "a type of each column")
        converter = Converter(self.column_types, self.states)
        triples = zip(self.names, self.column_types, converter.encoders, strict=True)
        columns = [
            EncodedColumn(name, _TYPES.get(t, LEFT_OUT), encoders, [] if encoders else [_UNUSED])
            for name, t, encoders in triples
        ]
        return columns, converter.view()

    def _check_columns(self) -> None:
        """Raise unless columns have different names, and target statistics are of its classes."""
        names = [column.name for column in self.columns]
        require(names == self.names and len(set(names)) == len(names), "the names of its columns")
        encoders = [encoder for column in self.columns for encoder in column.encoders]
        n_classes = 0 if self.classes is None else len(self.classes)
        for encoder in encoders:
            counts = getattr(encoder, "counts", None)
            require(counts is None or counts.shape[1] == n_classes + 1, "counts of its classes")


LEFT_OUT = "left out"
"""The type of a column that is not used."""

_UNUSED = "it was not used in training"
_TYPES = {"number": NUMBER, "date": DATE, "text": TEXT}
_TYPES |= dict.fromkeys(("category", "many", "boolean", "code", "text of a file"), CATEGORY)


# Conversion


class Term(NamedTuple):
    """A column of the view: the encoder it comes from, that encoder's column, and the content."""

    encoder: ColumnEncoder
    place: int
    content: int = IS_NUMBER
    mean: float = 0.0
    scale: float = 1.0
    fill: float = 0.0


class Converter:
    """Turns the states of version 3 into encoders of columns and the terms of their view."""

    def __init__(self, column_types: list[str], states: Mapping[str, Any]):
        self.column_types, self.states = column_types, states
        self.encoders: list[list[ColumnEncoder]] = [[] for _ in column_types]
        self.terms: list[Term] = []
        parts: dict[str, tuple[tuple[str, ...], Any]] = {
            "numbers": (("number",), self._add_numbers),
            "categories": (("category", "text of a file", "boolean", "code"), self._add_categories),
            "dates": (("date",), self._add_dates),
            "classes": (("many",), self._add_shares),
            "spelling": (("many",), self._add_texts),
            "words": (("text",), self._add_texts),
        }
        for part, (types, add) in parts.items():
            own = [k for k, t in enumerate(column_types) if t in types]
            require(part == "classes" or bool(own) == (part in states), "states of its columns")
            if part in states:
                add(own, states[part])

    def view(self) -> NumericView:
        """Return the numeric view of the encoded columns."""
        start, starts = 0, {}
        for encoder in (encoder for own in self.encoders for encoder in own):
            starts[id(encoder)] = start
            start += 1 + max(t.place for t in self.terms if t.encoder is encoder)
        view = NumericView()
        view.n_features_in_ = start
        view.sources_ = np.array([starts[id(t.encoder)] + t.place for t in self.terms])
        view.contents_ = np.array([t.content for t in self.terms])
        view.mean_, view.scale_, view.fill_ = np.array([t[3:] for t in self.terms]).T.copy()
        view.deviation_ = np.ones(len(self.terms))
        return view

    def _add(self, column: int, encoder: Any) -> Any:
        self.encoders[column].append(encoder)
        return encoder

    def _add_numbers(self, columns: list[int], state: NumberState) -> None:
        imputer, scaler = state.imputer, state.scaler
        places = [] if imputer.indicator_ is None else imputer.indicator_.features_.tolist()
        widths = len(imputer.statistics_), len(scaler.mean_)
        require(widths == (len(columns), len(columns) + len(places)), "a scale of each number")
        added = [self._add(column, Numbers()) for column in columns]
        for k, encoder in enumerate(added):
            self._add_value(encoder, 0, scaler, k, imputer.statistics_[k])
        for k, place in enumerate(places, start=len(columns)):
            scale = float(scaler.mean_[k]), float(scaler.scale_[k])
            self.terms.append(Term(added[place], 0, IS_MISSING, *scale))

    def _add_value(
        self, encoder: ColumnEncoder, place: int, scaler: StandardScaler, k: int, missing: float
    ) -> None:
        mean, scale = float(scaler.mean_[k]), float(scaler.scale_[k])
        fill = (float(missing) - mean) / scale
        self.terms.append(Term(encoder, place, IS_NUMBER, mean, scale, fill))

    def _add_categories(self, columns: list[int], state: CategoryState) -> None:
        lists = zip(columns, state.categories, state.are_infrequent, strict=True)
        for column, known, is_infrequent in lists:
            require(len(known) == len(is_infrequent), "categories that are infrequent or not")
            frequent = known[~is_infrequent].tolist()
            values = [value for value in frequent if value is not None]
            encoder = self._add(column, Codes(values, missing_is_other=None not in frequent))
            encoder.check_stored()
            for value in frequent:
                code = MISSING_CODE if value is None else values.index(value)
                self.terms.append(Term(encoder, 0, code))
            if is_infrequent.any():
                self.terms.append(Term(encoder, 0, OTHER))

    def _add_dates(self, columns: list[int], state: DateState) -> None:
        varies = state.varies.reshape(len(columns), len(PARTS) + 1)
        n_used = int(varies.sum())
        widths = state.imputer.statistics_.size, len(state.scaler.mean_)
        require(widths == (varies.size, n_used), "a scale of each part of dates")
        medians, k = state.imputer.statistics_.reshape(varies.shape), 0
        for column, own, median in zip(columns, varies, medians, strict=True):
            parts = [PARTS[place] for place in np.flatnonzero(own[:-1])]
            encoder = self._add(column, Calendar(parts=parts or ["days"]))
            for place, part in enumerate(parts):
                self._add_value(encoder, place, state.scaler, k, median[PARTS.index(part)])
                k += 1
            if own[-1]:
                scale = float(state.scaler.mean_[k]), float(state.scaler.scale_[k])
                self.terms.append(Term(encoder, 0, IS_MISSING, *scale))
                k += 1

    def _add_shares(self, columns: list[int], state: TargetState) -> None:
        n_outputs = 1 if state.target_type == "binary" else len(state.classes)
        require(len(state.target_mean) == n_outputs, "a prior of each class")
        for k, (column, known) in enumerate(zip(columns, state.categories, strict=True)):
            of_column = state.encodings[k * n_outputs : (k + 1) * n_outputs]
            is_complete = [len(own) for own in of_column] == [len(known)] * n_outputs
            require(is_complete, "an encoding of each category")
            shares, categories = np.stack(of_column, axis=1), known.tolist()
            has_value = np.array([value is not None for value in categories])
            missing = state.target_mean if has_value.all() else shares[~has_value][0]
            values = [value for value in categories if value is not None]
            prior = state.target_mean
            encoder = self._add(column, TargetShares(values, shares[has_value], prior))
            for place in range(n_outputs):
                row = k * n_outputs + place
                self._add_value(encoder, place, state.scaler, row, missing[place])

    def _add_texts(self, columns: list[int], states: list[TextState]) -> None:
        for column, state in zip(columns, states, strict=True):
            by = "words" if self.column_types[column] == "text" else "spelling"
            encoder = self._add(column, TextComponents(by, None, state.idf, state.components))
            encoder.check_stored()
            require(len(state.scaler.mean_) == len(state.components), "a scale of each component")
            for place in range(len(state.components)):
                self._add_value(encoder, place, state.scaler, place, 0.0)
