import numpy as np
import pytest
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skliquid import LiquidEnsembleClassifier, prune

NAMES = np.array(["benign", "malign"])


@pytest.fixture
def halves(binary):
    X, y = binary
    return (X[:300], NAMES[y[:300]]), (X[300:], NAMES[y[300:]])


ENSEMBLES = {
    "bagging": BaggingClassifier(DecisionTreeClassifier(max_depth=3), 30, random_state=0),
    "bagging on features": BaggingClassifier(n_estimators=30, max_features=0.3, random_state=0),
    "forest": RandomForestClassifier(30, random_state=0),
    "extra trees": ExtraTreesClassifier(30, random_state=0),
    "voting": VotingClassifier(
        [(f"tree{k}", DecisionTreeClassifier(max_features=2, random_state=k)) for k in range(12)]
    ),
}


@pytest.mark.parametrize("name", ENSEMBLES)
def test_an_ensemble_that_exists_is_made_smaller(halves, name):
    train, judge = halves
    whole = ENSEMBLES[name].fit(*train)
    small = prune(whole, *judge, n_final=5, random_state=0)
    assert len(small.estimators_) == 5
    assert all(any(each is member for member in whole.estimators_) for each in small.estimators_)
    assert small.estimator_weights_.sum() == len(whole.estimators_)
    assert small.classes_.tolist() == NAMES.tolist()
    assert small.score(*judge) > whole.score(*judge) - 0.03
    assert small.training_cost_.total == 0


def test_with_nobody_delegating_the_votes_are_those_of_the_ensemble(halves):
    train, judge = halves
    whole = ENSEMBLES["bagging"].fit(*train)
    same = prune(whole, *judge, mechanism="direct", random_state=0)
    votes = np.mean([each.predict(judge[0]) for each in whole.estimators_], axis=0)
    assert np.allclose(same.predict_proba(judge[0])[:, 1], votes)


def test_a_list_of_classifiers_is_an_ensemble(halves):
    train, judge = halves
    several = [SGDClassifier(random_state=k).fit(*train) for k in range(15)] + [
        GaussianNB().fit(*train)
    ]
    small = prune(several, *judge, n_final=3, mechanism="max", random_state=0)
    assert isinstance(small, LiquidEnsembleClassifier)
    assert set(small.predict(judge[0])) == set(NAMES)
    assert small.score(*judge) > 0.9
    small.partial_fit(*train)  # goes on by more rows
    assert small.n_samples_seen_ == 569


def test_the_same_seed_gives_the_same_ensemble(halves):
    train, judge = halves
    whole = ENSEMBLES["forest"].fit(*train)
    one, other = (prune(whole, *judge, random_state=7) for _ in range(2))
    assert np.array_equal(one.delegation_graph_.delegation, other.delegation_graph_.delegation)


@pytest.mark.parametrize(
    ("ensemble", "error", "message"),
    [
        ([], ValueError, "the list is empty"),
        (3, TypeError, "3 is neither"),
        (RandomForestClassifier(), NotFittedError, "not fitted"),
        ([SGDClassifier()], NotFittedError, "not fitted"),
    ],
)
def test_what_is_no_fitted_ensemble_is_refused(halves, ensemble, error, message):
    with pytest.raises(error, match=message):
        prune(ensemble, *halves[1])


def test_boosting_has_no_voters(halves):
    train, judge = halves
    boosted = GradientBoostingClassifier(n_estimators=3).fit(*train)
    with pytest.raises(TypeError, match="GradientBoostingClassifier does not"):
        prune(boosted, *judge)


def test_labels_that_no_voter_knows_are_refused(halves):
    train, (X, y) = halves
    whole = ENSEMBLES["forest"].fit(*train)
    with pytest.raises(ValueError, match="y must hold known classes only"):
        prune(whole, X, np.where(y == "benign", "good", y))
