"""The ensemble without any settings, on tables of all kinds."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.model_selection import cross_val_score
from small_ensembles import parts, same

from skliquid import Diversity, LiquidEnsembleClassifier
from skliquid.presets import ESTIMATORS
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier


@pytest.fixture(scope="module")
def table():
    """Breast cancer data, not scaled: 569 rows, two classes."""
    X, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order]


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def default(**options):
    return LiquidEnsembleClassifier(random_state=0, **options)


def accuracy(X, y, n_train=400, **options):
    """Return the accuracy on rows that were not trained on."""
    ensemble = default(**options).fit(X[:n_train], y[:n_train])
    p = ensemble.predict_proba(X[n_train:])
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)
    return ensemble.score(X[n_train:], y[n_train:])


def with_gaps(X, share=0.2):
    return np.where(np.random.default_rng(1).random(X.shape) < share, np.nan, X)


def test_few_voters_remain_after_three_increments(table):
    ensemble = default().fit(*table)
    assert len(ensemble.estimators_) == ensemble.n_final < 8
    assert ensemble.estimator_weights_.sum() == ensemble.n_estimators
    assert ensemble.record_.reached_n_final
    assert len(ensemble.record_) == 3
    assert accuracy(*table) > 0.95


@pytest.mark.parametrize("share", [0.05, 0.5])
def test_missing_values_may_be_in_the_rows_of_fit_and_of_predict(table, share):
    X, y = table
    assert accuracy(with_gaps(X, share), y) > 0.9
    assert default().fit(X, y).score(with_gaps(X, 0.05), y) > 0.9  # missing for the first time
    assert default().fit(with_gaps(X, share), y).score(X, y) > 0.9
    nothing = np.full((3, 30), np.nan)
    assert np.isfinite(default().fit(X, y).predict_proba(nothing)).all()


def test_missing_values_may_be_in_a_stream(table):
    X, y = table
    ensemble = default()
    for X_part, y_part in parts(with_gaps(X[:400]), y[:400], 50):
        ensemble.partial_fit(X_part, y_part, classes=[0, 1])
    assert ensemble.score(with_gaps(X[400:]), y[400:]) > 0.9


def test_a_column_may_have_no_values_or_only_one(table):
    X, y = table
    for column in (np.nan, 0.0, 1.0, 3e7, -1e-9):
        wider = np.hstack([X, np.full((len(y), 2), column)])
        assert accuracy(wider, y) > 0.95


@pytest.mark.parametrize("scale", [1e9, 1e-9, "mixed"])
def test_columns_of_any_scale_are_taken_as_they_are(table, scale):
    X, y = table
    scale = 10.0 ** np.random.default_rng(0).integers(-9, 10, 30) if scale == "mixed" else scale
    far = X * scale + 1e3 * scale
    assert accuracy(far, y) > 0.95
    agreement = default().fit(X, y).predict(X) == default().fit(far, y).predict(far)
    assert agreement.mean() > 0.97


def test_numbers_may_be_as_large_as_they_can_be(table):
    X, y = table
    is_large = np.random.default_rng(0).random(X.shape) < 0.01
    assert accuracy(np.where(is_large, 1e308, X), y) > 0.9
    assert accuracy(np.where(is_large, -3e38, X).astype(np.float32), y) > 0.9


@pytest.mark.parametrize("n_rows", [2, 3, 7, 30])
def test_few_rows_are_enough(table, n_rows):
    X, y = table
    chosen = np.argsort(np.arange(len(y)) // 2 + (y != np.arange(len(y)) % 2) * 1000)[:n_rows]
    ensemble = default().fit(X[chosen], y[chosen])
    assert len(ensemble.classes_) == 2
    assert ensemble.estimator_weights_.sum() == ensemble.n_estimators
    np.testing.assert_allclose(ensemble.predict_proba(X).sum(axis=1), 1)
    assert ensemble.score(X, y) > 0.85 or n_rows < 30


def test_one_column_is_enough(table):
    X, y = table
    assert accuracy(X[:, [22]], y) > 0.85


def test_columns_may_be_many_more_than_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 2000))
    y = rng.integers(2, size=160)
    X[:, ::20] += 1.5 * y[:, None]
    assert accuracy(X, y, n_train=60) > 0.85


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_precision_stays_and_decides_nothing(table, dtype, method):
    X, y = table
    ensemble = getattr(default(), method)(X.astype(dtype), y)
    linear = [voter[-1] for voter in ensemble.estimators_ if hasattr(voter, "steps")]
    assert {voter.coef_.dtype for voter in linear} == {np.dtype(dtype)}
    assert ensemble.score(X.astype(dtype), y) > 0.95


def test_classes_may_be_many():
    X, y = make_classification(
        2000,
        20,
        n_informative=14,
        n_classes=20,
        n_clusters_per_class=1,
        class_sep=2,
        random_state=0,
    )
    assert accuracy(X, y, n_train=1500) > 0.8


def test_labels_may_be_of_any_type(table):
    X, y = table
    plain = default().fit(X, y)
    for labels in (
        np.array(["benign", "malignant"])[y],
        np.array(["benign", "malignant"], dtype=object)[y],
        y.astype(bool),
        7 * y - 3,
    ):
        ensemble = default().fit(X, labels)
        assert np.array_equal(ensemble.classes_, np.unique(labels))
        assert np.array_equal(ensemble.predict_proba(X), plain.predict_proba(X))
        assert ensemble.score(X, labels) == plain.score(X, y)


def test_sparse_rows_are_as_good_as_dense_ones(table):
    X, y = table
    X = np.where(np.median(X, axis=0) < X, X, 0)
    sparse = scipy.sparse.csr_array(X)
    assert accuracy(sparse, y) > 0.93
    ensemble = default().fit(sparse, y)
    np.testing.assert_allclose(ensemble.predict_proba(sparse), ensemble.predict_proba(X))


def test_a_data_frame_is_its_array(table):
    X, y = table
    frame = pd.DataFrame(X, columns=[f"column {k}" for k in range(30)])
    ensemble = default().fit(frame, pd.Series(y))
    assert np.array_equal(ensemble.predict_proba(frame), default().fit(X, y).predict_proba(X))
    assert ensemble.feature_names_in_[0] == "column 0"


def test_rows_that_are_all_equal_have_the_shares_of_the_classes():
    X, y = np.full((90, 3), 5.0), np.arange(90) % 3 == 0
    p = default().fit(X, y).predict_proba(X[:1])
    assert abs(p[0, 1] - 1 / 3) < 0.1


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"bootstrap": True},
        {"max_features": 0.5},
        {"class_weight": "balanced"},
        {"final_fit": False},
        {"n_final": "auto", "n_estimators": 30},
    ],
    ids=str,
)
def test_pools_threads_and_copies_give_the_same_bits(table, options):
    X, y = with_gaps(table[0]), table[1]
    ours = default(**options).fit(X, y)
    assert same(ours, default(pool="estimator", **options).fit(X, y), X)
    assert same(ours, default(n_jobs=4, **options).fit(X, y), X)
    assert same(ours, pickle.loads(pickle.dumps(ours)), X)


def test_a_stream_gives_the_same_bits_through_every_pool(table):
    X, y = table
    ours, theirs = default(), default(pool="estimator")
    for X_part, y_part in parts(X, y, 60):
        for ensemble in (ours, theirs):
            ensemble.partial_fit(X_part, y_part, classes=[0, 1])
        ours = pickle.loads(pickle.dumps(ours))
    assert same(ours, theirs, X)


def test_classes_that_are_rare_count_if_they_are_balanced():
    X, y = make_classification(3000, 10, weights=[0.95], class_sep=0.5, random_state=1)
    found = {}
    for class_weight in (None, "balanced"):
        ensemble = default(class_weight=class_weight).fit(X[:2000], y[:2000])
        found[class_weight] = ensemble.predict(X[2000:])[y[2000:] == 1].mean()
    assert found["balanced"] > found[None] + 0.1


def test_a_limit_of_time_ends_training_early(table):
    X, y = np.tile(table[0], (4, 1)), np.tile(table[1], 4)
    ensemble = default(max_seconds=1e-3).fit(X, y)
    assert "max_seconds=0.001" in ensemble.record_.stopped
    assert ensemble.score(X, y) > 0.85


def test_accuracy_is_that_of_a_good_ensemble(table):
    assert cross_val_score(default(), *table, cv=3).mean() > 0.955


def test_sparse_rows_differ_from_dense_ones_only_in_what_linear_voters_see():
    X, y = load_breast_cancer(return_X_y=True)
    rows = X, scipy.sparse.csr_array(X)

    def probabilities(estimator, X, **options):
        ensemble = LiquidEnsembleClassifier(
            estimator, n_estimators=4, n_final=2, random_state=0, **options
        )
        return ensemble.fit(X, y).predict_proba(X)

    for voter in (RandomizedForestClassifier(), BoostedTreesClassifier()):
        dense, sparse = (probabilities(voter, own) for own in rows)
        assert np.array_equal(dense, sparse)
    linear = ESTIMATORS[0][1]
    dense, sparse = (
        probabilities(linear, own, diversity=Diversity(feature_maps="fourier")) for own in rows
    )
    assert not np.allclose(dense, sparse)  # those of an array are standardized


def test_wide_sparse_rows_leave_out_what_is_drawn_for_trees():
    rng = np.random.default_rng(0)
    X = scipy.sparse.random_array((60, 6_000), density=0.01, rng=rng, format="csr")
    y = (X[:, [0]].toarray().ravel() + rng.normal(size=60) > 0).astype(int)
    drawn = {"linear__alpha": [1e-4], "forest__min_samples_leaf": [2]}
    ensemble = default(diversity=Diversity(param_distributions=drawn)).fit(X, y)
    assert {voter[-1].alpha for voter in ensemble.estimators_} == {1e-4}
