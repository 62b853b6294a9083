"""Checks at the door; the only module that uses scikit-learn's private names."""

from collections.abc import Collection, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags, check_array, check_consistent_length, column_or_1d, get_tags
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt, StrOptions
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import validate_data

from skliquid.arrays import Floats, Labels, Voters
from skliquid.pools.estimator_pool import learns_by_increments, takes_sample_weight
from skliquid.pools.linear_pool import unsupported

_COMPRESSED: dict[str, Any] = {
    "csr": scipy.sparse.csr_array,
    "csc": scipy.sparse.csc_array,
    "bsr": scipy.sparse.bsr_array,
}
_MADE_OF_LISTS = ("lil", "dok", "dia")

Constraint: TypeAlias = Any
Composition: TypeAlias = _BaseComposition

positive_integer: Constraint = Interval(Integral, 1, None, closed="left")
share: Constraint = Interval(Real, 0, 1, closed="both")
positive_share: Constraint = Interval(RealNotInt, 0, 1, closed="right")
share_below_one: Constraint = Interval(RealNotInt, 0, 1, closed="neither")
positive_real: Constraint = Interval(Real, 0, None, closed="neither")


def one_of(names: Sequence[str] | Mapping[str, Any]) -> Constraint:
    """Return the constraint that a parameter is one of ``names``."""
    return StrOptions(set(names))


def has_methods(*methods: str) -> Constraint:
    """Return the constraint that a parameter is an object with ``methods``."""
    return HasMethods(list(methods))


def check_parameters(ensemble: Any) -> None:
    """Raise unless every parameter of ``ensemble`` is allowed, alone and with the others."""
    ensemble._validate_params()
    if ensemble.n_final > ensemble.n_estimators:
        raise ValueError(
            f"n_final must not exceed n_estimators: {ensemble.n_final} representatives cannot "
            f"remain of {ensemble.n_estimators} voters. Lower n_final or raise n_estimators."
        )
    if ensemble.n_jobs == 0:
        raise ValueError(
            "n_jobs must not be 0: nobody would do the work. Give 1, or -1 for all cores."
        )
    rate = ensemble.delegation_rate
    if isinstance(rate, type):
        raise TypeError(
            f"delegation_rate must be an object: {rate!r} is a class. Call it, as in "
            f"{rate.__name__}(...)."
        )


def check_estimators(
    named: Sequence[Any], *, n_estimators: int, taken: Collection[str] = ()
) -> None:
    """Raise unless ``named`` pairs names, none of them ``taken``, with classifiers."""
    if not named or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in named):
        raise ValueError(
            "estimator must be a classifier or a list of (name, classifier) pairs: "
            f"{named!r} is neither. Give at least one pair."
        )
    names = [name for name, _ in named]
    if len(set(map(str, names))) < len(names) or not all(isinstance(name, str) for name in names):
        raise ValueError(
            f"estimator must have a different name, a string, in each pair: got {names!r}. "
            "Rename them."
        )
    for name in names:
        if "__" in name or name in taken:
            raise ValueError(
                "estimator must have names that are no parameters of the ensemble and hold no "
                f"double underscore: got {name!r}. Rename it."
            )
    for _, estimator in named:
        is_object = hasattr(estimator, "fit") and not isinstance(estimator, type)
        if not is_object or not is_classifier(estimator):
            raise ValueError(
                f"estimator must be a classifier: {estimator!r} is none. "
                "Give an object such as SGDClassifier()."
            )
    if len(named) > n_estimators:
        raise ValueError(
            f"n_estimators must not be below the number of estimators: {len(named)} kinds cannot "
            f"share {n_estimators} voters. Raise n_estimators or give fewer estimators."
        )


