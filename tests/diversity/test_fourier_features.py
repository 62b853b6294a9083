import math

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from readable import cosine
from sklearn.kernel_approximation import RBFSampler
from sklearn.utils.estimator_checks import parametrize_with_checks

from skliquid.diversity import FourierFeatures
from skliquid.native import cosines


@parametrize_with_checks([FourierFeatures(n_components=5)])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("gamma", [0.01, 1.0, "scale"])
@pytest.mark.parametrize("container", [np.asarray, np.float32, scipy.sparse.csr_array])
def test_features_are_those_of_scikit_learn_but_for_the_last_bits(binary, gamma, container):
    X = container(binary[0])
    ours = FourierFeatures(gamma=gamma, random_state=3).fit(X)
    theirs = RBFSampler(gamma=gamma, random_state=3).fit(X)
    expected = theirs.transform(X)
    assert ours.transform(X).dtype == expected.dtype
    np.testing.assert_allclose(ours.transform(X), expected, rtol=0, atol=1e-14)


@given(st.lists(st.floats(-1e9, 1e9) | st.floats(-10, 10), min_size=1, max_size=40))
def test_compiled_cosines_are_the_readable_ones_to_the_bit(numbers):
    values = np.array(numbers)
    cosines(values, 0.25)
    assert values.tolist() == [0.25 * cosine(x) for x in numbers]
    np.testing.assert_allclose(values, 0.25 * np.cos(numbers), rtol=0, atol=3e-16)


def test_the_cosine_of_infinity_is_nan():
    values = np.array([math.inf, -math.inf, math.nan, 0.0])
    cosines(values, 2.0)
    assert np.isnan(values[:3]).all()
    assert values[3] == 2.0
