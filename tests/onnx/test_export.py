import subprocess
import sys

import numpy as np
import onnx
import pytest
from onnx_runtime import assert_same, inputs_of, run, session_of
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PowerTransformer, StandardScaler
from small_ensembles import small

import skliquid
from skliquid import Diversity, LiquidEnsembleClassifier, to_onnx
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier

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
    assert_same(ensemble, X, dtype="float32")
    assert_same(ensemble, X.astype(np.float64))


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
        "to_onnx needs onnx, which is not installed: pip install 'skliquid[onnx]'.\n"
    )
