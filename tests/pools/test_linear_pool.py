"""The linear pool has scikit-learn's bits: coefficients, intercepts, iterations, steps."""

import pickle

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg
from sklearn.linear_model import Perceptron, SGDClassifier

from skliquid import LiquidEnsembleClassifier
from skliquid.mechanisms import MECHANISMS
from skliquid.pools import (
    EstimatorPool,
    GroupedPool,
    LinearPool,
    pool_for,
)
from skliquid.pools.linear_pool import STOPPING_RULES, _draws, unsupported
from skliquid.pools.linear_reference import train

LOSSES = ["hinge", "log_loss", "modified_huber", "squared_hinge", "perceptron"]
SEEDS = [3, 1, 4, 1590, 2**31 + 5]
VOTERS = np.arange(len(SEEDS))

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def sparse(X):
    return scipy.sparse.csr_matrix(np.where(X > 0.5, X, 0))


def assert_same_bits(ours, theirs):
    assert np.array_equal(ours.coef_, theirs.coef_)
    if LinearPool.stopping_rule == "objective":  # with older scikit-learn comes a BLAS without -0.0
        assert np.array_equal(np.signbit(ours.coef_), np.signbit(theirs.coef_))
    assert np.array_equal(ours.intercept_, theirs.intercept_)
    assert (ours.n_iter_, ours.t_) == (theirs.n_iter_, theirs.t_)
    assert ours.coef_.dtype == theirs.coef_.dtype
    assert ours.intercept_.dtype == theirs.intercept_.dtype
    assert vars(ours).keys() == vars(theirs).keys()


def assert_same_as_a_loop(make, X, y, sample_weight=None, *, increment=37, warm=False):
    """Train a pool and a loop side by side, by increments and then in full."""
    classes = np.unique(y)
    pool, loop = LinearPool([make(s) for s in SEEDS], classes), [make(s) for s in SEEDS]
    positions = np.searchsorted(classes, y)

    def assert_same():
        for ours, theirs in zip(pool.estimators(VOTERS), loop, strict=True):
            assert_same_bits(ours, theirs)
        for votes, theirs in zip(pool.vote(VOTERS, X), loop, strict=True):
            assert np.array_equal(classes[votes], theirs.predict(X))

    for start in range(0, len(y), increment):
        cut = slice(start, start + increment)
        weights = None if sample_weight is None else sample_weight[cut]
        visits = pool.train(VOTERS, X[cut], positions[cut], weights)
        assert visits == len(VOTERS) * len(y[cut])
        for voter in loop:
            voter.partial_fit(X[cut], y[cut], classes=classes, sample_weight=weights)
    assert_same()
    visits = pool.finish(VOTERS, X, positions, sample_weight, warm=warm)
    for voter in loop:
        voter.set_params(warm_start=warm).fit(X, y, sample_weight=sample_weight)
        voter.set_params(warm_start=False)
    assert_same()
    assert visits == sum(voter.n_iter_ for voter in loop) * len(y)


def sgd(**params):
    return lambda seed: SGDClassifier(random_state=seed, **{"max_iter": 40} | params)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("data", ["raw", "scaled", "float32", "sparse", "classes", "classes32"])
def test_every_loss_on_every_kind_of_data(request, loss, data):
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


def test_machines_that_weigh_rows_alike_share_what_they_weigh(multiclass):
    X, y = multiclass
    classes, labels = np.unique(y, return_inverse=True)
    pool = LinearPool([SGDClassifier(random_state=s) for s in SEEDS], classes)
    pool.train(VOTERS, X, labels)
    for weights, n_different in ((None, 1), (np.ones(len(y)), 1), (np.ones((5, len(y))), 5)):
        importance, of_machines = pool._importance(VOTERS, labels, weights)
        assert importance.shape == (n_different, len(y))
        assert len(of_machines) == len(SEEDS) * len(classes)
        assert of_machines.max() == n_different - 1


