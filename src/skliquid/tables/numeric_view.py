"""NumericView: encoded tables as scaled numbers and one-hot columns, for voters without categories.

Trees see the codes of categories. Linear voters, and all others, see this view of the same rows.
"""

from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from skliquid.delegation.arrays import Floats
from skliquid.delegation.storable import Array, require, storable
from skliquid.diversity.standardizer import ROWS, Standardizer
from skliquid.tables.column_encoders import OTHER

NUMBER, IS_MISSING = -1, -2
"""Contents of a column of the view: a number, or whether it is missing; else a category's code."""

MISSING_CODE = OTHER + 1
"""The code of missing categories, in the view."""

ROWS_FOR_DEVIATIONS = 250
"""Deviations of columns, for importances, come from 250 rows at most."""

MAX_DENSE_COLUMNS = 500
"""Views with more columns are sparse."""


@storable
class NumericView(TransformerMixin, BaseEstimator):
    """Turns codes of categories into one-hot columns, and scales numbers.

    Missing numbers become the mean, with an indicator column if some were missing in training. A
    missing category has its own column. Two categories share one column.
    """

    n_features_in_: int
    sources_: Annotated[NDArray[np.intp], Array("width")]  # the encoded column of each column
    contents_: Annotated[NDArray[np.intp], Array("width", low=IS_MISSING, high=MISSING_CODE)]
    mean_: Annotated[Floats, Array("width")]
    scale_: Annotated[Floats, Array("width")]
    fill_: Annotated[Floats, Array("width")]
    deviation_: Annotated[Floats, Array("width")]  # of the columns in training

    def fit(self, X: Floats, y: Any = None, *, is_code: NDArray[np.bool_]) -> Self:  # noqa: ARG002
        """Learn the scales of numbers, and which codes occur; ``is_code`` marks categories."""
        self.n_features_in_ = X.shape[1]
        terms = [
            (column, content)
            for column in range(X.shape[1])
            for content in _contents(X[:, column], is_code=bool(is_code[column]))
        ]
        columns, contents = np.array(terms, dtype=np.intp).reshape(-1, 2).T
        self.sources_, self.contents_ = columns.copy(), contents.copy()
        self.fill_, self.mean_ = np.zeros(len(terms)), np.zeros(len(terms))
        self.scale_ = np.ones(len(terms))
        is_number = contents == NUMBER
        if is_number.any():
            some = X[:: -(-len(X) // ROWS)]  # as many as it looks at: this copies them
            scaler = Standardizer().fit(some[:, columns[is_number]])
            self.mean_[is_number], self.scale_[is_number] = scaler.mean_, scaler.scale_
        self.deviation_ = self.dense(X[:: -(-len(X) // ROWS_FOR_DEVIATIONS)]).std(axis=0)
        return self

    def transform(self, X: Floats) -> Any:
        """Return the view: an array, or a CSR matrix if it has many columns."""
        return self.standardized(X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Return names like ``"x3_1"``: an encoded column, and its content."""
        pairs = zip(self.sources_.tolist(), self.contents_.tolist(), strict=True)
        return np.array([f"x{source}_{content}" for source, content in pairs], dtype=object)

    def standardized(self, X: Floats) -> Any:
        """Return the view, for rows that were validated."""
        positions, shape = self._number_places, (len(X), len(self.sources_))
        rows, places = self._ones(X)
        if shape[1] <= MAX_DENSE_COLUMNS:
            view = np.zeros(shape)
            view[:, positions] = self._numbers(X)
            view[rows, places] = 1.0
            return view
        every_row = np.repeat(np.arange(len(X)), len(positions))
        values = np.concatenate([self._numbers(X).ravel(), np.ones(len(rows))])
        rows = np.concatenate([every_row, rows]).astype(np.int32)  # scikit-learn refuses int64
        places = np.concatenate([np.tile(positions, len(X)), places]).astype(np.int32)
        return scipy.sparse.csr_array((values, (rows, places)), shape=shape)

    def dense(self, X: Floats) -> Floats:
        """Return the view as an array, however many columns it has."""
        rows = self.standardized(X)
        dense: Floats = rows.toarray() if hasattr(rows, "toarray") else rows
        return dense

    def _numbers(self, X: Floats) -> Floats:
        """Return the columns of scaled numbers and of indicators."""
        chosen = self._number_places
        values = X[:, self.sources_[chosen]]
        is_indicator = self.contents_[chosen] == IS_MISSING
        values = np.where(is_indicator, np.isnan(values), values)
        with np.errstate(over="ignore"):
            scaled = (values - self.mean_[chosen]) / self.scale_[chosen]
        largest = np.finfo(np.float64).max
        scaled = np.where(np.isnan(scaled), self.fill_[chosen], scaled)
        return np.clip(scaled, -largest, largest)

    def _ones(self, X: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the rows and columns of the ones in one-hot columns."""
        columns, table = self._code_places
        codes = np.nan_to_num(X[:, columns], nan=MISSING_CODE)
        codes = codes.clip(0, MISSING_CODE).astype(np.intp)  # also of a crafted file
        places = table[np.arange(len(columns)), codes]
        rows, found = np.nonzero(places >= 0)
        return rows, places[rows, found]

    @cached_property
    def _number_places(self) -> NDArray[np.intp]:
        return np.flatnonzero(self.contents_ < 0)

    @cached_property
    def _code_places(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The encoded columns of categories, and the column of each code; -1 for none."""
        one_hot = np.flatnonzero(self.contents_ >= 0)
        columns, positions = np.unique(self.sources_[one_hot], return_inverse=True)
        table = np.full((len(columns), MISSING_CODE + 1), -1)
        table[positions, self.contents_[one_hot]] = one_hot
        return columns, table

    def onnx_nodes(self, rows: Any) -> Any:
        """Return the same as a tensor of an ONNX graph; see ``onnx/graph_builder.py``."""
        parts, order = [], []
        if len(chosen := self._number_places):
            values = rows.columns(self.sources_[chosen])
            is_missing = values.op("IsNaN")
            indicators = self.contents_[chosen] == IS_MISSING
            values = rows.graph.constant(indicators).op(
                "Where", is_missing.cast(np.float64), values
            )
            scaled = (values - self.mean_[chosen]).divide_columns(self.scale_[chosen])
            largest = np.finfo(np.float64).max
            filled = scaled.op("IsNaN").op("Where", self.fill_[chosen], scaled)
            parts.append(filled.op("Clip", -largest, largest))
            order.extend(chosen.tolist())
        for column, places in zip(*self._code_places, strict=True):
            own = np.unique(places[places >= 0])
            table = rows.graph.constant((places[:, None] == own).astype(np.float64))
            codes = rows.columns([column]).op("Reshape", np.array([-1]))
            codes = codes.op("IsNaN").op("Where", float(MISSING_CODE), codes)
            parts.append(table.op("Gather", codes.cast(np.int64)))
            order.extend(own.tolist())
        return parts[0].concat(*parts[1:], axis=1).columns(np.argsort(order))

    def importances(self, coef: Floats) -> Floats:
        """Return the importances of encoded columns, from those of the columns of the view."""
        weights = coef * self.deviation_
        found = np.bincount(self.sources_, weights, minlength=self.n_features_in_)
        return np.asarray(found, dtype=np.float64)

    def check_stored(self) -> None:
        """Raise unless all columns of the view are of encoded columns, and have a scale."""
        require(self.sources_.max(initial=-1) < self.n_features_in_, "columns that exist")
        require(np.all(self.scale_ != 0), "scales other than zero")


def _contents(column: Floats, *, is_code: bool) -> list[int]:
    """Return the contents of the view's columns for an encoded column."""
    is_missing = np.isnan(column)
    if not is_code:
        return [NUMBER, IS_MISSING] if is_missing.any() else [NUMBER]
    present = np.unique(column[~is_missing]).astype(int).tolist()
    codes = [*range(max([code for code in present if code != OTHER], default=-1) + 1)]
    codes += [OTHER] * (OTHER in present) + [MISSING_CODE] * bool(is_missing.any())
    return codes[1:] if len(codes) == 2 else codes
