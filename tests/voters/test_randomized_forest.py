import copy

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import ShuffleSplit, cross_validate

from skliquid import native
from skliquid.voters import RandomizedForestClassifier
from skliquid.voters.binning import BinnedRows
from voters.tables import N_COLUMNS, mixed_table


def nodes_of(forest):
    return [np.frombuffer(nodes, native.NODE) for nodes, _ in forest.trees_.trees]


def n_leaves(forest):
    return [np.count_nonzero(nodes["feature"] & 2**31) for nodes in nodes_of(forest)]


@pytest.mark.parametrize("splitter", native.SPLITTERS)
@pytest.mark.parametrize("load", [load_digits, load_breast_cancer, load_wine])
def test_it_is_about_as_accurate_as_extra_trees(load, splitter):
    X, y = load(return_X_y=True)
    halves = ShuffleSplit(4, test_size=0.5, random_state=0)
    ours, theirs = (
        cross_validate(forest, X, y, cv=halves, scoring=["accuracy", "neg_log_loss"])
        for forest in (
            RandomizedForestClassifier(20, splitter=splitter, random_state=0),
            ExtraTreesClassifier(20, random_state=0),
        )
    )
    assert ours["test_accuracy"].mean() > theirs["test_accuracy"].mean() - 0.015
    assert ours["test_neg_log_loss"].mean() > theirs["test_neg_log_loss"].mean() - 0.05


def test_a_leaf_has_its_shares_and_those_above_it_as_one_more_row():
    X, y = np.array([[0.0], [0.0], [0.0], [1.0]]), [0, 0, 1, 1]
    forest = RandomizedForestClassifier(3, random_state=0).fit(X, y)
    root = np.array([2.5, 2.5]) / 5
    left, right = (np.array([2, 1]) + root) / 4, (np.array([0, 1]) + root) / 2
    expected = np.stack([left, left, left, right])
    np.testing.assert_allclose(forest.predict_proba(X), expected, rtol=1e-6)


def test_probabilities_are_the_mean_over_trees():
    X, y, _ = mixed_table()
    forest = RandomizedForestClassifier(3, random_state=0).fit(X, y)
    found = np.zeros((3, len(X), 3))
    each = [native.Trees([tree], 3, N_COLUMNS) for tree in forest.trees_.trees]
    native.add_up_trees(each, X, found, 1)
    np.testing.assert_allclose(found.sum(axis=2), 1, rtol=1e-6)
    np.testing.assert_allclose(forest.predict_proba(X), found.mean(axis=0), rtol=1e-6)


def test_trees_are_deep_enough_to_tell_all_rows_apart():
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.arange(60) % 2
    for splitter in native.SPLITTERS:
        forest = RandomizedForestClassifier(splitter=splitter, random_state=0).fit(X, y)
        assert forest.score(X, y) == 1
        assert forest.n_visits_ == 8 * 60


@pytest.mark.parametrize("splitter", native.SPLITTERS)
def test_leaves_have_enough_rows(splitter):
    X, y, _ = mixed_table(n_rows=400, n_classes=2)
    before = np.inf
    for least in (1, 3, 10, 100, 201):
        forest = RandomizedForestClassifier(
            4, min_samples_leaf=least, splitter=splitter, random_state=0
        ).fit(X, y)
        assert max(n_leaves(forest)) <= 400 / least
        assert sum(n_leaves(forest)) < before
        before = sum(n_leaves(forest))
    assert before == 4


@pytest.mark.parametrize(
    ("max_features", "n_tried"), [("sqrt", 3), (5, 5), (99, 10), (0.5, 5), (1.0, 10), (0.01, 1)]
)
def test_some_columns_are_tried_at_each_split(max_features, n_tried):
    rows = BinnedRows.from_rows(np.eye(10) + 1, np.arange(10), None, np.zeros(10, dtype=bool))
    assert (rows.n_columns, rows.n_features) == (10, 10)
    forest = RandomizedForestClassifier(max_features=max_features)
    assert forest._n_tried(rows) == n_tried


