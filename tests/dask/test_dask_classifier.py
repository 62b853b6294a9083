"""Training on Dask collections: the bits of one machine, whatever happens to a worker."""

import copy
import gc
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from clusters import Held, cluster_of, wait_until
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.inspection import permutation_importance
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted

from skliquid import DaskLiquidEnsembleClassifier, LiquidEnsembleClassifier, load, save
from skliquid.dask import ClusterError
from skliquid.files.saving import digest
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier

N = 600
STAGES = {
    "counting": ("skliquid.dask.partitions", "_count"),
    "drawing": ("skliquid.dask.partitions", "_draw"),
    "growing": ("skliquid.dask.cluster", "_grow_sequence"),
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Two workers, of which tests may kill some if they start others."""
    with cluster_of(tmp_path_factory.mktemp("cluster"), 2) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def table():
    """Numbers, categories, text, dates and missing cells, with a target."""
    rng = np.random.default_rng(0)
    days = pd.to_timedelta(rng.integers(0, 900, N), "D")
    columns = {
        "age": rng.normal(50, 20, N),
        "visits": rng.integers(0, 9, N),
        "town": rng.choice(["Oslo", "Rome", "Cairo"], N),
        "colour": pd.Categorical(rng.choice(["red", "blue"], N), ["green", "red", "blue"]),
        "seen": pd.Timestamp("2020-01-01") + days,
        "note": [f"patient {k} has {k % 7} words of a text with no end" for k in range(N)],
        "smokes": rng.random(N) < 0.3,
    }
    table = pd.DataFrame(columns)
    ill = table["age"] + 20 * (table["town"] == "Rome") + rng.normal(0, 8, N) > 60
    table.loc[::7, "age"] = np.nan
    table.loc[::9, "town"] = None
    table.loc[::11, "seen"] = pd.NaT
    return table.assign(ill=np.where(ill, "yes", "no"))


@pytest.fixture(scope="module")
def numbers():
    X = np.random.default_rng(0).normal(size=(N, 6))
    return X, (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)


def here(X, y, *weights, **params):
    return LiquidEnsembleClassifier(**{"random_state": 0} | params).fit(X, y, *weights)


def there(cluster, *data, **params):
    params = {"random_state": 0} | params
    return DaskLiquidEnsembleClassifier(cluster.client, **params).fit(*data)


def split(table):
    return table.drop(columns="ill"), table["ill"]


def in_memory(collection):
    return collection.compute(scheduler="synchronous")


@pytest.fixture
def grows_on_workers(monkeypatch):
    """Let workers grow all trees, and return how often they were asked to."""
    asked = []
    monkeypatch.setattr("skliquid.dask.cluster.MIN_CELLS", 0)
    for name in ("_grow_forest", "_grow_sequence"):
        method = Counting(asked, "skliquid.dask.cluster", name)
        monkeypatch.setattr(f"skliquid.dask.cluster.{name}", method)
    return asked


class Counting:
    """A function by its name, which is sent to workers, and counts how often."""

    def __init__(self, asked, *name):
        self.asked, self.name = asked, name

    def __reduce__(self):
        self.asked.append(self.name[1])
        return _function, self.name


def _function(module, name):
    return getattr(sys.modules[module], name)


# The bits of one machine


@pytest.mark.parametrize("max_rows", ["auto", 250, 5000])
@pytest.mark.parametrize("n_partitions", [1, 3, 17, pytest.param(200, marks=pytest.mark.slow)])
def test_fit_gives_the_bits_of_one_machine(cluster, table, n_partitions, max_rows):
    rows = dd.from_pandas(table, npartitions=n_partitions, sort=False)
    assert rows.npartitions == n_partitions
    expected = digest(here(*split(table), max_rows=max_rows))
    assert digest(there(cluster, rows, "ill", max_rows=max_rows).to_local()) == expected


@pytest.mark.parametrize("max_rows", [250, None])
@pytest.mark.parametrize("form", ["frames", "array and series"])
def test_sample_weight_gives_the_bits_of_one_machine(cluster, table, numbers, form, max_rows):
    rng = np.random.default_rng(1)
    weights = rng.integers(0, 3, N) / 2
    weights[:250] = 0  # in a whole partition
    if form == "frames":
        X, y = split(table)
        columns = [dd.from_pandas(one, npartitions=3) for one in (X, y, pd.Series(weights))]
    else:
        X, y = numbers
        columns = [da.from_array(X, chunks=(200, 2)), dd.from_pandas(pd.Series(y), npartitions=3)]
        columns += [da.from_array(weights, chunks=99)]
    params = {"max_rows": max_rows, "class_weight": "balanced"}
    expected = digest(here(X, y, weights, **params))
    assert digest(there(cluster, *columns, **params).to_local()) == expected


FORMS = {
    "float64": (lambda X: X, lambda block: block),
    "float32": (lambda X: X.astype(np.float32), lambda block: block),
    "whole numbers": (lambda X: (10 * X).astype(int), lambda block: block),
    "sparse": (scipy.sparse.csr_array, scipy.sparse.csr_array),
    "sparse by columns": (scipy.sparse.csc_array, scipy.sparse.csc_array),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("chunks", [(N, 6), (77, 2)])
def test_arrays_give_the_bits_of_one_machine(cluster, numbers, form, chunks):
    X, y = numbers
    X = np.where(abs(X) < 0.3, 0, X)
    convert, convert_block = FORMS[form]
    dense = convert(X).toarray() if "sparse" in form else convert(X)
    rows = da.from_array(dense, chunks=chunks).map_blocks(convert_block)
    expected = digest(here(convert(X), y, max_rows=400))
    labels = da.from_array(y, chunks=chunks[0])
    assert digest(there(cluster, rows, labels, max_rows=400).to_local()) == expected


VOTERS = {
    "linear": {"estimator": SGDClassifier(loss="log_loss"), "n_estimators": 8, "max_rows": 300},
    "others": {"estimator": GaussianNB(), "max_features": 0.5, "bootstrap": True},
    "trees": {
        "estimator": [
            ("forest", RandomizedForestClassifier(3)),
            ("boosted", BoostedTreesClassifier(6, max_rows=150)),
        ],
        "bootstrap": True,
        "max_features": 0.5,
        "final_fit": False,
    },
    "budget": {"max_cost": 9000, "n_final": "auto"},
}


@pytest.mark.parametrize("name", VOTERS)
def test_other_voters_have_the_bits_of_one_machine(cluster, numbers, grows_on_workers, name):
    X, y = numbers
    columns = [da.from_array(one, chunks=(100, *one.shape[1:])) for one in (X, y)]
    found, expected = there(cluster, *columns, **VOTERS[name]), here(X, y, **VOTERS[name])
    assert np.array_equal(found.predict_proba(X), expected.predict_proba(X))
    for increment, other in zip(found.record_, expected.record_, strict=True):
        np.testing.assert_array_equal(increment.competence, other.competence)
        assert np.array_equal(increment.graph.delegation, other.graph.delegation)
    assert bool(grows_on_workers) == (name in ("trees", "budget"))


def test_trees_grown_on_workers_have_the_bits_of_one_machine(cluster, table, grows_on_workers):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(10_000, 4)), columns=list("abcd"))
    X["town"] = pd.Categorical(rng.choice(["Oslo", "Rome"], 10_000))
    y = (X["a"] * X["b"] + np.sign(X["c"] * X["d"]) > 0).astype(int)
    fitted = there(cluster, dd.from_pandas(X.assign(ill=y), npartitions=4), "ill")
    assert set(grows_on_workers) == {"_grow_forest", "_grow_sequence"}
    expected = here(X, y)
    assert np.isfinite(expected.record_[-1].log_loss)  # voters grew
    assert digest(fitted.to_local()) == digest(expected)


def test_small_data_grow_in_this_process(cluster, numbers, grows_on_workers, monkeypatch):
    monkeypatch.setattr("skliquid.dask.cluster.MIN_CELLS", 10**8)
    there(cluster, *[da.from_array(one, chunks=300) for one in numbers])
    assert not grows_on_workers


@pytest.mark.slow
def test_the_number_of_workers_does_not_change_a_bit(tmp_path, table, grows_on_workers):
    expected = digest(here(*split(table), max_rows=400))
    rows = dd.from_pandas(table, npartitions=7)
    with cluster_of(tmp_path, 1) as cluster:
        for n_more in (0, 1, 2, -3):  # 1, 2, 4 and 1
            cluster.start_workers(max(n_more, 0))
            for _ in range(-n_more):
                cluster.kill_a_worker()
            n_workers = len(cluster.living())
            wait_until(lambda n=n_workers: len(cluster.client.nthreads()) == n)
            assert digest(there(cluster, rows, "ill", max_rows=400).to_local()) == expected


def test_an_evaluation_set_is_in_memory(cluster, numbers):
    X, y = numbers
    rows = [da.from_array(one, chunks=200) for one in numbers]
    fitted = DaskLiquidEnsembleClassifier(cluster.client, random_state=0)
    fitted.fit(*rows, eval_set=(X[:99], y[:99]))
    assert fitted.record_.final_eval_accuracy == fitted.to_local().score(X[:99], y[:99])


def test_a_local_cluster_and_the_default_client_serve_too(cluster, numbers):
    rows = [da.from_array(one, chunks=200) for one in numbers]
    with cluster.client.as_current():
        fitted = DaskLiquidEnsembleClassifier(random_state=0).fit(*rows)
    by_address = DaskLiquidEnsembleClassifier(cluster.address, random_state=0).fit(*rows)
    assert digest(fitted.to_local()) == digest(by_address.to_local()) == digest(here(*numbers))
    assert by_address.score(*rows) == fitted.to_local().score(*numbers)


# Predictions


@pytest.fixture(scope="module")
def fitted(cluster, table):
    return there(cluster, dd.from_pandas(table, npartitions=3), "ill", max_rows=300)


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_frames_are_predicted_lazily(fitted, table, method):
    X = split(table)[0].set_axis(np.arange(N) * 2)
    rows = dd.from_pandas(X, npartitions=4)
    predict = getattr(fitted.to_local(), method)
    for part in (rows, rows.clear_divisions(), rows.loc[rows["visits"] > 4]):
        found = getattr(fitted, method)(part)
        assert found.divisions == part.divisions
        predicted = in_memory(found)
        assert type(predicted) is type(found._meta)
        assert predicted.index.equals(in_memory(part.index))
        if method == "predict":
            assert predicted.dtype == found.dtype
        else:
            assert found.columns.tolist() == predicted.columns.tolist() == ["no", "yes"]
            assert (predicted.dtypes == found.dtypes).all()
        expected = [predict(in_memory(one)) for one in part.partitions]
        assert np.array_equal(predicted.to_numpy(), np.concatenate(expected))


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_empty_partitions_are_predicted_with_the_types_of_others(fitted, table, method):
    rows = dd.from_pandas(split(table)[0], npartitions=3)
    rows = rows.loc[rows.index < 100]
    found = getattr(fitted, method)(rows)
    parts = [in_memory(found.partitions[k]) for k in range(3)]
    assert [len(part) for part in parts] == [100, 0, 0]
    for part in parts[1:]:
        assert part.index.dtype == parts[0].index.dtype
        if method == "predict":
            assert part.dtype == found.dtype == parts[0].dtype
        else:
            assert (part.dtypes == parts[0].dtypes).all()


@pytest.mark.parametrize("form", ["dense", "unknown chunks", "sparse"])
def test_arrays_are_predicted_lazily(cluster, numbers, form):
    X, y = numbers
    rows = da.from_array(X, chunks=(100, 2))
    if form == "unknown chunks":
        rows = rows[da.from_array(X[:, 0] < 1, chunks=100)]
        X, y = X[X[:, 0] < 1], y[X[:, 0] < 1]
        labels = da.from_array(numbers[1], chunks=100)[da.from_array(numbers[0][:, 0] < 1, 100)]
        rows = rows.rechunk({1: 6})
    else:
        labels = da.from_array(y, chunks=100)
    if form == "sparse":
        rows = rows.map_blocks(scipy.sparse.csr_array)
        X = scipy.sparse.csr_array(X)
    fitted = there(cluster, rows, labels)
    local = here(X, y)
    assert digest(fitted.to_local()) == digest(local)
    classes, probabilities = fitted.predict(rows), fitted.predict_proba(rows)
    assert (classes.ndim, probabilities.ndim) == (1, 2)
    assert classes.dtype == y.dtype
    assert probabilities.dtype == np.float64
    assert probabilities.shape[1] == 2
    assert np.array_equal(in_memory(classes), local.predict(X))
    expected = [local.predict_proba(in_memory(one)) for one in rows.rechunk({1: 6}).blocks]
    assert np.array_equal(in_memory(probabilities), np.concatenate(expected))
    np.testing.assert_array_equal(classes.chunks, rows.chunks[:1])  # where nan equals nan
    assert fitted.score(rows, labels) == local.score(X, y)


def test_rows_in_memory_are_predicted_at_once(fitted, table):
    X, y = split(table)
    assert np.array_equal(fitted.predict(X), fitted.to_local().predict(X))
    assert np.array_equal(fitted.predict_proba(X), fitted.to_local().predict_proba(X))
    assert fitted.score(X, y) == fitted.to_local().score(X, y)


def test_the_score_is_the_weighted_share_of_correct_rows(fitted, table):
    X, y = split(table)
    weights = np.random.default_rng(0).integers(0, 3, N) * 1.0
    y = y.where(y.index % 5 > 0, "no")
    rows = [dd.from_pandas(one, npartitions=5) for one in (X, y, pd.Series(weights))]
    assert fitted.score(*rows[:2]) == fitted.to_local().score(X, y) < 1
    expected = fitted.to_local().score(X, y, weights)
    assert fitted.score(*rows) == pytest.approx(expected, rel=1e-12)
    assert fitted.score(rows[0].assign(ill=rows[1]), "ill") == fitted.score(*rows[:2])


# An estimator


def test_a_fitted_ensemble_needs_no_cluster(cluster, fitted, table):
    X = split(table)[0]
    expected = fitted.to_local().predict_proba(X)
    gc.collect()
    wait_until(lambda: not cluster.client.futures)  # nothing is left behind
    for twin in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        assert twin.client is None
        assert np.array_equal(twin.predict_proba(X), expected)
        assert digest(twin.to_local()) == digest(fitted.to_local())
    assert pickle.loads(pickle.dumps(DaskLiquidEnsembleClassifier("tcp://a:1"))).client


def test_save_stores_the_local_ensemble(fitted, table, tmp_path):
    X = split(table)[0]
    save(fitted, tmp_path / "a")
    save(fitted.to_local(), tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    loaded = load(tmp_path / "a")
    assert type(loaded) is LiquidEnsembleClassifier
    assert np.array_equal(loaded.predict_proba(X), fitted.predict_proba(X))


def test_it_has_the_attributes_of_the_local_ensemble(fitted):
    assert fitted.classes_.tolist() == ["no", "yes"]
    assert fitted.record_ is fitted.to_local().record_
    assert fitted.n_samples_seen_ == N
    assert hasattr(fitted, "feature_names_in_") == hasattr(fitted.ensemble_, "feature_names_in_")
    with pytest.raises(AttributeError, match="has no attribute 'weather_'"):
        _ = fitted.weather_
    with pytest.raises(AttributeError, match="has no attribute 'weather'"):
        _ = fitted.weather


def test_it_has_the_parameters_of_the_local_ensemble(cluster):
    asked = DaskLiquidEnsembleClassifier(cluster.client, estimator=SGDClassifier(), n_final=3)
    ours, theirs = asked.get_params(), LiquidEnsembleClassifier(SGDClassifier()).get_params()
    assert ours.keys() == theirs.keys() | {"client", "max_memory", "timeout"}
    assert ours["client"] is cluster.client
    asked.set_params(estimator__alpha=0.5, max_rows=10, timeout=3)
    copied = clone(asked)
    assert copied.estimator is not asked.estimator
    assert copied.client is cluster.client
    assert (copied.estimator.alpha, copied.max_rows, copied.timeout) == (0.5, 10, 3)
    assert cluster.address in repr(copied)
    assert "max_rows=10" in repr(copied)
    with pytest.raises(TypeError, match="no parameter 'max_row'"):
        DaskLiquidEnsembleClassifier(max_row=10)
    with pytest.raises(ValueError, match="Invalid parameter 'max_row'"):
        asked.set_params(max_row=10)


def test_parameters_are_checked_before_rows_are_read(cluster):
    def read():
        raise AssertionError

    rows = dd.from_map(lambda _: read(), [0], meta=pd.DataFrame({"a": [1.0], "ill": [0]}))
    with pytest.raises(ValueError, match="n_final must not exceed n_estimators"):
        there(cluster, rows, "ill", n_final=50)
    with pytest.raises(ValueError, match="'voting' parameter"):
        there(cluster, rows, "ill", voting="loud")


def test_it_must_be_fitted(numbers):
    asked = DaskLiquidEnsembleClassifier("tcp://127.0.0.1:1")
    rows = da.from_array(numbers[0], chunks=100)
    for use in (
        lambda: asked.predict(rows),
        lambda: asked.predict_proba(rows),
        lambda: asked.predict(numbers[0]),
        lambda: asked.score(rows, rows[:, 0]),
        asked.to_local,
        lambda: check_is_fitted(asked),
        lambda: save(asked, "a"),
    ):
        with pytest.raises(NotFittedError):
            use()
    assert not hasattr(asked, "classes_")


def test_tools_of_scikit_learn_take_it(cluster, fitted, numbers, table):
    X, y = split(table)
    assert is_classifier(fitted)
    check_is_fitted(fitted)
    importances = permutation_importance(fitted, X[:80], y[:80], n_repeats=1, random_state=0)
    assert importances.importances_mean.argmax() == 0
    rows = [da.from_array(one, chunks=200) for one in numbers]
    asked = DaskLiquidEnsembleClassifier(cluster.client, random_state=0)
    piped = make_pipeline("passthrough", asked).fit(*rows)
    assert np.array_equal(in_memory(piped.predict(rows[0])), here(*numbers).predict(numbers[0]))
    with pytest.raises(TypeError, match="X must be a Dask DataFrame, or a Dask Array"):
        cross_val_score(asked, *numbers, error_score="raise")


def test_verbose_shows_what_is_under_way(cluster, table, capsys):
    there(cluster, dd.from_pandas(table, npartitions=3), "ill", max_rows=300, verbose=1)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "[skliquid] counting rows of 3 partitions"
    assert lines[1] == "[skliquid] drawing 300 of 600 rows"
    assert lines[-1].startswith("[skliquid] final fit of ")


# Failures


@contextmanager
def disturbed(tmp_path, monkeypatch, stage, disturb):
    """Call ``disturb`` with the process of a worker while it runs the first task of a stage."""
    module, name = STAGES[stage]
    held = Held(tmp_path, module, name)
    monkeypatch.setattr("skliquid.dask.cluster.MIN_CELLS", 0)
    monkeypatch.setattr(f"{module}.{name}", held)

    def when_started():
        pid = held.started_in()
        try:
            disturb(pid)
        finally:
            held.release()

    with ThreadPoolExecutor(1) as thread:
        done = thread.submit(when_started)
        yield
        done.result()


@pytest.mark.parametrize("stage", STAGES)
def test_a_worker_killed_in_training_does_not_change_a_bit(
    cluster, table, tmp_path, monkeypatch, stage
):
    def kill_it(pid):
        n_living = len(cluster.living())
        cluster.kill_workers(pid)
        assert len(cluster.living()) == n_living - 1

    expected = digest(here(*split(table), max_rows=400))
    rows = dd.from_pandas(table, npartitions=4)
    with disturbed(tmp_path, monkeypatch, stage, kill_it):
        found = there(cluster, rows, "ill", max_rows=400)
    cluster.start_workers(1)
    assert digest(found.to_local()) == expected


@pytest.mark.parametrize("stage", ["counting", "growing"])
def test_all_workers_killed_in_training_do_not_change_a_bit(
    cluster, table, tmp_path, monkeypatch, stage
):
    def kill_all(_):
        cluster.kill_workers()
        assert not cluster.living()
        cluster.start_workers(2)

    expected = digest(here(*split(table), max_rows=400))
    with disturbed(tmp_path, monkeypatch, stage, kill_all):
        found = there(cluster, dd.from_pandas(table, npartitions=4), "ill", max_rows=400)
    assert digest(found.to_local()) == expected


@pytest.mark.parametrize(
    "stage", ["counting", pytest.param("drawing", marks=pytest.mark.slow), "growing"]
)
def test_a_lost_scheduler_ends_in_an_error(tmp_path, table, monkeypatch, stage):
    with cluster_of(tmp_path, 1) as cluster:
        asked = DaskLiquidEnsembleClassifier(cluster.client)
        with (
            disturbed(tmp_path, monkeypatch, stage, lambda _: cluster.kill_the_scheduler()),
            pytest.raises(ClusterError, match=r"The connection to the scheduler at .* was lost"),
        ):
            asked.fit(dd.from_pandas(table, npartitions=2), "ill")
        assert not hasattr(asked, "ensemble_")


def test_a_failed_fit_leaves_the_ensemble_as_it_was(cluster, table, numbers):
    rows = dd.from_pandas(table[:300], npartitions=2)
    fitted = there(cluster, rows, "ill")
    before = fitted.to_local()
    with pytest.raises(ValueError, match="at least two classes"):
        fitted.fit(rows[rows["ill"] == "yes"], "ill")
    assert fitted.to_local() is before


def test_without_the_extra_all_else_works_and_an_error_names_it():
    code = """
import sys
sys.modules["dask"] = sys.modules["distributed"] = None
from skliquid import DaskLiquidEnsembleClassifier, LiquidEnsembleClassifier, load, save
LiquidEnsembleClassifier(n_estimators=3, n_final=1).fit([[0.0], [1.0]] * 30, [0, 1] * 30)
asked = DaskLiquidEnsembleClassifier("tcp://127.0.0.1:8786")
print(asked)
try:
    asked.fit([[0.0]], [0])
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install '.[dask]'" in done.stdout
