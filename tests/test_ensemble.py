import pickle

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
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from small_ensembles import SGD, same, small

from skliquid import LiquidEnsembleClassifier, Mechanism, load, save
from skliquid.mechanisms import PAPER_MECHANISMS, as_mechanism
from skliquid.mechanisms.schedules import FixedCount
from skliquid.mechanisms.selection import least_competent

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


def test_labels_may_weigh_by_name(binary):
    X, y = binary
    names = np.array(["benign", "malignant"])[y]
    heavy = small(SGDClassifier(class_weight={"malignant": 30.0})).fit(X, names)
    plain = small(SGDClassifier()).fit(X, names)
    assert np.mean(heavy.predict(X) == "malignant") > np.mean(plain.predict(X) == "malignant")


# Voters of all types


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
    assert all(type(fitted) is type(voter) for fitted in ensemble.estimators_)


def test_each_voter_has_its_own_seed_also_inside_a_pipeline(binary):
    ensemble = small(make_pipeline(StandardScaler(), SGDClassifier(random_state=3)), n_final=12)
    ensemble.fit(*binary)
    seeds = {voter[-1].random_state for voter in ensemble.estimators_}
    assert len(seeds) == 12


def test_estimators_are_spread_evenly_over_a_mixed_ensemble(binary):
    X, y = binary
    named = [("sgd", SGDClassifier()), ("bayes", GaussianNB()), ("tree", DecisionTreeClassifier())]
    mixed = small(named, n_estimators=11, mechanism="direct").fit(X, y)
    counts = [sum(isinstance(v, type(voter)) for v in mixed.estimators_) for _, voter in named]
    assert counts == [4, 4, 3]
    pruned = small(named, competence="prequential").fit(X, y)
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


def test_trees_tie_on_rows_they_were_trained_on_and_differ_on_others(binary):
    X, y = binary
    tree = DecisionTreeClassifier(max_features=2)
    overfitted = small(tree, competence="training").fit(X, y)
    assert len(overfitted.estimators_) == 12
    assert not overfitted.record_.reached_n_final
    prequential = small(tree, competence="prequential").fit(X, y)
    assert len(prequential.estimators_) == 3


# Mechanisms, schedules, candidates


def squared(gain, weight):
    return np.maximum(gain, 0) ** 2


def test_a_users_own_mechanism_works_where_a_name_does(binary):
    X, y = binary
    as_object = small(mechanism=Mechanism(least_competent, squared)).fit(X, y)
    as_pair = small(mechanism=(least_competent, squared)).fit(X, y)
    assert same(as_object, as_pair, X)
    assert len(as_pair.estimators_) == 3


@pytest.mark.parametrize("rate", [0.3, 1, 1.0, FixedCount(2), lambda t: 0.3])
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


def test_direct_keeps_all_voters(binary):
    ensemble = small(mechanism="direct").fit(*binary)
    assert ensemble.estimator_weights_.tolist() == [1] * 12
    assert len(ensemble.record_) == 1


@pytest.mark.parametrize("mechanism", [name for name in PAPER_MECHANISMS if name != "direct"])
def test_voters_may_be_candidates(binary, mechanism):
    X, y = binary
    ensemble = small(n_estimators=40, mechanism=as_mechanism(mechanism, candidates="voters")).fit(
        X, y
    )
    assert ensemble.estimator_weights_.sum() == 40
    graph = ensemble.delegation_graph_
    assert np.any(graph.gurus != graph.delegation)


# The final fit


def test_representatives_are_refitted_from_scratch_at_the_end_unless_there_is_no_final_fit(binary):
    X, y = binary
    refitted, trained = (small(final_fit=fit).fit(X, y).estimators_[0] for fit in (True, False))
    fresh = SGDClassifier(random_state=refitted.random_state).fit(X, y)
    assert np.array_equal(refitted.coef_, fresh.coef_)
    assert trained.t_ == len(y) + 1
    assert not np.array_equal(trained.coef_, refitted.coef_)


def test_without_a_final_fit_representatives_learn_from_all_increments(binary):
    X, y = binary
    ensemble = small(final_fit=False, delegation_rate=0.9, increment_size=50).fit(X, y)
    assert ensemble.record_[1].n_representatives == 3
    assert len(ensemble.record_) == 12
    assert ensemble.training_cost_.final_fit == 0
    stopped = small(delegation_rate=0.9, increment_size=50).fit(X, y)
    assert len(stopped.record_) == 2


