"""The door to the trees: what does not fit is an error, and nothing it lets in can crash."""

import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from fuzzing import EXTREMES, changed, n_let_in

from skliquid import native

N_ROWS, N_COLUMNS, N_CLASSES = 40, 4, 3
LEAF, CATEGORICAL, MISSING_RIGHT = 2**31, 2**30, 2**29


def tasks(dtype, n=2, **fields):
    records = np.zeros(n, dtype)
    for name, value in fields.items():
        records[name] = value
    return records.view(np.uint8)


def forest_tasks(**others):
    fields = {"seed": [1, 2], "n_drawn": N_ROWS, "n_tried": 2, "min_leaf": 1, "splitter": [1, 0]}
    return tasks(native.FOREST_TASK, **fields | {"weights": [0, -1]} | others)


def boosting_tasks(**others):
    fields = {"seed": [1, 2], "n_trees": 3, "n_window": N_ROWS, "n_drawn": 20, "n_columns": 2}
    fields |= {"depth": 3, "rate": 0.1, "penalty": 1.0, "weights": [0, -1], "scores": [0, -1]}
    return tasks(native.BOOSTING_TASK, **fields | others)


def columns(**others):
    """Return bins of numbers (two columns), of categories and of ones, and what belongs to them."""
    rng = np.random.default_rng(0)
    edges = np.full((N_COLUMNS, native.MOST_EDGES), np.inf)
    edges[0, :30], edges[1, :3], edges[3, :5] = np.arange(30), np.arange(3), np.arange(5)
    edges[2] = np.arange(native.MOST_EDGES)
    bins = rng.integers(0, [[31], [4], [63], [6]], size=(N_COLUMNS, N_ROWS)).astype(np.uint8)
    bins[:3, ::9] = native.MISSING_BIN
    arguments = {
        "bins": bins,
        "edges": edges,
        "kinds": np.array([0, 0, 1, 2], np.uint8),
        "labels": (np.arange(N_ROWS) % N_CLASSES).astype(np.int32),
        "n_classes": N_CLASSES,
        "weights": rng.exponential(size=(1, N_ROWS)),
        "tasks": None,
        "n_threads": 1,
        "features": np.minimum(np.arange(N_COLUMNS)[:, None] + np.arange(64), 8).astype(np.int32),
    }
    return arguments | others


def forest(**others):
    return columns(**{"tasks": forest_tasks()} | others)


def sequences(**others):
    base, scores = np.zeros((2, N_CLASSES)), np.zeros((1, N_ROWS, N_CLASSES))
    return columns(**{"tasks": boosting_tasks(), "base": base, "scores": scores} | others)


GROW = {"forest": (native.grow_forest, forest), "sequences": (native.grow_sequences, sequences)}


def named(value):
    """Return an id that is the same in every process."""
    return value if isinstance(value, str) else " and ".join(map(str, value))


both = pytest.mark.parametrize(("grow", "make"), GROW.values(), ids=GROW)


@both
def test_what_fits_comes_in(grow, make):
    for trees, n_visits in grow(**make()):
        assert n_visits > 0
        native.Trees(trees, N_CLASSES, 9)
    without = make(features=None, kinds=np.array([0, 0, 1, 0], np.uint8))
    assert len(grow(**without)) == 2
    assert grow(**make(n_threads=3)) == grow(**make())


def one(array, position, value):
    array = array.copy()
    array[position] = value
    return array