def test_rows_may_be_read_only(binary):
    X, y = binary[0][:, :24].copy(), binary[1]
    for kind in (np.asarray, scipy.sparse.csr_matrix):
        rows = kind(X)
        expected = trained(rows, y)
        for array in (rows,) if kind is np.asarray else (rows.data, rows.indices, rows.indptr):
            array.flags.writeable = False
        assert np.array_equal(trained(rows, y), expected)


def trained(X, y):
    pool = LinearPool([SGDClassifier(random_state=s) for s in SEEDS], np.unique(y))
    pool.train(VOTERS, X, y)
    return pool.accuracy(VOTERS, X, y)


@pytest.mark.parametrize("loss", ["hinge", "modified_huber"])
def test_sample_weights(binary, multiclass, loss):
    for X, y in (binary, multiclass):
        weights = np.random.default_rng(0).exponential(size=len(y))
        assert_same_as_a_loop(sgd(loss=loss), X, y, weights)
        assert_same_as_a_loop(sgd(loss=loss), X.astype(np.float32), y, weights)


@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
@pytest.mark.parametrize("average", [False, True])
def test_warm_final_fits(binary, multiclass, loss, average):
    for X, y in (binary, multiclass):
        assert_same_as_a_loop(sgd(loss=loss, average=average), X, y, warm=True)
    assert_same_as_a_loop(sgd(loss=loss), binary[0].astype(np.float32), binary[1], warm=True)


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


def test_who_is_done_learns_nothing_from_what_is_not_a_number():
    X, y = np.array([[1e200, 1e200], [1e200, -1e200]]), np.array([0, 1])
    options = {"learning_rate": "constant", "eta0": 0.1, "shuffle": False, "fit_intercept": False}
    pool = LinearPool([sgd(loss="log_loss", **options)(s) for s in range(7)], np.array([0, 1]))
    pool.train(np.arange(7), X, y, np.array([0.0, 1.0]))  # three machines side by side, one idle
    assert all(np.isfinite(voter.coef_).all() for voter in pool.estimators(np.arange(7)))


def test_labels_of_any_kind(binary):
    X, y = binary
    assert_same_as_a_loop(sgd(class_weight={"yes": 3.0}), X, np.array(["no", "yes"])[y])


def test_doubt_about_the_stopping_rule_is_settled_by_scikit_learn(binary, monkeypatch):
    _, y = binary
    asked = []
    fit = SGDClassifier.fit
    monkeypatch.setattr(
        SGDClassifier, "fit", lambda self, *args, **kw: asked.append(self) or fit(self, *args, **kw)
    )
    # the objective is the same in every epoch: a tie that no rounding decides
    same = np.zeros((40, 2))
    pool = LinearPool([sgd(tol=0.0, fit_intercept=False)(s) for s in SEEDS], np.array([0, 1]))
    pool.finish(VOTERS, same, y[:40])
    assert len(asked) == len(SEEDS)
    assert_same_as_a_loop(sgd(tol=0.0, fit_intercept=False), same, y[:40])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", LOSSES)
def test_many_rows_leave_no_doubt_about_the_stopping_rule(loss, dtype, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 100)).astype(dtype)
    y = (X @ rng.normal(size=100) + 3 * rng.normal(size=6000) > 0).astype(int)
    loop = [sgd(loss=loss)(s).fit(X, y) for s in SEEDS]
    monkeypatch.setattr(SGDClassifier, "fit", None)  # nobody asks scikit-learn
    pool = LinearPool([sgd(loss=loss)(s) for s in SEEDS], np.array([0, 1]))
    pool.finish(VOTERS, X, y)
    for ours, theirs in zip(pool.estimators(VOTERS), loop, strict=True):
        assert_same_bits(ours, theirs)