def test_one_hot_encoded_columns_count_as_one_but_for_the_square_root():
    rows = BinnedRows.from_rows(np.eye(10), np.arange(10), None, np.zeros(10, dtype=bool))
    assert (rows.n_columns, rows.n_features) == (1, 10)
    n_tried = [RandomizedForestClassifier(max_features=m)._n_tried(rows) for m in ("sqrt", 0.5, 5)]
    assert n_tried == [3, 1, 1]


def test_more_columns_find_what_matters_sooner():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20))
    y = (X[:, 7] > 0).astype(int)
    roots = {}
    for share in (0.1, 1.0):
        forest = RandomizedForestClassifier(
            100, max_features=share, splitter="best", random_state=0
        ).fit(X, y)
        roots[share] = np.mean([nodes["feature"][0] == 7 for nodes in nodes_of(forest)])
    assert roots[1.0] == 1
    assert roots[0.1] < 0.3


def test_random_thresholds_differ_and_best_ones_do_not():
    X, y, _ = mixed_table(n_classes=2)
    cuts = {}
    for splitter in native.SPLITTERS:
        forest = RandomizedForestClassifier(
            30, max_features=1.0, splitter=splitter, random_state=0
        ).fit(X[:, :1], y)
        cuts[splitter] = {nodes["cut"][0] for nodes in nodes_of(forest)}
    assert len(cuts["random"]) > 10
    assert cuts["best"] == cuts["mixed"]
    assert len(cuts["best"]) == 1


def test_the_best_threshold_is_in_the_middle_between_rows():
    X, y = np.array([[0.0], [1.0], [10.0], [11.0]]), [0, 0, 1, 1]
    forest = RandomizedForestClassifier(1, splitter="best").fit(X, y)
    (nodes,) = nodes_of(forest)
    assert nodes["cut"][0].view(np.float64) == 5.5


def test_an_unknown_splitter_is_an_error():
    with pytest.raises(ValueError, match=r"splitter must be one of random, best, mixed: got 'wor"):
        RandomizedForestClassifier(splitter="worst").fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("wrong", [0, 1.5, -3])
def test_a_leaf_needs_a_row(wrong):
    with pytest.raises(ValueError, match=r"min_samples_leaf must be a whole number of 1 or more"):
        RandomizedForestClassifier(min_samples_leaf=wrong).fit([[0.0], [1.0]], [0, 1])


def test_trees_take_as_much_room_for_many_classes_as_for_some():
    rng = np.random.default_rng(0)
    X, sizes = rng.normal(size=(3_000, 5)), []
    for n_classes in (300, 1_500):
        y = np.arange(3_000) % n_classes
        forest = RandomizedForestClassifier(2, random_state=0).fit(X, y)
        sizes.append(sum(len(nodes) + len(values) for nodes, values in forest.trees_.trees))
        assert forest.score(X, y) > 0.9
        np.testing.assert_allclose(forest.predict_proba(X[:20]).sum(axis=1), 1)
    assert sizes[1] < 1.2 * sizes[0] < 1.2 * 200 * 2 * 3_000


def test_classes_beyond_256_may_come_later():
    rng = np.random.default_rng(0)
    y = np.concatenate([np.repeat(np.arange(250), 4), np.repeat(np.arange(400), 4)])
    X = rng.normal(size=(400, 5))[y] + 0.1 * rng.normal(size=(len(y), 5))
    forest = RandomizedForestClassifier(8, random_state=0)
    forest.partial_fit(X[:1000], y[:1000])
    assert not forest.trees_.is_sparse
    before = forest.predict_proba(X[:1000])
    wider = copy.deepcopy(forest)
    wider.add_classes(y)
    assert wider.trees_.is_sparse
    after = wider.predict_proba(X[:1000])
    np.testing.assert_allclose(after[:, :250], before, atol=1e-6)
    for _ in range(4):
        forest.partial_fit(X[1000:], y[1000:])
    assert forest.score(X[2000:], y[2000:]) > 0.9