FITTING = columns()
BINS, EDGES, KINDS = FITTING["bins"], FITTING["edges"], FITTING["kinds"]
WRONG = [
    ({"bins": BINS.astype(np.int64)}, "bins must hold uint8: got the format 'l'"),
    ({"bins": BINS[0]}, r"bins must have 2 dimension\(s\): got 1"),
    ({"bins": np.asfortranarray(BINS)}, "bins must be C-contiguous"),
    ({"bins": BINS[:3]}, "edges must have 3 rows: got 4"),
    ({"bins": BINS[:0]}, r"bins must have from 1 to 2\*\*29 rows"),
    ({"bins": BINS[:, :0].copy()}, r"bins must have from 1 to 2\*\*31 - 1 columns"),
    ({"bins": one(BINS, (1, 5), 4)}, "bins must be among those that edges make, or 63"),
    ({"bins": one(BINS, (2, 5), 64)}, "bins must be among those that edges make, or 63"),
    ({"bins": one(BINS, (2, 5), 255)}, "bins must be among those that edges make, or 63"),
    ({"bins": one(BINS, (3, 5), 63)}, "bins must be among those that edges make, or 63"),
    ({"edges": EDGES.astype(np.float32)}, "edges must hold float64: got the format 'f'"),
    ({"edges": EDGES[:, :61].copy()}, "edges must have 62 columns: got 61"),
    ({"edges": one(EDGES, (0, 5), 4.0)}, "edges must rise, and end with infinite ones"),
    ({"edges": one(EDGES, (1, 5), 7.0)}, "edges must rise, and end with infinite ones"),
    ({"edges": one(EDGES, (0, 0), np.nan)}, "edges must"),
    ({"edges": one(EDGES, (2, 61), np.nan)}, "edges must rise, and end with infinite ones"),
    ({"edges": np.full_like(EDGES, -np.inf)}, "edges must rise, and end with infinite ones"),
    ({"kinds": KINDS[:3]}, "kinds must have 4 numbers: got 3"),
    ({"kinds": KINDS.astype(bool)}, "kinds must hold uint8"),
    ({"kinds": one(KINDS, 0, 3)}, "kinds must be from 0 to 2: got 3"),
    ({"features": None}, "kinds must be below 2 without features"),
    ({"features": FITTING["features"][:3]}, "features must have 4 rows: got 3"),
    ({"features": FITTING["features"][:, :63].copy()}, "features must have 64 columns: got 63"),
    ({"features": FITTING["features"].astype(np.int64)}, "features must hold int32"),
    ({"features": FITTING["features"] - 1}, "features must be from 0 to 536870910: got -1"),
    ({"features": "none"}, "features must be an array in memory"),
    ({"labels": FITTING["labels"][1:]}, "labels must have 40 numbers: got 39"),
    ({"labels": FITTING["labels"] + 1}, "labels must be from 0 to 2: got 3"),
    ({"labels": FITTING["labels"] - 1}, "labels must be from 0 to 2: got -1"),
    ({"labels": FITTING["labels"].astype(np.int64)}, "labels must hold int32"),
    ({"n_classes": 1}, r"n_classes must be from 2 to 2\*\*24"),
    ({"n_classes": 2**24 + 1}, r"n_classes must be from 2 to 2\*\*24"),
    ({"weights": np.ones((1, 39))}, "weights must have 40 columns: got 39"),
    ({"weights": np.ones(40)}, r"weights must have 2 dimension\(s\): got 1"),
    ({"weights": np.full((1, 40), -1e-9)}, "weights must be from 0 to 1e30"),
    ({"weights": np.full((1, 40), np.nan)}, "weights must be from 0 to 1e30"),
    ({"weights": np.full((1, 40), 2e30)}, "weights must be from 0 to 1e30"),
    ({"weights": np.ones((0, 40))}, "weights must be a row of the weights, or -1"),
    ({"n_threads": 0}, "n_threads must be from 1 to 1024"),
    ({"n_threads": 1025}, "n_threads must be from 1 to 1024"),
    ({"tasks": np.zeros(9, np.uint8)}, "tasks must have 0 bytes: got 9"),
    ({"tasks": np.zeros(8, np.int64)}, "tasks must "),
    ({"tasks": np.zeros(89, np.uint8)[1:]}, "tasks must "),
]


