"""Mechanism: the paper's pair (g, p), and how it turns representatives into delegators."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.random import Generator

from skliquid.arrays import Floats, Voters
from skliquid.delegation_graph import DelegationGraph
from skliquid.mechanisms.refinement import Knowledge, Refinement, Situation
from skliquid.mechanisms.selection import nobody

Selection: TypeAlias = Callable[[Floats, int, Generator], Voters]
Probability: TypeAlias = Callable[[Floats, Floats], Floats]


_NOTHING = Knowledge()
_NUMBERS = "fiub"


class OtherRepresentatives:
    """Delegators choose among the other representatives."""

    def __init__(self, graph: DelegationGraph):
        self._weights = graph.weights.astype(np.float64)
        self._stands = self._weights > 0

    def of(self, delegator: int) -> tuple[Voters, Floats, float]:
        """Return whom ``delegator`` may choose, what their gurus carry, and what it carries."""
        self._stands[delegator] = False
        choices = self._stands.nonzero()[0]
        return choices, self._weights.take(choices), self._weights.item(delegator)

    def own_weights(self, choices: Voters) -> Floats:
        """Return the weight of each of ``choices`` itself."""
        return self._weights.take(choices)

    def chosen(self, delegator: int, choice: int) -> None:
        """Let ``choice`` carry what ``delegator`` carried."""
        self._weights[choice] += self._weights.item(delegator)

    def stays(self, delegator: int) -> None:
        """Let ``delegator`` be chosen by others again."""
        self._stands[delegator] = True


class OtherVoters:
    """Delegators choose among all voters, earlier delegators included, that do not end at them."""

    def __init__(self, graph: DelegationGraph):
        self._weights, self._gurus = graph.weights.astype(np.float64), graph.gurus.copy()

    def of(self, delegator: int) -> tuple[Voters, Floats, float]:
        """Return whom ``delegator`` may choose, what their gurus carry, and what it carries."""
        choices = (self._gurus != delegator).nonzero()[0]
        carried = self._weights.take(self._gurus.take(choices))
        return choices, carried, self._weights.item(delegator)

    def chosen(self, delegator: int, choice: int) -> None:
        """Let the guru of ``choice`` carry what ``delegator`` carried."""
        guru = self._gurus.item(choice)
        self._weights[guru] += self._weights.item(delegator)
        self._weights[delegator] = 0
        self._gurus[self._gurus == delegator] = guru

    def own_weights(self, choices: Voters) -> Floats:
        """Return the weight of each of ``choices`` itself: 0 for delegators."""
        return self._weights.take(choices)

    def stays(self, delegator: int) -> None:
        """Do nothing: ``delegator`` was never excluded."""


Candidates: TypeAlias = type[OtherRepresentatives] | type[OtherVoters]

CANDIDATES: dict[str, Candidates] = {
    "representatives": OtherRepresentatives,
    "voters": OtherVoters,
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
    refinements : tuple of callables
        ``refinement(situation)`` returns a factor for each of these likelihoods, which may depend
        on more than gain and weight; see :mod:`skliquid.mechanisms.refinement`.
    weight_of : {"guru", "candidate"}
        Which weight p is given when earlier delegators are candidates too: the weight that the
        candidate's guru carries, or the candidate's own, which is 0 for a delegator.

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
    refinements: tuple[Refinement, ...] = ()
    weight_of: Literal["guru", "candidate"] = "guru"

    def __post_init__(self) -> None:
        if not (callable(self.selection) and callable(self.probability)):
            raise TypeError(
                "mechanism must be a pair (selection, probability) of functions, got "
                f"({self.selection!r}, {self.probability!r}). Give both functions."
            )
        if self.weight_of not in ("guru", "candidate"):
            raise ValueError(
                f"weight_of must be 'guru' or 'candidate': got {self.weight_of!r}. Choose one."
            )
        _check_refinements(self.refinements)
        object.__setattr__(self, "refinements", tuple(self.refinements))

    @property
    def is_direct(self) -> bool:
        """Whether nobody ever delegates."""
        return self.selection is nobody

    @property
    def is_revocable(self) -> bool:
        """Whether delegations may be taken back."""
        return False

    def scored(self, graph: DelegationGraph) -> Voters:
        """Return whose accuracy is measured: the representatives'."""
        return graph.representatives

    def delegate(
        self,
        graph: DelegationGraph,
        accuracy: Floats,
        n_delegators: int,
        rng: Generator,
        candidates: Candidates = OtherRepresentatives,
        *,
        knowledge: Knowledge = _NOTHING,
    ) -> DelegationGraph:
        """Return the graph after up to ``n_delegators`` representatives have delegated.

        The weakest chooses first, and each sees the weights that the one before left. One that
        has no strictly better candidate stays a representative, unless p gives others a chance.
        """
        others, chosen = candidates(graph), {}
        for delegator in self._select(graph, accuracy, n_delegators, rng).tolist():
            choices, weight, own = others.of(delegator)
            gain = accuracy.take(choices) - accuracy.item(delegator)
            compared = weight if self.weight_of == "guru" else others.own_weights(choices)
            likelihood = np.asarray(self.probability(gain, compared))
            sums = _checked_sums(likelihood, gain)
            if self.refinements:
                situation = Situation(
                    delegator, choices, accuracy, weight, own, graph.n_voters, knowledge
                )
                sums = np.cumsum(likelihood * self._factors(situation))
            if sums.size and sums.item(-1) > 0:
                draw = sums.searchsorted(rng.random() * sums.item(-1), side="right")
                chosen[delegator] = choices.item(draw)
                others.chosen(delegator, chosen[delegator])
            else:
                others.stays(delegator)
        if not chosen:
            return graph
        delegation = graph.delegation.copy()
        delegation[list(chosen)] = list(chosen.values())
        return DelegationGraph(delegation)

    def _factors(self, situation: Situation) -> Floats:
        """Return by what the likelihood of each candidate is multiplied."""
        of_each = [np.asarray(refine(situation)) for refine in self.refinements]
        for refine, factors in zip(self.refinements, of_each, strict=True):
            wrong = _wrong("factor", factors, len(situation.choices))
            if wrong:
                raise ValueError(f"refinements must give {wrong}. Correct {refine!r}.")
        product: Floats = np.prod(of_each, axis=0)
        return product

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


