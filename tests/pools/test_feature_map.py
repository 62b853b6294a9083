"""Feature maps: scikit-learn's bits without its checks, and nothing computed twice."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn.kernel_approximation import RBFSampler
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from skliquid.pools.feature_map import FeatureMap, Views
from skliquid.pools.fourier_features import FourierFeatures
from skliquid.pools.voters import FOURIER_MAPS, fitted_maps, seeded, signed_log

TRANSFORMERS = {
    "waves": RBFSampler(gamma=0.1, random_state=0),
    "fast waves": FourierFeatures(gamma=0.1, random_state=0),
    "few waves": RBFSampler(n_components=3, random_state=0),
    "logarithms": FunctionTransformer(signed_log, accept_sparse=True),
    "nothing": FunctionTransformer(),
    "checked": FunctionTransformer(np.abs, validate=True, accept_sparse=True),
    "with an argument": FunctionTransformer(np.round, kw_args={"decimals": 1}, accept_sparse=True),
    "scaled": StandardScaler(with_mean=False),
    "one after another": make_pipeline(
        StandardScaler(with_mean=False),
        "passthrough",
        FunctionTransformer(signed_log, accept_sparse=True),
        RBFSampler(random_state=1),
    ),
}


def rows_as(kind, X):
    kinds = {"float32": X.astype(np.float32), "sparse": scipy.sparse.csr_matrix(X)}
    return kinds.get(kind, X)


def dense(X):
    return X.toarray() if scipy.sparse.issparse(X) else X


@pytest.mark.parametrize("name", TRANSFORMERS)
@pytest.mark.parametrize("kind", ["float64", "float32", "sparse"])
def test_maps_have_the_bits_of_their_transformer(binary, name, kind):
    if (name, kind) == ("with an argument", "sparse"):
        kind = "float64"  # numpy does not round sparse rows
    X = rows_as(kind, binary[0])
    fitted = TRANSFORMERS[name].fit(X)
    ours, theirs = Views().through(FeatureMap(fitted), X), fitted.transform(X)
    assert np.array_equal(dense(ours), dense(theirs))
    assert ours.dtype == theirs.dtype


@pytest.mark.parametrize("kind", ["float64", "float32", "sparse"])
def test_fourier_maps_are_what_a_fit_to_all_rows_gives(binary, kind):
    X, seeds = rows_as(kind, binary[0]), [5, 6, 7]
    logs = FunctionTransformer(signed_log, accept_sparse=True)
    widths = [c / X.shape[1] for c in FOURIER_MAPS if c is not None]
    waves = [make_pipeline(logs, FourierFeatures(gamma=g, n_components=100)) for g in widths]
    for ours, each, seed in zip(
        fitted_maps(FOURIER_MAPS, X, seeds), [logs, *waves], seeds, strict=True
    ):
        theirs = seeded(each, [seed])[0].fit(X)
        assert np.array_equal(dense(ours.transform(X)), dense(theirs.transform(X)))
        assert ours.n_features_in_ == X.shape[1]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_logarithms_of_finite_numbers_are_finite(dtype):
    largest = np.finfo(dtype).max
    X = np.array([-largest, -largest / 2, -1, 0, 1, largest / 4, largest / 2, largest], dtype=dtype)
    logs = signed_log(X)
    assert logs.dtype == dtype
    assert np.isfinite(logs).all()
    assert np.all(np.diff(logs) >= 0)
    assert np.array_equal(logs[2:6], np.sign(X[2:6]) * np.log1p(3 * np.abs(X[2:6])))


def test_fourier_maps_name_what_comes_out(binary):
    X = binary[0]
    logs, waves, _ = fitted_maps(FOURIER_MAPS, X, [5, 6, 7])
    assert logs.get_feature_names_out().tolist() == [f"x{k}" for k in range(X.shape[1])]
    assert waves.get_feature_names_out()[-1] == "fourierfeatures99"


def test_what_maps_have_in_common_is_computed_once(binary):
    calls = []

    def logarithms(X):
        calls.append(X)
        return signed_log(X)

    X = binary[0]
    first = FunctionTransformer(logarithms)
    maps = [make_pipeline(first, RBFSampler(random_state=k)).fit(X) for k in range(3)]
    calls.clear()
    views, seen = Views(), list(map(FeatureMap, [first, *maps]))
    once = [views.through(each, X) for each in seen]
    again = [views.through(each, X) for each in seen]
    assert len(calls) == 1
    assert all(one is other for one, other in zip(once, again, strict=True))


def test_other_rows_are_mapped_anew_and_rows_are_not_carried_along(binary):
    X, views = binary[0], Views()
    feature_map = FeatureMap(FunctionTransformer(np.negative))
    assert np.array_equal(views.through(feature_map, X), -X)
    assert np.array_equal(views.through(feature_map, X[:5]), -X[:5])
    assert views.through(None, X) is X
    assert len(pickle.dumps(views)) < 200
    assert views.of(X) is views
    assert np.array_equal(views.of(X[:5]).through(feature_map, X[:5]), -X[:5])
    assert views.of(X) is views
    views.forget()
    assert np.array_equal(views.through(feature_map, X), -X)


def test_maps_survive_a_pickle(binary):
    X = binary[0]
    feature_map = FeatureMap(TRANSFORMERS["one after another"].fit(X))
    other = pickle.loads(pickle.dumps(feature_map))
    assert np.array_equal(Views().through(feature_map, X), Views().through(other, X))
