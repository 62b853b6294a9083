"""Limits: weights that can be squared, and voters that fit into memory."""

import re

import numpy as np
import pytest
import scipy.sparse
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from small_ensembles import FEW_X, FEW_Y, of_four

from skliquid.validation import limits
from skliquid.validation.limits import (
    MAX_WEIGHT,
    MIN_WEIGHT,
    bytes_of_memory,
    check_fits_in_memory,
    check_weight_range,
)
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier


def test_sums_of_squares_of_weights_within_the_range_neither_vanish_nor_overflow():
    for end in (MIN_WEIGHT, MAX_WEIGHT):
        check_weight_range(np.array([end, 0.0, 1.0]))
        assert 0 < np.square(np.full(10**6, end)).sum() < np.inf
    check_weight_range(None)
    check_weight_range(np.zeros(3))


@pytest.mark.parametrize("wrong", [0.9 * MIN_WEIGHT, 1.1 * MAX_WEIGHT])
def test_weights_out_of_range_are_refused_whatever_the_others_are(wrong):
    with pytest.raises(
        ValueError, match=re.escape(f"from 1e-100 to 1e+25, class_weight included: got {wrong:g}")
    ):
        check_weight_range(np.array([0.0, wrong, 1.0]))


@pytest.mark.parametrize("extreme", [1e-300, 5e-324, 1e26, 1e200, 1e308])
def test_weights_whose_squares_are_out_of_range_are_refused(extreme):
    message = re.escape(f"from 1e-100 to 1e+25, class_weight included: got {extreme:g}")
    ones = np.ones(len(FEW_Y))
    fitted = of_four().fit(FEW_X, FEW_Y)
    for refuse in (
        lambda: of_four().fit(FEW_X, FEW_Y, ones * extreme),
        lambda: of_four(class_weight={0: extreme}).fit(FEW_X, FEW_Y),
        lambda: of_four().partial_fit(FEW_X, FEW_Y, sample_weight=ones * extreme),
        lambda: fitted.refit(FEW_X, FEW_Y, ones * extreme),
    ):
        with pytest.raises(ValueError, match=message):
            refuse()


@pytest.mark.parametrize("estimator", [None, SGDClassifier(), GaussianNB()])
@pytest.mark.parametrize("extreme", [1e-100, 1e25])
def test_weights_at_the_ends_of_the_range_give_probabilities(estimator, extreme):
    if extreme > 1 and isinstance(estimator, SGDClassifier):
        pytest.skip("steps of such a length are another error")
    ensemble = of_four(estimator, bootstrap=True).fit(FEW_X, FEW_Y, np.full(len(FEW_Y), extreme))
    assert np.allclose(ensemble.predict_proba(FEW_X).sum(axis=1), 1)


def test_what_cannot_fit_into_memory_is_refused(monkeypatch):
    monkeypatch.setattr("skliquid.validation.limits.bytes_of_memory", lambda: 2**30)
    check_fits_in_memory("n_voters", 2**20, bytes_each=1024)
    message = r"^n_voters must not exceed .*: 1048577 of them, of 1024 bytes .* into 1 GiB. Give"
    with pytest.raises(ValueError, match=message):
        check_fits_in_memory("n_voters", 2**20 + 1, bytes_each=1024)


def test_the_size_of_the_memory_is_known():
    assert 2**28 < bytes_of_memory() < 2**50


@pytest.mark.parametrize(
    "estimator",
    [SGDClassifier(), RandomizedForestClassifier(10**13), BoostedTreesClassifier(10**13)],
    ids=lambda estimator: type(estimator).__name__,
)
def test_more_voters_or_trees_than_fit_into_memory_are_refused_at_once(estimator):
    n_estimators = 10**12 if isinstance(estimator, SGDClassifier) else 4
    with pytest.raises(ValueError, match="n_estimators must not exceed what fits into memory: 1"):
        of_four(estimator, n_estimators=n_estimators).fit(FEW_X, FEW_Y)
    if n_estimators == 4:
        with pytest.raises(ValueError, match="n_estimators must not exceed what fits into memory"):
            estimator.fit(FEW_X, FEW_Y)


@pytest.mark.parametrize("estimator", [None, SGDClassifier()])
def test_more_sparse_columns_than_fit_into_memory_are_refused_at_once(estimator):
    X = scipy.sparse.csr_array(([1.0], ([0], [7])), shape=(len(FEW_Y), 2**31 - 1))
    message = r"X must have at most [\d,]+ columns, .* got 2,147,483,647. Leave out those"
    with pytest.raises(ValueError, match=message):
        of_four(estimator).fit(X, FEW_Y)
    with pytest.raises(ValueError, match=message):
        RandomizedForestClassifier().fit(X, FEW_Y)
    kept, indices = np.unique(X.indices, return_inverse=True)  # the way out
    narrow = scipy.sparse.csr_array((X.data, indices, X.indptr))
    assert (kept.tolist(), narrow.shape) == ([7], (len(FEW_Y), 1))


def test_trees_refuse_too_many_sparse_cells_before_they_look_at_columns():
    X = scipy.sparse.csr_array(([1.0], ([0], [7])), shape=(len(FEW_Y), 2**28))
    with pytest.raises(ValueError, match="X must have at most 2147483648 cells"):
        RandomizedForestClassifier().fit(X, FEW_Y)


def test_very_many_voters_are_warned_of_before_training(monkeypatch):
    monkeypatch.setattr(limits, "MANY_VOTERS", 3)
    with pytest.warns(UserWarning, match="Training 4 voters may take hours: .* Lower n_estimat"):
        of_four().fit(FEW_X, FEW_Y)
    monkeypatch.setattr(limits, "MANY_VOTERS", 4)
    of_four().fit(FEW_X, FEW_Y)
