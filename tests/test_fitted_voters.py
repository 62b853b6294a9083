"""Which ensembles have voters, and how these are asked for their predictions."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from skliquid import LiquidEnsembleClassifier, prune
from skliquid.fitted_voters import fitted_voters, known_features


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
        GradientBoostingClassifier(n_estimators=2),
        StackingClassifier([("bayes", GaussianNB())], cv=2),
        RandomForestRegressor(2),
    ],
)
def test_ensembles_whose_members_do_not_vote_are_refused(multiclass, ensemble):
    message = f"got {type(ensemble).__name__}, whose members need not vote"
    with pytest.raises(TypeError, match=message):
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
