from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import Perceptron, RidgeClassifier, SGDClassifier
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from small_ensembles import small

from skliquid.delegation.votes import (
    LEAST_SHARE,
    VOTINGS,
    decision_values,
    gini,
    largest_share,
    mean_probabilities,
    minimum_majority,
    most_probable,
    one_hot,
    tally,
    tempered,
    winner,
    with_margins,
)
from skliquid.pools.predictions import probabilities_of

weight_lists = st.lists(st.integers(1, 9), min_size=1, max_size=8)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("unit", [1, 0.1])
@given(st.data(), st.lists(st.integers(1, 9), min_size=4, max_size=4))
def test_shares_are_weights_summed_by_class(unit, n_classes, data, weights):
    votes = data.draw(arrays(np.intp, (4, 5), elements=st.integers(0, n_classes - 1)))
    shares = tally(votes, unit * np.array(weights), n_classes)
    assert (shares.shape, shares.dtype) == ((5, n_classes), np.float64)
    for sample in range(5):
        for label in range(n_classes):
            held = sum(
                w for w, vote in zip(weights, votes[:, sample], strict=True) if vote == label
            )
            assert shares[sample, label] == pytest.approx(held / sum(weights), abs=1e-15)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_shares_of_many_votes_are_exact(n_classes):
    weights = np.array([2**24, 1, 2**24])
    shares = tally(np.array([[1, 0], [1, 0], [0, 1]]), weights, n_classes)
    more, less = (2**24 + 1) / weights.sum(), 2**24 / weights.sum()
    assert shares[:, :2].tolist() == [[less, more], [more, less]]


def test_the_first_class_wins_a_tie():
    assert winner(np.array([[0.5, 0.5], [0.25, 0.75]])).tolist() == [0, 1]


@given(weight_lists)
def test_minimum_majority_is_the_smallest_coalition_with_more_than_half(weights):
    smallest = next(
        size
        for size in range(1, len(weights) + 1)
        for group in combinations(weights, size)
        if 2 * sum(group) > sum(weights)
    )
    assert minimum_majority(np.array(weights)) == smallest


@given(weight_lists)
def test_gini_is_the_mean_difference_over_twice_the_mean(weights):
    n, total = len(weights), sum(weights)
    differences = sum(abs(a - b) for a in weights for b in weights)
    assert np.isclose(gini(np.array(weights)), differences / (2 * n * total))


def test_the_largest_share_is_the_heaviest_voters():
    assert largest_share(np.array([1, 6, 1])) == 0.75


# Soft votes


@st.composite
def answers(draw, most_voters=5):
    """Class probabilities of voters on rows: of a few values, so that there are ties and zeros."""
    shape = (
        draw(st.integers(1, most_voters)),
        draw(st.integers(1, 8)),
        draw(st.integers(2, 5)),
    )
    numbers = draw(arrays(np.float64, shape, elements=st.sampled_from([0.0, 1.0, 2.0, 5.0])))
    numbers[numbers.sum(axis=2) == 0] = 1
    return numbers / numbers.sum(axis=2, keepdims=True)


shares_of_one = answers(most_voters=1).map(lambda probabilities: probabilities[0])
powers = st.floats(1 / 32, 4)


def test_only_soft_votes_are_soft():
    assert {name: voting.is_soft for name, voting in VOTINGS.items()} == {
        "soft": True,
        "hard": False,
    }


@given(answers(), st.data())
def test_mean_probabilities_are_averages_by_weight(probabilities, data):
    n_voters, _, n_classes = probabilities.shape
    weights = data.draw(arrays(np.intp, n_voters, elements=st.integers(1, 9)))
    found = mean_probabilities(probabilities, weights, n_classes)
    np.testing.assert_allclose(found, np.average(probabilities, axis=0, weights=weights))
    np.testing.assert_allclose(found.sum(axis=1), 1)


@given(answers())
def test_the_vote_of_a_voter_is_its_most_probable_class_in_a_tie_the_first(probabilities):
    assert np.array_equal(most_probable(probabilities), probabilities.argmax(axis=2))


