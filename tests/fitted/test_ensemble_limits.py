"""Limits of what one gets: bytes of the file, and seconds of predictions."""

import pickle
import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from small_ensembles import same, small

from skliquid import LiquidEnsembleClassifier, load, prune, revocable, save, train_on
from skliquid.delegation.graph import DelegationGraph
from skliquid.fitted import ensemble_limits as limits
from skliquid.fitted import reduced
from skliquid.mechanisms import Knowledge, as_mechanism
from skliquid.voters import RandomizedForestClassifier

MIXED = [
    ("tree", DecisionTreeClassifier(random_state=0)),
    ("bayes", GaussianNB()),
    ("neighbors", KNeighborsClassifier()),
    ("logistic", LogisticRegression(max_iter=2000)),
]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 8))
    return X, (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)


@pytest.fixture(scope="module")
def whole(rows):
    return LiquidEnsembleClassifier(random_state=0).fit(*rows)


@pytest.fixture(scope="module")
def forest(rows):
    return RandomForestClassifier(30, random_state=0).fit(*(part[:600] for part in rows))


def limited(rows, **options):
    return LiquidEnsembleClassifier(random_state=0, **options).fit(*rows)


def file_size(ensemble, folder):
    save(ensemble, folder / "model")
    return (folder / "model").stat().st_size


@pytest.fixture
def clock(monkeypatch):
    """Let predictions take a millisecond per representative in place of what they take."""

    def seconds(ensemble, rows, limit=np.inf):
        assert len(ensemble.predict_proba(rows)) == reduced.N_ROWS
        return 1e-3 * len(ensemble.estimators_)

    monkeypatch.setattr(limits, "seconds", seconds)


# Bytes


def test_generous_limits_change_no_bit(rows, whole):
    ensemble = limited(rows, max_bytes=10**9, max_predict_seconds=100.0)
    assert ensemble.record_.stopped is None
    assert len(ensemble.record_) == len(whole.record_)
    assert same(ensemble, whole, rows[0])
    before, after = (pickle.dumps(one._fitted.training.rng) for one in (whole, ensemble))
    assert before == after


@pytest.mark.parametrize("share", [0.9, 0.6, 0.4])
def test_the_file_is_within_the_limit(rows, whole, tmp_path, share):
    size = file_size(whole, tmp_path)
    limit = int(share * size)
    ensemble = limited(rows, max_bytes=limit)
    assert file_size(ensemble, tmp_path) <= limit
    n_left = len(ensemble.estimators_)
    assert n_left < 5
    assert ensemble.record_.stopped == f"max_bytes={limit} left {n_left} of 5 representatives"
    assert ensemble.estimator_weights_.sum() == 24
    assert ensemble.score(*rows) > 0.8


def test_the_same_limit_gives_the_same_bits(rows, whole, tmp_path):
    limit = file_size(whole, tmp_path) // 2
    first, second = (limited(rows, max_bytes=limit, n_jobs=n) for n in (1, 2))
    assert same(first, second, rows[0])
    assert first.record_.stopped == second.record_.stopped


