"""The door of the native core: what does not fit is an error, and nothing it lets in can crash."""

import hashlib
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from fuzzing import changed, n_let_in
from joblib import Parallel, delayed
from sklearn.linear_model import SGDClassifier

from skliquid import native
from skliquid.delegation.rows import Rows
from skliquid.pools import LinearPool

N_ROWS, N_COLUMNS, N_SEPARATORS = 6, 5, 3
OPTIONS = {
    "loss": 0,
    "learning_rate": 1,
    "power_t": 0.5,
    "penalized": True,
    "penalty_counts": True,
    "intercept_step": 1.0,
    "shuffles": True,
    "average_from": 0,
    "max_iter": 2,
    "tol": 1e-3,
    "n_iter_no_change": 5,
}


def separators(n=N_SEPARATORS, **fields):
    each = np.zeros(n, native.SEPARATOR)
    each["alpha"], each["eta0"], each["steps"] = 1e-4, 0.1, 1
    for name, value in fields.items():
        each[name] = value
    return each.view(np.uint8)


def training(dtype=np.float64, **others):
    """Return arguments that fit each other, apart from ``others``."""
    rng = np.random.default_rng(0)
    arguments = {
        "coef": np.zeros((N_SEPARATORS, N_COLUMNS), dtype),
        "average": np.zeros((N_SEPARATORS, N_COLUMNS), dtype),
        "separators": separators(),
        "chosen": np.arange(N_SEPARATORS),
        "rows": rng.normal(size=(N_ROWS, N_COLUMNS)).astype(dtype),
        "labels": np.where(np.arange(N_ROWS) % 2, 1, -1).astype(dtype)[None],
        "importance": np.ones((1, N_ROWS), dtype),
        "row_norms": np.full(N_ROWS, 9.0),
        "orders": np.empty((0, N_ROWS), np.int32),
        "settings": native.Settings(**OPTIONS),
        "n_threads": 1,
    }
    return arguments | others


def voting(dtype=np.float64, **others):
    arguments = training(dtype)
    return {
        "coef": arguments["coef"],
        "intercept": np.zeros(N_SEPARATORS),
        "separators": np.arange(N_SEPARATORS),
        "n_separators": 1,
        "rows": arguments["rows"],
        "row_norms": arguments["row_norms"],
        "votes": np.zeros((N_SEPARATORS, N_ROWS), np.uint8),
        "doubtful": np.zeros(N_SEPARATORS, bool),
    } | others


def sparse_rows(dtype=np.float64, **others):
    parts = {
        "data": np.ones(6, dtype),
        "indices": np.array([0, 1, 4, 2, 3, 0], np.int32),
        "indptr": np.array([0, 2, 3, 3, 4, 5, 6]),
        "n_columns": N_COLUMNS,
    }
    return native.SparseRows(**parts | others)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_fits_comes_in(dtype):
    for rows in (training(dtype)["rows"], sparse_rows(dtype)):
        arguments = training(dtype, rows=rows)
        native.train(**arguments)
        assert np.any(arguments["coef"])
        native.vote(**voting(dtype, rows=rows))