def check_final_fit(final_fit: str, estimators: Sequence[Any]) -> None:
    """Raise when a warm final fit is asked of an estimator that cannot go on from where it is."""
    for estimator in estimators:
        goes_on = hasattr(estimator, "warm_start") and learns_by_increments(estimator)
        if final_fit == "warm" and not goes_on:
            raise ValueError(
                "final_fit='warm' needs an estimator that learns by partial_fit and has the "
                f"parameter warm_start: {estimator!r} does not. Choose 'scratch' or 'none'."
            )


def check_pool(pool: Any, estimators: Sequence[Any]) -> None:
    """Raise when the linear pool is asked for voters that it does not support."""
    for estimator in estimators if pool == "linear" else ():
        reason = unsupported(estimator)
        if reason:
            raise ValueError(
                "pool='linear' needs voters that are SGDClassifier or Perceptron, with parameters "
                f"it supports: it does not support {reason}. Choose pool='auto', which takes "
                "linear voters where it can."
            )


def check_variety(feature_maps: Any, param_distributions: Any) -> None:
    """Raise unless maps are transformers, and parameters, but no seeds, are drawn from dicts."""
    for each in feature_maps if isinstance(feature_maps, list) else ():
        is_transformer = hasattr(each, "fit") and hasattr(each, "transform")
        if isinstance(each, type) or not (is_transformer or _is_passthrough(each)):
            raise ValueError(
                "feature_maps must hold transformers, or 'passthrough' for rows as they are: "
                f"{each!r} is neither. Give objects such as RBFSampler()."
            )
    is_list = isinstance(param_distributions, list)
    for each in param_distributions if is_list else [param_distributions]:
        if is_list and not isinstance(each, dict):
            raise TypeError(
                f"param_distributions must be a dict or a list of dicts: {each!r} in it is none. "
                "Give lists or distributions by the names of parameters."
            )
        if isinstance(each, dict) and "random_state" in each:
            raise ValueError(
                "param_distributions must not draw random_state: each voter has a seed of its own, "
                f"not one of {each['random_state']!r}. Set the ensemble's random_state instead."
            )


def _is_passthrough(value: Any) -> bool:
    return isinstance(value, str) and value == "passthrough"


def n_features_seen(max_features: Any, n_features: int) -> int:
    """Return how many of ``n_features`` each voter looks at: all, where it asks for more."""
    if isinstance(max_features, Integral):
        return min(int(max_features), n_features)
    return max(int(max_features * n_features), 1)


def check_max_samples(max_samples: Any) -> None:
    """Raise when a number of rows is asked of data whose end is not known."""
    if max_samples > 1 or isinstance(max_samples, Integral):
        raise ValueError(
            f"max_samples must be a share in partial_fit: {max_samples} rows cannot be drawn of "
            "rows that are still to come. Give a share like 0.5."
        )


def check_no_budget(max_cost: int | None, max_seconds: float | None) -> None:
    """Raise when a budget is set for data whose end is not known."""
    for name, limit in (("max_cost", max_cost), ("max_seconds", max_seconds)):
        if limit is not None:
            raise ValueError(
                f"{name} must be None in partial_fit: {limit} would be a limit of fit, while here "
                "the caller decides how many rows come. Set it to None, and give no more rows when "
                "training_cost_.total is high enough."
            )


def check_can_go_on(training: Any, n_estimators: int) -> None:
    """Raise when training was broken off in an increment, or its voters are others by now."""
    if training.is_interrupted:
        raise ValueError(
            "partial_fit must not go on from a call that failed or was stopped within an "
            "increment: some voters have learned from its rows and some have not. Go on from a "
            "copy made before, or fit anew."
        )
    if n_estimators != training.graph.n_voters:
        raise ValueError(
            "n_estimators must not change between calls of partial_fit: there are "
            f"{training.graph.n_voters} voters, not {n_estimators}. Set it back, or begin anew "
            "with a clone."
        )


