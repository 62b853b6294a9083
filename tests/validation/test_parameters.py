"""Invalid parameters get an error that names the rule, the value and the way out."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from small_ensembles import FEW_X as X
from small_ensembles import FEW_Y as Y
from small_ensembles import of_four as small

from skliquid.mechanisms.schedules import FixedCount
from skliquid.mechanisms.selection import least_competent


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("estimator", 3),
        ("estimator", "SGDClassifier"),
        ("n_estimators", 0),
        ("n_estimators", -5),
        ("n_estimators", 2.5),
        ("n_estimators", "many"),
        ("n_final", 0),
        ("n_final", 1.5),
        ("n_final", None),
        ("mechanism", "best"),
        ("mechanism", 3),
        ("mechanism", None),
        ("delegation_rate", -0.1),
        ("delegation_rate", 1.1),
        ("delegation_rate", "fast"),
        ("delegation_rate", None),
        ("delegation_rate", float("nan")),
        ("increment_size", 0),
        ("increment_size", 10.5),
        ("increment_size", "big"),
        ("competence", "test"),
        ("competence", None),
        ("competence", 5),
        ("final_fit", "warm"),
        ("final_fit", None),
        ("bootstrap", "yes"),
        ("max_samples", 0),
        ("max_samples", 1.5),
        ("max_features", 0),
        ("max_features", 0.0),
        ("diversity", "much"),
        ("diversity", {"feature_maps": None}),
        ("max_seconds", 0),
        ("pool", "swimming"),
        ("n_jobs", 1.5),
        ("n_jobs", "all"),
        ("verbose", -1),
        ("verbose", "much"),
        ("random_state", "seed"),
        ("random_state", -1),
    ],
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_a_parameter_out_of_range_is_named_with_its_rule_and_value(parameter, value, method):
    ensemble = small(**{parameter: value})
    options = {"classes": [0, 1]} if method == "partial_fit" else {}
    message = rf"The '{parameter}' parameter of LiquidEnsembleClassifier must be .* Got .* instead"
    with pytest.raises(ValueError, match=message):
        getattr(ensemble, method)(X, Y, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"n_estimators": 5, "n_final": 9},
            "n_final must not exceed n_estimators: 9 representatives cannot remain of 5 voters. "
            "Lower n_final or raise n_estimators.",
        ),
        (
            {"estimator": LinearRegression()},
            r"estimator must be a classifier: got LinearRegression\(\)",
        ),
        ({"estimator": KMeans()}, "estimator must be a classifier: got KMeans"),
        ({"estimator": SGDClassifier}, "estimator must be a classifier: .*Give an object such as"),
        ({"estimator": []}, r"list of \(name, classifier\) pairs: got \[\]. Give"),
        ({"estimator": [SGDClassifier()]}, r"list of \(name, classifier\) pairs"),
        (
            {"estimator": [("a", SGDClassifier()), ("a", GaussianNB())]},
            r"different name, a string, in each pair: got \['a', 'a'\]",
        ),
        ({"estimator": [("a", StandardScaler())]}, "estimator must be a classifier"),
        (
            {"estimator": [(name, SGDClassifier()) for name in "abcde"]},
            "5 estimators cannot share 4 voters. Raise n_estimators",
        ),
        ({"estimator": [("a", "drop")]}, "estimator must be a classifier: got 'drop'"),
        (
            {"estimator": [("n_final", SGDClassifier())]},
            "names that are not parameters of the ensemble .* 'n_final'",
        ),
        ({"estimator": [("a__b", SGDClassifier())]}, "no double underscore: got 'a__b'"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
        (
            {"estimator": KNeighborsClassifier(), "increment_size": 3},
            "Expected n_neighbors <= n_samples_fit",
        ),
        ({"mechanism": (least_competent,)}, r"a Mechanism or a pair \(selection, probability\)"),
        (
            {"delegation_rate": lambda t: 7},
            "delegation_rate at increment 1 must be a share between 0 and 1: got 7",
        ),
        (
            {"mechanism": (least_competent, lambda gain, weight: -gain), "n_estimators": 30},
            "likelihoods of zero or more",
        ),
        (
            {"mechanism": (least_competent, lambda gain, weight: gain * np.nan)},
            r"finite likelihoods, got \[nan\]",
        ),
        (
            {"mechanism": (least_competent, lambda gain, weight: gain * 0), "n_estimators": 30},
            "a positive likelihood for some candidate when one is better, got zero for all",
        ),
    ],
)
def test_parameters_that_do_not_fit_together_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        small(**options).fit(X, Y)


@pytest.mark.parametrize("n", [True, np.int64(3)])
def test_integers_of_any_type_are_accepted(n):
    voter = SGDClassifier() if n is True else None
    ensemble = small(voter, n_estimators=n, n_final=n, n_jobs=np.int64(1))
    assert ensemble.fit(X, Y).score(X, Y) > 0.5


def test_the_three_default_estimators_need_three_voters():
    with pytest.raises(ValueError, match=r"3 estimators cannot share 2 voters. Raise n_estimators"):
        small(n_estimators=2).fit(X, Y)


def test_a_class_where_an_object_is_meant_is_refused():
    with pytest.raises(TypeError, match=r"got the class FixedCount. Call it, as in FixedCount\("):
        small(delegation_rate=FixedCount).fit(X, Y)