WRONG = [
    ({"coef": np.zeros((3, 5), np.int64)}, "coef must hold float64: got the format 'l'"),
    ({"coef": np.zeros((3, 5)).T.copy().T}, "coef must be C-contiguous"),
    ({"coef": np.zeros((3, 5), ">f8")}, "coef must hold float64: got the format '>d'"),
    ({"coef": np.zeros(15)}, r"coef must have 2 dimension\(s\): got 1"),
    ({"average": np.zeros((2, 5))}, "average must have 3 rows: got 2"),
    ({"average": np.zeros((3, 5), np.float32)}, "average must hold float64"),
    ({"separators": separators(2)}, "separators must have 384 bytes: got 256"),
    ({"separators": separators(problem=1)}, "separators must have a problem from 0 to 0: got 1"),
    ({"separators": separators(weights=-1)}, "separators must have a weights from 0 to 0: got -1"),
    (
        {"separators": separators(first_row=1)},
        "separators must have a first_row from 0 to 0: got 1",
    ),
    ({"chosen": np.array([0, 3])}, "chosen must be from 0 to 2: got 3"),
    ({"chosen": np.array([-1])}, "chosen must be from 0 to 2: got -1"),
    ({"chosen": np.array([1, 1])}, "chosen must hold each separator once: got 1 twice"),
    ({"chosen": np.arange(3, dtype=np.int32)}, "chosen must hold int64"),
    ({"rows": np.zeros((6, 9))}, "X must not be wider than the coefficients: got 9 columns for 5"),
    ({"rows": np.zeros((5, 5))}, "row_norms must have 5 numbers: got 6"),
    (
        {"coef": np.zeros((3, 13)), "average": np.zeros((3, 13))},
        "X must not be narrower than the coefficients: got 5 columns for 13",
    ),
    ({"rows": np.zeros((6, 5), np.float32)}, "X must hold float64: got the format 'f'"),
    ({"labels": np.zeros((1, 0))}, "labels must have at least one column"),
    ({"importance": np.ones((1, 5))}, "importance must have 6 columns: got 5"),
    ({"row_norms": np.ones(7)}, "row_norms must have 6 numbers: got 7"),
    ({"orders": np.full((2, 6), -1, np.int32)}, "orders must have 3 rows: got 2"),
    ({"n_threads": 0}, "n_threads must be from 1 to 1024"),
]


@pytest.mark.parametrize(("others", "message"), WRONG, ids=[message for _, message in WRONG])
def test_arrays_that_do_not_fit_are_an_error(others, message):
    arguments = training(**others)
    with pytest.raises(ValueError, match=message):
        native.train(**arguments)
    assert not np.any(arguments["coef"])  # nothing was trained


BROKEN = [
    ({"indices": np.array([0, 1, -1, 2, 3, 0], np.int32)}, "from 0 to 4: got -1"),
    ({"indices": np.array([0, 1, 5, 2, 3, 0], np.int32)}, "from 0 to 4: got 5"),
    ({"indices": np.zeros(5, np.int32)}, "it ends at 6 of 5 indices"),
    ({"indices": np.zeros(6, np.int64)}, "X.indices must hold int32"),
    ({"data": np.ones(5)}, "it ends at 6 of 6 indices and 5 numbers"),
    ({"indptr": np.array([0, 2, 1, 3, 4, 5, 6])}, "must not decrease: it does after row 1"),
    ({"indptr": np.array([-1, 2, 3, 3, 4, 5, 6])}, "X.indptr must begin with 0"),
    ({"indptr": np.array([0, 2, 3, 3, 4, 5, 7])}, "it ends at 7 of 6"),
    ({"indptr": np.empty(0, np.int64)}, "X.indptr must not be empty"),
    ({"n_columns": 6}, "got 6 columns for 5"),
    ({"n_columns": -1}, "got -1 columns for 5"),
]


@pytest.mark.parametrize(("others", "message"), BROKEN, ids=[message for _, message in BROKEN])
def test_sparse_rows_that_point_elsewhere_are_an_error(others, message):
    rows = sparse_rows(**others)
    for enter in (
        lambda: native.train(**training(rows=rows)),
        lambda: native.vote(**voting(rows=rows)),
        lambda: native.row_norms(rows, np.zeros((1, N_COLUMNS)), np.zeros(N_ROWS)),
    ):
        with pytest.raises(ValueError, match=message):
            enter()


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"separators": np.array([0, 1, 3])}, "separators must be from 0 to 2: got 3"),
        ({"n_separators": 2}, "separators must have 2 separators: got 3"),
        ({"n_separators": 0}, "n_separators must be at least 1"),
        ({"intercept": np.zeros(2)}, "intercept must have 3 numbers: got 2"),
        ({"votes": np.zeros((3, 5), np.uint8)}, "votes must have one column per row"),
        ({"votes": np.zeros((2, 6), np.uint8)}, "votes must have 3 rows: got 2"),
        ({"votes": np.zeros((3, 6), np.int8)}, "votes must hold uint8: got the format 'b'"),
        ({"row_norms": np.ones(5)}, "row_norms must have one number per row"),
        ({"doubtful": np.zeros(2, bool)}, "doubtful must have 3 flags: got 2"),
    ],
    ids=str,
)
def test_votes_that_do_not_fit_are_an_error(others, message):
    with pytest.raises(ValueError, match=message):
        native.vote(**voting(**others))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_as_wide_as_coefficients_without_what_pads_them(dtype):
    for width in (5, 8, 12):  # the last of up to seven zeros
        native.vote(**voting(dtype, coef=np.zeros((N_SEPARATORS, width), dtype)))
    for rows in (voting(dtype)["rows"], sparse_rows(dtype)):
        arguments = voting(dtype, rows=rows, coef=np.zeros((N_SEPARATORS, 13), dtype))
        with pytest.raises(ValueError, match="narrower than the coefficients: got 5 columns for 1"):
            native.vote(**arguments)
        with pytest.raises(ValueError, match="narrower than the coefficients: got 5 columns for 1"):
            native.row_norms(rows, arguments["coef"], np.zeros(N_ROWS))


