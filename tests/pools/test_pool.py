"""What every pool must do. A new pool is one more entry in POOLS."""

import pickle
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skliquid.delegation.rows import Rows
from skliquid.diversity import Sample, VoterSpec
from skliquid.pools import (
    EstimatorPool,
    FittedPool,
    FittedVoter,
    LinearPool,
    SampledPool,
    TreePool,
    VoterPool,
    pool_for,
)
from skliquid.pools.predictions import probabilities_of
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier

N_VOTERS = 5
VOTERS = np.arange(N_VOTERS)
CLASSES = np.array(["a", "b", "c"])


class Case(NamedTuple):
    """How a pool is made, given all rows, and what sets it apart from others."""

    make: Callable[[Rows], VoterPool]
    learns: bool = True
    """Whether training changes the voters."""
    samples: bool = False
    """Whether voters draw a new sample at each training."""
    visits: int = N_VOTERS
    """How often all voters together visit each of the first rows."""


def estimator_pool(estimator, **options):
    has_seed = "random_state" in estimator.get_params()
    voters = [
        clone(estimator).set_params(**{"random_state": seed} if has_seed else {}) for seed in VOTERS
    ]
    return Case(lambda _: EstimatorPool(list(map(clone, voters)), CLASSES, **options))


def linear(_=None):
    return LinearPool([SGDClassifier(random_state=seed) for seed in VOTERS], CLASSES)


FOREST, BOOSTED = RandomizedForestClassifier(8), BoostedTreesClassifier(20, subsample=1.0)
SUBSPACES = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [2, 3]])
N_TREES = {FOREST: 2, BOOSTED: 5}  # a quarter at the first increment


def of_trees(*estimators, **options):
    kinds = [estimators[seed % len(estimators)] for seed in VOTERS]
    voters = [clone(kind).set_params(random_state=seed) for seed, kind in enumerate(kinds)]

    def make(_):
        return TreePool(list(map(clone, voters)), CLASSES, **options)

    make.subspaces = options.get("subspaces")
    return Case(make, visits=sum(N_TREES[kind] for kind in kinds))


def sampled_trees(_):
    pool = TreePool([clone(FOREST).set_params(random_state=seed) for seed in VOTERS], CLASSES)
    return SampledPool(pool, VOTERS, Sample(0.7, bootstrap=True))


def sampled(_):
    return SampledPool(linear(), VOTERS, Sample(0.7, bootstrap=True))


def fitted(rows):
    voters = [DecisionTreeClassifier(max_features=2, random_state=seed) for seed in VOTERS]
    labels = CLASSES[rows.y]
    return FittedPool([FittedVoter(voter.fit(rows.X, labels), CLASSES) for voter in voters])


def spec_of(*estimators, **drawn):
    return VoterSpec(estimators, range(N_VOTERS), **drawn)


def grouped(_):
    spec = spec_of(SGDClassifier(), SGDClassifier(loss="log_loss"), GaussianNB())
    return pool_for("auto", spec, CLASSES)


POOLS = {
    "linear": Case(linear),
    "grouped": Case(grouped),
    "sampled": Case(sampled, samples=True),
    "fitted": Case(fitted, learns=False),
    "SGDClassifier": estimator_pool(SGDClassifier()),
    "SGDClassifier, 2 jobs": estimator_pool(SGDClassifier(), n_jobs=2),
    "GaussianNB": estimator_pool(GaussianNB()),
    "DecisionTreeClassifier": estimator_pool(DecisionTreeClassifier(max_features=2)),
    "forests": of_trees(FOREST),
    "boosted trees": of_trees(BOOSTED),
    "forests and boosted trees": of_trees(FOREST, BOOSTED),
    "trees that see some features": of_trees(FOREST, BOOSTED, subspaces=SUBSPACES),
    "sampled trees": Case(sampled_trees, samples=True, visits=2 * N_VOTERS),
    "RandomizedForestClassifier": estimator_pool(FOREST)._replace(visits=2 * N_VOTERS),
}


def seen(make, voter, X):
    """Return the features that a voter sees."""
    subspaces = getattr(make, "subspaces", None)
    return X if subspaces is None else X[:, subspaces[voter]]


def pools_that(are_meant):
    """Parametrize a test by the pools that ``are_meant``."""
    names = [name for name, case in POOLS.items() if are_meant(case)]
    return pytest.mark.parametrize("make", [POOLS[name].make for name in names], ids=names)


every_pool = pools_that(lambda case: True)
learning_pools = pools_that(lambda case: case.learns)


@pytest.fixture
def rows(multiclass):
    return Rows(*multiclass)


