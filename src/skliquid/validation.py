"""Validation: rows, labels and weights, checked once when they come in."""

from collections.abc import Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import validate_data

from skliquid.arrays import Floats, Labels, Voters
from skliquid.calibration import GroupAnswers
from skliquid.conversion import (
    check_convertible_labels,
    conversion_of,
    converted_weights,
    convertible_rows,
)
from skliquid.diversity import VoterSpec
from skliquid.pools import takes_sample_weight
from skliquid.rows import Rows
from skliquid.training import Rules, Training
from skliquid.user_warnings import warn_user

_MOST_CLASSES_TO_NAME = 5
_FEWEST_ANSWERS = 100  # on fewer, one class may win by chance
_LARGE, _ROWS_TO_LOOK_AT = 30, 1_000


class EvalSet(NamedTuple):
    """Rows on which the ensemble is evaluated during training, and the number of classes."""

    rows: Rows
    n_classes: int


def check_X(ensemble: Any, X: Any, *, reset: bool = False, **y: Any) -> Any:
    """Return ``X``, and ``y`` if given, as arrays that every voter of ``ensemble`` accepts."""
    X = convertible_rows(X)
    for labels in y.values():
        check_convertible_labels(labels)
    tags = get_tags(ensemble).input_tags
    with conversion_of("X"):
        return validate_data(
            ensemble,
            X,
            reset=reset,
            accept_sparse="csr" if tags.sparse else False,
            dtype=[np.float64, np.float32],
            order="C",  # products in another order may differ in the last bit
            ensure_all_finite="allow-nan" if tags.allow_nan else True,
            **y,
        )


def check_X_y(ensemble: Any, X: Any, y: Any, *, reset: bool = False) -> tuple[Any, NDArray[Any]]:
    """Return rows and labels as arrays."""
    X, y = check_X(ensemble, X, reset=reset, y=y)
    check_classification_targets(y)
    return X, y


def check_rows(
    ensemble: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    estimators: Sequence[Any],
    *,
    n_seen: int = 0,
    reset: bool = False,
) -> Rows:
    """Return the rows to train on, numbered from ``n_seen``, with labels as given."""
    X, y = check_X_y(ensemble, X, y, reset=reset)
    weights = check_sample_weight(sample_weight, X, estimators)
    return Rows(X, y, weights, range(n_seen, n_seen + len(y)))


def check_sample_weight(sample_weight: Any, X: Any, estimators: Sequence[Any]) -> Floats | None:
    """Return one weight per row, or None when all rows count the same."""
    if sample_weight is None:
        return None
    check_take_weights(estimators, parameter="sample_weight")
    n_rows = X.shape[0]
    if isinstance(sample_weight, Real) or getattr(sample_weight, "shape", None) == ():
        sample_weight = np.full(n_rows, sample_weight)
    weights = converted_weights(sample_weight)
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must hold one number per row: got the shape {weights.shape} for "
            f"{n_rows} rows. Give an array of shape ({n_rows},)."
        )
    if weights.min() < 0:
        raise ValueError(
            f"sample_weight must not be negative: got {weights.min()}. Give the weight 0 to a row "
            "that should not count."
        )
    return weights


def check_take_weights(estimators: Sequence[Any], *, parameter: str) -> None:
    """Raise when ``parameter`` is given to voters that cannot give rows different weights."""
    for estimator in estimators:
        if not takes_sample_weight(estimator):
            raise ValueError(
                f"{parameter} must not be given to voters that cannot use it: "
                f"{type(estimator).__name__}.fit has no parameter sample_weight. Leave it out or "
                "choose another estimator."
            )


def warn_if_one_class_wins(group: GroupAnswers | None, classes: NDArray[Any]) -> None:
    """Warn when the group gave all rows one class before training on them, and it was wrong."""
    if group is None or group.n_rows < _FEWEST_ANSWERS:
        return
    if np.count_nonzero(group.n_predicted) > 1 or np.count_nonzero(group.n_actual) == 1:
        return
    winner = classes[np.argmax(group.n_predicted)]
    shares = group.n_actual / group.n_actual.sum()
    most_common = np.argsort(-shares, kind="stable")[:_MOST_CLASSES_TO_NAME]
    named = ", ".join(f"{shares[k]:.1%} {classes[k]!s}" for k in most_common)
    more = " and others" if len(classes) > len(most_common) else ""
    warn_user(
        f"The ensemble predicted the class {winner!s} for all {group.n_rows} rows that it was "
        f"asked about before training on them, but the rows are {named}{more}. If the other "
        "classes matter, set class_weight='balanced', or choose a threshold for predict_proba, "
        "for example with sklearn.model_selection.TunedThresholdClassifierCV."
    )


