"""Support: the estimators that a linear pool supports, and those that can share one."""

import math
from collections.abc import Hashable, Mapping, Sequence
from numbers import Real
from typing import Any

import sklearn
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.utils.fixes import parse_version

PER_VOTER = ("alpha", "eta0", "random_state", "n_jobs", "warm_start")
"""Hyperparameters that may differ between voters of one pool."""

STOPPING_RULES = ("loss", "objective")
"""A final fit ends when this stops decreasing: the loss, or the loss and the penalty."""

INSTALLED_RULE = STOPPING_RULES[parse_version(sklearn.__version__) >= parse_version("1.8")]

_DEFAULTS = SGDClassifier().get_params()
_SUPPORTED: dict[str, tuple[Any, ...]] = {
    "loss": ("hinge", "log_loss", "modified_huber", "squared_hinge", "perceptron"),
    "penalty": ("l2", None),
    "learning_rate": ("optimal", "constant", "invscaling"),
    "early_stopping": (False,),
    "verbose": (0, False),
}


def unsupported_parameter(estimator: Any) -> str | None:
    """Return the parameter of ``estimator`` that is not supported, or None if all are."""
    if type(estimator) not in (SGDClassifier, Perceptron):
        return f"estimator={type(estimator).__name__}(...)"
    params = parameters(estimator)
    weights = params.pop("class_weight")
    is_mapping = isinstance(weights, Mapping)
    are_numbers = is_mapping and all(isinstance(weight, Real) for weight in weights.values())
    if weights is not None and not are_numbers:
        return f"class_weight={weights!r}"
    for name, value in params.items():  # scikit-learn has not validated them yet
        if not isinstance(value, Hashable) or value not in _SUPPORTED.get(name, [value]):
            return f"{name}={value!r}"
    is_optimal = params["learning_rate"] == "optimal"
    for name, may_be_zero in (("alpha", not is_optimal), ("eta0", is_optimal)):
        value = params[name]
        is_number = isinstance(value, Real) and math.isfinite(value)
        if not (is_number and (value > 0 or (value == 0 and may_be_zero))):
            return f"{name}={value!r}"
    return None


def shared_parameters(estimator: Any) -> tuple[Any, ...]:
    """Return the parameters that voters of one linear pool have in common, as a hashable key."""
    params = parameters(estimator)
    shared = {name: value for name, value in params.items() if name not in PER_VOTER}
    if shared["class_weight"] is not None:
        shared["class_weight"] = tuple(shared["class_weight"].items())
    return (type(estimator), *shared.items())


def can_share(hyperparameters: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether voters that differ in these hyperparameters can share a pool."""
    items = [item for params in hyperparameters for item in params.items()]
    rates = [value for name, value in items if name in ("alpha", "eta0")]
    return all(name in PER_VOTER for name, _ in items) and all(
        isinstance(value, Real) and 0 < float(value) < math.inf for value in rates
    )


def parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters of ``estimator``, a perceptron's as those of the SGD that it is."""
    return {name: getattr(estimator, name, default) for name, default in _DEFAULTS.items()}