def test_a_limited_ensemble_is_saved_and_loaded_with_its_record(rows, whole, tmp_path):
    ensemble = limited(rows, max_bytes=file_size(whole, tmp_path) // 2)
    save(ensemble, tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert same(loaded, ensemble, rows[0])
    assert loaded.max_bytes == ensemble.max_bytes
    last = loaded.record_[-1]
    assert (last.n_rows, last.n_trained, last.cost) == (0, 0, 0)
    assert len(last.delegators) == 5 - len(ensemble.estimators_)
    assert len(loaded.record_.to_pandas()) == len(loaded.record_)


def least_of(error):
    return float(re.search(r"needs ([\d.e+-]+) ", str(error))[1])


def test_the_smallest_possible_is_named_and_possible(rows, tmp_path):
    with pytest.raises(ValueError, match="max_bytes must allow one representative") as error:
        limited(rows, max_bytes=1000)
    least = int(least_of(error.value))
    ensemble = limited(rows, max_bytes=least)
    assert len(ensemble.estimators_) == 1
    assert least - 1500 < file_size(ensemble, tmp_path) <= least
    with pytest.raises(ValueError, match="max_bytes must allow one representative"):
        limited(rows, max_bytes=least - 1500)


def test_an_impossible_limit_leaves_a_fitted_ensemble_as_it_was(rows, whole):
    ensemble = clone(whole).fit(*rows)
    with pytest.raises(ValueError, match="smallest possible"):
        ensemble.set_params(max_bytes=1).fit(*rows)
    assert same(ensemble, whole, rows[0])


@pytest.mark.parametrize("mechanism", ["direct", "random", "max", "random_better"])
@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_every_mechanism_keeps_limits(rows, tmp_path, mechanism, voting):
    options = {"mechanism": mechanism, "voting": voting, "n_estimators": 9, "n_final": 6}
    limit = int(0.7 * file_size(limited(rows, **options), tmp_path))
    ensemble = limited(rows, max_bytes=limit, **options)
    assert file_size(ensemble, tmp_path) <= limit
    assert "left" in ensemble.record_.stopped
    assert ensemble.estimator_weights_.sum() == 9


def test_voters_that_cannot_be_saved_are_limited_by_their_pickle(rows):
    few = [part[:300] for part in rows]
    options = {"estimator": MIXED, "n_estimators": 8, "n_final": 6, "increment_size": 100}
    limit = int(0.7 * len(pickle.dumps(limited(few, **options))))
    ensemble = limited(few, max_bytes=limit, **options)
    assert len(pickle.dumps(ensemble)) <= limit
    assert 0 < len(ensemble.estimators_) < 6


def test_data_frames_count_with_their_encoder(tmp_path):
    import pandas as pd

    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=800), "c": rng.choice(list("abcd"), 800)})
    y = (table["x"] > 0) ^ (table["c"] == "a")
    size = file_size(limited((table, y)), tmp_path)
    ensemble = limited((table, y), max_bytes=int(0.6 * size), max_predict_seconds=60.0)
    assert file_size(ensemble, tmp_path) <= 0.6 * size


def test_the_evaluation_set_scores_what_is_left(rows, whole, tmp_path):
    limit = file_size(whole, tmp_path) // 2
    ensemble = LiquidEnsembleClassifier(max_bytes=limit, random_state=0)
    ensemble.fit(*rows, eval_set=rows)
    assert ensemble.record_.final_eval_accuracy == ensemble.score(*rows)
    assert np.isnan(ensemble.record_[-1].eval_accuracy)


def test_refit_keeps_limits_too(rows, tmp_path):
    X, y = rows
    forests = RandomizedForestClassifier()
    options = {"estimator": forests, "n_estimators": 6, "n_final": 4, "diversity": None}
    few = limited((X[:300], y[:300]), **options)
    limit = 2 * file_size(few, tmp_path)
    few.set_params(max_bytes=limit).refit(X, y)
    assert file_size(few, tmp_path) <= limit
    assert f"max_bytes={limit} left" in few.record_.stopped


# Growth


def grown_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 8))
    scores = [X[:, k] * X[:, k + 1] + np.sign(X[:, k + 2] * X[:, k + 3]) for k in range(4)]
    return X, (sum(scores) > 0).astype(int)


@pytest.fixture(scope="module")
def grown():
    return LiquidEnsembleClassifier(random_state=0).fit(*grown_rows())


@pytest.mark.parametrize("share", [0.75, 0.5, 0.2])
def test_growth_ends_within_the_limit(grown, tmp_path, share):
    limit = int(share * file_size(grown, tmp_path))
    ensemble = limited(grown_rows(), max_bytes=limit)
    assert file_size(ensemble, tmp_path) <= limit
    assert f"max_bytes={limit}" in ensemble.record_.stopped
    trees = [sum(len(one.trees_) for one in e.estimators_ if hasattr(one, "trees_")) for e in
             (ensemble, grown)]  # fmt: skip
    assert trees[0] < trees[1]
    assert same(load(tmp_path / "model"), ensemble, grown_rows()[0][:100])


def test_a_generous_limit_changes_no_growth(grown):
    ensemble = limited(grown_rows(), max_bytes=10**9)
    assert same(ensemble, grown, grown_rows()[0][:100])
    assert ensemble.record_.stopped is None


# Seconds


def test_predictions_are_within_the_limit(rows, clock):
    ensemble = limited(rows, max_predict_seconds=0.0035)
    assert len(ensemble.estimators_) == 3
    assert ensemble.record_.stopped == "max_predict_seconds=0.0035 left 3 of 5 representatives"


def test_a_tight_limit_leaves_one_representative(rows, clock):
    assert len(limited(rows, max_predict_seconds=0.001).estimators_) == 1


