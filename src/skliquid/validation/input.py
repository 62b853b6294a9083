"""Input: rows, labels and weights, checked once when they come in."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.utils import check_array, get_tags
from sklearn.utils import check_X_y as sklearn_check_X_y
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import has_fit_parameter, validate_data

from skliquid.validation.data_types import (
    check_convertible_labels,
    conversion_of,
    converted_weights,
    convertible_rows,
    is_missing,
)
from skliquid.validation.user_warnings import warn_user

_MAX_CLASSES_NAMED = 5
_MIN_ANSWERS = 100  # on fewer, one class may win by chance
_LARGE_NUMBER, _MAX_ROWS_READ = 30, 1_000


def check_X(ensemble: Any, X: Any, *, reset: bool = False, **y: Any) -> Any:
    """Return ``X``, and ``y`` if given, as arrays that every voter of ``ensemble`` accepts."""
    X = convertible_rows(X)
    for labels in y.values():
        check_convertible_labels(labels)
    tags = get_tags(ensemble).input_tags
    options: dict[str, Any] = {
        "accept_sparse": "csr" if tags.sparse else False,
        "dtype": [np.float64, np.float32],
        "order": "C",  # products in another order may differ in the last bit
        "ensure_all_finite": "allow-nan" if tags.allow_nan else True,
    }
    if not reset and not y and (numbers := _numbers_of_frame(ensemble, X)) is not None:
        with _text_refused(X):
            return check_array(numbers, estimator=ensemble, input_name="X", **options)
    _check_other_names(ensemble, X, reset=reset)
    with conversion_of("X"), _text_refused(X):
        return validate_data(ensemble, X, reset=reset, **options, **y)


def _numbers_of_frame(ensemble: Any, X: Any) -> NDArray[Any] | None:
    """Return a pandas frame with the columns of training as an array, or None; a fast path."""
    known = getattr(ensemble, "feature_names_in_", None)
    if known is None or not hasattr(X, "iloc") or not np.array_equal(X.columns, known):
        return None
    numbers: NDArray[Any] = X.to_numpy()
    return numbers if numbers.dtype.kind in "iufb" else None


def _check_other_names(ensemble: Any, X: Any, *, reset: bool) -> None:
    """Raise if columns have other names than in training, which scikit-learn checks for strings."""
    names = list(X.columns) if hasattr(X, "iloc") and hasattr(X, "columns") else []
    names = [] if all(isinstance(name, str) for name in names) else names
    if reset:
        ensemble.__dict__["_other_names"] = names
    known = ensemble.__dict__.get("_other_names")
    if names and known and names != known:
        raise ValueError(
            f"X must have the columns of training in their order: got {names!r:.100} instead of "
            f"{known!r:.100}. Reorder them, or train again."
        )


@contextmanager
def _text_refused(X: Any) -> Iterator[None]:
    """Name the column and the way out where ``X`` holds text, or numbers that are not finite."""
    try:
        yield
    except ValueError as error:
        for name, column in X.items() if hasattr(X, "columns") and hasattr(X, "iloc") else ():
            _check_numbers(column, name)
        if "could not convert string" not in str(error):
            raise
        raise ValueError(
            f"X must hold numbers, or be a data frame: {error}. For columns of categories, dates "
            "or text, give a data frame, such as pandas.DataFrame(X)."
        ) from error


def _check_numbers(column: Any, name: Any) -> None:
    for value in column.tolist():
        try:
            is_finite = is_missing(value) or not np.isinf(float(value))
        except (TypeError, ValueError):
            raise ValueError(
                f"X must have numbers in the column {name!r}, as in training: got {value!r}. "
                "Convert the column, or train again."
            ) from None
        if not is_finite:
            raise ValueError(
                f"X must hold finite numbers: the column {name!r} holds an infinite one. Replace "
                "it, or leave it missing."
            )


def check_X_y(ensemble: Any, X: Any, y: Any, *, reset: bool = False) -> tuple[Any, NDArray[Any]]:
    """Return rows and labels as arrays."""
    X, y = check_X(ensemble, X, reset=reset, y=y)
    check_classification_targets(y)
    return X, y


def check_labels(y: Any, n_rows: int) -> NDArray[Any]:
    """Return the labels of ``n_rows`` rows of a table as an array."""
    check_convertible_labels(y)
    _, labels = sklearn_check_X_y(np.zeros((n_rows, 1)), y, dtype=None)
    check_classification_targets(labels)
    return np.asarray(labels)


def check_sample_weight(
    sample_weight: Any, n_rows: int, estimators: Sequence[Any]
) -> NDArray[np.float64] | None:
    """Return one weight per row, or None when all rows count the same."""
    if sample_weight is None:
        return None
    check_take_weights(estimators, parameter="sample_weight")
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


def takes_sample_weight(estimator: Any) -> bool:
    """Return whether ``estimator`` can give rows different weights."""
    if has_fit_parameter(estimator, "sample_weight"):
        return True
    is_routed = get_config()["enable_metadata_routing"]  # otherwise requests are ignored
    return is_routed and bool(get_routing_for_object(estimator).consumes("fit", ["sample_weight"]))


def warn_if_one_class_wins(
    n_predicted: NDArray[np.int64], n_actual: NDArray[np.int64], classes: NDArray[Any]
) -> None:
    """Warn if the group predicted one class for all rows before training on them, wrongly.

    ``n_predicted`` and ``n_actual`` count the rows per predicted and per actual class.
    """
    n_rows = int(n_actual.sum())
    if n_rows < _MIN_ANSWERS:
        return
    if np.count_nonzero(n_predicted) > 1 or np.count_nonzero(n_actual) == 1:
        return
    winner = classes[np.argmax(n_predicted)]
    shares = n_actual / n_actual.sum()
    most_common = np.argsort(-shares, kind="stable")[:_MAX_CLASSES_NAMED]
    named = ", ".join(f"{shares[k]:.1%} {classes[k]!s}" for k in most_common)
    more = " and others" if len(classes) > len(most_common) else ""
    warn_user(
        f"The ensemble predicted the class {winner!s} for all {n_rows} rows that it was "
        f"asked about before training on them, but the rows are {named}{more}. If the other "
        "classes matter, set class_weight='balanced' (--class-weight balanced), or choose a "
        "threshold for predict_proba, for example with "
        "sklearn.model_selection.TunedThresholdClassifierCV."
    )


def warn_if_unscaled(X: Any, estimators: Sequence[Any], *, have_maps: bool) -> None:
    """Warn if all voters are linear and see large numbers, from which they learn badly."""
    are_linear = all(isinstance(voter, SGDClassifier | Perceptron) for voter in estimators)
    if not are_linear or have_maps or scipy.sparse.issparse(X):
        return
    sample = X[:: -(-len(X) // _MAX_ROWS_READ)].astype(np.float64)
    with np.errstate(over="ignore"):
        sizes = np.sqrt(np.mean(sample**2, axis=0))
    if sizes.max() > _LARGE_NUMBER:
        warn_user(
            f"Linear voters learn badly from large numbers: those of column {sizes.argmax()} are "
            f"of the size {sizes.max():.2g} (root mean square). Scale X, for example with "
            "make_pipeline(StandardScaler(), ensemble), or leave estimator out: the default voters "
            "scale X by themselves.",
            ConvergenceWarning,
        )


def check_two_classes(y: NDArray[Any], *, n_classes: int = 1) -> None:
    """Raise unless ``y``, the labels with a weight above zero, holds two classes.

    ``n_classes`` is the number of classes of all rows, if ``y`` are those of a sample.
    """
    if len(y) == 0:
        raise ValueError(
            "sample_weight and class_weight must be above zero for some rows: all are zero. Give "
            "rows of at least two classes a positive weight."
        )
    if len(np.unique(y)) == 1 < n_classes:
        raise ValueError(
            f"max_rows must leave rows of two classes: the {len(y)} rows that were drawn are all "
            f"of the class {y.tolist()[0]!r}. Raise max_rows, or give fewer rows of this class."
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


def encode(y: NDArray[Any], classes: NDArray[Any], *, name: str = "y") -> NDArray[np.intp]:
    """Return the position of each label of ``y`` in ``classes``."""
    unknown = [label for label in np.unique(y).tolist() if label not in set(classes.tolist())]
    if unknown:
        raise ValueError(
            f"{name} must hold known classes only: {unknown[0]!r} is not among "
            f"{classes.tolist()}. Correct the label, or make it known: to partial_fit by classes "
            "in the first call, to fit by a row in y."
        )
    return np.searchsorted(classes, y)


def check_eval_set(
    check: Callable[[Any, Any], tuple[Any, Any]], eval_set: Any, classes: NDArray[Any]
) -> tuple[Any, NDArray[np.intp]] | None:
    """Return the rows of the evaluation set, by ``check``, and the positions of their classes."""
    if eval_set is None:
        return None
    is_list = isinstance(eval_set, list) and len(eval_set) == 1  # as LightGBM takes it
    pair = eval_set[0] if is_list else eval_set
    if not isinstance(pair, tuple) or len(pair) != 2:
        is_sized = isinstance(eval_set, tuple | list)
        length = f" of length {len(eval_set)}" if is_sized else ""
        raise ValueError(
            "eval_set must be one pair (X, y), or a list with one such pair: got "
            f"{type(eval_set).__name__}{length}. Give eval_set=(X_test, y_test)."
        )
    X, y = check(*pair)
    return X, encode(y, classes, name="y of eval_set")


def check_has_classes(ensemble: Any, n_samples_seen: int) -> None:
    """Raise when rows have come to ``partial_fit``, but no two classes yet."""
    if n_samples_seen and not ensemble.__sklearn_is_fitted__():
        raise NotFittedError(
            f"This {type(ensemble).__name__} is not fitted yet: the {n_samples_seen} rows so far, "
            "without those of weight zero, hold one class at most. Continue with partial_fit on "
            "rows of another class."
        )
