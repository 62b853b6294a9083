"""What training leaves behind: predictions and fitted attributes."""

import pickle
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import sklearn
from scipy.special import logit
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier
from small_ensembles import small

from skliquid import LiquidEnsembleClassifier, Mechanism, as_mechanism, prune
from skliquid.delegation.rows import Rows
from skliquid.delegation.votes import VOTINGS
from skliquid.fitted import fitted_votes
from skliquid.fitted.fitted_votes import resolve_classes

METHODS = ("predict_proba", "decision_function")
ATTRIBUTES = [
    "classes_",
    "n_samples_seen_",
    "estimators_",
    "estimators_features_",
    "estimator_weights_",
    "vote_weights_",
    "delegation_graph_",
    "record_",
    "temperature_",
    "training_cost_",
]


def test_shares_are_the_weights_of_the_estimators_that_vote_for_a_class(multiclass):
    X, y = multiclass
    ensemble = small(voting="hard").fit(X, y)
    expected = np.zeros((len(y), 3))
    for voter, weight in zip(ensemble.estimators_, ensemble.vote_weights_, strict=True):
        expected[np.arange(len(y)), voter.predict(X)] += weight / 12
    assert np.allclose(ensemble.predict_proba(X), expected, atol=1e-15)
    assert np.array_equal(ensemble.predict(X), np.argmax(expected, axis=1))


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_threads_that_predict_at_once_get_the_bits_of_one(digits, n_jobs):
    X, y = digits
    ensemble = LiquidEnsembleClassifier(n_jobs=n_jobs, random_state=0).fit(X[:300], y[:300])
    parts = [X[start : start + 80] for start in range(0, 520, 7)]
    alone = [ensemble.predict_proba(part) for part in parts]
    with ThreadPoolExecutor(8) as threads:
        at_once = list(threads.map(ensemble.predict_proba, parts))
    for one, other in zip(at_once, alone, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_log_probabilities_are_those_of_scikit_learn(binary, voting):
    X, y = binary
    pruned = prune(RandomForestClassifier(10, random_state=0).fit(X, y), X, y, n_final=3)
    ensemble = small(voting=voting).fit(X, y)
    assert voting == "soft" or (ensemble.predict_proba(X) == 0).any()
    for classifier in (ensemble, pruned):
        with np.errstate(divide="ignore"):  # scikit-learn warns of zeros; here it is silent
            expected = np.log(classifier.predict_proba(X))
        assert np.array_equal(classifier.predict_log_proba(X), expected)


@pytest.mark.parametrize("voting", VOTINGS)
def test_the_decision_function_is_the_log_odds(binary, multiclass, voting):
    ensemble = small(voting=voting).fit(*binary)
    q, p = ensemble.predict_proba(binary[0]).T
    decision, is_certain = ensemble.decision_function(binary[0]), (p == 0) | (q == 0)
    expected = np.log(p[~is_certain] / q[~is_certain])
    np.testing.assert_allclose(decision[~is_certain], expected, atol=1e-12)
    assert np.array_equal(decision > 0, p > q)
    ensemble.fit(*multiclass)
    p, decision = (getattr(ensemble, f)(multiclass[0]) for f in METHODS)
    assert decision.shape == (150, 3)
    assert np.isfinite(decision).all()
    is_certain = (p == 0) | (p > 1 - 1e-12)
    np.testing.assert_allclose(decision[~is_certain], logit(p[~is_certain]), rtol=1e-3)
    assert np.array_equal(decision.argmax(axis=1), p.argmax(axis=1))


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


def test_vote_weights_are_those_of_the_mechanism(binary):
    given = as_mechanism("max")
    by_log_odds = Mechanism(given.selection, given.probability, vote_weights="log_odds")
    ensemble = small(mechanism=by_log_odds, voting="hard").fit(*binary)
    votes = [voter.predict(binary[0]) for voter in ensemble.estimators_]
    share = np.average(votes, axis=0, weights=ensemble.vote_weights_)
    np.testing.assert_allclose(ensemble.predict_proba(binary[0])[:, 1], share)
    carried = small(voting="hard").fit(*binary)
    assert carried.vote_weights_.tolist() == carried.estimator_weights_.tolist()
    equal = small().fit(*binary)
    assert equal.vote_weights_.tolist() == [1] * len(equal.estimators_)


def test_votes_are_counted_in_blocks(binary, monkeypatch):
    X, y = binary
    ensemble = small(voting="hard").fit(X, y)
    whole = ensemble.predict_proba(X)
    monkeypatch.setattr("skliquid.fitted.fitted_votes._NUMBERS_AT_ONCE", 100)
    assert np.array_equal(ensemble.predict_proba(X), whole)
    monkeypatch.setattr("skliquid.fitted.fitted_votes._ROWS_AT_ONCE", 7)
    assert np.array_equal(ensemble.predict_proba(X), whole)


def test_a_prediction_leaves_no_rows_behind(binary):
    X, y = binary
    ensemble, many = LiquidEnsembleClassifier(random_state=0).fit(X, y), np.tile(X, (100, 1))
    ensemble.predict(many[:10])
    tracemalloc.start()
    ensemble.predict(many)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < many.nbytes / 10


def test_an_ensemble_must_be_fitted_before_it_predicts(binary):
    for method in ("predict", "predict_proba", "decision_function"):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(small(), method)(binary[0])


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_what_training_leaves_exists_only_after_training(binary, name):
    ensemble = small()
    assert not hasattr(ensemble, name)
    with pytest.raises(AttributeError, match=f"{name} exists only after training: call fit"):
        getattr(ensemble, name)
    assert getattr(ensemble.fit(*binary), name) is not None
    with pytest.raises(AttributeError):
        setattr(ensemble, name, None)


def test_one_class_is_seen_but_not_trained_on(binary):
    X, y = binary
    ensemble = small().partial_fit(X[y == 1], y[y == 1])
    assert ensemble.n_samples_seen_ == sum(y == 1)
    assert not hasattr(ensemble, "estimators_")
    with pytest.raises(NotFittedError, match=r"rows so far, .* one class at most. Continue with"):
        ensemble.predict(X)


def test_a_pickled_ensemble_of_trees_does_not_carry_the_data(binary):
    X, y = binary
    ensemble = small(DecisionTreeClassifier(max_depth=1), n_estimators=4, n_final=2).fit(X, y)
    assert len(pickle.dumps(ensemble)) < X.nbytes / 2


def test_a_pickled_ensemble_carries_its_representatives_only(digits):
    ensemble = small(n_estimators=60, n_final=2).fit(*digits)
    alone = len(pickle.dumps(ensemble.estimators_))
    assert len(pickle.dumps(ensemble._fitted.training.pool)) < 3 * alone
    stream = small(n_estimators=60, n_final=2, delegation_rate=1.0)
    stream.partial_fit(*digits, classes=range(10))
    assert len(pickle.dumps(stream._fitted.training.pool)) < 3 * alone


# Classes that are announced, or found while streaming


def rows(y, start=0):
    X = np.arange(start, start + len(y), dtype=float)[:, None]
    return Rows(X, np.array(y), None, range(start, start + len(y)))


def test_classes_are_those_found_so_far():
    _, classes, found = resolve_classes(rows(["b", "a", "b"]), None, None, None)
    assert classes.tolist() == ["a", "b"]
    assert resolve_classes(rows(["c"]), None, classes, found)[1].tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="Mix of label input types"):
        resolve_classes(rows([0, 1]), None, classes, found)


