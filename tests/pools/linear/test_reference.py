"""The readable loop and scikit-learn, and so the compiled loop, agree to the last bit."""

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import SGDClassifier
from sklearn.utils.fixes import parse_version

from skliquid.pools.linear.reference import LOSSES, train
from skliquid.pools.linear.state import shuffle_seeds

counts_penalty = parse_version(sklearn.__version__) >= parse_version("1.8")


def rows_of(X):
    return [list(enumerate(row.tolist())) for row in X]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("learning_rate", ["optimal", "constant", "invscaling"])
def test_increments(binary, loss, learning_rate):
    X, y = binary
    voter = SGDClassifier(loss=loss, learning_rate=learning_rate, eta0=0.05, random_state=7)
    coef, intercept, t = [0.0] * 30, 0.0, 1.0
    seed = int(shuffle_seeds(np.array([7]), 1)[0])
    labels = np.where(y == 1, 1.0, 0.0 if loss == "log_loss" else -1.0)
    for cut in (slice(40), slice(40, 80), slice(80, 130)):
        voter.partial_fit(X[cut], y[cut], classes=[0, 1])
        n = len(y[cut])
        coef, intercept, _ = train(
            coef,
            intercept,
            rows_of(X[cut]),
            labels[cut].tolist(),
            [1.0] * n,
            seed=seed,
            loss=loss,
            learning_rate=learning_rate,
            eta0=0.05,
            t=t,
        )
        t += n
        assert voter.coef_[0].tolist() == coef
        assert voter.intercept_[0] == intercept


@pytest.mark.parametrize("loss", LOSSES)
def test_full_fits_stop_at_the_same_epoch(binary, loss):
    X, y = binary[0][:60], binary[1][:60]
    voter = SGDClassifier(loss=loss, random_state=3).fit(X, y)
    separator = train(
        [0.0] * 30,
        0.0,
        rows_of(X),
        np.where(y == 1, 1.0, 0.0 if loss == "log_loss" else -1.0).tolist(),
        [1.0] * 60,
        seed=int(shuffle_seeds(np.array([3]), 1)[0]),
        loss=loss,
        max_iter=1000,
        tol=1e-3,
        penalty_counts=counts_penalty,
    )
    assert voter.coef_[0].tolist() == separator.coef
    assert voter.intercept_[0] == separator.intercept
    assert voter.n_iter_ == separator.n_iter
