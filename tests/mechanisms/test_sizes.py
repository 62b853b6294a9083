import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from small_ensembles import parts, same, small

from skliquid import CompetenceMeasure, DelegationGraph, prune, revocable
from skliquid.delegation.competence import MEASURES
from skliquid.delegation.running_averages import (
    DecayedAverage,
    Measurement,
    OverallAverage,
    RecentAverage,
)
from skliquid.mechanisms.schedules import FixedCount, JustFastEnough, Rounded
from skliquid.mechanisms.sizes import Sizes, are_weak
from skliquid.presets import N_FINAL_RANGE

FEWEST, MOST = N_FINAL_RANGE


def measured(values, n_rows=100, variance=None):
    """Return the average of voters of these accuracies, or competences of some variance."""
    values, everyone = np.array(values, dtype=float), np.arange(len(values))
    spread = None if variance is None else np.broadcast_to(float(variance), len(values))
    found = Measurement(values, n_rows, spread, is_count=variance is None)
    return OverallAverage.empty(len(values)).update(everyone, found)


def automatic(n_voters, n_increments=10, rate="auto"):
    return Sizes.of(N_FINAL_RANGE, rate, n_voters=n_voters, n_increments=n_increments)


def with_representatives(n, n_voters=60):
    """Return a graph in which the first ``n`` voters are representatives."""
    graph = DelegationGraph.direct(n_voters)
    return graph.delegate(list(range(n, n_voters)), to=[0] * (n_voters - n))


# Sizes


@pytest.mark.parametrize(
    ("n_final", "n_voters", "expected"),
    [
        (12, 80, (12, 12)),
        (12, 5, (5, 5)),
        (N_FINAL_RANGE, 80, (4, 40)),
        (N_FINAL_RANGE, 20, (4, 20)),
        (N_FINAL_RANGE, 3, (3, 3)),
    ],
)
def test_sizes_are_those_of_n_final_and_at_most_all_voters(n_final, n_voters, expected):
    sizes = Sizes.of(n_final, "auto", n_voters=n_voters, n_increments=10)
    assert (sizes.fewest, sizes.n_final) == expected
    assert sizes.schedule == JustFastEnough(n_voters, expected[1], 10)
    assert sizes.schedule_to_fewest == JustFastEnough(n_voters, expected[0], 10)


def test_a_rate_is_that_of_both_ways():
    sizes = automatic(60, rate=0.1)
    assert sizes.schedule == sizes.schedule_to_fewest == Rounded(0.1)
    assert automatic(60, n_increments=None).schedule_to_fewest == Rounded(0.05)
    assert sizes.unchanging().schedule_to_fewest == sizes.unchanging().schedule == FixedCount(0)


def test_a_number_needs_no_evidence():
    sizes = Sizes.of(10, 0.5, n_voters=60, n_increments=None)
    alike = measured([0.7] * 60)
    assert sizes.n_delegators(1, DelegationGraph.direct(60), alike) == 30
    assert sizes.n_delegators(2, with_representatives(12), alike) == 2
    assert sizes.n_delegators(3, with_representatives(10), alike) == 0


def test_who_delegates_by_hand():
    """Ten of fifty voters are weak; 1 may go on the way to 40, and 11 on the way to 4."""
    sizes, graph = automatic(50, n_increments=10), DelegationGraph.direct(50)
    ten_weak = measured([0.9] * 40 + [0.5] * 10)
    assert are_weak(graph, ten_weak).tolist() == [False] * 40 + [True] * 10
    assert sizes.schedule.n_delegators(1, 50) == 1
    assert sizes.schedule_to_fewest.n_delegators(1, 50) == 11
    assert sizes.n_delegators(1, graph, ten_weak) == 10
    assert sizes.n_delegators(1, graph, measured([0.9] * 20 + [0.5] * 30)) == 11
    assert sizes.n_delegators(1, graph, measured([0.9] * 50)) == 1  # due, and not weak
    assert sizes.n_delegators(10, graph, measured([0.9] * 50)) == 10


def test_below_the_ceiling_only_weak_voters_delegate():
    sizes = automatic(60, rate=0.5)
    assert sizes.n_delegators(3, with_representatives(40), measured([0.8] * 60)) == 0
    some_weak = measured([0.8] * 37 + [0.5] * 23)
    assert sizes.n_delegators(3, with_representatives(40), some_weak) == 3
    assert sizes.n_delegators(3, with_representatives(38), some_weak) == 1
    assert sizes.n_delegators(3, with_representatives(44), some_weak) == 7


def test_the_floor_is_not_left():
    sizes = automatic(60, rate=1.0)
    weak = measured([0.9] + [0.1] * 59)
    assert sizes.n_delegators(3, with_representatives(7), weak) == 3
    assert sizes.n_delegators(3, with_representatives(5), weak) == 1
    assert sizes.n_delegators(3, with_representatives(4), weak) == 0


