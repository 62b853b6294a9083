import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import expit
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import RadiusNeighborsClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from skliquid import LiquidEnsembleClassifier, prune
from skliquid.pools.predictions import (
    logistic,
    margins_of,
    probabilities_of,
    stack_predictions,
    votes_of,
)


class Says:
    def __init__(self, labels):
        self.labels = labels

    def predict(self, X):
        return self.labels


def votes(labels, classes, n_rows=3):
    return votes_of(Says(labels), np.zeros((n_rows, 1)), classes).tolist()


@pytest.mark.parametrize(
    ("classes", "labels"),
    [
        (np.array([3, 5]), np.array([5, 3, 5])),
        (np.array([3, 5]), np.array([5.0, 3.0, 5.0])),
        (np.array([3, 5]), np.array([5, 3, 5], dtype=object)),
        (np.array([3, 5]), pd.Series([5, 3, 5], dtype="Int64")),
        (np.array([3.0, 5.0]), np.array([5, 3, 5], dtype=np.uint8)),
        (np.array([False, True]), np.array([True, False, True])),
        (np.array([False, True]), np.array([1, 0, 1])),
        (np.array(["ja", "nein"]), np.array(["nein", "ja", "nein"], dtype="<U9")),
        (np.array(["ja", "nein"]), np.array(["nein", "ja", "nein"], dtype=object)),
        (np.array(["ja", "nein"], dtype=object), np.array(["nein", "ja", "nein"])),
        (np.array(["ja", "nein"]), pd.Categorical(["nein", "ja", "nein"])),
        (np.array([3, 5]), [[5], [3], [5]]),
        (np.array(["ja", "nein"]), pd.DataFrame({"y": ["nein", "ja", "nein"]})),
    ],
)
def test_labels_are_found_among_the_classes(classes, labels):
    assert votes(labels, classes) == [1, 0, 1]


@pytest.mark.parametrize(
    ("classes", "label"),
    [
        (np.array([3, 5]), 4),
        (np.array([3, 5]), 2),
        (np.array([3, 5]), 6),
        (np.array([3, 5]), np.nan),
        (np.array([3, 5]), "5"),
        (np.array([3, 5]), None),
        (np.array([False, True]), 2),
        (np.array([False, True]), "True"),
        (np.array(["ja", "nein"]), "nei"),
        (np.array(["ja", "nein"]), "neins"),
        (np.array(["ja", "nein"], dtype=object), np.nan),
        (np.array(["ja", "nein"], dtype=object), pd.NA),
    ],
)
def test_labels_that_are_no_class_are_refused(classes, label):
    with pytest.raises(ValueError, match=r"known classes only: Says predicts .* is not among \["):
        votes([label], classes, n_rows=1)


@pytest.mark.parametrize("shape", [(), (2,), (1, 3), (3, 2), (3, 1, 1)])
def test_there_is_one_label_for_each_row(shape):
    with pytest.raises(ValueError, match="one label for each row: Says gives an array of shape"):
        votes(np.ones(shape), np.array([0, 1]))


@pytest.mark.parametrize("outlier", [-1, 99])
@pytest.mark.filterwarnings("ignore:Outlier label")
def test_outliers_are_no_class_of_an_ensemble(multiclass, outlier):
    X, y = multiclass
    voter = RadiusNeighborsClassifier(radius=4.0, outlier_label=outlier)
    options = {"voting": "hard", "competence": "prequential"}
    trained = LiquidEnsembleClassifier(voter, n_estimators=3, n_final=2, **options).fit(X, y)
    pruned = prune([voter.fit(X, y)], X, y, n_final=1, **options)
    for ensemble in (trained, pruned):
        with pytest.raises(ValueError, match=f"RadiusNeighborsClassifier predicts {outlier}, "):
            ensemble.predict_proba(100 * X)


# Probabilities and margins

CLASSES = np.array(["ant", "bee", "cat", "dog"])
NUMBERS = np.arange(4)


def of_classes(rows, *chosen, names=CLASSES):
    """Return rows of these of three classes, and their names."""
    X, y = rows
    is_chosen = np.isin(y, chosen)
    return X[is_chosen], names[y[is_chosen]]


