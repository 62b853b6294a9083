"""StoredPruned: a PrunedEnsemble, as model files hold it: its voters, and the state of pruning."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from skliquid.delegation.arrays import Floats
from skliquid.delegation.record import VoterDescription
from skliquid.delegation.storable import Array, Classes, Count, Range, require
from skliquid.fitted.fitted_votes import Fitted
from skliquid.fitted.stored_ensemble import StoredTraining
from skliquid.mechanisms import as_mechanism
from skliquid.pools import FittedPool, FittedVoter
from skliquid.tables.table_encoder import TableEncoder
from skliquid.training import Training


@dataclass(frozen=True, eq=False)
class StoredPruned:
    """The parameters of a pruned ensemble, the voters that were kept, and what is known of them."""

    params: dict[str, Any]
    n_features: Annotated[int, Range(1, 2**31 - 1)] | None
    feature_names: Annotated[NDArray[Any], Array("n_features")] | None
    classes: Classes
    n_samples_seen: Count
    kept: Annotated[NDArray[np.intp], Array("kept", is_sorted=True)]
    voters: list[FittedVoter]
    names: list[str]  # of the estimators of all voters
    votes: Annotated[Floats, Array("n_voters", low=0)] | None
    are_whole: bool  # whether votes are integers
    training: StoredTraining
    encoder: TableEncoder | None

    @classmethod
    def of(cls, ensemble: Any) -> "StoredPruned":
        """Return the parameters and the state of a pruned ensemble."""
        fitted: Fitted = ensemble._fitted
        training, kept, votes = fitted.training, fitted.kept, ensemble._votes
        if training is None or kept is None or fitted.classes is None:
            raise TypeError("a PrunedEnsemble must come from prune to be stored")
        fields = [name for name in StoredTraining.__dataclass_fields__ if name != "voters"]
        return cls(
            ensemble.get_params(deep=False),
            vars(ensemble).get("n_features_in_"),
            vars(ensemble).get("feature_names_in_"),
            fitted.classes,
            fitted.n_samples_seen,
            kept,
            training.pool.voters(kept),  # type: ignore[attr-defined]
            [voter.estimator for voter in training.record.voters],
            None if votes is None else votes.astype(np.float64),
            votes is not None and votes.dtype.kind in "biu",
            StoredTraining(**{name: getattr(training, name) for name in fields}, voters=[]),
            ensemble.encoder_,
        )

    def restore(self, ensemble: Any) -> None:
        """Give an ensemble with these parameters its state, after checking it."""
        graph, n_voters = self.training.graph, self.training.graph.n_voters
        ensemble._check_parameters(n_voters)
        votes = self.votes
        is_valid = votes is None or (len(votes) == n_voters and votes.any())
        require(is_valid and len(self.names) == n_voters, f"votes and names of {n_voters} voters")
        is_valid = len(self.kept) == len(self.voters) and np.all(self.kept < n_voters)
        require(is_valid, "the voters that were kept")
        measured = as_mechanism(ensemble.mechanism).measured_voters(graph)
        needed = measured if votes is None else np.flatnonzero(votes)
        require(np.isin(needed, self.kept).all(), "all voters that are asked")
        for voter in self.voters:
            self._check_voter(voter)
        pool = FittedPool(self.voters, self.kept)
        names = [name for name in StoredTraining.__dataclass_fields__ if name != "voters"]
        training = Training(pool=pool, **{name: getattr(self.training, name) for name in names})
        training.record.voters = tuple(map(VoterDescription, self.names))
        inputs = {"n_features_in_": self.n_features, "feature_names_in_": self.feature_names}
        vars(ensemble).update({k: value for k, value in inputs.items() if value is not None})
        if votes is not None:
            ensemble._votes = votes.astype(np.int64) if self.are_whole else votes
        ensemble.encoder_ = self.encoder
        seen = self.n_samples_seen
        ensemble._fitted = Fitted(self.classes, seen, training=training, kept=self.kept)

    def _check_voter(self, voter: FittedVoter) -> None:
        """Raise unless a voter sees columns that exist, and knows labels that exist."""
        columns = self.n_features if self.encoder is None else self.encoder.n_output_columns
        features = voter.features
        width = getattr(voter.estimator, "n_features_in_", columns)
        seen = columns if features is None else len(features)
        is_valid = features is None or (columns is not None and np.all(features < columns))
        require(is_valid and (seen is None or width == seen), "voters that see columns that exist")
        is_classifier = hasattr(voter.estimator, "predict")
        require(is_classifier and len(voter.labels) == len(self.classes), "voters for its classes")
