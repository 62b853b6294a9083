"""VoterSpec: what voters are made from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skliquid.diversity.diversity import Diversity
from skliquid.diversity.feature_maps import FOURIER_GAMMAS, fit_maps
from skliquid.diversity.hyperparameters import draw_hyperparameters
from skliquid.diversity.samples import Sample, draw_subspaces
from skliquid.diversity.voters import copies_of


@dataclass(frozen=True, eq=False)
class VoterSpec:
    """Estimators, one seed per voter, and what each voter has drawn.

    Estimators and feature maps are spread evenly over the voters. ``subspaces`` are for voters
    without a feature map.
    """

    estimators: Sequence[Any]
    seeds: Sequence[int]
    params: Sequence[Mapping[str, Any]] = ()  # hyperparameters of each voter, if they differ
    subspaces: NDArray[np.intp] | None = None  # features of each voter; None means all
    maps: Sequence[Any] = ()  # fitted transformers, or None for rows as they are
    sample: Sample | None = None  # None means that all voters learn from all rows

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
    ) -> "VoterSpec":
        """Draw what each voter gets; feature maps are fitted to ``X``."""
        maps = diversity.feature_maps or []
        n_maps = len(FOURIER_GAMMAS) if isinstance(maps, str) else len(maps)
        seed, *seeds_of_maps = rng.integers(2**31 - 1, size=1 + n_maps).tolist()
        draws = np.random.RandomState(seed)
        return cls(
            estimators,
            seeds,
            params=draw_hyperparameters(diversity.param_distributions, len(seeds), draws),
            subspaces=draw_subspaces(len(seeds), X.shape[1], max_features, rng),
            maps=fit_maps(maps, X, seeds_of_maps),
            sample=sample,
        )

    def voters(self) -> list[Any]:
        """Return the voters, not fitted."""
        return copies_of(self.estimators, self.seeds, self.params)

    def maps_of(self, voters: Sequence[int]) -> list[int | None]:
        """Return the positions of the voters' maps, None for those that see rows as they are."""
        if not self.maps:
            return [None] * len(voters)
        places = [voter // len(self.estimators) % len(self.maps) for voter in voters]
        return [None if self.maps[place] is None else place for place in places]

    def features_of(self, voters: Sequence[int]) -> list[NDArray[np.intp] | slice]:
        """Return the features that each of ``voters`` sees."""
        if self.subspaces is None:
            return [slice(None)] * len(voters)
        maps = zip(voters, self.maps_of(voters), strict=True)
        return [self.subspaces[v] if place is None else slice(None) for v, place in maps]
