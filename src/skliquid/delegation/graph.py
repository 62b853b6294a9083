"""DelegationGraph: who delegates to whom, with gurus, representatives and weights."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Annotated

import numpy as np

from skliquid.delegation.arrays import Voters
from skliquid.delegation.storable import Array, storable


@storable
@dataclass(frozen=True, eq=False)
class DelegationGraph:
    r"""Every voter's delegation; gurus, representatives and weights follow from it.

    Parameters
    ----------
    delegation : array of int
        ``delegation[i]`` is the voter that voter i delegates to, the paper's :math:`d(v_i)`.
        A voter that delegates to itself is a representative.

    Examples
    --------
    >>> graph = DelegationGraph.direct(4).delegate([0], to=[1]).delegate([1], to=[3])
    >>> graph.delegation.tolist(), graph.gurus.tolist()
    ([1, 3, 2, 3], [3, 3, 2, 3])
    >>> graph.representatives.tolist(), graph.weights.tolist()
    ([2, 3], [0, 0, 1, 3])
    """

    delegation: Annotated[Voters, Array("n_voters", is_copied=False)]

    def __post_init__(self) -> None:
        delegation = _frozen(_indices("delegation", self.delegation))
        object.__setattr__(self, "delegation", delegation)
        if not len(delegation):
            raise ValueError(
                "delegation must hold at least one voter: got an empty list. Give it a voter."
            )
        in_cycles = self.gurus[delegation[self.gurus] != self.gurus]
        if len(in_cycles):
            raise ValueError(
                f"delegation must end at a representative: {_cycle(delegation, in_cycles[0])} "
                "is a cycle. Let one of them represent itself."
            )

    def __reduce__(self) -> tuple[type["DelegationGraph"], tuple[Voters]]:
        return DelegationGraph, (self.delegation,)  # unpickled copies are frozen as well

    def _repr_html_(self) -> str:
        from skliquid.plotting.notebook_pictures import graph_html

        return graph_html(self)

    @classmethod
    def direct(cls, n_voters: int) -> "DelegationGraph":
        """Return the graph in which every voter represents itself."""
        count: object = n_voters
        if not isinstance(count, Integral) or int(count) < 1:
            raise ValueError(
                f"n_voters must be a whole number of 1 or more: got {n_voters!r}. Give an integer "
                "like 6."
            )
        return cls(np.arange(n_voters))

    @property
    def n_voters(self) -> int:
        """Number of voters, delegators included."""
        return len(self.delegation)

    @cached_property
    def gurus(self) -> Voters:
        r"""The representative at the end of each voter's chain, the paper's :math:`d^*`.

        .. math:: d^*(v_i) = \lim_{k \to \infty} d^k(v_i)
        """
        gurus = self.delegation
        for _ in range(self.n_voters.bit_length()):  # each pass doubles the reach
            further = gurus[gurus]
            if np.array_equal(further, gurus):
                break
            gurus = further
        return _frozen(gurus)

    @cached_property
    def distances(self) -> Voters:
        r"""Number of delegations between each voter and its guru; zero for representatives.

        .. math:: \min \{k : d^k(v_i) = d^*(v_i)\}
        """
        distances, reached = np.zeros(self.n_voters, dtype=np.intp), np.arange(self.n_voters)
        while np.any(moves := self.delegation[reached] != reached):
            distances += moves
            reached = self.delegation[reached]
        return _frozen(distances)

    @cached_property
    def representatives(self) -> Voters:
        r"""The voters that delegate to themselves, in ascending order.

        .. math:: G(V) = \{d^*(v_i) : v_i \in V\}
        """
        return _frozen(np.flatnonzero(self.delegation == np.arange(self.n_voters)))

    @cached_property
    def weights(self) -> Voters:
        r"""Votes carried by each voter, its own included; zero for delegators.

        .. math:: w_i = |\{v_j \in V : v_i = d^*(v_j)\}|

        They are integers that sum to the number of voters.
        """
        return _frozen(np.bincount(self.gurus, minlength=self.n_voters))

    def delegate(
        self, delegators: Voters | Sequence[int], *, to: Voters | Sequence[int]
    ) -> "DelegationGraph":
        """Return the graph in which each of ``delegators`` delegates to its voter in ``to``."""
        delegators = _indices("delegators", delegators, self.n_voters)
        to = _indices("to", to, self.n_voters)
        if len(delegators) != len(to):
            raise ValueError(
                f"to must name one voter for each delegator: {len(delegators)} delegators cannot "
                f"share {len(to)} choices. Give both the same length."
            )
        voters, counts = np.unique(delegators, return_counts=True)
        _refuse(
            voters[counts > 1],
            "delegators must be distinct: voter {} cannot delegate twice. Name each only once.",
        )
        _refuse(
            delegators[self.delegation[delegators] != delegators],
            "delegators must be representatives: voter {} already delegates. Choose among "
            "graph.representatives.",
        )
        _refuse(
            delegators[delegators == to],
            "to must not name the delegator itself: voter {} would represent itself, which it does "
            "already. Leave it out.",
        )
        delegation = self.delegation.copy()
        delegation[delegators] = to
        return DelegationGraph(delegation)

    def revoke(self, delegators: Voters | Sequence[int]) -> "DelegationGraph":
        """Return the graph in which ``delegators`` represent themselves again.

        Each takes its own vote back, and the votes of the voters that delegate to it.

        Examples
        --------
        >>> chain = DelegationGraph.direct(4).delegate([0], to=[1]).delegate([1], to=[3])
        >>> chain.revoke([1]).gurus.tolist()
        [1, 1, 2, 3]
        """
        delegators = _indices("delegators", delegators, self.n_voters)
        if not len(delegators):
            return self
        _refuse(
            delegators[self.delegation[delegators] == delegators],
            "delegators must delegate, to revoke it: voter {} represents itself already. Leave it "
            "out.",
        )
        delegation = self.delegation.copy()
        delegation[delegators] = delegators
        return DelegationGraph(delegation)


def _frozen(array: Voters) -> Voters:
    array.flags.writeable = False
    return array


def _indices(name: str, values: Voters | Sequence[int], n_voters: int | None = None) -> Voters:
    """Return a copy of ``values``, indices of ``n_voters``, or of as many as there are values."""
    array = np.array(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise TypeError(
            f"{name} must be a list of voters by their integer index, got {values!r}. "
            "Give one integer for each."
        )
    n_voters = len(array) if n_voters is None else n_voters
    _refuse(
        array[(array < 0) | (array >= n_voters)],
        f"{name} must name known voters: there is no voter {{}} among {n_voters}. Use indices from "
        f"0 to {n_voters - 1}.",
    )
    return array.astype(np.intp, copy=False)


def _refuse(voters: Voters, message: str) -> None:
    """Raise an error about the first of ``voters``, if there are any."""
    if len(voters):
        raise ValueError(message.format(voters[0]))


def _cycle(delegation: Voters, voter: int) -> str:
    """Return the cycle that ``voter`` is part of, as text, cut off after 100 voters."""
    cycle = [int(voter)]
    while (following := int(delegation[cycle[-1]])) != cycle[0] and len(cycle) < 100:
        cycle.append(following)
    return " -> ".join(map(str, [*cycle, following]))