def check_has_begun(ensemble: Any) -> None:
    """Raise when rows have come, but none to begin with."""
    if hasattr(ensemble, "n_samples_seen_") and not ensemble.__sklearn_is_fitted__():
        raise NotFittedError(
            f"This {type(ensemble).__name__} is not fitted yet: of the {ensemble.n_samples_seen_} "
            "rows that have come, those that count are of one class at most. Go on with "
            "partial_fit, by rows of another class."
        )


def check_revocable(scored: Voters, held: Voters | None) -> None:
    """Raise when voters are to be scored that were forgotten when they delegated."""
    if held is not None and len(np.setdiff1d(scored, held)):
        raise ValueError(
            "revocable must be True from the start: delegators were forgotten, so none can return. "
            "Set it back to False, or begin anew with a clone."
        )


def check_not_pruned(ensemble: Any) -> None:
    """Raise when an ensemble that was pruned is to be cloned, or trained from the start."""
    if ensemble._fitted_pool is not None:
        raise ValueError(
            "A pruned ensemble must not be cloned, nor fitted anew: its voters were fitted "
            "elsewhere, and others would take their place. Call partial_fit to go on pruning, "
            "copy.deepcopy for a copy, or prune again after training; where a tool makes clones, "
            "give it a sklearn.frozen.FrozenEstimator of the pruned ensemble."
        )


def shared_tags(tags: Tags, estimators: Sequence[Any]) -> Tags:
    """Return ``tags`` narrowed to the data that all of ``estimators`` accept."""
    tagged = [
        each
        for each in estimators
        if hasattr(each, "__sklearn_tags__") and not isinstance(each, type)
    ]
    of_each = [get_tags(each) for each in tagged]
    tags.input_tags.sparse = all(each.input_tags.sparse for each in of_each)
    tags.input_tags.allow_nan = all(map(_takes_missing_values, tagged))
    tags.classifier_tags.multi_class = all(
        each.classifier_tags is None or each.classifier_tags.multi_class for each in of_each
    )
    return tags


def _takes_missing_values(estimator: Any) -> bool:
    """Return whether ``estimator``, or the first step of a pipeline, may be given some."""
    while hasattr(estimator, "steps"):
        steps = [step for _, step in estimator.steps if not _is_passthrough(step)]
        estimator = steps[0]
    return bool(get_tags(estimator).input_tags.allow_nan)


def refuse_plan(name: str, data: Any) -> None:
    """Raise when ``data`` is a query of polars that was not carried out."""
    if type(data).__name__ == "LazyFrame":
        raise TypeError(
            f"{name} must hold data: a LazyFrame holds a plan. Call {name}.collect() first."
        )


def refuse_broken(X: Any) -> None:
    """Raise when the indices of a sparse ``X`` do not fit its shape: compiled code trusts them.

    scipy looks at them only when asked, and scikit-learn does not ask.
    """
    matrix: Any = X
    if not scipy.sparse.issparse(X) or matrix.ndim != 2:  # of which scikit-learn speaks
        return
    try:
        if matrix.format in _COMPRESSED:
            parts: Any = matrix.data, matrix.indices, matrix.indptr
            twin = _COMPRESSED[matrix.format](parts, shape=matrix.shape, copy=False)
            twin.check_format(full_check=True)
        elif matrix.format == "coo":
            scipy.sparse.coo_array((matrix.data, (matrix.row, matrix.col)), shape=matrix.shape)
    except (ValueError, TypeError, IndexError) as error:
        raise ValueError(
            f"X must be a sparse matrix whose indices fit its shape {matrix.shape}: {error}. "
            "Build it again from its rows, columns and values."
        ) from error