def test_classes_that_were_announced_are_not_discovered():
    given = rows([0, 1])
    to_train, classes, found = resolve_classes(given, [0, 1, 2], None, None)
    assert (to_train, found) == (given, None)
    assert classes.tolist() == [0, 1, 2]
    assert resolve_classes(given, None, classes, None)[1] is classes


def test_rows_are_kept_until_there_are_two_classes_and_trained_on_then():
    to_train, classes, found = resolve_classes(rows([0, 0]), None, None, None)
    assert classes.tolist() == [0]
    later = rows([1], 2)
    to_train, classes, found = resolve_classes(later, None, None, found)
    assert to_train.y.tolist() == [0, 0, 1]
    assert classes.tolist() == [0, 1]
    more, classes, found = resolve_classes(later, None, classes, found)
    assert more is later
    assert found.rows.y.tolist() == [0, 0, 1, 1]


# Notebooks


def test_a_fitted_ensemble_says_in_one_sentence_what_was_learned(binary):
    ensemble = LiquidEnsembleClassifier(random_state=0)
    assert "representatives after" not in ensemble._repr_html_()
    ensemble.fit(*binary)
    sentence = "Of 24 voters 5 are left as representatives after 3 increments"
    assert sentence in ensemble._repr_html_()
    assert sentence in ensemble._repr_mimebundle_()["text/html"]


def test_the_sentence_is_left_out_where_text_is_asked_for(binary):
    ensemble = LiquidEnsembleClassifier(random_state=0).fit(*binary)
    with sklearn.config_context(display="text"):
        assert set(ensemble._repr_mimebundle_()) == {"text/plain"}


def test_a_pruned_ensemble_shows_itself_too(binary):
    forest = RandomForestClassifier(20, random_state=0).fit(*binary)
    assert "Of 20 voters" in prune(forest, *binary, n_final=4, random_state=0)._repr_html_()


def test_the_diagram_links_to_the_docs_if_their_address_is_known(binary, monkeypatch):
    monkeypatch.setattr(fitted_votes, "documentation", lambda: "https://docs.example")
    link = LiquidEnsembleClassifier()._get_doc_link()
    assert link.startswith("https://docs.example/")
    assert "LiquidEnsembleClassifier" in link
    monkeypatch.setattr(fitted_votes, "documentation", lambda: "")
    assert LiquidEnsembleClassifier()._get_doc_link() == ""


@pytest.mark.parametrize(
    ("addresses", "expected"),
    [
        (["Source, https://s", "Documentation, https://d/"], "https://d"),
        (["Source, https://s"], ""),
        (None, ""),
    ],
    ids=["known", "another", "none"],
)
def test_the_address_of_the_docs_comes_from_the_package_s_metadata(
    addresses, expected, monkeypatch
):
    class Metadata:
        def get_all(self, name):
            return addresses if name == "Project-URL" else None

    monkeypatch.setattr(fitted_votes, "metadata", lambda name: Metadata())
    assert fitted_votes.documentation.__wrapped__() == expected
