"""Ensembles: a LiquidEnsembleClassifier, what training left, and the record of it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skliquid.calibration import Calibration, GroupAnswers
from skliquid.class_weights import ClassCounts
from skliquid.delegation_graph import DelegationGraph
from skliquid.discovery import Discovery
from skliquid.diversity import FeatureMap, VoterSpec
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
    Text,
    Unfit,
    check_fields,
    floats,
    inside,
    integers,
)
from skliquid.model_file.kinds import GENERATOR
from skliquid.model_file.tables import probed
from skliquid.model_file.values import Kind
from skliquid.pools import pool_for
from skliquid.pools.learned import Learned
from skliquid.record import IncrementRecord, TrainingRecord
from skliquid.training import Training
from skliquid.voters.grown_trees import GrownTrees
from skliquid.voters.recent_rows import RecentRows

_COUNT = Integer()
_ESTIMATE = Is((MeanEstimate, RecentEstimate, DecayedEstimate))
_MOST_THREADS, _MOST_PROBED = 4096, 2**18

# The record


def _record_parts(record: TrainingRecord) -> dict[str, Any]:
    increments = record.increments
    graphs = [increments[0].before, *(one.graph for one in increments)] if increments else []
    rows = [one.rows for one in increments]
    return {
        "n_final": record.n_final,
        "n_increments": record.n_increments,
        "increments_cost": record.increments_cost,
        "final_fit_cost": record.final_fit_cost,
        "stopped": record.stopped,
        "most": record.most,
        "delegation": _smallest(_stacked([graph.delegation for graph in graphs])),
        "n_rows": _smallest(np.array([len(own) for own in rows], dtype=np.int64)),
        "first_row": np.array(
            [own.start if isinstance(own, range) else -1 for own in rows], dtype=np.int64
        ),
        "rows": _smallest(
            _joined(
                [own for own in rows if not isinstance(own, range)],
                np.int64,
            )
        ),
        "n_voters": _smallest(np.array([len(one.voters) for one in increments], dtype=np.int64)),
        "voters": _smallest(_joined([one.voters for one in increments], np.int64)),
        "accuracy": _joined([one.accuracy for one in increments], np.float64),
        "competence": _joined([one.competence for one in increments], np.float64),
        "n_trained": _smallest(np.array([one.n_trained for one in increments], dtype=np.int64)),
        "cost": _smallest(np.array([one.cost for one in increments], dtype=np.int64)),
        "eval_accuracy": np.array([one.eval_accuracy for one in increments], dtype=np.float64),
    }


def _record(
    delegation: Any, n_rows: Any, first_row: Any, rows: Any, n_voters: Any, **more: Any
) -> TrainingRecord:
    names = ("n_final", "n_increments", "increments_cost", "final_fit_cost", "stopped", "most")
    record = TrainingRecord(**{name: more[name] for name in names})
    n = len(n_rows)
    if n > record.n_increments or len(delegation) != (n + 1 if n else 0):
        raise Unfit("a record with a graph before and after each increment")
    graphs = [DelegationGraph(own) for own in delegation]
    is_range = first_row >= 0
    all_rows = _split(rows, np.where(is_range, 0, n_rows))
    parts = [_split(more[name], n_voters) for name in ("voters", "accuracy", "competence")]
    for k, (voters, accuracy, competence) in enumerate(zip(*parts, strict=True)):
        start, length = int(first_row[k]), int(n_rows[k])
        if not np.array_equal(voters, graphs[k].representatives):
            raise Unfit("a record of the representatives of each increment")
        record.increments.append(
            IncrementRecord(
                increment=record.n_increments - n + k + 1,
                rows=range(start, start + length) if is_range[k] else all_rows[k],
                voters=graphs[k].representatives,
                accuracy=accuracy,
                competence=competence,
                before=graphs[k],
                graph=graphs[k + 1],
                n_trained=int(more["n_trained"][k]),
                cost=int(more["cost"][k]),
                eval_accuracy=float(more["eval_accuracy"][k]),
            )
        )
    return record


def _split(values: Any, lengths: Any) -> list[Any]:
    """Return consecutive parts of an array."""
    ends = np.cumsum(lengths.astype(np.int64))
    if len(values) != (ends[-1] if len(ends) else 0):
        raise Unfit("arrays with as many values as increments need")
    return np.split(values, ends[:-1]) if len(ends) else []


def _joined(arrays: Sequence[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    return np.concatenate([*arrays, np.empty(0, dtype=dtype)])


def _stacked(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return np.stack(arrays) if arrays else np.empty((0, 0), dtype=np.int64)


def _smallest(values: NDArray[Any]) -> NDArray[Any]:
    """Return whole numbers of zero or more in the type that takes the fewest bytes."""
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))


_PER_INCREMENT = integers("increments")
RECORD = Kind(
    "TrainingRecord",
    TrainingRecord,
    {
        "n_final": Integer(1),
        "n_increments": _COUNT,
        "increments_cost": _COUNT,
        "final_fit_cost": _COUNT,
        "stopped": Maybe(Text()),
        "most": Maybe(Integer(1)),
        "delegation": integers("graphs", "voters of a graph"),
        "n_rows": _PER_INCREMENT,
        "first_row": integers("increments", low=-1),
        "rows": integers("listed rows"),
        "n_voters": _PER_INCREMENT,
        "voters": integers("all voters"),
        "accuracy": floats("all voters", may_be_nan=True),
        "competence": floats("all voters", may_be_nan=True),
        "n_trained": _PER_INCREMENT,
        "cost": _PER_INCREMENT,
        "eval_accuracy": floats("increments", may_be_nan=True),
    },
    _record_parts,
    _record,
)

# What voters have learned

_LEARNED: dict[str, dict[str, Check]] = {
    "linear": {
        "coef": floats("voters", "separators", "features"),
        "average": floats("voters", "separators", "averaged"),
        "intercept": floats("voters", "separators"),
        "average_intercept": floats("voters", "separators"),
        "shows_average": integers("voters", "separators", high=1),
        "steps": floats("voters", "separators", low=1),
        "n_iter": integers("voters", "separators"),
    },
    "trees": {
        "n_grown_": Items(_COUNT, name="voters"),
        "n_seen_": Items(_COUNT, name="voters"),
        "n_visits_": Items(_COUNT, name="voters"),
        "_turns": Items(Is((float, int)), name="voters"),
        "trees_": Items(Is((GrownTrees,)), name="voters"),
        "base_scores_": Items(Maybe(floats("outputs")), name="voters"),
        "rows_of": integers("voters"),
    },
    "samples": {"generators": Items(Is((GENERATOR.cls,)), name="voters")},
}
_SHARED: dict[str, dict[str, Check]] = {
    "linear": {"n_features": Integer(1, 2**31 - 1), "columns": Maybe(integers("features"))},
    "trees": {"rows": Items(Is((RecentRows,)))},
    "samples": {},
}


def _learned_parts(learned: Learned) -> dict[str, Any]:
    voters, own = _smallest(learned.voters), dict(learned.own)
    return {"of": learned.kind, "voters": voters, "own": own, "shared": dict(learned.shared)}


def _learned(of: str, voters: Any, own: dict[str, Any], shared: dict[str, Any]) -> Learned:
    lengths = {"voters": len(voters)}
    for found, fields in ((own, _LEARNED[of]), (shared, _SHARED[of])):
        if found.keys() != fields.keys():
            raise Unfit(f"what voters have learned: {', '.join(fields)}")
        check_fields(found, fields, lengths)
    if of == "linear" and own["average"].shape[2] not in (0, own["coef"].shape[2]):
        raise Unfit("averaged coefficients of all features, or of none")
    if of == "trees" and len(voters) and own["rows_of"].max() >= len(shared["rows"]):
        raise Unfit("rows that are there")
    return Learned(of, voters.astype(np.intp), own, shared)


LEARNED = Kind(
    "Learned",
    Learned,
    {
        "of": Text(tuple(_LEARNED)),
        "voters": integers("voters"),
        "own": Keyed(),
        "shared": Keyed(),
    },
    _learned_parts,
    _learned,
)

# The ensemble


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
        raise Unfit(f"of voters that are linear or trees of skliquid.voters: got {error}") from None
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
    if set(sizes) != {n_voters} or n_voters != ensemble.n_estimators:
        raise Unfit(f"an ensemble of {n_voters} voters throughout")
    kept = np.arange(n_voters) if kept is None else kept
    if len(np.unique(kept)) < len(kept) or np.any(kept >= n_voters):
        raise Unfit("voters that are kept, none of them twice")
    _check_who_learned(learned, graph, kept)
    pool = pool_for(ensemble.pool, spec, fitted["classes"], ensemble.n_jobs)
    for part in learned:
        _check_learned(part, spec, len(fitted["classes"]), n_features)
    pool.restore(learned)
    record = parts["record"]
    if record and not np.array_equal(record[-1].graph.delegation, graph.delegation):
        raise Unfit("a record that ends with the graph")
    record.voters = spec.descriptions()
    return Training(pool=pool, **parts)


def _check_who_learned(parts: Sequence[Learned], graph: DelegationGraph, kept: Any) -> None:
    """Raise unless all representatives have learned, and each voter once."""
    has_learned = np.zeros(graph.n_voters, dtype=np.intp)
    for part in parts:
        if np.any(part.voters >= graph.n_voters):
            raise Unfit("voters that exist")
        if part.kind != "samples":
            np.add.at(has_learned, part.voters, 1)
    if has_learned.max(initial=0) > 1 or not has_learned[graph.representatives].all():
        raise Unfit("voters that have learned, each of them once, and all representatives")
    if not np.isin(np.flatnonzero(has_learned), kept).all():
        raise Unfit("voters that are kept")


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


def _check_learned(part: Learned, spec: VoterSpec, n_classes: int, n_features: int) -> None:
    """Raise unless voters have learned about these classes, and what they see of the rows."""
    for k, (voter, place) in enumerate(
        zip(part.voters.tolist(), spec.maps_of(part.voters.tolist()), strict=True)
    ):
        if part.kind == "samples":
            continue
        width = n_features
        if place is not None:
            width = probed_map(spec.maps[place], n_features).shape[1]
        elif spec.subspaces is not None:
            width = spec.subspaces.shape[1]
        with inside(f"voters[{voter}]"):
            _check_voter(part, k, width, n_classes)


def _check_voter(part: Learned, k: int, width: int, n_classes: int) -> None:
    if part.kind == "linear":
        columns = part.shared["columns"]
        n_known = width if columns is None else len(columns)
        shape = (1 if n_classes == 2 else n_classes, n_known)
        if part.own["coef"].shape[1:] != shape or part.shared["n_features"] != width:
            raise Unfit(f"a voter with coefficients of the shape {shape}")
        if columns is not None and (
            np.any(columns >= width) or len(np.unique(columns)) < len(columns)
        ):
            raise Unfit("a voter that knows columns that exist, none of them twice")
        return
    trees = part.own["trees_"][k]
    if trees.n_columns != width or trees.n_outputs not in (1, n_classes):
        raise Unfit("a voter with trees for these features and classes")


def probed_map(transformer: Any, n_features: int) -> Any:
    """Return a row of zeros through a feature map."""
    steps = getattr(transformer, "steps", [("", transformer)])
    if getattr(steps[0][1], "n_features_in_", n_features) != n_features:
        raise Unfit(f"a feature map of {n_features} features")
    row = np.zeros((1, n_features))
    for step in FeatureMap(transformer).steps:
        row = probed(_Step(step), row)
    return row


class _Step:
    """A step of a feature map, as a transformer."""

    def __init__(self, step: Any):
        self.transform = step


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

KINDS = [RECORD, LEARNED, ENSEMBLE]
