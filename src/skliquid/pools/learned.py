"""Learned: what voters have learned, as data, to be saved and given to other pools."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skliquid.arrays import Voters


@dataclass(frozen=True, eq=False)
class Learned:
    """What some voters have learned.

    Parameters
    ----------
    kind : str
        Whose it is: the name of a pool, or ``"samples"``.
    voters : array of int
        The voters.
    own : mapping
        Arrays and lists with one entry for each of them.
    shared : mapping
        What they have in common.
    """

    kind: str
    voters: Voters
    own: Mapping[str, Any]
    shared: Mapping[str, Any] = field(default_factory=dict)

    def renamed(self, names: Voters) -> "Learned":
        """Return the same, for voters that were known as positions in ``names``."""
        return replace(self, voters=names[self.voters])

    def at(self, positions: NDArray[np.intp]) -> "Learned":
        """Return what the voters at ``positions`` have learned."""
        own = {name: _taken(values, positions) for name, values in self.own.items()}
        return replace(self, voters=self.voters[positions], own=own)


def _taken(values: Any, positions: NDArray[np.intp]) -> Any:
    if isinstance(values, np.ndarray):
        return values[positions]
    return [values[k] for k in positions.tolist()]


def among(parts: Sequence[Learned], voters: Voters) -> list[Learned]:
    """Return the parts of ``voters``, who are named by their positions there."""
    found = []
    for part in parts:
        is_asked = np.isin(part.voters, voters)
        if is_asked.any():
            own = part.at(np.flatnonzero(is_asked))
            found.append(replace(own, voters=np.searchsorted(voters, own.voters)))
    return found
