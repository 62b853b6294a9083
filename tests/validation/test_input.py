"""Invalid data gets an error that names the rule, the value and the way out."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from small_ensembles import FEW_X as X
from small_ensembles import FEW_Y as Y
from small_ensembles import of_four as small

from skliquid import CompetenceMeasure, Diversity
from skliquid.mechanisms import revocable
from skliquid.mechanisms.selection import least_competent


@pytest.mark.parametrize(
    ("rows", "labels", "message"),
    [
        (X[:, 0], Y, "Expected 2D array"),
        (X[:0], Y[:0], "0 sample"),
        (X[:, :0], Y, "0 feature"),
        (X, Y[:10], "inconsistent numbers of samples"),
        (np.where(X[0, 0] == X, np.inf, X), Y, "X contains infinity"),
        (np.full((60, 3), "x"), Y, "could not convert string to float"),
        (X, np.where(Y == 1, np.nan, 0), "y contains NaN"),
        (X, X[:, 0], "Unknown label type: continuous"),
        (X, np.stack([Y, Y], axis=1), "should be a 1d array"),
        (X, np.zeros(60), "y must hold at least two classes: there is only 1 class"),
        (X[:1], Y[:1], "there is only 1 class"),
        (X, None, "requires y to be passed"),
        (pd.DataFrame({"a": ["x"] * 60}), Y[:10], "inconsistent numbers of samples"),
    ],
)
def test_wrong_data_is_refused(rows, labels, message):
    for estimator in (None, SGDClassifier()):
        with pytest.raises(ValueError, match=message):
            small(estimator).fit(rows, labels)


def test_missing_values_are_refused_when_the_voters_take_none():
    missing = np.where(X[0, 0] == X, np.nan, X)
    with pytest.raises(ValueError, match="X contains NaN"):
        small(SGDClassifier()).fit(missing, Y)
    assert small().fit(missing, Y).score(missing, Y) > 0.7  # the default takes them


def test_sparse_rows_are_refused_when_the_voters_take_none():
    with pytest.raises(TypeError, match="dense data is required"):
        small(GaussianNB()).fit(scipy.sparse.csr_array(X), Y)


def broken(layout, how):
    """Return a sparse matrix whose indices do not fit its shape, which scipy does not notice."""
    matrix = scipy.sparse.random(60, 30, 0.3, "csr", random_state=0).asformat(layout)
    if layout == "lil":
        matrix.rows[0] = [*matrix.rows[0][:-1], {"negative": -1}.get(how, 50_000_000)]
    elif how.startswith("indptr"):
        matrix.indptr[{"indptr falls": 3}.get(how, -1)] = 10**6
    elif how == "short data":
        matrix.data = matrix.data[:-20]
    else:
        indices = matrix.row if layout == "coo" else matrix.indices
        indices[5] = {"negative": -1, "wide": 1000, "far": 2**31 - 1}[how]
    return matrix


@pytest.mark.parametrize(
    ("layout", "how"),
    [
        *(
            (layout, how)
            for layout in ("csr", "csc", "bsr", "coo")
            for how in ("negative", "wide", "far")
        ),
        *(
            (layout, how)
            for layout in ("csr", "csc", "bsr")
            for how in ("indptr falls", "indptr far")
        ),
        ("csr", "short data"),
        ("lil", "negative"),
        ("lil", "far"),
    ],
)
def test_a_sparse_matrix_with_wrong_indices_is_refused(layout, how):
    with pytest.raises(ValueError, match=r"X must be a sparse matrix whose indices fit its shape"):
        small(SGDClassifier()).fit(broken(layout, how), Y)
    fitted = small(SGDClassifier()).fit(scipy.sparse.random(60, 30, 0.3, random_state=0), Y)
    with pytest.raises(ValueError, match=r"X must be a sparse matrix whose indices fit its shape"):
        fitted.predict(broken(layout, how))
    with pytest.raises(ValueError, match=r"X must be a sparse matrix whose indices fit its shape"):
        fitted.partial_fit(broken(layout, how), Y)


@pytest.mark.parametrize("layout", ["csr", "csc", "bsr", "coo", "lil", "dok", "dia"])
@pytest.mark.parametrize("make", [scipy.sparse.csr_array, scipy.sparse.csr_matrix])
def test_sparse_rows_of_any_format_are_taken_and_left_as_they_are(layout, make):
    rows = make(np.where(X > 0, X, 0)).asformat(layout)
    before = rows.toarray()
    fitted = small(SGDClassifier()).fit(rows, Y)
    assert np.array_equal(fitted.predict(rows), fitted.predict(before))
    assert rows.format == layout
    assert np.array_equal(rows.toarray(), before)


def test_a_lazy_frame_is_refused_with_the_way_out():
    lazy = pl.DataFrame(X).lazy()
    message = r"X must hold data: got a LazyFrame, .* Call X.collect\(\) first"
    with pytest.raises(TypeError, match=message):
        small().fit(lazy, Y)
    with pytest.raises(TypeError, match=r"Call X.collect\(\) first"):
        small().fit(X, Y).predict(lazy)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(5), r"one number per row: got the shape \(5,\) for 60 rows"),
        (np.ones((60, 2)), r"one number per row: got the shape \(60, 2\) for 60 rows"),
        (-np.ones(60), "sample_weight must not be negative: got -1.0"),
        (np.full(60, np.nan), "sample_weight contains NaN"),
        (np.zeros(60), "class_weight must be above zero for some row"),
        (Y * 1.0, "there is only 1 class, .* among the rows with a weight"),
        (["heavy"] * 60, "could not convert string to float"),
    ],
)
def test_wrong_sample_weights_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        small().fit(X, Y, sample_weight=weights)


def test_one_number_weighs_all_rows_alike():
    weighted, plain = small().fit(X, Y, sample_weight=1), small().fit(X, Y)
    assert np.array_equal(weighted.predict_proba(X), plain.predict_proba(X))


def test_weights_are_refused_when_the_voters_take_none():
    with pytest.raises(ValueError, match=r"Classifier.fit has no parameter sample_weight"):
        small(KNeighborsClassifier()).fit(X, Y, sample_weight=np.ones(60))


@pytest.mark.parametrize(
    ("eval_set", "error", "message"),
    [
        (
            [(X, Y)] * 2,
            ValueError,
            r"one pair \(X, y\), or .*: got list of length 2\. Give eval_set=",
        ),
        ([X, Y], ValueError, "eval_set must be one pair .* got list of length 2"),
        ([[X, Y]], ValueError, "eval_set must be one pair .* got list of length 1"),
        ((X,), ValueError, "eval_set must be one pair .* got tuple of length 1"),
        (X, ValueError, "eval_set must be one pair .* got ndarray"),
        ((X[:, :2], Y), ValueError, "expecting 3 features"),
        ((X, Y[:3]), ValueError, "inconsistent numbers of samples"),
        ((X, np.array(["a", "b"])[Y]), ValueError, r"y of eval_set must hold known classes .* 'a'"),
    ],
)
def test_a_wrong_evaluation_set_is_refused(eval_set, error, message):
    with pytest.raises(error, match=message):
        small().fit(X, Y, eval_set=eval_set)


def test_classes_that_were_announced_are_kept_to():
    ensemble = small()
    with pytest.raises(ValueError, match=r"1 is not among \[0, 2\]"):
        ensemble.partial_fit(X, Y, classes=[0, 2])
    ensemble.partial_fit(X, Y, classes=[0, 1])
    with pytest.raises(ValueError, match=r"got \[0, 1, 2\], before \[0, 1\]. Leave"):
        ensemble.partial_fit(X, Y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match=r"5 is not among \[0, 1\]"):
        ensemble.partial_fit(X, np.full(60, 5))
    with pytest.raises(ValueError, match="expecting 3 features"):
        ensemble.partial_fit(X[:, :2], Y)
    with pytest.raises(ValueError, match="classes must hold at least two classes"):
        small().partial_fit(X, np.zeros(60), classes=[0])
    with pytest.raises(ValueError, match="classes must be a list of labels"):
        small().partial_fit(X, Y, classes=[[0, 1]])


def test_classes_are_given_as_a_list():
    with pytest.raises(ValueError, match=r"classes must be a list of labels.*\. Give a list"):
        small().partial_fit(X, Y, classes={0, 1})


def test_a_refused_first_call_leaves_the_ensemble_unfitted():
    ensemble = small()
    with pytest.raises(ValueError, match="is not among"):
        ensemble.partial_fit(X, Y, classes=[5, 6])
    assert not hasattr(ensemble, "classes_")
    assert ensemble.partial_fit(X, Y, classes=[0, 1]).score(X, Y) > 0.5


def test_predict_refuses_what_fit_did_not_see():
    ensemble = small().fit(X, Y)
    with pytest.raises(ValueError, match="expecting 3 features"):
        ensemble.predict(X[:, :2])
    with pytest.raises(ValueError, match="X contains infinity"):
        ensemble.predict(np.full((2, 3), np.inf))
    assert ensemble.predict(np.full((2, 3), np.nan)).shape == (2,)  # trees take missing values
    with pytest.raises(ValueError, match="X contains NaN"):
        small(SGDClassifier()).fit(X, Y).predict(np.full((2, 3), np.nan))


def test_the_number_of_voters_must_not_change_during_training():
    ensemble = small().partial_fit(X, Y, classes=[0, 1])
    with pytest.raises(
        ValueError, match=r"n_estimators must not change .* got 9, but there are 4 voters"
    ):
        ensemble.set_params(n_estimators=9).partial_fit(X, Y)


def test_a_fit_that_fails_leaves_the_ensemble_as_it_was():
    ensemble = small()
    with pytest.raises(ValueError, match="delegation_rate at increment 2"):
        ensemble.set_params(
            delegation_rate=lambda t: 0.1 if t < 2 else 7, increment_size=20, n_final=1
        ).fit(X, Y)
    assert not hasattr(ensemble, "record_")
    fitted = small().fit(X, Y)
    before = fitted.predict_proba(X)
    with pytest.raises(ValueError, match="there is only 1 class"):
        fitted.fit(X, np.zeros(60))
    assert np.array_equal(fitted.predict_proba(X), before)


@pytest.mark.parametrize(
    ("estimator", "error"), [(KNeighborsClassifier(), ValueError), (CategoricalNB(), IndexError)]
)
def test_an_error_of_a_voter_in_few_rows_names_the_way_out(estimator, error):
    numbered = np.column_stack([np.arange(60), np.zeros(60)])  # categories that are new each time
    with pytest.raises(error) as caught:
        small(estimator, increment_size=3, competence="prequential").fit(numbered, Y)
    (note,) = caught.value.__notes__
    assert "an increment of 3 rows. If it needs more rows, raise increment_size" in note


def test_a_slope_needs_a_memory_of_two_increments():
    with pytest.raises(ValueError, match="memory must be a number of increments, 2 or more"):
        small(
            mechanism="learning_slopes", competence=CompetenceMeasure(memory=1), increment_size=20
        ).fit(X, Y)


def test_training_does_not_continue_from_a_call_that_failed_in_an_increment():
    ensemble = small(n_estimators=30).partial_fit(X[:30], Y[:30], classes=[0, 1])
    before = ensemble.training_cost_
    ensemble.set_params(mechanism=(least_competent, lambda gain, weight: gain * np.nan))
    with pytest.raises(ValueError, match="finite likelihoods"):
        ensemble.partial_fit(X[30:], Y[30:])
    assert ensemble.training_cost_ == before
    ensemble.set_params(mechanism="max")
    with pytest.raises(ValueError, match="must not continue after a call that failed"):
        ensemble.partial_fit(X[30:], Y[30:])
    assert ensemble.fit(X, Y).score(X, Y) > 0.5


def test_delegators_that_were_dropped_cannot_return():
    ensemble = small(n_estimators=30, delegation_rate=0.5).partial_fit(X, Y, classes=[0, 1])
    with pytest.raises(ValueError, match="mechanism must be revocable from the first call"):
        ensemble.set_params(mechanism=revocable("max")).partial_fit(X, Y)


LINEAR = SGDClassifier(max_iter=5, tol=None)
MAPPED = Diversity(feature_maps=[StandardScaler()])
LARGE_X = X * [1, 1, 1e3]


@pytest.mark.parametrize("estimator", [LINEAR, Perceptron(max_iter=5, tol=None)], ids=["sgd", "p"])
def test_linear_voters_warn_of_large_numbers_at_the_line_of_the_user(estimator):
    with pytest.warns(
        ConvergenceWarning, match=r"those of column 2 are of the size .*e\+0"
    ) as found:
        small(estimator).fit(LARGE_X, Y)
    assert [warning.filename for warning in found] == [__file__]
    assert "make_pipeline(StandardScaler(), ensemble)" in str(found[0].message)


def test_large_numbers_are_warned_of_at_the_first_call_of_partial_fit_only():
    ensemble = small(LINEAR)
    with pytest.warns(ConvergenceWarning, match="Linear voters learn badly from large numbers"):
        ensemble.partial_fit(LARGE_X, Y)
    ensemble.partial_fit(LARGE_X, Y)


@pytest.mark.parametrize(
    ("ensemble", "rows"),
    [
        (small(LINEAR), X),
        (small(LINEAR), StandardScaler().fit_transform(LARGE_X)),
        (small(LINEAR), scipy.sparse.csr_array(LARGE_X)),
        (small(LINEAR, diversity=MAPPED), LARGE_X),
        (small([("linear", LINEAR), ("tree", DecisionTreeClassifier())]), LARGE_X),
        (small(GaussianNB()), LARGE_X),
        (small(), LARGE_X),
    ],
    ids=["small", "scaled", "sparse", "mapped", "mixed", "not-linear", "default"],
)
def test_ensembles_that_cope_with_large_numbers_do_not_warn(ensemble, rows):
    ensemble.fit(rows, Y)  # a warning would be an error
