"""max_rows: of more rows, fit draws a sample, and learns from it as if there were no others."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.linear_model import SGDClassifier

from skliquid import LiquidEnsembleClassifier, presets
from skliquid.delegation.drawn_rows import draw_row_numbers

N, LIMIT = 900, 300


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 4))
    return X, np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, "yes", "no")


def ensemble(**changes):
    return LiquidEnsembleClassifier(**{"random_state": 0, "max_rows": LIMIT} | changes)


def drawn(n_rows=N, limit=LIMIT):
    return draw_row_numbers(n_rows, limit, ensemble().draw_seed())


def frame(X):
    table = pd.DataFrame(X, columns=list("abcd"))
    return table.assign(town=pd.cut(table["a"], 3, labels=["x", "y", "z"]).astype(str))


FORMS = {
    "array": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "list": lambda X: X.tolist(),
    "sparse": scipy.sparse.csc_array,
    "numbers in pandas": pd.DataFrame,
    "pandas with an index": lambda X: frame(X).set_index(np.full(N, 7)),
    "polars": lambda X: pl.from_pandas(frame(X)),
    "pyarrow": lambda X: pa.Table.from_pandas(frame(X)),
}


TABLES = ("pandas with an index", "polars", "pyarrow")


@pytest.mark.parametrize("form", FORMS)
def test_it_is_the_fit_to_the_drawn_rows(data, form):
    X, y = data
    rows = FORMS[form](X)
    fitted = ensemble().fit(rows, y)
    all_rows = ensemble(max_rows=None).fit(rows, y)
    taken = frame(X).iloc[drawn()] if form in TABLES else X[drawn()]
    if form == "float32":
        taken = taken.astype(np.float32)
    if form == "sparse":
        taken = scipy.sparse.csr_array(taken)
    same = ensemble(max_rows=None).fit(taken, y[drawn()])
    np.testing.assert_array_equal(fitted.predict_proba(rows), same.predict_proba(rows))
    assert not np.array_equal(fitted.predict_proba(rows), all_rows.predict_proba(rows))
    assert (fitted.n_samples_seen_, same.n_samples_seen_) == (N, LIMIT)


def test_rows_of_weight_zero_are_not_drawn(data):
    X, y = data
    weights = np.random.default_rng(1).integers(0, 3, N)
    used = np.flatnonzero(weights)
    numbers = used[drawn(len(used))]
    fitted = ensemble().fit(X, y, weights)
    same = ensemble(max_rows=None).fit(X[numbers], y[numbers], weights[numbers])
    np.testing.assert_array_equal(fitted.predict_proba(X), same.predict_proba(X))


def test_the_record_has_the_numbers_of_the_rows(data):
    X, y = data
    rows = np.concatenate([one.rows for one in ensemble().fit(X, y).record_])
    assert set(rows.tolist()) <= set(drawn().tolist())


def test_classes_and_their_weights_are_those_of_all_rows(data):
    X, y = data
    y = y.astype("U4")
    left_out = np.setdiff1d(np.arange(N), drawn())
    y[left_out[:2]] = "rare"
    fitted = ensemble(class_weight="balanced").fit(X, y)
    assert fitted.classes_.tolist() == ["no", "rare", "yes"]
    assert fitted.predict_proba(X).shape == (N, 3)
    assert "rare" not in fitted.predict(X)
    without = ensemble(class_weight={"rare": 0}).fit(X, y)
    assert without.classes_.tolist() == ["no", "yes"]


def test_a_sample_of_one_class_names_the_way_out(data):
    X, y = data
    y = np.zeros(N, dtype=int)
    y[np.setdiff1d(np.arange(N), drawn())[0]] = 1
    with pytest.raises(ValueError, match=r"max_rows must leave rows of two classes.*Raise max"):
        ensemble().fit(X, y)


def test_by_default_only_default_voters_leave_rows_out():
    assert LiquidEnsembleClassifier().row_limit(20) == 1_020_000
    assert LiquidEnsembleClassifier().row_limit(1000) == presets.MAX_CELLS // 1000
    assert LiquidEnsembleClassifier().row_limit(10**6, is_sparse=True) == 1_020_000
    assert LiquidEnsembleClassifier(SGDClassifier()).row_limit(20) is None
    assert LiquidEnsembleClassifier(max_rows=None).row_limit(20) is None
    assert LiquidEnsembleClassifier(SGDClassifier(), max_rows=7).row_limit(20) == 7


@pytest.mark.parametrize("value", [0, -1, 1.5, "all"])
def test_other_values_are_refused(data, value):
    with pytest.raises(ValueError, match="max_rows"):
        ensemble(max_rows=value).fit(*data)


def test_odd_input_is_refused_as_without_a_limit(data):
    X, y = data
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        ensemble().fit(X, y[:-1])
    with pytest.raises(ValueError, match=r"sample_weight.*shape"):
        ensemble().fit(X, y, np.ones(3))
    with pytest.raises(ValueError, match="Expected 2D array"):
        ensemble().fit(X[:, 0], y)
    with pytest.raises(TypeError, match="LazyFrame"):
        ensemble().fit(pl.from_pandas(frame(X)).lazy(), y)
