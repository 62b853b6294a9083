import copy

import numpy as np
import pytest
from readable import grow_sequence, sums_of_trees
from scipy.special import softmax
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import ShuffleSplit, cross_validate

from skliquid import native
from skliquid.voters import BoostedTreesClassifier
from skliquid.voters.binning import BinnedRows
from skliquid.voters.boosted_trees import log_odds
from voters.tables import mixed_table, with_interaction


@pytest.mark.parametrize(
    ("load", "n_splits", "margin"),
    [(load_digits, 1, 0.015), (load_breast_cancer, 6, 0.01), (load_wine, 6, 0.025)],
    ids=["digits", "breast cancer", "wine"],
)
def test_it_is_about_as_accurate_as_histogram_boosting(load, n_splits, margin):
    X, y = load(return_X_y=True)
    halves = ShuffleSplit(n_splits, test_size=0.5, random_state=0)
    ours, theirs = (
        cross_validate(trees, X, y, cv=halves, scoring=["accuracy", "neg_log_loss"])
        for trees in (
            BoostedTreesClassifier(random_state=0),
            HistGradientBoostingClassifier(max_iter=20, learning_rate=0.2, random_state=0),
        )
    )
    assert ours["test_accuracy"].mean() > theirs["test_accuracy"].mean() - margin
    assert ours["test_neg_log_loss"].mean() > theirs["test_neg_log_loss"].mean() - 0.06


@pytest.mark.parametrize("n_classes", [2, 3, 8])
def test_probabilities_are_the_softmax_of_scores(n_classes):
    X, y, _ = mixed_table(n_classes=n_classes)
    voter = BoostedTreesClassifier(10, random_state=0).fit(X, y)
    scores = voter.decision_function(X)
    if n_classes == 2:
        assert scores.shape == (len(X),)
        scores = np.column_stack([np.zeros(len(X)), scores])
    assert scores.shape == (len(X), n_classes)
    np.testing.assert_allclose(voter.predict_proba(X), softmax(scores, axis=1), rtol=1e-12)


def test_scores_of_one_class_are_zero():
    voter = BoostedTreesClassifier().fit([[0.0], [1.0]], ["a", "a"])
    assert voter.decision_function([[0.0], [1.0]]).tolist() == [0, 0]


@pytest.mark.parametrize("n_classes", [2, 4])
def test_before_the_first_split_classes_have_their_shares(n_classes):
    y = np.arange(5000) % 10 % n_classes
    voter = BoostedTreesClassifier(30, random_state=0).fit(np.zeros((5000, 1)), y)
    expected = np.bincount(y) / len(y)
    np.testing.assert_allclose(voter.predict_proba([[0.0]])[0], expected, atol=0.01)
    np.testing.assert_allclose(log_odds(y, np.ones(5000), n_classes), voter.base_scores_)


def test_log_odds_count_weights():
    y = np.array([0, 0, 1])
    assert log_odds(y, np.array([1.0, 1.0, 2.0]), 2).tolist() == [0]
    assert log_odds(y, None, 2)[0] == pytest.approx(np.log(1.5 / 2.5))
    assert np.exp(log_odds(y, None, 3)) == pytest.approx(np.array([2.5, 1.5, 0.5]) / 4.5)


@pytest.mark.parametrize("n_classes", [2, 3, 8])
def test_a_first_tree_takes_a_newton_step(n_classes):
    y = np.repeat(np.arange(n_classes), 20)
    X = (y == 0).astype(float)[:, None]
    voter = BoostedTreesClassifier(
        1, subsample=1.0, learning_rate=0.5, l2_regularization=2.0, random_state=0
    ).fit(X, y)
    p = 1 / n_classes
    steps = voter.decision_function([[1.0], [0.0]]) - voter.base_scores_[:]
    sign = -1 if n_classes == 2 else 1  # the score is that of the second class
    own = steps[0] if n_classes == 2 else steps[0, 0]
    step = sign * 0.5 * 20 * (1 - p) / (20 * p * (1 - p) + 2)
    assert own == pytest.approx(step, rel=1e-6)


def test_trees_lower_the_loss_on_rows_they_have_seen():
    X, y, _ = mixed_table()
    losses = [
        log_loss(y, BoostedTreesClassifier(n, random_state=0).fit(X, y).predict_proba(X))
        for n in (1, 5, 20, 80)
    ]
    assert np.all(np.diff(losses) < 0)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_trees_that_are_added_explain_what_those_that_stay_do_not(n_classes):
    X, y, _ = mixed_table(n_classes=n_classes)
    voter = BoostedTreesClassifier(6, random_state=0)
    for k in range(5):
        before = copy.deepcopy(voter)
        voter.partial_fit(X + k / 10, y)
    kept, added = voter.trees_.trees[:-2], voter.trees_.trees[-2:]
    assert kept == before.trees_.trees[-4:]
    recent = voter._recent
    rows = BinnedRows.from_rows(recent.X, recent.y, None, voter.is_categorical)
    (task,) = before.prepare(rows, 2, -1)
    scores = sums_of_trees(kept, recent.X, voter.n_outputs) + voter.base_scores_
    assert tuple(grow_sequence(rows, task, voter.base_scores_, scores)) == added


