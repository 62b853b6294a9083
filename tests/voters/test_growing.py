"""What both kinds of voters have in common."""

import copy
import pickle
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    parametrize_with_checks,
)

from skliquid.validation import limits
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier, grow
from skliquid.voters.binning import BinnedRows
from skliquid.voters.growing import BATCHES
from voters.tables import CATEGORICAL, N_COLUMNS, mixed_table, with_interaction

KINDS = [RandomizedForestClassifier(random_state=0), BoostedTreesClassifier(20, random_state=0)]
both_kinds = pytest.mark.parametrize("kind", KINDS, ids=["forest", "boosted"])


def made(kind, **parameters):
    return clone(kind).set_params(**parameters)


def fitted(kind, n_classes=3, **parameters):
    X, y, _ = mixed_table(n_classes=n_classes)
    return made(kind, **parameters).fit(X, y)


@both_kinds
def test_log_probabilities_are_minus_infinity_for_zeros(kind):
    X, _, _ = mixed_table(n_classes=3)
    voter = fitted(kind)
    assert np.array_equal(np.exp(voter.predict_log_proba(X)) == 0, voter.predict_proba(X) == 0)
    np.testing.assert_allclose(np.exp(voter.predict_log_proba(X)), voter.predict_proba(X))


# scikit-learn's checks


def expected_to_fail(voter):
    reason = "bins and random draws depend on the number of rows"
    return {
        "check_sample_weight_equivalence_on_dense_data": reason,
        "check_sample_weight_equivalence_on_sparse_data": reason,
    }


@parametrize_with_checks(KINDS, expected_failed_checks=expected_to_fail)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@both_kinds
def test_a_scikit_learn_check_that_is_not_in_the_list(kind):
    check_dataframe_column_names_consistency(type(kind).__name__, kind)


# The same bits


@both_kinds
def test_the_same_seed_gives_the_same_bits(kind):
    voters = [fitted(kind, random_state=seed) for seed in (0, 0, 1)]
    assert voters[0].trees_.trees == voters[1].trees_.trees
    assert voters[0].trees_.trees != voters[2].trees_.trees


@both_kinds
@pytest.mark.parametrize("n_classes", [2, 3])
def test_any_number_of_threads_gives_the_same_bits(kind, n_classes):
    X, y, _ = mixed_table(n_rows=1200, n_classes=n_classes)
    expected = made(kind).fit(X, y)
    for n_jobs in (2, 3, -1):
        voter = made(kind, n_jobs=n_jobs).fit(X, y)
        assert voter.trees_.trees == expected.trees_.trees
        assert np.array_equal(voter.predict_proba(X), expected.predict_proba(X))


@both_kinds
def test_single_and_double_precision_give_the_same_bits(kind):
    X, y, _ = mixed_table()
    single = X.astype(np.float32)
    double = single.astype(np.float64)
    voters = [made(kind).fit(own, y) for own in (single, double)]
    assert voters[0].trees_.trees == voters[1].trees_.trees
    probabilities = [voter.predict_proba(own) for voter in voters for own in (single, double)]
    assert all(np.array_equal(own, probabilities[0]) for own in probabilities)


@both_kinds
@pytest.mark.parametrize("make", [scipy.sparse.csr_matrix, scipy.sparse.csc_array])
def test_sparse_rows_give_the_bits_of_dense_ones(kind, make, monkeypatch):
    monkeypatch.setattr("skliquid.voters.growing._NUMBERS_AT_ONCE", 100)
    X, y, _ = mixed_table()
    X[:, :3] *= np.random.default_rng(0).random((len(X), 3)) < 0.5
    dense, sparse = made(kind).fit(X, y), made(kind).fit(make(X), y)
    assert sparse.trees_.trees == dense.trees_.trees
    assert np.array_equal(sparse.predict_proba(make(X)), dense.predict_proba(X))
    for own in (slice(100), slice(100, None)):
        dense.partial_fit(X[own], y[own])
        sparse.partial_fit(make(X[own]), y[own])
    assert sparse.trees_.trees == dense.trees_.trees


