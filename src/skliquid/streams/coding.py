"""Coding: the columns of a table as numbers, by what a first sample says."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OneHotEncoder

from skliquid.arrays import Floats
from skliquid.streams.files import DataFiles
from skliquid.streams.kinds import Kinds
from skliquid.tabular import column_encoder

_LARGEST_NUMBER = 1e100


@dataclass(frozen=True, eq=False)
class Coding:
    """The coder of ``tabular_pipeline``, fitted on a sample, and the columns it takes.

    What a value becomes depends on the sample and on nothing else, so that rows may be coded in
    any portions. A number that is missing becomes the sample's median, and is told by a column of
    its own if any was missing in the sample. A category that the sample has not is coded as its
    rare ones, or as none.
    """

    kinds: Kinds
    coder: ColumnTransformer
    n_features: int

    @classmethod
    def fitted(cls, sample: pa.Table, kinds: Kinds) -> "Coding":
        """Return the coding of the columns that have a value in ``sample``."""
        frame = as_frame(sample, kinds)
        kinds = {name: kind for name, kind in kinds.items() if frame[name].notna().any()}
        if not kinds:
            raise ValueError(
                f"Rows must have features: none of the {len(frame.columns)} columns besides the "
                f"target has a number or a category in the first {len(frame)} rows. Raise "
                "sample_size (at the command line --sample-size), or add features."
            )
        coder = column_encoder(numbers=_numbers(kinds), categories=_categories(kinds))
        return cls(kinds, coder, coder.fit_transform(frame[list(kinds)]).shape[1])

    @property
    def numbers(self) -> list[str]:
        """The columns of numbers."""
        return _numbers(self.kinds)

    @property
    def categories(self) -> list[str]:
        """The columns of text and truth values."""
        return _categories(self.kinds)

    def code(self, table: pa.Table) -> Floats:
        """Return the rows of ``table`` as numbers, without a missing one.

        These are the bits that ``coder`` gives, sooner: each category is coded once.
        """
        coded = np.empty((len(table), self.n_features))
        if self.numbers:
            values = np.column_stack([table[name].to_numpy() for name in self.numbers])
            found = self.coder.named_transformers_["numbers"].transform(values)
            coded[:, : found.shape[1]] = found
        if self.categories:
            self._code_categories(table, coded)
        return coded

    def strange(self, table: pa.Table) -> set[str]:
        """Return the columns that have categories, none of which the sample had."""
        if not self.categories:
            return set()
        known = self.coder.named_transformers_["categories"][-1].categories_
        return {
            name
            for name, categories in zip(self.categories, known, strict=True)
            if (found := {str(value) for value in _distinct(table[name])[0]})
            and not found & set(categories)
        }

    def _code_categories(self, table: pa.Table, coded: Floats) -> None:
        """Write the categories of ``table`` into the last columns of ``coded``."""
        transformer = self.coder.named_transformers_["categories"]
        distinct = [_distinct(table[name]) for name in self.categories]
        n_rows = 1 + max(len(values) for values, _ in distinct)
        padded = [np.append(values, [None] * (n_rows - len(values))) for values, _ in distinct]
        frame = pd.DataFrame(dict(zip(self.categories, padded, strict=True)))
        rows = transformer.transform(frame)
        widths = _widths(transformer[-1])
        ends = np.cumsum(widths)
        start = self.n_features - ends[-1]
        for (_, positions), width, end in zip(distinct, widths, ends, strict=True):
            coded[:, start + end - width : start + end] = rows[positions, end - width : end]


def _numbers(kinds: Kinds) -> list[str]:
    return [name for name, kind in kinds.items() if kind == "number"]


def _categories(kinds: Kinds) -> list[str]:
    return [name for name, kind in kinds.items() if kind != "number"]


def _distinct(column: pa.ChunkedArray) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the different values of a column, and where in these, or at -1, each row's is."""
    encoded = column.combine_chunks().dictionary_encode()
    values = encoded.dictionary.to_numpy(zero_copy_only=False).astype(object)
    return values, encoded.indices.fill_null(-1).to_numpy()


def _widths(encoder: OneHotEncoder) -> list[int]:
    """Return how many columns each category is coded in: rare ones share one."""
    rare = getattr(encoder, "infrequent_categories_", [None] * len(encoder.categories_))
    return [
        len(all_of) - (0 if few is None else len(few) - 1)
        for all_of, few in zip(encoder.categories_, rare, strict=True)
    ]


def check_numbers(table: pa.Table, kinds: Kinds, start: int, files: DataFiles) -> None:
    """Raise, and say where it is, if a number is infinite or its square may be.

    The first row of ``table`` is row ``start`` of ``files``.
    """
    for name in [name for name, kind in kinds.items() if kind == "number"]:
        values = table[name].to_numpy()
        is_too_large = np.abs(values) > _LARGEST_NUMBER
        if is_too_large.any():
            first = int(np.argmax(is_too_large))
            raise ValueError(
                f"Numbers must be finite, and no larger than {_LARGEST_NUMBER:g}: column {name!r} "
                f"in {files.where(start + first)} holds {values[first]:g}. Mend it, or leave it "
                "empty."
            )


def as_frame(table: pa.Table, kinds: Kinds) -> pd.DataFrame:
    """Return the columns in ``kinds`` as the coder takes them."""
    values: dict[str, Any] = {name: table[name].to_numpy() for name in kinds}
    return pd.DataFrame(values)