@both
@pytest.mark.parametrize(("others", "message"), WRONG, ids=[message for _, message in WRONG])
def test_arrays_that_do_not_fit_are_an_error(grow, make, others, message):
    with pytest.raises((ValueError, TypeError), match=message):
        grow(**make(**others))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"n_drawn": 0}, "n_drawn must be from 1 to the number of rows"),
        ({"n_drawn": [40, 41]}, "n_drawn must be from 1 to the number of rows"),
        ({"n_tried": 0}, "n_tried must be at least 1"),
        ({"min_leaf": [1, -(2**62)]}, "min_leaf must be at least 1"),
        ({"splitter": 3}, "splitter must be from 0 to 2"),
        ({"splitter": -1}, "splitter must be from 0 to 2"),
        ({"weights": 1}, "weights must be a row of the weights, or -1"),
        ({"weights": -2}, "weights must be a row of the weights, or -1"),
    ],
    ids=named,
)
def test_tasks_of_a_forest_are_checked(fields, message):
    with pytest.raises(ValueError, match=message):
        native.grow_forest(**forest(tasks=forest_tasks(**fields)))


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"n_trees": -1}, "n_trees must not be negative"),
        ({"n_window": 0}, "n_window must be from 1 to the number of rows"),
        ({"n_window": 41}, "n_window must be from 1 to the number of rows"),
        ({"n_drawn": 0}, "n_drawn must be at least 1"),
        ({"n_columns": 0}, "n_columns must be from 1 to the number of columns"),
        ({"n_columns": 5}, "n_columns must be from 1 to the number of columns"),
        ({"depth": 0}, "depth must be from 1 to 16"),
        ({"depth": 17}, "depth must be from 1 to 16"),
        ({"rate": np.inf}, "rate must be finite"),
        ({"rate": np.nan}, "rate must be finite"),
        ({"penalty": 0.0}, "penalty must be above zero"),
        ({"penalty": np.inf}, "penalty must be above zero"),
        ({"min_hessian": -1.0}, "min_hessian must not be negative"),
        ({"min_hessian": np.nan}, "min_hessian must not be negative"),
        ({"weights": 1}, "weights must be a row of the weights, or -1"),
        ({"scores": 1}, "scores must be one of the scores"),
        ({"scores": -2}, "scores must be one of the scores"),
    ],
    ids=named,
)
def test_tasks_of_sequences_are_checked(others, message):
    with pytest.raises(ValueError, match=message):
        native.grow_sequences(**sequences(tasks=boosting_tasks(**others)))


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"base": np.zeros((1, 3))}, "base must have 2 rows: got 1"),
        ({"base": np.zeros((2, 1))}, "base must have 3 columns: got 1"),
        ({"scores": np.zeros((1, 39, 3))}, "scores must have 40 rows of each voter: got 39"),
        ({"scores": np.zeros((1, 40, 1))}, "scores must have 3 outputs: got 1"),
        ({"scores": np.zeros((0, 40, 3))}, "scores must be one of the scores"),
        ({"scores": np.zeros((1, 40, 3), np.float32)}, "scores must hold float64"),
        ({"tasks": boosting_tasks(scores=0)}, "scores must be of one task only"),
    ],
    ids=named,
)
def test_scores_that_do_not_fit_are_an_error(others, message):
    with pytest.raises(ValueError, match=message):
        native.grow_sequences(**sequences(**others))


def test_scores_that_are_no_numbers_do_no_harm():
    for wrong in (np.nan, np.inf, -np.inf, 1e308):
        scores, base = np.full((1, N_ROWS, N_CLASSES), wrong), np.full((2, N_CLASSES), wrong)
        results = native.grow_sequences(**sequences(scores=scores, base=base))
        assert len(results) == 2


# Trees


def tree(*nodes, n_values=2):
    """Return a tree of nodes, each a cut, a feature and the next."""
    values = np.arange(n_values, dtype=np.float32)
    return np.array(list(nodes), native.NODE).tobytes(), values.tobytes()