def check_X(ensemble: Any, X: Any, *, reset: bool = False, **more: Any) -> Any:
    """Return ``X``, and ``y`` if given, as arrays that every voter of ``ensemble`` accepts."""
    for name, data in [("X", X), *more.items()]:
        refuse_plan(name, data)
    refuse_broken(X)
    tags = get_tags(ensemble).input_tags
    if getattr(ensemble, "_fitted_pool", None) is not None:
        return _answered(ensemble, X, **more)
    checked = validate_data(
        ensemble,
        X,
        reset=reset,
        accept_sparse="csr" if tags.sparse else False,
        dtype=[np.float64, np.float32],
        ensure_all_finite="allow-nan" if tags.allow_nan else True,
        **more,
    )
    if getattr(X, "format", None) in _MADE_OF_LISTS:  # whose indices are looked at by nobody
        refuse_broken(checked[0] if more else checked)
    return checked


def _answered(ensemble: Any, X: Any, **more: Any) -> Any:
    """Return what the voters of a pruned ensemble answer to ``X``, and ``y`` if given.

    Without ``y``, only those are asked who represent.
    """
    validate_data(ensemble, X, reset=False, skip_check_array=True, **more)
    if not more:
        return ensemble._fitted_pool.answers(ensemble.delegation_graph_.representatives, X)
    y = column_or_1d(more["y"], warn=True)
    check_consistent_length(X, y)
    return ensemble._fitted_pool.answers(ensemble._held, X), y


def check_X_y(ensemble: Any, X: Any, y: Any, *, reset: bool = False) -> tuple[Any, NDArray[Any]]:
    """Return rows and labels as arrays."""
    X, y = check_X(ensemble, X, reset=reset, y=y)
    check_classification_targets(y)
    return X, y


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
            "classes must be the same in every call to partial_fit: "
            f"{announced.tolist()} is not {known.tolist()}, as before. Leave classes out."
        )
    if len(announced) < 2:
        raise ValueError(
            f"classes must hold at least two classes: got {announced.tolist()}. "
            "Give every label that may ever come."
        )
    return announced


def check_two_classes(y: NDArray[Any], sample_weight: Floats | None) -> None:
    """Raise unless the rows that count have two classes to tell apart."""
    y = y if sample_weight is None else y[sample_weight > 0]
    if len(y) == 0:
        raise ValueError(
            "sample_weight must be above zero for some row: all are zero, so nothing is left to "
            "learn from. Give rows of at least two classes a positive weight."
        )
    if len(np.unique(y)) == 1:
        raise ValueError(
            f"y must hold at least two classes: there is only 1 class, {y.tolist()[0]!r}, among "
            "the rows that count. Add rows of another class."
        )


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


def check_sample_weight(sample_weight: Any, X: Any, estimators: Sequence[Any]) -> Floats | None:
    """Return one weight a row, or None when every row counts the same."""
    if sample_weight is None:
        return None
    for estimator in estimators:
        if not takes_sample_weight(estimator):
            raise ValueError(
                "sample_weight must not be given to voters that cannot use it: "
                f"{type(estimator).__name__}.fit has no such parameter. Leave it out or choose "
                "another estimator."
            )
    n_rows = X.shape[0]
    if isinstance(sample_weight, Real) or getattr(sample_weight, "shape", None) == ():
        sample_weight = np.full(n_rows, sample_weight)
    weights: Floats = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must hold one number a row: its shape {weights.shape} does not fit "
            f"{n_rows} rows. Give an array of shape ({n_rows},)."
        )
    if weights.min() < 0:
        raise ValueError(
            f"sample_weight must not be negative: got {weights.min()}. "
            "Give a row that should not count the weight 0."
        )
    return weights


def check_eval_set(
    ensemble: Any, eval_set: Any, classes: NDArray[Any]
) -> tuple[Any, Labels, int] | None:
    """Return rows, labels and number of classes of the evaluation set, or None without one."""
    if eval_set is None:
        return None
    if not isinstance(eval_set, tuple) or len(eval_set) != 2:
        raise ValueError(
            f"eval_set must be a pair (X, y), got {type(eval_set).__name__}. "
            "Give eval_set=(X_test, y_test)."
        )
    X, y = check_X_y(ensemble, *eval_set)
    return X, encode(y, classes, name="y of eval_set"), len(classes)