@pytest.mark.parametrize(
    "options",
    [
        {"pool": "linear"},
        {"pool": "estimator", "max_features": 0.5},
        {"estimator": DecisionTreeClassifier(max_depth=3)},
        {"estimator": [("sgd", SGD), ("bayes", GaussianNB())]},
        {"estimator": None},
    ],
    ids=["linear", "estimator", "trees", "mixed", "default"],
)
@pytest.mark.parametrize("weights", [None, np.linspace(0.0, 2.0, 569)], ids=["", "weighted"])
def test_refit_is_the_final_fit_of_fit(binary, options, weights):
    X, y = binary
    fitted = small(**options).fit(X, y, weights)
    trained = small(**options, final_fit=False).fit(X, y, weights)
    graph = trained.delegation_graph_
    assert trained.refit(X, y, sample_weight=weights) is trained
    assert trained.delegation_graph_ is graph
    assert np.array_equal(trained.predict_proba(X), fitted.predict_proba(X))
    assert trained.training_cost_.final_fit == fitted.training_cost_.final_fit
    for ours, theirs in zip(trained.estimators_, fitted.estimators_, strict=True):
        assert np.array_equal(coefficients(ours), coefficients(theirs))


def coefficients(voter):
    voter = voter[-1] if hasattr(voter, "steps") else voter
    if hasattr(voter, "trees_"):
        return np.frombuffer(b"".join(nodes + values for nodes, values in voter.trees_.trees), "u1")
    names = ("coef_", "theta_", "tree_")
    value = next(getattr(voter, name) for name in names if hasattr(voter, name))
    return getattr(value, "threshold", value)


def test_a_stream_may_be_refitted_in_between(binary):
    X, y = binary
    ensemble = small(n_estimators=30, delegation_rate=0.2)
    ensemble.partial_fit(X[:200].astype(np.float32), y[:200], classes=[0, 1])
    n_seen, cost = ensemble.n_samples_seen_, ensemble.training_cost_
    ensemble.refit(X[:200], y[:200])
    assert ensemble.estimators_[0].coef_.dtype == np.float32  # as it started
    assert (ensemble.n_samples_seen_, len(ensemble.record_)) == (n_seen, 1)
    once = ensemble.training_cost_.final_fit
    assert ensemble.training_cost_ == (cost.increments, once)
    assert ensemble.refit(X[:200], y[:200]).training_cost_.final_fit == 2 * once
    assert ensemble.partial_fit(X[200:], y[200:]).score(X, y) > 0.9


def test_refit_needs_training_known_classes_and_two_of_them(binary):
    X, y = binary
    with pytest.raises(NotFittedError, match="not fitted yet: call fit or partial_fit"):
        small().refit(X, y)
    ensemble = small().fit(X, y)
    before = ensemble.predict_proba(X)
    with pytest.raises(
        ValueError, match=r"y must hold known classes only: 2 is not among \[0, 1\]"
    ):
        ensemble.refit(X, y + 1)
    with pytest.raises(ValueError, match="y must hold at least two classes"):
        ensemble.refit(X[y == 1], y[y == 1])
    with pytest.raises(ValueError, match="expecting 30 features"):
        ensemble.refit(X[:, :5], y)
    assert np.array_equal(ensemble.predict_proba(X), before)


# Determinism


@pytest.mark.parametrize("voter", [SGDClassifier(), DecisionTreeClassifier(max_depth=3)])
@given(n_jobs=st.sampled_from([2, 3, -1]), seed=st.integers(0, 99))
@settings(max_examples=5)
def test_the_number_of_jobs_does_not_change_a_bit(binary, voter, n_jobs, seed):
    X, y = binary
    options = {"n_estimators": 8, "increment_size": 40, "random_state": seed}
    one = small(voter, n_jobs=1, **options).fit(X[:200], y[:200])
    many = small(voter, n_jobs=n_jobs, **options).fit(X[:200], y[:200])
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


def test_fitting_again_starts_from_scratch(binary):
    X, y = binary
    ensemble = small().fit(X[:100], y[:100])
    assert same(ensemble.fit(X, y), small().fit(X, y), X)


def test_a_second_fit_that_fails_leaves_the_voters_their_features(binary):
    X, y = binary
    ensemble = small(max_features=0.3).fit(X, y)
    features = ensemble.estimators_features_
    with pytest.raises(ZeroDivisionError):
        ensemble.set_params(delegation_rate=lambda t: 1 / 0, random_state=1).fit(X, y)
    assert np.array_equal(ensemble.estimators_features_, features)


def test_fit_shuffles_so_sorted_data_do_no_harm(binary):
    X, y = binary
    order = np.argsort(y, kind="stable")
    assert small(final_fit=False).fit(X[order], y[order]).score(X, y) > 0.9


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
    ensemble = small(final_fit=False).fit(X, y, sample_weight=weights)
    rows = np.concatenate([record.rows for record in ensemble.record_])
    assert sorted(rows) == list(range(200, len(y)))


def test_an_increment_within_fit_may_have_zero_weights(binary):
    X, y = binary
    weights = np.ones(len(y))
    weights[::2] = 0
    for voter in (SGDClassifier(), GaussianNB(), DecisionTreeClassifier()):
        ensemble = small(voter, increment_size=10).fit(X, y, sample_weight=weights)
        assert ensemble.score(X, y) > 0.8


