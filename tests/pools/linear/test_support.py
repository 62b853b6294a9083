"""Which voters the linear pool accepts, and which of them share a pool."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier

from skliquid import Diversity, LiquidEnsembleClassifier
from skliquid.pools.linear.support import can_share, shared_parameters, unsupported_parameter


class MySGD(SGDClassifier):
    """A subclass may compute anything."""


@pytest.mark.parametrize("estimator", [LogisticRegression(), MySGD(), SGDClassifier])
def test_only_scikit_learns_own_classes_are_accepted(estimator):
    assert (
        unsupported_parameter(SGDClassifier())
        is unsupported_parameter(Perceptron(penalty="l2"))
        is None
    )
    assert unsupported_parameter(estimator) == f"estimator={type(estimator).__name__}(...)"


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({"loss": "huber"}, "loss='huber'"),
        ({"penalty": "l1"}, "penalty='l1'"),
        ({"penalty": "elasticnet"}, "penalty='elasticnet'"),
        ({"learning_rate": "adaptive", "eta0": 0.1}, "learning_rate='adaptive'"),
        ({"early_stopping": True}, "early_stopping=True"),
        ({"class_weight": "balanced"}, "class_weight='balanced'"),
        ({"verbose": 1}, "verbose=1"),
        ({"alpha": 0.0}, "alpha=0.0"),
        ({"eta0": -1.0}, "eta0=-1.0"),
        ({"learning_rate": "constant", "eta0": float("inf")}, "eta0=inf"),
    ],
)
def test_what_the_linear_pool_does_not_support_is_named(binary, params, reason):
    assert unsupported_parameter(SGDClassifier(**params)) == reason
    ensemble = LiquidEnsembleClassifier(SGDClassifier(**params), pool="linear")
    with pytest.raises(
        ValueError,
        match=f"pool='linear' must support all voters: .* not support {reason}. Choose pool='auto'",
    ):
        ensemble.fit(*binary)


@pytest.mark.parametrize(
    "params",
    [
        {"class_weight": "balanced_subsample"},
        {"max_iter": [5, 10]},
        {"loss": np.array([1.0, 2.0])},
    ],
    ids=str,
)
def test_invalid_parameters_are_left_for_scikit_learn_to_name(binary, params):
    (name,) = params
    for voters in (SGDClassifier(**params), [SGDClassifier(**params), Perceptron()]):
        ensemble = LiquidEnsembleClassifier(voters, n_estimators=20)
        with pytest.raises((ValueError, TypeError), match=name):
            ensemble.fit(*binary)


def test_drawn_hyperparameters_have_to_be_supported_too(binary):
    drawn = Diversity(param_distributions={"penalty": ["l2", "l1"]})
    ensemble = LiquidEnsembleClassifier(SGDClassifier(), diversity=drawn, pool="linear")
    with pytest.raises(ValueError, match="does not support penalty='l1'"):
        ensemble.fit(*binary)


def test_voters_share_a_pool_unless_they_differ_in_what_it_holds_once():
    key = shared_parameters(SGDClassifier())
    assert shared_parameters(SGDClassifier(alpha=1, eta0=2, random_state=3, n_jobs=4)) == key
    assert shared_parameters(SGDClassifier(loss="log_loss")) != key
    assert shared_parameters(Perceptron()) != key
    weighted = [shared_parameters(SGDClassifier(class_weight={0: w})) for w in (1.0, 2.0, 2.0)]
    assert len(set(weighted)) == 2


@pytest.mark.parametrize(
    ("hyperparameters", "per_voter"),
    [
        ([], True),
        ([{}, {"alpha": 0.1, "eta0": 1}], True),
        ([{"alpha": 0.1}, {"alpha": 0.0}], False),  # by which "optimal" cannot divide
        ([{"alpha": "x"}], False),
        ([{"eta0": np.inf}], False),
        ([{"loss": "hinge"}], False),
    ],
)
def test_hyperparameters_that_voters_of_a_pool_need_not_share(hyperparameters, per_voter):
    assert can_share(hyperparameters) is per_voter
