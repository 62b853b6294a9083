import copy
import pickle
from contextlib import suppress

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.base import clone, is_classifier
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import cross_val_score
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags

from skliquid import (
    DelegationGraph,
    LiquidEnsembleClassifier,
    TableEncoder,
    TrainingRecord,
    prune,
)
from skliquid.mechanisms import MECHANISMS, FastestLearners, revocable
from skliquid.pruned import PrunedEnsemble, fitted_voters, known_features
from skliquid.pruning_methods import PRUNING_METHODS

NAMES = np.array(["benign", "malign"])


@pytest.fixture
def halves(binary):
    X, y = binary
    return (X[:300], NAMES[y[:300]]), (X[300:], NAMES[y[300:]])


BOOSTED = [
    GradientBoostingClassifier(n_estimators=3),
    HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=2),
]
with suppress(ImportError):
    from lightgbm import LGBMClassifier

    BOOSTED.append(LGBMClassifier(n_estimators=5, min_child_samples=2, n_jobs=1, verbose=-1))

ENSEMBLES = {
    "bagging": BaggingClassifier(DecisionTreeClassifier(max_depth=3), 30, random_state=0),
    "bagging on features": BaggingClassifier(n_estimators=30, max_features=0.3, random_state=0),
    "forest": RandomForestClassifier(30, random_state=0),
    "extra trees": ExtraTreesClassifier(30, random_state=0),
    "voting": VotingClassifier(
        [(f"tree{k}", DecisionTreeClassifier(max_features=2, random_state=k)) for k in range(12)]
    ),
}


@pytest.mark.parametrize("name", ENSEMBLES)
def test_a_fitted_ensemble_is_made_smaller(halves, name):
    train, prune_on = halves
    whole = ENSEMBLES[name].fit(*train)
    small = prune(whole, *prune_on, n_final=5, random_state=0)
    assert len(small.estimators_) == 5
    assert all(any(voter is member for member in whole.estimators_) for voter in small.estimators_)
    assert small.estimator_weights_.sum() == len(whole.estimators_)
    assert small.classes_.tolist() == NAMES.tolist()
    assert small.score(*prune_on) > whole.score(*prune_on) - 0.03
    assert small.training_cost_.total == 0


def test_without_delegation_the_votes_are_those_of_the_ensemble(halves):
    train, prune_on = halves
    whole = ENSEMBLES["bagging"].fit(*train)
    same = prune(whole, *prune_on, mechanism="direct", voting="hard", random_state=0)
    votes = np.mean([voter.predict(prune_on[0]) for voter in whole.estimators_], axis=0)
    assert np.allclose(same.predict_proba(prune_on[0])[:, 1], votes)


def test_a_list_of_classifiers_is_an_ensemble(halves):
    train, prune_on = halves
    several = [SGDClassifier(random_state=k).fit(*train) for k in range(15)] + [
        GaussianNB().fit(*train)
    ]
    small = prune(several, *prune_on, n_final=3, mechanism="max", random_state=0)
    assert set(small.predict(prune_on[0])) == set(NAMES)
    assert small.score(*prune_on) > 0.9
    small.partial_fit(*train)  # continues with more rows
    assert small.n_samples_seen_ == 569


def test_the_same_seed_gives_the_same_ensemble(halves):
    train, prune_on = halves
    whole = ENSEMBLES["forest"].fit(*train)
    one, other = (prune(whole, *prune_on, random_state=7) for _ in range(2))
    assert np.array_equal(one.delegation_graph_.delegation, other.delegation_graph_.delegation)


def test_voters_see_the_features_they_were_fitted_to(halves):
    train, prune_on = halves
    whole = ENSEMBLES["bagging on features"].fit(*train)
    same = prune(whole, *prune_on, mechanism="direct")
    for ours, theirs in zip(same.estimators_features_, whole.estimators_features_, strict=True):
        assert np.array_equal(ours, theirs)


def test_the_first_increment_counts(binary):
    X, y = binary
    forest = RandomForestClassifier(20, random_state=0).fit(X[:300], y[:300])
    small = prune(forest, X[300:340], y[300:340], n_final=3, random_state=0)
    assert len(small.record_) == 1
    assert len(small.estimators_) == 3


