"""Encoding: the columns of a table as numbers, fitted to a first sample."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer

from skliquid.arrays import Floats
from skliquid.streams.column_types import ColumnTypes
from skliquid.streams.files import Where
from skliquid.tabular import column_encoder

_LARGEST_NUMBER = 1e100


@dataclass(frozen=True, eq=False)
class Encoding:
    """The encoder of ``tabular_pipeline``, fitted to a sample, and the columns that it takes.

    A row's encoding depends on no other row, so that rows may be encoded in any portions.
    """

    column_types: ColumnTypes
    encoder: ColumnTransformer
    n_features: int

    @classmethod
    def fitted(cls, sample: pa.Table, column_types: ColumnTypes, where: Where) -> "Encoding":
        """Return the encoding of the columns that have a value in ``sample``."""
        frame = sample.to_pandas()
        used = {name: column_types[name] for name in frame if frame[name].notna().any()}
        if not used:
            raise ValueError(
                f"Rows must have features: none of the {len(frame.columns)} columns has a value in "
                f"the first {len(frame)} rows. Raise sample_size (--sample-size), or add features."
            )
        numbers = [name for name in used if used[name] == "number"]
        if numbers:
            _numbers(sample, numbers, where)
        categories = [name for name in used if name not in numbers]
        encoder = column_encoder(numbers=numbers, categories=categories)
        return cls(used, encoder, encoder.fit_transform(frame[list(used)]).shape[1])

    def encode(self, table: pa.Table, where: Where) -> Floats:
        """Return the rows of ``table`` as numbers, without missing values.

        The bits are those of ``encoder``, but faster: each distinct category is encoded once.
        """
        encoded = np.empty((len(table), self.n_features))
        (_, _, numbers), (_, _, categories) = self.encoder.transformers
        if numbers:
            values = _numbers(table, numbers, where)
            scaled = self.encoder.named_transformers_["numbers"].transform(values)
            encoded[:, : scaled.shape[1]] = scaled
        if categories:
            self._encode_categories([distinct(table[name]) for name in categories], encoded)
        return encoded

    def _encode_categories(
        self, columns: list[tuple[NDArray[Any], NDArray[Any]]], encoded: Floats
    ) -> None:
        """Write columns, as distinct values and their positions, into the last of ``encoded``."""
        n_most = max(len(values) for values, _ in columns)
        table = np.full((n_most + 1, len(columns)), None)  # missing values are in the last row
        for k, (values, _) in enumerate(columns):
            table[: len(values), k] = values
        steps = self.encoder.named_transformers_["categories"]
        widths = [min(len(seen), steps[-1].max_categories) for seen in steps[-1].categories_]
        blocks = np.split(steps.transform(table), np.cumsum(widths)[:-1], axis=1)
        start = self.n_features - sum(widths)
        for block, (_, positions), width in zip(blocks, columns, widths, strict=True):
            encoded[:, start : start + width] = block[positions]
            start += width

    @property
    def categories(self) -> dict[str, frozenset[str]]:
        """The categories of the sample, by column."""
        names = self.encoder.transformers[1][2]
        seen = self.encoder.named_transformers_["categories"][-1].categories_ if names else []
        return {name: frozenset(known) for name, known in zip(names, seen, strict=True)}


def distinct(column: pa.ChunkedArray) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the distinct values of a column, and the position of each row's; -1 if missing."""
    encoded = column.combine_chunks().dictionary_encode()
    values = encoded.dictionary.to_numpy(zero_copy_only=False).astype(object)
    return values, encoded.indices.fill_null(-1).to_numpy()


def _numbers(table: pa.Table, names: list[str], where: Where) -> Floats:
    """Return columns of numbers, or raise if one is infinite or its square may be."""
    values: Floats = np.column_stack([table[name].to_numpy() for name in names])
    for row, column in np.argwhere(np.abs(values) > _LARGEST_NUMBER):
        raise ValueError(
            f"Numbers must be finite, and no larger than {_LARGEST_NUMBER:g}: column "
            f"{names[column]!r} in {where(row)} holds {values[row, column]:g}. Correct it, or "
            "leave it empty."
        )
    return values
