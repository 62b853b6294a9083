"""Ensembles: a LiquidEnsembleClassifier, and what training left."""

from typing import Any

import numpy as np

from skliquid.calibration import Calibration, GroupAnswers
from skliquid.class_weights import ClassCounts
from skliquid.delegation_graph import DelegationGraph
from skliquid.discovery import Discovery
from skliquid.diversity import VoterSpec
from skliquid.ensemble import LiquidEnsembleClassifier
from skliquid.estimates import DecayedEstimate, MeanEstimate, RecentEstimate
from skliquid.fitted import Fitted
from skliquid.model_file.estimators import check_trees, made
from skliquid.model_file.fields import (
    Check,
    Flag,
    Integer,
    Is,
    Items,
    Keyed,
    Labels,
    Maybe,
    Unfit,
    check_fields,
    integers,
)
from skliquid.model_file.learned_voters import check_learned, check_who_learned
from skliquid.model_file.values import Kind
from skliquid.pools import pool_for
from skliquid.pools.learned import Learned
from skliquid.record import TrainingRecord
from skliquid.training import Training

_COUNT = Integer()
_ESTIMATE = Is((MeanEstimate, RecentEstimate, DecayedEstimate))
_MOST_THREADS, _MOST_PROBED = 4096, 2**18


def _ensemble_parts(ensemble: LiquidEnsembleClassifier) -> dict[str, Any]:
    params = ensemble.get_params(deep=False)
    if not isinstance(params["pool"], str):
        params["pool"] = "auto"  # a cluster is not part of a model
    fitted = vars(ensemble).get("_fitted", Fitted())
    seen = {
        k: vars(ensemble)[k] for k in ("n_features_in_", "feature_names_in_") if k in vars(ensemble)
    }
    training = fitted.training
    return {
        "params": params,
        **seen,
        "classes": fitted.classes,
        "n_samples_seen": fitted.n_samples_seen,
        "dtype": None if fitted.dtype is None else np.dtype(fitted.dtype),
        "discovery": fitted.discovery,
        "kept": fitted.kept,
        "counts": fitted.counts,
        "spec": fitted.spec,
        "training": None if training is None else _training_parts(training, fitted),
    }


def _training_parts(training: Training, fitted: Fitted) -> dict[str, Any]:
    kept = np.arange(training.graph.n_voters) if fitted.kept is None else fitted.kept
    try:
        parts = [part.renamed(kept) for part in training.pool.learned(kept)]
    except NotImplementedError as error:
        raise Unfit(f"of voters in the pools 'linear' and 'trees': got {error}") from None
    return {
        "graph": training.graph,
        "competence": training.competence,
        "accuracy": training.accuracy,
        "calibration": training.calibration,
        "group": training.group,
        "record": training.record,
        "rng": training.rng,
        "is_interrupted": training.is_interrupted,
        "voters": parts,
    }


_TRAINING: dict[str, Check] = {
    "graph": Is((DelegationGraph,)),
    "competence": _ESTIMATE,
    "accuracy": _ESTIMATE,
    "calibration": Is((Calibration,)),
    "group": Maybe(Is((GroupAnswers,))),
    "record": Is((TrainingRecord,)),
    "rng": Is((np.random.Generator,)),
    "is_interrupted": Flag(),
    "voters": Items(Is((Learned,))),
}


def _ensemble(
    params: dict[str, Any], training: Any, spec: Any, n_features_in_: int | None = None, **more: Any
) -> LiquidEnsembleClassifier:
    n_jobs = params.get("n_jobs")
    if n_jobs is not None and not abs(n_jobs) <= _MOST_THREADS:
        raise Unfit(f"an ensemble with at most {_MOST_THREADS} threads: got {n_jobs}")
    ensemble: LiquidEnsembleClassifier = made(LiquidEnsembleClassifier, params)
    names = more.pop("feature_names_in_", None)
    seen = {"n_features_in_": n_features_in_, "feature_names_in_": names}
    for name, value in seen.items():
        if value is not None:
            setattr(ensemble, name, value)
    if (training is None) != (spec is None):
        raise Unfit("an ensemble with a training and what its voters are made from, or neither")
    if training is not None:
        check_fields(training, _TRAINING, {})
        if training.keys() != _TRAINING.keys() or more["classes"] is None or not n_features_in_:
            raise Unfit("an ensemble with all that training leaves")
        training = _training(ensemble, spec, more, training)
    ensemble._fitted = Fitted(training=training, spec=spec, **more)
    if training is not None and training.record:
        _probe(ensemble)
    return ensemble