@given(
    st.integers(4, 60),
    st.integers(0, 2**32),
    st.floats(0, 0.2),
    st.sampled_from([None, 0.0, 1e-4]),
)
def test_after_any_delegation_there_are_enough_voters_left(n, seed, rate, variance):
    sizes = automatic(60, rate=rate, n_increments=None)
    competence = measured(np.random.default_rng(seed).integers(101, size=60) / 100, 100, variance)
    graph = with_representatives(n)
    n_delegators = sizes.n_delegators(1, graph, competence)
    assert n - n_delegators >= FEWEST
    n_weak = are_weak(graph, competence).sum()
    assert n_delegators <= max(n_weak, n - MOST)


def test_the_group_is_weighted_by_the_votes_that_voters_carry():
    competence = measured([0.9, 0.6, 0.6, 0.6, 0.9], 20)
    direct = DelegationGraph.direct(5)
    assert not are_weak(direct, competence).any()  # 0.72 is within the interval of 0.6
    heavy = direct.delegate([4], to=[0])
    assert not are_weak(heavy, competence).any()
    carried = DelegationGraph.direct(9).delegate([5, 6, 7, 8], to=[0] * 4)
    competence = measured([0.9, 0.6, 0.6, 0.6, 0.9, 0, 0, 0, 0], 20)
    assert are_weak(carried, competence).tolist() == [False, True, True, True, False]


def test_more_rows_make_a_difference_significant():
    values = [0.8, 0.75, 0.8, 0.8]
    found = [
        are_weak(DelegationGraph.direct(4), measured(values, n)).tolist() for n in (20, 20_000)
    ]
    assert found == [[False] * 4, [False, True, False, False]]
    by_variance = [
        are_weak(DelegationGraph.direct(4), measured(values, 100, v)).any() for v in (0.01, 1e-6)
    ]
    assert by_variance == [False, True]


@pytest.mark.parametrize("make", [OverallAverage.empty, lambda n: RecentAverage.empty(n, 3)])
def test_nobody_is_weak_before_there_is_a_measurement(make):
    assert not are_weak(DelegationGraph.direct(6), make(6)).any()


@pytest.mark.parametrize("make", [OverallAverage.empty, lambda n: RecentAverage.empty(n, 3)])
@pytest.mark.parametrize("n_final", [10, N_FINAL_RANGE])
def test_nobody_delegates_before_there_is_a_measurement(make, n_final):
    sizes = Sizes.of(n_final, 0.5, n_voters=60, n_increments=None)
    assert sizes.n_delegators(1, DelegationGraph.direct(60), make(60)) == 0


def test_voters_that_contribute_the_same_are_not_weak_whatever_the_rounding():
    values = np.full(8, 0.1) + np.arange(8) % 2 * 1e-17
    for average in (
        OverallAverage.empty(8),
        RecentAverage.empty(8, 5),
        DecayedAverage.empty(8, 0.9),
    ):
        found = average
        for _ in range(7):
            found = found.update(np.arange(8), Measurement(values - 0.1, 31, np.zeros(8)))
        assert not are_weak(DelegationGraph.direct(8), found).any()


@given(st.integers(1, 1000), st.sampled_from([0.0, 0.5, 1.0]))
def test_voters_of_the_same_accuracy_are_not_weak_whatever_the_rounding(n_rows, share):
    alike = measured([round(share * n_rows) / n_rows] * 9, n_rows)
    assert not are_weak(DelegationGraph.direct(9), alike).any()


def test_nothing_is_settled_while_the_floor_is_not_reached():
    sizes = automatic(60, n_increments=10)
    assert sizes.ask_again(range(5, 11), 40)
    assert not sizes.ask_again(range(5, 11), 4)
    assert not sizes.ask_again(range(11, 11), 40)


# In an ensemble


class Knows(ClassifierMixin, BaseEstimator):
    """A voter that is right on a share of the rows, its own ones: X holds the label and noise."""

    def __init__(self, share=0.6, random_state=0):
        self.share, self.random_state = share, random_state

    def fit(self, X, y):
        return self.partial_fit(X, y)

    def partial_fit(self, X, y, classes=None):
        self.classes_ = np.array([0, 1])
        return self

    def predict_proba(self, X):
        directions = np.random.default_rng(self.random_state).normal(size=X.shape[1] - 1)
        is_right = 1000 * X[:, 1:] @ directions % 1 < self.share
        p = np.where(is_right == (X[:, 0] == 1), 0.8, 0.2)
        return np.stack([1 - p, p], axis=1)

    def predict(self, X):
        return self.predict_proba(X).argmax(axis=1)


def known_rows(n_rows=600, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n_rows)
    return np.column_stack([y, rng.random((n_rows, 3))]), y


