import copy

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import cross_val_score
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags

from skliquid import LiquidEnsembleClassifier, prune
from skliquid.mechanisms import MECHANISMS, FastestLearners, Revocable

NAMES = np.array(["benign", "malign"])


@pytest.fixture
def halves(binary):
    X, y = binary
    return (X[:300], NAMES[y[:300]]), (X[300:], NAMES[y[300:]])


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
def test_an_ensemble_that_exists_is_made_smaller(halves, name):
    train, judge = halves
    whole = ENSEMBLES[name].fit(*train)
    small = prune(whole, *judge, n_final=5, random_state=0)
    assert len(small.estimators_) == 5
    assert all(any(each is member for member in whole.estimators_) for each in small.estimators_)
    assert small.estimator_weights_.sum() == len(whole.estimators_)
    assert small.classes_.tolist() == NAMES.tolist()
    assert small.score(*judge) > whole.score(*judge) - 0.03
    assert small.training_cost_.total == 0


def test_with_nobody_delegating_the_votes_are_those_of_the_ensemble(halves):
    train, judge = halves
    whole = ENSEMBLES["bagging"].fit(*train)
    same = prune(whole, *judge, mechanism="direct", random_state=0)
    votes = np.mean([each.predict(judge[0]) for each in whole.estimators_], axis=0)
    assert np.allclose(same.predict_proba(judge[0])[:, 1], votes)


def test_a_list_of_classifiers_is_an_ensemble(halves):
    train, judge = halves
    several = [SGDClassifier(random_state=k).fit(*train) for k in range(15)] + [
        GaussianNB().fit(*train)
    ]
    small = prune(several, *judge, n_final=3, mechanism="max", random_state=0)
    assert isinstance(small, LiquidEnsembleClassifier)
    assert set(small.predict(judge[0])) == set(NAMES)
    assert small.score(*judge) > 0.9
    small.partial_fit(*train)  # goes on by more rows
    assert small.n_samples_seen_ == 569


def test_the_same_seed_gives_the_same_ensemble(halves):
    train, judge = halves
    whole = ENSEMBLES["forest"].fit(*train)
    one, other = (prune(whole, *judge, random_state=7) for _ in range(2))
    assert np.array_equal(one.delegation_graph_.delegation, other.delegation_graph_.delegation)


@pytest.mark.parametrize(
    ("ensemble", "error", "message"),
    [
        ([], ValueError, "the list is empty"),
        (3, TypeError, "3 is neither"),
        (RandomForestClassifier(), NotFittedError, "not fitted"),
        ([SGDClassifier()], NotFittedError, "not fitted"),
    ],
)
def test_what_is_no_fitted_ensemble_is_refused(halves, ensemble, error, message):
    with pytest.raises(error, match=message):
        prune(ensemble, *halves[1])


@pytest.mark.parametrize(
    "ensemble",
    [
        OneVsRestClassifier(GaussianNB()),
        OneVsOneClassifier(GaussianNB()),
        OutputCodeClassifier(GaussianNB(), random_state=0),
        GradientBoostingClassifier(n_estimators=2),
        StackingClassifier([("bayes", GaussianNB())], cv=2),
        RandomForestRegressor(2),
    ],
)
def test_what_is_made_of_no_voters_is_refused(multiclass, ensemble):
    with pytest.raises(TypeError, match=f"what {type(ensemble).__name__} is made of need not vote"):
        prune(ensemble.fit(*multiclass), *multiclass)


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
        with pytest.raises(ValueError, match="must tell classes of one output apart"):
            prune(ensemble, X, y)


@pytest.mark.parametrize("stranger", [RandomForestRegressor(2), 3, GaussianNB])
def test_a_list_holds_classifiers_only(multiclass, stranger):
    if isinstance(stranger, RandomForestRegressor):
        stranger.fit(*multiclass)
    with pytest.raises(TypeError, match="must hold classifiers only"):
        prune([GaussianNB().fit(*multiclass), stranger], *multiclass)


def test_voters_in_a_list_know_the_same_kind_of_labels(multiclass):
    X, y = multiclass
    with pytest.raises(ValueError, match="labels of one kind"):
        prune([GaussianNB().fit(X, y), GaussianNB().fit(X, y.astype(str))], X, y)


def test_voters_that_missed_a_class_are_understood(multiclass):
    X, y = multiclass
    X, y = np.vstack([X[y == 0][:4], X[y > 0]]), np.r_[[1] * 4, y[y > 0] + 1]  # labels 1, 2, 3
    some_rows = BaggingClassifier(KNeighborsClassifier(1), 30, max_samples=0.1, random_state=0)
    whole = some_rows.fit(X, y)
    assert any(len(each.classes_) < 3 for each in whole.estimators_)
    same = prune(whole, X, y, mechanism="direct", random_state=0)
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
def test_what_voters_answer_depends_on_the_ensemble(multiclass, ensemble):
    X, y = multiclass
    small = prune(ensemble.fit(X, y + 1), X, y + 1, n_final=3, random_state=0)
    assert small.score(X, y + 1) > 0.9
    same = prune(small, X, y + 1, mechanism="direct", n_final=1)  # it is an ensemble itself
    assert same.estimators_ == small.estimators_
    assert same.score(X, y + 1) > 0.9


def test_voters_look_at_the_features_they_know(halves):
    train, judge = halves
    whole = ENSEMBLES["bagging on features"].fit(*train)
    same = prune(whole, *judge, mechanism="direct")
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


# Rows as the voters know them


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


def test_columns_without_names_are_remarked_upon_once(frame):
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
    ids=["objects", "a column of objects", "truth values"],
)
def test_voters_that_saw_numbers_see_numbers_again(multiclass, as_given):
    X, y = as_given(multiclass[0]), multiclass[1]
    whole = LiquidEnsembleClassifier(n_estimators=6, n_final=6, random_state=0).fit(X, y)
    small = prune(whole, X, y, n_final=6)
    assert np.array_equal(small.predict_proba(X), whole.predict_proba(X))


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
    revocable = Revocable(MECHANISMS["max"])
    small = prune(whole, X, y, n_final=5, mechanism=revocable, random_state=0)
    small.partial_fit(X, y)
    assert len(small.estimators_) == 5
    assert len(small._training.accuracy.n_rows) == len(small.record_)  # the last 20 are remembered


@pytest.mark.parametrize(
    "mechanism", ["learning_slopes", Revocable(MECHANISMS["max"], FastestLearners())]
)
def test_nobody_that_is_fitted_learns_fastest(halves, mechanism):
    train, judge = halves
    with pytest.raises(ValueError, match="mechanism must not ask who learns fastest"):
        prune(ENSEMBLES["forest"].fit(*train), *judge, mechanism=mechanism)


def test_voters_that_exist_are_not_replaced(halves):
    train, judge = halves
    small = prune(ENSEMBLES["forest"].fit(*train), *judge, n_final=5, random_state=0)
    before = small.predict(judge[0])
    for attempt in (lambda: small.fit(*train), lambda: clone(small)):
        with pytest.raises(ValueError, match="A pruned ensemble must not be cloned, nor fitted"):
            attempt()
    assert np.array_equal(small.predict(judge[0]), before)
    assert np.array_equal(copy.deepcopy(small).predict(judge[0]), before)
    assert np.mean(cross_val_score(FrozenEstimator(small), *judge, cv=2)) > 0.9
