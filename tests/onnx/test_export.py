import subprocess
import sys

import numpy as np
import onnx
import pytest
import scipy.special
from onnx_runtime import assert_same, inputs_of, run, session_of
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
)
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PowerTransformer, StandardScaler
from small_ensembles import small

import skliquid
from skliquid import Diversity, LiquidEnsembleClassifier, Mechanism, prune, to_onnx
from skliquid.mechanisms import MECHANISMS
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier, TreeVoter
from skliquid.voters.growing import sum_trees

VOTERS = {
    "hinge": SGDClassifier(loss="hinge"),
    "log_loss": SGDClassifier(loss="log_loss"),
    "modified_huber": SGDClassifier(loss="modified_huber"),
    "squared_hinge": SGDClassifier(loss="squared_hinge", max_iter=5, tol=None),
    "average": SGDClassifier(loss="log_loss", average=True),
    "perceptron": Perceptron(),
    "forest": RandomizedForestClassifier(4),
    "boosted": BoostedTreesClassifier(8),
}
MAPS = {
    "rows": None,
    "fourier": "fourier",
    "waves": [make_pipeline(StandardScaler(), RBFSampler(gamma=0.1, n_components=20))],
}
LABELS = {
    2: np.array(["no", "yes"]),
    4: np.array([-3, 0, 7, 12]),
}
LOGISTIC = SGDClassifier(loss="log_loss")
FEW = {"n_estimators": 6, "n_final": 3, "random_state": 0, "increment_size": 50}


def data(n_classes, n_rows=200):
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(n_rows, 5)) * [1, 2, 1, 0.5, 1] + [0, 3, 0, 0, -1]
    scores = X[:, 0] + np.sin(X[:, 1]) * X[:, 2]
    y = np.digitize(scores, np.quantile(scores, np.arange(1, n_classes) / n_classes))
    return X, LABELS[n_classes][y]


@pytest.fixture(scope="module")
def two():
    return data(2)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("feature_maps", MAPS)
@pytest.mark.parametrize("voter", VOTERS)
def test_every_combination_predicts_the_same(voter, feature_maps, n_classes):
    X, y = data(n_classes)
    diversity = Diversity(feature_maps=MAPS[feature_maps])
    ensemble = LiquidEnsembleClassifier(VOTERS[voter], diversity=diversity, **FEW)
    ensemble.fit(X[:150], y[:150])
    for voting in ("soft", "hard"):
        ensemble.set_params(voting=voting)
        for dtype in ("float64", "float32"):
            assert_same(ensemble, X.astype(dtype), dtype=dtype)


@pytest.mark.parametrize("voter", VOTERS)
def test_voters_with_subspaces_predict_the_same(voter, two):
    assert_same(LiquidEnsembleClassifier(VOTERS[voter], max_features=0.6, **FEW).fit(*two), two[0])


@pytest.mark.parametrize("name", ["binary", "multiclass", "digits"])
def test_the_default_ensemble_predicts_the_same(name, request):
    X, y = request.getfixturevalue(name)
    ensemble = LiquidEnsembleClassifier(random_state=0).fit(X[::2], y[::2])
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    assert_same(ensemble, X)


def test_an_ensemble_that_was_trained_on_float32_predicts_as_for_the_same_rows_in_float64(two):
    X = two[0].astype(np.float32)
    ensemble = LiquidEnsembleClassifier(random_state=0).fit(X, two[1])
    options = {"tolerance": 1e-6}  # linear voters compute with coefficients in float32
    assert_same(ensemble, X, dtype="float32", **options)
    assert_same(ensemble, X.astype(np.float64), **options)


def test_an_ensemble_of_a_stream_predicts_the_same(two):
    X, y = two
    ensemble = LiquidEnsembleClassifier.for_streams(n_estimators=9, random_state=0)
    for start in range(0, 200, 50):
        ensemble.partial_fit(X[start : start + 50], y[start : start + 50], classes=LABELS[2])
    assert_same(ensemble, X)