@pytest.mark.parametrize("names", [CLASSES, CLASSES.astype(object), NUMBERS, NUMBERS * 2.0])
@pytest.mark.parametrize("chosen", [(0, 1, 2), (0, 2), (1, 2)], ids=str)
@pytest.mark.parametrize("voter", [GaussianNB(), DecisionTreeClassifier(max_depth=2)], ids=str)
def test_probabilities_stand_in_the_columns_of_their_classes(multiclass, voter, chosen, names):
    X, _ = multiclass
    voter.fit(*of_classes(multiclass, *chosen, names=names))
    found = probabilities_of(voter, X, names)
    assert found.shape == (len(X), 4)
    assert np.array_equal(found[:, chosen], voter.predict_proba(X))
    assert not found[:, [k for k in range(4) if k not in chosen]].any()
    assert np.array_equal(names[found.argmax(axis=1)], voter.predict(X))


def test_probabilities_of_all_classes_are_those_of_the_voter(multiclass):
    X, y = multiclass
    voter = LogisticRegression().fit(X, y)
    assert np.array_equal(probabilities_of(voter, X, np.arange(3)), voter.predict_proba(X))


@pytest.mark.parametrize("strategy", ["prior", "most_frequent", "uniform"])
def test_a_voter_of_one_class_is_sure_of_it(strategy):
    voter = DummyClassifier(strategy=strategy).fit(np.zeros((3, 1)), ["cat"] * 3)
    assert probabilities_of(voter, np.zeros((2, 1)), CLASSES).tolist() == [[0, 0, 1, 0]] * 2
    assert margins_of(voter, np.zeros((2, 1)), CLASSES).tolist() == [[0, 0, 0, 0]] * 2


@pytest.mark.parametrize(
    "voter", [LinearSVC(), RidgeClassifier(), SVC(), SGDClassifier(random_state=0)], ids=str
)
def test_margins_of_two_classes_pass_a_logistic(binary, voter):
    X, y = binary
    names = CLASSES[:2]
    voter.fit(X, names[y])
    decision = voter.decision_function(X)
    expected = np.stack([1 - expit(decision), expit(decision)], axis=1)
    assert np.array_equal(probabilities_of(voter, X, names), expected)
    assert np.array_equal(margins_of(voter, X, names), np.stack([-decision, decision], axis=1))


@pytest.mark.parametrize("voter", [LinearSVC(), RidgeClassifier(), SVC()], ids=str)
def test_margins_of_several_classes_pass_a_logistic_each(multiclass, voter):
    X, y = multiclass
    names = CLASSES[:3]
    voter.fit(X, names[y])
    decision = voter.decision_function(X)
    expected = expit(decision) / expit(decision).sum(axis=1, keepdims=True)
    found = probabilities_of(voter, X, names)
    np.testing.assert_allclose(found, expected, rtol=1e-15)
    assert np.array_equal(margins_of(voter, X, names), decision)
    assert np.array_equal(names[found.argmax(axis=1)], voter.predict(X))


@pytest.mark.parametrize("chosen", [(0, 2), (1, 2), (0, 1, 2)], ids=str)
def test_a_voter_with_margins_gives_nothing_to_classes_it_does_not_know(multiclass, chosen):
    X, _ = multiclass
    voter = LinearSVC().fit(*of_classes(multiclass, *chosen))
    unknown = [k for k in range(4) if k not in chosen]
    found, margins = probabilities_of(voter, X, CLASSES), margins_of(voter, X, CLASSES)
    assert not found[:, unknown].any()
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert np.array_equal(CLASSES[found.argmax(axis=1)], voter.predict(X))
    assert np.array_equal(CLASSES[margins.argmax(axis=1)], voter.predict(X))
    assert margins[:, chosen].min() > margins[:, unknown].max()


def test_margins_of_one_against_one_are_not_margins_of_classes(digits):
    X, y = digits
    voter = SVC(decision_function_shape="ovo").fit(X, y)
    assert voter.decision_function(X).shape[1] == 45
    found = probabilities_of(voter, X, np.arange(10))
    assert np.array_equal(found, np.eye(10)[voter.predict(X)])
    assert not margins_of(voter, X, np.arange(10)).any()


