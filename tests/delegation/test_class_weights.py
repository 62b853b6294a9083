import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.class_weight import compute_sample_weight
from small_ensembles import FEW_X, FEW_Y, of_four, parts, same, small

from skliquid import LiquidEnsembleClassifier, revocable
from skliquid.delegation.class_weights import ClassCounts, with_class_weights
from skliquid.delegation.competence import MEASURES
from skliquid.delegation.rows import Rows
from skliquid.delegation.votes import VOTINGS

NAMES = np.array(["no", "perhaps", "yes"])
TREES_AND_LINES = [("tree", DecisionTreeClassifier(max_depth=3)), ("line", SGDClassifier())]
labels = st.lists(st.integers(0, 2), min_size=1, max_size=30).map(np.array)


def weighted(y, class_weight, sample_weight=None):
    rows = Rows(np.zeros((len(y), 1)), y, sample_weight)
    return with_class_weights(rows, class_weight, ClassCounts().plus(y)).sample_weight


def imbalanced(n_rows=1500, n_features=4, share=0.05, distance=1.6, seed=0):
    """Return rows of two classes that overlap, of which one is rare."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n_rows) < share).astype(int)
    return rng.normal(size=(n_rows, n_features)) + distance / 2 * y[:, None], y


# Weights


@given(labels)
def test_balanced_weights_are_those_of_scikit_learn(y):
    for named in (y, NAMES[y], NAMES[y].astype(object), y == 1):
        assert np.array_equal(weighted(named, "balanced"), compute_sample_weight("balanced", named))


@given(labels, st.floats(1e-3, 1e6), st.floats(1e-3, 1e6))
def test_weights_of_a_dict_are_those_of_scikit_learn(y, of_no, of_yes):
    chosen = {"no": of_no, "yes": of_yes}
    present = {label: weight for label, weight in chosen.items() if label in NAMES[y]}
    found = weighted(NAMES[y], chosen)
    assert np.array_equal(found, compute_sample_weight(present, NAMES[y]))


@given(labels)
def test_weights_of_classes_multiply_those_of_rows(y):
    own = np.linspace(0.5, 2, len(y))
    for class_weight in ("balanced", {0: 3, 2: 0.25}):
        expected = weighted(y, class_weight) * own
        assert np.array_equal(weighted(y, class_weight, own), expected)


def test_rows_of_weight_zero_are_left_out_and_not_counted():
    y, own = np.array([0, 0, 0, 1, 2, 2]), np.array([0.0, 1.0, 1.0, 1.0, 0.0, 0.0])
    rows = Rows(np.arange(6)[:, None], y, own)
    balanced = with_class_weights(rows, "balanced")
    assert (balanced.X.ravel().tolist(), balanced.y.tolist()) == ([1, 2, 3], [0, 0, 1])
    assert balanced.sample_weight.tolist() == [0.75, 0.75, 1.5]
    assert with_class_weights(rows, {0: 0, 1: 2.0}).X.tolist() == [[3]]


def test_balanced_weights_may_count_other_rows():
    counts = ClassCounts().plus(np.array([0, 0, 0, 0, 1, 2]))
    rows = Rows(np.zeros((2, 1)), np.array([2, 0]))
    assert with_class_weights(rows, "balanced", counts).sample_weight.tolist() == [2.0, 0.5]


def test_without_class_weights_rows_stay_as_they_are():
    rows = Rows(np.zeros((2, 1)), np.array([0, 1]), np.array([1.0, 2.0]))
    assert with_class_weights(rows, None, ClassCounts()) is rows


@given(st.lists(labels, min_size=1, max_size=5))
def test_counts_are_those_of_all_rows_at_once(increments):
    for kind in (np.asarray, NAMES.__getitem__, NAMES.astype(object).__getitem__):
        counts = ClassCounts()
        for y in increments:
            counts = counts.plus(kind(y))
        classes, n_rows = np.unique(kind(np.concatenate(increments)), return_counts=True)
        assert np.array_equal(counts.labels, classes)
        assert np.array_equal(counts.n_rows, n_rows)
        assert counts.n_rows.dtype == np.int64


def test_counts_do_not_change_when_there_are_more():
    before = ClassCounts().plus(np.array([0, 1]))
    after = before.plus(np.array([1, 2]))
    assert (before.n_rows.tolist(), after.n_rows.tolist()) == ([1, 1], [1, 2, 1])


def test_longer_names_come_later():
    counts = ClassCounts().plus(np.array(["b"])).plus(np.array(["a long one", "b"]))
    assert counts.labels.tolist() == ["a long one", "b"]
    assert counts.n_rows.tolist() == [1, 2]


# Errors


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ({0: -1.0}, r"numbers of zero or more: got -1.0 for the class 0. Give a number like 10"),
        ({0: np.nan}, "finite numbers of zero or more: got nan for the class 0"),
        ({1: np.inf}, "finite numbers of zero or more: got inf for the class 1"),
        ({1: "heavy"}, "finite numbers of zero or more: got 'heavy' for the class 1"),
        ({1: None}, "finite numbers of zero or more: got None for the class 1"),
        ({"yes": 2}, r"classes of y only: got a weight for 'yes', and the classes are \[0, 1\]"),
        ({0: 1, 2: 2}, r"classes of y only: got a weight for 2, and the classes are \[0, 1\]"),
        ("balance", "'balanced'.*'balance'"),
        ("balanced_subsample", "'balanced'.*'balanced_subsample'"),
        ([1, 2], r"'balanced'.*\[1, 2\]"),
        (2.0, "'balanced'.*2.0"),
    ],
)
def test_wrong_class_weights_are_refused(class_weight, message):
    with pytest.raises(ValueError, match=f"class_weight.*{message}"):
        of_four(SGDClassifier(), class_weight=class_weight).fit(FEW_X, FEW_Y)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 2}, {}])
def test_voters_that_cannot_use_class_weights_are_refused(class_weight):
    voters = [("tree", DecisionTreeClassifier()), ("near", KNeighborsClassifier())]
    for call in ("fit", "partial_fit"):
        ensemble = of_four(voters, class_weight=class_weight)
        with pytest.raises(ValueError, match=r"class_weight must not .*: KNeighborsClassifier.fit"):
            getattr(ensemble, call)(FEW_X, FEW_Y)


@pytest.mark.parametrize("class_weight", [{0: 0}, {0: 0.0, 1: 0.0}])
def test_a_weight_is_left_for_two_classes(class_weight):
    with pytest.raises(ValueError, match="weight"):
        of_four(SGDClassifier(), class_weight=class_weight).fit(FEW_X, FEW_Y)


# In an ensemble

VOTERS = [
    SGDClassifier(),
    SGDClassifier("log_loss", average=True),
    DecisionTreeClassifier(max_depth=3),
    GaussianNB(),
    TREES_AND_LINES,
]


@pytest.mark.parametrize("voter", VOTERS, ids=str)
@pytest.mark.parametrize("class_weight", ["balanced", {"no": 0.5, "yes": 4}], ids=str)
@pytest.mark.parametrize("final_fit", [True, False])
def test_class_weights_are_sample_weights(multiclass, voter, class_weight, final_fit):
    X, y = multiclass[0][20:], NAMES[multiclass[1][20:]]
    options = {"competence": "contribution", "max_features": 0.5, "increment_size": 40}
    make = partial(small, voter, final_fit=final_fit, **options)
    by_class = make(class_weight=class_weight).fit(X, y)
    by_row = make().fit(X, y, sample_weight=compute_sample_weight(class_weight, y))
    assert same(by_class, by_row, X)
    assert by_class.temperature_ == by_row.temperature_
    assert not same(by_class, make().fit(X, y), X)


@pytest.mark.parametrize("competence", MEASURES)
@pytest.mark.parametrize("voting", VOTINGS)
@pytest.mark.parametrize("bootstrap", [False, True])
def test_class_weights_multiply_sample_weights(binary, competence, voting, bootstrap):
    X, y = binary
    own = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 3.0], len(y))
    options = {"competence": competence, "voting": voting, "bootstrap": bootstrap}
    by_class = small(class_weight="balanced", **options).fit(X, y, sample_weight=own)
    counted = own > 0  # rows of weight zero are left out
    weights = np.zeros(len(y))
    weights[counted] = own[counted] * compute_sample_weight("balanced", y[counted])
    assert same(by_class, small(**options).fit(X, y, sample_weight=weights), X)


def test_class_weights_have_the_same_bits_in_every_pool(multiclass):
    X, y = multiclass
    options = {"class_weight": {0: 0.1, 1: 5}, "competence": "contribution"}
    ours, theirs = (small(SGDClassifier(), pool=pool, **options) for pool in ("auto", "estimator"))
    assert same(ours.fit(X, y), theirs.fit(X, y), X)


@pytest.mark.parametrize("voter", [SGDClassifier(), DecisionTreeClassifier(max_depth=2)], ids=str)
@pytest.mark.parametrize("mechanism", ["proportional_weighted", revocable("max")], ids=["", "back"])
def test_a_stream_is_balanced_by_the_rows_so_far(binary, voter, mechanism):
    X, y = binary
    options = {"competence": "contribution", "mechanism": mechanism, "delegation_rate": 0.2}
    by_class, by_row = small(voter, class_weight="balanced", **options), small(voter, **options)
    for seen, (rows, own) in enumerate(parts(X[:420], y[:420], 70), start=1):
        so_far = compute_sample_weight("balanced", y[: 70 * seen])[-len(own) :]
        by_class.partial_fit(rows, own)
        by_row.partial_fit(rows, own, sample_weight=so_far)
        assert same(by_class, by_row, X)


def test_rows_of_weight_zero_do_not_count_in_a_stream(binary):
    X, y = binary
    own = np.random.default_rng(1).choice([0.0, 1.0], len(y))
    options = {"class_weight": "balanced", "competence": "contribution"}
    all_rows, some_rows = small(**options), small(**options)
    for cut in (slice(0, 100), slice(100, 250), slice(250, 400)):
        kept = own[cut] > 0
        all_rows.partial_fit(X[cut], y[cut], [0, 1], sample_weight=own[cut])
        some_rows.partial_fit(X[cut][kept], y[cut][kept], [0, 1], sample_weight=np.ones(kept.sum()))
    assert same(all_rows, some_rows, X)


def test_classes_may_come_one_after_the_other_in_a_balanced_stream(multiclass):
    X, y = multiclass
    order = np.argsort(y, kind="stable")
    X, y = X[order], NAMES[y[order]]
    ensemble = small(class_weight="balanced", competence="contribution")
    for rows, own in parts(X, y, 30):
        ensemble.partial_fit(rows, own)
    assert ensemble.classes_.tolist() == NAMES.tolist()
    assert np.isfinite(ensemble.predict_proba(X)).all()


def test_the_weight_of_a_class_that_has_not_come_yet_may_be_given_to_a_stream(binary):
    X, y = binary
    ensemble = small(class_weight={0: 1, 1: 2, 2: 9}, competence="contribution")
    ensemble.partial_fit(X[:100], y[:100]).partial_fit(X[100:200], y[100:200])
    assert ensemble.score(X, y) > 0.8


@pytest.mark.parametrize("voter", [SGDClassifier(), DecisionTreeClassifier(max_depth=3)], ids=str)
def test_a_class_of_weight_zero_is_left_out(multiclass, voter):
    X, y = multiclass
    options = {"competence": "contribution"}
    left_out = small(voter, class_weight={1: 0}, **options).fit(X, y)
    weights = np.where(y == 1, 0.0, 1.0)
    assert left_out.classes_.tolist() == [0, 2]
    assert same(left_out, small(voter, **options).fit(X, y, sample_weight=weights), X)
    rest = small(voter, **options).fit(X[y != 1], y[y != 1], sample_weight=weights[y != 1])
    assert same(left_out, rest, X)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 0.3, 1: 8}, {1: 0}], ids=str)
def test_a_refit_is_weighted_as_the_final_fit_was(multiclass, class_weight):
    X, y = multiclass
    ensemble = small(class_weight=class_weight, competence="contribution").fit(X, y)
    before = ensemble.predict_proba(X)
    assert np.array_equal(ensemble.refit(X, y).predict_proba(X), before)


# What they are for


@pytest.mark.parametrize(
    ("voter", "least"),
    [
        (SGDClassifier("log_loss"), 0.75),
        (SGDClassifier(), 0.75),
        (GaussianNB(), 0.75),
        (DecisionTreeClassifier(max_depth=3), 0.65),
    ],
    ids=str,
)
@pytest.mark.parametrize("voting", VOTINGS)
@pytest.mark.filterwarnings("ignore:The ensemble predicted the class")
def test_balanced_classes_raise_balanced_accuracy(voter, least, voting):
    X, y = imbalanced(2500)
    scores = {}
    for class_weight in (None, "balanced"):
        options = {"competence": "contribution", "increment_size": 150, "voting": voting}
        ensemble = small(voter, class_weight=class_weight, **options).fit(X[:1500], y[:1500])
        scores[class_weight] = balanced_accuracy_score(y[1500:], ensemble.predict(X[1500:]))
    assert scores["balanced"] > scores[None] + 0.09
    assert scores["balanced"] > least


class SaysOneClass(GaussianNB):
    """A voter that always says the class with the number of its seed's parity."""

    def __init__(self, random_state=None):
        super().__init__()
        self.random_state = random_state

    def predict_proba(self, X):
        return np.tile(np.eye(2)[self.random_state % 2] * 0.8 + 0.1, (len(X), 1))

    def predict(self, X):
        return np.full(len(X), self.random_state % 2)


