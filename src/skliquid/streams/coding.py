"""Coding: the columns of a table as numbers, by what a first sample says."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.compose import ColumnTransformer

from skliquid.arrays import Floats
from skliquid.streams.files import DataFiles
from skliquid.streams.kinds import Kinds
from skliquid.tabular import table_coder


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
        frame = _frame(sample, kinds)
        kinds = {name: kind for name, kind in kinds.items() if frame[name].notna().any()}
        if not kinds:
            raise ValueError(
                f"Rows must have features: none of the {len(frame.columns)} columns besides the "
                f"target has a number or a category in the first {len(frame)} rows. Raise "
                "sample_size, or add features."
            )
        coder = table_coder()
        return cls(kinds, coder, coder.fit_transform(frame[list(kinds)]).shape[1])

    def code(self, table: pa.Table) -> Floats:
        """Return the rows of ``table`` as numbers, without a missing one."""
        coded: Floats = self.coder.transform(_frame(table, self.kinds))
        return coded


@contextmanager
def explaining_infinity(
    table: pa.Table, kinds: Kinds, start: int, files: DataFiles
) -> Iterator[None]:
    """Turn the error that an infinite number gives into one that says where it is.

    The first row of ``table`` is row ``start`` of ``files``.
    """
    try:
        yield
    except ValueError as error:
        numbers = [name for name, kind in kinds.items() if kind == "number"]
        frame = _frame(table, dict.fromkeys(numbers, "number"))
        rows, columns = np.nonzero(np.isinf(frame.to_numpy()))
        if not len(rows):
            raise
        row = files.where(start + int(rows[0]))
        raise ValueError(
            f"Numbers must be finite: column {numbers[columns[0]]!r} in {row} is not. Mend it, or "
            "leave it empty."
        ) from error


def _frame(table: pa.Table, kinds: Kinds) -> pd.DataFrame:
    values: dict[str, Any] = {name: table[name].to_numpy() for name in kinds}
    return pd.DataFrame(values)
