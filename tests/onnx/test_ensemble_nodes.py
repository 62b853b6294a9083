import numpy as np
import pytest
from onnx_runtime import assert_same, run
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import SGDClassifier
from small_ensembles import small

from skliquid import LiquidEnsembleClassifier, Mechanism, prune, to_onnx
from skliquid.mechanisms import MECHANISMS

LOGISTIC = SGDClassifier(loss="log_loss")


@pytest.mark.parametrize("voting", ["soft", "hard"])
@pytest.mark.parametrize("weights", ["delegated", "log_odds", "delegated_log_odds"])
def test_voters_count_as_they_do_in_ours(multiclass, weights, voting):
    X, y = multiclass
    given = MECHANISMS["proportional_weighted"]
    mechanism = Mechanism(given.selection, given.probability, vote_weights=weights)
    assert_same(small(LOGISTIC, mechanism=mechanism, voting=voting).fit(X, y), X)


@pytest.mark.parametrize("name", ["binary", "multiclass"])
def test_probabilities_have_the_temperature_of_ours(name, request):
    X, y = request.getfixturevalue(name)
    noisy = np.where(np.random.default_rng(0).random(len(y)) < 0.3, y[::-1], y)
    ensemble = small(LOGISTIC, competence="prequential").fit(X, noisy)
    assert ensemble.temperature_ > 1.1
    assert_same(ensemble, X)


def test_ties_go_to_the_first_class():
    X, y = np.array([[-1.0], [1.0]] * 20), np.array([0, 1] * 20)
    voters = [SGDClassifier().fit(X, y) for _ in range(2)]
    for voter, sign in zip(voters, (-1, 1), strict=True):
        voter.coef_[:], voter.intercept_[:] = 0, sign
    pruned = prune(voters, X, y, n_final=2, voting="hard", mechanism="direct")
    labels, probabilities = run(to_onnx(pruned), X)
    assert probabilities.tolist() == pruned.predict_proba(X).tolist() == [[0.5, 0.5]] * 40
    assert labels.tolist() == pruned.predict(X).tolist() == [0] * 40


@pytest.mark.parametrize("name", ["binary", "multiclass"])
def test_voters_with_different_losses_predict_the_same(name, request):
    X, y = request.getfixturevalue(name)
    named = [(loss, SGDClassifier(loss=loss)) for loss in ("modified_huber", "log_loss", "hinge")]
    assert_same(LiquidEnsembleClassifier(named, n_estimators=6, n_final=6).fit(X, y), X)


def test_margins_far_below_zero_keep_their_order(multiclass):
    X, y = multiclass
    ensemble = small(LOGISTIC).fit(X, y)
    assert_same(ensemble, X * 1e2)
    assert_same(ensemble, X * 1e4)


@pytest.mark.parametrize("voting", ["soft", "hard"])
@pytest.mark.parametrize(
    "ensemble",
    [
        RandomForestClassifier(12, random_state=0),
        ExtraTreesClassifier(12, random_state=0),
        BaggingClassifier(n_estimators=12, max_features=0.5, bootstrap_features=True),
        BaggingClassifier(SGDClassifier(), n_estimators=12, max_samples=6, random_state=0),
        AdaBoostClassifier(n_estimators=12, random_state=0),
        LiquidEnsembleClassifier(random_state=0),
    ],
    ids=lambda ensemble: type(ensemble).__name__,
)
def test_pruned_ensembles_predict_the_same(ensemble, voting, multiclass):
    X, y = multiclass
    ensemble.fit(X[:75], y[:75])
    assert_same(prune(ensemble, X[75:], y[75:], n_final=4, voting=voting, random_state=0), X)


def test_voters_that_know_some_classes_only_predict_the_same(multiclass):
    X, y = multiclass
    texts = np.array(["a", "b", "c"])[y]
    settings = [("hinge", y < 2), ("log_loss", y < 2), ("modified_huber", y > 0), ("hinge", y >= 0)]
    voters = [SGDClassifier(loss=loss).fit(X[seen], texts[seen]) for loss, seen in settings]
    for voting in ("soft", "hard"):
        assert_same(prune(voters, X, texts, n_final=4, voting=voting, random_state=0), X)
