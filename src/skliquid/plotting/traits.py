"""Traits: in what voters differ, what each has drawn, and the weight that is left with it."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skliquid.arrays import Voters
from skliquid.record import TrainingRecord
from skliquid.voter_description import VoterDescription

_MOST_VALUES, _MOST_CATEGORIES = 6, 8
_MOST_LETTERS = 22
_WIDE = 20.0


class Category(NamedTuple):
    """A value that voters can have: its share of the voters, and of the weight at the end."""

    label: str
    drawn: float
    left: float


@dataclass(frozen=True, eq=False)
class Trait:
    """Something in which the voters of a kind differ, or all voters.

    Attributes
    ----------
    kind : str
        The kind of the voters; empty for all voters.
    name : str
        ``"kind"``, ``"feature map"`` or the name of a hyperparameter.
    values : tuple
        What each of the voters has drawn.
    weights : array of int
        The weight that each of them carries at the end; zero for delegators.
    """

    kind: str
    name: str
    values: tuple[Any, ...]
    weights: Voters

    @property
    def title(self) -> str:
        """The name with the kind."""
        return f"{self.kind}: {self.name}" if self.kind else self.name

    @property
    def is_continuous(self) -> bool:
        """Whether the values are numbers that are not from a short list."""
        if not all(map(_is_number, self.values)):
            return False
        are_many = len(set(self.values)) > _MOST_VALUES
        return are_many or any(float(f"{value:.3g}") != value for value in self.values)

    @property
    def is_logarithmic(self) -> bool:
        """Whether the numbers are positive and of different orders of magnitude."""
        low, high = float(min(self.values)), float(max(self.values))
        return low > 0 and high > _WIDE * low

    @property
    def categories(self) -> list[Category]:
        """The values with their shares: numbers in ascending order, others as they come first.

        Of many, the rarest are one category.
        """
        labels = np.array([_label(value) for value in self.values])
        found = [
            Category(label, float(np.mean(labels == label)), self._left(labels == label))
            for label in dict.fromkeys(labels[_order(self.values)].tolist())
        ]
        if len(found) <= _MOST_CATEGORIES:
            return found
        common = sorted(found, key=lambda one: one.drawn + one.left)[1 - _MOST_CATEGORIES :]
        rare = [one for one in found if one not in common]
        drawn, left = sum(one.drawn for one in rare), sum(one.left for one in rare)
        kept = [one for one in found if one in common]
        return [*kept, Category(f"{len(rare)} others", drawn, left)]

    def _left(self, has_value: NDArray[np.bool_]) -> float:
        total = max(self.weights.sum(), 1)
        return float(self.weights[has_value].sum() / total)


def traits_of(record: TrainingRecord) -> list[Trait]:
    """Return in what the voters of a record differ: kinds, feature maps, and hyperparameters."""
    voters, weights = record.voters, record[-1].graph.weights
    kinds = list(dict.fromkeys(voter.kind for voter in voters))
    traits = [Trait("", "kind", tuple(voter.kind for voter in voters), weights)]
    by_kind = []
    for kind in kinds:
        own = [k for k, voter in enumerate(voters) if voter.kind == kind]
        name = kind if len(kinds) > 1 else ""
        maps, *params = _traits_of_kind(name, [voters[k] for k in own], weights[own])
        traits.append(maps)
        by_kind += params
    return [trait for trait in (*traits, *by_kind) if len(set(map(repr, trait.values))) > 1]


def _traits_of_kind(kind: str, voters: Sequence[VoterDescription], weights: Voters) -> list[Trait]:
    """Return the feature map first, and then the hyperparameters."""
    maps = tuple(voter.feature_map or "none" for voter in voters)
    traits = [Trait(kind, "feature map", maps, weights)]
    drawn = [voter.hyperparameters for voter in voters]
    for name in dict.fromkeys(name for params in drawn for name in params):
        own = [k for k, params in enumerate(drawn) if name in params]
        values = tuple(drawn[k][name] for k in own)
        traits.append(Trait(kind, name, values, weights[own]))
    return traits


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _order(values: Sequence[Any]) -> list[int]:
    """Return positions: of numbers in ascending order, and then of all else."""
    numbers = [k for k, value in enumerate(values) if _is_number(value)]
    others = [k for k, value in enumerate(values) if not _is_number(value)]
    return sorted(numbers, key=lambda k: values[k]) + others


def _label(value: Any) -> str:
    text = f"{value:g}" if _is_number(value) else str(value)
    is_short = len(text) <= _MOST_LETTERS
    return text if is_short else f"{text[: _MOST_LETTERS - 1]}\N{HORIZONTAL ELLIPSIS}"
