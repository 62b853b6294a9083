"""Traits: the properties in which voters differ, and the weight left with each value."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skliquid.delegation.arrays import Voters
from skliquid.delegation.record import TrainingRecord, VoterDescription

_MAX_LISTED, _MAX_CATEGORIES = 6, 8  # more numbers are continuous; rarer categories are merged
_MAX_LETTERS = 22
_MIN_LOG_RATIO = 20.0  # between the largest and the smallest number on a logarithmic axis


class Category(NamedTuple):
    """A value that voters can have: its share of the voters, and of the weight at the end."""

    label: str
    drawn: float
    left: float


@dataclass(frozen=True, eq=False)
class Trait:
    """A property in which all voters differ, or all voters with one estimator."""

    estimator: str  # of the voters; empty for all voters
    name: str  # "estimator", "feature map" or the name of a hyperparameter
    values: tuple[Any, ...]  # one per voter
    weights: Voters  # at the end, one per voter; zero for delegators

    @property
    def title(self) -> str:
        """The name with the estimator."""
        return f"{self.estimator}: {self.name}" if self.estimator else self.name

    @property
    def is_continuous(self) -> bool:
        """Whether the values are numbers that are not from a short list."""
        if not all(map(_is_number, self.values)):
            return False
        are_many = len(set(self.values)) > _MAX_LISTED
        return are_many or any(float(f"{value:.3g}") != value for value in self.values)

    @property
    def is_logarithmic(self) -> bool:
        """Whether the numbers are positive and of different orders of magnitude."""
        low, high = float(min(self.values)), float(max(self.values))
        return low > 0 and high > _MIN_LOG_RATIO * low

    @property
    def categories(self) -> list[Category]:
        """The values with their shares: numbers in ascending order, then others as they occur.

        If there are many, the rarest are one category.
        """
        labels = np.array([_label(value) for value in self.values])
        found = [
            Category(label, float(np.mean(labels == label)), self._left(labels == label))
            for label in dict.fromkeys(labels[_order(self.values)].tolist())
        ]
        if len(found) <= _MAX_CATEGORIES:
            return found
        by_share = sorted(found, key=lambda category: category.drawn + category.left)
        common = by_share[1 - _MAX_CATEGORIES :]
        rare = [category for category in found if category not in common]
        drawn = sum(category.drawn for category in rare)
        left = sum(category.left for category in rare)
        kept = [category for category in found if category in common]
        return [*kept, Category(f"{len(rare)} others", drawn, left)]

    def _left(self, has_value: NDArray[np.bool_]) -> float:
        return float(self.weights[has_value].sum() / max(self.weights.sum(), 1))


def traits_of(record: TrainingRecord) -> list[Trait]:
    """Return the traits in which voters differ: estimators, feature maps, then hyperparameters."""
    voters, weights = record.voters, record[-1].graph.weights
    names = tuple(voter.estimator for voter in voters)
    maps, hyperparameters = [], []
    for name in dict.fromkeys(names):
        own = [k for k, voter in enumerate(voters) if voter.estimator == name]
        prefix = name if len(set(names)) > 1 else ""
        first, *others = _traits_of_estimator(prefix, [voters[k] for k in own], weights[own])
        maps.append(first)
        hyperparameters += others
    traits = [Trait("", "estimator", names, weights), *maps, *hyperparameters]
    return [trait for trait in traits if len(set(map(repr, trait.values))) > 1]


def _traits_of_estimator(
    estimator: str, voters: Sequence[VoterDescription], weights: Voters
) -> list[Trait]:
    """Return the feature map first, and then the hyperparameters."""
    maps = tuple(voter.feature_map or "none" for voter in voters)
    traits = [Trait(estimator, "feature map", maps, weights)]
    drawn = [voter.hyperparameters for voter in voters]
    for name in dict.fromkeys(name for params in drawn for name in params):
        own = [k for k, params in enumerate(drawn) if name in params]
        values = tuple(drawn[k][name] for k in own)
        traits.append(Trait(estimator, name, values, weights[own]))
    return traits


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _order(values: Sequence[Any]) -> list[int]:
    """Return positions: first those of numbers in ascending order, then all others."""
    ranks = [(0, value) if _is_number(value) else (1, 0) for value in values]
    return sorted(range(len(values)), key=lambda k: ranks[k])


def _label(value: Any) -> str:
    text = f"{value:g}" if _is_number(value) else str(value)
    return text if len(text) <= _MAX_LETTERS else f"{text[: _MAX_LETTERS - 1]}…"
