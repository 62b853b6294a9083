"""Traits: the properties in which voters differ, and the weight left with each value."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from skliquid.delegation.arrays import Voters
from skliquid.delegation.record import TrainingRecord, VoterDescription

_MAX_LISTED, _MAX_CATEGORIES = 6, 8  # more numbers become ranges; rarer categories are merged
_MAX_LETTERS = 22


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
    def categories(self) -> list[Category]:
        """The values with their shares: numbers in ascending order, then others as they occur.

        Many different numbers become four ranges; of many other values, the rarest are merged.
        """
        labels = np.array(_labels(self.values))
        names = list(dict.fromkeys(labels[_order(self.values)].tolist()))
        weights = self.weights / max(self.weights.sum(), 1)
        shares = {name: (np.mean(labels == name), weights[labels == name].sum()) for name in names}
        rare = sorted(names, key=lambda name: -sum(shares[name]))[_MAX_CATEGORIES - 1 :]
        if len(rare) > 1:
            others = np.sum([shares[name] for name in rare], axis=0)
            names = [name for name in names if name not in rare] + [f"{len(rare)} others"]
            shares[names[-1]] = tuple(others)
        return [Category(name, *map(float, shares[name])) for name in names]


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


def _labels(values: Sequence[Any]) -> list[str]:
    """Return the category of each value: its text, or the range of numbers that it lies in."""
    if not all(map(_is_number, values)) or len(set(values)) <= _MAX_LISTED:
        return [_label(value) for value in values]
    numbers = np.array(values, dtype=float)
    quarters = np.searchsorted(np.quantile(numbers, (0.25, 0.5, 0.75)), numbers)
    ranges = [numbers[quarters == quarter] for quarter in quarters]
    return [f"{own.min():.2g} to {own.max():.2g}" for own in ranges]


def _label(value: Any) -> str:
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return text if len(text) <= _MAX_LETTERS else f"{text[: _MAX_LETTERS - 1]}…"