def test_labels_that_no_voter_knows_are_refused(halves):
    train, (X, y) = halves
    whole = ENSEMBLES["forest"].fit(*train)
    with pytest.raises(ValueError, match="y must hold known classes only"):
        prune(whole, X, np.where(y == "benign", "good", y))


# Rows as the voters were given theirs


@pytest.fixture
def frame(multiclass):
    X, y = multiclass
    return pd.DataFrame(X, columns=["a", "b", "c", "d"]), y


NAMED = {
    "forest": RandomForestClassifier(8, random_state=0),
    "bagging": BaggingClassifier(GaussianNB(), 8, max_features=0.5, random_state=0),
    "voting": VotingClassifier([(str(k), GaussianNB(var_smoothing=0.1**k)) for k in range(8)]),
}


@pytest.mark.parametrize("name", NAMED)
def test_columns_are_known_by_their_names(frame, name):
    X, y = frame
    small = prune(NAMED[name].fit(X, y), X, y, n_final=2, random_state=0)
    assert small.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert small.score(X, y) > 0.8
    for other in (X[["b", "a", "c", "d"]], X[["a", "b", "c"]]):
        with pytest.raises(ValueError, match="feature names should match"):
            prune(NAMED[name], other, y, n_final=2)
        with pytest.raises(ValueError, match="feature names should match"):
            small.predict(other)


def test_columns_without_names_are_warned_about_once(frame):
    X, y = frame
    whole = NAMED["voting"].fit(X, y)
    with pytest.warns(UserWarning, match="X does not have valid feature names") as warned:
        prune(whole, X.to_numpy(), y, n_final=2)
    assert len(warned) == 1


def test_columns_are_counted(multiclass):
    X, y = multiclass
    with pytest.raises(ValueError, match="X has 3 features"):
        prune([GaussianNB().fit(X, y)], X[:, :3], y, n_final=1)


def test_missing_values_go_to_voters_that_take_them(multiclass):
    X, y = multiclass
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    small = prune(RandomForestClassifier(8, random_state=0).fit(X, y), X, y, n_final=2)
    assert small.score(X, y) > 0.8
    assert get_tags(small).input_tags.allow_nan
    with pytest.raises(ValueError, match="GaussianNB does not accept missing values"):
        prune([GaussianNB().fit(multiclass[0], y)], X, y, n_final=1)


def test_data_frames_go_to_voters_that_take_them(frame):
    X, y = frame
    X = X.assign(kind=np.where(X["a"] > 0, "long", "short"))
    several = [
        make_pipeline(
            make_column_transformer((OneHotEncoder(), ["kind"]), (StandardScaler(), [column])),
            LogisticRegression(),
        ).fit(X, y)
        for column in "abcd"
    ] + [GaussianNB().fit(X[["a", "b", "c", "d"]].to_numpy(), y)]
    small = prune(several[:4], X, y, n_final=2, mechanism="max", random_state=0)
    assert small.score(X, y) > 0.9
    assert small.partial_fit(X, y).n_samples_seen_ == 300
    with pytest.raises(ValueError, match="could not convert string"):
        prune(several, X, y, n_final=2)


@pytest.mark.parametrize(
    "as_given",
    [
        lambda X: X.astype(object),
        lambda X: pd.DataFrame(X, columns=list("abcd")).astype({"b": object}),
        lambda X: X > 0,
    ],
    ids=["objects", "a column of objects", "booleans"],
)
def test_voters_that_saw_numbers_see_numbers_again(multiclass, as_given):
    X, y = as_given(multiclass[0]), multiclass[1]
    whole = LiquidEnsembleClassifier(n_estimators=6, n_final=6, random_state=0).fit(X, y)
    small = prune(whole, X, y, n_final=6).set_params(voting="hard")
    assert np.array_equal(small.predict_proba(X), whole.set_params(voting="hard").predict_proba(X))


def test_arrays_of_text_go_to_voters_that_take_them(multiclass):
    X, y = np.where(multiclass[0] > 0, "long", "short").astype(object), multiclass[1]
    several = [
        make_pipeline(OneHotEncoder(), LogisticRegression(C=c)).fit(X, y) for c in (0.1, 1.0)
    ]
    assert prune(several, X, y, n_final=1, random_state=0).score(X, y) > 0.7