@pytest.mark.parametrize(
    ("labels", "dtype"),
    [
        (np.array(["no", "yes"]), object),
        (np.array(["é", "ü"], dtype=object), object),
        (np.array([False, True]), np.bool_),
        (np.array([3, 2**40]), np.int64),
        (np.array([0, 200], dtype=np.uint8), np.int64),
        (np.array([1.0, 2.0]), np.float64),
    ],
)
def test_labels_keep_their_type(two, labels, dtype):
    X, y = two
    ensemble = small().fit(X, labels[(y == "yes").astype(int)])
    found, _ = run(to_onnx(ensemble), X)
    assert found.dtype == dtype
    assert found.tolist() == ensemble.predict(X).tolist()


def test_a_pipeline_takes_rows_before_its_scalers(two):
    X, y = two
    model = make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), small())).fit(X, y)
    assert_same(model, X)


@pytest.mark.parametrize("voter_class", [RandomizedForestClassifier, BoostedTreesClassifier])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_voter_made_of_trees_can_be_a_model(voter_class, n_classes):
    X, y = data(n_classes)
    assert_same(voter_class(random_state=0).fit(X, y), X)
    assert_same(make_pipeline(StandardScaler(), voter_class(random_state=0)).fit(X, y), X)


def test_a_model_says_who_made_it_and_what_it_takes(two):
    model = to_onnx(small().fit(*two), dtype="float32")
    onnx.checker.check_model(model, full_check=True)
    assert (model.producer_name, model.producer_version) == ("skliquid", skliquid.__version__)
    session = session_of(model)
    assert [(i.name, i.type, i.shape[1]) for i in session.get_inputs()] == [
        ("X", "tensor(float)", 5)
    ]
    outputs = [(o.name, o.type) for o in session.get_outputs()]
    assert outputs == [("label", "tensor(string)"), ("probabilities", "tensor(double)")]


def test_the_same_model_gives_the_same_bytes(two):
    ensemble = LiquidEnsembleClassifier(random_state=0).fit(*two)
    first, second = (to_onnx(ensemble).SerializeToString(deterministic=True) for _ in range(2))
    assert first == second


def test_one_row_is_predicted_as_many_are(two):
    ensemble = LiquidEnsembleClassifier(random_state=0).fit(*two)
    session = session_of(to_onnx(ensemble))
    _, whole = session.run(None, inputs_of(session, two[0]))
    for row in range(0, 200, 20):
        _, found = session.run(None, {"X": two[0][row : row + 1]})
        np.testing.assert_allclose(found, whole[row : row + 1], rtol=0, atol=1e-12)


def test_steps_that_maps_share_are_computed_once(two):
    ensemble = LiquidEnsembleClassifier(random_state=0, n_final=24).fit(*two)
    operators = [node.op_type for node in to_onnx(ensemble).graph.node]
    assert operators.count("Sign") == 1
    assert operators.count("Sin") == 2


# Votes


@pytest.mark.parametrize("voting", ["soft", "hard"])
@pytest.mark.parametrize("weights", ["delegated", "log_odds", "delegated_log_odds"])
def test_voters_count_as_they_do_in_ours(multiclass, weights, voting):
    X, y = multiclass
    given = MECHANISMS["proportional_weighted"]
    mechanism = Mechanism(given.selection, given.probability, vote_weights=weights)
    assert_same(small(LOGISTIC, mechanism=mechanism, voting=voting).fit(X, y), X)


@pytest.mark.parametrize("name", ["binary", "multiclass"])
def test_probabilities_have_the_temperature_of_ours(name, request):
    X, y = request.getfixturevalue(name)
    noisy = np.where(np.random.default_rng(0).random(len(y)) < 0.3, y[::-1], y)
    ensemble = small(LOGISTIC, competence="prequential").fit(X, noisy)
    assert ensemble.temperature_ > 1.1
    assert_same(ensemble, X)


