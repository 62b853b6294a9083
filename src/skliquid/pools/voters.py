"""Voters before they are trained: copies of a few kinds, and what makes them differ."""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.stats import loguniform
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skliquid.arrays import Floats, Voters
from skliquid.pools.fourier_features import FourierFeatures

OWN_ALPHA = {"alpha": loguniform(1e-6, 1e-2)}
"""What voters draw when they are not told otherwise."""

FOURIER_MAPS = (None, 0.2, 1.0)
"""Logarithms with their sign, and random Fourier features of these: lines nearly straight, bumps.

The numbers are inverse squared bandwidths, to be divided by the number of features."""


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
    if not distributions:
        return []
    if distributions is OWN_ALPHA:  # the same draws, all at once
        alphas = OWN_ALPHA["alpha"].rvs(size=n_voters, random_state=random_state)
        return [{"alpha": alpha} for alpha in alphas.tolist()]
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

    What is far out comes nearer, as it should for counts and amounts, and zero stays zero. Numbers
    so large that their triple is none stand for the largest of which it is.

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
    X = np.asarray(X)
    largest = np.nextafter(np.finfo(np.result_type(X.dtype, np.float16)).max / 3, 0)
    return np.sign(X) * np.log1p(3 * np.minimum(np.abs(X), largest))


def fitted_maps(maps: Sequence[Any], X: Any, seeds: Sequence[int]) -> list[Any]:
    """Return copies of ``maps`` with seeds, fitted to ``X``; None for rows as they are."""
    if maps is FOURIER_MAPS:
        return list(map(_with_plain_output, _fourier_maps(X[:1], seeds)))
    return [
        None if isinstance(each, str) else _with_plain_output(seeded(each, [seed])[0].fit(X))
        for each, seed in zip(maps, seeds, strict=True)
    ]


def _with_plain_output(transformer: Any) -> Any:
    """Return ``transformer``, which from now on gives arrays, whatever is set elsewhere."""
    if hasattr(transformer, "set_output"):
        transformer.set_output(transform="default")
    return transformer


def _fourier_maps(X: Any, seeds: Sequence[int]) -> list[Any]:
    """Return maps of ``FOURIER_MAPS`` that are fitted: to one row, since only its width counts.

    For scaled features a squared distance is about twice their number, hence the bandwidths.
    """
    logs = FunctionTransformer(signed_log, accept_sparse=True, feature_names_out="one-to-one")
    logs.fit(X)
    maps: list[Any] = []
    for width, seed in zip(FOURIER_MAPS, seeds, strict=True):
        if width is None:
            maps.append(logs)
            continue
        waves = FourierFeatures(gamma=width / X.shape[1], n_components=100)
        waves.random_state = _derived(seed, 1)[0]
        maps.append(make_pipeline(logs, waves.fit(X)))
    return maps


class Copies(Sequence[Any]):
    """Copies of one kind, each with its own seed and parameters, made when asked for."""

    def __init__(
        self, kind: Any, seeds: Sequence[int], params: Sequence[Mapping[str, Any]] | None = None
    ):
        self.kind, self.seeds, self.params = clone(kind), seeds, params
        values = self.kind.get_params()
        self._seeded = sorted(n for n in values if n.rsplit("__", 1)[-1] == "random_state")
        # when nothing inside can be trained, a shallow copy is as good as a clone, and sooner made
        is_flat = not any(hasattr(value, "get_params") for value in values.values())
        self._copy: Callable[[Any], Any] = twin if is_flat else clone

    def __len__(self) -> int:
        return len(self.seeds)

    def __getitem__(self, voter: Any) -> Any:
        made = _with_seeds(self._copy(self.kind), self._seeded, self.seeds[voter])
        return made if self.params is None else _with_params(made, self.params[voter])

    def of(self, voters: Sequence[int]) -> "Copies":
        """Return some of the copies."""
        some = copy.copy(self)
        some.seeds = [self.seeds[voter] for voter in voters]
        some.params = None if self.params is None else [self.params[voter] for voter in voters]
        return some


def taken(voters: Sequence[Any], some: Sequence[int]) -> Sequence[Any]:
    """Return some of the voters."""
    return voters.of(some) if isinstance(voters, Copies) else [voters[voter] for voter in some]


def values_of(voters: Sequence[Any], name: str) -> NDArray[Any]:
    """Return a parameter of each voter."""
    if not isinstance(voters, Copies):
        return np.array([getattr(voter, name) for voter in voters])
    is_seed = name == "random_state"
    shared = voters.seeds if is_seed else [getattr(voters.kind, name)] * len(voters)
    if voters.params is None:
        return np.array(shared)
    return np.array(
        [own.get(name, value) for own, value in zip(voters.params, shared, strict=True)]
    )


def voters_of(
    kinds: Sequence[Any], seeds: Sequence[int], params: Sequence[Mapping[str, Any]] = ()
) -> Sequence[Any]:
    """Return a voter for each seed, the kinds being spread evenly over them."""
    if len(kinds) == 1:
        return Copies(kinds[0], seeds, params or None)
    voters: list[Any] = [None] * len(seeds)
    for k, kind in enumerate(kinds):
        mine = slice(k, None, len(kinds))
        voters[mine] = Copies(kind, seeds[mine], params[mine] or None)
    return voters


def weights_of(sample_weight: Floats | None, voters: Voters, voter: int) -> Floats | None:
    """Return the weights of the rows for ``voter``, where each of ``voters`` may have its own."""
    if sample_weight is None or sample_weight.ndim == 1:
        return sample_weight
    own: Floats = sample_weight[voters.tolist().index(voter)]
    return own


def seeded(kind: Any, seeds: Sequence[int]) -> list[Any]:
    """Return a copy of ``kind`` for each seed, in which every ``random_state`` follows from it."""
    return list(Copies(kind, seeds))


def twin(voter: Any) -> Any:
    """Return a shallow copy."""
    kind: Any = type(voter)
    if kind.__getstate__ is not BaseEstimator.__getstate__ or hasattr(kind, "__slots__"):
        return copy.copy(voter)
    made = kind.__new__(kind)  # as copy would, without asking how
    vars(made).update(vars(voter))
    return made


def _with_seeds(voter: Any, names: Sequence[str], seed: int) -> Any:
    if names == ["random_state"]:
        voter.random_state = int(seed)
    elif names:
        voter.set_params(**dict(zip(names, _derived(seed, len(names)), strict=True)))
    return voter


def _with_params(voter: Any, own: Mapping[str, Any]) -> Any:
    if all(name in vars(voter) for name in own):
        vars(voter).update(own)
        return voter
    return voter.set_params(**own)


def _derived(seed: int, n_seeds: int) -> list[int]:
    """Return several seeds that follow from one."""
    return list(map(int, np.random.SeedSequence(int(seed)).generate_state(n_seeds)))