@both_kinds
def test_rows_may_be_in_a_file(kind, tmp_path):
    X, y, _ = mixed_table()
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    voter, expected = made(kind).fit(mapped, y), made(kind).fit(X, y)
    assert voter.trees_.trees == expected.trees_.trees
    assert np.array_equal(voter.predict_proba(mapped), expected.predict_proba(X))
    voter.partial_fit(mapped, y)


@both_kinds
def test_frames_give_the_bits_of_arrays(kind):
    X, y, _ = mixed_table()
    names = [f"column {k}" for k in range(N_COLUMNS)]
    expected = made(kind).fit(X, y).predict_proba(X)
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        voter = made(kind).fit(frame, y)
        assert voter.feature_names_in_.tolist() == names
        assert np.array_equal(voter.predict_proba(frame), expected)


# Copies


@both_kinds
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda voter: pickle.loads(pickle.dumps(voter))]
)
def test_copies_predict_and_learn_alike(kind, method, copied):
    X, y, _ = mixed_table()
    voter = getattr(made(kind, max_rows=100), method)(X, y)
    twin = copied(voter)
    state = dict(twin.__dict__)
    assert np.array_equal(twin.predict_proba(X), voter.predict_proba(X))
    assert twin.__dict__ == state  # to predict changes nothing
    if copied is copy.copy:  # which shares the rows
        return
    for one in (voter, twin):
        one.partial_fit(X, y)
    assert twin.trees_.trees == voter.trees_.trees


# Missing values