def test_ties_go_to_the_first_class():
    X, y = np.array([[-1.0], [1.0]] * 20), np.array([0, 1] * 20)
    voters = [SGDClassifier().fit(X, y) for _ in range(2)]
    for voter, sign in zip(voters, (-1, 1), strict=True):
        voter.coef_[:], voter.intercept_[:] = 0, sign
    pruned = prune(voters, X, y, n_final=2, voting="hard", mechanism="direct")
    labels, probabilities = run(to_onnx(pruned), X)
    assert probabilities.tolist() == pruned.predict_proba(X).tolist() == [[0.5, 0.5]] * 40
    assert labels.tolist() == pruned.predict(X).tolist() == [0] * 40


@pytest.mark.parametrize("name", ["binary", "multiclass"])
def test_voters_with_different_losses_predict_the_same(name, request):
    X, y = request.getfixturevalue(name)
    named = [(loss, SGDClassifier(loss=loss)) for loss in ("modified_huber", "log_loss", "hinge")]
    assert_same(LiquidEnsembleClassifier(named, n_estimators=6, n_final=6).fit(X, y), X)


def test_margins_far_below_zero_keep_their_order(multiclass):
    X, y = multiclass
    ensemble = small(LOGISTIC).fit(X, y)
    assert_same(ensemble, X * 1e2)
    assert_same(ensemble, X * 1e4)


@pytest.mark.parametrize("voting", ["soft", "hard"])
@pytest.mark.parametrize(
    "ensemble",
    [
        RandomForestClassifier(12, random_state=0),
        ExtraTreesClassifier(12, random_state=0),
        BaggingClassifier(n_estimators=12, max_features=0.5, bootstrap_features=True),
        BaggingClassifier(SGDClassifier(), n_estimators=12, max_samples=6, random_state=0),
        AdaBoostClassifier(n_estimators=12, random_state=0),
        LiquidEnsembleClassifier(random_state=0),
    ],
    ids=lambda ensemble: type(ensemble).__name__,
)
def test_pruned_ensembles_predict_the_same(ensemble, voting, multiclass):
    X, y = multiclass
    ensemble.fit(X[:75], y[:75])
    assert_same(prune(ensemble, X[75:], y[75:], n_final=4, voting=voting, random_state=0), X)


@pytest.mark.parametrize("method", ["greedy", "kappa", "l1"])
def test_voters_of_classical_methods_predict_the_same(method, multiclass):
    X, y = multiclass
    forest = RandomForestClassifier(12, random_state=0)
    pipeline = make_pipeline(StandardScaler(), forest).fit(X[:75], y[:75])
    for voting in ("soft", "hard"):
        small = prune(
            pipeline, X[75:], y[75:], n_final=4, method=method, voting=voting, random_state=0
        )
        assert_same(small, X)
        assert_same(small[-1], X)


def test_voters_that_know_some_classes_only_predict_the_same(multiclass):
    X, y = multiclass
    texts = np.array(["a", "b", "c"])[y]
    settings = [("hinge", y < 2), ("log_loss", y < 2), ("modified_huber", y > 0), ("hinge", y >= 0)]
    voters = [SGDClassifier(loss=loss).fit(X[seen], texts[seen]) for loss, seen in settings]
    for voting in ("soft", "hard"):
        assert_same(prune(voters, X, texts, n_final=4, voting=voting, random_state=0), X)


# Parts from outside describe their own export


class SharpForest(TreeVoter):
    """A forest whose probabilities are the softmax of the sums over its trees."""

    def __init__(
        self,
        n_estimators=4,
        max_rows=1000,
        categorical_features="from_dtype",
        class_weight=None,
        n_jobs=None,
        random_state=None,
    ):
        self.n_estimators = n_estimators
        self.max_rows = max_rows
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state

    def prepare(self, rows, n_trees, weights):
        forest = RandomizedForestClassifier(self.n_estimators, random_state=self.random_state)
        forest.start(self.classes_, self.n_features_in_)
        return forest.prepare(rows, n_trees, weights)

    grow_tasks = RandomizedForestClassifier.grow_tasks
    _widen = RandomizedForestClassifier._widen

    @classmethod
    def margins(cls, voters, X, n_threads):
        return 3 * sum_trees(voters, X, n_threads)

    @classmethod
    def probabilities(cls, voters, X, n_threads):
        return scipy.special.softmax(cls.margins(voters, X, n_threads), axis=2)

    @classmethod
    def onnx_probabilities(cls, rows, voters):
        return (rows.sum_trees(voters) * 3).op("Softmax", axis=2)


