import pickle
import tracemalloc

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import (
    AdaBoostClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from skliquid import LiquidEnsembleClassifier, Mechanism
from skliquid.mechanisms import OF_THE_PAPER
from skliquid.mechanisms.selection import least_accurate
from skliquid.pools.fourier_features import FourierFeatures
from skliquid.schedules import FixedCount, Linear

SGD = SGDClassifier()


def small(estimator=SGD, **options):
    defaults = {"n_estimators": 12, "n_final": 3, "competence": "training", "random_state": 0}
    return LiquidEnsembleClassifier(estimator, **defaults | options)


def same(first, second, X):
    return (
        np.array_equal(first.delegation_graph_.delegation, second.delegation_graph_.delegation)
        and np.array_equal(first.predict_proba(X), second.predict_proba(X))
        and first.training_cost_ == second.training_cost_
    )


# What comes out


def test_a_fitted_ensemble_is_small_weighted_and_good(binary):
    X, y = binary
    ensemble = small(n_estimators=60, n_final=5).fit(X[:300], y[:300])
    assert len(ensemble.estimators_) == len(ensemble.estimator_weights_) == 5
    assert ensemble.estimator_weights_.sum() == 60
    assert ensemble.estimator_weights_.dtype.kind == "i"
    assert ensemble.delegation_graph_.n_voters == 60
    assert ensemble.n_features_in_ == 30
    assert ensemble.classes_.tolist() == [0, 1]
    assert ensemble.n_samples_seen_ == 300
    assert ensemble.score(X[300:], y[300:]) > 0.9


def test_shares_are_the_weights_of_the_estimators_that_vote_for_a_class(multiclass):
    X, y = multiclass
    ensemble = small().fit(X, y)
    expected = np.zeros((len(y), 3))
    for voter, weight in zip(ensemble.estimators_, ensemble.estimator_weights_, strict=True):
        expected[np.arange(len(y)), voter.predict(X)] += weight / 12
    assert np.allclose(ensemble.predict_proba(X), expected, atol=1e-15)
    assert np.array_equal(ensemble.predict(X), np.argmax(expected, axis=1))


def test_the_decision_function_is_the_margin_of_the_second_class(binary, multiclass):
    ensemble = small().fit(*binary)
    shares = ensemble.predict_proba(binary[0])
    assert np.array_equal(ensemble.decision_function(binary[0]), shares[:, 1] - shares[:, 0])
    ensemble.fit(*multiclass)
    assert ensemble.decision_function(multiclass[0]).shape == (150, 3)


@pytest.mark.parametrize(
    "labels", [["no", "yes"], [False, True], [-1, 1], [0.0, 1.0], [10, 20]], ids=str
)
def test_labels_come_back_as_they_were_given(binary, labels):
    X, y = binary
    y = np.array(labels)[y]
    ensemble = small().fit(X, y)
    assert ensemble.classes_.tolist() == labels
    assert np.mean(ensemble.predict(X) == y) > 0.9
    assert set(ensemble.estimators_[0].predict(X)) <= set(labels)


def test_labels_may_weigh_by_name(binary):
    X, y = binary
    names = np.array(["benign", "malignant"])[y]
    heavy = small(SGDClassifier(class_weight={"malignant": 30.0})).fit(X, names)
    plain = small(SGDClassifier()).fit(X, names)
    assert np.mean(heavy.predict(X) == "malignant") > np.mean(plain.predict(X) == "malignant")


# Voters of all kinds


@pytest.mark.parametrize(
    "voter",
    [
        Perceptron(),
        GaussianNB(),
        LogisticRegression(),
        KNeighborsClassifier(),
        MLPClassifier(learning_rate_init=0.1, early_stopping=True),
        DecisionTreeClassifier(max_depth=2, max_features=3),
        HistGradientBoostingClassifier(max_iter=3),
        RandomForestClassifier(n_estimators=3),
        AdaBoostClassifier(n_estimators=3),
        SGDClassifier(class_weight="balanced"),
        SGDClassifier(early_stopping=True),
        make_pipeline(StandardScaler(), SGDClassifier()),
        OneVsRestClassifier(SGDClassifier(early_stopping=True)),
        StackingClassifier([("bayes", GaussianNB())], cv=2),
    ],
    ids=lambda voter: repr(voter)[:40],
)
@pytest.mark.parametrize("competence", ["training", "prequential"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_any_classifier_votes(binary, voter, competence):
    X, y = binary
    options = {"n_estimators": 5, "n_final": 2, "increment_size": 100, "competence": competence}
    ensemble = small(voter, **options).fit(X[:300], y[:300])
    assert ensemble.score(X[300:], y[300:]) > 0.8
    assert all(type(each) is type(voter) for each in ensemble.estimators_)


def test_each_voter_has_its_own_seed_also_inside_a_pipeline(binary):
    ensemble = small(make_pipeline(StandardScaler(), SGDClassifier(random_state=3)), n_final=12)
    ensemble.fit(*binary)
    seeds = {voter[-1].random_state for voter in ensemble.estimators_}
    assert len(seeds) == 12


def test_kinds_are_spread_evenly_over_a_mixed_ensemble(binary):
    X, y = binary
    kinds = [("sgd", SGDClassifier()), ("bayes", GaussianNB()), ("tree", DecisionTreeClassifier())]
    mixed = small(kinds, n_estimators=11, mechanism="direct").fit(X, y)
    counts = [sum(isinstance(v, type(kind)) for v in mixed.estimators_) for _, kind in kinds]
    assert counts == [4, 4, 3]
    pruned = small(kinds, competence="prequential").fit(X, y)
    assert len(pruned.estimators_) == 3
    assert pruned.score(X, y) > 0.9


def test_voters_without_partial_fit_cost_what_they_cost(binary):
    X, y = binary
    ensemble = small(
        DecisionTreeClassifier(max_features=2),
        mechanism="random",
        increment_size=100,
        delegation_rate=FixedCount(3),
    ).fit(X[:300], y[:300])
    assert [record.cost for record in ensemble.record_] == [12 * 100, 9 * 200, 6 * 300]
    assert ensemble.training_cost_.final_fit == 3 * 300


def test_trees_tie_after_training_and_are_told_apart_before(binary):
    X, y = binary
    tree = DecisionTreeClassifier(max_features=2)
    by_heart = small(tree, competence="training").fit(X, y)
    assert len(by_heart.estimators_) == 12
    assert not by_heart.record_.reached_n_final
    honest = small(tree, competence="prequential").fit(X, y)
    assert len(honest.estimators_) == 3


# Mechanisms, schedules, candidates


def squared(gain, weight):
    return np.maximum(gain, 0) ** 2


def test_a_users_own_mechanism_works_where_a_name_does(binary):
    X, y = binary
    as_mechanism = small(mechanism=Mechanism(least_accurate, squared)).fit(X, y)
    as_pair = small(mechanism=(least_accurate, squared)).fit(X, y)
    assert same(as_mechanism, as_pair, X)
    assert len(as_pair.estimators_) == 3


@pytest.mark.parametrize("rate", [0.3, 1, 1.0, Linear(0.5, 0.1, 5), FixedCount(2), lambda t: 0.3])
def test_delegation_never_goes_below_n_final(binary, rate):
    ensemble = small(delegation_rate=rate, mechanism="random").fit(*binary)
    sizes = [record.n_representatives for record in ensemble.record_]
    assert sizes[-1] == 3
    assert min(sizes) == 3


def test_auto_reaches_n_final_at_the_last_increment(binary):
    ensemble = small(n_estimators=40, n_final=4, mechanism="random").fit(*binary)
    sizes = [record.n_representatives for record in ensemble.record_]
    assert sizes[-1] == 4
    assert sizes[-2] > 4
    assert len(sizes) == 22


def test_direct_keeps_everyone(binary):
    ensemble = small(mechanism="direct").fit(*binary)
    assert ensemble.estimator_weights_.tolist() == [1] * 12
    assert len(ensemble.record_) == 1


@pytest.mark.parametrize("mechanism", [name for name in OF_THE_PAPER if name != "direct"])
def test_voters_may_be_candidates(binary, mechanism):
    X, y = binary
    ensemble = small(n_estimators=40, candidates="voters", mechanism=mechanism).fit(X, y)
    assert ensemble.estimator_weights_.sum() == 40
    graph = ensemble.delegation_graph_
    assert np.any(graph.gurus != graph.delegation)


# The final fit


def test_the_final_fit_may_be_from_scratch_warm_or_none(binary):
    X, y = binary
    voters = {
        final_fit: small(final_fit=final_fit).fit(X, y).estimators_[0]
        for final_fit in ("scratch", "warm", "none")
    }
    fresh = SGDClassifier(random_state=voters["scratch"].random_state).fit(X, y)
    assert np.array_equal(voters["scratch"].coef_, fresh.coef_)
    assert voters["none"].t_ == len(y) + 1
    assert len({voter.coef_.tobytes() for voter in voters.values()}) == 3


def test_without_a_final_fit_representatives_learn_from_all_increments(binary):
    X, y = binary
    ensemble = small(final_fit="none", delegation_rate=0.9, increment_size=50).fit(X, y)
    assert ensemble.record_[1].n_representatives == 3
    assert len(ensemble.record_) == 12
    assert ensemble.training_cost_.final_fit == 0
    stopped = small(delegation_rate=0.9, increment_size=50).fit(X, y)
    assert len(stopped.record_) == 2


# Determinism


@pytest.mark.parametrize("voter", [SGDClassifier(), DecisionTreeClassifier(max_depth=3)])
@given(n_jobs=st.sampled_from([2, 3, -1]), seed=st.integers(0, 99))
@settings(max_examples=5)
def test_the_number_of_jobs_does_not_change_a_bit(binary, voter, n_jobs, seed):
    X, y = binary
    one = small(voter, n_jobs=1, random_state=seed).fit(X[:200], y[:200])
    many = small(voter, n_jobs=n_jobs, random_state=seed).fit(X[:200], y[:200])
    assert same(one, many, X)
    assert same(one, many.set_params(n_jobs=None), X)


@pytest.mark.parametrize("backend", ["threading", "loky", "multiprocessing"])
def test_the_backend_of_joblib_does_not_change_a_bit(binary, backend):
    X, y = binary
    with joblib.parallel_config(backend=backend, n_jobs=2):
        there = small(n_estimators=6).fit(X, y)
    assert same(there, small(n_estimators=6).fit(X, y), X)


def test_the_same_seed_gives_the_same_bits_and_another_does_not(binary):
    X, y = binary
    assert same(small().fit(X, y), small().fit(X, y), X)
    assert not same(small().fit(X, y), small(random_state=1).fit(X, y), X)
    from_state = small(random_state=np.random.RandomState(0))
    assert same(small().fit(X, y), from_state.fit(X, y), X)


def test_fitting_again_starts_anew(binary):
    X, y = binary
    ensemble = small().fit(X[:100], y[:100])
    assert same(ensemble.fit(X, y), small().fit(X, y), X)


def test_fitting_again_in_vain_leaves_the_voters_their_features(binary):
    X, y = binary
    ensemble = small(max_features=0.3).fit(X, y)
    features = ensemble.estimators_features_
    with pytest.raises(ZeroDivisionError):
        ensemble.set_params(delegation_rate=lambda t: 1 / 0, random_state=1).fit(X, y)
    assert np.array_equal(ensemble.estimators_features_, features)


@given(seed=st.integers(0, 999))
@settings(max_examples=8)
def test_rows_may_change_places_within_an_increment_where_voters_do_not_mind(binary, seed):
    X, y = binary
    kinds = [(f"smooth {p}", GaussianNB(var_smoothing=10.0**-p)) for p in range(6)]
    rng = np.random.default_rng(seed)
    straight, shuffled = small(kinds), small(kinds)
    for start in range(0, 500, 50):
        rows = np.arange(start, start + 50)
        straight.partial_fit(X[rows], y[rows], classes=[0, 1])
        rows = rng.permutation(rows)
        shuffled.partial_fit(X[rows], y[rows], classes=[0, 1])
    assert len(straight.estimators_) < 12
    assert same(straight, shuffled, X)


# partial_fit


def parts(X, y, size):
    return [(X[i : i + size], y[i : i + size]) for i in range(0, len(y), size)]


def test_delegation_goes_on_from_call_to_call(binary):
    X, y = binary
    ensemble = small(n_estimators=30, delegation_rate=0.2)
    sizes = []
    for X_part, y_part in parts(X, y, 40):
        ensemble.partial_fit(X_part, y_part, classes=[0, 1])
        sizes.append(len(ensemble.estimators_))
    assert sizes[0] < 30
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 3
    assert ensemble.n_samples_seen_ == len(y)
    assert ensemble.score(X, y) > 0.9
    assert ensemble.record_[2].rows == range(80, 120)


def test_a_call_may_hold_several_increments(binary):
    X, y = binary
    by_call = small(delegation_rate=0.2, increment_size=40)
    for X_part, y_part in parts(X, y, 40):
        by_call.partial_fit(X_part, y_part, classes=[0, 1])
    at_once = small(delegation_rate=0.2, increment_size=40).partial_fit(X, y, classes=[0, 1])
    assert len(at_once.record_) == 15
    assert same(by_call, at_once, X)


@pytest.mark.parametrize("voter", [SGDClassifier(), DecisionTreeClassifier(max_depth=2)])
def test_stopping_and_resuming_does_not_change_a_bit(binary, voter):
    X, y = binary
    straight = small(voter, delegation_rate=0.2)
    resumed = small(voter, delegation_rate=0.2)
    for X_part, y_part in parts(X, y, 80):
        straight.partial_fit(X_part, y_part, classes=[0, 1])
        resumed.partial_fit(X_part, y_part, classes=[0, 1])
        resumed = pickle.loads(pickle.dumps(resumed))
    assert same(straight, resumed, X)


@pytest.mark.parametrize("voter", [SGDClassifier(), DecisionTreeClassifier(max_depth=3)])
def test_arrays_may_be_used_again_for_the_next_rows(binary, voter):
    X, y = binary
    weights = np.random.default_rng(0).uniform(0.1, 9, 480)
    buffer, its_weights = np.empty((80, 30)), np.empty(80)
    again, apart = small(voter), small(voter)
    for part in np.split(np.arange(480), 6):
        buffer[:], its_weights[:] = X[part], weights[part]
        again.partial_fit(buffer, y[part], [0, 1], its_weights)
        apart.partial_fit(X[part], y[part], [0, 1], weights[part])
    assert same(again, apart, X)


def test_arrays_of_fit_may_be_used_again_before_more_rows_come(binary):
    X, y = binary
    voter, weights = DecisionTreeClassifier(max_depth=3), np.linspace(0.1, 9, 300)
    again, apart = (small(voter).fit(X[:300], y[:300], weights) for _ in range(2))
    own, its_weights = X[:300].copy(), weights.copy()
    again.fit(own, y[:300], its_weights)
    own[:], its_weights[:] = 0, 1
    assert same(again.partial_fit(X[300:], y[300:]), apart.partial_fit(X[300:], y[300:]), X)


@pytest.mark.parametrize("pool", ["linear", "estimator"])
def test_a_stream_keeps_the_precision_it_began_in(binary, pool):
    X, y = binary
    for first, then in ((np.float32, np.float64), (np.float64, np.float32)):
        mixed, plain = small(pool=pool), small(pool=pool)
        mixed.partial_fit(X[:100].astype(first), y[:100], classes=[0, 1])
        mixed.partial_fit(X[100:].astype(np.float32).astype(then), y[100:])
        plain.partial_fit(X[:100].astype(first), y[:100], classes=[0, 1])
        plain.partial_fit(X[100:].astype(np.float32).astype(first), y[100:])
        assert same(mixed, plain, X)
        assert mixed.estimators_[0].coef_.dtype == first


def test_dense_and_sparse_rows_may_follow_each_other(binary):
    X, y = binary
    sparse = scipy.sparse.csr_matrix(X)
    for voter in (SGDClassifier(), DecisionTreeClassifier(max_depth=3)):
        mixed, dense = small(voter), small(voter)
        for i, rows in enumerate((slice(100), slice(100, 200), slice(200, 300))):
            mixed.partial_fit((X, sparse)[i % 2][rows], y[rows], classes=[0, 1])
            dense.partial_fit(X[rows], y[rows], classes=[0, 1])
        assert mixed.record_[-1].rows == dense.record_[-1].rows
        assert mixed.score(X, y) > 0.8


def test_partial_fit_goes_on_after_fit(binary):
    X, y = binary
    for voter in (SGDClassifier(), DecisionTreeClassifier()):
        ensemble = small(voter).fit(X[:300], y[:300])
        n_increments = len(ensemble.record_)
        ensemble.partial_fit(X[300:], y[300:])
        assert len(ensemble.record_) == n_increments + 1
        assert ensemble.n_samples_seen_ == len(y)
        assert ensemble.record_[-1].rows == range(300, len(y))


def test_classes_may_be_missing_at_first_and_for_long(multiclass):
    X, y = multiclass
    order = np.argsort(y, kind="stable")
    for voter in (SGDClassifier(), GaussianNB(), DecisionTreeClassifier(), LogisticRegression()):
        ensemble = small(voter, n_estimators=6, n_final=2)
        for X_part, y_part in parts(X[order], y[order], 25):
            ensemble.partial_fit(X_part, y_part, classes=[0, 1, 2])
            assert ensemble.predict_proba(X).shape == (150, 3)


def test_fit_shuffles_so_sorted_data_do_no_harm(binary):
    X, y = binary
    order = np.argsort(y, kind="stable")
    assert small(final_fit="none").fit(X[order], y[order]).score(X, y) > 0.9


# Weights


def test_rows_of_weight_zero_are_as_if_they_were_not_there(binary):
    X, y = binary
    weights = np.where(np.arange(len(y)) < 300, 1.0, 0.0)
    weighted = small().fit(X, y, sample_weight=weights)
    without = small().fit(X[:300], y[:300], sample_weight=np.ones(300))
    assert same(weighted, without, X)
    assert max(max(record.rows) for record in weighted.record_) < 300
    assert weighted.n_samples_seen_ == len(y)


def test_recorded_rows_are_those_of_the_data_as_given(binary):
    X, y = binary
    weights = np.where(np.arange(len(y)) < 200, 0.0, 1.0)
    ensemble = small(final_fit="none").fit(X, y, sample_weight=weights)
    rows = np.concatenate([record.rows for record in ensemble.record_])
    assert sorted(rows) == list(range(200, len(y)))


def test_an_increment_of_zero_weights_changes_nothing(binary):
    X, y = binary
    ensemble = small().partial_fit(X[:50], y[:50], classes=[0, 1])
    before = ensemble.predict_proba(X)
    ensemble.partial_fit(X[50:90], y[50:90], sample_weight=np.zeros(40))
    assert np.array_equal(ensemble.predict_proba(X), before)
    assert len(ensemble.record_) == 1
    assert ensemble.n_samples_seen_ == 90
    ensemble.partial_fit(X[90:120], y[90:120], sample_weight=np.ones(30))
    assert ensemble.record_[1].rows == range(90, 120)


@pytest.mark.parametrize("voter", [SGD, None])
def test_a_stream_may_begin_with_zero_weights(binary, voter):
    X, y = binary
    ensemble = small(voter).partial_fit(X[:9], y[:9], classes=[0, 1], sample_weight=np.zeros(9))
    with pytest.raises(NotFittedError, match="of the 9 rows that have come"):
        ensemble.predict(X)
    assert ensemble.partial_fit(X, y).score(X, y) > 0.8
    assert ensemble.n_samples_seen_ == 9 + len(y)


def test_an_increment_within_fit_may_have_zero_weights(binary):
    X, y = binary
    weights = np.ones(len(y))
    weights[::2] = 0
    for voter in (SGDClassifier(), GaussianNB(), DecisionTreeClassifier()):
        ensemble = small(voter, increment_size=10).fit(X, y, sample_weight=weights)
        assert ensemble.score(X, y) > 0.8


@pytest.mark.parametrize("final_fit", ["scratch", "warm", "none"])
def test_a_class_of_weight_zero_is_as_if_it_were_not_there(multiclass, final_fit):
    X, y = multiclass
    ensemble = small(final_fit=final_fit).fit(X, y, sample_weight=np.where(y == 1, 0.0, 2.0))
    assert ensemble.classes_.tolist() == [0, 2]
    assert ensemble.predict_proba(X).shape == (150, 2)


# Evaluation


def test_the_evaluation_set_is_scored_after_each_increment(binary):
    X, y = binary
    names = np.array(["a", "b"])[y]
    ensemble = small(final_fit="none").fit(X[:300], names[:300], eval_set=(X[300:], names[300:]))
    assert len({record.eval_accuracy for record in ensemble.record_}) > 1
    assert ensemble.record_[-1].eval_accuracy == ensemble.score(X[300:], names[300:])
    stream = small().partial_fit(X[:50], y[:50], classes=[0, 1], eval_set=(X[300:], y[300:]))
    assert stream.record_[0].eval_accuracy == stream.score(X[300:], y[300:])
    assert np.isnan(small().fit(X, y).record_[0].eval_accuracy)


def test_an_evaluation_set_does_not_change_the_ensemble(binary):
    X, y = binary
    assert same(small().fit(X, y), small().fit(X, y, eval_set=(X, y)), X)


# Data of all kinds


def test_pandas_and_polars_name_the_features(binary):
    X, y = binary
    names = [f"feature {i}" for i in range(30)]
    plain = small().fit(X, y)
    for frame, labels in (
        (pd.DataFrame(X, columns=names), pd.Series(y)),
        (pl.DataFrame(X, schema=names), pl.Series(y)),
    ):
        ensemble = small().fit(frame, labels)
        assert ensemble.feature_names_in_.tolist() == names
        assert np.array_equal(ensemble.predict_proba(frame), plain.predict_proba(X))
    with pytest.raises(ValueError, match="feature names should match"):
        ensemble.predict(pd.DataFrame(X, columns=names[::-1]))


class OnlySparse(SGDClassifier):
    """A voter that refuses dense rows."""

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        assert scipy.sparse.issparse(X)
        return super().partial_fit(X, y, classes, sample_weight)

    def fit(self, X, y, **weights):
        assert scipy.sparse.issparse(X)
        return super().fit(X, y, **weights)

    def predict(self, X):
        assert scipy.sparse.issparse(X)
        return super().predict(X)


def test_sparse_rows_are_not_made_dense(digits):
    X, y = digits
    X = np.where(X > 1, X, 0)
    dense = small().fit(X, y)
    for kind in (scipy.sparse.csr_matrix, scipy.sparse.csr_array, scipy.sparse.csc_matrix):
        ensemble = small(OnlySparse()).fit(kind(X), y, eval_set=(kind(X), y))
        assert np.mean(ensemble.predict(kind(X)) == dense.predict(X)) > 0.9


def test_float32_stays_float32(binary):
    X, y = binary
    ensemble = small().fit(X.astype(np.float32), y)
    assert (
        ensemble.estimators_[0].coef_.dtype
        == SGDClassifier().fit(X.astype(np.float32), y).coef_.dtype
    )


def test_missing_values_pass_when_the_voters_take_them(binary):
    X, y = binary
    X = X.copy()
    X[::7, 3] = np.nan
    assert small(DecisionTreeClassifier(max_depth=2)).fit(X, y).score(X, y) > 0.8
    boosted = small(HistGradientBoostingClassifier(max_iter=2), n_estimators=4).fit(X, y)
    assert boosted.score(X, y) > 0.6
    imputed = make_pipeline(SimpleImputer(), LogisticRegression())
    assert small(imputed, n_estimators=4).fit(X, y).score(X, y) > 0.8
    for refusing in (SGD, make_pipeline(StandardScaler(), LogisticRegression())):
        with pytest.raises(ValueError, match="NaN"):
            small(refusing).fit(X, y)


def test_two_rows_are_enough():
    ensemble = small().fit([[0.0], [1.0]], [0, 1])
    assert ensemble.predict([[0.0], [1.0]]).shape == (2,)
    assert len(ensemble.record_) == 1


def test_votes_are_counted_in_blocks(binary, monkeypatch):
    X, y = binary
    ensemble = small().fit(X, y)
    whole = ensemble.predict_proba(X)
    monkeypatch.setattr("skliquid.ensemble._VOTES_AT_ONCE", 100)
    assert np.array_equal(ensemble.predict_proba(X), whole)
    monkeypatch.setattr("skliquid.ensemble._ROWS_AT_ONCE", 7)
    assert np.array_equal(ensemble.predict_proba(X), whole)


def test_a_vote_leaves_no_rows_behind(binary):
    X, y = binary
    ensemble, many = LiquidEnsembleClassifier(random_state=0).fit(X, y), np.tile(X, (100, 1))
    ensemble.predict(many[:10])
    tracemalloc.start()
    ensemble.predict(many)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < many.nbytes / 10


# scikit-learn's tools


def test_clone_and_pickle(binary):
    X, y = binary
    ensemble = small(mechanism=Mechanism(least_accurate, squared), delegation_rate=FixedCount(2))
    fitted = clone(ensemble).fit(X, y)
    assert not hasattr(ensemble, "estimators_")
    assert not hasattr(clone(fitted), "record_")
    assert same(pickle.loads(pickle.dumps(fitted)), fitted, X)


def test_a_pickled_ensemble_of_trees_does_not_carry_the_data(binary):
    X, y = binary
    ensemble = small(DecisionTreeClassifier(max_depth=1), n_estimators=4, n_final=2).fit(X, y)
    assert len(pickle.dumps(ensemble)) < X.nbytes / 2


def test_the_default_estimator_has_parameters_too(binary):
    default = LiquidEnsembleClassifier(n_estimators=20, random_state=0)
    search = GridSearchCV(default, {"estimator__alpha": [1e-3]}, cv=2).fit(*binary)
    voters = search.best_estimator_.estimators_
    assert {voter[-1].alpha for voter in voters} == {1e-3}
    mapped = [voter[0] for voter in voters if isinstance(voter[0], Pipeline)]
    assert any(isinstance(each[-1], FourierFeatures) for each in mapped)


def test_to_say_what_is_the_default_changes_nothing(binary):
    X, y = binary
    default = LiquidEnsembleClassifier(n_estimators=20, random_state=0)
    said = clone(default).set_params(estimator__average=True)
    assert same(default.fit(X, y), said.fit(X, y), X)


def test_a_wrong_parameter_of_the_default_estimator_leaves_it_as_it_was():
    ensemble = LiquidEnsembleClassifier()
    with pytest.raises(ValueError, match="Invalid parameter 'alfa'"):
        ensemble.set_params(estimator__alfa=1, n_final=3)
    assert ensemble.get_params() == LiquidEnsembleClassifier().get_params()


def test_many_classes_in_few_rows_are_no_reason_to_warn(digits):
    X, y = digits
    y = y * 3 + np.arange(len(y)) % 3
    ensemble = small(DecisionTreeClassifier(), increment_size=20, n_estimators=3, n_final=2)
    assert len(ensemble.fit(X[:100], y[:100]).classes_) == 30


def test_grid_search_over_the_parameters_that_matter(binary):
    X, y = binary
    search = GridSearchCV(
        make_pipeline(StandardScaler(), small(SGDClassifier(), n_estimators=6)),
        {
            "liquidensembleclassifier__mechanism": ["max", "random_better"],
            "liquidensembleclassifier__delegation_rate": [0.5, "auto"],
            "liquidensembleclassifier__estimator__alpha": [1e-4, 1e-2],
        },
        cv=2,
    ).fit(X, y)
    assert search.best_score_ > 0.9
    assert cross_val_score(search.best_estimator_, X, y, cv=2).min() > 0.9


def test_kinds_in_a_list_are_set_by_their_names(binary):
    ensemble = small([("sgd", SGDClassifier()), ("tree", DecisionTreeClassifier())])
    search = GridSearchCV(
        ensemble, {"sgd__alpha": [1e-3], "tree": [GaussianNB()], "n_final": [4]}, cv=2
    ).fit(*binary)
    chosen = dict(search.best_estimator_.estimator)
    assert chosen["sgd"].alpha == 1e-3
    assert isinstance(chosen["tree"], GaussianNB)
    assert ensemble.get_params()["tree__max_depth"] is None
    assert isinstance(dict(ensemble.estimator)["tree"], DecisionTreeClassifier)


def test_metadata_is_routed(binary):
    X, y = binary
    weights = np.linspace(0.1, 2, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        ensemble = small().set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        routed = make_pipeline(scaler, ensemble).fit(X, y, sample_weight=weights)
        direct = small().fit(StandardScaler().fit_transform(X), y, sample_weight=weights)
        assert np.array_equal(routed.predict_proba(X), direct.predict_proba(routed[0].transform(X)))
        voter = make_pipeline(scaler, SGDClassifier().set_fit_request(sample_weight=True))
        heavy = np.where(y == 1, 1e3, 1e-3)
        inner = small(voter, n_estimators=3, n_final=1).fit(X, y, sample_weight=heavy)
        assert np.mean(inner.predict(X) == 1) > np.mean(y == 1) + 0.1


def test_requests_for_metadata_count_only_while_it_is_routed(binary):
    X, y = binary
    plain = make_pipeline(StandardScaler(), GaussianNB())
    with sklearn.config_context(enable_metadata_routing=True):
        asking = make_pipeline(StandardScaler(), GaussianNB().set_fit_request(sample_weight=True))
    options = {"n_estimators": 4, "increment_size": 200, "bootstrap": True}
    assert same(small(asking, **options).fit(X, y), small(plain, **options).fit(X, y), X)
    with pytest.raises(ValueError, match="must not be given to voters that cannot use it"):
        small(asking, **options).fit(X, y, sample_weight=np.ones(len(y)))


def test_an_ensemble_may_be_a_voter(binary):
    X, y = binary
    inner = LiquidEnsembleClassifier(n_estimators=4, n_final=2)
    assert small(inner, n_estimators=3, n_final=2).fit(X, y).score(X, y) > 0.9


def test_an_ensemble_with_a_budget_may_be_a_voter(binary):
    X, y = binary
    inner = small(GaussianNB(), n_estimators=4, n_final=2, max_cost=5000)
    outer = small(inner, n_estimators=3, n_final=2, increment_size=200).fit(X, y)
    assert outer.score(X, y) > 0.9


def test_parameters_of_ensembles_of_ensembles_are_got_and_set(binary):
    forests = small(RandomForestClassifier(n_estimators=2), n_estimators=3, n_final=2)
    assert forests.get_params()["estimator__n_estimators"] == 2
    search = GridSearchCV(forests, {"n_final": [1], "estimator__max_depth": [2]}, cv=2)
    assert search.fit(*binary).best_estimator_.estimators_[0].max_depth == 2
    nested = make_pipeline(make_pipeline(StandardScaler(), StandardScaler()), SGDClassifier())
    assert all(isinstance(name, str) for name in small(nested).get_params())
    turned = small().set_params(estimator=[("a", SGDClassifier())], a__alpha=0.5)
    assert turned.estimator[0][1].alpha == 0.5
    assert small([("a", SGDClassifier())]).set_params(estimator=GaussianNB()).get_params(deep=False)


def test_a_pickled_ensemble_carries_its_representatives_only(digits):
    ensemble = small(n_estimators=60, n_final=2).fit(*digits)
    alone = len(pickle.dumps(ensemble.estimators_))
    assert len(pickle.dumps(ensemble._training.pool)) < 3 * alone
    stream = small(n_estimators=60, n_final=2, delegation_rate=1.0)
    stream.partial_fit(*digits, classes=range(10))
    assert len(pickle.dumps(stream._training.pool)) < 3 * alone


def test_n_final_may_change_in_the_midst_of_a_stream(binary):
    X, y = binary
    ensemble = small(delegation_rate=0.1).partial_fit(X[:100], y[:100], classes=[0, 1])
    ensemble.set_params(n_final=8, delegation_rate=1.0, mechanism="random")
    ensemble.partial_fit(X[100:], y[100:])
    assert len(ensemble.estimators_) == 8
    assert ensemble.record_.reached_n_final


def test_a_number_of_features_above_all_means_all(binary):
    X, y = binary
    assert same(small(max_features=31).fit(X, y), small(max_features=1.0).fit(X, y), X)


def test_the_papers_ensemble_sees_twenty_features_and_lets_delegators_choose_anyone(binary):
    X, y = binary
    ensemble = LiquidEnsembleClassifier.as_in_the_paper(n_estimators=20, random_state=0)
    seen = ensemble.fit(X, y).estimators_features_
    assert {len(set(features.tolist())) for features in seen} == {20}
    assert len({tuple(features) for features in seen}) > 1
    assert ensemble.candidates == "voters"
    narrow = ensemble.fit(X[:, :7], y).estimators_features_
    assert {len(features) for features in narrow} == {7}