def warn_if_unscaled(X: Any, spec: VoterSpec) -> None:
    """Warn when all voters are linear and see large numbers, from which they learn badly."""
    are_linear = all(isinstance(voter, SGDClassifier | Perceptron) for voter in spec.estimators)
    have_maps = any(one is not None for one in spec.maps)
    if not are_linear or have_maps or scipy.sparse.issparse(X):
        return
    sample = X[:: -(-len(X) // _ROWS_TO_LOOK_AT)].astype(np.float64)
    with np.errstate(over="ignore"):
        sizes = np.sqrt(np.mean(sample**2, axis=0))
    if sizes.max() > _LARGE:
        warn_user(
            f"Linear voters learn badly from large numbers: those of column {sizes.argmax()} are "
            f"of the size {sizes.max():.2g} (root mean square). Scale X, for example with "
            "make_pipeline(StandardScaler(), ensemble), or leave estimator out: the default voters "
            "scale X by themselves.",
            ConvergenceWarning,
        )


def check_two_classes(y: NDArray[Any]) -> None:
    """Raise unless ``y``, the labels with a weight above zero, holds two classes."""
    if len(y) == 0:
        raise ValueError(
            "sample_weight and class_weight must be above zero for some rows: all are zero. Give "
            "rows of at least two classes a positive weight."
        )
    if len(np.unique(y)) == 1:
        raise ValueError(
            f"y must hold at least two classes: there is only 1 class, {y.tolist()[0]!r}, among "
            "the rows with a weight above zero. Add rows of another class."
        )


def check_classes(classes: Any, known: NDArray[Any] | None) -> NDArray[Any]:
    """Return all classes, sorted, as the first call of ``partial_fit`` announced them."""
    if classes is None and known is not None:
        return known
    if np.ndim(classes) != 1:
        raise ValueError(
            f"classes must be a list of labels: got {classes!r}. Give a list, or an array of one "
            "dimension."
        )
    announced: NDArray[Any] = unique_labels(classes)
    if known is not None and not np.array_equal(announced, known):
        raise ValueError(
            "classes must be the same in every call of partial_fit: got "
            f"{announced.tolist()}, before {known.tolist()}. Leave classes out."
        )
    if len(announced) < 2:
        raise ValueError(
            f"classes must hold at least two classes: got {announced.tolist()}. Give every label "
            "that may occur."
        )
    return announced


def encode(y: NDArray[Any], classes: NDArray[Any], *, name: str = "y") -> Labels:
    """Return the position of each label of ``y`` in ``classes``."""
    unknown = [label for label in np.unique(y).tolist() if label not in set(classes.tolist())]
    if unknown:
        raise ValueError(
            f"{name} must hold known classes only: {unknown[0]!r} is not among "
            f"{classes.tolist()}. Correct the label, or make it known: to partial_fit by classes "
            "in the first call, to fit by a row in y."
        )
    return np.searchsorted(classes, y)


def check_eval_set(ensemble: Any, eval_set: Any, classes: NDArray[Any]) -> EvalSet | None:
    """Return the evaluation set, or None without one."""
    if eval_set is None:
        return None
    if not isinstance(eval_set, tuple) or len(eval_set) != 2:
        raise ValueError(
            f"eval_set must be a pair (X, y): got {type(eval_set).__name__}. Give "
            "eval_set=(X_test, y_test)."
        )
    X, y = check_X_y(ensemble, *eval_set)
    return EvalSet(Rows(X, encode(y, classes, name="y of eval_set")), len(classes))


def check_has_classes(ensemble: Any, n_samples_seen: int) -> None:
    """Raise when rows have come to ``partial_fit``, but no two classes yet."""
    if n_samples_seen and not ensemble.__sklearn_is_fitted__():
        raise NotFittedError(
            f"This {type(ensemble).__name__} is not fitted yet: the {n_samples_seen} rows so far, "
            "without those of weight zero, hold one class at most. Continue with partial_fit on "
            "rows of another class."
        )


def check_can_continue(
    training: Training, rules: Rules, n_estimators: int, kept: Voters | None
) -> None:
    """Raise when ``partial_fit`` cannot continue ``training`` with these parameters."""
    scored = rules.mechanism.scored(training.graph)
    if training.is_interrupted:
        raise ValueError(
            "partial_fit must not continue after a call that failed or was stopped within an "
            "increment: some voters have trained on its rows and some have not. Continue from a "
            "copy made before, or fit from scratch."
        )
    if n_estimators != training.graph.n_voters:
        raise ValueError(
            "n_estimators must not change between calls of partial_fit: got "
            f"{n_estimators}, but there are {training.graph.n_voters} voters. Set it back, or "
            "start from scratch with a clone."
        )
    is_measured, is_accuracy = training.accuracy.n_answers.any(), not rules.measures_contribution
    if is_measured and is_accuracy != (training.competence.variance is None):
        raise ValueError(
            "competence must not change between contribution and accuracy after the first call of "
            "partial_fit: their averages cannot be compared. Set it back, or start from scratch "
            "with a clone."
        )
    if kept is not None and len(np.setdiff1d(scored, kept)):
        raise ValueError(
            "mechanism must be revocable from the first call of partial_fit: delegators were "
            "dropped, so none can return. Set the mechanism back, or start from scratch with a "
            "clone."
        )