def test_texts_go_to_voters_that_take_them():
    texts = ["good day", "good night", "bad day", "bad night"] * 5
    y = np.array([1, 1, 0, 0] * 5)
    several = [
        make_pipeline(TfidfVectorizer(max_features=k), LogisticRegression()).fit(texts, y)
        for k in (1, 2, 4)
    ]
    assert prune(several, texts, y, n_final=1, random_state=0).score(texts, y) == 1


# After pruning


def test_delegations_may_be_taken_back(halves):
    train, (X, y) = halves
    whole = ENSEMBLES["forest"].fit(*train)
    returning = revocable(MECHANISMS["max"])
    small = prune(whole, X, y, n_final=5, mechanism=returning, random_state=0)
    small.partial_fit(X, y)
    assert len(small.estimators_) == 5
    average = small._fitted.training.competence_average  # over the last 20 increments
    assert len(average.sums) == min(len(small.record_), 20)


@pytest.mark.parametrize(
    "mechanism", ["learning_slopes", revocable(MECHANISMS["max"], FastestLearners())]
)
def test_fitted_voters_are_not_ranked_by_how_fast_they_learn(halves, mechanism):
    train, prune_on = halves
    with pytest.raises(ValueError, match="mechanism must not rank voters by how fast they learn"):
        prune(ENSEMBLES["forest"].fit(*train), *prune_on, mechanism=mechanism)


def test_a_pruned_ensemble_is_neither_fitted_nor_cloned(halves):
    train, prune_on = halves
    small = prune(ENSEMBLES["forest"].fit(*train), *prune_on, n_final=5, random_state=0)
    before = small.predict(prune_on[0])
    for attempt in (lambda: small.fit(*train), lambda: clone(small)):
        with pytest.raises(ValueError, match="A pruned ensemble must not be cloned or fitted"):
            attempt()
    assert np.array_equal(small.predict(prune_on[0]), before)
    assert np.array_equal(copy.deepcopy(small).predict(prune_on[0]), before)
    assert np.mean(cross_val_score(FrozenEstimator(small), *prune_on, cv=2)) > 0.9


@pytest.fixture
def pruned(halves):
    train, prune_on = halves
    return prune(ENSEMBLES["forest"].fit(*train), *prune_on, n_final=5, random_state=0)


def test_a_pruned_ensemble_is_a_class_of_its_own(pruned):
    assert type(pruned) is PrunedEnsemble
    assert not isinstance(pruned, LiquidEnsembleClassifier)
    assert is_classifier(pruned)
    assert "n_final=5" in repr(pruned)
    assert "PrunedEnsemble" in pruned._repr_html_()
    assert pruned.get_params().keys() == PrunedEnsemble._parameter_constraints.keys()


def test_its_graph_and_its_record_show_what_happened(pruned):
    graph, record = pruned.delegation_graph_, pruned.record_
    assert isinstance(graph, DelegationGraph)
    assert isinstance(record, TrainingRecord)
    assert record[-1].graph is graph
    assert (graph.n_voters, len(graph.representatives)) == (30, 5)
    assert sum(len(increment.delegators) for increment in record) == 25
    assert sum(increment.n_rows for increment in record) == 269
    assert record.to_pandas().n_representatives.iloc[-1] == 5


def test_a_pickled_ensemble_predicts_and_continues_with_the_same_bits(halves, pruned):
    (X, y), _ = halves
    twin = pickle.loads(pickle.dumps(pruned))
    for ensemble in (pruned, twin):
        ensemble.set_params(n_final=2, delegation_rate=1.0).partial_fit(X[:100], y[:100])
    assert len(twin.estimators_) == 2
    assert np.array_equal(twin.predict_proba(X), pruned.predict_proba(X))
    assert np.array_equal(twin.delegation_graph_.delegation, pruned.delegation_graph_.delegation)


def test_partial_fit_continues_the_pruning_increment_by_increment(halves):
    train, (X, y) = halves
    forest, options = ENSEMBLES["forest"].fit(*train), {"n_final": 3, "delegation_rate": 0.1}
    ensemble = prune(forest, X[:50], y[:50], increment_size=50, random_state=0, **options)
    sizes = [len(ensemble.estimators_)]
    for start in range(50, 250, 50):
        rows = slice(start, start + 50)
        assert ensemble.partial_fit(X[rows], y[rows], classes=NAMES) is ensemble
        sizes.append(len(ensemble.estimators_))
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1]
    assert ensemble.estimator_weights_.sum() == 30
    assert (ensemble.n_samples_seen_, ensemble.record_[-1].rows) == (250, range(200, 250))


