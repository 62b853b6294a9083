"""Where rounding decides when a final fit stops, scikit-learn or the readable loop decides."""

import numpy as np
import pytest
import scipy.sparse
from linear_voters import (
    LOSSES,
    SEEDS,
    VOTERS,
    assert_same_as_a_loop,
    assert_same_bits,
    pool_of,
    sgd,
)
from sklearn.linear_model import SGDClassifier

from skliquid.delegation.rows import Rows
from skliquid.pools import LinearPool
from skliquid.pools.linear import linear_pool
from skliquid.pools.linear.reference import train
from skliquid.pools.linear.state import shuffle_seeds
from skliquid.pools.linear.support import STOPPING_RULES

OTHER_RULE = next(rule for rule in STOPPING_RULES if rule != LinearPool.stopping_rule)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def test_doubt_about_the_stopping_rule_is_settled_by_scikit_learn(binary, monkeypatch):
    _, y = binary
    asked = []
    fit = SGDClassifier.fit
    monkeypatch.setattr(
        SGDClassifier, "fit", lambda self, *args, **kw: asked.append(self) or fit(self, *args, **kw)
    )
    # the objective is the same in every epoch: a tie that no rounding decides
    same = np.zeros((40, 2))
    pool = pool_of(sgd(tol=0.0, fit_intercept=False))
    pool.finish(VOTERS, Rows(same, y[:40]))
    assert len(asked) == len(SEEDS)
    assert_same_as_a_loop(sgd(tol=0.0, fit_intercept=False), same, y[:40])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", LOSSES)
def test_many_rows_leave_no_doubt_about_the_stopping_rule(loss, dtype, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 100)).astype(dtype)
    y = (X @ rng.normal(size=100) + 3 * rng.normal(size=6000) > 0).astype(int)
    loop = [sgd(loss=loss)(s).fit(X, y) for s in SEEDS]
    monkeypatch.setattr(SGDClassifier, "fit", None)  # scikit-learn is not needed
    pool = pool_of(sgd(loss=loss))
    pool.finish(VOTERS, Rows(X, y))
    for ours, theirs in zip(pool.estimators(VOTERS), loop, strict=True):
        assert_same_bits(ours, theirs)


def test_no_penalty_to_weigh_leaves_no_doubt_in_single_precision(binary, monkeypatch):
    X, y = binary[0].astype(np.float32), binary[1]
    options = {"alpha": 0.0, "learning_rate": "constant", "eta0": 0.1}
    loop = [sgd(**options)(s).fit(X, y) for s in SEEDS]
    monkeypatch.setattr(SGDClassifier, "fit", None)  # scikit-learn is not needed
    pool = pool_of(sgd(**options))
    pool.finish(VOTERS, Rows(X, y))
    for ours, theirs in zip(pool.estimators(VOTERS), loop, strict=True):
        assert_same_bits(ours, theirs)


@pytest.mark.parametrize("rule", STOPPING_RULES)
@pytest.mark.parametrize("subspaces", [None, np.array([[0, 3, 7, 9], [1, 2, 3, 4]])])
def test_final_fits_stop_by_the_rule_that_is_asked_for(binary, rule, subspaces):
    X, y = binary[0][:90], binary[1][:90]
    pool = LinearPool([sgd()(s) for s in SEEDS[:2]], np.array([0, 1]), subspaces=subspaces)
    pool.stopping_rule = rule
    pool.finish(np.arange(2), Rows(X, y))
    for k, voter in enumerate(pool.estimators(np.arange(2))):
        seen = X if subspaces is None else X[:, subspaces[k]]
        reference = train(
            [0.0] * seen.shape[1],
            0.0,
            [list(enumerate(row.tolist())) for row in seen],
            np.where(y == 1, 1.0, -1.0).tolist(),
            [1.0] * 90,
            seed=int(shuffle_seeds(np.array([SEEDS[k]]), 1)[0]),
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
        pool = pool_of(sgd(max_iter=1000))
        pool.stopping_rule = rule
        pool.finish(VOTERS, Rows(X, y))
        n_iter[rule] = [voter.n_iter_ for voter in pool.estimators(VOTERS)]
    assert n_iter["loss"] != n_iter["objective"]


@pytest.mark.parametrize("options", [{}, {"loss": "log_loss", "class_weight": {0: 2.0, 1: 1.0}}])
@pytest.mark.parametrize("data", ["dense", "sparse", "weighted", "three classes"])
def test_doubt_under_the_rule_of_another_version_is_settled_by_the_readable_loop(
    binary, monkeypatch, data, options
):
    X, y = binary[0][:60, :6], binary[1][:60].copy()
    if data == "three classes":
        y[::3] = 2
    classes, weights = np.unique(y), np.arange(60) % 3 + 1.0 if data == "weighted" else None
    rows = scipy.sparse.csr_array(X) if data == "sparse" else X
    fitted = []
    for is_doubtful in (False, True):
        if is_doubtful:
            monkeypatch.setattr(SGDClassifier, "fit", None)  # scikit-learn is not needed
            monkeypatch.setattr(linear_pool, "_DOUBTFUL", 0)  # the verdict of voters without doubt
        pool = pool_of(sgd(**options), classes)
        pool.stopping_rule = OTHER_RULE
        pool.finish(VOTERS, Rows(rows, y, weights))
        fitted.append(pool.estimators(VOTERS))
    for by_kernel, by_loop in zip(*fitted, strict=True):
        assert_same_bits(by_loop, by_kernel)


def test_what_the_readable_loop_cannot_do_is_refused(binary):
    same = np.zeros((40, 2))  # the loss is the same in every epoch: a tie that no rounding decides
    make = sgd(tol=0.0, fit_intercept=False, average=True)
    pool = pool_of(make)
    pool.stopping_rule = OTHER_RULE
    with pytest.raises(
        ValueError, match=r"stopping_rule must be .* with averages, float32 .* Scale X"
    ):
        pool.finish(VOTERS, Rows(same, binary[1][:40]))
    pool.stopping_rule = "losses"
    with pytest.raises(ValueError, match=r"one of loss, objective: got 'losses'. Choose one"):
        pool.finish(VOTERS, Rows(same, binary[1][:40]))