@both_kinds
def test_that_a_value_is_missing_is_learned(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    X[rng.random(600) < 0.4, 1] = np.nan
    y = np.isnan(X[:, 1]).astype(int)
    voter = made(kind).fit(X[:300], y[:300])
    assert voter.score(X[300:], y[300:]) > 0.95


@pytest.mark.parametrize(
    "voter",
    [
        *(RandomizedForestClassifier(1, splitter=name) for name in ("random", "best", "mixed")),
        BoostedTreesClassifier(1, subsample=1.0, learning_rate=1.0),
    ],
    ids=["random", "best", "mixed", "boosted"],
)
@pytest.mark.parametrize("share", [0.3, 0.7])
@pytest.mark.parametrize("categorical", [None, [0]])
@pytest.mark.parametrize("n_rows", [50, 100])
def test_values_that_are_missing_later_go_with_the_larger_side(voter, share, categorical, n_rows):
    X = (np.arange(n_rows) < share * n_rows)[:, None].astype(float)
    voter = made(voter, categorical_features=categorical, random_state=0).fit(X, X[:, 0])
    assert voter.predict([[np.nan], [0.0], [1.0]]).tolist() == [share > 0.5, 0, 1]


def test_values_that_are_missing_elsewhere_go_with_the_larger_side_too():
    """Where none is missing in a node, nothing must be left of those in its sibling."""
    rng = np.random.default_rng(0)
    is_right = np.arange(1000) >= 500
    for share in np.repeat([0.3, 0.7], 10):
        left = np.where(rng.random(1000) < 0.5, np.nan, rng.normal(size=1000))
        right = rng.random(1000) < share
        X = np.column_stack([is_right, np.where(is_right, right, left)])
        y = np.where(is_right, 1 + right, 0)
        y = np.where(rng.random(1000) < 0.05, rng.integers(3, size=1000), y)
        voter = BoostedTreesClassifier(4, random_state=0, subsample=1.0, max_depth=2).fit(X, y)
        larger, missing = voter.predict_proba([[1.0, share > 0.5], [1.0, np.nan]])
        assert np.array_equal(missing, larger)


# Weights


@both_kinds
def test_rows_without_weight_do_not_matter_where_values_are_few(kind):
    parameters = {"subsample": 1.0} if isinstance(kind, BoostedTreesClassifier) else {}
    rng = np.random.default_rng(0)
    X, y = rng.integers(5, size=(300, 4)).astype(float), rng.integers(3, size=300)
    weights = rng.exponential(size=300) * (rng.random(300) < 0.6)
    some = weights > 0
    voter = made(kind, **parameters).fit(X, y, sample_weight=weights)
    without = made(kind, **parameters).fit(X[some], y[some], sample_weight=weights[some])
    assert voter.trees_.trees == without.trees_.trees
    assert voter.n_visits_ == without.n_visits_


@both_kinds
def test_equal_weights_do_not_matter(kind):
    X, y, _ = mixed_table()
    assert made(kind).fit(X, y, np.ones(len(y))).trees_.trees == fitted(kind).trees_.trees


@both_kinds
def test_heavier_rows_draw_predictions_to_their_class(kind):
    X, y, _ = mixed_table(n_classes=2)
    means = []
    for weight in (1, 3, 10):
        voter = made(kind).fit(X, y, sample_weight=np.where(y == 1, weight, 1))
        means.append(voter.predict_proba(X + 0.1)[:, 1].mean())
    assert means[0] + 0.03 < means[1]
    assert means[1] + 0.02 < means[2]


@both_kinds
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_class_weights_are_weights_of_rows(kind, method):
    X, y, weights = mixed_table()
    labels = np.array(["a", "b", "c"])[y]
    n_rows = np.bincount(y)
    for class_weight, factors in [
        ({"b": 5.0}, np.array([1.0, 5.0, 1.0])),
        ("balanced", len(y) / (3 * n_rows)),
    ]:
        voter = getattr(made(kind, class_weight=class_weight), method)
        expected = getattr(made(kind), method)
        assert (
            voter(X, labels, sample_weight=weights).trees_.trees
            == expected(X, labels, sample_weight=weights * factors[y]).trees_.trees
        )
        alone = expected(X, labels, sample_weight=factors[y])
        assert voter(X, labels).trees_.trees == alone.trees_.trees


@both_kinds
def test_balanced_weights_count_all_rows_so_far(kind):
    X, y, _ = mixed_table(n_classes=2)
    rare = np.flatnonzero(y)[:5]
    voter = made(kind, class_weight="balanced")
    voter.partial_fit(X[y == 0], y[y == 0]).partial_fit(X[rare], y[rare])
    n = np.array([np.count_nonzero(y == 0), 5])
    assert voter._recent.weights[0, -1] == n.sum() / (2 * 5)


# Classes


@both_kinds
@pytest.mark.parametrize("n_classes", [3, 10, 300])
def test_any_number_of_classes_is_learned(kind, n_classes):
    rng = np.random.default_rng(0)
    y = np.arange(3 * n_classes) % n_classes
    X = np.column_stack([y % 20, y // 20, rng.normal(size=len(y))]).astype(float)
    voter = made(kind, min_child_weight=0.01) if hasattr(kind, "subsample") else made(kind)
    voter.fit(X, y)
    probabilities = voter.predict_proba(X)
    assert probabilities.shape == (len(y), n_classes)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert voter.score(X, y) > 0.9


@both_kinds
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_one_class_is_certain(kind, method):
    X, _, _ = mixed_table()
    voter = getattr(made(kind), method)(X, ["only"] * len(X))
    assert np.array_equal(voter.predict_proba(X), np.ones((len(X), 1)))
    assert set(voter.predict(X)) == {"only"}
    assert voter.n_visits_ == 0


GROWTH = [["m"], ["m", "a"], ["z"], ["b", "c", "m"]]
"""Labels of parts of a stream: one class, two, three and five."""


@both_kinds
@pytest.mark.parametrize("n_rows", [1, 60])
def test_classes_may_come_late(kind, n_rows):
    rng, voter, known, all_labels = np.random.default_rng(0), made(kind), set(), []
    for labels in GROWTH:
        y = np.resize(labels, max(n_rows, len(labels)))
        all_labels.extend(y)
        X = np.array([[ord(label)] for label in y]) + 0.1 * rng.normal(size=(len(y), 1))
        voter.partial_fit(X, y)
        known |= set(labels)
        assert voter.classes_.tolist() == sorted(known)
        assert voter.classes_[voter._recent.y].tolist() == all_labels
        probabilities = voter.predict_proba(X)
        assert probabilities.shape == (len(y), len(known))
        assert np.all(np.isfinite(probabilities))
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    for _ in range(20):
        for labels in GROWTH:
            y = np.resize(labels, 30)
            X = np.array([[ord(label)] for label in y]) + 0.1 * rng.normal(size=(30, 1))
            voter.partial_fit(X, y)
    assert voter.predict([[ord(label)] for label in "abcmz"]).tolist() == list("abcmz")


@both_kinds
def test_one_row_of_a_second_class_is_enough_for_trees(kind):
    X, _, _ = mixed_table()
    voter = made(kind).partial_fit(X, [5] * len(X)).partial_fit(X[:1], [2])
    assert len(voter.trees_) == -(-voter.n_trees // 4)
    assert np.all(voter.predict_proba(X)[1:, 1] > 0.5)


@both_kinds
def test_classes_that_come_late_leave_the_odds_of_others_as_they_were(kind):
    X, y, _ = mixed_table(n_classes=2)
    voter = made(kind).partial_fit(X, y)
    before = voter.predict_proba(X)
    for labels in ([-1], [0, 5, 6]):
        voter.add_classes(np.array(labels))
        after = voter.predict_proba(X)
        own = np.searchsorted(voter.classes_, [0, 1])
        np.testing.assert_allclose(after[:, own[1]] / after[:, own[0]], before[:, 1] / before[:, 0])
        assert np.delete(after, own, axis=1).max() < 0.02
    assert voter.classes_.tolist() == [-1, 0, 1, 5, 6]


@both_kinds
def test_classes_may_be_announced(kind):
    X, y, _ = mixed_table(n_classes=2)
    voter = made(kind).partial_fit(X, y, classes=[3, 1, 0, 2])
    assert voter.classes_.tolist() == [0, 1, 2, 3]
    assert voter.predict_proba(X).shape == (len(X), 4)
    assert voter.predict_proba(X)[:, 2:].max() < 0.2
    only = made(kind).partial_fit(X[y == 0], y[y == 0], classes=[0, 1])
    assert set(only.predict(X)) == {0}


@both_kinds
def test_labels_of_another_type_are_an_error(kind):
    X, y, _ = mixed_table()
    voter = made(kind).partial_fit(X, y)
    with pytest.raises(ValueError, match="Mix of label input types"):
        voter.partial_fit(X, y.astype(str))


# Streams


def stream(voter, n_rows, batch, rng, sign=1.0):
    """Train on rows of a stream, batch by batch, and yield the voter after each."""
    for start in range(0, n_rows, batch):
        X, y = with_interaction(min(batch, n_rows - start), rng, sign)
        yield voter.partial_fit(X, y)


@both_kinds
@pytest.mark.parametrize("batch", [10, 90, 400, 1000])
def test_cost_and_memory_of_a_stream_are_bounded(kind, batch):
    rng, voter, visits, most = np.random.default_rng(0), made(kind, max_rows=400), [], 0
    for one in stream(voter, 8000, batch, rng):
        visits.append(one.n_visits_)
        assert one._recent.n_kept <= 400
        assert len(one._recent._y) <= 400
        most = max(most, len(pickle.dumps(one)))
        assert len(one.trees_) <= one.n_trees
    assert voter.n_seen_ == 8000
    n_calls = len(visits)
    first, last = sum(visits[: n_calls // 2]), sum(visits[n_calls // 2 :])
    assert last <= 1.1 * first + 400 * voter.n_trees
    assert sum(visits) <= 8000 * 2 * voter.n_trees
    assert len(pickle.dumps(voter)) <= most < 400_000


@both_kinds
@pytest.mark.parametrize("batch", [20, 50, 800, 2500])
def test_an_abrupt_drift_is_forgotten(kind, batch):
    rng, voter = np.random.default_rng(0), made(kind, max_rows=1000)
    tests = {sign: with_interaction(1000, rng, sign) for sign in (1.0, -1.0)}
    for _ in stream(voter, 4000, batch, rng):
        pass
    before = voter.score(*tests[1.0])
    assert before > 0.85
    for _ in stream(voter, 1500, batch, rng, -1.0):
        pass
    assert voter.score(*tests[-1.0]) > before - 0.05


@both_kinds
def test_all_trees_are_new_after_little_more_than_half_the_rows(kind):
    rng, voter = np.random.default_rng(0), made(kind, max_rows=1000)
    for _ in stream(voter, 3000, 100, rng):
        pass
    before = set(voter.trees_.trees)
    for _ in stream(voter, 600, 100, rng):
        pass
    assert not before & set(voter.trees_.trees)
    assert len(voter.trees_) == voter.n_trees


@both_kinds
def test_a_stream_ends_as_accurate_as_a_fit(kind):
    rng = np.random.default_rng(0)
    X, y = with_interaction(2000, rng)
    test = with_interaction(2000, rng)
    voter = made(kind)
    for start in range(0, 2000, 100):
        voter.partial_fit(X[start : start + 100], y[start : start + 100])
    assert voter.score(*test) > made(kind).fit(X, y).score(*test) - 0.03


@both_kinds
@given(sizes=st.lists(st.integers(1, 50), min_size=1, max_size=40))
def test_trees_are_due_in_proportion_to_rows(kind, sizes):
    voter = made(kind, max_rows=100)
    voter.start(np.arange(2), 3)
    voter.add_trees(fitted_trees(kind))
    voter.n_seen_ = 1000
    n_due = 0
    for n_new in sizes:
        expected, _ = voter.trees_due(n_new)
        assert voter.trees_due(n_new)[0] == expected  # to ask changes nothing
        assert voter.take_turn(n_new) == expected
        assert expected == 0 or expected >= voter.n_trees // BATCHES
        n_due += expected
    at_once = max(voter.n_trees // BATCHES, 1)
    assert abs(n_due - voter.n_trees * sum(sizes) / 50) <= at_once
    assert voter.n_seen_ == 1000 + sum(sizes)


@cache
def fitted_trees(kind):
    return made(kind).fit(np.eye(3), [0, 1, 1]).trees_.trees


@both_kinds
def test_one_call_grows_a_quarter_of_the_trees_while_all_rows_are_kept(kind):
    X, y, _ = mixed_table()
    voter, n_quarter = made(kind), kind.n_estimators // 4
    for k in range(1, 5):
        voter.partial_fit(X, y)
        assert len(voter.trees_) == voter.n_grown_ == k * n_quarter
    voter.partial_fit(X, y)
    assert len(voter.trees_) == voter.n_trees
    assert voter.n_grown_ == 5 * n_quarter


@both_kinds
def test_a_voter_that_was_fitted_learns_on(kind):
    rng = np.random.default_rng(0)
    test, other = with_interaction(1000, rng), with_interaction(1000, rng, -1.0)
    voter = made(kind, max_rows=500).fit(*with_interaction(1000, rng))
    trees, accuracy = voter.trees_.trees, voter.score(*test)
    voter.partial_fit(*with_interaction(2, rng))
    assert voter.n_seen_ == 1002
    for _ in stream(voter, 500, 50, rng):
        pass
    assert voter.trees_.trees != trees
    assert voter.score(*test) > accuracy - 0.1
    for _ in stream(voter, 750, 50, rng, -1.0):
        pass
    assert voter.score(*other) > accuracy - 0.05


@both_kinds
def test_fit_begins_anew(kind):
    X, y, _ = mixed_table()
    voter = made(kind).partial_fit(X, y).partial_fit(-X, y + 7)
    assert voter.fit(X, y).trees_.trees == fitted(kind).trees_.trees
    assert voter.classes_.tolist() == [0, 1, 2]
    again, expected = voter.partial_fit(X, y), fitted(kind).partial_fit(X, y)
    assert again.trees_.trees == expected.trees_.trees


@both_kinds
def test_no_more_than_max_rows_are_used(kind):
    X, y, _ = mixed_table()
    voter = made(kind, max_rows=20).fit(X, y)
    assert voter.n_visits_ <= 20 * voter.n_trees
    assert voter.n_seen_ == len(y)
    assert voter.trees_.trees != made(kind, max_rows=19).fit(X, y).trees_.trees


# In pools


def test_voters_that_are_grown_together_are_those_that_are_grown_alone():
    X, y, weights = mixed_table()
    voters = [clone(KINDS[k % 2]).set_params(random_state=k) for k in range(4)]
    own = np.stack([weights, weights[::-1], np.ones(len(y)), weights + 1])
    rows = BinnedRows.from_rows(X, y, own, np.zeros(N_COLUMNS, dtype=bool))
    for voter in voters:
        voter.start(np.arange(3), N_COLUMNS)
        voter.take_turn(len(y))
    numbers = [[2, 5, 1, 5], [1, 4, 3, 5], [3, None, 2, 3], [None, 2, None, 4]]
    visits = [grow(voters, rows, own, 2, X) for own in numbers]
    for k, voter in enumerate(voters):
        alone = clone(voter)
        alone.start(np.arange(3), N_COLUMNS)
        alone.take_turn(len(y))
        mine = BinnedRows.from_rows(X, y, own[k], np.zeros(N_COLUMNS, dtype=bool))
        for n_trees, n_visits in zip(numbers, visits, strict=True):
            assert grow([alone], mine, [n_trees[k]], 1, X) == [n_visits[k]]
        assert alone.trees_.trees == voter.trees_.trees
    forests, boosted = voters[::2], voters[1::2]
    for some in (forests, boosted):
        together = some[0].probabilities(some, X, 2)
        for voter, probabilities in zip(some, together, strict=True):
            assert np.array_equal(voter.predict_proba(X), probabilities)


def test_a_fit_is_what_a_pool_grows():
    X, y, weights = mixed_table()
    rows = BinnedRows.from_rows(X, y, weights, CATEGORICAL)
    for kind in KINDS:
        voter = made(kind)
        voter.start(np.arange(3), N_COLUMNS)
        grow([voter], rows, [None], 1)
        expected = made(kind, categorical_features=[3, 4])
        X_as_codes = expected.fit(X, y, weights)._coder.encode(X)
        again = BinnedRows.from_rows(X_as_codes, y, weights, CATEGORICAL)
        voter.start(np.arange(3), N_COLUMNS)
        grow([voter], again, [None], 1)
        assert voter.trees_.trees == expected.trees_.trees


# Errors

WRONG = [
    ({"max_rows": 0}, "max_rows must be a whole number of 1 or more: got 0. Give an integer like"),
    ({"max_rows": 2.5}, "max_rows must be a whole number of 1 or more: got 2.5"),
    ({"n_estimators": 0}, "n_estimators must be a whole number of 1 or more: got 0"),
    ({"n_estimators": "many"}, "n_estimators must be a whole number of 1 or more: got 'many'"),
    ({"max_features": 0.0}, r"max_features must be .*above 0 and up to 1: got 0.0. Give a number"),
    ({"max_features": 1.5}, r"max_features must be .*above 0 and up to 1: got 1.5. Give a number"),
    ({"max_features": "log2"}, r"max_features must be .*above 0 and up to 1: got 'log2'"),
    ({"class_weight": "even"}, "class_weight must be 'balanced', a dict or None: got 'even'"),
    ({"class_weight": {0: -1}}, "class_weight must hold finite numbers of zero or more: got -1"),
    ({"class_weight": {9: 1}}, "class_weight must hold classes of y only: got a weight for 9"),
    ({"n_jobs": 0}, "n_jobs must not be 0: got 0. Give 1, or -1 for all cores"),
]


@both_kinds
@pytest.mark.parametrize(("parameters", "message"), WRONG, ids=str)
def test_wrong_parameters_are_an_error(kind, parameters, message):
    with pytest.raises(ValueError, match=message):
        fitted(kind, **parameters)


@both_kinds
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (
            np.full(150, -1.0),
            "sample_weight must be zero or more: got -1.0. Give a number like 1.0",
        ),
        (np.zeros(150), "sample_weight must be above zero for some rows: all are zero. Give rows"),
        (np.full(150, 1e26), r"from 1e-100 to 1e\+25, class_weight included: got 1e\+26"),
        (np.full(150, np.nan), "sample_weight contains NaN"),
        (np.full(150, np.inf), "sample_weight contains infinity"),
        (np.ones(149), r"must hold one number per row: got the shape \(149,\) for 150 rows. Give"),
        (np.ones((150, 1)), r"must hold one number per row: got the shape \(150, 1\) for 150"),
    ],
    ids=str,
)
def test_wrong_weights_are_an_error(kind, method, weights, message):
    X, y, _ = mixed_table()
    with pytest.raises(ValueError, match=message):
        getattr(made(kind), method)(X, y, sample_weight=weights)


def wrong_indices():
    X = scipy.sparse.csr_array(np.eye(3))
    X.indices = np.array([0, 1, 9], dtype=X.indices.dtype)
    return X


def wrong_lists():
    X = scipy.sparse.lil_array(np.eye(3))
    X.rows[2] = [9]
    return X


@both_kinds
@pytest.mark.parametrize("make", [wrong_indices, wrong_lists])
def test_wrong_indices_are_an_error(kind, make):
    for method in ("fit", "partial_fit"):
        with pytest.raises(ValueError, match="X must be a sparse matrix whose indices fit"):
            getattr(made(kind), method)(make(), [0, 1, 0])
    voter = made(kind).fit(np.eye(3), [0, 1, 0])
    with pytest.raises(ValueError, match="X must be a sparse matrix whose indices fit"):
        voter.predict(make())


@both_kinds
def test_wrong_rows_are_an_error(kind, monkeypatch):
    X, y, _ = mixed_table()
    voter = fitted(kind)
    lazy = pl.DataFrame(X).lazy()
    for use in (lambda X: voter.fit(X, y), voter.predict, lambda X: voter.partial_fit(X, y)):
        with pytest.raises(TypeError, match=r"X must hold data: got a LazyFrame.*X.collect"):
            use(lazy)
        with pytest.raises(ValueError, match="infinity"):
            use(np.where(np.isnan(X), np.inf, X))
    with pytest.raises(TypeError, match=r"y must hold data: got a LazyFrame"):
        voter.fit(X, lazy)
    monkeypatch.setattr(limits, "MAX_SPARSE_CELLS", X.size - 1)
    with pytest.raises(ValueError, match="X must have at most 1649 cells where it is sparse"):
        voter.fit(scipy.sparse.csr_array(X), y)
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        voter.fit(X, np.linspace(0, 1, len(y)))


@both_kinds
def test_a_voter_that_is_not_fitted_says_so(kind):
    with pytest.raises(ValueError, match="not fitted yet"):
        made(kind).predict_proba([[1.0]])