def _training(
    ensemble: LiquidEnsembleClassifier, spec: VoterSpec, fitted: dict[str, Any], parts: Any
) -> Training:
    """Return the training, with a pool of voters that have learned what ``parts`` say."""
    n_voters, n_features = len(spec.seeds), ensemble.n_features_in_
    _check_spec(spec, n_voters, n_features)
    graph, kept, learned = parts["graph"], fitted["kept"], parts.pop("voters")
    sizes = [graph.n_voters, *(len(parts[name].mean) for name in ("competence", "accuracy"))]
    if set(sizes) != {n_voters}:
        raise Unfit(f"an ensemble of {n_voters} voters throughout")
    kept = np.arange(n_voters) if kept is None else kept
    if len(np.unique(kept)) < len(kept) or np.any(kept >= n_voters):
        raise Unfit("voters that are kept, none of them twice")
    check_who_learned(learned, graph, kept)
    pool = pool_for(ensemble.pool, spec, fitted["classes"], ensemble.n_jobs)
    for part in learned:
        check_learned(part, spec, len(fitted["classes"]), n_features)
    pool.restore(learned)
    record = parts["record"]
    if record and not np.array_equal(record[-1].graph.delegation, graph.delegation):
        raise Unfit("a record that ends with the graph")
    record.voters = spec.descriptions()
    return Training(pool=pool, **parts)


def _check_spec(spec: VoterSpec, n_voters: int, n_features: int) -> None:
    if not spec.estimators or (spec.params and len(spec.params) != n_voters):
        raise Unfit("voters with estimators and hyperparameters")
    if spec.subspaces is not None and (
        spec.subspaces.size == 0 or spec.subspaces.max() >= n_features
    ):
        raise Unfit("voters that see features that exist")
    places = [place for own in (spec.maps_of_kind or {}).values() for place in own]
    if any(place >= len(spec.maps) for place in places):
        raise Unfit("voters with feature maps that exist")


def _probe(ensemble: LiquidEnsembleClassifier) -> None:
    """Raise unless the ensemble answers, about a row of zeros if that is not too long."""
    training = ensemble._fitted.training
    assert training is not None
    for estimator in training.pool.estimators(training.graph.representatives):
        if hasattr(estimator, "trees_"):
            check_trees(estimator)
    if ensemble.n_features_in_ > _MOST_PROBED:
        return
    row = np.zeros((1, ensemble.n_features_in_), dtype=ensemble._fitted.dtype)
    try:
        answers = ensemble._probabilities(training, row)
    except Exception as error:  # whatever its parts lead to
        raise Unfit(f"an ensemble that answers: {type(error).__name__}: {error}") from error
    if answers.shape != (1, len(ensemble.classes_)) or not np.isfinite(answers).all():
        raise Unfit("an ensemble whose probabilities are finite")


ENSEMBLE = Kind(
    "LiquidEnsembleClassifier",
    LiquidEnsembleClassifier,
    {
        "params": Keyed(),
        "n_features_in_": Integer(1, 2**31 - 1, name="n_features"),
        "feature_names_in_": Labels("n_features", are_sorted=False),
        "classes": Maybe(Labels()),
        "n_samples_seen": _COUNT,
        "dtype": Maybe(Is((np.dtype,))),
        "discovery": Maybe(Is((Discovery,))),
        "kept": Maybe(integers("kept")),
        "counts": Is((ClassCounts,)),
        "spec": Maybe(Is((VoterSpec,))),
        "training": Maybe(Keyed()),
    },
    _ensemble_parts,
    _ensemble,
    frozenset({"n_features_in_", "feature_names_in_"}),
)

KINDS = [ENSEMBLE]