@pytest.mark.parametrize("competence", MEASURES)
@pytest.mark.parametrize("given", ["sample_weight", "class_weight"])
@pytest.mark.filterwarnings("ignore:The ensemble predicted the class")
def test_weights_decide_which_voter_is_the_weaker(competence, given):
    """Of two kinds of voters, each knows one class; those of the lighter class delegate."""
    X, y = np.zeros((400, 1)), np.arange(400) % 2
    for heavy in (0, 1):
        weights = np.where(y == heavy, 3.0, 1.0)
        ensemble = LiquidEnsembleClassifier(
            SaysOneClass(),
            n_estimators=12,
            n_final=1,
            mechanism="max",
            competence=competence,
            increment_size=80,
            class_weight={heavy: 3.0} if given == "class_weight" else None,
            random_state=0,
        )
        ensemble.fit(X, y, sample_weight=weights if given == "sample_weight" else None)
        assert {voter.random_state % 2 for voter in ensemble.estimators_} == {heavy}


# The warning that one class always wins


def lost(n_rows=600):
    """Return rows of two classes that nobody can tell apart, of which one is rare."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n_rows, 2)), np.where(np.arange(n_rows) % 20 == 0, "rare", "usual")


TREE = DecisionTreeClassifier(max_depth=1)


@pytest.mark.parametrize("competence", ["contribution", "prequential"])
@pytest.mark.parametrize("voting", VOTINGS)
def test_an_ensemble_that_always_says_the_same_warns(competence, voting):
    ensemble = small(TREE, competence=competence, voting=voting, increment_size=75)
    X, y = lost()
    with pytest.warns(UserWarning, match="predicted the class usual for all 525 rows") as caught:
        ensemble.fit(X, y)
    assert len(caught) == 1
    message = str(caught[0].message)
    asked = np.concatenate([step.rows for step in ensemble.record_[1:]])
    assert f"the rows are {np.mean(y[asked] == 'usual'):.1%} usual, " in message
    assert f"{np.mean(y[asked] == 'rare'):.1%} rare." in message
    assert "class_weight='balanced'" in message
    assert "TunedThresholdClassifierCV" in message
    assert caught[0].filename == __file__


def test_a_hundred_answers_are_enough_to_warn():
    with pytest.warns(UserWarning, match="predicted the class usual for all 100 rows"):
        small(TREE, competence="contribution", increment_size=500).fit(*lost())


def test_the_most_common_classes_are_named():
    X, _ = lost(800)
    y = np.where(np.arange(800) % 4 == 0, np.arange(800) % 7, 9)
    voter = DummyClassifier(strategy="most_frequent")
    with pytest.warns(UserWarning, match=r"rows are 7\d.\d% 9(, \d.\d% \d){4} and others. If the"):
        small(voter, competence="contribution", increment_size=100).fit(X, y)


@pytest.mark.parametrize(
    "options",
    [
        {"class_weight": "balanced", "competence": "contribution"},
        {"class_weight": {"rare": 20}, "competence": "prequential"},
        {"competence": "training"},
        {"competence": "contribution", "increment_size": 600},  # nothing was asked before
        {"competence": "contribution", "increment_size": 501},  # 99 rows are too few to tell
    ],
    ids=str,
)
def test_no_warning_where_there_is_no_reason(options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small(TREE, **{"increment_size": 75} | options).fit(*lost())


def test_no_warning_when_both_classes_are_predicted(binary):
    X, y = binary
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small(TREE, competence="contribution", increment_size=75).fit(X, y)
        rare = np.flatnonzero((y == 1) | (np.arange(len(y)) % 5 == 0))
        small(TREE, competence="contribution", increment_size=75).fit(X[rare], y[rare])