def test_delegators_that_were_dropped_cannot_return(halves, pruned):
    with pytest.raises(ValueError, match="mechanism must be revocable from the first call"):
        pruned.set_params(mechanism=revocable("max")).partial_fit(*halves[1])


def test_pruning_does_not_continue_from_a_call_that_failed_in_an_increment(halves, pruned):
    pruned.set_params(n_final=2, delegation_rate=lambda t: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        pruned.partial_fit(*halves[1])
    with pytest.raises(ValueError, match="must not continue after a call that failed"):
        pruned.set_params(delegation_rate=0.5).partial_fit(*halves[1])


def test_the_record_of_an_endless_stream_stays_small(multiclass):
    X, y = multiclass
    ensemble = prune([GaussianNB().fit(X, y)], X, y, n_final=1).set_params(increment_size=1)
    for _ in range(7):
        ensemble.partial_fit(X, y)
    assert (len(ensemble.record_), ensemble.record_.n_increments) == (1000, 1056)


def test_tools_of_scikit_learn_take_a_pruned_ensemble(halves, pruned):
    _, (X, y) = halves
    importance = permutation_importance(pruned, X[:, :30], y, n_repeats=2, random_state=0)
    assert importance.importances_mean.shape == (30,)
    frozen = FrozenEstimator(pruned)
    assert np.array_equal(clone(frozen).fit(X, y).predict(X), pruned.predict(X))


def test_an_ensemble_that_was_not_pruned_says_how_to_get_one(halves):
    X, y = halves[0]
    for method in (lambda new: new.predict(X), lambda new: new.partial_fit(X, y)):
        with pytest.raises(NotFittedError, match=r"not fitted yet: call skliquid.prune"):
            method(PrunedEnsemble())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_final": 0}, "The 'n_final' parameter of PrunedEnsemble must be .* Got 0"),
        ({"n_final": 31}, "n_final must not exceed the number of voters: 31 .* of 30 voters"),
        ({"mechanism": "best"}, "The 'mechanism' parameter of PrunedEnsemble must be"),
        ({"delegation_rate": "fast"}, "The 'delegation_rate' parameter of PrunedEnsemble must be"),
        ({"delegation_rate": list}, "delegation_rate must be an object: got the class list"),
        ({"increment_size": 0}, "The 'increment_size' parameter of PrunedEnsemble must be"),
    ],
)
def test_invalid_parameters_are_refused(halves, pruned, options, message):
    train, prune_on = halves
    with pytest.raises((ValueError, TypeError), match=message):
        prune(ENSEMBLES["forest"].fit(*train), *prune_on, **options)
    with pytest.raises((ValueError, TypeError), match=message):
        pruned.set_params(**options).partial_fit(*prune_on)


def test_invalid_rows_are_refused(halves, pruned):
    _, (X, y) = halves
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        pruned.partial_fit(X, y[:5])
    with pytest.raises(ValueError, match="classes must be the same in every call"):
        pruned.partial_fit(X, y, classes=["benign", "other"])
    with pytest.raises(TypeError, match=r"Call X.collect\(\) first"):
        pruned.predict(pl.DataFrame(X).lazy())
    broken = scipy.sparse.csr_array(X)
    broken.indices[0] = 1000
    with pytest.raises(ValueError, match="indices fit its shape"):
        pruned.predict(broken)
    assert pruned.n_samples_seen_ == 269


def test_rows_of_one_class_are_refused(halves):
    (X, y), (X_prune, y_prune) = halves
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    is_benign = y_prune == "benign"
    message = "y must hold at least two classes: there is only 1 class, 'benign'"
    with pytest.raises(ValueError, match=message):
        prune(forest, X_prune[is_benign], y_prune[is_benign], n_final=2)
    pruned = prune(forest, X_prune, y_prune, n_final=4, random_state=0)
    pruned.partial_fit(X_prune[is_benign], y_prune[is_benign])  # an increment may have one


