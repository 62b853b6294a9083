import numpy as np
import pandas as pd
import pytest
from onnx_runtime import assert_same
from sklearn.tree import DecisionTreeClassifier

from skliquid import LiquidEnsembleClassifier, native, prune, to_onnx
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier

TREE_VOTERS = [RandomizedForestClassifier, BoostedTreesClassifier]
each_tree_voter = pytest.mark.parametrize("voter_class", TREE_VOTERS)


def columns_with_missing_values(n_rows=300, n_columns=4):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns)) * 10.0 ** np.arange(-3, n_columns - 3)
    X[rng.random(X.shape) < 0.2] = np.nan
    return X, np.where(np.isnan(X[:, 0]), 2, (X[:, 1] > 0) ^ (X[:, 2] > 0.5))


def rows_at_thresholds(trees, n_columns):
    """Return rows with the thresholds of all splits, and with their neighbours on both sides."""
    rows = []
    for nodes, _ in trees.trees:
        tree = np.frombuffer(nodes, dtype=native.NODE)
        inner = tree[tree["feature"] < 1 << 30]
        cuts = inner["cut"].copy().view(np.float64)
        finite = np.isfinite(cuts)  # where missing values alone go right, the threshold is not
        for column, cut in zip(inner["feature"][finite] & 0xFFFF, cuts[finite], strict=True):
            for value in (cut, np.nextafter(cut, -np.inf), np.nextafter(cut, np.inf)):
                rows.append(np.zeros(n_columns))
                rows[-1][column] = value
    return np.unique(np.array(rows), axis=0)


@each_tree_voter
def test_rows_at_a_threshold_go_where_ours_go(voter_class):
    X, y = columns_with_missing_values()
    voter = voter_class(random_state=0).fit(X, y)
    rows = rows_at_thresholds(voter.trees_, X.shape[1])
    assert len(rows) > 30
    assert_same(voter, rows, tolerance=1e-12)
    # rounded to float32, some of these rows go elsewhere
    moved = voter.predict_proba(rows) != voter.predict_proba(rows.astype(np.float32))
    assert moved.any()
    assert_same(voter, rows.astype(np.float32), dtype="float32", tolerance=1e-12)


@each_tree_voter
def test_missing_and_infinite_values_go_where_ours_go(voter_class):
    X, y = columns_with_missing_values()
    voter = voter_class(random_state=0).fit(X, y)
    assert_same(voter, X, tolerance=1e-12)
    assert_same(voter, np.full((1, 4), np.nan), tolerance=1e-12)
    assert_same(voter, np.array([[1e308, -1e308, 0.0, np.nan]]), tolerance=1e-12)


@each_tree_voter
def test_missing_values_that_were_not_in_training_go_where_ours_go(voter_class):
    X, y = columns_with_missing_values()
    known = ~np.isnan(X).any(axis=1)
    assert_same(voter_class(random_state=0).fit(X[known], y[known]), X, tolerance=1e-12)


@each_tree_voter
def test_trees_of_one_leaf_predict_the_same(voter_class):
    X, y = np.zeros((20, 2)), np.arange(20) % 3
    assert_same(voter_class(random_state=0).fit(X, y), X)


@each_tree_voter
def test_ensembles_of_trees_take_missing_values(voter_class):
    X, y = columns_with_missing_values()
    ensemble = LiquidEnsembleClassifier(voter_class(), n_estimators=6, n_final=3, random_state=0)
    assert_same(ensemble.fit(X, y), X)


@each_tree_voter
def test_voters_with_different_numbers_of_trees_predict_the_same(voter_class):
    X, y = columns_with_missing_values()
    named = [("few", voter_class(3)), ("more", voter_class(5))]
    ensemble = LiquidEnsembleClassifier(named, n_estimators=6, n_final=4, random_state=0)
    assert_same(ensemble.fit(X, y), X)


# Categories


def table_with_categories(n_rows=400):
    rng = np.random.default_rng(1)
    towns = [f"town {k}" for k in range(70)]
    table = pd.DataFrame(
        {
            "size": rng.normal(size=n_rows),
            "town": pd.Categorical(rng.choice(towns, n_rows) if n_rows else []),
            "level": pd.Categorical(rng.integers(0, 5, n_rows)),
        }
    )
    y = table["town"].cat.codes % 3 + (table["level"].astype(int) > 2)
    table.loc[::5, "town"] = None
    table.loc[::7, "level"] = None
    table.loc[::9, "size"] = None
    return table, y.to_numpy()


@each_tree_voter
def test_categories_of_a_table_are_coded_as_ours_are(voter_class):
    table, y = table_with_categories()
    voter = voter_class(random_state=0).fit(table[100:], y[100:])
    assert_same(voter, table, tolerance=1e-12)
    inputs = to_onnx(voter).graph.input
    assert [value.name for value in inputs] == ["size", "town", "level"]
    unknown = table.assign(town="nowhere", level=9)
    assert_same(voter, unknown, tolerance=1e-12)


@each_tree_voter
@pytest.mark.parametrize("n_categories", [1, 2, 63, 90])
def test_categories_of_an_array_are_coded_as_ours_are(voter_class, n_categories):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, n_categories, 400) * 1.5 - 3
    X = np.column_stack([rng.normal(size=400), codes])
    X[::6] = np.nan
    y = (np.nan_to_num(codes) % 2 > 0.7) ^ (rng.random(400) < 0.1) ^ np.isnan(X[:, 1])
    voter = voter_class(random_state=0, categorical_features=[1]).fit(X, y)
    assert_same(voter, X, tolerance=1e-12)
    ensemble = LiquidEnsembleClassifier(voter, n_estimators=4, n_final=2, random_state=0)
    assert_same(ensemble.fit(X, y), X)


def test_categories_of_several_types_are_refused():
    table, y = table_with_categories()
    table["level"] = pd.Categorical([None if v != v else v or "none" for v in table["level"]])
    voter = RandomizedForestClassifier(random_state=0).fit(table, y)
    with pytest.raises(ValueError, match=r"all numbers: column 'level' has .*str"):
        to_onnx(voter)


def test_an_empty_text_as_a_category_is_refused():
    table, y = table_with_categories()
    table["town"] = pd.Categorical(np.where(y == 1, "", "Oslo"))
    voter = RandomizedForestClassifier(random_state=0).fit(table, y)
    with pytest.raises(ValueError, match=r"column 'town' has it\. Replace it in the training data"):
        to_onnx(voter)


# Trees of scikit-learn


def test_trees_of_scikit_learn_see_rows_in_single_precision():
    X, y = columns_with_missing_values()
    trees = [DecisionTreeClassifier(max_depth=d, random_state=d).fit(X, y) for d in (1, 4, None)]
    pruned = prune(trees, X, y, n_final=3, random_state=0)
    rows = np.repeat(X, 3, axis=0)
    for tree in trees:
        for column, cut in zip(tree.tree_.feature, tree.tree_.threshold, strict=True):
            if column >= 0 and np.isfinite(cut):
                around = [np.full(X.shape[1], 0.1) for _ in range(3)]
                for row, value in zip(
                    around, (cut, cut * (1 - 1e-9), cut * (1 + 1e-9)), strict=True
                ):
                    row[column] = value
                rows = np.vstack([rows, around])
    assert_same(pruned, rows, tolerance=1e-12)