STUMP = tree((0, 1, 1), (0, LEAF, 0), (0, LEAF, 1))


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (tree((0, 1, 0), (0, LEAF, 0), (0, LEAF, 1)), "nodes must have later children"),
        (tree((0, 1, 2), (0, LEAF, 0), (0, LEAF, 1)), "nodes must have later children"),
        (tree((0, 1, 2**32 - 1), (0, LEAF, 0)), "nodes must have later children"),
        (tree((0, 1, 1), (0, 0, 1), (0, LEAF, 0)), "nodes must have later children"),
        (tree((0, 3, 1), (0, LEAF, 0), (0, LEAF, 1)), "nodes must split columns that exist"),
        (tree((0, 2**29 - 1, 1), (0, LEAF, 0), (0, LEAF, 1)), "must split columns that exist"),
        (tree((0, 1, 1), (0, LEAF, 0), (0, LEAF, 2)), "nodes must have leaves whose values exist"),
        (tree((0, 1, 1), (0, LEAF + 1, 0), (0, LEAF, 1)), "must have leaves whose values exist"),
        (tree((0, LEAF + CATEGORICAL, 0)), "nodes must have leaves whose values exist"),
        (tree((0, LEAF, 0), n_values=0), "values must be whole rows"),
        ((STUMP[0][:-1], STUMP[1]), "nodes must be whole"),
        ((b"", STUMP[1]), "nodes must be whole"),
        ((STUMP[0], STUMP[1][:-1]), "values must be whole rows"),
        (STUMP[:1], "trees must be pairs of bytes"),
        ((*STUMP, b""), "trees must be pairs of bytes"),
        (list(STUMP), "trees must be pairs of bytes"),
        ((bytearray(STUMP[0]), STUMP[1]), "trees must be pairs of bytes"),
        ((None, None), "trees must be pairs of bytes"),
        (None, "trees must be pairs of bytes"),
    ],
)
def test_nodes_that_lead_elsewhere_are_an_error(part, message):
    native.Trees([STUMP], 1, 3)
    with pytest.raises(ValueError, match=message):
        native.Trees([STUMP, part], 1, 3)


@pytest.mark.parametrize(
    ("n_pairs", "first", "output", "message"),
    [
        (3, 0, 0, "leaves whose values exist"),
        (1, 2, 0, "leaves whose values exist"),
        (2**64 - 1, 1, 0, "leaves whose values exist"),
        (1, 0, 3, "pairs of an output and a number"),
        (1, 0, -1, "pairs of an output and a number"),
        (1, 0, 0.5, "pairs of an output and a number"),
        (1, 0, np.nan, "pairs of an output and a number"),
    ],
)
def test_pairs_of_leaves_must_exist_and_be_of_outputs(n_pairs, first, output, message):
    def part(n_pairs, first, output):
        node = np.array([(n_pairs, LEAF, first)], native.NODE)
        return node.tobytes(), np.array([[output, 0.5], [2, 0.5]], np.float32).tobytes()

    native.Trees([part(2, 0, 1)], 2, 3, is_sparse=True)
    with pytest.raises(ValueError, match=message):
        native.Trees([part(n_pairs, first, output)], 2, 3, is_sparse=True)


def test_trees_need_outputs_and_columns():
    for n_outputs, width in [(0, 3), (-1, 3), (2**24 + 1, 3), (1, 0), (1, -1), (1, 2**29)]:
        with pytest.raises(ValueError, match="must be"):
            native.Trees([], n_outputs, width)
    with pytest.raises(ValueError, match="values must be whole rows"):
        native.Trees([STUMP], 3, 3)
    for nothing in (None, (STUMP,), STUMP):
        with pytest.raises(TypeError):
            native.Trees(nothing, 1, 3)


