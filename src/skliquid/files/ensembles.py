"""Ensembles: a LiquidEnsembleClassifier and the state of its training."""

from typing import Any

import numpy as np

from skliquid.delegation.calibration import Calibration, GroupAnswers
from skliquid.delegation.class_weights import ClassCounts
from skliquid.delegation.graph import DelegationGraph
from skliquid.delegation.new_classes import NewClasses
from skliquid.delegation.record import TrainingRecord
from skliquid.delegation.running_averages import DecayedAverage, OverallAverage, RecentAverage
from skliquid.delegation.voter_pool import VoterState
from skliquid.diversity import VoterSpec
from skliquid.ensemble import LiquidEnsembleClassifier
from skliquid.files.estimators import check_leaves, create_estimator
from skliquid.files.fields import (
    Boolean,
    Check,
    DictOf,
    InstanceOf,
    Integer,
    InvalidField,
    Labels,
    ListOf,
    Maybe,
    check_fields,
    integers,
    require,
)
from skliquid.files.values import StoredType
from skliquid.files.voter_states import check_state, check_voters
from skliquid.fitted import Fitted
from skliquid.pools import pool_for
from skliquid.training import Training
from skliquid.validation.limits import MAX_THREADS

_AVERAGE = InstanceOf((OverallAverage, RecentAverage, DecayedAverage))
_TRAINING: dict[str, Check] = {
    "graph": InstanceOf(DelegationGraph),
    "competence_average": _AVERAGE,
    "accuracy_average": _AVERAGE,
    "calibration": InstanceOf(Calibration),
    "group": Maybe(InstanceOf(GroupAnswers)),
    "record": InstanceOf(TrainingRecord),
    "rng": InstanceOf(np.random.Generator),
    "is_interrupted": Boolean(),
    "voters": ListOf(InstanceOf(VoterState)),
}
_INPUTS: dict[str, Check] = {
    "n_features_in_": Integer(1, 2**31 - 1, name="n_features"),
    "feature_names_in_": Labels("n_features", are_sorted=False),
}
_MAX_COLUMNS_TRIED = 2**18


def _ensemble_fields(ensemble: LiquidEnsembleClassifier) -> dict[str, Any]:
    params = ensemble.get_params(deep=False)
    if not isinstance(params["pool"], str):
        params["pool"] = "auto"  # a cluster is not part of a model
    fitted = vars(ensemble).get("_fitted", Fitted())
    training = fitted.training
    return {
        "params": params,
        **{name: vars(ensemble)[name] for name in _INPUTS if name in vars(ensemble)},
        "classes": fitted.classes,
        "n_samples_seen": fitted.n_samples_seen,
        "dtype": None if fitted.dtype is None else np.dtype(fitted.dtype),
        "new_classes": fitted.new_classes,
        "kept": fitted.kept,
        "counts": fitted.counts,
        "spec": fitted.spec,
        "training": None if training is None else _training_fields(training, fitted.kept),
    }


def _training_fields(training: Training, kept: Any) -> dict[str, Any]:
    kept = np.arange(training.graph.n_voters) if kept is None else kept
    try:
        voters = [state.renamed(kept) for state in training.pool.state_of(kept)]
    except NotImplementedError as error:
        raise InvalidField(f"of voters in the pools 'linear' and 'trees': got {error}") from None
    parts = {name: getattr(training, name) for name in _TRAINING if name != "voters"}
    return {**parts, "voters": voters}


def _ensemble(
    params: dict[str, Any], training: Any, spec: Any, **rest: Any
) -> LiquidEnsembleClassifier:
    n_jobs = params.get("n_jobs")
    if n_jobs is not None and not abs(n_jobs) <= MAX_THREADS:
        raise InvalidField(f"an ensemble with at most {MAX_THREADS} threads: got {n_jobs}")
    ensemble: LiquidEnsembleClassifier = create_estimator(LiquidEnsembleClassifier, params)
    inputs = {name: rest.pop(name) for name in _INPUTS if name in rest}
    ensemble.__dict__.update(inputs)
    is_valid = (training is None) == (spec is None)
    require(is_valid, "an ensemble with a training and a specification of voters, or neither")
    if training is not None:
        check_fields(training, _TRAINING, {})
        is_complete = training.keys() == _TRAINING.keys() and rest["classes"] is not None
        require(is_complete and "n_features_in_" in inputs, "an ensemble with a complete training")
        training = _training(ensemble, spec, rest, training)
    ensemble._fitted = Fitted(training=training, spec=spec, **rest)
    if training is not None and training.record:
        _check_predictions(ensemble, training)
    return ensemble


