from types import SimpleNamespace

import pytest
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from small_ensembles import small

from plotting import records
from skliquid import prune
from skliquid.delegation.record import TrainingRecord, VoterDescription
from skliquid.plotting import DelegationDisplay
from skliquid.plotting.fitted_record import estimators_of, record_of


def test_the_record_of_an_ensemble_is_its_own(alike):
    assert record_of(alike) is alike.record_


def test_pipelines_and_searches_lead_to_their_ensemble(binary):
    X, y = binary
    pipeline = make_pipeline(StandardScaler(), make_pipeline("passthrough", small()))
    search = GridSearchCV(pipeline, {"pipeline__liquidensembleclassifier__n_final": [2]}, cv=2)
    search.fit(X[:200], y[:200])
    best = search.best_estimator_[-1][-1]
    assert record_of(search) is record_of(search.best_estimator_) is best.record_
    assert best.record_.n_final == 2


def test_models_of_files_lead_to_their_ensemble(alike):
    assert record_of(SimpleNamespace(ensemble=alike)) is alike.record_
    assert record_of(FrozenEstimator(alike)) is alike.record_


def test_pruned_ensembles_have_a_record(alike, binary):
    pruned = prune(alike.estimators_, *binary, n_final=2, random_state=0)
    assert record_of(pruned) is pruned.record_


@pytest.mark.parametrize(
    "estimator",
    [
        small(),
        make_pipeline(StandardScaler(), small()),
        GridSearchCV(small(), {"n_final": [2]}),
    ],
    ids=["ensemble", "pipeline", "search"],
)
def test_what_is_not_fitted_is_refused_as_scikit_learn_does(estimator):
    with pytest.raises(NotFittedError, match=r"LiquidEnsembleClassifier is not fitted yet.*fit"):
        DelegationDisplay.from_estimator(estimator)


def test_other_estimators_are_refused():
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    with pytest.raises(TypeError, match=r"estimator must .* got Pipeline\. Give"):
        record_of(pipeline)


def test_records_must_have_increments(alike):
    assert record_of(alike.record_) is alike.record_
    with pytest.raises(TypeError, match=r"record must be .* or a TrainingRecord: got list\."):
        record_of([], "record")
    with pytest.raises(NotFittedError, match="record must have an increment: got none"):
        record_of(TrainingRecord(1), "record")


def test_voters_without_descriptions_have_estimators_without_names():
    voters = tuple(map(VoterDescription, ["b", "a", "b"]))
    assert estimators_of(records.record_of([0, 0, 0], voters=voters)) == ["b", "a", "b"]
    assert estimators_of(records.record_of([0, 0, 0])) == ["", "", ""]