FEW_GOOD = [("good", Knows(0.95)), *((f"random_{k}", Knows(0.5)) for k in range(9))]


def auto(estimator, **options):
    defaults = {"n_estimators": 60, "n_final": "auto", "competence": "contribution"}
    return small(estimator, **defaults | options)


@pytest.mark.parametrize("competence", MEASURES)
@pytest.mark.parametrize(("n_estimators", "n_left"), [(60, 40), (44, 40), (30, 30), (3, 3)])
def test_of_voters_that_are_all_the_same_the_most_remain(binary, competence, n_estimators, n_left):
    options = {"competence": competence, "mechanism": "random", "increment_size": 110}
    ensemble = auto(GaussianNB(), n_estimators=n_estimators, **options).fit(*binary)
    assert len(ensemble.estimators_) == n_left
    assert ensemble.record_.reached_n_final
    assert ensemble.record_.n_final == n_left


def test_voters_without_a_better_candidate_stay(binary):
    ensemble = auto(GaussianNB(), increment_size=110).fit(*binary)
    assert len(ensemble.estimators_) == 60
    assert not ensemble.record_.reached_n_final


@pytest.mark.parametrize("competence", MEASURES)
@pytest.mark.parametrize("mechanism", ["proportional_weighted", "max"])
def test_of_few_good_and_many_random_voters_few_remain(competence, mechanism):
    rows = known_rows()
    ensemble = auto(FEW_GOOD, competence=competence, mechanism=mechanism).fit(*rows)
    assert FEWEST <= len(ensemble.estimators_) <= 8
    carried = sum(
        weight
        for voter, weight in zip(ensemble.estimators_, ensemble.estimator_weights_, strict=True)
        if voter.share == 0.95
    )
    assert carried > 50
    equals = auto(Knows(0.6), competence=competence, mechanism=mechanism).fit(*rows)
    assert 2 * len(ensemble.estimators_) < len(equals.estimators_) <= MOST


MECHANISMS = {
    "proportional_weighted": "proportional_weighted",
    "max": "max",
    "random": "random",
    "revocable": revocable("max"),
}


@pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=MECHANISMS)
@pytest.mark.parametrize(
    "competence", [*MEASURES, CompetenceMeasure("contribution", memory=0.9)], ids=str
)
@pytest.mark.parametrize("way", ["fit", "partial_fit", "prune"])
def test_the_data_choose_the_size_within_the_limits(binary, mechanism, competence, way):
    X, y = binary
    options = {"mechanism": mechanism, "competence": competence, "max_features": 2}
    if way == "fit":
        ensemble = auto(SGDClassifier(), **options).fit(X, y)
    elif way == "partial_fit":
        ensemble = auto(SGDClassifier(), **options)
        for rows in parts(X, y, 30):
            ensemble.partial_fit(*rows, classes=[0, 1])
    else:
        voters = auto(SGDClassifier(), mechanism="direct", max_features=2).fit(X[:200], y[:200])
        del options["max_features"]
        ensemble = prune(voters, X[200:], y[200:], n_final="auto", random_state=0, **options)
    sizes = [step.n_representatives for step in ensemble.record_]
    assert min(sizes) >= FEWEST
    assert sizes[-1] < 60
    if mechanism in ("random", "max"):
        assert sizes[-1] <= MOST
        assert ensemble.record_.reached_n_final
    assert len(ensemble.estimators_) == sizes[-1]
    assert ensemble.estimator_weights_.sum() == 60
    assert ensemble.score(X, y) > 0.8


def test_below_the_ceiling_those_who_delegated_were_weak():
    ensemble = auto(FEW_GOOD, mechanism="max", final_fit=False).fit(*known_rows())
    late = [step for step in ensemble.record_ if len(step.before.representatives) <= MOST]
    delegated = [step for step in late if len(step.delegators)]
    assert delegated
    for step in delegated:
        competence = dict(zip(step.voters, step.competence, strict=True))
        assert all(competence[voter] < 0 for voter in step.delegators)


@pytest.mark.parametrize("options", [{}, {"delegation_rate": 0.3}, {"bootstrap": True}], ids=str)
def test_clone_and_pickle(binary, options):
    X, y = binary
    ensemble = auto(SGDClassifier(), max_features=3, **options)
    assert clone(ensemble).n_final == "auto"
    fitted, twin = ensemble.fit(X, y), clone(ensemble).fit(X, y)
    assert same(fitted, twin, X)
    again = pickle.loads(pickle.dumps(fitted))
    assert same(fitted, again, X)
    assert again.record_.reached_n_final == fitted.record_.reached_n_final


@pytest.mark.parametrize("wrong", ["most", 0, -1, 2.5, None])
def test_another_size_is_refused(binary, wrong):
    with pytest.raises(ValueError, match=r"n_final.*'auto'"):
        small(n_final=wrong).fit(*binary)
