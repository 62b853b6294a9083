r"""Mechanism: the paper's pair (g, p), and how it turns representatives into delegators."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from skliquid.delegation.arrays import Floats, Voters
from skliquid.delegation.graph import DelegationGraph
from skliquid.delegation.running_averages import RunningAverage
from skliquid.delegation.storable import storable
from skliquid.mechanisms.refinement import Knowledge, Refinement, Situation
from skliquid.mechanisms.revocation import Revocation
from skliquid.mechanisms.selection import nobody
from skliquid.mechanisms.vote_weights import VoteWeights, as_vote_weights, checked_weights

Selection: TypeAlias = Callable[[Floats, int, Generator], Voters]
Probability: TypeAlias = Callable[[Floats, Floats], Floats]

CANDIDATES = ("representatives", "voters")

_NOTHING = Knowledge()
_SMALLEST = float(np.finfo(np.float64).smallest_normal) * 2.0**60
_OPTIONS = {"weight_of": ("guru", "candidate"), "candidates": CANDIDATES}


@storable
@dataclass(frozen=True)
class Mechanism:
    r"""A delegation mechanism :math:`\mathcal{D} = (g, p)`.

    Parameters
    ----------
    selection : callable
        g: ``selection(competence, n_delegators, rng)`` returns the positions, in the
        representatives' ``competence``, of at most ``n_delegators`` that delegate now.
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
    vote_weights : {"auto", "equal", "delegated", "log_odds", "delegated_log_odds"} or callable
        How much each representative counts when the ensemble votes: one vote each, the votes it
        carries, the log-odds that it is correct, or the product of the last two. A function
        ``vote_weights(graph, accuracy, n_classes)`` returns one number per representative.
        ``"auto"``: one vote each if votes are soft, else the votes carried, as in the paper.
    returns : callable or None
        Which delegators become representatives again, for streams with concept drift: see
        :func:`~skliquid.mechanisms.revocable`. They take their own vote back, and the votes of the
        voters that delegated to them; as many others delegate in their place, if they have a
        candidate, so that the ensemble does not grow. None: delegations are final.

    Examples
    --------
    >>> import numpy as np
    >>> from skliquid.mechanisms.selection import least_competent
    >>> greedy = Mechanism(least_competent, lambda gain, weight: np.maximum(gain, 0) ** 8)
    >>> competence = np.array([0.5, 0.8, 0.9])
    >>> rng = np.random.default_rng(0)
    >>> greedy.delegate(DelegationGraph.direct(3), competence, 1, rng).delegation.tolist()
    [2, 1, 2]
    """

    selection: Selection
    probability: Probability
    refinements: tuple[Refinement, ...] = ()
    weight_of: Literal["guru", "candidate"] = "guru"
    candidates: Literal["representatives", "voters"] = "representatives"
    vote_weights: str | VoteWeights = "auto"
    returns: Revocation | None = None

    def __post_init__(self) -> None:
        if not all(map(callable, (self.selection, self.probability))):
            raise TypeError(
                "mechanism must be a pair (selection, probability) of functions, got "
                f"({self.selection!r}, {self.probability!r}). Give both functions."
            )
        for name, allowed in _OPTIONS.items():
            if (option := getattr(self, name)) not in allowed:
                raise ValueError(
                    f"{name} must be {' or '.join(map(repr, allowed))}: got {option!r}. Choose one "
                    "of them."
                )
        is_sequence = isinstance(self.refinements, tuple | list)
        if not (is_sequence and all(map(_is_function, self.refinements))):
            raise TypeError(
                f"refinements must be a tuple of functions, got {self.refinements!r}. Give "
                "functions of a Situation."
            )
        object.__setattr__(self, "refinements", tuple(self.refinements))
        if self.vote_weights != "auto":
            as_vote_weights(self.vote_weights)  # raises unless it is one
        if not (self.returns is None or _is_function(self.returns)):
            raise TypeError(
                "returns must be a function that says which delegators return, got "
                f"{self.returns!r}. Give one like BetterThanGuru()."
            )

    @property
    def is_direct(self) -> bool:
        """Whether no voter ever delegates."""
        return self.selection is nobody

    @property
    def is_revocable(self) -> bool:
        """Whether delegators may become representatives again."""
        return self.returns is not None

    def measured_voters(self, graph: DelegationGraph) -> Voters:
        """Return the voters whose competence is measured: representatives, or all if revocable."""
        return graph.representatives if self.returns is None else np.arange(graph.n_voters)

    def weigh_votes(
        self, graph: DelegationGraph, accuracy: RunningAverage, n_classes: int, *, is_soft: bool
    ) -> NDArray[Any]:
        """Return how much each representative counts when the ensemble votes."""
        auto = "equal" if self.votes_equally(is_soft=is_soft) else "delegated"
        chosen = auto if self.vote_weights == "auto" else self.vote_weights
        return checked_weights(chosen, graph, accuracy, n_classes)

    def votes_equally(self, *, is_soft: bool) -> bool:
        """Return whether each representative has one vote."""
        return self.vote_weights in ("equal", "auto" if is_soft else "equal")

    def delegate(
        self,
        graph: DelegationGraph,
        competence: Floats,
        n_delegators: int,
        rng: Generator,
        *,
        knowledge: Knowledge = _NOTHING,
    ) -> DelegationGraph:
        """Return the graph after up to ``n_delegators`` representatives have delegated.

        The weakest chooses first, and each sees the weights that the one before left. A delegator
        without a strictly better candidate stays a representative, unless p gives others a chance.
        """
        if self.returns is not None:
            n_left = len(graph.representatives) - n_delegators
            returning, competence = self.returns(graph, competence, n_left, rng, knowledge)
            graph, n_delegators = graph.revoke(returning), n_delegators + len(returning)
        delegation, gurus = graph.delegation.copy(), graph.gurus.copy()
        weights, may_follow = graph.weights.astype(np.float64), self.candidates == "voters"
        for delegator in self._select(graph, competence, n_delegators, rng).tolist():
            own_weight = weights.item(delegator)
            weights[delegator] = 0
            choices = (gurus != delegator if may_follow else weights).nonzero()[0]
            weight = weights.take(gurus.take(choices) if may_follow else choices)
            gain = competence.take(choices) - competence.item(delegator)
            compared = weight if self.weight_of == "guru" else weights.take(choices)
            likelihood, sums = self._likelihood(gain, compared)
            if self.refinements:
                situation = Situation(delegator, choices, competence, weight, own_weight, knowledge)
                sums = np.add.accumulate(likelihood * self._factors(situation))
            guru = delegator
            if sums.size and sums.item(-1) > 0:
                delegation[delegator] = choice = choices.item(_drawn(sums, rng))
                guru = gurus.item(choice)
            weights[guru] += own_weight
            if may_follow:
                gurus[gurus == delegator] = guru
        has_changed = not np.array_equal(delegation, graph.delegation)
        return DelegationGraph(delegation) if has_changed else graph

    def _select(
        self, graph: DelegationGraph, competence: Floats, n_delegators: int, rng: Generator
    ) -> Voters:
        """Return who delegates, the weakest first."""
        if n_delegators == 0:
            return graph.representatives[:0]
        competence = competence[graph.representatives]
        selected = np.asarray(self.selection(competence, n_delegators, rng))
        _check_selection(selected, n_delegators, len(competence))
        selected = selected.astype(np.intp)
        weakest_first = np.lexsort((rng.random(len(selected)), competence[selected]))
        return graph.representatives[selected[weakest_first]]

    def _likelihood(self, gain: Floats, weight: Floats) -> tuple[Floats, Floats]:
        """Return how likely each candidate is to be chosen, and the cumulative sums of that."""
        likelihood = np.asarray(self.probability(gain, weight))
        sums, wrong = _sums("likelihood", likelihood, len(gain))
        if not wrong and sums.size and not sums.item(-1) and gain.max() > 0:
            wrong = "a positive likelihood for some candidate when one is better, got zero for all"
        if wrong:
            raise ValueError(
                f"mechanism must give {wrong}. Correct its probability function; to let a "
                "representative stay one, leave it out of the selection."
            )
        return likelihood, sums

    def _factors(self, situation: Situation) -> Floats:
        """Return the product of what the refinements give for each candidate."""
        product = np.ones(len(situation.choices))
        for refine in self.refinements:
            factors = np.asarray(refine(situation))
            _, wrong = _sums("factor", factors, len(product))
            if wrong:
                raise ValueError(f"refinements must give {wrong}. Correct {refine!r}.")
            product *= factors
        return product


def _drawn(sums: Floats, rng: Generator) -> int:
    """Return a position, each as likely as its step in the cumulative ``sums``."""
    if sums.item(-1) < _SMALLEST:  # subnormal products are rounded: test_mechanism.py
        sums = sums / _SMALLEST
    total = sums.item(-1)
    drawn, last = sums.searchsorted(rng.random() * total, "right"), sums.searchsorted(total)
    return int(min(drawn, last))  # a product may be rounded to the total itself


def _is_function(value: object) -> bool:
    return callable(value) and not isinstance(value, type)


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


def _sums(name: str, values: NDArray[Any], n_candidates: int) -> tuple[Floats, str | None]:
    """Return the cumulative sums of ``values``, one ``name`` per candidate, and what is wrong."""
    sums, wrong = np.zeros(0), None
    if values.shape != (n_candidates,):
        wrong = f"one {name} for each of {n_candidates} candidates, got shape {values.shape}"
    elif values.dtype.kind not in "fiub":
        wrong = f"numbers as {name}s, got {values.dtype}"
    elif n_candidates:
        sums = np.add.accumulate(values, dtype=np.float64)
        if not math.isfinite(sums.item(-1)):
            infinite = values[~np.isfinite(values)]
            wrong = f"finite {name}s, got {infinite[:1]}"
            if not len(infinite):
                wrong = f"{name}s with a finite sum, got {values.max()} among them"
        elif (least := np.minimum.reduce(values)) < 0:
            wrong = f"{name}s of zero or more, got {least}"
    return sums, wrong
