import numpy as np
import pytest
from onnx_runtime import assert_same, session_of
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)

from skliquid import Diversity, LiquidEnsembleClassifier, to_onnx
from skliquid.diversity import FourierFeatures
from skliquid.diversity.standardizer import Standardizer
from skliquid.onnx.graph_builder import Graph
from skliquid.onnx.scikit_learn_nodes import transform
from skliquid.voters import RandomizedForestClassifier

MAPS = [
    StandardScaler(),
    StandardScaler(with_mean=False),
    StandardScaler(with_std=False),
    MinMaxScaler(),
    MinMaxScaler((-1, 2), clip=True),
    MaxAbsScaler(),
    RobustScaler(),
    RobustScaler(with_centering=False),
    RobustScaler(with_scaling=False),
    Standardizer(),
    FunctionTransformer(),
    make_pipeline("passthrough", StandardScaler()),
    FourierFeatures(gamma=0.3, n_components=20, random_state=0),
    RBFSampler(gamma="scale", n_components=20, random_state=0),
    Nystroem(n_components=10, random_state=0),
    Nystroem(gamma=0.3, n_components=10, random_state=0),
    Nystroem("linear", n_components=3, random_state=0),
    Nystroem("poly", degree=2, coef0=0.5, n_components=10, random_state=0),
    Nystroem("polynomial", kernel_params={"degree": 1}, n_components=3, random_state=0),
    Nystroem("sigmoid", gamma=0.1, n_components=10, random_state=0),
]


def rows():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(120, 3)), rng.random(120) < 0.5, np.full(120, 3.0)])
    return X, (X[:, 0] * X[:, 1] > 0) ^ (X[:, 3] > 0)


def ensemble_with(feature_map):
    return LiquidEnsembleClassifier(
        SGDClassifier(loss="log_loss", max_iter=5, tol=None),
        n_estimators=4,
        n_final=2,
        random_state=0,
        increment_size=40,
        diversity=Diversity(feature_maps=[feature_map]),
    )


@pytest.mark.parametrize("feature_map", MAPS, ids=str)
def test_a_map_gives_what_ours_gives(feature_map):
    X, y = rows()
    ensemble = ensemble_with(feature_map).fit(X, y)
    assert_same(ensemble, np.vstack([X, 3 * X + 1]), tolerance=1e-11)


@pytest.mark.parametrize("feature_map", MAPS[:10], ids=str)
def test_a_map_of_one_column_is_as_exact(feature_map):
    # onnxruntime joins a scalar and the product next to it, and rounds the scalar to float32
    X = rows()[0][:, :1]
    ensemble = ensemble_with(feature_map).fit(X / 7, X[:, 0] > 0)
    assert_same(ensemble, X, tolerance=1e-11)


def test_standardized_numbers_that_overflow_become_the_largest():
    standardizer = Standardizer().fit(rows()[0] / 10)
    X = np.array([[1.7e308, -1.7e308, np.nan, 0.5, 0.3]])
    graph = Graph()
    found = transform(graph.input("X", np.float64, 5), standardizer)
    model = graph.model({"found": (found, np.float64, [None, 5])})
    standardized = session_of(model).run(None, {"X": X})[0]
    np.testing.assert_allclose(standardized, standardizer.transform(X), rtol=1e-15)
    assert np.abs(standardized).max() == np.finfo(np.float64).max


def test_the_maps_of_fourier_take_missing_and_huge_values():
    X, y = rows()
    ensemble = LiquidEnsembleClassifier(
        SGDClassifier(loss="log_loss", max_iter=5, tol=None),
        n_estimators=6,
        n_final=3,
        random_state=0,
        diversity=Diversity(feature_maps="fourier"),
    ).fit(X, y)
    X[::3, 0], X[1::3, 1], X[2::3, 2] = np.nan, 1e300, -1e308
    assert_same(ensemble, X, tolerance=1e-11)


@pytest.mark.filterwarnings("ignore:Skipping features", "ignore:Currently, when `keep_empty")
@pytest.mark.parametrize("strategy", ["mean", "median", "most_frequent", "constant"])
@pytest.mark.parametrize("add_indicator", [False, True])
def test_missing_values_are_imputed_as_ours_are(strategy, add_indicator):
    X, y = rows()
    X[::4, 1] = X[1::5, 2] = X[:, 4] = np.nan
    imputer = SimpleImputer(strategy=strategy, fill_value=7.0, add_indicator=add_indicator)
    assert_same(make_pipeline(imputer, ensemble_with("passthrough")).fit(X, y), X)


def test_missing_values_other_than_nan_are_refused():
    X, y = rows()
    model = make_pipeline(SimpleImputer(missing_values=0), ensemble_with("passthrough")).fit(X, y)
    with pytest.raises(ValueError, match="where missing values are NaN: got missing_values=0"):
        to_onnx(model)


def test_other_functions_are_refused_by_name():
    X, y = rows()
    model = make_pipeline(FunctionTransformer(np.cbrt), ensemble_with("passthrough")).fit(X, y)
    with pytest.raises(ValueError, match=r"supports the function signed_log .*: got cbrt\."):
        to_onnx(model)


def test_other_kernels_are_refused_by_name():
    X, y = rows()
    ensemble = ensemble_with(Nystroem("laplacian", n_components=5)).fit(X, y)
    with pytest.raises(ValueError, match=r"with a kernel among rbf, .*: got 'laplacian'"):
        to_onnx(ensemble)


def test_a_part_that_replaces_a_method_without_its_export_is_refused():
    class Cautious(RandomizedForestClassifier):
        @classmethod
        def probabilities(cls, voters, X, n_threads):
            return 0.5 + 0 * super().probabilities(voters, X, n_threads)

    class Doubled(Standardizer):
        def transform(self, X):
            return 2 * super().transform(X)

    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    with pytest.raises(TypeError, match="got Cautious"):
        to_onnx(Cautious(random_state=0).fit(X, y))
    maps = Diversity(feature_maps=[Doubled()])
    mapped = LiquidEnsembleClassifier(SGDClassifier(), diversity=maps, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="got Doubled"):
        to_onnx(mapped)
