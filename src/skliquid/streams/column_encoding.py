"""Encoding: the columns of a table as numbers, fitted to a sample; and categories not in it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer

from skliquid.delegation.arrays import Floats
from skliquid.delegation.storable import storable
from skliquid.streams.column_types import ColumnType, ColumnTypes
from skliquid.streams.data_files import Locate
from skliquid.tables.column_encoders import column_encoder
from skliquid.tables.stored_encoder import State, restore_encoder, states_of
from skliquid.validation.limits import MAX_NUMBER

_MAX_COUNTED = 10_000
_MAX_SHOWN, _MAX_LENGTH_SHOWN = 3, 30


@dataclass(frozen=True, eq=False)
class StoredEncoding:
    """The types of the columns, and what their encoder has learned."""

    column_types: Mapping[str, ColumnType]
    states: dict[str, State]


@storable
@dataclass(frozen=True, eq=False)
class Encoding:
    """The encoder of ``tabular_pipeline``, fitted to a sample, and the columns that it takes.

    A row's encoding depends on no other row, so that rows can be encoded in batches of any size.
    """

    column_types: ColumnTypes
    encoder: ColumnTransformer
    n_features: int

    stored_as = StoredEncoding

    @classmethod
    def fit(cls, sample: pa.Table, column_types: ColumnTypes, locate: Locate) -> "Encoding":
        """Return the encoding of the columns that have a value in ``sample``."""
        frame = sample.to_pandas()
        used = {name: column_types[name] for name in frame if frame[name].notna().any()}
        if not used:
            raise ValueError(
                f"Rows must have features: none of the {len(frame.columns)} columns has a value in "
                f"the first {len(frame)} rows. Raise sample_size (--sample-size), or add features."
            )
        encoder = _column_encoder(used)
        if numbers := encoder.transformers[0][2]:
            _finite_numbers(sample, numbers, locate)
        return cls(used, encoder, encoder.fit_transform(frame[list(used)]).shape[1])

    def to_stored(self) -> StoredEncoding:
        """Return the column types and the learned state, for model files."""
        return StoredEncoding(self.column_types, states_of(self.encoder))

    @classmethod
    def from_stored(cls, stored: StoredEncoding) -> "Encoding":
        """Return an encoding from a model file."""
        types = dict(stored.column_types)
        encoder = _column_encoder(types)
        row = {name: [0.0 if t == "number" else None] for name, t in types.items()}
        return cls(types, encoder, restore_encoder(encoder, stored.states, pd.DataFrame(row)))

    def encode(self, table: pa.Table, locate: Locate) -> Floats:
        """Return the rows of ``table`` as numbers, without missing values.

        The bits are those of ``encoder``, but faster: each distinct category is encoded once.
        """
        encoded = np.empty((len(table), self.n_features))
        (_, _, numbers), (_, _, categories) = self.encoder.transformers
        if numbers:
            values = _finite_numbers(table, numbers, locate)
            scaled = self.encoder.named_transformers_["numbers"].transform(values)
            encoded[:, : scaled.shape[1]] = scaled
        if categories:
            self._encode_categories([_distinct_values(table[name]) for name in categories], encoded)
        return encoded

    def _encode_categories(self, columns: list[tuple[Any, Any]], encoded: Floats) -> None:
        """Write columns of distinct values and positions into the last columns of ``encoded``."""
        n_values = max(len(values) for values, _ in columns)
        table = np.full((n_values + 1, len(columns)), None)  # missing values are in the last row
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


def _column_encoder(column_types: ColumnTypes) -> ColumnTransformer:
    numbers = [name for name, column_type in column_types.items() if column_type == "number"]
    categories = [name for name in column_types if name not in numbers]
    return column_encoder(numbers=numbers, categories=categories)


def _distinct_values(column: pa.ChunkedArray) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the distinct values of a column, and each row's position among them, or -1."""
    encoded = column.combine_chunks().dictionary_encode()
    values = encoded.dictionary.to_numpy(zero_copy_only=False).astype(object)
    return values, encoded.indices.fill_null(-1).to_numpy()


def _finite_numbers(table: pa.Table, names: list[str], locate: Locate) -> Floats:
    """Return columns of numbers, or raise if one is infinite or too large."""
    values: Floats = np.column_stack([table[name].to_numpy() for name in names])
    for row, column in np.argwhere(np.abs(values) > MAX_NUMBER):
        raise ValueError(
            f"Numbers must be finite, and no larger than {MAX_NUMBER:g}: column "
            f"{names[column]!r} in {locate(row)} holds {values[row, column]:g}. Correct it, or "
            "leave it empty."
        )
    return values


# Unseen categories


class Unseen(NamedTuple):
    """Categories of one column that are not known, and the number of rows that hold them."""

    categories: frozenset[str]
    n_rows: int


def find_unseen(table: pa.Table, known: Mapping[str, frozenset[str]]) -> dict[str, Unseen]:
    """Return the categories that are not ``known``, by column; missing values do not count."""
    found = {}
    for name, categories in known.items():
        values, positions = _distinct_values(table[name])
        new = {k: str(value) for k, value in enumerate(values) if str(value) not in categories}
        if n_rows := int(np.isin(positions, list(new)).sum()):
            found[name] = Unseen(frozenset(new.values()), n_rows)
    return found


@dataclass(eq=False)
class UnseenCount:
    """The unseen categories of one column in many tables, in little memory."""

    n_rows: int = 0
    hashes: set[int] = field(default_factory=set)
    examples: list[str] = field(default_factory=list)

    def add(self, unseen: Unseen) -> None:
        """Count the categories of one more table."""
        self.n_rows += unseen.n_rows
        for category in sorted(unseen.categories):
            if hash(category) not in self.hashes and len(self.hashes) <= _MAX_COUNTED:
                self.hashes.add(hash(category))
                if len(self.examples) < _MAX_SHOWN:
                    self.examples.append(category[:_MAX_LENGTH_SHOWN])

    def __str__(self) -> str:
        n_categories = len(self.hashes)
        count = f"{n_categories:,}" if n_categories <= _MAX_COUNTED else f"over {_MAX_COUNTED:,}"
        plural = "category" if n_categories == 1 else "categories"
        dots = ", ..." if n_categories > len(self.examples) else ""
        shown = ", ".join(map(repr, self.examples)) + dots
        return f"{self.n_rows:,} rows with {count} {plural} that the model does not know ({shown})"