def test_steps_that_vanish_in_single_precision_weigh_coefficients_anew():
    X = np.where(np.arange(4000) % 2, 118.0, -118.0).astype(np.float32)[:, None]
    options = {"alpha": 1e-3, "learning_rate": "constant", "eta0": 0.1, "n_iter_no_change": 1}
    make = sgd(loss="log_loss", tol=0.00676875, **options)  # where rounding decides when to stop
    assert_same_as_a_loop(make, X, np.arange(4000) % 2, increment=2000)


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_matrix])
@pytest.mark.parametrize("n_voters", [1, 4])
def test_steps_that_are_rounded_to_nothing_are_steps(kind, n_voters):
    rng = np.random.default_rng(0)
    for _ in range(60):
        X = rng.normal(size=(2, 3)).astype(np.float32) * 10
        X, y = kind(X), np.array([0, 1])
        options = {"learning_rate": "constant", "eta0": 1000.0, "max_iter": 30}
        voters = [sgd(loss="log_loss", **options)(s) for s in range(n_voters)]
        pool = LinearPool(voters, y)
        pool.finish(np.arange(n_voters), X, y)
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
def test_sparse_rows_that_point_elsewhere_end_in_an_error(loss):
    X = scipy.sparse.random(40, 9, 0.5, "csr", random_state=0)
    X.indices[3] = 50_000_000
    pool = LinearPool([sgd(loss=loss)(0)], np.array([0, 1]))
    with pytest.raises(ValueError, match=r"X.indices must be from 0 to 8: got 50000000"):
        pool.train(np.arange(1), X, np.arange(40) % 2)


def test_no_penalty_to_weigh_leaves_no_doubt_in_single_precision(binary, monkeypatch):
    X, y = binary[0].astype(np.float32), binary[1]
    options = {"alpha": 0.0, "learning_rate": "constant", "eta0": 0.1}
    loop = [sgd(**options)(s).fit(X, y) for s in SEEDS]
    monkeypatch.setattr(SGDClassifier, "fit", None)  # nobody asks scikit-learn
    pool = LinearPool([sgd(**options)(s) for s in SEEDS], np.array([0, 1]))
    pool.finish(VOTERS, X, y)
    for ours, theirs in zip(pool.estimators(VOTERS), loop, strict=True):
        assert_same_bits(ours, theirs)


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


def test_sparse_rows_have_a_length_where_squares_vanish_in_single_precision():
    X = scipy.sparse.random(50, 40, 0.2, "csr", random_state=0)
    small = (X * 1e-24).astype(np.float32)
    _, norms = LinearPool([sgd()(0)], np.array([0, 1]))._rows(small, np.zeros((1, 40), np.float32))
    assert np.allclose(norms, 1e-24 * scipy.sparse.linalg.norm(X, axis=1), atol=1e-140)


@pytest.mark.parametrize("loss", LOSSES)
def test_squares_that_are_too_large_for_single_precision(loss):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 57)).astype(np.float32), np.arange(300) % 2
    for eta0 in (1.0, 1e14, 1e18):
        options = {"learning_rate": "constant", "eta0": eta0, "alpha": 0.1 / eta0, "max_iter": 5}
        assert_same_as_a_loop(sgd(loss=loss, n_iter_no_change=1, **options), X, y)


def test_near_ties_in_votes_are_settled_by_scikit_learn(binary):
    X, y = binary
    pool = LinearPool([sgd()(s) for s in SEEDS], np.array([0, 1]))
    pool.train(VOTERS, X, y)
    for voter in pool.estimators(VOTERS):  # rows on the very edge of each voter
        edge = X[:200] - np.outer(voter.decision_function(X[:200]), voter.coef_) / np.sum(
            voter.coef_**2
        )
        for votes, theirs in zip(pool.vote(VOTERS, edge), pool.estimators(VOTERS), strict=True):
            assert np.array_equal(votes, theirs.predict(edge))


@pytest.mark.parametrize("options", [{}, {"average": True}, {"fit_intercept": False}])
@pytest.mark.parametrize("kind", [np.float32, np.float64, sparse, scipy.sparse.csc_matrix])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_votes_in_doubt_are_those_of_scikit_learn(binary, n_classes, kind, options):
    X, y = kind(binary[0]), binary[1]
    y = y + (np.arange(len(y)) % 5 == 0) if n_classes == 3 else y
    pool = LinearPool([sgd(**options)(s) for s in SEEDS], np.arange(n_classes))
    pool.finish(VOTERS, X, y)
    for voter, theirs in enumerate(pool.estimators(VOTERS)):
        ours = pool._votes_of(VOTERS[voter : voter + 1], X, *pool._shown())
        assert np.array_equal(ours[0], theirs.predict(X))


