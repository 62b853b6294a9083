"""The samples that voters draw when rows arrive."""

import pickle

import numpy as np
import pytest
from scipy.stats import chisquare, poisson

from skliquid.delegation.rows import Rows
from skliquid.diversity import Sample
from skliquid.pools import SampledPool


class Spy:
    """A pool that only remembers the weights it was given."""

    def train(self, voters, rows):
        self.weights = rows.sample_weight
        return 0


def rows_of(n_rows, sample_weight=None):
    return Rows(np.zeros((n_rows, 1)), np.zeros(n_rows, int), sample_weight)


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_rows_drawn_with_replacement_follow_a_poisson_distribution(share):
    spy, n_rows = Spy(), 4000
    pool = SampledPool(spy, range(3), Sample(share, bootstrap=True))
    pool.train(np.arange(3), rows_of(n_rows))
    for weights in spy.weights:
        counts = np.bincount(weights.astype(int), minlength=4)
        expected = poisson(share).pmf(range(3)) * n_rows
        observed = [*counts[:3], counts[3:].sum()]
        assert chisquare(observed, [*expected, n_rows - expected.sum()]).pvalue > 1e-3


def test_rows_drawn_without_replacement_come_once_or_not_at_all():
    spy = Spy()
    pool = SampledPool(spy, range(3), Sample(0.3, bootstrap=False))
    pool.train(np.arange(3), rows_of(4000, np.full(4000, 2.0)))
    assert set(np.unique(spy.weights)) == {0, 2}
    assert spy.weights.mean() == pytest.approx(0.6, abs=0.05)


def test_a_sample_depends_on_the_voter_alone():
    first, second = Spy(), Spy()
    pool = SampledPool(first, range(5), Sample(1.0, bootstrap=True))
    pool.train(np.arange(5), rows_of(50))
    pool.train(np.array([1, 3]), rows_of(50))
    other = SampledPool(second, range(5), Sample(1.0, bootstrap=True))
    other.train(np.array([3]), rows_of(50))
    other = pickle.loads(pickle.dumps(other))
    other.pools = [second]
    other.train(np.array([3]), rows_of(50))
    assert np.array_equal(first.weights[1], second.weights[0])


def test_no_sample_is_empty():
    spy = Spy()
    pool = SampledPool(spy, range(200), Sample(0.1, bootstrap=True))
    pool.train(np.arange(200), rows_of(1))
    assert spy.weights.min() == 1