class CenteredSquares(TransformerMixin, BaseEstimator):
    """Squared distances from the mean of each column."""

    def fit(self, X, y=None):
        self.mean_ = X.mean(axis=0)
        return self

    def transform(self, X):
        return (X - self.mean_) ** 2

    def onnx_nodes(self, rows):
        distances = rows - self.mean_
        return distances * distances


@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_new_tree_voter_and_a_new_map_need_no_change_in_onnx(n_classes):
    X, y = data(n_classes)
    X[::7, 0] = np.nan
    assert_same(SharpForest(random_state=0).fit(X, y), X)
    named = [("sharp", SharpForest()), ("linear", SGDClassifier(loss="log_loss"))]
    diversity = Diversity(feature_maps={"linear": [CenteredSquares()]})
    ensemble = LiquidEnsembleClassifier(named, diversity=diversity, **FEW | {"n_final": 6})
    X = np.nan_to_num(X)
    ensemble.fit(X, y)
    for voting in ("soft", "hard"):
        assert_same(ensemble.set_params(voting=voting), X)


def test_functions_describe_their_own_export(two):
    def double(X):
        return 2 * X

    double.onnx_nodes = lambda rows: rows * 2
    assert_same(make_pipeline(FunctionTransformer(double), small()).fit(*two), two[0])


# What cannot be converted


def test_other_models_are_refused():
    with pytest.raises(TypeError, match=r"model must be one of .*: got RandomForestClassifier\."):
        to_onnx(RandomForestClassifier())


def test_models_that_are_not_fitted_are_refused():
    with pytest.raises(ValueError, match="not fitted yet"):
        to_onnx(LiquidEnsembleClassifier())


def test_models_of_one_class_are_refused(two):
    with pytest.raises(ValueError, match=r"model must know two classes or more: got \['no'\]\."):
        to_onnx(RandomizedForestClassifier().fit(two[0], ["no"] * 200))


def test_forests_of_very_many_classes_are_refused():
    rows = np.arange(900)
    forest = RandomizedForestClassifier(2, random_state=0).fit(rows[:, None], rows % 300)
    with pytest.raises(ValueError, match=r"model must have at most 256 classes .*: got 300\."):
        to_onnx(forest)


def test_other_types_of_rows_are_refused(two):
    with pytest.raises(ValueError, match=r"dtype must be 'float64' or 'float32': got 'int64'\."):
        to_onnx(small().fit(*two), dtype="int64")


def test_other_voters_are_refused_by_name(two):
    ensemble = small(GaussianNB(), increment_size=100).fit(*two)
    with pytest.raises(ValueError, match=r"supports the voters SGDClassifier, .*: got GaussianNB"):
        to_onnx(ensemble)


def test_other_transformers_are_refused_by_name(two):
    model = make_pipeline(PowerTransformer(), small()).fit(*two)
    with pytest.raises(ValueError, match=r"supports the transformers .*: got PowerTransformer\."):
        to_onnx(model)


def test_models_of_texts_are_refused():
    texts, y = ["red tea", "tea cup", "cup cake", "cake tin"] * 20, [0, 1, 0, 1] * 20
    model = make_pipeline(CountVectorizer(), small()).fit(texts, y)
    with pytest.raises(ValueError, match=r"rows of numbers, and tables: got CountVectorizer, "):
        to_onnx(model)


def test_other_labels_are_refused(two):
    X, y = two
    dates = np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]")
    with pytest.raises(ValueError, match="supports labels that are texts, integers"):
        to_onnx(RandomizedForestClassifier().fit(X, dates[(y == "yes").astype(int)]))


def test_without_onnx_the_error_names_the_extra():
    code = """
import sys
sys.modules["onnx"] = None
import skliquid
try:
    skliquid.to_onnx
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == (
        "to_onnx needs onnx, which is not installed (extra 'onnx'): pip install onnx, or "
        "pip install '.[onnx]' in a clone of skliquid.\n"
    )