def adding(dtype=np.float64, **others):
    rng = np.random.default_rng(0)
    return {
        "voters": [native.Trees([STUMP, STUMP], 1, 3), native.Trees([STUMP], 1, 3)],
        "X": rng.normal(size=(40, 3)).astype(dtype),
        "sums": np.zeros((2, 40, 1)),
        "n_threads": 1,
    } | others


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"X": np.zeros((40, 2))}, "X must have as many columns as trees were grown on"),
        ({"X": np.zeros((39, 3))}, "sums must have 39 rows: got 40"),
        ({"X": np.zeros((40, 3), np.int64)}, "X must hold float64"),
        ({"X": np.zeros((3, 40)).T}, "X must be C-contiguous"),
        ({"sums": np.zeros((1, 40, 1))}, "sums must have 2 voters: got 1"),
        ({"sums": np.zeros((2, 40, 2))}, "sums must have one number per output"),
        ({"sums": np.zeros((2, 40, 1), np.float32)}, "sums must hold float64"),
        ({"voters": [native.Trees([], 1, 3), None]}, "voters must be skliquid.native.Trees"),
        ({"voters": [native.Trees([], 1, 3), 5]}, "voters must be skliquid.native.Trees"),
        ({"n_threads": 0}, "n_threads must be from 1 to 1024"),
    ],
    ids=named,
)
def test_rows_that_do_not_fit_trees_are_an_error(others, message):
    with pytest.raises(ValueError, match=message):
        native.add_up_trees(**adding(**others))


def test_sums_are_written_and_not_shared():
    read_only = np.zeros((2, 40, 1))
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="sums must be writable"):
        native.add_up_trees(**adding(sums=read_only))
    room = np.zeros(200)
    with pytest.raises(ValueError, match="must not share memory"):
        native.add_up_trees(
            **adding(X=room[:120].reshape(40, 3), sums=room[80:160].reshape(2, 40, 1))
        )


def test_a_node_with_several_parents_is_as_deep_as_its_longest_way():
    """Else rows would stop before they come to a leaf, and take what is elsewhere in memory."""
    cut = np.float64(9).view(np.uint64)
    splits = [(cut, 0, following) for following in (1, 3, 5, 4, 7)]
    leaf = (0, LEAF, 1)
    parts = [
        tree(*splits, leaf, (cut, 0, 7), leaf, leaf)
    ]  # 0, 1, 3, 4, 7 is longer than 0, 2, 6, 7
    sums = np.zeros((1, 64, 1))
    native.add_up_trees([native.Trees(parts, 1, 1)], np.zeros((64, 1)), sums, 1)
    assert np.all(sums == 1)


def test_voters_may_be_dropped_while_they_are_asked():
    voters = [native.Trees([STUMP] * 100, 1, 3) for _ in range(20)]
    X, sums = np.ones((20_000, 3)), np.zeros((20, 20_000, 1))
    with ThreadPoolExecutor(1) as executor:
        asked = executor.submit(native.add_up_trees, voters, X, sums, 1)
        while not sums.any():
            pass
        voters.clear()
        asked.result()
    assert np.all(sums == 100)


def binning(dtype=np.float64):
    return {
        "X": np.zeros((6, 3), dtype),
        "edges": np.full((3, 62), np.inf),
        "bins": np.zeros((3, 6), np.uint8),
        "n_threads": 1,
    }


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"X": np.zeros((6, 2))}, "edges must have 2 rows: got 3"),
        ({"X": np.zeros((6, 3), np.int32)}, "X must hold float64"),
        ({"edges": np.zeros((3, 63))}, "edges must have 62 columns: got 63"),
        ({"bins": np.zeros((3, 5), np.uint8)}, "bins must have 6 columns: got 5"),
        ({"bins": np.zeros((2, 6), np.uint8)}, "bins must have 3 rows: got 2"),
        ({"bins": np.zeros((3, 6), np.int8)}, "bins must hold uint8"),
        ({"n_threads": -1}, "n_threads must be from 1 to 1024"),
    ],
    ids=named,
)
def test_numbers_that_do_not_fit_bins_are_an_error(others, message):
    with pytest.raises(ValueError, match=message):
        native.find_bins(**binning() | others)


def turning(dtype=np.float64):
    return {"scores": np.zeros((6, 3)), "probabilities": np.zeros((6, 3))}


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"scores": np.zeros((6, 2))}, "scores must have 3 columns: got 2"),
        ({"scores": np.zeros((5, 3))}, "probabilities must have 5 rows: got 6"),
        ({"probabilities": np.zeros((6, 1))}, "probabilities must have two columns or more"),
        ({"probabilities": np.zeros((6, 2))}, "scores must have 1 columns: got 3"),
        ({"probabilities": np.zeros((6, 3), np.float32)}, "probabilities must hold float64"),
    ],
    ids=named,
)
def test_scores_that_do_not_fit_probabilities_are_an_error(others, message):
    with pytest.raises(ValueError, match=message):
        native.to_probabilities(**turning() | others)


