"""Voters before they are trained: copies of a few kinds, and what makes them differ."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.kernel_approximation import RBFSampler
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skliquid.arrays import Floats, Voters


class Sample(NamedTuple):
    """How each voter's own sample of the rows is drawn: how large, and whether with replacement."""

    share: float
    bootstrap: bool


@dataclass(frozen=True)
class Variety:
    """What voters do not have in common, beside their seeds.

    Parameters
    ----------
    params : sequence of dict
        Parameters that each voter has of its own; empty when they all have those of their kind.
    subspaces : array of int, one row a voter, or None
        The features that each voter looks at, if it looks at rows as they are.
    maps : sequence of fitted transformers or None
        Through which voters look at the rows, spread evenly over them; None in it stands for the
        rows as they are.
    sample : Sample or None
        How each voter's own sample of the rows is drawn; None when they all learn from all rows.
    """

    params: Sequence[Mapping[str, Any]] = ()
    subspaces: NDArray[np.intp] | None = None
    maps: Sequence[Any] = ()
    sample: Sample | None = None

    def map_of(self, voter: int, n_kinds: int) -> int | None:
        """Return which map ``voter`` looks through, or None when it sees rows as they are."""
        place = voter // n_kinds % len(self.maps) if self.maps else None
        return None if place is None or self.maps[place] is None else place

    def features_of(self, voter: int, n_kinds: int) -> NDArray[np.intp] | slice:
        """Return the features that ``voter`` looks at."""
        sees_all = self.subspaces is None or self.map_of(voter, n_kinds) is not None
        return slice(None) if sees_all or self.subspaces is None else self.subspaces[voter]


def drawn_params(
    distributions: Any, n_voters: int, random_state: np.random.RandomState
) -> list[Mapping[str, Any]]:
    """Return parameters for each voter, drawn as ``RandomizedSearchCV`` draws them.

    When all are lists with fewer combinations than voters, each is taken as often as any other.
    """
    several = distributions if isinstance(distributions, list | tuple) else [distributions]
    is_finite = not any(hasattr(each, "rvs") for one in several for each in one.values())
    n_draws = min(n_voters, len(ParameterGrid(distributions))) if is_finite else n_voters
    draws = ParameterSampler(distributions, n_draws, random_state=random_state)
    return list(islice(cycle(list(draws)), n_voters))


def drawn_subspaces(
    n_voters: int, n_features: int, n_seen: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Return the features that each voter looks at, in ascending order, none of them twice."""
    everything = np.tile(np.arange(n_features), (n_voters, 1))
    subspaces: NDArray[np.intp] = np.sort(rng.permuted(everything, axis=1)[:, :n_seen], axis=1)
    return subspaces


def signed_log(X: Any) -> Any:
    """Return the logarithm of one plus three times each number, with its sign.

    What is far out comes nearer, as it should for counts and amounts, and zero stays zero.

    Examples
    --------
    >>> signed_log(np.array([-1000.0, -1.0, 0.0, 1.0, 1000.0])).round(2).tolist()
    [-8.01, -1.39, 0.0, 1.39, 8.01]
    """
    if scipy.sparse.issparse(X):
        sparse: Any = X
        logs = sparse.copy()
        logs.data = signed_log(logs.data)
        return logs
    return np.sign(X) * np.log1p(3 * np.abs(X))


def fourier_maps(n_features: int) -> list[Any]:
    """Return logarithms with their sign, and random Fourier features of these in two bandwidths.

    For ``n_features`` scaled features a squared distance is about twice their number: one width
    gives lines that are nearly straight, the other bumps.
    """
    logs = FunctionTransformer(signed_log, accept_sparse=True)
    return [
        logs,
        *(
            make_pipeline(logs, RBFSampler(gamma=c / n_features, n_components=100))
            for c in (0.2, 1.0)
        ),
    ]


class Copies(Sequence[Any]):
    """Copies of one kind, each with its own seed, made when asked for."""

    def __init__(self, kind: Any, seeds: Sequence[int]):
        self.kind, self.seeds = clone(kind), seeds

    def __len__(self) -> int:
        return len(self.seeds)

    def __getitem__(self, voter: Any) -> Any:
        return seeded(self.kind, [self.seeds[voter]])[0]


def values_of(voters: Sequence[Any], name: str) -> NDArray[Any]:
    """Return a parameter of each voter."""
    if isinstance(voters, Copies):
        seeds = np.array(voters.seeds)
        return seeds if name == "random_state" else np.full(len(seeds), getattr(voters.kind, name))
    return np.array([getattr(voter, name) for voter in voters])


def voters_of(
    kinds: Sequence[Any], seeds: Sequence[int], params: Sequence[Mapping[str, Any]] = ()
) -> Sequence[Any]:
    """Return a voter for each seed, the kinds being spread evenly over them."""
    if len(kinds) == 1 and not params:
        return Copies(kinds[0], seeds)
    voters: list[Any] = [None] * len(seeds)
    for k, kind in enumerate(kinds):
        mine = slice(k, None, len(kinds))
        voters[mine] = seeded(kind, seeds[mine])
    for voter, own in zip(voters, params, strict=False):
        if all(name in vars(voter) for name in own):
            vars(voter).update(own)
        else:
            voter.set_params(**own)
    return voters


def weights_of(sample_weight: Floats | None, voters: Voters, voter: int) -> Floats | None:
    """Return the weights of the rows for ``voter``, where each of ``voters`` may have its own."""
    if sample_weight is None or sample_weight.ndim == 1:
        return sample_weight
    own: Floats = sample_weight[voters.tolist().index(voter)]
    return own


def seeded(kind: Any, seeds: Sequence[int]) -> list[Any]:
    """Return a copy of ``kind`` for each seed, in which every ``random_state`` follows from it."""
    fresh = clone(kind)
    params = fresh.get_params()
    names = sorted(name for name in params if name.rsplit("__", 1)[-1] == "random_state")
    if any(hasattr(value, "get_params") for value in params.values()):
        return [_with_seeds(clone(fresh), names, seed) for seed in seeds]
    # nothing inside can be trained, so a shallow copy is as good as a clone, and much sooner made
    return [_with_seeds(_copy(fresh), names, seed) for seed in seeds]


def _copy(voter: Any) -> Any:
    kind: Any = type(voter)
    if kind.__getstate__ is not BaseEstimator.__getstate__ or hasattr(kind, "__slots__"):
        return copy.copy(voter)
    twin = kind.__new__(kind)  # as copy would, without asking how
    vars(twin).update(vars(voter))
    return twin


def _with_seeds(voter: Any, names: Sequence[str], seed: int) -> Any:
    if names == ["random_state"]:
        voter.random_state = int(seed)
    elif names:
        seeds = np.random.SeedSequence(int(seed)).generate_state(len(names))
        voter.set_params(**dict(zip(names, map(int, seeds), strict=True)))
    return voter
