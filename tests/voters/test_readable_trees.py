"""The native core and its readable twin agree to the last bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from readable import (
    Random,
    bin_of,
    draw_rows,
    exponential,
    grow_sequence,
    grow_tree,
    softmax,
    sums_of_pairs,
    sums_of_trees,
)

from skliquid import native
from skliquid.voters.binning import BinnedRows
from voters.tables import CATEGORICAL, N_COLUMNS, mixed_table

FOREST = {"seed": 5, "n_tried": 2, "min_leaf": 1, "splitter": 0, "weights": -1}
BOOSTING = {
    "seed": 5,
    "n_trees": 3,
    "n_columns": 4,
    "depth": 3,
    "rate": 0.2,
    "penalty": 1.0,
    "min_hessian": 1.0,
    "weights": -1,
    "scores": -1,
}


def task(dtype, **fields):
    record = np.zeros(1, dtype)
    for name, value in fields.items():
        record[name] = value
    return record


def assert_same_forest(rows, n_classes, **fields):
    record = task(native.FOREST_TASK, **{"n_drawn": rows.n_rows} | FOREST | fields)
    ((trees, n_visits),) = native.grow_forest(
        *rows[:4], n_classes, rows.weights, record.view(np.uint8), 1, rows.features
    )
    assert trees == [grow_tree(rows, n_classes, record[0])]
    assert n_visits <= record["n_drawn"][0]
    return trees


def assert_same_sequence(rows, n_classes, base=None, scores=None, **fields):
    defaults = {"n_window": rows.n_rows, "n_drawn": -(-rows.n_rows // 2)} | BOOSTING
    record = task(native.BOOSTING_TASK, **defaults | fields)
    n_outputs = 1 if n_classes == 2 else n_classes
    base = np.linspace(-0.5, 0.3, n_outputs) if base is None else base
    given_scores = np.empty((0, rows.n_rows, n_outputs))
    if scores is not None:
        record["scores"], given_scores = 0, scores[None].copy()
    ((trees, n_visits),) = native.grow_sequences(
        *rows[:4],
        n_classes,
        rows.weights,
        record.view(np.uint8),
        base[None],
        given_scores,
        1,
        rows.features,
    )
    assert trees == grow_sequence(rows, record[0], base, scores)
    if scores is not None:
        np.testing.assert_array_equal(given_scores[0], scores)
    assert n_visits <= record["n_drawn"][0] * record["n_trees"][0]
    return trees


def mixed_rows(n_classes, *, weighted=False, **options):
    X, y, weights = mixed_table(n_classes=n_classes, **options)
    return BinnedRows.from_rows(X, y, weights if weighted else None, CATEGORICAL)


# Forests


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3, 7, 300])
@pytest.mark.parametrize("splitter", range(3), ids=native.SPLITTERS)
def test_a_forest_has_the_same_bits(splitter, n_classes, weighted):
    rows = mixed_rows(n_classes, weighted=weighted)
    for seed in range(3 if n_classes < 300 else 1):
        fields = {"splitter": splitter, "seed": seed, "weights": 0 if weighted else -1}
        ((nodes, _),) = assert_same_forest(rows, n_classes, **fields)
        assert len(nodes) > 30 * native.NODE.itemsize


@pytest.mark.parametrize("splitter", range(3), ids=native.SPLITTERS)
@pytest.mark.parametrize(
    "fields",
    [{"min_leaf": 5}, {"n_tried": 8}, {"n_tried": 1}, {"n_drawn": 60}, {"n_drawn": 1}],
    ids=str,
)
def test_a_forest_with_other_settings_has_the_same_bits(splitter, fields):
    assert_same_forest(mixed_rows(3), 3, splitter=splitter, **fields)
    weighted = mixed_rows(3, weighted=True)
    assert_same_forest(weighted, 3, splitter=splitter, weights=0, **fields)


def test_one_of_several_weights_is_used():
    X, y, weights = mixed_table()
    rows = BinnedRows.from_rows(X, y, np.stack([weights, weights[::-1]]), CATEGORICAL)
    grown = [assert_same_forest(rows, 3, weights=k) for k in (0, 1, -1)]
    assert grown[0] != grown[1] != grown[2] != grown[0]
    grown = [assert_same_sequence(rows, 3, weights=k) for k in (0, 1, -1)]
    assert grown[0] != grown[1] != grown[2] != grown[0]


# Boosting


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3, 4, 5, 6, 40])
def test_a_sequence_has_the_same_bits(n_classes, weighted):
    rows = mixed_rows(n_classes, weighted=weighted)
    for seed in range(2):
        fields = {"seed": seed, "weights": 0 if weighted else -1, "min_hessian": 0.1}
        trees = assert_same_sequence(rows, n_classes, **fields)
        assert sum(len(nodes) for nodes, _ in trees) > 5 * native.NODE.itemsize


@pytest.mark.parametrize("n_classes", [2, 3, 8])
@pytest.mark.parametrize(
    "fields",
    [
        {"depth": 1},
        {"depth": 9, "min_hessian": 0.0},
        {"n_columns": 1},
        {"n_columns": 8},
        {"n_drawn": 1},
        {"n_drawn": 10**9},
        {"n_window": 70},
        {"n_window": 1},
        {"n_trees": 0},
        {"penalty": 7.5, "rate": 1.0},
        {"min_hessian": 1e9},
    ],
    ids=str,
)
def test_a_sequence_with_other_settings_has_the_same_bits(n_classes, fields):
    assert_same_sequence(mixed_rows(n_classes), n_classes, **fields)
    weighted = mixed_rows(n_classes, weighted=True)
    assert_same_sequence(weighted, n_classes, weights=0, **fields)


@pytest.mark.parametrize("scale", [1.0, 9.0, 100.0])
@pytest.mark.parametrize("n_classes", [2, 3, 8])
def test_a_sequence_that_is_continued_has_the_same_bits(n_classes, scale):
    rng, rows = np.random.default_rng(0), mixed_rows(n_classes)
    scores = scale * rng.normal(size=(rows.n_rows, 1 if n_classes == 2 else n_classes))
    for least in (0.0, 1.0):
        fields = {"n_window": 100, "min_hessian": least}
        assert_same_sequence(rows, n_classes, scores=scores, **fields)


@pytest.mark.parametrize("scale", [1e-30, 1e-3, 1e12, 1e30])
def test_weights_of_any_size_give_the_same_bits(scale):
    X, y, weights = mixed_table()
    rows = BinnedRows.from_rows(X, y, weights / weights.max() * scale, CATEGORICAL)
    assert_same_forest(rows, 3, weights=0, splitter=1)
    assert_same_sequence(rows, 3, weights=0, min_hessian=0.0, penalty=1e-3 * scale)


# Rows with few of everything


@st.composite
def binned(draw):
    n_rows, n_columns = draw(st.integers(1, 40)), draw(st.integers(1, 4))
    n_classes = draw(st.sampled_from([2, 3, 5, 6]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    X = rng.integers(0, rng.integers(1, 63, n_columns), size=(n_rows, n_columns)).astype(float)
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.1, 0.9, 1.0]))] = np.nan
    weights = rng.exponential(size=n_rows) * (rng.random(n_rows) < draw(st.sampled_from([0, 0.7])))
    y = rng.integers(draw(st.sampled_from([1, n_classes])), size=n_rows)
    return BinnedRows.from_rows(X, y, weights, rng.random(n_columns) < 0.4), n_classes


@given(
    binned(),
    st.fixed_dictionaries(
        {
            "seed": st.integers(0, 2**64 - 1),
            "splitter": st.sampled_from(range(3)),
            "min_leaf": st.sampled_from([1, 2, 7]),
            "n_tried": st.integers(1, 5),
            "weights": st.sampled_from([-1, 0]),
        }
    ),
)
def test_any_tree_of_a_forest_has_the_same_bits(data, fields):
    rows, n_classes = data
    assert_same_forest(rows, n_classes, **fields)


@given(
    binned(),
    st.fixed_dictionaries(
        {
            "seed": st.integers(0, 2**64 - 1),
            "n_columns": st.just(1),
            "depth": st.sampled_from([1, 3, 16]),
            "min_hessian": st.sampled_from([0.0, 0.5]),
            "weights": st.sampled_from([-1, 0]),
        }
    ),
)
def test_any_sequence_has_the_same_bits(data, fields):
    rows, n_classes = data
    assert_same_sequence(rows, n_classes, **fields)


# The way of a row


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("categorical", [CATEGORICAL, np.zeros_like(CATEGORICAL)])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_come_to_the_same_leaves(n_classes, categorical, dtype):
    X, y, _ = mixed_table(n_classes=n_classes)
    rows = BinnedRows.from_rows(X, y, None, categorical)
    trees = assert_same_forest(rows, n_classes, splitter=1)
    X, _, _ = mixed_table(seed=1, n_rows=70)
    X[::5, 3:5] = [[-1.0, 63.0]] * 14  # these are no categories
    X[:50, 0] = rows.edges[0, :50]  # which is not above the edge
    X = X.astype(dtype)
    for own in (X, X[:40], np.nan_to_num(X)):
        sums = np.ones((1, len(own), n_classes))
        native.add_up_trees([native.Trees(trees, n_classes, N_COLUMNS)], own, sums, 1)
        assert np.array_equal(sums[0], 1.0 + sums_of_trees(trees, own, n_classes))


@pytest.mark.parametrize("weighted", [False, True])
def test_leaves_that_list_their_classes_add_up_to_the_same_bits(weighted):
    rows, (X, _, _) = mixed_rows(300, weighted=weighted), mixed_table(seed=1, n_rows=70)
    weights = 0 if weighted else -1
    trees = [
        tree
        for seed in range(3)
        for tree in assert_same_forest(rows, 300, splitter=2, seed=seed, weights=weights)
    ]
    sums = np.zeros((1, len(X), 300))
    native.add_up_trees([native.Trees(trees, 300, N_COLUMNS, is_sparse=True)], X, sums, 1)
    assert np.array_equal(sums[0], sums_of_pairs(trees, X, 300))
    assert np.allclose(sums.sum(axis=2), len(trees))


def test_rows_in_bins_and_as_numbers_come_to_the_same_leaves():
    X, y, _ = mixed_table(n_classes=2)
    rows = BinnedRows.from_rows(X, y, None, CATEGORICAL)
    everything = {"n_drawn": len(y), "n_columns": rows.n_columns, "base": np.zeros(1)}
    *before, last = assert_same_sequence(rows, 2, **everything, n_trees=4)
    scores = sums_of_trees(before, X, 1)
    assert assert_same_sequence(rows, 2, **everything, n_trees=1, scores=scores) == [last]


# Numbers


def test_random_numbers_are_those_of_splitmix64():
    random = Random(1234567)
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert [random.next() for _ in range(3)] == published


@given(st.integers(0, 2**64 - 1), st.integers(0, 50), st.data())
def test_rows_are_drawn_without_replacement(seed, n, data):
    n_drawn = data.draw(st.integers(0, n))
    drawn = draw_rows(Random(seed), n, n_drawn)
    assert len(drawn) == n_drawn
    assert np.all(np.diff(drawn) > 0)
    assert np.all(drawn < n)


def test_every_row_is_drawn_equally_often():
    random, times = Random(0), np.zeros(10)
    for _ in range(3000):
        times[draw_rows(random, 10, 3)] += 1
    assert np.all(abs(times - 900) < 100)


@given(arrays(float, 20, elements=st.floats(-690, 690)))
def test_the_exponential_is_almost_that_of_numpy(x):
    np.testing.assert_allclose(exponential(x), np.exp(x), rtol=1e-14)


@pytest.mark.parametrize("n_classes", [2, 3, 9])
def test_scores_become_the_same_probabilities(n_classes):
    rng = np.random.default_rng(n_classes)
    scores = 20 * rng.normal(size=(500, 1 if n_classes == 2 else n_classes))
    scores[:4] = [[0.0], [1e300], [-1e300], [800.0]]
    found = np.empty((500, n_classes))
    native.to_probabilities(scores, found)
    assert np.array_equal(found, softmax(scores))
    np.testing.assert_allclose(found.sum(axis=1), 1)


@given(
    arrays(float, 30, elements=st.floats(allow_infinity=False)),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=62, unique=True),
)
def test_numbers_come_into_the_same_bins(x, edges):
    own = np.full((1, 62), np.inf)
    own[0, : len(edges)] = np.sort(edges)
    bins = np.empty((1, 30), np.uint8)
    native.find_bins(x[:, None], own, bins, 1)
    assert bins[0].tolist() == [bin_of(number, own[0]) for number in x]