def test_sparse_rows_of_few_numbers_leave_no_doubt_about_votes(monkeypatch):
    X = scipy.sparse.random(40, 5000, 0.004, "csr", dtype=np.float32, random_state=0)
    pool = LinearPool([sgd()(s) for s in SEEDS], np.array([0, 1]))
    pool.train(VOTERS, X, np.arange(40) % 2)
    expected = [voter.predict(X) for voter in pool.estimators(VOTERS)]
    monkeypatch.setattr(LinearPool, "_votes_of", None)  # nobody asks for a product in order
    assert np.array_equal(pool.vote(VOTERS, X), expected)


@pytest.mark.parametrize("options", [{}, {"loss": "log_loss"}, {"average": True}])
def test_threads_do_not_change_a_bit(binary, monkeypatch, options):
    X, y = binary
    monkeypatch.setattr("skliquid.pools.linear_pool._WORK_OF_A_THREAD", 1)
    monkeypatch.setattr("skliquid.pools.linear_pool.effective_n_jobs", lambda n: n)
    voters, pools = np.arange(23), {}
    for n in (1, 2, 5, 64):
        pools[n] = LinearPool([sgd(**options)(s) for s in voters], np.array([0, 1]), n)
        pools[n].train(voters, X, y)
        pools[n].finish(voters, X, y)
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
    pool.train(np.array([0]), X[:2], y[:2])
    voter = pool.estimators(np.array([0]))[0]
    with pytest.raises(ValueError, match=r"a voter's became infinite. Scale the features"):
        pool.train(np.array([0]), X * 1e290, y)
    with pytest.raises(ValueError, match="overflow"):
        voter.partial_fit(X * 1e290, y)


def test_large_data_are_not_copied_and_give_the_same_bits(binary, monkeypatch):
    monkeypatch.setattr("skliquid.pools.linear_pool._MOST_NUMBERS_TO_COPY", 0)
    assert_same_as_a_loop(sgd(), *binary)
    assert_same_as_a_loop(sgd(loss="log_loss", average=True), *binary)


@pytest.mark.parametrize(("n_seeds", "n_draws"), [(1000, 4), (20, 227), (20, 228), (5, 1300)])
def test_seeds_are_drawn_as_numpy_draws_them(n_seeds, n_draws):
    large = np.random.default_rng(0).integers(0, 2**32, n_seeds // 2)
    seeds = np.concatenate([np.arange(n_seeds - len(large)), large])
    expected = []
    for seed in seeds:
        generator = np.random.RandomState(seed)
        expected.append([generator.randint(2**31 - 1) for _ in range(n_draws)])
    assert np.array_equal(_draws(seeds, n_draws), expected)


def test_hundreds_of_classes():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(480, 5)), np.arange(480) % 240
    assert_same_as_a_loop(sgd(max_iter=2, tol=None), X, y, increment=480)


@pytest.mark.filterwarnings("ignore:.*encountered in matmul")  # of scikit-learn's products too
@pytest.mark.parametrize("data", ["binary", "multiclass"])
def test_votes_where_sums_are_too_large_for_a_number(request, data):
    X, y = request.getfixturevalue(data)
    X = (X * 1e19).astype(np.float32)
    classes = np.unique(y)
    pool = LinearPool([Perceptron(random_state=s) for s in SEEDS], classes)
    pool.train(VOTERS, X, np.searchsorted(classes, y))
    for some in (X, X[:30]):
        for votes, voter in zip(pool.vote(VOTERS, some), pool.estimators(VOTERS), strict=True):
            assert np.array_equal(classes[votes], voter.predict(some))