@pytest.mark.parametrize("wrong", [{"average_from": -1}, {"n_rows": -1}], ids=str)
def test_steps_are_counted_from_zero(wrong):
    (name,) = wrong
    without_averages = counting(np.float64) | {"average": np.zeros((N_SEPARATORS, 0))}
    native.count_steps(**without_averages)
    with pytest.raises(ValueError, match=f"{name} must not be negative"):
        native.count_steps(**without_averages | wrong)


def test_many_classes_need_votes_that_hold_them():
    coef = np.zeros((257, 5))
    arguments = voting(
        coef=coef,
        intercept=np.zeros(257),
        separators=np.arange(257),
        n_separators=257,
        votes=np.zeros((1, N_ROWS), np.uint8),
        doubtful=np.zeros(1, bool),
    )
    with pytest.raises(ValueError, match="use uint16"):
        native.vote(**arguments)


def test_scores_must_leave_room():
    arguments = voting()
    del arguments["rows"]
    for start in (-1, 1, 2**62):
        with pytest.raises(ValueError, match="start must leave room"):
            native.vote_by_scores(np.zeros((3, N_ROWS)), start, **arguments)


def test_read_only_arrays_are_read_and_not_written():
    arguments = training()
    for name in ("rows", "labels", "importance", "row_norms", "chosen"):
        arguments[name].flags.writeable = False
    native.train(**arguments)
    arguments["coef"].flags.writeable = False
    with pytest.raises(ValueError, match="coef must be writable: got a read-only array"):
        native.train(**arguments)


def test_addresses_must_be_aligned():
    room = np.zeros(8 * 15 + 1, np.uint8)
    coef = room[1:].view(np.float64).reshape(3, 5)
    with pytest.raises(ValueError, match="coef must be aligned"):
        native.train(**training(coef=coef))


def test_settings_are_a_tuple_of_eleven():
    for nothing in (object(), (1, 2), [1] * 11):
        with pytest.raises(ValueError, match="settings must be"):
            native.train(**training(settings=nothing))


def test_the_number_of_columns_is_a_whole_number():
    for nothing in ("x", 2**70):
        with pytest.raises(ValueError, match=r"X.n_columns must be a whole number"):
            native.train(**training(rows=sparse_rows(n_columns=nothing)))


def test_numbers_behind_the_last_row_are_not_looked_at():
    indices = np.array([0, 1, 4, 2, 3, 0, -9], np.int32)
    longer = training(rows=sparse_rows(indices=indices, data=np.ones(7)))
    plain = training(rows=sparse_rows())
    native.train(**longer)
    native.train(**plain)
    assert np.array_equal(longer["coef"], plain["coef"])


@pytest.mark.parametrize("name", ["coef", "rows", "chosen"])
def test_what_is_no_array_is_an_error(name):
    for nothing in (None, 3, "text", [1.0]):
        with pytest.raises((TypeError, ValueError), match=r"must be an array|incompatible"):
            native.train(**training(**{name: nothing}))


@pytest.mark.parametrize(
    "wrong",
    [
        {"loss": 5},
        {"loss": None},
        {"learning_rate": -1},
        {"max_iter": 0},
        {"max_iter": 2**70},
        {"average_from": -1},
        {"tol": np.nan},
    ],
    ids=str,
)
def test_settings_are_checked(wrong):
    (name,) = wrong
    with pytest.raises(ValueError, match=name):
        native.train(**training(settings=native.Settings(**OPTIONS | wrong)))


