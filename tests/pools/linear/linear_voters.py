"""Linear voters in a pool and in a loop, side by side."""

import platform

import numpy as np
import scipy.sparse
from sklearn.linear_model import SGDClassifier

from skliquid.delegation.rows import Rows
from skliquid.pools import LinearPool

LOSSES = ["hinge", "log_loss", "modified_huber", "squared_hinge", "perceptron"]
SEEDS = [3, 1, 4, 1590, 2**31 + 5]
VOTERS = np.arange(len(SEEDS))
FUSES = platform.machine().lower() in {"aarch64", "arm64"}


def sparse(X):
    return scipy.sparse.csr_matrix(np.where(X > 0.5, X, 0))


def sgd(**params):
    return lambda seed: SGDClassifier(random_state=seed, **{"max_iter": 40} | params)


def pool_of(make, classes=(0, 1), **options):
    """Return a pool of one voter per seed."""
    return LinearPool([make(seed) for seed in SEEDS], np.array(classes), **options)


def assert_same_bits(ours, theirs):
    assert np.array_equal(ours.coef_, theirs.coef_)
    if LinearPool.stopping_rule == "objective":  # with older scikit-learn comes a BLAS without -0.0
        assert np.array_equal(np.signbit(ours.coef_), np.signbit(theirs.coef_))
    assert np.array_equal(ours.intercept_, theirs.intercept_)
    assert (ours.n_iter_, ours.t_) == (theirs.n_iter_, theirs.t_)
    assert ours.coef_.dtype == theirs.coef_.dtype
    assert ours.intercept_.dtype == theirs.intercept_.dtype
    assert vars(ours).keys() == vars(theirs).keys()


def assert_same_as_scikit_learn(ours, theirs):
    """Compare bits, or with tolerance where scikit-learn's compiler may fuse products and sums."""
    if not FUSES:
        assert_same_bits(ours, theirs)
        return
    tolerance = 1e-3 if ours.coef_.dtype == np.float32 else 1e-6
    largest = np.abs(theirs.coef_).max()
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=0, atol=tolerance * largest)
    assert vars(ours).keys() == vars(theirs).keys()


def assert_same_as_a_loop(make, X, y, sample_weight=None, *, increment=37):
    """Train a pool and a loop side by side, by increments and then in full."""
    classes = np.unique(y)
    pool, loop = pool_of(make, classes), [make(s) for s in SEEDS]
    positions = np.searchsorted(classes, y)

    def assert_same():
        for ours, theirs in zip(pool.estimators(VOTERS), loop, strict=True):
            assert_same_as_scikit_learn(ours, theirs)
        for votes, theirs in zip(pool.vote(VOTERS, X), loop, strict=True):
            assert np.array_equal(classes[votes], theirs.predict(X))

    for start in range(0, len(y), increment):
        cut = slice(start, start + increment)
        weights = None if sample_weight is None else sample_weight[cut]
        visits = pool.train(VOTERS, Rows(X[cut], positions[cut], weights))
        assert visits == len(VOTERS) * len(y[cut])
        for voter in loop:
            voter.partial_fit(X[cut], y[cut], classes=classes, sample_weight=weights)
    assert_same()
    visits = pool.finish(VOTERS, Rows(X, positions, sample_weight))
    for voter in loop:
        voter.fit(X, y, sample_weight=sample_weight)
    assert_same()
    assert visits == sum(voter.n_iter_ for voter in loop) * len(y)