def _training(
    ensemble: LiquidEnsembleClassifier, spec: VoterSpec, fitted: dict[str, Any], parts: Any
) -> Training:
    """Return the training in ``parts``, with a new pool that has the state of its voters."""
    n_voters, n_features = len(spec.seeds), ensemble.n_features_in_
    _check_spec(spec, n_voters, n_features)
    graph, states = parts["graph"], parts.pop("voters")
    averages = [parts[name].mean for name in ("competence_average", "accuracy_average")]
    is_same = {graph.n_voters, *map(len, averages)} == {n_voters}
    require(is_same, f"an ensemble of {n_voters} voters throughout")
    kept = np.arange(n_voters) if fitted["kept"] is None else fitted["kept"]
    is_valid = len(np.unique(kept)) == len(kept) and np.all(kept < n_voters)
    require(is_valid, "voters that are kept, none of them twice")
    check_voters(states, graph, kept)
    pool = pool_for(ensemble.pool, spec, fitted["classes"], ensemble.n_jobs)
    for state in states:
        check_state(state, spec, len(fitted["classes"]), n_features)
    pool.load_state(states)
    record = parts["record"]
    is_same = not record or np.array_equal(record[-1].graph.delegation, graph.delegation)
    require(is_same, "a record that ends with the graph")
    record.voters = spec.descriptions()
    return Training(pool=pool, **parts)


def _check_spec(spec: VoterSpec, n_voters: int, n_features: int) -> None:
    is_valid = spec.estimators and len(spec.params) in (0, n_voters)
    require(is_valid, "voters with estimators and hyperparameters")
    features = spec.subspaces
    is_valid = features is None or (features.size > 0 and features.max() < n_features)
    require(is_valid, "voters that see features that exist")
    places = [place for own in (spec.maps_by_estimator or {}).values() for place in own]
    exist = all(place < len(spec.maps) for place in places)
    require(exist, "voters with feature maps that exist")
    spec.check_voters()


def _check_predictions(ensemble: LiquidEnsembleClassifier, training: Training) -> None:
    """Raise unless the ensemble predicts; a row of zeros is tried if it is not too long."""
    for estimator in training.pool.estimators(training.graph.representatives):
        if hasattr(estimator, "trees_"):
            check_leaves(estimator)
    if ensemble.n_features_in_ > _MAX_COLUMNS_TRIED:
        return
    row = np.zeros((1, ensemble.n_features_in_), dtype=ensemble._fitted.dtype)
    try:
        found = ensemble._probabilities(training, row)
    except Exception as error:  # its parts may lead to any
        raise InvalidField(f"an ensemble that predicts: {type(error).__name__}: {error}") from error
    is_valid = found.shape == (1, len(ensemble.classes_)) and np.isfinite(found).all()
    require(is_valid, "an ensemble whose probabilities are finite")


ENSEMBLE_TYPES = [
    StoredType(
        "LiquidEnsembleClassifier",
        LiquidEnsembleClassifier,
        {
            "params": DictOf(),
            **_INPUTS,
            "classes": Maybe(Labels()),
            "n_samples_seen": Integer(),
            "dtype": Maybe(InstanceOf(np.dtype)),
            "new_classes": Maybe(InstanceOf(NewClasses)),
            "kept": Maybe(integers("kept")),
            "counts": InstanceOf(ClassCounts),
            "spec": Maybe(InstanceOf(VoterSpec)),
            "training": Maybe(DictOf()),
        },
        _ensemble_fields,
        _ensemble,
        frozenset(_INPUTS),
    )
]