@given(arrays(np.intp, (3, 4), elements=st.integers(0, 4)), st.integers(5, 6))
def test_votes_are_probabilities_of_zero_and_one(votes, n_classes):
    found = one_hot(votes, n_classes)
    assert found.shape == (3, 4, n_classes)
    assert np.array_equal(found, np.eye(n_classes)[votes])
    assert np.array_equal(most_probable(found), votes)
    shares = tally(votes, np.array([2, 1, 4]), n_classes)
    np.testing.assert_allclose(mean_probabilities(found, np.array([2, 1, 4]), n_classes), shares)


@given(shares_of_one, powers)
def test_a_temperature_keeps_the_order_of_classes(shares, power):
    found = tempered(shares, power)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert np.isfinite(found).all()
    for before, after in zip(shares, found, strict=True):
        differences = np.sign(np.subtract.outer(before, before))
        assert np.array_equal(np.sign(np.subtract.outer(after, after)), differences)


@given(shares_of_one, powers)
def test_a_temperature_multiplies_the_log_odds_between_classes(shares, power):
    found, known = np.log(tempered(shares, power)), np.log(np.maximum(shares, LEAST_SHARE))
    np.testing.assert_allclose(
        found - found[:, :1], power * (known - known[:, :1]), rtol=1e-9, atol=1e-9
    )


def test_at_temperature_one_probabilities_stay_as_they_are():
    shares = np.array([[0.0, 1.0], [0.3, 0.7]])
    assert tempered(shares, 1.0) is shares
    tempered(shares, 0.5)
    assert shares.tolist() == [[0.0, 1.0], [0.3, 0.7]]


# Decision values


@given(shares_of_one)
def test_decision_values_grow_with_probabilities(shares):
    values = decision_values(shares)
    assert not np.isnan(values).any()
    order = np.argsort(shares, axis=None)
    grows = np.diff(shares.ravel()[order]) > 1e-12
    assert np.all(values.ravel()[order][1:][grows] > values.ravel()[order][:-1][grows])
    is_certain = (shares == 0) | (shares == 1)
    assert np.all(np.isinf(values[is_certain]))
    between = shares[~is_certain]
    np.testing.assert_allclose(values[~is_certain], np.log(between / (1 - between)), atol=1e-12)


@given(shares_of_one, powers)
def test_decision_values_are_the_log_odds_at_the_temperature(shares, power):
    shares = (shares + 0.1) / (shares + 0.1).sum(axis=1, keepdims=True)
    at_temperature = tempered(shares, power)
    expected = np.log(at_temperature / (1 - at_temperature))
    np.testing.assert_allclose(decision_values(shares, power), expected, rtol=1e-9, atol=1e-9)


@given(arrays(np.float64, 6, elements=st.floats(0, 1)))
def test_decision_values_of_two_classes_are_opposites(p):
    values = decision_values(np.stack([1 - p, p], axis=1))
    assert np.array_equal(values[:, 0], -values[:, 1])
    assert np.all(values[p == 0.5] == 0)


finite = st.floats(-1e6, 1e6)


@given(st.data(), st.integers(1, 8))
def test_certain_rows_come_beyond_all_others_by_their_margins(data, n_rows):
    tiny = np.finfo(np.float64).smallest_subnormal
    shares = np.array([[0.0, 1.0]] * n_rows + [[tiny, 1.0], [0.5, 0.5], [1.0, tiny], [1.0, 0.0]])
    positive = data.draw(arrays(np.float64, len(shares), elements=finite))
    margins = np.stack([-positive, positive], axis=1)
    values = with_margins(decision_values(shares), margins)
    assert np.isfinite(values).all()
    assert np.array_equal(values[:, 0], -values[:, 1])
    certain, others, opposite = np.split(values[:, 1], [n_rows, -1])
    assert certain.min() > others.max()
    assert opposite.max() < others.min()
    assert np.array_equal(others, decision_values(shares)[n_rows:-1, 1])
    by_margin = np.argsort(positive[:n_rows])
    assert np.all(np.diff(certain[by_margin]) >= 0)