# A fuzz of the door: what does not fit is refused, and what comes in does no harm.


def any_arguments(rng, make):
    """Return arguments that fit, but for one or two of them, or none."""
    dtype = [np.float32, np.float64][rng.integers(2)]
    arguments = make(dtype)
    if rng.random() < 0.5:
        arguments["rows"] = sparse_rows(dtype)
    if "settings" in arguments:
        options = {"loss": rng.integers(5), "learning_rate": rng.integers(3)}
        options |= {"average_from": rng.integers(3), "tol": rng.normal(), "max_iter": 3}
        arguments["settings"] = native.Settings(
            **OPTIONS | {k: v.item() if hasattr(v, "item") else v for k, v in options.items()}
        )
    arrays = [value for value in arguments.values() if isinstance(value, np.ndarray)]
    for name in rng.choice(list(arguments), rng.integers(3), replace=False).tolist():
        value = arguments[name]
        if isinstance(value, native.SparseRows):
            parts = list(value)
            part = rng.integers(4)
            parts[part] = (
                changed(rng, parts[part], arrays) if part < 3 else int(rng.integers(-2, 9))
            )
            arguments[name] = native.SparseRows(*parts)
        elif isinstance(value, np.ndarray):
            arguments[name] = changed(rng, value, arrays)
        elif isinstance(value, int):
            arguments[name] = int(rng.integers(-2, 9))
    return arguments


def test_no_training_crashes():
    rng = np.random.default_rng(0)
    n = n_let_in(native.train, (any_arguments(rng, training) for _ in range(3000)))
    assert 1000 < n < 2500


def test_no_vote_crashes():
    rng = np.random.default_rng(1)
    n = n_let_in(native.vote, (any_arguments(rng, voting) for _ in range(3000)))
    assert 1000 < n < 2500


def judging(dtype):
    arguments = voting(dtype) | {"scores": np.zeros((N_SEPARATORS, N_ROWS), dtype), "start": 0}
    del arguments["rows"]
    return arguments


def counting(dtype):
    kept = ("coef", "average", "separators", "chosen")
    arguments = {name: value for name, value in training(dtype).items() if name in kept}
    return arguments | {"n_separators": 1, "n_rows": 5, "average_from": 0}


def measuring(dtype):
    arguments = training(dtype)
    return {"rows": arguments["rows"], "coef": arguments["coef"], "norms": np.zeros(N_ROWS)}


def drawing(dtype):
    return {"seeds": np.arange(4), "draws": np.zeros((4, 2), np.int64)}


@pytest.mark.parametrize(
    ("enter", "make"),
    [
        (native.vote_by_scores, judging),
        (native.count_steps, counting),
        (native.row_norms, measuring),
        (native.draw_seeds, drawing),
    ],
)
def test_nothing_else_crashes(enter, make):
    rng, n = np.random.default_rng(2), 0
    for _ in range(2000):
        arguments = any_arguments(rng, make)
        if "rows" not in make(np.float64):
            arguments.pop("rows", None)
        n += n_let_in(enter, [arguments])
    assert 500 < n < 1800


def test_arrays_that_are_written_to_must_not_share_memory():
    arguments = training()
    chosen = arguments["coef"].reshape(-1)[:3].view(np.int64)
    with pytest.raises(ValueError, match="coef must not share memory with chosen"):
        native.train(**arguments | {"chosen": chosen})
    rows = np.zeros((N_ROWS, N_COLUMNS))
    with pytest.raises(ValueError, match="must not share memory"):
        native.row_norms(rows, arguments["coef"], rows.reshape(-1)[:N_ROWS])


def test_an_order_that_is_none_is_made_again():
    results = []
    for order in (-1, 99, 0):
        orders = np.full((N_SEPARATORS, N_ROWS), order, np.int32)
        arguments = training(orders=orders)
        native.train(**arguments)
        results.append(arguments["coef"].tobytes())
    assert results[0] == results[1] != results[2]


# Threads and processes

SEEDS = np.arange(24)