@pytest.mark.parametrize("rows", [{"a": [1.0]}, []], ids=str)
def test_what_cannot_be_rows_is_refused(halves, rows):
    (X, y), (X_prune, y_prune) = halves
    pruned = prune(RandomForestClassifier(5).fit(X, y), X_prune, y_prune, n_final=2)
    with pytest.raises(ValueError, match="X must be an array of numbers, or what numpy can conv"):
        pruned.predict(rows)


# Methods other than delegation


@pytest.mark.parametrize("voting", ["soft", "hard"])
@pytest.mark.parametrize("method", PRUNING_METHODS)
def test_a_method_chooses_voters_and_votes(halves, method, voting):
    train, (X, y) = halves
    whole = ENSEMBLES["forest"].fit(*train)
    small = prune(whole, X, y, n_final=5, method=method, voting=voting, random_state=0)
    assert 1 <= len(small.estimators_) <= 5
    assert all(
        small.estimators_[k] is whole.estimators_[voter] for k, voter in enumerate(small.chosen_)
    )
    assert small.score(X, y) > 0.9
    assert len(small.estimator_weights_) == len(small.estimators_)
    assert len(small.feature_importances_) == 30
    answers = {"soft": "predict_proba", "hard": "predict"}[voting]
    each = np.array([getattr(voter, answers)(X) for voter in small.estimators_])
    each = each if voting == "soft" else np.eye(2)[each.astype(int)]
    mean = np.average(each, axis=0, weights=small.estimator_weights_)
    if voting == "soft":  # with a further vote that is equal for all classes, and a temperature
        n = len(small.estimators_)
        mean = ((n * mean + 0.5) / (n + 1)) ** (1 / small.temperature_)
        mean /= mean.sum(axis=1, keepdims=True)
    assert np.allclose(small.predict_proba(X), mean)
    again = prune(whole, X, y, n_final=5, method=method, voting=voting, random_state=0)
    assert np.array_equal(again.predict_proba(X), small.predict_proba(X))


def test_methods_get_the_answers_of_all_voters_and_the_labels(halves):
    train, (X, y) = halves
    whole, seen = ENSEMBLES["forest"].fit(*train), []

    def spy(probabilities, labels, n_final):
        seen.extend([probabilities, labels, n_final])
        return np.arange(30) == 7

    small = prune(whole, X, y, n_final=3, method=spy, random_state=0)
    (voter,) = small.chosen_
    assert np.array_equal(seen[0][7], whole.estimators_[voter].predict_proba(X))
    assert np.array_equal(NAMES[seen[1]], y)
    assert seen[2] == 3
    assert prune(small, X, y, n_final=1).estimators_ == small.estimators_


def test_ties_are_broken_at_random(halves):
    train, prune_on = halves
    same = [GaussianNB().fit(*train)] * 20
    chosen = {
        prune(same, *prune_on, n_final=1, method="reduced_error", random_state=k).chosen_[0]
        for k in range(20)
    }
    assert len(chosen) > 5


def test_graph_record_and_partial_fit_are_for_delegation(halves, pruned):
    train, prune_on = halves
    whole = ENSEMBLES["forest"].fit(*train)
    small = prune(whole, *prune_on, n_final=3, method="kappa", random_state=0)
    for name in ("delegation_graph_", "record_"):
        with pytest.raises(AttributeError, match=f"{name} exists only with method='delegation'"):
            getattr(small, name)
    assert "Of 30 voters 3 were chosen by the method kappa." in small._repr_html_()
    message = "method must be 'delegation' to continue pruning"
    for ensemble in (small, small.set_params(method="delegation"), pruned.set_params(method="l1")):
        with pytest.raises(ValueError, match=message):
            ensemble.partial_fit(*prune_on)
    assert np.array_equal(pickle.loads(pickle.dumps(small)).chosen_, small.chosen_)


@pytest.mark.parametrize(
    ("method", "error", "message"),
    [
        ("best", ValueError, "The 'method' parameter of PrunedEnsemble must be"),
        (lambda p, y, n: np.ones(n), ValueError, "method must give one number for each of 30 vot"),
        (lambda p, y, n: -np.ones(30), ValueError, "method must give finite numbers of zero or mo"),
        (lambda p, y, n: np.zeros(30), ValueError, "method must give a positive number for some"),
        (lambda p, y, n: np.ones(30), ValueError, "at most n_final=10 voters: got votes for 30"),
    ],
)
def test_a_method_gives_votes_to_some_voters(halves, method, error, message):
    train, prune_on = halves
    with pytest.raises(error, match=message):
        prune(ENSEMBLES["forest"].fit(*train), *prune_on, method=method)


