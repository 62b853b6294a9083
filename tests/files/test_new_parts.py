"""New parts save and load without a change of ``skliquid.files``: they declare themselves."""

from dataclasses import dataclass, fields
from typing import Annotated

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.linear_model import SGDClassifier

from skliquid import (
    Diversity,
    LiquidEnsembleClassifier,
    Mechanism,
    ModelFileError,
    load,
    save,
    training,
)
from skliquid.delegation import record
from skliquid.delegation.arrays import Floats
from skliquid.delegation.storable import Array, Count, Positive, Share, storable
from skliquid.mechanisms.selection import least_competent
from skliquid.voters import RandomizedForestClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 5))
Y = (X[:, 0] * X[:, 1] + RNG.normal(size=240) > 0).astype(int)


def after_saving(model, folder, X=X):
    save(model, folder / "model.skliquid")
    again = load(folder / "model.skliquid")
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    save(again, folder / "again.skliquid")
    both = [folder / f"{name}.skliquid" for name in ("model", "again")]
    assert both[0].read_bytes() == both[1].read_bytes()
    return again


def small(**params):
    return LiquidEnsembleClassifier(**{"n_estimators": 8, "n_final": 3, "random_state": 0} | params)


def test_a_new_recorded_number(monkeypatch, tmp_path):
    @dataclass(frozen=True, eq=False)
    class Extended(record.IncrementRecord):
        n_odd: int = -3
        odd_gain: float = 0.25

    for module in (record, training):
        monkeypatch.setattr(module, "IncrementRecord", Extended)
    model = small().fit(X, Y)
    again = after_saving(model, tmp_path)
    assert [(one.n_odd, one.odd_gain) for one in again.record_] == [(-3, 0.25)] * len(again.record_)
    assert again.record_.to_pandas().equals(model.record_.to_pandas())
    assert "odd_gain" in again.record_.to_pandas()


def test_a_recorded_number_of_another_type_is_named(monkeypatch, tmp_path):
    @dataclass(frozen=True, eq=False)
    class Extended(record.IncrementRecord):
        is_odd: bool = True

    for module in (record, training):
        monkeypatch.setattr(module, "IncrementRecord", Extended)
    with pytest.raises(ModelFileError, match="the type of is_odd must be int, float or Floats"):
        save(small().fit(X, Y), tmp_path / "a")


def test_a_file_from_before_a_number_was_recorded_takes_its_default(monkeypatch, tmp_path):
    save(small().fit(X, Y), tmp_path / "old.skliquid")

    @dataclass(frozen=True, eq=False)
    class Extended(record.IncrementRecord):
        odd_gain: float = float("nan")

    monkeypatch.setattr(record, "IncrementRecord", Extended)
    assert all(np.isnan(one.odd_gain) for one in load(tmp_path / "old.skliquid").record_)


@storable
def gain_squared(gain, weight):
    return np.maximum(gain, 0) ** 2


@storable
@dataclass(frozen=True)
class EveryOther:
    """Some delegate at every other increment."""

    n: Positive
    share: Share = 0.5

    def n_delegators(self, increment, n_representatives):
        return min(self.n, n_representatives - 1) * (increment % 2)


def test_a_new_mechanism_and_schedule(tmp_path):
    mechanism = Mechanism(least_competent, gain_squared)
    model = small(mechanism=mechanism, delegation_rate=EveryOther(2), increment_size=40)
    again = after_saving(model.fit(X, Y), tmp_path)
    assert again.mechanism == mechanism
    assert again.delegation_rate == EveryOther(2)


class CautiousForest(RandomizedForestClassifier):
    """A forest whose probabilities are drawn towards those of all rows."""

    share_: Annotated[Floats, Array("n_classes")]
    n_calls_: Count

    def __init__(self, n_estimators=4, *, caution=0.3, max_rows=1000, random_state=None):
        super().__init__(n_estimators, max_rows=max_rows, random_state=random_state)
        self.caution = caution

    def start(self, classes, n_columns):
        super().start(classes, n_columns)
        self.share_, self.n_calls_ = np.full(len(classes), 1 / max(len(classes), 1)), 0

    @classmethod
    def probabilities(cls, voters, X, n_threads):
        found = super().probabilities(voters, X, n_threads)
        for own, voter in zip(found, voters, strict=True):
            np.add(own, voter.caution * (voter.share_ - own), out=own)
        return found


@pytest.mark.parametrize("estimator", [CautiousForest(), [("a", CautiousForest()), ("b", None)]])
def test_a_new_tree_voter(estimator, tmp_path):
    if isinstance(estimator, list):
        estimator = [estimator[0], ("linear", SGDClassifier())]
    model = small(estimator=estimator).fit(X, Y)
    again = after_saving(model, tmp_path)
    forests = [voter for voter in again.estimators_ if isinstance(voter, CautiousForest)]
    assert all(forest.share_.tolist() == [0.5, 0.5] for forest in forests)
    alone = CautiousForest(random_state=0).fit(X, Y)
    assert after_saving(alone, tmp_path).caution == 0.3


@storable
class Distances(TransformerMixin, BaseEstimator):
    """The distance of each row from some rows."""

    rows_: Annotated[Floats, Array("n_rows", "n_features")]

    def __init__(self, n_rows=7):
        self.n_rows = n_rows

    def fit(self, X, y=None):
        self.rows_, self.n_features_in_ = np.array(X[: self.n_rows]), X.shape[1]
        return self

    def transform(self, X):
        return np.linalg.norm(X[:, None] - self.rows_, axis=2)


def test_a_new_feature_map(tmp_path):
    maps = Diversity(feature_maps=["passthrough", Distances(5)])
    model = small(estimator=SGDClassifier(), diversity=maps).fit(X, Y)
    again = after_saving(model, tmp_path)
    assert repr(again) == repr(model)


def test_what_is_not_declared_is_named(tmp_path):
    class Undeclared(RandomizedForestClassifier):
        def start(self, classes, n_columns):
            super().start(classes, n_columns)
            self.extra_ = 3

    with pytest.raises(ModelFileError, match=r"extra_: the class must declare the type"):
        save(Undeclared(random_state=0).fit(X, Y), tmp_path / "a")
    assert "extra_" not in {one.name for one in fields(record.IncrementRecord)}


def test_labels_of_any_type_that_are_discovered(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3))
    for y in (X[:, 0] > 0, np.where(X[:, 0] > 0, "a", "b")):
        model = LiquidEnsembleClassifier(n_estimators=4, n_final=2, random_state=0)
        save(model.partial_fit(X, y), tmp_path / "a")
        assert np.array_equal(load(tmp_path / "a").predict(X), model.predict(X))