def test_an_impossible_time_names_the_least(rows, clock):
    with pytest.raises(ValueError, match="max_predict_seconds must allow one") as error:
        limited(rows, max_predict_seconds=0.0009)
    assert least_of(error.value) == pytest.approx(0.0012)


def test_both_limits_hold(rows, whole, clock, tmp_path):
    limit = int(0.9 * file_size(whole, tmp_path))
    ensemble = limited(rows, max_bytes=limit, max_predict_seconds=0.002)
    assert file_size(ensemble, tmp_path) <= limit
    assert len(ensemble.estimators_) <= 2
    assert ensemble.record_.stopped.startswith("max_predict_seconds")


def test_real_predictions_are_timed(rows, forest):
    assert reduced.seconds(forest, rows[0]) > 0
    few = reduced.rows_to_time(rows[0][:7])
    assert len(few) == 1000
    assert np.array_equal(few[7:14], rows[0][:7])
    with pytest.raises(ValueError, match=r"smallest possible ensemble needs .* seconds per"):
        limited(rows, max_predict_seconds=1e-9)


# Who delegates


def test_of_voters_as_competent_the_most_expensive_delegates(rows, monkeypatch):
    """With such a variance no contribution differs, and some voters need more bytes."""
    estimators = [("small", SGDClassifier(loss="log_loss", random_state=0)),
                  ("large", DecisionTreeClassifier(random_state=0))]  # fmt: skip
    fitted = small(estimators, n_estimators=8, n_final=8, competence="contribution")
    fitted.fit(*rows)
    size = len(pickle.dumps(fitted))
    average = type(fitted._fitted.training.competence_average)
    monkeypatch.setattr(average, "variance", property(lambda self: np.ones(8)))
    fitted.set_params(max_bytes=int(0.9 * size)).fit(*rows)
    left = fitted.delegation_graph_.representatives
    assert len(left) < 8
    assert set(range(0, 8, 2)) <= set(left.tolist())


def test_the_weakest_delegates_where_competence_differs(rows, clock, monkeypatch):
    monkeypatch.setattr(limits, "LEVEL", 1.0)  # intervals without width
    ensemble = limited(rows, max_predict_seconds=0.0035)
    last = ensemble.record_[-1]
    weakest = last.voters[np.argsort(last.competence)[:2]]
    assert set(last.delegators.tolist()) == set(weakest.tolist())


def test_a_voter_delegates_to_weaker_ones_if_it_must():
    graph, competence = DelegationGraph.direct(3), np.array([0.9, 0.1, 0.2])
    for name in ("direct", "max", "proportional_weighted", "random"):
        found = reduced.delegate_one(
            graph,
            0,
            competence,
            as_mechanism(name),
            rng=np.random.default_rng(0),
            knowledge=Knowledge(),
        )
        assert found.representatives.tolist() == [1, 2]
        assert found.delegation[0] == (2 if name in ("direct", "max") else found.gurus[0])


# prune


def test_generous_limits_change_no_bit_of_pruning(rows, forest):
    X, y = (part[600:] for part in rows)
    options = {"n_final": 8, "random_state": 0}
    plain = prune(forest, X, y, **options)
    wide = prune(forest, X, y, max_bytes=10**9, max_predict_seconds=100.0, **options)
    assert same(plain, wide, X)
    assert wide.record_.stopped is None


def test_prune_keeps_bytes(rows, forest, tmp_path):
    X, y = (part[600:] for part in rows)

    def n_bytes(pruned):
        save(pruned, tmp_path / "pruned")
        return (tmp_path / "pruned").stat().st_size

    limit = int(0.75 * n_bytes(prune(forest, X, y, n_final=8, random_state=0)))
    pruned = prune(forest, X, y, n_final=8, max_bytes=limit, random_state=0)
    assert n_bytes(pruned) <= limit
    assert 1 <= len(pruned.estimators_) < 8
    assert f"max_bytes={limit} left" in pruned.record_.stopped
    pruned.partial_fit(X[:200], y[:200])
    assert n_bytes(pruned) <= limit


def test_a_classical_method_keeps_no_limit(rows, forest):
    with pytest.raises(ValueError, match="max_bytes must be None where method is not 'delegation'"):
        prune(forest, *rows, n_final=8, method="kappa", max_bytes=10**6)


