"""The training record of whatever a display is given."""

from typing import Any

from sklearn.exceptions import NotFittedError

from skliquid.record import TrainingRecord

_LEADS_TO = ("best_estimator_", "estimator_", "ensemble", "estimator")
"""Attributes by which searches, meta-estimators and models of files lead to an ensemble."""


def record_of(estimator: Any) -> TrainingRecord:
    """Return the record of a fitted ensemble, or of the one that an estimator leads to.

    The last step of a pipeline, the best estimator of a search, and the ensemble of a model that
    was trained on a file are followed.
    """
    found = _ensemble_in(estimator)
    if found is None:
        raise TypeError(
            "estimator must be an ensemble of skliquid, or a pipeline or search that leads to one: "
            f"{type(estimator).__name__} has no record_. Give a LiquidEnsembleClassifier, or use "
            "from_record."
        )
    try:
        record: TrainingRecord = found.record_
    except AttributeError as error:
        raise NotFittedError(
            f"This {type(found).__name__} is not fitted yet, so there is nothing to show: call fit "
            "or partial_fit."
        ) from error
    return checked_record(record)


def checked_record(record: TrainingRecord) -> TrainingRecord:
    """Return the record, if it has increments."""
    if not isinstance(record, TrainingRecord):
        raise TypeError(
            f"record must be a TrainingRecord: got {type(record).__name__}. Give ensemble.record_, "
            "or use from_estimator."
        )
    if not record.increments:
        raise NotFittedError(
            "record must have increments, of which there are none: call fit or partial_fit."
        )
    return record


def _ensemble_in(estimator: Any) -> Any:
    """Return what has a record, at the end of pipelines and inside of searches; None if nothing."""
    if hasattr(type(estimator), "record_"):
        return estimator
    if isinstance(steps := getattr(estimator, "steps", None), list):
        return _ensemble_in(steps[-1][1])
    for name in _LEADS_TO:
        if (inner := getattr(estimator, name, None)) is not None:
            return _ensemble_in(inner)
    return None