def test_only_delegation_chooses_the_number_of_voters(halves):
    train, prune_on = halves
    whole = ENSEMBLES["forest"].fit(*train)
    with pytest.raises(
        ValueError, match="n_final must be a number where method is not 'delegation"
    ):
        prune(whole, *prune_on, method="greedy", n_final="auto")


def test_probabilities_of_the_pruned_group_are_calibrated_on_all_rows(halves):
    train, (X, y) = halves
    small = prune(ENSEMBLES["forest"].fit(*train), X, y, n_final=2, random_state=0)
    mean = (2 * np.mean([one.predict_proba(X) for one in small.estimators_], axis=0) + 0.5) / 3
    own = np.searchsorted(NAMES, y)

    def log_loss(power):
        powers = mean**power
        return -np.log((powers / powers.sum(axis=1, keepdims=True))[np.arange(len(y)), own]).mean()

    found = log_loss(1 / small.temperature_)
    assert found < min(map(log_loss, np.geomspace(1 / 32, 4, 200))) + 1e-3
    assert small.predict_proba(X).min() > 0


@pytest.mark.parametrize("method", ["delegation", "drep"])
def test_a_pipeline_is_pruned_at_its_end(frame, method):
    X, y = frame
    X = X.assign(kind=np.where(X["a"] > 0, "long", "short"))
    steps = [("encode", TableEncoder()), ("forest", RandomForestClassifier(8, random_state=0))]
    whole = Pipeline(steps).fit(X, y)
    small = prune(whole, X, y, n_final=2, method=method, random_state=0)
    assert small[0] is whole[0]
    direct = prune(whole[1], whole[0].transform(X), y, n_final=2, method=method, random_state=0)
    assert np.array_equal(small.predict_proba(X), direct.predict_proba(whole[0].transform(X)))
    alone = Pipeline(steps[1:])
    columns = X[["a", "b"]]
    assert len(prune(alone.fit(columns, y), columns, y, n_final=3)[0].estimators_) == 3
    with pytest.raises(NotFittedError):
        prune(Pipeline([("forest", RandomForestClassifier())]), X, y)


# Which ensembles have voters, and how these are asked for their predictions


@pytest.mark.parametrize(
    ("ensemble", "error", "message"),
    [
        ([], ValueError, "ensemble must hold a voter: got an empty list"),
        (3, TypeError, "must be a fitted ensemble or a list of fitted classifiers: got 3"),
        (
            RandomForestClassifier,
            TypeError,
            "must be a fitted ensemble .* Give a BaggingClassifier",
        ),
        (RandomForestClassifier(), NotFittedError, "not fitted"),
        ([SGDClassifier()], NotFittedError, "not fitted"),
    ],
)
def test_what_is_no_fitted_ensemble_is_refused(multiclass, ensemble, error, message):
    with pytest.raises(error, match=message):
        prune(ensemble, *multiclass)


@pytest.mark.parametrize(
    "ensemble",
    [
        OneVsRestClassifier(GaussianNB()),
        OneVsOneClassifier(GaussianNB()),
        OutputCodeClassifier(GaussianNB(), random_state=0),
        StackingClassifier([("bayes", GaussianNB())], cv=2),
        RandomForestRegressor(2),
    ],
)
def test_ensembles_whose_members_do_not_vote_are_refused(multiclass, ensemble):
    message = f"got {type(ensemble).__name__}, whose members need not vote"
    with pytest.raises(TypeError, match=message):
        prune(ensemble.fit(*multiclass), *multiclass)


@pytest.mark.parametrize("boosted", BOOSTED, ids=lambda boosted: type(boosted).__name__)
def test_stages_of_boosting_do_not_vote_but_boosted_models_in_a_list_do(multiclass, boosted):
    X, y = multiclass
    several = [clone(boosted).set_params(random_state=k).fit(X[k::4], y[k::4]) for k in range(4)]
    message = f"the stages of {type(boosted).__name__} add up.* Give a list of several such models"
    with pytest.raises(TypeError, match=message):
        prune(several[0], X, y)
    for method in ("delegation", "reduced_error"):
        small = prune(several, X, y, n_final=2, method=method, random_state=0)
        assert small.score(X, y) > 0.8
        assert len(small.estimators_) == 2