@every_pool
def test_votes_are_positions_among_the_classes(make, rows):
    pool = make(rows)
    pool.train(VOTERS, rows)
    votes = pool.vote(VOTERS, rows.X)
    assert votes.shape == (N_VOTERS, rows.n_rows)
    assert set(np.unique(votes)) <= {0, 1, 2}
    assert np.mean(votes == rows.y) > 0.6


@every_pool
def test_probabilities_are_those_of_the_fitted_voters(make, rows):
    pool = make(rows)
    pool.train(VOTERS, rows.at(slice(60)))
    asked = np.array([3, 1])
    probabilities = pool.probabilities(asked, rows.X)
    assert probabilities.shape == (2, rows.n_rows, 3)
    np.testing.assert_allclose(probabilities.sum(axis=2), 1)
    for k, voter, own in zip(asked, pool.estimators(asked), probabilities, strict=True):
        assert np.array_equal(own, probabilities_of(voter, seen(make, k, rows.X), CLASSES))


@every_pool
def test_margins_are_those_of_the_fitted_voters_or_zero(make, rows):
    pool = make(rows)
    pool.train(VOTERS, rows.at(slice(60)))
    asked = np.array([3, 1])
    margins = pool.margins(asked, rows.X)
    assert margins.shape == (2, rows.n_rows, 3)
    for k, voter, own in zip(asked, pool.estimators(asked), margins, strict=True):
        X = seen(make, k, rows.X)
        expected = voter.decision_function(X) if hasattr(voter, "decision_function") else 0
        assert np.array_equal(own, np.broadcast_to(expected, own.shape))


@every_pool
def test_rows_that_were_expected_change_no_answer(make, rows):
    calm, told = make(rows), make(rows)
    for pool in (calm, told):
        pool.train(VOTERS, rows.at(slice(60)))
    told.expect(rows)
    for method in ("vote", "probabilities", "margins"):
        answers = [getattr(pool, method)(VOTERS, rows.X) for pool in (calm, told)]
        assert np.array_equal(*answers)


@every_pool
def test_only_the_voters_named_train(make, rows):
    pool = make(rows)
    pool.train(VOTERS, rows.at(slice(50)))
    before = pool.vote(VOTERS[:3], rows.X)
    pool.train(VOTERS[3:], rows.at(slice(50, None)))
    assert np.array_equal(pool.vote(VOTERS[:3], rows.X), before)


@pytest.mark.parametrize("name", [name for name, case in POOLS.items() if case.learns])
def test_training_changes_voters_and_returns_a_cost(name, rows):
    pool = POOLS[name].make(rows)
    cost = pool.train(VOTERS, rows.at(slice(20)))
    if name == "sampled trees":  # which are not grown on rows that were not drawn
        assert 8 * POOLS[name].visits < cost < 12 * POOLS[name].visits
    else:
        assert cost == 20 * POOLS[name].visits
    before = pool.vote(VOTERS, rows.X)
    assert pool.train(VOTERS, rows.at(slice(20, None))) >= 130 * N_VOTERS
    assert not np.array_equal(pool.vote(VOTERS, rows.X), before)
    assert pool.finish(VOTERS, rows) >= rows.n_rows * N_VOTERS


@pools_that(lambda case: not case.learns)
def test_voters_that_learn_no_more_stay_as_they_are_and_cost_nothing(make, rows):
    pool = make(rows)
    before = pool.vote(VOTERS, rows.X)
    other = rows._replace(y=(rows.y + 1) % 3)
    assert (pool.train(VOTERS, other), pool.finish(VOTERS, other)) == (0, 0)
    assert np.array_equal(pool.vote(VOTERS, rows.X), before)


@every_pool
def test_the_final_fit_forgets_the_increments(make, rows):
    pool, other = make(rows), make(rows)
    pool.train(VOTERS, rows.at(slice(50)))
    other.train(VOTERS, rows.at(slice(50))._replace(y=(rows.y[:50] + 1) % 3))
    for trained in (pool, other):
        trained.finish(VOTERS, rows)
    assert np.array_equal(pool.vote(VOTERS, rows.X), other.vote(VOTERS, rows.X))


@pools_that(lambda case: not case.samples)
def test_the_final_fit_is_that_of_voters_that_have_not_trained(make, rows):
    pool, fresh = make(rows), make(rows)
    pool.train(VOTERS, rows.at(slice(50)))
    pool.finish(VOTERS, rows)
    fresh.finish(VOTERS, rows)
    assert np.array_equal(pool.vote(VOTERS, rows.X), fresh.vote(VOTERS, rows.X))


