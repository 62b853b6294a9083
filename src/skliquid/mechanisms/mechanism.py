r"""Mechanism: the paper's pair (g, p), and how it turns representatives into delegators."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from skliquid.arrays import Floats, Voters
from skliquid.delegation_graph import DelegationGraph
from skliquid.mechanisms.refinement import Knowledge, Refinement, Situation
from skliquid.mechanisms.selection import nobody
from skliquid.mechanisms.vote_weights import VoteWeights, as_vote_weights

Selection: TypeAlias = Callable[[Floats, int, Generator], Voters]
Probability: TypeAlias = Callable[[Floats, Floats], Floats]

CANDIDATES = ("representatives", "voters")

_NOTHING = Knowledge()
_OPTIONS = {"weight_of": ("guru", "candidate"), "candidates": CANDIDATES}


@dataclass(frozen=True)
class Mechanism:
    r"""A delegation mechanism :math:`\mathcal{D} = (g, p)`.

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
    candidates : {"representatives", "voters"}
        Whom a delegator may choose. With ``"voters"`` also earlier delegators, whose guru then
        receives the weight; never a voter whose guru is the delegator.
    vote_weights : {"delegated", "log_odds", "delegated_log_odds"} or callable
        How much each representative counts when the ensemble votes: the votes it carries, the
        log-odds that it is correct, or their product. A function ``vote_weights(graph, accuracy,
        n_classes)`` returns one number per representative; see
        :mod:`skliquid.mechanisms.vote_weights`.

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
    candidates: Literal["representatives", "voters"] = "representatives"
    vote_weights: str | VoteWeights = "delegated"
    is_revocable: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not (callable(self.selection) and callable(self.probability)):
            raise TypeError(
                "mechanism must be a pair (selection, probability) of functions, got "
                f"({self.selection!r}, {self.probability!r}). Give both functions."
            )
        for name, allowed in _OPTIONS.items():
            if getattr(self, name) not in allowed:
                raise ValueError(
                    f"{name} must be {' or '.join(map(repr, allowed))}: got "
                    f"{getattr(self, name)!r}. Choose one of them."
                )
        _check_refinements(self.refinements)
        object.__setattr__(self, "refinements", tuple(self.refinements))
        as_vote_weights(self.vote_weights)  # raises unless it is one

    @property
    def is_direct(self) -> bool:
        """Whether no voter ever delegates."""
        return self.selection is nobody

    def scored(self, graph: DelegationGraph) -> Voters:
        """Return the voters whose accuracy is measured: the representatives."""
        return graph.representatives

    def delegate(
        self,
        graph: DelegationGraph,
        accuracy: Floats,
        n_delegators: int,
        rng: Generator,
        *,
        knowledge: Knowledge = _NOTHING,
    ) -> DelegationGraph:
        """Return the graph after up to ``n_delegators`` representatives have delegated.

        The weakest chooses first, and each sees the weights that the one before left. A delegator
        without a strictly better candidate stays a representative, unless p gives others a chance.
        """
        delegation, gurus = graph.delegation.copy(), graph.gurus.copy()
        weights = graph.weights.astype(np.float64)
        for delegator in self._select(graph, accuracy, n_delegators, rng).tolist():
            is_candidate = gurus != delegator
            if self.candidates == "representatives":
                is_candidate &= weights > 0
            choices, own_weight = is_candidate.nonzero()[0], weights.item(delegator)
            weight = weights.take(gurus.take(choices))
            situation = Situation(
                delegator, choices, accuracy, weight, own_weight, graph.n_voters, knowledge
            )
            compared = weight if self.weight_of == "guru" else weights.take(choices)
            sums = np.add.accumulate(self._likelihood(situation, compared), dtype=np.float64)
            if sums.size and sums.item(-1) > 0:
                draw = sums.searchsorted(rng.random() * sums.item(-1), side="right")
                delegation[delegator] = choice = choices.item(draw)
                weights[gurus[choice]] += own_weight
                weights[delegator] = 0
                gurus[gurus == delegator] = gurus[choice]
        has_changed = not np.array_equal(delegation, graph.delegation)
        return DelegationGraph(delegation) if has_changed else graph

    def _select(
        self, graph: DelegationGraph, accuracy: Floats, n_delegators: int, rng: Generator
    ) -> Voters:
        """Return who delegates, the weakest first."""
        if n_delegators == 0:
            return np.empty(0, dtype=np.intp)
        accuracy = accuracy[graph.representatives]
        selected = np.asarray(self.selection(accuracy, n_delegators, rng))
        _check_selection(selected, n_delegators, len(accuracy))
        selected = selected.astype(np.intp)
        weakest_first = np.lexsort((rng.random(len(selected)), accuracy[selected]))
        return graph.representatives[selected[weakest_first]]

    def _likelihood(self, situation: Situation, weight: Floats) -> Floats:
        """Return how likely each candidate is to be chosen, refinements included."""
        gain = situation.gain
        likelihood = np.asarray(self.probability(gain, weight))
        wrong = _problem("likelihood", likelihood, len(gain))
        if not wrong and not np.logical_or.reduce(likelihood) and gain.max(initial=0) > 0:
            wrong = "a positive likelihood for some candidate when one is better, got zero for all"
        if wrong:
            raise ValueError(
                f"mechanism must give {wrong}. Correct its probability function; to let a "
                "representative stay one, leave it out of the selection."
            )
        if not self.refinements:
            return likelihood
        factors = [np.asarray(refine(situation)) for refine in self.refinements]
        for refine, values in zip(self.refinements, factors, strict=True):
            wrong = _problem("factor", values, len(gain))
            if wrong:
                raise ValueError(f"refinements must give {wrong}. Correct {refine!r}.")
        refined: Floats = likelihood * np.prod(factors, axis=0)
        return refined


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
    functions = refinements if isinstance(refinements, tuple | list) else [None]
    if not all(callable(function) and not isinstance(function, type) for function in functions):
        raise TypeError(
            f"refinements must be a tuple of functions, got {refinements!r}. Give functions of a "
            "Situation."
        )


def _problem(name: str, values: NDArray[Any], n_candidates: int) -> str | None:
    """Return what is wrong with ``values``, which should hold one ``name`` per candidate."""
    if values.shape != (n_candidates,):
        return f"one {name} for each of {n_candidates} candidates, got shape {values.shape}"
    if values.dtype.kind not in "fiub":
        return f"numbers as {name}s, got {values.dtype}"
    least, total = np.minimum.reduce(values, initial=0), np.add.reduce(values, dtype=np.float64)
    if least >= 0 and math.isfinite(total):
        return None
    if not np.isfinite(values).all():
        return f"finite {name}s, got {values[~np.isfinite(values)][:1]}"
    if least < 0:
        return f"{name}s of zero or more, got {least}"
    return f"{name}s with a finite sum, got {values.max()} among them"
