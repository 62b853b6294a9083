"""StoredEnsemble: a LiquidEnsembleClassifier and the state of its training, as model files hold it.

An ensemble that was stored gets a new pool, which loads the state of its voters. Before that, the
parts of its state are checked against each other.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from skliquid.delegation.calibration import Calibration, GroupAnswers
from skliquid.delegation.class_weights import ClassCounts
from skliquid.delegation.graph import DelegationGraph
from skliquid.delegation.new_classes import NewClasses
from skliquid.delegation.record import TrainingRecord
from skliquid.delegation.running_averages import DecayedAverage, OverallAverage, RecentAverage
from skliquid.delegation.storable import Array, Classes, Count, Range, require, storable
from skliquid.delegation.voter_pool import VoterState
from skliquid.diversity import FeatureMap, VoterSpec
from skliquid.fitted.fitted_votes import Fitted
from skliquid.mechanisms import as_mechanism
from skliquid.pools import pool_for
from skliquid.tables.table_encoder import TableEncoder
from skliquid.training import Training
from skliquid.validation.limits import MAX_THREADS

_Average = OverallAverage | RecentAverage | DecayedAverage
_MAX_COLUMNS_TRIED = 2**18


@storable
@dataclass(frozen=True, eq=False)
class StoredTraining:
    """A training, with the state of its voters in place of their pool."""

    graph: DelegationGraph
    competence_average: _Average
    accuracy_average: _Average
    calibration: Calibration
    group: GroupAnswers | None
    record: TrainingRecord
    rng: np.random.Generator
    is_interrupted: bool
    voters: list[VoterState]

    @classmethod
    def of(cls, training: Training, kept: Any) -> "StoredTraining":
        """Return the training, with the state of the voters that are kept."""
        kept = np.arange(training.graph.n_voters) if kept is None else kept
        try:
            voters = [state.renamed(kept) for state in training.pool.state_of(kept)]
        except NotImplementedError as error:
            raise TypeError(
                f"voters must be in the pools 'linear' and 'trees': got {error}"
            ) from None
        names = [name for name in cls.__dataclass_fields__ if name != "voters"]
        return cls(**{name: getattr(training, name) for name in names}, voters=voters)

    def with_pool(self, pool: Any, spec: VoterSpec) -> Training:
        """Return the training with a pool that has the state of the voters."""
        pool.load_state(self.voters)
        self.record.voters = spec.descriptions()
        names = [name for name in self.__dataclass_fields__ if name != "voters"]
        return Training(pool=pool, **{name: getattr(self, name) for name in names})


@dataclass(frozen=True, eq=False)
class StoredEnsemble:
    """The parameters of an ensemble, and what it has learned."""

    params: dict[str, Any]
    n_features: Annotated[int, Range(1, 2**31 - 1)] | None
    feature_names: Annotated[NDArray[Any], Array("n_features")] | None
    classes: Classes | None
    n_samples_seen: Count
    dtype: Any
    new_classes: NewClasses | None
    kept: Annotated[NDArray[np.intp], Array("kept")] | None
    counts: ClassCounts
    spec: VoterSpec | None
    training: StoredTraining | None
    encoder: TableEncoder | None = None
    votes: Literal["delegated", "auto"] = "delegated"  # vote weights of earlier versions

    @classmethod
    def of(cls, ensemble: Any) -> "StoredEnsemble":
        """Return the parameters and the state of an ensemble; a cluster is not part of it."""
        params = ensemble.get_params(deep=False)
        if not isinstance(params["pool"], str):
            params["pool"] = "auto"
        fitted: Fitted = vars(ensemble).get("_fitted", Fitted())
        training = fitted.training
        return cls(
            params,
            vars(ensemble).get("n_features_in_"),
            vars(ensemble).get("feature_names_in_"),
            fitted.classes,
            fitted.n_samples_seen,
            None if fitted.dtype is None else np.dtype(fitted.dtype),
            fitted.new_classes,
            fitted.kept,
            fitted.counts,
            fitted.spec,
            None if training is None else StoredTraining.of(training, fitted.kept),
            ensemble.encoder_,
            "auto",
        )

    def restore(self, ensemble: Any) -> None:
        """Give an ensemble with these parameters its state, after checking it."""
        n_jobs = ensemble.n_jobs
        require(n_jobs is None or abs(n_jobs) <= MAX_THREADS, f"at most {MAX_THREADS} threads")
        mechanism = as_mechanism(ensemble.mechanism)
        if self.votes != "auto" and mechanism.vote_weights == "auto":  # of earlier versions
            ensemble.mechanism = replace(mechanism, vote_weights=self.votes)
        ensemble.check_parameters()
        require(self.dtype is None or self.dtype.kind == "f", "rows of floating-point numbers")
        inputs = {"n_features_in_": self.n_features, "feature_names_in_": self.feature_names}
        vars(ensemble).update({k: value for k, value in inputs.items() if value is not None})
        ensemble.encoder_ = self.encoder
        if self.encoder is not None:
            is_same = self.encoder.inputs.get("n_features_in_") == self.n_features
            require(is_same, "an encoder of its features")
        require(
            (self.training is None) == (self.spec is None), "voters with a training, or neither"
        )
        training = None if self.training is None else self._restore_training(ensemble)
        names = ("classes", "n_samples_seen", "dtype", "spec", "new_classes", "kept", "counts")
        own = {name: getattr(self, name) for name in names}
        ensemble._fitted = Fitted(training=training, **own)
        if training is not None and training.record:
            self._check_prediction(ensemble, training)

    def _restore_training(self, ensemble: Any) -> Training:
        stored, spec, classes = self.training, self.spec, self.classes
        assert stored is not None
        assert spec is not None
        require(classes is not None and self.n_features is not None, "classes and features")
        assert classes is not None
        self._check_voters(stored, len(spec.seeds))
        widths = [None if one is None else _width(one, self._n_columns) for one in spec.maps]
        for state in stored.voters:
            voters = state.voters.tolist()
            for position, place in enumerate(spec.maps_of(voters)):
                width = self._n_seen if place is None else widths[place]
                state.check_voter(position, width, len(classes))  # type: ignore[arg-type]
        pool = pool_for(ensemble.pool, spec, classes, ensemble.n_jobs)
        return stored.with_pool(pool, spec)

    @property
    def _n_columns(self) -> int | None:
        """Number of columns that the ensemble sees."""
        return self.n_features if self.encoder is None else self.encoder.n_output_columns

    @property
    def _n_seen(self) -> int | None:
        """Number of features that a voter without a feature map sees."""
        subspaces = None if self.spec is None else self.spec.subspaces
        if subspaces is None:
            return self._n_columns
        is_valid = subspaces.size and subspaces.max() < (self._n_columns or 0)
        require(is_valid, "voters that see features that exist")
        return int(subspaces.shape[1])

    def _check_voters(self, stored: StoredTraining, n_voters: int) -> None:
        """Raise unless all representatives have a state, and each voter has at most one."""
        averages = [stored.competence_average.mean, stored.accuracy_average.mean]
        is_same = {stored.graph.n_voters, *map(len, averages)} == {n_voters}
        require(is_same, f"{n_voters} voters throughout")
        record, delegation = stored.record, stored.graph.delegation
        is_same = not record or np.array_equal(record[-1].graph.delegation, delegation)
        require(is_same, "a record that ends with its graph")
        kept = np.arange(n_voters) if self.kept is None else self.kept
        is_valid = len(np.unique(kept)) == len(kept) and np.all(kept < n_voters)
        require(is_valid, "voters that are kept, none of them twice")
        for is_learned in (True, False):
            own = [state.voters for state in stored.voters if state.is_learned is is_learned]
            voters = np.concatenate([*own, kept[:0]])
            is_valid = len(np.unique(voters)) == len(voters) and np.isin(voters, kept).all()
            require(is_valid, "at most one state of each voter that is kept")
            has_all = not own or np.isin(stored.graph.representatives, voters).all()
            require(has_all, "a state of each representative")

    def _check_prediction(self, ensemble: Any, training: Training) -> None:
        """Raise unless the ensemble predicts; a row of zeros is tried if it is not too long."""
        width = self._n_columns or 0
        if width <= _MAX_COLUMNS_TRIED:
            row = np.zeros((1, width), dtype=self.dtype)
            found = ensemble._probabilities(training, row)
            is_valid = found.shape == (1, len(ensemble.classes_)) and np.isfinite(found).all()
            require(is_valid, "finite probabilities")


def _width(transformer: Any, n_features: Any) -> int:
    """Return the number of columns that a feature map gives, found with a row of zeros."""
    steps = getattr(transformer, "steps", [("", transformer)])
    is_valid = getattr(steps[0][1], "n_features_in_", n_features) == n_features
    require(is_valid, f"feature maps of {n_features} features")
    shape = 1, n_features
    row: Any = (
        np.zeros(shape) if n_features <= _MAX_COLUMNS_TRIED else scipy.sparse.csr_array(shape)
    )
    for step in FeatureMap(transformer).steps:
        row = step(row)
    require(row.ndim == 2 and row.shape[0] == 1, "feature maps that return one row for one")
    return int(row.shape[1])
