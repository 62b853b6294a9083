"""Unseen categories: those in a file that are not in the sample that the encoder was fitted to."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from skliquid.streams.encoding import distinct

_MOST_COUNTED = 10_000
_MOST_SHOWN = 3
_LONGEST_SHOWN = 30


class Unseen(NamedTuple):
    """Categories of one column that are not known, and how many rows hold one of them."""

    categories: frozenset[str]
    n_rows: int


def unseen_in(table: pa.Table, known: Mapping[str, frozenset[str]]) -> dict[str, Unseen]:
    """Return the categories that are not ``known``, by column; missing values do not count."""
    columns = {name: _unseen(table[name], known[name]) for name in known}
    return {name: unseen for name, unseen in columns.items() if unseen.n_rows}


def _unseen(column: pa.ChunkedArray, known: frozenset[str]) -> Unseen:
    values, positions = distinct(column)
    new = {k: str(value) for k, value in enumerate(values) if str(value) not in known}
    return Unseen(frozenset(new.values()), int(np.isin(positions, list(new)).sum()))


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
            if hash(category) in self.hashes or len(self.hashes) > _MOST_COUNTED:
                continue
            self.hashes.add(hash(category))
            if len(self.examples) < _MOST_SHOWN:
                self.examples.append(category[:_LONGEST_SHOWN])

    def __str__(self) -> str:
        n_categories = len(self.hashes)
        count = f"{n_categories:,}" if n_categories <= _MOST_COUNTED else f"over {_MOST_COUNTED:,}"
        plural = "category" if n_categories == 1 else "categories"
        dots = ", ..." if n_categories > len(self.examples) else ""
        shown = ", ".join(map(repr, self.examples)) + dots
        return f"{self.n_rows:,} rows with {count} {plural} that the model does not know ({shown})"