@pytest.mark.parametrize("power", [0.25, 1.0, 4.0])
def test_certain_rows_come_beyond_all_others_at_any_temperature(power):
    tiny = np.finfo(np.float64).smallest_subnormal
    shares, margins = np.array([[0.0, 1.0], [tiny, 1.0]]), np.array([[9e9, -9e9], [0.0, 0.0]])
    certain, nearly = with_margins(decision_values(shares, power), margins, power)[:, 1]
    assert nearly == pytest.approx(power * -np.log(tiny))
    assert np.isfinite(certain)
    assert certain > nearly


def test_the_values_of_certain_rows_follow_the_formula():
    values, margins = np.array([np.inf, -np.inf, np.inf, 3.0]), np.array([1.0, 1.0, -3.0, 9.0])
    assert with_margins(values, margins).tolist() == [900, -800, 775, 3]
    assert with_margins(values, margins, 0.5).tolist() == [900, -800, 775, 3]
    assert with_margins(values, margins, 2.0).tolist() == [1800, -1600, 1550, 3]


def test_margins_that_differ_a_little_rank_certain_rows():
    margins = np.array([-3e5, -3e5 + 1, -1.0, 0.0, 1e-9, 1.0, 1e4, 1e4 + 0.1, 3e5])
    values = with_margins(np.full(9, np.inf), margins)
    assert np.all(np.diff(values) > 0)
    assert np.all(np.diff(with_margins(np.full(9, -np.inf), margins)) > 0)


# Soft votes of an ensemble


