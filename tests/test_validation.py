"""Bad input gets an error that names the parameter, the rule, the value and the way out."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, SGDClassifier
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from skliquid import LiquidEnsembleClassifier
from skliquid.mechanisms.selection import least_accurate
from skliquid.schedules import FixedCount

X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)


def small(estimator=None, **options):
    return LiquidEnsembleClassifier(
        estimator,
        **{"n_estimators": 4, "n_final": 2, "competence": "training", "random_state": 0} | options,
    )


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("estimator", 3),
        ("estimator", "SGDClassifier"),
        ("n_estimators", 0),
        ("n_estimators", -5),
        ("n_estimators", 2.5),
        ("n_estimators", "many"),
        ("n_final", 0),
        ("n_final", 1.5),
        ("n_final", None),
        ("mechanism", "best"),
        ("mechanism", 3),
        ("mechanism", None),
        ("delegation_rate", -0.1),
        ("delegation_rate", 1.1),
        ("delegation_rate", "fast"),
        ("delegation_rate", None),
        ("delegation_rate", float("nan")),
        ("increment_size", 0),
        ("increment_size", 10.5),
        ("increment_size", "big"),
        ("competence", "test"),
        ("competence", None),
        ("candidates", "everyone"),
        ("final_fit", "cold"),
        ("pool", "swimming"),
        ("n_jobs", 1.5),
        ("n_jobs", "all"),
        ("verbose", -1),
        ("verbose", "much"),
        ("random_state", "seed"),
        ("random_state", -1),
    ],
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_a_parameter_out_of_range_is_named_with_its_rule_and_value(parameter, value, method):
    ensemble = small(**{parameter: value})
    options = {"classes": [0, 1]} if method == "partial_fit" else {}
    message = rf"The '{parameter}' parameter of LiquidEnsembleClassifier must be .* Got .* instead"
    with pytest.raises(ValueError, match=message):
        getattr(ensemble, method)(X, Y, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"n_estimators": 5, "n_final": 9},
            "n_final must not exceed n_estimators: 9 representatives cannot remain of 5 voters. "
            "Lower n_final or raise n_estimators.",
        ),
        (
            {"estimator": LinearRegression()},
            r"estimator must be a classifier: LinearRegression\(\)",
        ),
        ({"estimator": KMeans()}, "estimator must be a classifier: KMeans"),
        ({"estimator": SGDClassifier}, "estimator must be a classifier: .*Give an object such as"),
        ({"estimator": []}, r"list of \(name, classifier\) pairs: \[\] is neither"),
        ({"estimator": [SGDClassifier()]}, r"list of \(name, classifier\) pairs"),
        (
            {"estimator": [("a", SGDClassifier()), ("a", GaussianNB())]},
            r"different name, a string, in each pair: got \['a', 'a'\]",
        ),
        ({"estimator": [("a", StandardScaler())]}, "estimator must be a classifier"),
        (
            {"estimator": [(name, SGDClassifier()) for name in "abcde"]},
            "5 kinds cannot share 4 voters. Raise n_estimators",
        ),
        ({"estimator": [("a", "drop")]}, "estimator must be a classifier: 'drop' is none"),
        (
            {"estimator": [("n_final", SGDClassifier())]},
            "no parameters of the ensemble .* 'n_final'",
        ),
        ({"estimator": [("a__b", SGDClassifier())]}, "no double underscore: got 'a__b'"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
        (
            {"estimator": KNeighborsClassifier(), "increment_size": 3},
            "Expected n_neighbors <= n_samples_fit",
        ),
        ({"mechanism": (least_accurate,)}, r"a Mechanism or a pair \(selection, probability\)"),
        (
            {"estimator": GaussianNB(), "final_fit": "warm"},
            r"final_fit='warm' needs .* warm_start: GaussianNB\(\) does not. Choose 'scratch'",
        ),
        (
            {"estimator": RandomForestClassifier(), "final_fit": "warm"},
            r"final_fit='warm' needs an estimator that learns by partial_fit",
        ),
        (
            {"delegation_rate": lambda t: 7},
            "delegation_rate at increment 1 must be a share between 0 and 1: got 7",
        ),
        (
            {"mechanism": (least_accurate, lambda gain, weight: -gain), "n_estimators": 30},
            "likelihoods of zero or more",
        ),
        (
            {"mechanism": (least_accurate, lambda gain, weight: gain * np.nan)},
            r"finite likelihoods, got \[nan\]",
        ),
        (
            {"mechanism": (least_accurate, lambda gain, weight: gain * 0), "n_estimators": 30},
            "a positive likelihood for some candidate when one is better, got zero for all",
        ),
    ],
)
def test_parameters_that_do_not_fit_together_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        small(**options).fit(X, Y)


@pytest.mark.parametrize(
    ("rows", "labels", "message"),
    [
        (X[:, 0], Y, "Expected 2D array"),
        (X[:0], Y[:0], "0 sample"),
        (X[:, :0], Y, "0 feature"),
        (X, Y[:10], "inconsistent numbers of samples"),
        (np.where(X[0, 0] == X, np.nan, X), Y, "X contains NaN"),
        (np.where(X[0, 0] == X, np.inf, X), Y, "X contains infinity"),
        (np.full((60, 3), "x"), Y, "could not convert string to float"),
        (X, np.where(Y == 1, np.nan, 0), "y contains NaN"),
        (X, X[:, 0], "Unknown label type: continuous"),
        (X, np.stack([Y, Y], axis=1), "should be a 1d array"),
        (X, np.zeros(60), "y must hold at least two classes: there is only 1 class"),
        (X[:1], Y[:1], "there is only 1 class"),
        (X, None, "requires y to be passed"),
        (pd.DataFrame({"a": ["x"] * 60}), Y, "could not convert string to float"),
    ],
)
def test_wrong_data_is_refused(rows, labels, message):
    with pytest.raises(ValueError, match=message):
        small().fit(rows, labels)


def test_sparse_rows_are_refused_when_the_voters_take_none():
    with pytest.raises(TypeError, match="dense data is required"):
        small(GaussianNB()).fit(scipy.sparse.csr_array(X), Y)


def broken(kind, how):
    """Return a sparse matrix that points outside of itself, which scipy does not notice."""
    matrix = scipy.sparse.random(60, 30, 0.3, "csr", random_state=0).asformat(kind)
    if kind == "lil":
        matrix.rows[0] = [*matrix.rows[0][:-1], {"negative": -1}.get(how, 50_000_000)]
    elif how.startswith("indptr"):
        matrix.indptr[{"indptr falls": 3}.get(how, -1)] = 10**6
    elif how == "short data":
        matrix.data = matrix.data[:-20]
    else:
        indices = matrix.row if kind == "coo" else matrix.indices
        indices[5] = {"negative": -1, "wide": 1000, "far": 2**31 - 1}[how]
    return matrix


@pytest.mark.parametrize(
    ("kind", "how"),
    [
        *(
            (kind, how)
            for kind in ("csr", "csc", "bsr", "coo")
            for how in ("negative", "wide", "far")
        ),
        *((kind, how) for kind in ("csr", "csc", "bsr") for how in ("indptr falls", "indptr far")),
        ("csr", "short data"),
        ("lil", "negative"),
        ("lil", "far"),
    ],
)
def test_a_sparse_matrix_that_points_elsewhere_is_refused(kind, how):
    with pytest.raises(ValueError, match=r"X must be a sparse matrix whose indices fit its shape"):
        small(SGDClassifier()).fit(broken(kind, how), Y)
    fitted = small(SGDClassifier()).fit(scipy.sparse.random(60, 30, 0.3, random_state=0), Y)
    with pytest.raises(ValueError, match=r"X must be a sparse matrix whose indices fit its shape"):
        fitted.predict(broken(kind, how))
    with pytest.raises(ValueError, match=r"X must be a sparse matrix whose indices fit its shape"):
        fitted.partial_fit(broken(kind, how), Y)


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr", "coo", "lil", "dok", "dia"])
@pytest.mark.parametrize("make", [scipy.sparse.csr_array, scipy.sparse.csr_matrix])
def test_sparse_rows_of_any_format_are_taken_and_left_as_they_are(kind, make):
    rows = make(np.where(X > 0, X, 0)).asformat(kind)
    before = rows.toarray()
    fitted = small(SGDClassifier()).fit(rows, Y)
    assert np.array_equal(fitted.predict(rows), fitted.predict(before))
    assert rows.format == kind
    assert np.array_equal(rows.toarray(), before)


def test_a_lazy_frame_is_refused_with_the_way_out():
    lazy = pl.DataFrame(X).lazy()
    with pytest.raises(
        TypeError, match=r"X must hold data: a LazyFrame .* Call X.collect\(\) first"
    ):
        small().fit(lazy, Y)
    with pytest.raises(TypeError, match=r"Call X.collect\(\) first"):
        small().fit(X, Y).predict(lazy)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(5), r"its shape \(5,\) does not fit 60 rows"),
        (np.ones((60, 2)), r"its shape \(60, 2\) does not fit 60 rows"),
        (-np.ones(60), "sample_weight must not be negative: got -1.0"),
        (np.full(60, np.nan), "sample_weight contains NaN"),
        (np.zeros(60), "sample_weight must be above zero for some row"),
        (Y * 1.0, "there is only 1 class, .* among the rows that count"),
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
    with pytest.raises(ValueError, match=r"KNeighborsClassifier.fit has no such parameter"):
        small(KNeighborsClassifier()).fit(X, Y, sample_weight=np.ones(60))


@pytest.mark.parametrize(
    ("eval_set", "error", "message"),
    [
        ([(X, Y)], ValueError, r"eval_set must be a pair \(X, y\), got list"),
        ((X,), ValueError, "eval_set must be a pair"),
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
    with pytest.raises(ValueError, match=r"\[0, 1, 2\] is not \[0, 1\], as before"):
        ensemble.partial_fit(X, Y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match=r"5 is not among \[0, 1\]"):
        ensemble.partial_fit(X, np.full(60, 5))
    with pytest.raises(ValueError, match="expecting 3 features"):
        ensemble.partial_fit(X[:, :2], Y)
    with pytest.raises(ValueError, match="classes must hold at least two classes"):
        small().partial_fit(X, np.zeros(60), classes=[0])
    with pytest.raises(ValueError, match="classes must be a list of labels"):
        small().partial_fit(X, Y, classes=[[0, 1]])


def test_a_refused_first_call_leaves_the_ensemble_unfitted():
    ensemble = small()
    with pytest.raises(ValueError, match="is not among"):
        ensemble.partial_fit(X, Y, classes=[5, 6])
    assert not hasattr(ensemble, "classes_")
    assert ensemble.partial_fit(X, Y, classes=[0, 1]).score(X, Y) > 0.5


def test_an_ensemble_must_be_fitted_before_it_votes():
    for method in ("predict", "predict_proba", "decision_function"):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(small(), method)(X)


def test_predict_refuses_what_fit_did_not_see():
    ensemble = small().fit(X, Y)
    with pytest.raises(ValueError, match="expecting 3 features"):
        ensemble.predict(X[:, :2])
    with pytest.raises(ValueError, match="X contains NaN"):
        ensemble.predict(np.full((2, 3), np.nan))


def test_the_number_of_voters_may_not_change_in_the_midst_of_training():
    ensemble = small().partial_fit(X, Y, classes=[0, 1])
    with pytest.raises(ValueError, match=r"n_estimators must not change .* 4 voters, not 9"):
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


@pytest.mark.parametrize("n", [True, np.int64(3)])
def test_whole_numbers_of_any_kind_are_taken(n):
    assert small(n_estimators=n, n_final=n, n_jobs=np.int64(1)).fit(X, Y).score(X, Y) > 0.5


def test_a_class_where_an_object_is_meant_is_refused():
    with pytest.raises(TypeError, match=r"FixedCount'> is a class. Call it, as in FixedCount\("):
        small(delegation_rate=FixedCount).fit(X, Y)


@pytest.mark.parametrize(
    ("estimator", "error"), [(KNeighborsClassifier(), ValueError), (CategoricalNB(), IndexError)]
)
def test_an_error_of_a_voter_in_few_rows_names_the_way_out(estimator, error):
    numbered = np.column_stack([np.arange(60), np.zeros(60)])  # categories that are new each time
    with pytest.raises(error) as caught:
        small(estimator, increment_size=3, competence="prequential").fit(numbered, Y)
    assert (
        "an increment of 3 rows. If it needs more, raise increment_size"
        in caught.value.__notes__[0]
    )


def test_classes_are_given_as_a_list():
    with pytest.raises(ValueError, match=r"classes must be a list of labels.*\. Give a list"):
        small().partial_fit(X, Y, classes={0, 1})


def test_a_slope_needs_a_memory_of_two_increments():
    with pytest.raises(ValueError, match="memory must be a number of increments, 2 or more"):
        small(mechanism="learning_slopes", memory=1, increment_size=20).fit(X, Y)


def test_what_training_leaves_is_there_only_after_training():
    for name in ("estimators_", "estimator_weights_", "record_", "delegation_graph_"):
        with pytest.raises(AttributeError, match=f"{name} is there only after training"):
            getattr(small(), name)


def test_a_wrong_estimator_can_still_be_shown():
    for wrong in ([SGDClassifier()], SGDClassifier, [("a", None)], 3):
        assert "LiquidEnsembleClassifier" in small(wrong)._repr_html_()


def test_training_does_not_go_on_from_a_call_that_failed_in_an_increment():
    ensemble = small(n_estimators=30).partial_fit(X[:30], Y[:30], classes=[0, 1])
    before = ensemble.training_cost_
    ensemble.set_params(mechanism=(least_accurate, lambda gain, weight: gain * np.nan))
    with pytest.raises(ValueError, match="finite likelihoods"):
        ensemble.partial_fit(X[30:], Y[30:])
    assert ensemble.training_cost_ == before
    ensemble.set_params(mechanism="max")
    with pytest.raises(ValueError, match="must not go on from a call that failed"):
        ensemble.partial_fit(X[30:], Y[30:])
    assert ensemble.fit(X, Y).score(X, Y) > 0.5
