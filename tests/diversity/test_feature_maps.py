"""Feature maps: scikit-learn's bits without its checks, and nothing computed twice."""

import pickle
from functools import wraps
from itertools import count

import numpy as np
import pytest
import scipy.sparse
from sklearn.kernel_approximation import RBFSampler
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from skliquid.diversity import FeatureMap, FourierFeatures, Views
from skliquid.diversity.feature_maps import fit_maps, maps_by_name, signed_log
from skliquid.diversity.seeding import seeded
from skliquid.diversity.standardizer import Standardizer
from skliquid.presets import FOURIER_MAPS

TRANSFORMERS = {
    "waves": RBFSampler(gamma=0.1, random_state=0),
    "fast waves": FourierFeatures(gamma=0.1, random_state=0),
    "few waves": RBFSampler(n_components=3, random_state=0),
    "logarithms": FunctionTransformer(signed_log, accept_sparse=True),
    "nothing": FunctionTransformer(),
    "checked": FunctionTransformer(np.abs, validate=True, accept_sparse=True),
    "with an argument": FunctionTransformer(np.round, kw_args={"decimals": 1}, accept_sparse=True),
    "scaled": StandardScaler(with_mean=False),
    "standardized": Standardizer(),
    "one after another": make_pipeline(
        StandardScaler(with_mean=False),
        "passthrough",
        FunctionTransformer(signed_log, accept_sparse=True),
        RBFSampler(random_state=1),
    ),
}


def rows_as(container, X):
    containers = {"float32": X.astype(np.float32), "sparse": scipy.sparse.csr_matrix(X)}
    return containers.get(container, X)


def dense(X):
    return X.toarray() if scipy.sparse.issparse(X) else X


@pytest.mark.parametrize("name", TRANSFORMERS)
@pytest.mark.parametrize("container", ["float64", "float32", "sparse"])
def test_maps_have_the_bits_of_their_transformer(binary, name, container):
    if (name, container) == ("with an argument", "sparse"):
        container = "float64"  # numpy does not round sparse rows
    X = rows_as(container, binary[0])
    fitted = TRANSFORMERS[name].fit(X)
    (ours,), theirs = Views().transform([FeatureMap(fitted)], X), fitted.transform(X)
    assert np.array_equal(dense(ours), dense(theirs))
    assert ours.dtype == theirs.dtype


@pytest.mark.parametrize("container", ["float64", "float32", "sparse"])
def test_fourier_maps_are_what_a_fit_to_all_rows_gives(binary, container):
    X, seeds = rows_as(container, binary[0]), [5, 6, 7]
    logs = [Standardizer(), FunctionTransformer(signed_log, accept_sparse=True)]
    widths = [one.gamma / X.shape[1] for one in FOURIER_MAPS if one.gamma is not None]
    waves = [make_pipeline(*logs, FourierFeatures(gamma=g, n_components=100)) for g in widths]
    for ours, unfitted, seed in zip(
        fit_maps(FOURIER_MAPS, X, seeds), [make_pipeline(*logs), *waves], seeds, strict=True
    ):
        theirs = seeded(unfitted, seed).fit(X)
        assert np.array_equal(dense(ours.transform(X)), dense(theirs.transform(X)))
        assert ours.n_features_in_ == X.shape[1]


def test_fourier_maps_fill_missing_values_and_take_features_of_any_scale(binary):
    X = binary[0].copy()
    X[::5, 3] = np.nan
    maps, far = fit_maps(FOURIER_MAPS, X, [5, 6, 7]), 1e9 * X - 1e12
    for ours, theirs in zip(maps, fit_maps(FOURIER_MAPS, far, [5, 6, 7]), strict=True):
        assert np.isfinite(ours.transform(X)).all()
        np.testing.assert_allclose(theirs.transform(far), ours.transform(X), atol=1e-3)


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
    logs, waves, _ = fit_maps(FOURIER_MAPS, X, [5, 6, 7])
    assert logs.get_feature_names_out().tolist() == [f"x{k}" for k in range(X.shape[1])]
    assert waves.get_feature_names_out()[-1] == "fourierfeatures99"


def test_steps_that_maps_share_are_computed_once(binary):
    calls = []

    def logarithms(X):
        calls.append(X)
        return signed_log(X)

    X = binary[0]
    first = FunctionTransformer(logarithms)
    maps = [make_pipeline(first, RBFSampler(random_state=k)).fit(X) for k in range(3)]
    calls.clear()
    views, seen = Views(), list(map(FeatureMap, [first, *maps], count()))
    views.keep(X)
    once, again = views.transform(seen, X), views.transform(seen, X)
    assert len(calls) == 1
    assert all(one is other for one, other in zip(once, again, strict=True))


def test_fourier_maps_standardize_rows_once_also_after_a_pickle(binary, monkeypatch):
    X, calls = binary[0], []
    original = Standardizer.standardized

    @wraps(original)
    def counted(self, X):
        calls.append(X)
        return original(self, X)

    monkeypatch.setattr(Standardizer, "standardized", counted)
    maps = list(map(FeatureMap, fit_maps(FOURIER_MAPS, X, [5, 6, 7]), count()))
    ours = Views().transform(maps, X)
    assert len(calls) == 1
    theirs = Views().transform(pickle.loads(pickle.dumps(maps)), X)
    assert len(calls) == 2
    assert all(map(np.array_equal, ours, theirs))


# By the names of estimators


def test_a_list_of_maps_is_for_the_voters_of_all_estimators():
    waves = RBFSampler()
    assert maps_by_name([waves, "passthrough"], ["a", "b"]) == ([waves, "passthrough"], None)
    assert maps_by_name(list(FOURIER_MAPS), ["a", "b"]) == (list(FOURIER_MAPS), None)
    assert maps_by_name(None, ["a"]) == maps_by_name([], ["a"]) == ([], None)


def test_maps_by_name_are_numbered_in_the_order_of_the_estimators():
    waves = RBFSampler()
    by_name = {"c": ["passthrough", waves], "a": list(FOURIER_MAPS), "b": None, "d": []}
    maps, places = maps_by_name(by_name, ["a", "b", "c", "d", "e"])
    assert maps == [*FOURIER_MAPS, "passthrough", waves]
    assert places == {0: [0, 1, 2], 2: [3, 4]}
    assert maps_by_name({}, ["a"]) == ([], {})


def test_other_rows_are_mapped_again_and_rows_are_not_pickled(binary):
    X, views = binary[0], Views()
    feature_map = FeatureMap(FunctionTransformer(np.negative))
    views.keep(X)
    mapped, same = views.transform([feature_map, None], X)
    assert np.array_equal(mapped, -X)
    assert same is X
    assert len(pickle.dumps(views)) < 200
    assert np.array_equal(views.transform([feature_map], X[:5])[0], -X[:5])
    assert views.transform([feature_map], X)[0] is mapped
    views.keep(X[:5])
    assert views.transform([feature_map], X)[0] is not mapped
    views.clear()
    assert np.array_equal(views.transform([feature_map], X)[0], -X)


def test_maps_survive_a_pickle(binary):
    X = binary[0]
    feature_map = FeatureMap(TRANSFORMERS["one after another"].fit(X))
    other = pickle.loads(pickle.dumps(feature_map))
    ours, theirs = Views().transform([feature_map, other], X)
    assert np.array_equal(ours, theirs)
