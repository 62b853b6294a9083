"""The linear pool has scikit-learn's bits: coefficients, intercepts, iterations, steps."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from linear_voters import (
    LOSSES,
    VOTERS,
    assert_same_as_a_loop,
    assert_same_bits,
    pool_of,
    sgd,
    sparse,
)
from sklearn.base import clone
from sklearn.linear_model import Perceptron, SGDClassifier

from skliquid import LiquidEnsembleClassifier
from skliquid.delegation.rows import Rows
from skliquid.diversity.samples import draw_subspaces
from skliquid.mechanisms import MECHANISMS
from skliquid.pools import LinearPool

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("data", ["raw", "scaled", "float32", "sparse", "classes", "classes32"])
def test_every_loss_on_every_type_of_data(request, loss, data):
    X, y = request.getfixturevalue("multiclass" if "classes" in data else "binary")
    X = {
        "raw": lambda: np.exp(X) * 100,
        "float32": lambda: X.astype(np.float32),
        "classes32": lambda: X.astype(np.float32),
        "sparse": lambda: sparse(X),
    }.get(data, lambda: X)()
    assert_same_as_a_loop(sgd(loss=loss), X, y)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    "params",
    [
        {"penalty": None},
        {"learning_rate": "constant", "eta0": 0.05},
        {"learning_rate": "invscaling", "eta0": 0.5, "power_t": 0.3},
        {"fit_intercept": False},
        {"shuffle": False},
        {"tol": None, "max_iter": 3},
        {"alpha": 2.0},
        {"n_iter_no_change": 2, "tol": 1e-2},
        {"class_weight": {0: 2.5, 1: 0.3}},
    ],
    ids=str,
)
def test_every_loss_with_every_option(binary, loss, params):
    X, y = binary
    assert_same_as_a_loop(sgd(loss=loss, **params), X[:300], y[:300])


@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
@pytest.mark.parametrize("average", [True, 10, 400])
@pytest.mark.parametrize("data", ["binary", "multiclass", "float32", "sparse"])
def test_averages(request, loss, average, data):
    X, y = request.getfixturevalue("multiclass" if data == "multiclass" else "binary")
    X = {"float32": lambda: X.astype(np.float32), "sparse": lambda: sparse(X)}.get(
        data, lambda: X
    )()
    assert_same_as_a_loop(sgd(loss=loss, average=average), X, y)


def test_averages_whose_scale_is_folded_back(binary, multiclass):
    make = sgd(alpha=0.5, eta0=1.0, learning_rate="constant", average=True)
    assert_same_as_a_loop(make, *binary)
    assert_same_as_a_loop(make, *multiclass)


def test_averages_in_single_precision_that_begin_after_the_first_increment(binary):
    X, y = binary
    make = sgd(alpha=0.6, eta0=0.9, learning_rate="constant", average=60)
    assert_same_as_a_loop(make, X.astype(np.float32), y)


@pytest.mark.parametrize(("loss", "seed"), [("modified_huber", 3), ("squared_hinge", 4)])
def test_features_that_come_twice_in_a_sparse_row(loss, seed):
    rng = np.random.default_rng(seed)
    y, numbers = rng.integers(0, 2, 200), rng.normal(size=1200)
    features, starts = rng.integers(0, 2, 1200), np.arange(0, 1201, 6)
    X = scipy.sparse.csr_matrix((numbers, features, starts), shape=(200, 2))
    assert_same_as_a_loop(sgd(loss=loss, alpha=0.5), X, y)


@pytest.mark.parametrize(
    ("dtype", "eta0"), [(np.float64, 1e-170), (np.float64, 1e-300), (np.float32, 1e-24)]
)
def test_steps_whose_squares_are_too_small_for_a_number(dtype, eta0):
    rng = np.random.default_rng(0)
    X = (rng.integers(-2, 3, size=(120, 9)) * 0.1).astype(dtype)
    y = (X @ rng.normal(size=9) + rng.normal(scale=0.3, size=120) > 0).astype(int)
    assert_same_as_a_loop(
        lambda s: Perceptron(eta0=eta0, fit_intercept=False, random_state=s), X, y
    )


def test_weights_of_several_classes(multiclass):
    X, y = multiclass
    classes, weights = np.unique(y), np.random.default_rng(0).exponential(size=len(y))
    make = sgd(class_weight=dict(zip(classes.tolist(), [2.5, 0.3, *[1.0] * 8], strict=False)))
    assert_same_as_a_loop(make, X, y)
    assert_same_as_a_loop(make, X, y, weights)


@pytest.mark.parametrize("loss", ["hinge", "modified_huber"])
def test_sample_weights(binary, multiclass, loss):
    for X, y in (binary, multiclass):
        weights = np.random.default_rng(0).exponential(size=len(y))
        assert_same_as_a_loop(sgd(loss=loss), X, y, weights)
        assert_same_as_a_loop(sgd(loss=loss), X.astype(np.float32), y, weights)


def test_voters_may_differ_in_alpha_and_step(binary):
    assert_same_as_a_loop(
        lambda s: SGDClassifier(alpha=10.0 ** -(s % 4 + 1), random_state=s), *binary
    )
    assert_same_as_a_loop(
        lambda s: SGDClassifier(learning_rate="constant", eta0=1 / (s % 7 + 1), random_state=s),
        *binary,
    )


def test_perceptrons(binary, multiclass):
    for X, y in (binary, multiclass):
        assert_same_as_a_loop(lambda s: Perceptron(random_state=s), X, y)
        assert_same_as_a_loop(lambda s: Perceptron(penalty="l2", eta0=0.1, random_state=s), X, y)


@pytest.mark.filterwarnings("ignore:.*encountered in matmul")  # of scikit-learn's products too
@pytest.mark.parametrize("loss", ["perceptron", "modified_huber", "squared_hinge"])
def test_losses_that_are_too_large_for_a_number(binary, loss):
    X, y = binary
    assert_same_as_a_loop(sgd(loss=loss), X * 1e200, y)


def test_separators_that_are_done_learn_nothing_from_nan():
    X, y = np.array([[1e200, 1e200], [1e200, -1e200]]), np.array([0, 1])
    options = {"learning_rate": "constant", "eta0": 0.1, "shuffle": False, "fit_intercept": False}
    pool = LinearPool([sgd(loss="log_loss", **options)(s) for s in range(7)], np.array([0, 1]))
    weighted = Rows(X, y, np.array([0.0, 1.0]))
    pool.train(np.arange(7), weighted)  # three separators side by side, one idle
    assert all(np.isfinite(voter.coef_).all() for voter in pool.estimators(np.arange(7)))


def test_labels_of_text(binary):
    X, y = binary
    assert_same_as_a_loop(sgd(class_weight={"yes": 3.0}), X, np.array(["no", "yes"])[y])


def test_steps_that_vanish_in_single_precision_weigh_coefficients_again():
    X = np.where(np.arange(4000) % 2, 118.0, -118.0).astype(np.float32)[:, None]
    options = {"alpha": 1e-3, "learning_rate": "constant", "eta0": 0.1, "n_iter_no_change": 1}
    make = sgd(loss="log_loss", tol=0.00676875, **options)  # where rounding decides when to stop
    assert_same_as_a_loop(make, X, np.arange(4000) % 2, increment=2000)


@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_matrix])
@pytest.mark.parametrize("n_voters", [1, 4])
def test_steps_that_are_rounded_to_nothing_are_steps(container, n_voters):
    rng = np.random.default_rng(0)
    for _ in range(60):
        X = rng.normal(size=(2, 3)).astype(np.float32) * 10
        X, y = container(X), np.array([0, 1])
        options = {"learning_rate": "constant", "eta0": 1000.0, "max_iter": 30}
        voters = [sgd(loss="log_loss", **options)(s) for s in range(n_voters)]
        pool = LinearPool(voters, y)
        pool.finish(np.arange(n_voters), Rows(X, y))
        for ours, theirs in zip(pool.estimators(np.arange(n_voters)), voters, strict=True):
            assert_same_bits(ours, theirs.fit(X, y))


def test_rows_too_short_for_squares():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)) * 1e-160, np.arange(30) % 2
    options = {"penalty": "l2", "eta0": 1e100, "tol": 0.0, "max_iter": 20}
    assert_same_as_a_loop(lambda s: Perceptron(random_state=s, **options), X, y)


def test_a_zero_keeps_its_sign():
    X, y = np.random.default_rng(0).normal(size=(40, 5)), np.arange(40) % 2
    options = {"alpha": 2.0, "learning_rate": "constant", "eta0": 0.5, "max_iter": 3}
    assert_same_as_a_loop(sgd(**options), X, y)


@pytest.mark.parametrize("loss", LOSSES)
def test_rows_of_zeros(loss):
    options = {"tol": 0.0, "max_iter": 40, "fit_intercept": False, "alpha": 1.0, "eta0": 1.0}
    for learning_rate in ("optimal", "invscaling"):
        make = sgd(loss=loss, learning_rate=learning_rate, **options)
        assert_same_as_a_loop(make, np.zeros((50, 40)), np.arange(50) % 2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", ["hinge", "perceptron"])
def test_features_that_come_twice_and_cancel_each_other(loss, dtype):
    rng = np.random.default_rng(0)
    n_rows, n_features = 60, 30
    indices = np.tile(np.repeat(np.arange(n_features), 2), n_rows)
    small, large = rng.normal(size=(n_rows, n_features)), 1e15 * rng.normal(size=n_features)
    data = np.stack([small + large, np.broadcast_to(-large, small.shape)], axis=2).ravel()
    indptr = np.arange(n_rows + 1) * 2 * n_features
    X = scipy.sparse.csr_matrix((data.astype(dtype), indices, indptr), (n_rows, n_features))
    assert not X.has_canonical_format
    assert_same_as_a_loop(sgd(loss=loss), X, (small[:, 0] > 0).astype(int))


@pytest.mark.parametrize("loss", LOSSES)
def test_squares_that_are_too_large_for_single_precision(loss):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 57)).astype(np.float32), np.arange(300) % 2
    for eta0 in (1.0, 1e14, 1e18):
        options = {"learning_rate": "constant", "eta0": eta0, "alpha": 0.1 / eta0, "max_iter": 5}
        assert_same_as_a_loop(sgd(loss=loss, n_iter_no_change=1, **options), X, y)


@pytest.mark.parametrize("options", [{}, {"loss": "log_loss"}, {"average": True}])
def test_threads_do_not_change_a_bit(binary, monkeypatch, options):
    X, y = binary
    monkeypatch.setattr("skliquid.pools.linear.linear_pool._WORK_OF_A_THREAD", 1)
    monkeypatch.setattr("skliquid.pools.linear.linear_pool.effective_n_jobs", lambda n: n)
    voters, pools = np.arange(23), {}
    for n in (1, 2, 5, 64):
        pools[n] = LinearPool([sgd(**options)(s) for s in voters], np.array([0, 1]), n)
        pools[n].train(voters, Rows(X, y))
        pools[n].finish(voters, Rows(X, y))
    for n in (2, 5, 64):
        for ours, theirs in zip(
            pools[1].estimators(voters), pools[n].estimators(voters), strict=True
        ):
            assert_same_bits(ours, theirs)


def test_coefficients_out_of_range_are_an_error(binary):
    X, y = binary
    pool = LinearPool(
        [sgd(loss="squared_hinge", learning_rate="constant", eta0=1e9, alpha=1e-12)(0)],
        np.array([0, 1]),
    )
    pool.train(np.array([0]), Rows(X[:2], y[:2]))
    voter = pool.estimators(np.array([0]))[0]
    with pytest.raises(ValueError, match=r"those of a voter became infinite. Scale the features"):
        pool.train(np.array([0]), Rows(X * 1e290, y))
    with pytest.raises(ValueError, match="overflow"):
        voter.partial_fit(X * 1e290, y)


def test_hundreds_of_classes():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(480, 5)), np.arange(480) % 240
    assert_same_as_a_loop(sgd(max_iter=2, tol=None), X, y, increment=480)


def test_estimators_continue_where_the_pool_is(binary):
    X, y = binary
    for params in ({}, {"average": True}, {"average": 300}):
        pool = pool_of(sgd(**params))
        pool.train(VOTERS, Rows(X[:200], y[:200]))
        voters = pickle.loads(pickle.dumps(pool.estimators(VOTERS)))
        pool.train(VOTERS, Rows(X[200:], y[200:]))
        for ours, theirs in zip(pool.estimators(VOTERS), voters, strict=True):
            assert_same_bits(ours, theirs.partial_fit(X[200:], y[200:]))


# Voters with features and weights of their own


@pytest.mark.parametrize("average", [False, 10])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("data", ["dense", "float32", "sparse", "classes"])
def test_own_features_and_own_weights_have_the_bits_of_a_loop(request, loss, data, average):
    X, y = request.getfixturevalue("multiclass" if data == "classes" else "binary")
    X = X.astype(np.float32) if data == "float32" else X
    X = sparse(X) if data == "sparse" else X
    rng = np.random.default_rng(0)
    subspaces = draw_subspaces(9, X.shape[1], X.shape[1] // 2, rng)
    weights = rng.poisson(1.0, (9, len(y))).astype(float)
    make = {"loss": loss, "average": average, "max_iter": 20}
    loop = [SGDClassifier(random_state=seed, **make) for seed in range(9)]
    pool = LinearPool(list(map(clone, loop)), np.unique(y), subspaces=subspaces)

    trained = np.arange(2, 9)
    for start in range(0, 120, 40):
        cut = slice(start, start + 40)
        pool.train(trained, Rows(X[cut], y[cut], weights[trained, cut]))
        for voter in trained:
            own = X[cut][:, subspaces[voter]]
            loop[voter].partial_fit(own, y[cut], np.unique(y), weights[voter, cut])
    for ours, voter in zip(pool.estimators(trained), trained, strict=True):
        assert_same_bits(ours, loop[voter])
    for voter, votes in zip(trained, pool.vote(trained, X), strict=True):
        assert np.array_equal(votes, loop[voter].predict(X[:, subspaces[voter]]))

    pool.finish(trained, Rows(X, y, weights[trained]))
    for voter in trained:
        loop[voter].fit(X[:, subspaces[voter]], y, sample_weight=weights[voter])
    for ours, voter in zip(pool.estimators(trained), trained, strict=True):
        assert_same_bits(ours, loop[voter])


def test_voters_are_trained_in_blocks_when_there_is_not_room_for_all(binary, monkeypatch):
    X, y = binary
    subspaces = draw_subspaces(len(VOTERS), X.shape[1], 7, np.random.default_rng(0))

    def coefficients():
        pool = pool_of(sgd(), subspaces=subspaces)
        pool.finish(VOTERS, Rows(X, y))
        return np.vstack([voter.coef_ for voter in pool.estimators(VOTERS)])

    at_once = coefficients()
    monkeypatch.setattr("skliquid.pools.linear.layout.MAX_COPIED_NUMBERS", 1)
    assert np.array_equal(coefficients(), at_once)


# Whole ensembles


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("data", ["binary", "digits"])
def test_whole_ensembles_are_the_same_through_either_pool(request, data, mechanism):
    X, y = request.getfixturevalue(data)
    linear, loop = (
        LiquidEnsembleClassifier(
            SGDClassifier(),
            n_estimators=24,
            n_final=4,
            mechanism=mechanism,
            pool=pool,
            random_state=5,
        ).fit(X[:300], y[:300], eval_set=(X[300:], y[300:]))
        for pool in ("linear", "estimator")
    )
    assert np.array_equal(linear.delegation_graph_.delegation, loop.delegation_graph_.delegation)
    assert np.array_equal(linear.predict_proba(X), loop.predict_proba(X))
    assert linear.training_cost_ == loop.training_cost_
    for ours, theirs in zip(linear.record_, loop.record_, strict=True):
        assert np.array_equal(ours.accuracy, theirs.accuracy, equal_nan=True)
        assert ours.eval_accuracy == theirs.eval_accuracy
    for ours, theirs in zip(linear.estimators_, loop.estimators_, strict=True):
        assert_same_bits(ours, theirs)