def test_estimators_go_on_where_the_pool_is(binary):
    X, y = binary
    for params in ({}, {"average": True}, {"average": 300}):
        pool = LinearPool([sgd(**params)(s) for s in SEEDS], np.array([0, 1]))
        pool.train(VOTERS, X[:200], y[:200])
        voters = pickle.loads(pickle.dumps(pool.estimators(VOTERS)))
        pool.train(VOTERS, X[200:], y[200:])
        for ours, theirs in zip(pool.estimators(VOTERS), voters, strict=True):
            assert_same_bits(ours, theirs.partial_fit(X[200:], y[200:]))


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


def test_a_list_of_losses_has_a_linear_pool_for_each(binary):
    X, y = binary
    kinds = [(loss, SGDClassifier(loss=loss)) for loss in LOSSES]
    kinds.append(("l1", SGDClassifier(penalty="l1")))
    both = [
        LiquidEnsembleClassifier(kinds, n_estimators=30, n_final=5, pool=pool, random_state=0).fit(
            X, y
        )
        for pool in ("auto", "estimator")
    ]
    parts = both[0]._training.pool._pools
    assert [type(part) for part in parts] == [LinearPool] * 5 + [EstimatorPool]
    assert np.array_equal(both[0].predict_proba(X), both[1].predict_proba(X))
    assert pickle.loads(pickle.dumps(both[0])).score(X, y) == both[1].score(X, y)


def test_auto_takes_the_linear_pool_where_it_can():
    def kind(n, *kinds, asked="auto"):
        return type(pool_for(asked, kinds, range(n), np.array([0, 1]), None))

    assert kind(1, SGDClassifier()) is LinearPool
    assert kind(2, SGDClassifier(), asked="linear") is LinearPool
    assert kind(20, SGDClassifier(), asked="estimator") is EstimatorPool
    assert kind(20, SGDClassifier(penalty="l1")) is EstimatorPool
    assert kind(20, SGDClassifier(), SGDClassifier(alpha=1.0)) is LinearPool
    assert kind(20, SGDClassifier(), SGDClassifier(loss="log_loss")) is GroupedPool


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({"loss": "huber"}, "loss='huber'"),
        ({"penalty": "l1"}, "penalty='l1'"),
        ({"penalty": "elasticnet"}, "penalty='elasticnet'"),
        ({"learning_rate": "adaptive", "eta0": 0.1}, "learning_rate='adaptive'"),
        ({"early_stopping": True}, "early_stopping=True"),
        ({"class_weight": "balanced"}, "class_weight='balanced'"),
        ({"verbose": 1}, "verbose=1"),
    ],
)
def test_what_the_linear_pool_does_not_support_is_named(binary, params, reason):
    assert unsupported(SGDClassifier(**params)) == reason
    ensemble = LiquidEnsembleClassifier(SGDClassifier(**params), pool="linear")
    with pytest.raises(ValueError, match=f"pool='linear' needs .* does not support {reason}"):
        ensemble.fit(*binary)


@pytest.mark.parametrize(
    "params",
    [
        {"class_weight": "balanced_subsample"},
        {"max_iter": [5, 10]},
        {"loss": np.array([1.0, 2.0])},
    ],
    ids=str,
)
def test_what_is_no_parameter_is_left_for_scikit_learn_to_name(binary, params):
    (name,) = params
    for voters in (SGDClassifier(**params), [SGDClassifier(**params), Perceptron()]):
        ensemble = LiquidEnsembleClassifier(voters, n_estimators=20)
        with pytest.raises((ValueError, TypeError), match=name):
            ensemble.fit(*binary)


def test_what_voters_draw_has_to_be_supported_too(binary):
    drawn = {"penalty": ["l2", "l1"]}
    ensemble = LiquidEnsembleClassifier(SGDClassifier(), param_distributions=drawn, pool="linear")
    with pytest.raises(ValueError, match="does not support penalty='l1'"):
        ensemble.fit(*binary)
    with pytest.raises(ValueError, match="param_distributions must not draw random_state"):
        ensemble.set_params(param_distributions={"random_state": [1, None]}).fit(*binary)


