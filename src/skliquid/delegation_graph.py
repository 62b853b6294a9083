"""Who delegates to whom, and the gurus, representatives and weights that follow from it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral

import numpy as np

from skliquid.arrays import Voters


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

    delegation: Voters

    def __post_init__(self) -> None:
        object.__setattr__(self, "delegation", _frozen(_indices("delegation", self.delegation)))
        if not len(self.delegation):
            raise ValueError(
                "delegation must hold at least one voter: got an empty list. Give it a voter."
            )
        _refuse_unknown("delegation", self.delegation, n_voters=len(self.delegation))
        _refuse_cycles(self.delegation, self.gurus)

    def __reduce__(self) -> tuple[type["DelegationGraph"], tuple[Voters]]:
        return DelegationGraph, (self.delegation,)  # unpickled copies are frozen as well

    @classmethod
    def direct(cls, n_voters: int) -> "DelegationGraph":
        """Return the graph in which every voter represents itself."""
        count: object = n_voters
        if not isinstance(count, Integral) or int(count) < 1:
            raise ValueError(
                f"n_voters must be at least 1, and a whole number: got {n_voters!r}. Give an "
                "integer like 5."
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
        r"""How many delegations lie between each voter and its guru; zero for representatives.

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
        delegators, to = _indices("delegators", delegators), _indices("to", to)
        if len(delegators) != len(to):
            raise ValueError(
                f"to must name one voter for each delegator: {len(delegators)} delegators cannot "
                f"share {len(to)} choices. Give both the same length."
            )
        _refuse_unknown("delegators", delegators, n_voters=self.n_voters)
        _refuse_unknown("to", to, n_voters=self.n_voters)
        self._refuse_delegators(delegators)
        if np.any(delegators == to):
            raise ValueError(
                "to must not name the delegator itself: voter "
                f"{delegators[delegators == to][0]} would represent itself, which it does already. "
                "Leave it out."
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
        delegators = _indices("delegators", delegators)
        if not len(delegators):
            return self
        _refuse_unknown("delegators", delegators, n_voters=self.n_voters)
        direct = delegators[self.delegation[delegators] == delegators]
        if len(direct):
            raise ValueError(
                "delegators must delegate, to revoke it: voter "
                f"{direct[0]} represents itself already. Leave it out."
            )
        delegation = self.delegation.copy()
        delegation[delegators] = delegators
        return DelegationGraph(delegation)

    def _refuse_delegators(self, delegators: Voters) -> None:
        voters, counts = np.unique(delegators, return_counts=True)
        if counts.max(initial=0) > 1:
            raise ValueError(
                f"delegators must be distinct: voter {voters[counts > 1][0]} cannot delegate "
                "twice. Name each delegator once."
            )
        earlier = delegators[self.delegation[delegators] != delegators]
        if len(earlier):
            raise ValueError(
                f"delegators must be representatives: voter {earlier[0]} already delegates to "
                f"{self.delegation[earlier[0]]}. Choose among graph.representatives."
            )


def _frozen(array: Voters) -> Voters:
    array.flags.writeable = False
    return array


def _indices(name: str, values: Voters | Sequence[int]) -> Voters:
    array = np.array(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise TypeError(
            f"{name} must be a list of voters by their integer index, got {values!r}. "
            "Give one integer for each."
        )
    return array.astype(np.intp)


def _refuse_unknown(name: str, voters: Voters, *, n_voters: int) -> None:
    unknown = voters[(voters < 0) | (voters >= n_voters)]
    if len(unknown):
        raise ValueError(
            f"{name} must name known voters: there is no voter {unknown[0]} among {n_voters}. "
            f"Use indices from 0 to {n_voters - 1}."
        )


def _refuse_cycles(delegation: Voters, gurus: Voters) -> None:
    in_cycles = gurus[delegation[gurus] != gurus]
    if len(in_cycles):
        cycle = [int(in_cycles[0])]
        while (following := int(delegation[cycle[-1]])) not in cycle:
            cycle.append(following)
        chain = " -> ".join(map(str, [*cycle, cycle[0]]))
        raise ValueError(
            f"delegation must end at a representative: {chain} is a cycle. "
            "Let one of them represent itself."
        )
