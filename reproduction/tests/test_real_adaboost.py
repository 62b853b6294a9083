import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from reproduction.real_adaboost import RealAdaBoost

STUMP = DecisionTreeClassifier(max_depth=1)
OF_SCIKIT_LEARN_1_2_2 = {
    2: "1011001010101000100001010000101010101010",
    3: "1101101010011000210101021010100110120200",
}
"""What AdaBoostClassifier(algorithm="SAMME.R", n_estimators=25, random_state=5) predicts there."""


def data(n_classes):
    rng = np.random.RandomState(n_classes)
    X = rng.randint(0, 30, size=(120, 4)).astype(float)
    scores = X[:, 0] + X[:, 1] + rng.randint(0, 12, size=120)
    ranks = np.argsort(np.argsort(scores, kind="stable"), kind="stable")
    y = ranks * n_classes // 120
    return X[:80], y[:80], X[80:]


def boosted(X, y, n_estimators=25):
    n_classes = int(y.max()) + 1
    random_state = np.random.RandomState(5)
    options = {"n_classes": n_classes, "random_state": random_state}
    return RealAdaBoost(STUMP, n_estimators=n_estimators, **options).fit(X, y)


@pytest.mark.parametrize("n_classes", OF_SCIKIT_LEARN_1_2_2)
def test_it_predicts_what_scikit_learn_did_before_it_dropped_the_algorithm(n_classes):
    X, y, X_test = data(n_classes)
    predicted = "".join(map(str, boosted(X, y).predict(X_test)))
    assert predicted == OF_SCIKIT_LEARN_1_2_2[n_classes]


def test_one_stump_votes_as_it_does_alone():
    X, y, X_test = data(2)
    alone = STUMP.fit(X, y).predict(X_test)
    assert np.array_equal(boosted(X, y, n_estimators=1).predict(X_test), alone)


def test_boosting_ends_with_a_stump_that_makes_no_error():
    X = np.arange(20.0)[:, None]
    y = (X[:, 0] > 9).astype(int)
    ensemble = boosted(X, y)
    assert len(ensemble.estimators_) == 1
    assert np.array_equal(ensemble.predict(X), y)


def test_rows_of_tiny_weight_are_kept_as_scikit_learn_kept_them():
    rng = np.random.RandomState(0)
    X = rng.randint(0, 30, size=(160, 3)).astype(float)
    y = (X[:, 0] + X[:, 1] > 30).astype(int)
    predicted = "".join(map(str, boosted(X[:100], y[:100], 350).predict(X[100:])))
    of_scikit_learn_1_2_2 = "001011010001110011110101001011100010110110101010001111011110"
    assert predicted == of_scikit_learn_1_2_2