def test_prune_keeps_seconds(rows, forest, clock):
    X, y = (part[600:] for part in rows)
    options = {"n_final": 8, "max_predict_seconds": 0.0045, "random_state": 0}
    assert len(prune(forest, X, y, **options).estimators_) == 4
    assert len(prune(forest, X.tolist(), y.tolist(), **options).estimators_) == 4


def test_prune_names_what_is_possible(rows, forest):
    X, y = (part[600:] for part in rows)
    with pytest.raises(ValueError, match="max_bytes must allow one representative") as error:
        prune(forest, X, y, max_bytes=1, random_state=0)
    least = int(least_of(error.value))
    assert len(prune(forest, X, y, max_bytes=least, random_state=0).estimators_) == 1


def test_mixed_voters_and_loaded_ensembles_are_pruned_within_limits(rows, whole, tmp_path):
    X, y = rows
    voters = [clone(one).fit(X[:600], y[:600]) for _, one in MIXED]
    limit = len(pickle.dumps(prune(voters, X[600:], y[600:], n_final=3, random_state=0))) - 1
    assert len(prune(voters, X, y, n_final=3, max_bytes=limit, random_state=0).estimators_) < 3
    save(whole, tmp_path / "model")
    found = [
        prune(one, X, y, n_final=4, max_bytes=10**6, max_predict_seconds=60.0, random_state=0)
        for one in (whole, load(tmp_path / "model"))
    ]
    assert same(*found, X)


# Parameters


@pytest.mark.parametrize("name", ["max_bytes", "max_predict_seconds"])
def test_invalid_limits_are_refused(rows, forest, name):
    for value in (0, -1, "1 MB"):
        with pytest.raises(ValueError, match=f"'{name}' parameter"):
            limited(rows, **{name: value})
        with pytest.raises(ValueError, match=f"'{name}' parameter"):
            prune(forest, *rows, **{name: value})


@pytest.mark.parametrize("limit", [{"max_bytes": 10**6}, {"max_predict_seconds": 1.0}], ids=str)
def test_limits_are_no_parameters_of_streams(rows, limit):
    (name,) = limit
    with pytest.raises(ValueError, match=f"{name} must be None in partial_fit"):
        LiquidEnsembleClassifier(**limit).partial_fit(*rows)
    with pytest.raises(ValueError, match=f"{name} must be None with a revocable mechanism"):
        LiquidEnsembleClassifier(mechanism=revocable("max"), **limit).fit(*rows)
    ensemble = LiquidEnsembleClassifier(**limit)
    with pytest.raises(ValueError, match=f"{name} must be None in partial_fit"):
        train_on("nowhere.csv", target="y", ensemble=ensemble, online=True)


def test_train_on_keeps_limits_of_the_ensemble(rows, tmp_path):
    import pandas as pd

    X, y = rows
    table = pd.DataFrame(X, columns=list("abcdefgh")).assign(y=y)
    table.to_parquet(tmp_path / "table.parquet")
    options = {"n_estimators": 6, "n_final": 4, "random_state": 0}
    plain = LiquidEnsembleClassifier(**options).fit(table.drop(columns="y"), y)
    limit = int(0.7 * file_size(plain, tmp_path))
    ensemble = LiquidEnsembleClassifier(max_bytes=limit, max_predict_seconds=60.0, **options)
    model = train_on(tmp_path / "table.parquet", target="y", ensemble=ensemble)
    assert file_size(model.ensemble, tmp_path) <= limit
    assert f"max_bytes={limit}" in model.ensemble.record_.stopped


def test_an_ensemble_that_cannot_be_stored_at_all_is_refused(rows):
    from skliquid.mechanisms.selection import least_competent

    def local(gain, weight):
        return np.maximum(gain, 0)

    with pytest.raises(ValueError, match="can neither be saved nor pickled"):
        limited(rows, mechanism=(least_competent, local), max_bytes=10**9)


def test_an_ensemble_on_a_cluster_has_the_same_limits(rows):
    from skliquid import DaskLiquidEnsembleClassifier

    on_cluster = DaskLiquidEnsembleClassifier(max_bytes=10**6, max_predict_seconds=2.0)
    copied = clone(on_cluster)
    assert (copied.max_bytes, copied.max_predict_seconds) == (10**6, 2.0)
    local = copied._local()
    assert local.encode_drawn(local._draw_rows(*rows, None)).to_time.shape == (1000, 8)
