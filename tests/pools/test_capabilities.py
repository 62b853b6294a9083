import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from skliquid import LiquidEnsembleClassifier
from skliquid.diversity import Sample, VoterSpec
from skliquid.pools.capabilities import (
    grows_trees,
    learns_by_increments,
    limit_passes,
    n_passes,
    n_visits,
    pass_limit,
    sees_rows_once,
    takes_sample_weight,
)
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier

ONE_VS_REST = OneVsRestClassifier(SGDClassifier())  # which takes no weights


@pytest.fixture
def data(binary):
    X, y = binary
    return X[:200], y[:200]


def liquid(**options):
    defaults = {"estimator": GaussianNB(), "n_estimators": 3, "n_final": 2}
    return LiquidEnsembleClassifier(**defaults | options)


@pytest.mark.parametrize(
    ("estimator", "by_increments"),
    [
        (SGDClassifier(), True),
        (SGDClassifier(early_stopping=True), False),
        (SGDClassifier(class_weight="balanced"), False),
        (SGDClassifier(class_weight={0: 2}), True),
        (MLPClassifier(), True),
        (MLPClassifier(solver="lbfgs"), False),
        (DecisionTreeClassifier(), False),
        (make_pipeline(StandardScaler(), SGDClassifier()), False),
        (RandomizedForestClassifier(), True),
        (BoostedTreesClassifier(class_weight={0: 2}), True),
        (OneVsRestClassifier(SGDClassifier()), True),
        (OneVsRestClassifier(SGDClassifier(class_weight="balanced")), False),
        (liquid(max_samples=0.5), True),
        (liquid(max_samples=50), False),
        (liquid(max_cost=2000), False),
        (liquid(max_seconds=1.5), False),
        (liquid(estimator=liquid(max_cost=2000)), True),
    ],
)
def test_which_voters_learn_by_increments(estimator, by_increments, data):
    assert learns_by_increments(estimator) is by_increments
    if by_increments:
        estimator.partial_fit(*data, classes=[0, 1])


@pytest.mark.parametrize(
    ("estimator", "attribute"),
    [
        (SGDClassifier(), lambda e: e.n_iter_),
        (LogisticRegression(), lambda e: e.n_iter_[0]),
        (make_pipeline(make_pipeline(LogisticRegression())), lambda e: e[-1][-1].n_iter_[0]),
        (RidgeClassifier(), lambda e: 1),
        (DecisionTreeClassifier(), lambda e: 1),
        (RandomizedForestClassifier(5), lambda e: 5),
        (make_pipeline(BoostedTreesClassifier(7)), lambda e: len(e[-1].trees_.trees)),
    ],
)
def test_passes_are_the_classifiers_own_iterations(estimator, attribute, data):
    estimator.fit(*data)
    assert n_passes(estimator) == attribute(estimator)


@pytest.mark.parametrize(
    ("estimator", "most"),
    [
        (SGDClassifier(max_iter=7), 7),
        (SVC(), np.inf),
        (LogisticRegression(max_iter=0), 1),
        (make_pipeline(StandardScaler(), Perceptron(max_iter=9)), 9),
        (DecisionTreeClassifier(), 1),
        (RandomizedForestClassifier(5), 5),
        (make_pipeline(StandardScaler(), BoostedTreesClassifier(7)), 7),
    ],
)
def test_the_most_passes_are_those_of_max_iter_or_the_trees(estimator, most):
    assert pass_limit(estimator) == most


@pytest.mark.parametrize(
    ("estimator", "visits"),
    [
        (SGDClassifier(max_iter=3, tol=None), 3 * 200),
        (DecisionTreeClassifier(), 200),
        (RandomizedForestClassifier(5), 5 * 200),
        (RandomizedForestClassifier(5, max_rows=50), 5 * 50),
        (BoostedTreesClassifier(7, subsample=0.5), 7 * 100),
        (make_pipeline(StandardScaler(), RandomizedForestClassifier(5)), 5 * 200),
    ],
)
def test_visits_are_steps_or_rows_that_trees_were_grown_on(estimator, visits, data):
    assert n_visits(estimator.fit(*data), 200) == visits


def test_voters_that_are_made_of_our_trees():
    assert grows_trees(RandomizedForestClassifier())
    assert grows_trees(BoostedTreesClassifier())
    assert not grows_trees(DecisionTreeClassifier())
    assert not grows_trees(make_pipeline(RandomizedForestClassifier()))


@pytest.mark.parametrize(
    "estimator",
    [
        SGDClassifier(),
        make_pipeline(SGDClassifier()),
        RandomizedForestClassifier(),
        make_pipeline(BoostedTreesClassifier(5)),
    ],
    ids=str,
)
def test_a_limit_on_passes_leaves_the_parameters_as_they_were(data, estimator):
    before = str(estimator.get_params())
    with limit_passes(estimator, 2):
        estimator.fit(*data)
    assert n_passes(estimator) == 2
    assert str(estimator.get_params()) == before
    with limit_passes(estimator, None):
        assert n_passes(estimator.fit(*data)) > 2


@pytest.mark.parametrize(
    ("spec", "sees_once"),
    [
        (VoterSpec([SGDClassifier()], [0]), True),
        (VoterSpec([SGDClassifier(), DecisionTreeClassifier()], [0, 1]), False),
        (VoterSpec([SGDClassifier()], [0, 1], params=[{}, {"early_stopping": True}]), False),
        (VoterSpec([SGDClassifier()], [0], sample=Sample(0.5, bootstrap=True)), True),
        (VoterSpec([SGDClassifier(), RandomizedForestClassifier()], [0, 1]), False),
        (VoterSpec([ONE_VS_REST], [0]), True),
        (VoterSpec([ONE_VS_REST], [0], sample=Sample(0.5, bootstrap=True)), False),
    ],
)
def test_voters_that_are_sure_to_see_each_row_once(spec, sees_once):
    assert sees_rows_once(spec) is sees_once


def test_weights_are_taken_where_fit_has_a_parameter_for_them():
    assert takes_sample_weight(GaussianNB())
    assert not takes_sample_weight(KNeighborsClassifier())
    assert not takes_sample_weight(make_pipeline(GaussianNB()))