def fitted(n_threads):
    """Return coefficients after a final fit by threads."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 20))
    y = (X[:, 0] + rng.normal(size=3000) > 0).astype(int)
    pool = LinearPool([SGDClassifier(random_state=s) for s in SEEDS], np.array([0, 1]))
    pool._n_threads = lambda _: n_threads  # as many as asked for, however small the work
    pool.finish(SEEDS, Rows(X, y))
    return np.stack([voter.coef_[0] for voter in pool.estimators(SEEDS)])


@pytest.fixture(scope="module")
def expected():
    return fitted(1)


def test_any_number_of_threads_gives_the_same_bits(expected):
    for n_threads in (2, 3, 8):
        assert np.array_equal(fitted(n_threads), expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_trains_as_its_parent_did(expected):
    assert np.array_equal(fitted(2), expected)
    with multiprocessing.get_context("fork").Pool(1) as process:
        assert np.array_equal(process.apply_async(fitted, [2]).get(60), expected)
    assert np.array_equal(fitted(2), expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_process_may_be_forked_while_threads_train(expected):
    stop = threading.Event()

    def train():
        while not stop.is_set():
            fitted(2)

    trainer = threading.Thread(target=train)
    trainer.start()
    try:
        for _ in range(3):
            with multiprocessing.get_context("fork").Pool(1) as process:
                assert np.array_equal(process.apply_async(fitted, [2]).get(60), expected)
    finally:
        stop.set()
        trainer.join()


def test_a_spawned_process_trains_as_its_parent_did(expected):
    code = "import sys; sys.path.insert(0, sys.argv[1]); import test_native as t; t.spawn()"
    run = [sys.executable, "-c", code, str(Path(__file__).parent)]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == hashlib.sha256(expected.tobytes()).hexdigest(), done.stderr


def spawn():
    fitted(2)
    with multiprocessing.get_context("spawn").Pool(1) as process:
        coef = process.apply(fitted, [2])
    sys.stdout.write(hashlib.sha256(coef.tobytes()).hexdigest())


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_processes_and_threads_of_joblib_train_alike(expected, backend):
    for coef in Parallel(2, backend=backend)(delayed(fitted)(2) for _ in range(3)):
        assert np.array_equal(coef, expected)


def test_python_goes_on_while_the_core_trains():
    arguments = long_training()
    with ThreadPoolExecutor(1) as executor:
        start = last = time.perf_counter()
        training_goes_on, longest_gap = executor.submit(native.train, **arguments), 0.0
        while not training_goes_on.done():
            now = time.perf_counter()
            longest_gap, last = max(longest_gap, now - last), now
    assert longest_gap < (last - start) / 2


def long_training():
    n_rows = 200_000
    rng = np.random.default_rng(0)
    return training(
        rows=rng.normal(size=(n_rows, N_COLUMNS)),
        labels=np.where(rng.normal(size=n_rows) > 0, 1.0, -1.0)[None],
        importance=np.ones((1, n_rows)),
        row_norms=np.full(n_rows, 9.0),
        orders=np.empty((0, n_rows), np.int32),
        settings=native.Settings(**OPTIONS | {"max_iter": 30, "n_iter_no_change": 1000}),
    )


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_long_training_can_be_interrupted(n_threads):
    arguments = long_training()
    arguments["n_threads"] = n_threads
    options = {"max_iter": 10**6, "n_iter_no_change": 10**6, "tol": -np.inf}
    arguments["settings"] = native.Settings(**OPTIONS | options)
    interrupted(arguments)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
def test_a_call_that_waits_for_other_threads_can_be_interrupted():
    arguments = long_training()
    n_rows = arguments["labels"].shape[1]
    rows = scipy.sparse.csr_array(arguments["rows"])  # each by itself: the first stops at once
    each = separators(2, alpha=[1e-4, 1e-4], problem=[0, 1])
    arguments |= {
        "coef": np.zeros((2, N_COLUMNS)),
        "average": np.zeros((2, N_COLUMNS)),
        "separators": each,
        "chosen": np.arange(2),
        "rows": native.SparseRows(rows.data, rows.indices, rows.indptr.astype(np.int64), N_COLUMNS),
        "labels": np.vstack([np.full(n_rows, np.inf), arguments["labels"]]),  # overflows
        "n_threads": 2,
    }
    options = {"max_iter": 10**6, "n_iter_no_change": 10**6, "tol": -np.inf}
    arguments["settings"] = native.Settings(**OPTIONS | options)
    interrupted(arguments)


def interrupted(arguments):
    """Train until a signal comes, which must be soon heard."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job may ignore it
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            native.train(**arguments)
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)