def _check_refinements(refinements: object) -> None:
    several = refinements if isinstance(refinements, tuple | list) else [None]
    if not all(callable(each) and not isinstance(each, type) for each in several):
        raise TypeError(
            f"refinements must be a tuple of functions, got {refinements!r}. Give one like "
            "(WeightCap(0.2),)."
        )


def _checked_sums(likelihood: Floats, gain: Floats) -> Floats:
    """Return the cumulative sums of the likelihoods, which are checked to be such."""
    wrong, sums = None, gain[:0]
    if likelihood.shape != gain.shape or likelihood.dtype.kind not in _NUMBERS:
        wrong = _wrong("likelihood", likelihood, len(gain))
    elif likelihood.size:
        sums = np.add.accumulate(likelihood, dtype=np.float64)
        total = sums.item(-1)
        if not math.isfinite(total) or np.minimum.reduce(likelihood) < 0:
            wrong = _wrong("likelihood", likelihood, len(gain))
        elif total == 0 and gain.max() > 0:
            wrong = "a positive likelihood for some candidate when one is better, got zero for all"
    if wrong:
        raise ValueError(
            f"mechanism must give {wrong}. Correct its probability function; to let a "
            "representative stay one, leave it out of the selection."
        )
    return sums


def _wrong(name: str, values: Floats, n_candidates: int) -> str | None:
    """Return what is wrong with values of which each candidate should have one, if anything."""
    if values.shape != (n_candidates,):
        return f"one {name} for each of {n_candidates} candidates, got shape {values.shape}"
    if values.dtype.kind not in _NUMBERS:
        return f"numbers as {name}s, got {values.dtype}"
    if not np.isfinite(values).all():
        return f"finite {name}s, got {values[~np.isfinite(values)][:1]}"
    if values.min(initial=0) < 0:
        return f"{name}s of zero or more, got {values.min()}"
    if not math.isfinite(values.sum(dtype=np.float64)):
        return f"{name}s with a finite sum, got {values.max()} among them"
    return None
