"""Fitted records: the training record of an ensemble, pipeline, search or streamed model."""

from typing import Any, cast

from sklearn.exceptions import NotFittedError

from skliquid.delegation.record import TrainingRecord

# Attributes with the ensemble of searches, meta-estimators and streamed models
_INNER = ("best_estimator_", "estimator_", "ensemble", "estimator")

COMPETENCE_UNITS = {  # by the measure in a record
    "contribution": "change of Brier score, positive is better",
    "prequential": "accuracy on new rows",
    "training": "accuracy on rows trained on",
}


def record_of(trained: Any, parameter: str = "estimator") -> TrainingRecord:
    """Return the record of a fitted ensemble or of the one inside; errors name ``parameter``."""
    ensemble, record = _find_ensemble(trained), cast("TrainingRecord | None", trained)
    if ensemble is not None:
        record = getattr(ensemble, "record_", None)
    elif not isinstance(trained, TrainingRecord):
        raise TypeError(
            f"{parameter} must be a fitted ensemble, a pipeline, search or StreamedModel that "
            f"contains one, or a TrainingRecord: got {type(trained).__name__}. Give the object "
            "that fit, prune or train_on returns."
        )
    if record is None:
        raise NotFittedError(
            f"{parameter} must be fitted: this {type(ensemble).__name__} is not fitted yet. Call "
            "fit or partial_fit first."
        )
    if not record.increments:
        raise NotFittedError(
            f"{parameter} must have an increment: got none. Call fit or partial_fit first."
        )
    return record


def estimators_of(record: TrainingRecord) -> list[str]:
    """Return the estimator of each voter; empty names if the record does not describe voters."""
    return [voter.estimator for voter in record.voters] or [""] * record[-1].graph.n_voters


def competence_unit(record: TrainingRecord) -> str:
    """Return the unit of competence; empty if the record does not know it."""
    return COMPETENCE_UNITS.get(record.competence_measure, "")


def _find_ensemble(trained: Any) -> Any:
    """Return the object with a record: the estimator, its last step or inner estimator, or None."""
    if hasattr(type(trained), "record_"):
        return trained
    if isinstance(steps := getattr(trained, "steps", None), list | tuple) and steps:
        return _find_ensemble(steps[-1][1])
    for name in _INNER:
        if (inner := getattr(trained, name, None)) is not None:
            return _find_ensemble(inner)
    return None
