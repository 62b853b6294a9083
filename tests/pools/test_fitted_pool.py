import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

from skliquid.pools import FittedPool, FittedVoter

VOTERS = np.arange(4)


class Counting(ClassifierMixin, BaseEstimator):
    """Predicts the sign of a feature, and counts how often it is asked."""

    def __init__(self, feature=0):
        self.feature, self.n_calls = feature, 0

    def predict(self, X):
        self.n_calls += 1
        return np.where(X[:, self.feature] > 0, "yes", "no")


@pytest.fixture
def pool():
    return FittedPool([FittedVoter(Counting(k), np.array(["no", "yes"])) for k in VOTERS])


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(50, 4))


def test_voters_are_asked_once_for_votes_that_are_known(pool, X):
    expected = pool.vote(VOTERS, X)
    known = pool.cache_predictions(["vote"], VOTERS, X)
    assert known.shape == (50, 4)
    rows = np.array([7, 3, 40])
    assert np.array_equal(pool.vote(VOTERS[[2, 0]], known[rows]), expected[[2, 0]][:, rows])
    labels = (X[:, 1] > 0).astype(int)
    assert np.array_equal(pool.vote(VOTERS, known)[1], labels)
    assert [voter.n_calls for voter in pool.estimators(VOTERS)] == [2] * 4


def test_voters_that_were_dropped_are_not_asked_for_known_votes(pool, X):
    kept = np.array([1, 3])
    pool.keep(kept, training_is_over=True)
    known = pool.cache_predictions(["vote"], kept[1:], X)
    assert np.array_equal(pool.vote(kept[1:], known), pool.vote(kept[1:], X))
    assert pool.estimators(kept)[0].n_calls == 0
    with pytest.raises(KeyError):
        pool.cache_predictions(["vote"], VOTERS, X)


def test_votes_are_positions_of_what_a_voter_predicts_among_its_labels(multiclass):
    X, y = multiclass
    features = np.array([3, 1])
    tree = DecisionTreeClassifier(random_state=0).fit(X[:, features], y + 5)
    pool = FittedPool([FittedVoter(tree, np.array([5, 6, 7]), features)])
    assert np.array_equal(pool.vote(VOTERS[:1], X)[0], tree.predict(X[:, features]) - 5)


@pytest.mark.parametrize("as_frame", [False, True])
@pytest.mark.filterwarnings("error")
def test_rows_are_converted_to_what_the_voter_was_fitted_to(multiclass, as_frame):
    X, y = multiclass
    frame = pd.DataFrame(X, columns=list("abcd"))
    tree = DecisionTreeClassifier(random_state=0).fit(frame if as_frame else X, y)
    pool = FittedPool([FittedVoter(tree, np.arange(3))])
    assert np.array_equal(pool.vote(VOTERS[:1], frame)[0], tree.predict(frame if as_frame else X))