@pytest.mark.parametrize("rule", STOPPING_RULES)
@pytest.mark.parametrize("subspaces", [None, np.array([[0, 3, 7, 9], [1, 2, 3, 4]])])
def test_final_fits_stop_by_the_rule_that_is_asked_for(binary, rule, subspaces):
    X, y = binary[0][:90], binary[1][:90]
    pool = LinearPool([sgd()(s) for s in SEEDS[:2]], np.array([0, 1]), subspaces=subspaces)
    pool.stopping_rule = rule
    pool.finish(np.arange(2), X, y)
    for k, voter in enumerate(pool.estimators(np.arange(2))):
        seen = X if subspaces is None else X[:, subspaces[k]]
        reference = train(
            [0.0] * seen.shape[1],
            0.0,
            [list(enumerate(row.tolist())) for row in seen],
            np.where(y == 1, 1.0, -1.0).tolist(),
            [1.0] * 90,
            seed=int(_draws(np.array([SEEDS[k]]), 2)[0, 1]),
            max_iter=40,
            tol=1e-3,
            penalty_counts=rule == "objective",
        )
        assert voter.n_iter_ == reference.n_iter
        assert voter.coef_[0].tolist() == reference.coef


def test_the_two_stopping_rules_differ(binary):
    X, y = binary[0][:90], binary[1][:90]
    n_iter = {}
    for rule in STOPPING_RULES:
        pool = LinearPool([sgd(max_iter=1000)(s) for s in SEEDS], np.array([0, 1]))
        pool.stopping_rule = rule
        pool.finish(VOTERS, X, y)
        n_iter[rule] = [voter.n_iter_ for voter in pool.estimators(VOTERS)]
    assert n_iter["loss"] != n_iter["objective"]


OTHER_RULE = next(rule for rule in STOPPING_RULES if rule != LinearPool.stopping_rule)


@pytest.mark.parametrize("options", [{}, {"loss": "log_loss", "class_weight": {0: 2.0, 1: 1.0}}])
@pytest.mark.parametrize("kind", ["dense", "sparse", "weighted", "three classes"])
def test_doubt_under_the_rule_of_another_version_is_settled_by_the_readable_loop(
    binary, monkeypatch, kind, options
):
    X, y = binary[0][:60, :6], binary[1][:60].copy()
    if kind == "three classes":
        y[::3] = 2
    classes, weights = np.unique(y), np.arange(60) % 3 + 1.0 if kind == "weighted" else None
    rows = scipy.sparse.csr_array(X) if kind == "sparse" else X
    fitted = []
    for is_doubtful in (False, True):
        if is_doubtful:
            monkeypatch.setattr(SGDClassifier, "fit", None)  # nobody asks scikit-learn
            monkeypatch.setattr(LinearPool, "_in_doubt", lambda _, voters, __: voters)
        pool = LinearPool([sgd(**options)(s) for s in SEEDS], classes)
        pool.stopping_rule = OTHER_RULE
        pool.finish(VOTERS, rows, y, weights)
        fitted.append(pool.estimators(VOTERS))
    for by_kernel, by_loop in zip(*fitted, strict=True):
        assert_same_bits(by_loop, by_kernel)


def test_what_the_readable_loop_cannot_do_is_refused(binary):
    same = np.zeros((40, 2))  # the loss is the same in every epoch: a tie that no rounding decides
    make = sgd(tol=0.0, fit_intercept=False, average=True)
    pool = LinearPool([make(s) for s in SEEDS], np.array([0, 1]))
    pool.stopping_rule = OTHER_RULE
    with pytest.raises(ValueError, match=r"stopping_rule must be .* with averages, warm starts"):
        pool.finish(VOTERS, same, binary[1][:40])
    pool.stopping_rule = "losses"
    with pytest.raises(ValueError, match=r"one of loss, objective: got 'losses'. Choose one"):
        pool.finish(VOTERS, same, binary[1][:40])