class PredictsOnly(ClassifierMixin, BaseEstimator):
    """A voter without probabilities and margins: the nearer of two class means, in one feature."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.feature_ = np.random.default_rng(self.random_state).integers(X.shape[1])
        column = X[:, self.feature_]
        self.means_ = np.array([column[y == label].mean() for label in self.classes_])
        return self

    def predict(self, X):
        return self.classes_[np.abs(X[:, [self.feature_]] - self.means_).argmin(axis=1)]


class MarginsOnly(LinearSVC):
    """A voter with a decision function only."""


VOTERS = [
    SGDClassifier("log_loss"),
    SGDClassifier("modified_huber"),
    SGDClassifier("hinge"),
    SGDClassifier("log_loss", average=True),
    Perceptron(),
    DecisionTreeClassifier(max_depth=3),
    MarginsOnly(),
    RidgeClassifier(),
    NearestCentroid(),
    GaussianNB(),
    PredictsOnly(),
    [("line", SGDClassifier()), ("tree", DecisionTreeClassifier(max_depth=2))],
]


def soft(estimator, **options):
    return small(estimator, **{"competence": "contribution", "increment_size": 60} | options)


def mean_of(ensemble, X, answer=probabilities_of):
    """Return the weighted mean of what the representatives answer."""
    answers = [
        answer(voter, X[:, features], ensemble.classes_)
        for voter, features in zip(ensemble.estimators_, ensemble.estimators_features_, strict=True)
    ]
    return np.average(answers, axis=0, weights=ensemble.vote_weights_)


@pytest.mark.parametrize("voter", VOTERS, ids=str)
@pytest.mark.parametrize("data", ["binary", "multiclass"])
def test_probabilities_are_the_mean_of_the_representatives_at_the_temperature(request, data, voter):
    X, y = request.getfixturevalue(data)
    ensemble = soft(voter, max_features=4).fit(X, y)
    found = ensemble.predict_proba(X)
    mean = mean_of(ensemble, X)
    np.testing.assert_allclose(found, tempered(mean, 1 / ensemble.temperature_), atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert np.array_equal(ensemble.predict(X), ensemble.classes_[found.argmax(axis=1)])
    assert np.isfinite(ensemble.decision_function(X)).all()
    assert ensemble.score(X, y) > 0.7


LINEAR = [SGDClassifier(loss) for loss in ("log_loss", "modified_huber", "hinge")]


@pytest.mark.parametrize("competence", ["contribution", "training"])
@pytest.mark.parametrize("voter", LINEAR, ids=str)
def test_certain_rows_are_told_apart_by_the_decision_function(binary, voter, competence):
    """At temperature 1, as after training competence, and at others, rows that saturate differ."""
    X, y = binary
    ensemble = soft(voter, competence=competence).fit(X, y)
    far = 1000 * X
    q, p = ensemble.predict_proba(far).T
    decision = ensemble.decision_function(far)
    shares = mean_of(ensemble, far)
    is_certain = shares[:, 1] == 1
    assert is_certain.sum() > 20
    assert np.isfinite(decision).all()
    assert len(np.unique(decision[is_certain])) == is_certain.sum()
    assert decision[is_certain].min() > decision[shares[:, 0] >= 2.0**-52].max()
    margins = np.average(
        [each.decision_function(far) for each in ensemble.estimators_],
        axis=0,
        weights=ensemble.vote_weights_,
    )
    ranked = np.argsort(margins[is_certain])
    assert np.all(np.diff(decision[is_certain][ranked]) > 0)
    assert np.array_equal(decision > 0, p > q)


@pytest.mark.parametrize("voting", VOTINGS)
@pytest.mark.parametrize("scale", [1, 30, 1000])
def test_the_decision_function_ranks_rows_as_probabilities_do(binary, voting, scale):
    X, y = binary
    ensemble = soft(SGDClassifier(), voting=voting).fit(X, y)
    p, decision = ensemble.predict_proba(scale * X)[:, 1], ensemble.decision_function(scale * X)
    order = np.argsort(decision, kind="stable")
    assert np.all(np.diff(p[order]) >= -1e-12)
    assert roc_auc_score(y, decision) >= roc_auc_score(y, p) - 1e-3


def test_the_decision_function_of_several_classes_is_finite_where_rows_are_certain(multiclass):
    X, y = multiclass
    ensemble = soft(SGDClassifier("modified_huber")).fit(X, y)
    for scale in (1, 1000):
        p, decision = ensemble.predict_proba(scale * X), ensemble.decision_function(scale * X)
        assert np.isfinite(decision).all()
        assert np.array_equal(decision.argmax(axis=1), p.argmax(axis=1))


@pytest.mark.parametrize("competence", ["contribution", "training"])
def test_an_exact_tie_goes_to_the_first_class_and_has_the_decision_zero(binary, competence):
    X, y = binary
    voter = SGDClassifier("log_loss", fit_intercept=False)
    ensemble = soft(voter, competence=competence).fit(X, np.array(["b", "a"])[y])
    zeros = np.zeros((3, X.shape[1]))
    assert ensemble.predict_proba(zeros).tolist() == [[0.5, 0.5]] * 3
    assert ensemble.decision_function(zeros).tolist() == [0.0] * 3
    assert ensemble.predict(zeros).tolist() == ["a"] * 3


def test_a_tie_of_hard_votes_goes_to_the_first_class(binary):
    X, y = binary
    ensemble = soft(PredictsOnly(), n_estimators=4, n_final=4, mechanism="direct").fit(X, y)
    ensemble.set_params(voting="hard")
    p, decision = ensemble.predict_proba(X)[:, 1], ensemble.decision_function(X)
    assert np.any(p == 0.5)
    assert np.all(decision[p == 0.5] == 0)
    assert np.all(ensemble.predict(X)[p == 0.5] == 0)


@pytest.mark.parametrize("voter", [SGDClassifier(), DecisionTreeClassifier(max_depth=2)], ids=str)
def test_rows_of_zeros_are_rows(voter):
    X, y = np.zeros((120, 3)), np.arange(120) % 3
    ensemble = soft(voter).fit(X, y)
    p = ensemble.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert np.array_equal(p, np.tile(p[0], (120, 1)))
    assert np.isfinite(ensemble.decision_function(X)).all()


@pytest.mark.parametrize("voter", [SGDClassifier(), DecisionTreeClassifier(max_depth=2)], ids=str)
@pytest.mark.parametrize("voting", VOTINGS)
def test_an_increment_may_have_one_class_only(binary, voter, voting):
    X, y = binary
    order = np.argsort(y, kind="stable")
    ensemble = soft(voter, voting=voting)
    for start in range(0, 500, 100):
        ensemble.partial_fit(X[order][start : start + 100], y[order][start : start + 100], [0, 1])
        np.testing.assert_allclose(ensemble.predict_proba(X).sum(axis=1), 1)
        assert np.isfinite(ensemble.decision_function(X)).all()
    assert len(ensemble.estimators_) < 12


def test_a_thousand_classes_vote():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(1000), 2)
    X = rng.normal(size=(1000, 15))[y] + rng.normal(scale=0.1, size=(2000, 15))
    voter = SGDClassifier("log_loss", max_iter=2, tol=None)
    options = {"n_estimators": 4, "n_final": 2, "increment_size": 1000, "final_fit": False}
    ensemble = soft(voter, **options).fit(X, y)
    p = ensemble.predict_proba(X[::10])
    assert p.shape == (200, 1000)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert np.isfinite(ensemble.decision_function(X[::10])).all()
    assert np.array_equal(ensemble.predict(X[::10]), p.argmax(axis=1))
    assert ensemble.score(X[::10], y[::10]) > 0.05  # of a thousand


@pytest.mark.parametrize("data", ["binary", "multiclass"])
@pytest.mark.parametrize("voter", [*LINEAR, DecisionTreeClassifier(max_depth=3)], ids=str)
def test_single_precision_gives_probabilities_in_double_precision(request, data, voter):
    X, y = request.getfixturevalue(data)
    ensemble = soft(voter).fit(X.astype(np.float32), y)
    for rows in (X.astype(np.float32), 1000 * X.astype(np.float32)):
        p = ensemble.predict_proba(rows)
        assert p.dtype == np.float64
        assert np.all((p >= 0) & (p <= 1))
        np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-6)
        assert np.array_equal(ensemble.predict(rows), p.argmax(axis=1))
        assert np.isfinite(ensemble.decision_function(rows)).all()
    assert ensemble.score(X.astype(np.float32), y) > 0.7


def test_voting_may_change_after_training(binary):
    X, y = binary
    ensemble = soft(SGDClassifier()).fit(X, y)
    before = ensemble.predict_proba(X)
    shares = ensemble.set_params(voting="hard").predict_proba(X)
    votes = np.stack([voter.predict(X) for voter in ensemble.estimators_])
    assert np.array_equal(shares, tally(votes, ensemble.estimator_weights_, 2))
    assert np.array_equal(ensemble.set_params(voting="soft").predict_proba(X), before)


def test_an_ensemble_trained_by_hard_votes_may_answer_with_probabilities(binary):
    X, y = binary
    ensemble = soft(SGDClassifier("log_loss"), voting="hard").fit(X, y).set_params(voting="soft")
    np.testing.assert_allclose(ensemble.predict_proba(X), mean_of(ensemble, X))


@pytest.mark.parametrize("voting", VOTINGS)
def test_the_evaluation_set_is_scored_by_the_same_votes(binary, voting):
    X, y = binary
    test = X[400:], y[400:]
    ensemble = soft(PredictsOnly(), voting=voting, final_fit=False)
    ensemble.fit(X[:400], y[:400], eval_set=test)
    assert ensemble.record_[-1].eval_accuracy == ensemble.score(*test)
    other = {"soft": "hard", "hard": "soft"}[voting]
    stream = soft(SGDClassifier(), voting=voting)
    for start in range(0, 400, 100):
        rows = slice(start, start + 100)
        stream.partial_fit(X[rows], y[rows], [0, 1], eval_set=test)
        assert stream.record_[-1].eval_accuracy == stream.score(*test)
    assert np.any(stream.predict_proba(X) != stream.set_params(voting=other).predict_proba(X))


def test_margins_that_overflowed_are_ranked_too():
    values = np.array([[np.inf], [np.inf], [np.inf], [-np.inf]])
    margins = np.array([[np.inf], [2.0], [np.nan], [-np.inf]])
    found = with_margins(values, margins).ravel()
    assert np.isfinite(found).all()
    assert found[0] > found[1] > found[2] > 0 > found[3]