# Instruction sets


@pytest.mark.parametrize("average_from", [0, 1])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_every_instruction_set_gives_the_same_bits(is_sparse, dtype, average_from):
    widest, results = native.instructions(), {}
    try:
        for name in native.instruction_sets():
            native.use_instructions(name)
            assert native.instructions() == name
            results[name] = [trained_with(k, is_sparse, dtype, average_from) for k in range(5)]
    finally:
        native.use_instructions(widest)
    for name, arrays in results.items():
        for ours, theirs in zip(arrays, results["baseline"], strict=True):
            assert ours == theirs, name


def test_every_instruction_set_gives_the_same_cosines():
    widest, numbers = native.instructions(), np.random.default_rng(0).normal(size=9999) * 1e5
    try:
        results = []
        for name in native.instruction_sets():
            native.use_instructions(name)
            results.append(numbers.copy())
            native.cosines(results[-1], 0.7)
    finally:
        native.use_instructions(widest)
    assert all(np.array_equal(ours, results[0]) for ours in results)


def trained_with(loss, is_sparse, dtype, average_from):
    """Return the bytes of separators after some epochs on 23 columns: blocks, and a rest."""
    rng, n_rows, n_columns = np.random.default_rng(0), 200, 23
    X = rng.normal(size=(n_rows, n_columns)).astype(dtype)
    sparse = scipy.sparse.csr_array(np.where(X > 0.5, X, 0).astype(dtype))
    y = (X[:, 0] + 0.3 * rng.normal(size=n_rows) > 0) * (1.0 if loss == 4 else 2.0)
    arguments = training(
        coef=np.zeros((7, n_columns), dtype),
        average=np.zeros((7, n_columns), dtype),
        separators=separators(7, seed=np.arange(1, 8)),
        chosen=np.arange(7),
        rows=native.SparseRows(
            sparse.data, sparse.indices, sparse.indptr.astype(np.int64), n_columns
        )
        if is_sparse
        else X,
        labels=(y - (loss != 4)).astype(dtype)[None],
        importance=rng.exponential(size=(1, n_rows)).astype(dtype),
        row_norms=np.sqrt((X.astype(float) ** 2).sum(axis=1)),
        orders=np.empty((0, n_rows), np.int32),
        settings=native.Settings(**OPTIONS | {"loss": loss, "average_from": average_from}),
    )
    native.train(**arguments)
    each = arguments["separators"].view(native.SEPARATOR)
    kept = ("n_iter", "verdict", "intercept", "average_intercept", "scale", "new_intercept")
    bits = [each[name].tobytes() for name in kept]
    return arguments["coef"].tobytes(), arguments["average"].tobytes(), *bits


def test_the_widest_instructions_are_taken_unless_others_are_asked_for():
    print_them = "from skliquid import native; print(native.instructions())"
    for asked in native.instruction_sets():
        environment = os.environ | {"SKLIQUID_INSTRUCTIONS": asked}
        run = [sys.executable, "-c", print_them]
        done = subprocess.run(run, env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == asked
    with pytest.raises(ValueError, match=r"name must be one of instruction_sets\(\): got 'x87'"):
        native.use_instructions("x87")


# The build


def test_the_core_is_built_from_the_sources_that_are_here():
    folder = Path(native.__file__).parent
    sources = sorted([*folder.rglob("*.cpp"), *folder.rglob("*.hpp")])
    if not sources:
        pytest.skip("an installed package has no sources")
    recipe = folder.parents[2] / "CMakeLists.txt"
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in [*sources, recipe]]
    digest = hashlib.sha256("".join(digests).encode()).hexdigest()
    assert digest == native.SOURCES, "the core is older than its sources: run `make build`"