@every_pool
def test_estimators_predict_the_labels_of_the_user(make, rows):
    pool = make(rows)
    pool.train(VOTERS, rows)
    asked = np.array([4, 0])
    votes = pool.vote(asked, rows.X)
    for k, estimator, own in zip(asked, pool.estimators(asked), votes, strict=True):
        assert estimator.predict(seen(make, k, rows.X)).tolist() == CLASSES[own].tolist()


@every_pool
def test_a_pool_drops_the_voters_it_need_not_keep(make, rows):
    pool = make(rows)
    pool.train(VOTERS, rows)
    votes, size = pool.vote(VOTERS[1:2], rows.X), len(pickle.dumps(pool))
    pool = pool.keep(VOTERS[1:2], training_is_over=True)
    assert np.array_equal(pool.vote(VOTERS[1:2], rows.X), votes)
    assert len(pickle.dumps(pool)) < size
    with pytest.raises(KeyError):
        pool.vote(VOTERS[:1], rows.X)


@every_pool
def test_a_pickled_pool_continues_with_the_same_bits(make, rows):
    pool = make(rows)
    pool.train(VOTERS, rows.at(slice(50)))
    copy = pickle.loads(pickle.dumps(pool))
    for trained in (pool, copy):
        trained.train(VOTERS, rows.at(slice(50, 100)))
    assert np.array_equal(pool.vote(VOTERS, rows.X), copy.vote(VOTERS, rows.X))


@every_pool
def test_the_number_of_threads_changes_no_vote(make, rows):
    pool, other = make(rows), make(rows)
    other.set_n_jobs(2)
    for trained in (pool, other):
        trained.train(VOTERS, rows)
    assert np.array_equal(pool.vote(VOTERS, rows.X), other.vote(VOTERS, rows.X))


@every_pool
@pytest.mark.filterwarnings("error")
def test_classes_may_be_missing_from_an_increment(make, rows):
    pool = make(rows)
    for part in (rows.y == 0, rows.y == 1, rows.y < 2, rows.y == 2):
        pool.train(VOTERS, rows.at(np.flatnonzero(part)))
        assert pool.vote(VOTERS, rows.X).shape == (N_VOTERS, rows.n_rows)


@learning_pools
def test_sample_weights_decide_between_contradictory_rows(make, rows):
    pool, other = make(rows), (rows.y + 1) % 3
    light = rows._replace(sample_weight=np.full(rows.n_rows, 1e-6))
    heavy = rows._replace(y=other, sample_weight=np.ones(rows.n_rows))
    pool.train(VOTERS, light.followed_by(heavy))
    assert np.mean(pool.vote(VOTERS, rows.X) == other) > 0.6


# Pools that are made of others


def with_refitted_voters(name):
    sample = Sample(0.9, bootstrap=False) if name == "sampled" else None
    spec = spec_of(LogisticRegression(), SGDClassifier(), sample=sample)
    return pool_for("linear", spec, CLASSES)


@pytest.mark.parametrize("name", ["grouped", "sampled"])
def test_the_passes_of_voters_that_are_refitted_can_be_limited(rows, name):
    pool = with_refitted_voters(name)
    pool.limit_passes(2)
    n_refitted, n_by_increments = 3, 2
    halves = rows.at(slice(75)), rows.at(slice(75, None))
    assert pool.train(VOTERS, halves[0]) == 75 * (2 * n_refitted + n_by_increments)
    assert pool.train(VOTERS, halves[1]) == 75 * (2 * 2 * n_refitted + n_by_increments)
    pool.limit_passes(None)
    assert pool.train(VOTERS, rows) > 300 * (3 * n_refitted) + 150 * n_by_increments


@pytest.mark.parametrize("name", ["alone", "grouped", "sampled"])
def test_the_trees_that_are_grown_at_once_can_be_limited(rows, name):
    estimators = [BOOSTED] if name == "alone" else [BOOSTED, SGDClassifier()]
    sample = Sample(1.0, bootstrap=False) if name == "sampled" else None
    spec = spec_of(*estimators, sample=sample)
    pool = pool_for("auto", spec, CLASSES)
    halves = rows.at(slice(75)), rows.at(slice(75, None))
    pool.limit_passes(1)
    assert pool.train(VOTERS, halves[0]) == 75 * N_VOTERS
    pool.limit_passes(None)
    n_grow = N_VOTERS if name == "alone" else 3
    assert pool.train(VOTERS, halves[1]) == 150 * 5 * n_grow + 75 * (N_VOTERS - n_grow)
    assert pool.finish(VOTERS, rows, max_passes=1) == 150 * N_VOTERS
