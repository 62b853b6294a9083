"""VoterSpec: the estimators, seeds, hyperparameters and feature maps of voters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from skliquid.delegation.record import VoterDescription
from skliquid.delegation.storable import Array, Count, Range, require, storable
from skliquid.diversity.diversity import Diversity
from skliquid.diversity.feature_maps import fit_maps, map_name, maps_by_name
from skliquid.diversity.hyperparameters import distributions_by_name, draw_hyperparameters
from skliquid.diversity.samples import Sample, draw_subspaces
from skliquid.diversity.seeding import copies_of, final_step


@storable
@dataclass(frozen=True, eq=False)
class VoterSpec:
    """The specification of voters: estimators, one seed per voter, and their draws.

    Estimators are spread evenly over the voters, and the maps of an estimator over its voters.
    ``subspaces`` are for voters without a feature map.
    """

    estimators: Sequence[Any]
    seeds: Sequence[Annotated[int, Range(0, 2**32 - 1)]]
    params: Sequence[Mapping[str, Any]] = ()  # hyperparameters of each voter, if they differ
    # features of each voter; None means all
    subspaces: Annotated[NDArray[np.intp] | None, Array("n_voters", "n_seen")] = None
    maps: Sequence[Any] = ()  # fitted transformers, or None for rows as they are
    sample: Sample | None = None  # None means that all voters learn from all rows
    maps_by_estimator: Mapping[Count, Sequence[Count]] | None = None  # positions; None: all
    names: Sequence[str] = ()  # of the estimators, if they are in a list
    map_names: Sequence[str] = ()

    @classmethod
    def draw(
        cls,
        estimators: Sequence[Any],
        seeds: Sequence[int],
        X: Any,
        *,
        diversity: Diversity,
        max_features: Any,
        sample: Sample | None,
        rng: np.random.Generator,
        names: Sequence[str] = (),
        view: Any = None,
    ) -> "VoterSpec":
        """Draw the specification; feature maps are fitted to ``X``.

        Where ``X`` has codes of categories, voters with ``CodedCategories`` see them, and others
        see ``X`` through ``view``.
        """
        keys = names or [str(k) for k in range(len(estimators))]
        feature_maps = diversity.feature_maps
        if view is not None:
            feature_maps = _maps_of_tables(feature_maps, keys, estimators)
        maps, maps_by_estimator = maps_by_name(feature_maps, keys)
        seed, *seeds_of_maps = rng.integers(2**31 - 1, size=1 + len(maps)).tolist()
        return cls(
            estimators,
            seeds,
            params=_draw_params(diversity.param_distributions, keys, len(seeds), seed),
            subspaces=draw_subspaces(len(seeds), X.shape[1], max_features, rng),
            maps=fit_maps(maps, X, seeds_of_maps, view),
            sample=sample,
            maps_by_estimator=maps_by_estimator,
            names=names,
            map_names=[map_name(one) for one in maps],
        )

    def check_stored(self) -> None:
        """Raise unless voters, estimators and maps refer to each other."""
        n_voters, subspaces = len(self.seeds), self.subspaces
        require(self.estimators and n_voters, "estimators and seeds")
        require(len(self.params) in (0, n_voters), "hyperparameters of all voters, or of none")
        require(subspaces is None or len(subspaces) == n_voters, "features of each voter")
        places = [place for own in (self.maps_by_estimator or {}).values() for place in own]
        exist = all(place < len(self.maps) for place in places)
        require(exist and len(self.map_names) == len(self.maps), "maps that exist, with names")
        self.check_voters()

    def estimator_of(self, voter: int) -> int:
        """Return the position of the voter's estimator."""
        return voter % len(self.estimators)

    def params_of(self, k: int) -> Sequence[Mapping[str, Any]]:
        """Return the hyperparameters of the voters of the k-th estimator."""
        return self.params[k :: len(self.estimators)]

    def voters(self) -> list[Any]:
        """Return the voters, not fitted."""
        voters = copies_of(self.estimators, self.seeds, self.params)
        if self.subspaces is not None:
            for voter, one in enumerate(voters):
                if _sees_codes(one) and self._map_of(voter) is None:
                    coded = one.categorical_features.among(self.subspaces[voter])
                    one.categorical_features = coded
        return voters

    def check_voters(self, *, only_estimators: bool = False) -> None:
        """Raise if a parameter of a voter, or only of an estimator, is invalid."""
        for voter in self.estimators if only_estimators else self.voters():
            if hasattr(voter, "check_parameters"):
                voter.check_parameters()

    def maps_of(self, voters: Sequence[int]) -> list[int | None]:
        """Return the positions of the voters' maps; None for voters without one."""
        return [self._map_of(voter) for voter in voters]

    def _map_of(self, voter: int) -> int | None:
        everyone: Sequence[int] = range(len(self.maps))
        by_estimator = self.maps_by_estimator
        own = everyone if by_estimator is None else by_estimator.get(self.estimator_of(voter), ())
        if not own:
            return None
        place = own[voter // len(self.estimators) % len(own)]
        return None if self.maps[place] is None else place

    def descriptions(self) -> tuple[VoterDescription, ...]:
        """Return the description of each voter."""
        estimators = [
            name or type(final_step(estimator)).__name__
            for name, estimator in zip_longest(self.names, self.estimators)
        ]
        voters = range(len(self.seeds))
        return tuple(
            VoterDescription(
                estimators[self.estimator_of(voter)],
                "" if place is None else self.map_names[place],
                self.params[voter] if self.params else {},
            )
            for voter, place in zip(voters, self.maps_of(voters), strict=True)
        )

    def features_of(self, voters: Sequence[int]) -> list[NDArray[np.intp] | slice]:
        """Return the features that each of ``voters`` sees."""
        if self.subspaces is None:
            return [slice(None)] * len(voters)
        maps = zip(voters, self.maps_of(voters), strict=True)
        return [self.subspaces[v] if place is None else slice(None) for v, place in maps]


def _maps_of_tables(
    maps: Any, names: Sequence[str], estimators: Sequence[Any]
) -> dict[str, list[Any]]:
    """Return the maps of each estimator; those that cannot see codes have one at least."""
    by_name = {}
    for name, estimator in zip(names, estimators, strict=True):
        own = list((maps.get(name) if isinstance(maps, Mapping) else maps) or [])
        by_name[name] = own if own or _sees_codes(estimator) else ["passthrough"]
    return by_name


def _sees_codes(estimator: Any) -> bool:
    return hasattr(getattr(estimator, "categorical_features", None), "among")


def _draw_params(
    distributions: Any, names: Sequence[str], n_voters: int, seed: int
) -> list[Mapping[str, Any]]:
    random_state = np.random.RandomState(seed)
    by_name = distributions_by_name(distributions, names)
    if by_name is None:
        return draw_hyperparameters(distributions, n_voters, random_state)
    params: list[Mapping[str, Any]] = [{}] * n_voters
    for k, name in enumerate(names):
        voters = range(k, n_voters, len(names))
        if name in by_name:
            drawn = draw_hyperparameters(by_name[name], len(voters), random_state)
            params[k :: len(names)] = drawn
    return params