@pytest.mark.parametrize("final_fit", [True, False])
def test_a_class_of_weight_zero_is_as_if_it_were_not_there(multiclass, final_fit):
    X, y = multiclass
    ensemble = small(final_fit=final_fit).fit(X, y, sample_weight=np.where(y == 1, 0.0, 2.0))
    assert ensemble.classes_.tolist() == [0, 2]
    assert ensemble.predict_proba(X).shape == (150, 2)


# Evaluation


def test_the_evaluation_set_is_scored_after_each_increment(binary):
    X, y = binary
    names = np.array(["a", "b"])[y]
    ensemble = small(final_fit=False).fit(X[:300], names[:300], eval_set=(X[300:], names[300:]))
    assert len({record.eval_accuracy for record in ensemble.record_}) > 1
    assert ensemble.record_[-1].eval_accuracy == ensemble.score(X[300:], names[300:])
    stream = small().partial_fit(X[:50], y[:50], classes=[0, 1], eval_set=(X[300:], y[300:]))
    assert stream.record_[0].eval_accuracy == stream.score(X[300:], y[300:])
    assert np.isnan(small().fit(X, y).record_[0].eval_accuracy)


def test_the_evaluation_set_is_scored_after_the_final_fit(binary, tmp_path):
    X, y = binary
    test = X[300:], y[300:]
    ensemble = small().fit(X[:300], y[:300], eval_set=test)
    assert ensemble.record_.final_eval_accuracy == ensemble.score(*test)
    save(ensemble, tmp_path / "model.skliquid")
    stored = load(tmp_path / "model.skliquid").record_
    assert stored.final_eval_accuracy == ensemble.record_.final_eval_accuracy
    assert stored.competence_measure == "training"
    assert np.isnan(small(final_fit=False).fit(X, y, eval_set=test).record_.final_eval_accuracy)
    assert np.isnan(small().fit(X, y).record_.final_eval_accuracy)


@pytest.mark.parametrize("method", ["refit", "partial_fit"])
def test_the_last_score_is_dropped_when_training_continues(binary, method):
    X, y = binary
    ensemble = small().fit(X, y, eval_set=(X, y))
    getattr(ensemble, method)(X[:100], y[:100])
    assert np.isnan(ensemble.record_.final_eval_accuracy)


def test_an_evaluation_set_may_stand_in_a_list(binary):
    X, y = binary
    pair, listed = (small().fit(X, y, eval_set=given) for given in ((X, y), [(X, y)]))
    assert [one.eval_accuracy for one in pair.record_] == [
        one.eval_accuracy for one in listed.record_
    ]


def test_an_evaluation_set_does_not_change_the_ensemble(binary):
    X, y = binary
    assert same(small().fit(X, y), small().fit(X, y, eval_set=(X, y)), X)


# Data of all types


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
    X, y = np.where(digits[0] > 1, digits[0], 0)[:200], digits[1][:200]
    dense = small().fit(X, y)
    for container in (scipy.sparse.csr_matrix, scipy.sparse.csr_array, scipy.sparse.csc_matrix):
        ensemble = small(OnlySparse()).fit(container(X), y, eval_set=(container(X), y))
        assert np.mean(ensemble.predict(container(X)) == dense.predict(X)) > 0.9


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
    few = {"n_estimators": 4, "increment_size": 200}
    assert small(DecisionTreeClassifier(max_depth=2), **few).fit(X, y).score(X, y) > 0.8
    boosted = small(HistGradientBoostingClassifier(max_iter=2), **few).fit(X, y)
    assert boosted.score(X, y) > 0.6
    imputed = make_pipeline(SimpleImputer(), LogisticRegression())
    assert small(imputed, **few).fit(X, y).score(X, y) > 0.8
    for refusing in (SGD, make_pipeline(StandardScaler(), LogisticRegression())):
        with pytest.raises(ValueError, match="NaN"):
            small(refusing).fit(X, y)


def test_two_rows_are_enough():
    ensemble = small().fit([[0.0], [1.0]], [0, 1])
    assert ensemble.predict([[0.0], [1.0]]).shape == (2,)
    assert len(ensemble.record_) == 1


# scikit-learn's tools


def test_clone_and_pickle(binary):
    X, y = binary
    ensemble = small(mechanism=Mechanism(least_competent, squared), delegation_rate=FixedCount(2))
    fitted = clone(ensemble).fit(X, y)
    assert not hasattr(ensemble, "estimators_")
    assert not hasattr(clone(fitted), "record_")
    assert same(pickle.loads(pickle.dumps(fitted)), fitted, X)


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


def test_a_number_of_features_above_all_means_all(binary):
    X, y = binary
    assert same(small(max_features=31).fit(X, y), small(max_features=1.0).fit(X, y), X)