def test_a_small_learning_rate_learns_less():
    X, y = with_interaction(500, np.random.default_rng(0))
    certainty = [
        BoostedTreesClassifier(10, learning_rate=rate, random_state=0)
        .fit(X, y)
        .predict_proba(X)
        .max(axis=1)
        .mean()
        for rate in (0.01, 0.1, 0.5)
    ]
    assert certainty[0] < 0.6 < certainty[1] < 0.9 < certainty[2]


def depths(nodes):
    """Return the depth of each node; children come after their parents."""
    depth = np.zeros(len(nodes), dtype=int)
    for k, node in enumerate(nodes):
        if not node["feature"] & 2**31:
            depth[node["next"] : node["next"] + 2] = depth[k] + 1
    return depth


@pytest.mark.parametrize("max_depth", [1, 2, 5, 16])
def test_trees_are_not_too_deep(max_depth):
    X, y = with_interaction(2000, np.random.default_rng(0))
    voter = BoostedTreesClassifier(
        3, max_depth=max_depth, min_child_weight=0.0, random_state=0
    ).fit(X, y)
    deepest = [depths(np.frombuffer(nodes, native.NODE)).max() for nodes, _ in voter.trees_.trees]
    assert max(deepest) <= max_depth
    assert max_depth == 16 or max(deepest) == max_depth


def test_regularization_and_weights_of_leaves_make_trees_smaller():
    X, y, _ = mixed_table(n_rows=600)
    sizes = [
        sum(len(nodes) for nodes, _ in voter.fit(X, y).trees_.trees)
        for voter in (
            BoostedTreesClassifier(5, random_state=0),
            BoostedTreesClassifier(5, min_child_weight=5.0, random_state=0),
            BoostedTreesClassifier(5, min_child_weight=np.inf, random_state=0),
        )
    ]
    assert sizes[0] > sizes[1] > sizes[2] == 5 * native.NODE.itemsize
    certainty = [
        BoostedTreesClassifier(5, l2_regularization=l2, random_state=0)
        .fit(X, y)
        .predict_proba(X)
        .max(axis=1)
        .mean()
        for l2 in (0.1, 10.0, 1000.0)
    ]
    assert certainty[0] > certainty[1] > certainty[2]


def test_a_tree_sees_a_share_of_the_columns_and_rows():
    X = np.random.default_rng(0).normal(size=(400, 10))
    y = (X.sum(axis=1) > 0).astype(int)
    voter = BoostedTreesClassifier(
        20, max_features=0.2, subsample=0.25, min_child_weight=0.0, random_state=0
    ).fit(X, y)
    assert voter.n_visits_ == 20 * 100
    columns = []
    for nodes, _ in voter.trees_.trees:
        features = np.frombuffer(nodes, native.NODE)["feature"]
        columns.append(set((features[features < 2**31] % 2**29).tolist()))
    assert max(map(len, columns)) == 2
    assert set.union(*columns) == set(range(10))


@pytest.mark.parametrize(("n_rows", "n_drawn"), [(10, 8), (1, 1), (1000, 80)])
def test_rows_are_drawn_among_the_most_that_are_used(n_rows, n_drawn):
    voter = BoostedTreesClassifier(max_rows=100)
    voter.start(np.arange(2), 1)
    X, y = np.zeros((n_rows, 1)), np.zeros(n_rows, dtype=int)
    (task,) = voter.prepare(BinnedRows.from_rows(X, y, None, np.array([False])), None, -1)
    assert task["n_drawn"] == n_drawn
    assert task["n_window"] == min(n_rows, 100)


def test_a_tree_sees_no_more_columns_than_memory_holds(monkeypatch):
    monkeypatch.setattr("skliquid.voters.boosted_trees.MAX_COLUMNS", 3)
    X = np.random.default_rng(0).normal(size=(200, 9))
    voter = BoostedTreesClassifier(30, random_state=0).fit(X, (X[:, 4] > 0).astype(int))
    roots = [
        np.frombuffer(nodes, native.NODE)["feature"][0] % 2**29 for nodes, _ in voter.trees_.trees
    ]
    assert 5 < np.count_nonzero(np.array(roots) == 4) < 20


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("learning_rate", 0.0, "above zero, and finite: got 0.0"),
        ("learning_rate", np.inf, "above zero, and finite: got inf"),
        ("l2_regularization", -1.0, "above zero, and finite: got -1.0"),
        ("l2_regularization", "no", "above zero, and finite: got 'no'"),
        ("min_child_weight", -0.1, "zero or more: got -0.1"),
        ("min_child_weight", np.nan, "zero or more: got nan"),
        ("subsample", 0.0, "above 0 and up to 1: got 0.0"),
        ("subsample", 1.1, "above 0 and up to 1: got 1.1"),
        ("max_features", 2, "above 0 and up to 1: got 2"),
        ("max_depth", 0, "a whole number of 1 or more: got 0"),
        ("max_depth", 17, "at most 16: got 17"),
        ("max_depth", 2.5, "a whole number of 1 or more: got 2.5"),
    ],
)
def test_wrong_parameters_are_an_error(name, value, rule):
    voter = BoostedTreesClassifier(**{name: value})
    with pytest.raises(ValueError, match=f"{name} must be {rule}. Give a"):
        voter.fit([[0.0], [1.0]], [0, 1])
