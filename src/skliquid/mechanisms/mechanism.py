"""Mechanism: the paper's pair (g, p), and how it turns representatives into delegators."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from skliquid.arrays import Floats, Voters
from skliquid.delegation_graph import DelegationGraph
from skliquid.mechanisms.selection import nobody

Selection: TypeAlias = Callable[[Floats, int, Generator], Voters]
Probability: TypeAlias = Callable[[Floats, Floats], Floats]
Stands: TypeAlias = NDArray[np.bool_]
"""Whether each voter is a representative other than the delegator."""
Candidates: TypeAlias = Callable[[Voters, Stands, int], Voters]


def other_representatives(gurus: Voters, stands: Stands, delegator: int) -> Voters:
    """Return the representatives that ``delegator`` may choose."""
    others: Voters = stands.nonzero()[0]
    return others


def other_voters(gurus: Voters, stands: Stands, delegator: int) -> Voters:
    """Return the voters, earlier delegators included, that do not end at ``delegator``."""
    others: Voters = (gurus != delegator).nonzero()[0]
    return others


CANDIDATES: dict[str, Candidates] = {
    "representatives": other_representatives,
    "voters": other_voters,
}


@dataclass(frozen=True)
class Mechanism:
    """A delegation mechanism D = (g, p).

    Parameters
    ----------
    selection : callable
        g: ``selection(accuracy, n_delegators, rng)`` returns the positions, in the representatives'
        ``accuracy``, of at most ``n_delegators`` that delegate now.
    probability : callable
        p: ``probability(gain, weight)`` returns how likely each candidate is to be chosen, up to a
        common factor.

    Examples
    --------
    >>> import numpy as np
    >>> from skliquid.mechanisms.selection import least_accurate
    >>> greedy = Mechanism(least_accurate, lambda gain, weight: np.maximum(gain, 0) ** 8)
    >>> accuracy = np.array([0.5, 0.8, 0.9])
    >>> rng = np.random.default_rng(0)
    >>> greedy.delegate(DelegationGraph.direct(3), accuracy, 1, rng).delegation.tolist()
    [2, 1, 2]
    """

    selection: Selection
    probability: Probability

    def __post_init__(self) -> None:
        if not (callable(self.selection) and callable(self.probability)):
            raise TypeError(
                "mechanism must be a pair (selection, probability) of functions, got "
                f"({self.selection!r}, {self.probability!r}). Give both functions."
            )

    @property
    def is_direct(self) -> bool:
        """Whether nobody ever delegates."""
        return self.selection is nobody

    def delegate(
        self,
        graph: DelegationGraph,
        accuracy: Floats,
        n_delegators: int,
        rng: Generator,
        candidates: Candidates = other_representatives,
    ) -> DelegationGraph:
        """Return the graph after up to ``n_delegators`` representatives have delegated.

        The weakest chooses first, and each sees the weights that the one before left. One that
        has no strictly better candidate stays a representative, unless p gives others a chance.
        """
        gurus, weights = graph.gurus.copy(), graph.weights.astype(np.float64)
        stands, chosen = weights > 0, {}
        for delegator in self._select(graph, accuracy, n_delegators, rng).tolist():
            stands[delegator] = False
            choices = candidates(gurus, stands, delegator)
            gain = accuracy.take(choices) - accuracy.item(delegator)
            likelihood = np.asarray(self.probability(gain, weights.take(gurus.take(choices))))
            sums = _checked_sums(likelihood, gain)
            if sums.size and sums.item(-1) > 0:
                draw = sums.searchsorted(rng.random() * sums.item(-1), side="right")
                chosen[delegator] = choices.item(draw)
                guru = gurus.item(chosen[delegator])
                np.putmask(gurus, gurus == delegator, guru)
                weights[guru] += weights.item(delegator)
            else:
                stands[delegator] = True
        if not chosen:
            return graph
        delegation = graph.delegation.copy()
        delegation[list(chosen)] = list(chosen.values())
        return DelegationGraph(delegation)

    def _select(
        self, graph: DelegationGraph, accuracy: Floats, n_delegators: int, rng: Generator
    ) -> Voters:
        if n_delegators == 0:
            return np.empty(0, dtype=np.intp)
        accuracy = accuracy[graph.representatives]
        selected = np.asarray(self.selection(accuracy, n_delegators, rng))
        _check_selection(selected, n_delegators, len(accuracy))
        selected = selected.astype(np.intp)
        weakest_first = np.lexsort((rng.random(len(selected)), accuracy[selected]))
        return graph.representatives[selected[weakest_first]]


def _check_selection(selected: Voters, n_delegators: int, n_representatives: int) -> None:
    wrong = None
    if selected.ndim != 1 or (selected.size and selected.dtype.kind not in "iu"):
        wrong = f"a list of integers, got {selected!r}"
    elif len(selected) > n_delegators:
        wrong = f"at most the {n_delegators} asked for, got {len(selected)}"
    elif len(set(selected.tolist())) < len(selected):
        wrong = f"distinct, got {selected.tolist()}"
    elif np.any((selected < 0) | (selected >= n_representatives)):
        wrong = f"positions among {n_representatives} representatives, got {selected.tolist()}"
    if wrong:
        raise ValueError(
            f"mechanism must select representatives that are {wrong}. "
            "Correct its selection function."
        )


def _checked_sums(likelihood: Floats, gain: Floats) -> Floats:
    """Return the cumulative sums of the likelihoods, which are checked to be such."""
    wrong, sums = None, gain[:0]
    if likelihood.shape != gain.shape:
        wrong = f"one likelihood for each of {len(gain)} candidates, got shape {likelihood.shape}"
    elif likelihood.dtype.kind not in "fiub":
        wrong = f"numbers as likelihoods, got {likelihood.dtype}"
    elif likelihood.size:
        sums = np.add.accumulate(likelihood, dtype=np.float64)
        total = sums.item(-1)
        if not math.isfinite(total):
            wrong = f"finite likelihoods, got {likelihood[~np.isfinite(likelihood)][:1]}"
        elif np.minimum.reduce(likelihood) < 0:
            wrong = f"likelihoods of zero or more, got {likelihood.min()}"
        elif total == 0 and gain.max() > 0:
            wrong = "a positive likelihood for some candidate when one is better, got zero for all"
    if wrong:
        raise ValueError(
            f"mechanism must give {wrong}. Correct its probability function; to let a "
            "representative stay one, leave it out of the selection."
        )
    return sums