@pytest.mark.parametrize("classes", [CLASSES[:2], CLASSES])
def test_a_voter_that_only_predicts_is_sure(classes):
    labels = np.array(["bee", "ant", "bee"])
    X = np.zeros((3, 1))
    expected = np.eye(len(classes))[[1, 0, 1]]
    assert np.array_equal(probabilities_of(Says(labels), X, classes), expected)
    assert not margins_of(Says(labels), X, classes).any()
    assert margins_of(Says(labels), X, classes).shape == (3, len(classes))


class Gives(Says):
    """A voter that answers what it is told."""

    def __init__(self, *, classes=("ant", "bee", "cat"), **answers):
        self.classes_ = np.array(classes)
        for method, answer in answers.items():
            setattr(self, method, lambda X, answer=answer: np.array(answer))


def test_a_voter_that_knows_nothing_finds_all_classes_equally_probable():
    given = [[np.nan] * 3, [0.0] * 3, [0.2, 0.8, 0.0], [np.nan, 0.5, 0.5]]
    third = [1 / 3] * 3
    found = probabilities_of(Gives(predict_proba=given), np.zeros((4, 1)), CLASSES[:3])
    assert found.tolist() == [third, third, [0.2, 0.8, 0.0], third]
    found = probabilities_of(Gives(predict_proba=given), np.zeros((4, 1)), CLASSES)
    assert found.tolist() == [[1 / 4] * 4] * 2 + [[0.2, 0.8, 0.0, 0.0]] + [[1 / 4] * 4]


def test_what_a_voter_returns_is_not_changed():
    kept = np.array([[0.0, 0.0], [0.3, 0.7]])
    voter = Gives(classes=("ant", "bee"))
    voter.predict_proba = lambda X: kept
    probabilities_of(voter, np.zeros((2, 1)), CLASSES[:2])
    assert kept.tolist() == [[0.0, 0.0], [0.3, 0.7]]


@pytest.mark.parametrize("shape", [(3,), (3, 2), (2, 3), (3, 4), (3, 3, 1)])
def test_there_is_one_probability_for_each_row_and_class(shape):
    voter = Gives(predict_proba=np.ones(shape))
    with pytest.raises(
        ValueError, match=r"one probability for each row and class: Gives gives .*voting='hard'"
    ):
        probabilities_of(voter, np.zeros((3, 1)), CLASSES)


def test_there_is_one_margin_for_each_row_and_class():
    voter = Gives(decision_function=np.ones((2, 3)))
    with pytest.raises(
        ValueError, match=r"one margin for each row and class: Gives gives .*\(2, 3\) for 3 rows"
    ):
        probabilities_of(voter, np.zeros((3, 1)), CLASSES)


@pytest.mark.parametrize("method", ["predict_proba", "decision_function"])
def test_classes_that_the_ensemble_does_not_know_are_refused(method):
    voter = Gives(classes=("ant", "bee", "cow"), **{method: np.ones((1, 3))})
    with pytest.raises(ValueError, match="known classes only: Gives predicts 'cow', which is not"):
        probabilities_of(voter, np.zeros((1, 1)), CLASSES)


def test_rows_may_be_a_list_of_texts():
    voter = Gives(classes=("ant", "bee"), decision_function=[0.0, 2.0])
    found = probabilities_of(voter, ["a text", "another"], CLASSES[:2])
    np.testing.assert_allclose(found[:, 1], [0.5, 1 / (1 + np.exp(-2))])


numbers = st.floats(-30, 30)


@given(arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(3, 6)), elements=numbers))
def test_a_logistic_gives_probabilities_in_the_order_of_margins(margins):
    found = logistic(margins.copy())
    np.testing.assert_allclose(found.sum(axis=1), 1)
    for before, after in zip(margins, found, strict=True):
        assert np.all(np.diff(after[np.argsort(before)]) >= 0)


def test_a_logistic_is_the_one_of_sgd_with_log_loss(multiclass, binary):
    for X, y in (multiclass, binary):
        voter = SGDClassifier("log_loss", random_state=0).fit(X, y)
        assert np.array_equal(logistic(voter.decision_function(X)), voter.predict_proba(X))
    assert logistic(np.array([[-1e5, -1e6, -1e5]])).tolist() == [[1 / 3] * 3]


def test_answers_are_laid_out_by_rows_whatever_a_voter_gives():
    answers = np.random.default_rng(0).random((2, 5, 3))
    found = stack_predictions([np.asfortranarray(answer) for answer in answers])
    assert found.flags.c_contiguous
    assert np.array_equal(found, answers)
