"""front: the ensembles between a fitted one and one representative."""

import pickle

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from small_ensembles import same

from skliquid import LiquidEnsembleClassifier, front, load, prune, save


def rows(n_rows=600, seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 6))
    y = (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)
    return X, y if n_classes == 2 else y + (X[:, 3] > 0.5)


@pytest.fixture(scope="module")
def ensemble():
    return LiquidEnsembleClassifier(n_final=7, random_state=0).fit(*rows())


@pytest.fixture(scope="module")
def points(ensemble):
    return front(ensemble, *rows(seed=1))


def test_representatives_delegate_one_by_one(points, ensemble):
    assert [one.n_representatives for one in points] == [7, 6, 5, 4, 3, 2, 1]
    before = set(ensemble.delegation_graph_.representatives.tolist())
    for one in points:
        left = set(one.ensemble.delegation_graph_.representatives.tolist())
        assert left <= before
        before = left


def test_each_point_is_an_ensemble_with_these_scores_and_bytes(points, tmp_path):
    X, y = rows(seed=1)
    for one in points:
        taken = one.ensemble
        assert taken.score(X, y) == one.accuracy
        assert log_loss(y, taken.predict_proba(X)) == pytest.approx(one.log_loss)
        save(taken, tmp_path / "model")
        assert (tmp_path / "model").stat().st_size == one.bytes
        assert same(load(tmp_path / "model"), taken, X)
        assert len(taken.estimators_) == one.n_representatives
        assert one.milliseconds > 0
    assert points[-1].bytes < points[0].bytes


def test_the_first_point_is_the_ensemble_and_it_stays_as_it_was(ensemble, points):
    before, X = pickle.dumps(ensemble), rows(seed=1)[0]
    first, last = points[0].ensemble, points[-1].ensemble
    assert same(first, ensemble, X)
    last.partial_fit(*rows(200, seed=2))
    assert pickle.dumps(ensemble) == before
    assert same(points[0].ensemble, first, X)


def test_no_other_point_costs_as_little_and_scores_as_well(ensemble):
    for score in ("accuracy", "log_loss"):
        found = front(ensemble, *rows(seed=1), score=score)
        sign = -1 if score == "log_loss" else 1
        for one in found:
            better = [
                other
                for other in found
                if other is not one
                and other.bytes <= one.bytes
                and sign * getattr(other, score) >= sign * getattr(one, score)
            ]
            assert one.is_best == (not better)
        costs = [one.bytes for one in found.best]
        assert costs == sorted(costs, reverse=True)
        assert found.best[-1].bytes == min(one.bytes for one in found)


def test_the_same_rows_give_the_same_front(ensemble, points):
    again = front(ensemble, *rows(seed=1))
    table, other = (one.to_pandas().drop(columns="milliseconds") for one in (points, again))
    assert table.equals(other)
    assert list(points.to_pandas()["n_representatives"]) == [7, 6, 5, 4, 3, 2, 1]
    assert len(points) == len(list(points)) == 7


def test_time_can_be_the_cost(ensemble):
    found = front(ensemble, *rows(seed=1), score="log_loss", cost="milliseconds")
    assert (found.score, found.cost) == ("log_loss", "milliseconds")
    fastest = min(found, key=lambda one: one.milliseconds)
    assert fastest.is_best


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_pruned_forests_have_a_front(voting, tmp_path):
    X, y = rows(n_classes=3)
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    options = {"n_final": 6, "voting": voting, "random_state": 0}
    pruned = prune(forest, *rows(seed=1, n_classes=3), **options)
    X, y = rows(seed=2, n_classes=3)
    found = front(pruned, X, y)
    assert [one.n_representatives for one in found] == [6, 5, 4, 3, 2, 1]
    assert all(one.ensemble.score(X, y) == one.accuracy for one in found)
    save(found[0].ensemble, tmp_path / "pruned")
    assert found[0].bytes == (tmp_path / "pruned").stat().st_size


@pytest.mark.parametrize("mechanism", ["direct", "random", "max"])
def test_every_mechanism_has_a_front(mechanism):
    ensemble = LiquidEnsembleClassifier(
        mechanism=mechanism, n_estimators=6, n_final=3, random_state=0
    )
    found = front(ensemble.fit(*rows()), *rows(seed=1))
    assert found[-1].n_representatives == 1


def test_a_loaded_ensemble_has_the_same_front(ensemble, points, tmp_path):
    save(ensemble, tmp_path / "model")
    again = front(load(tmp_path / "model"), *rows(seed=1)).to_pandas()
    assert again["accuracy"].tolist() == points.to_pandas()["accuracy"].tolist()


def test_invalid_arguments_are_refused(ensemble):
    X, y = rows()
    with pytest.raises(TypeError, match="ensemble must be a fitted LiquidEnsembleClassifier"):
        front(make_pipeline(StandardScaler(), ensemble), X, y)
    with pytest.raises(ValueError, match="score must be 'accuracy' or 'log_loss': got 'auc'"):
        front(ensemble, X, y, score="auc")
    with pytest.raises(ValueError, match="cost must be 'bytes' or 'milliseconds': got 'euros'"):
        front(ensemble, X, y, cost="euros")
    with pytest.raises(ValueError, match="y must hold known classes only"):
        front(ensemble, X, y + 1)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        front(ensemble, X, y[1:])
    with pytest.raises(NotFittedError):
        front(LiquidEnsembleClassifier(), X, y)