# A fuzz: what does not fit is refused, and what comes in does no harm.


def changed_tasks(rng, given, dtype):
    """Return tasks with one field changed, but not so many trees that they take forever."""
    records = given.view(dtype).copy()
    name = rng.choice([name for name in dtype.names if name != "n_trees"])
    extreme = np.array(EXTREMES[rng.integers(len(EXTREMES))])
    with np.errstate(all="ignore"):
        records[name][rng.integers(2)] = extreme.astype(dtype[name])
    return records.view(np.uint8)


def any_arguments(rng, arguments, dtype=None):
    """Return arguments that fit, but for one or two of them, or none."""
    arrays = [value for value in arguments.values() if isinstance(value, np.ndarray)]
    for name in rng.choice(list(arguments), rng.integers(3), replace=False).tolist():
        value = arguments[name]
        if name == "tasks":
            arguments[name] = changed_tasks(rng, value, dtype)
        elif isinstance(value, np.ndarray):
            arguments[name] = changed(rng, value, arrays)
        elif isinstance(value, int):
            arguments[name] = int(rng.integers(-2, 9))
    return arguments


@pytest.mark.parametrize(
    ("enter", "make", "dtype"),
    [
        (native.grow_forest, forest, native.FOREST_TASK),
        (native.grow_sequences, sequences, native.BOOSTING_TASK),
    ],
    ids=GROW,
)
def test_no_growing_crashes(enter, make, dtype):
    rng = np.random.default_rng(0)
    n = n_let_in(enter, (any_arguments(rng, make(), dtype) for _ in range(3000)))
    assert 1000 < n < 2500


@pytest.mark.parametrize(
    ("enter", "make"),
    [
        (native.add_up_trees, adding),
        (native.find_bins, binning),
        (native.to_probabilities, turning),
    ],
)
def test_nothing_else_crashes(enter, make):
    rng = np.random.default_rng(1)
    dtypes = [np.float32, np.float64]
    some = (any_arguments(rng, make(dtypes[rng.integers(2)])) for _ in range(2000))
    assert 400 < n_let_in(enter, some) < 1900


def test_no_nodes_crash():
    rng, n = np.random.default_rng(2), 0
    ((first, _), (second, _)) = native.grow_forest(**forest())
    X = rng.normal(size=(40, 9)) * 9
    X[rng.random(X.shape) < 0.05] = np.nan
    X[20:] = np.nan_to_num(X[20:])
    for _ in range(6000):
        nodes, values = [first, second][rng.integers(2)][0]
        nodes = np.frombuffer(nodes, native.NODE).copy()
        for _ in range(rng.integers(1, 4)):
            name = rng.choice(native.NODE.names)
            near = int(rng.integers(len(nodes) + 2))
            flags = int(rng.choice([0, LEAF, CATEGORICAL, MISSING_RIGHT]))
            far = int(rng.integers(2**32))
            nodes[name][rng.integers(len(nodes))] = int(rng.choice([near, near | flags, far]))
        try:
            trees = native.Trees([(nodes.tobytes(), values)], N_CLASSES, 9)
        except ValueError:
            continue
        n += 1
        sums = np.zeros((1, 40, N_CLASSES))
        native.add_up_trees([trees], X, sums, 1)
        assert np.all((sums >= 0) & (sums <= 1))  # the values of some leaf
    assert 500 < n < 5500


# Signals


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize(
    ("grow", "arguments"),
    [
        (native.grow_forest, forest(tasks=np.tile(forest_tasks(), 1_000_000))),
        (native.grow_sequences, sequences(tasks=boosting_tasks(n_trees=10**12))),
    ],
    ids=GROW,
)
def test_growing_can_be_interrupted(grow, arguments, n_threads):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job may ignore it
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            grow(**arguments | {"n_threads": n_threads})
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