@pytest.mark.parametrize("wrapped", [ClassifierChain, MultiOutputClassifier])
def test_ensembles_with_a_voter_for_each_output_are_refused(multiclass, wrapped):
    X, y = multiclass
    outputs = np.column_stack([y > 0, y > 1]).astype(int)
    with pytest.raises(TypeError, match="need not vote for classes"):
        prune(wrapped(GaussianNB()).fit(X, outputs), X, y)


def test_voters_with_several_outputs_are_refused(multiclass):
    X, y = multiclass
    forest = RandomForestClassifier(2).fit(X, np.column_stack([y, y]))
    for ensemble in (forest, [forest]):
        with pytest.raises(ValueError, match="must predict classes of one output"):
            prune(ensemble, X, y)


@pytest.mark.parametrize("stranger", [RandomForestRegressor(2), 3, GaussianNB])
def test_a_list_holds_classifiers_only(multiclass, stranger):
    if isinstance(stranger, RandomForestRegressor):
        stranger.fit(*multiclass)
    with pytest.raises(TypeError, match="must hold classifiers only"):
        prune([GaussianNB().fit(*multiclass), stranger], *multiclass)


def test_voters_in_a_list_predict_labels_of_one_type(multiclass):
    X, y = multiclass
    with pytest.raises(ValueError, match="labels of one type: got some that predict text"):
        prune([GaussianNB().fit(X, y), GaussianNB().fit(X, y.astype(str))], X, y)


def test_voters_that_missed_a_class_are_understood(multiclass):
    X, y = multiclass
    X, y = np.vstack([X[y == 0][:4], X[y > 0]]), np.r_[[1] * 4, y[y > 0] + 1]  # labels 1, 2, 3
    some_rows = BaggingClassifier(KNeighborsClassifier(1), 30, max_samples=0.1, random_state=0)
    whole = some_rows.fit(X, y)
    assert any(len(each.classes_) < 3 for each in whole.estimators_)
    same = prune(whole, X, y, mechanism="direct", voting="hard", random_state=0)
    votes = np.array([each.predict(X) for each in whole.estimators_])
    for k in range(3):
        assert np.allclose(same.predict_proba(X)[:, k], np.mean(votes == k, axis=0))


@pytest.mark.parametrize(
    "ensemble",
    [
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=3), n_estimators=12, random_state=0),
        LiquidEnsembleClassifier(GaussianNB(), n_estimators=12, bootstrap=True, random_state=0),
        BaggingClassifier(n_estimators=12, max_features=0.5, random_state=0),
    ],
)
def test_what_voters_predict_depends_on_their_ensemble(multiclass, ensemble):
    X, y = multiclass
    small = prune(ensemble.fit(X, y + 1), X, y + 1, n_final=3, random_state=0)
    assert small.score(X, y + 1) > 0.9
    same = prune(small, X, y + 1, mechanism="direct", n_final=1)  # it is an ensemble itself
    assert same.estimators_ == small.estimators_
    assert same.score(X, y + 1) > 0.9


def test_a_list_may_name_its_classifiers(multiclass):
    voters = [GaussianNB().fit(*multiclass), DecisionTreeClassifier().fit(*multiclass)]
    found, classes = fitted_voters([("bayes", voters[0]), ("tree", voters[1])])
    assert [voter.estimator for voter in found] == voters
    assert classes.tolist() == [0, 1, 2]


def test_features_are_those_of_the_ensemble_or_of_a_voter_that_has_names(multiclass):
    X, y = multiclass
    frame = pd.DataFrame(X, columns=list("abcd"))
    plain, named = GaussianNB().fit(X, y), GaussianNB().fit(frame, y)
    known = known_features([plain, named], fitted_voters([plain, named])[0])
    assert known["n_features_in_"] == 4
    assert known["feature_names_in_"].tolist() == list("abcd")
    assert known_features([plain], fitted_voters([plain])[0]) == {"n_features_in_": 4}
