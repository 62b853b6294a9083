import numpy as np
import pytest
import scipy.sparse
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from skliquid.diversity.standardizer import ROWS, Standardizer


@parametrize_with_checks([Standardizer()])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_columns_are_those_of_scikit_learns_scaler(binary):
    X = 5.0 + 3.0 * binary[0]
    ours, theirs = Standardizer().fit(X), StandardScaler().fit(X)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), atol=1e-12)
    assert ours.get_feature_names_out().tolist() == [f"x{k}" for k in range(X.shape[1])]


def test_missing_values_count_for_nothing_and_become_zero(binary):
    X = 5.0 + 3.0 * binary[0]
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    Z = Standardizer().fit(X).transform(X)
    np.testing.assert_allclose(Z, np.nan_to_num(StandardScaler().fit_transform(X)), atol=1e-12)
    assert np.all(Z[np.isnan(X)] == 0)
    assert np.isnan(X).any()  # they are the user's


def test_columns_of_zeros_and_ones_stay_as_they_are():
    X = np.array([[0, 1, 1, 0, np.nan], [1, 1, np.nan, 0, 1], [1, 1, 0, 0, 0], [0, 1, 1, 0, 1.0]])
    assert np.array_equal(Standardizer().fit_transform(X), np.nan_to_num(X))


@pytest.mark.parametrize("constant", [0.1, -7.0, 1e9, 1e9 + 0.1, 1e150, 5e-324])
def test_a_constant_column_is_centred_and_not_magnified(constant):
    X = np.column_stack([np.full(1000, constant), np.arange(1000)])
    X[::7, 0] = np.nan
    ours = Standardizer().fit(X)
    assert ours.scale_[0] == 1
    np.testing.assert_allclose(ours.transform(X)[:, 0], 0, atol=1e-12 * abs(constant))
    other = ours.transform([[constant + 1, 0.0]])[0, 0]
    np.testing.assert_allclose(other, constant + 1 - constant, atol=1e-9 * abs(constant))


def test_a_column_without_any_value_becomes_zero():
    X = np.column_stack([np.full(5, np.nan), np.arange(5)])
    assert Standardizer().fit_transform(X)[:, 0].tolist() == [0] * 5


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_numbers_of_any_size_become_finite_ones_in_the_same_order(dtype):
    largest, smallest = np.finfo(dtype).max, np.finfo(dtype).tiny
    for values in (
        [-largest, 0, 3, largest / 2, largest],
        [smallest, 2 * smallest, 3 * smallest, 4 * smallest, 1],
        [-1e-3, 0, 1e-3, 2e-3, 3e-3],
        [1e30, 1e31, 1e32, 1e33, 1e34],
    ):
        X = np.array(values, dtype=dtype)[:, None]
        ours = Standardizer().fit(X)
        extreme = np.array([[-largest], [0], [largest], [np.nan]], dtype=dtype)
        narrow = np.array([[-3e38], [0], [3e38], [np.nan]], dtype=np.float32)
        for rows in (X, extreme, narrow):
            Z = ours.transform(rows)
            assert Z.dtype == rows.dtype
            assert np.isfinite(Z).all()
            known = Z[~np.isnan(rows)]
            assert np.all(np.diff(known) >= 0)


def test_float32_stays_float32(binary):
    X = 5.0 + 3.0 * binary[0]
    narrow = Standardizer().fit(X.astype(np.float32))
    assert narrow.transform(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(narrow.transform(X), Standardizer().fit_transform(X), atol=1e-4)


@pytest.mark.parametrize("make", [scipy.sparse.csr_array, scipy.sparse.csr_matrix])
def test_sparse_rows_stay_as_they_are_but_for_missing_values(make):
    dense = np.array([[0, 5.0, np.nan], [1e9, 0, 0], [0, -2.0, 1.0]])
    X = make(dense)
    Z = Standardizer().fit(X).transform(X)
    assert scipy.sparse.issparse(Z)
    assert Z.nnz == X.nnz
    assert np.array_equal(Z.toarray(), np.nan_to_num(dense))
    assert np.isnan(X.toarray()).any()


def test_many_rows_are_represented_by_some_at_equal_distances():
    X = np.random.default_rng(0).normal(size=(2 * ROWS + 5, 2))
    few = Standardizer().fit(X[::3])
    assert np.array_equal(Standardizer().fit(X).mean_, few.mean_)
    assert np.array_equal(Standardizer().fit(X).scale_, few.scale_)


def test_rows_that_were_checked_are_standardized_alike(binary):
    X = binary[0]
    ours = Standardizer().fit(X)
    assert np.array_equal(ours.standardized(X), ours.transform(X))
