"""What feature maps return is checked before voters see it, and converted where that is safe."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from odd_rows import DAMAGED_MATRICES
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from small_ensembles import of_four as small

from skliquid import Diversity
from skliquid.diversity.map_output import checked_view
from skliquid.voters import RandomizedForestClassifier

X = np.random.default_rng(0).normal(size=(60, 24))
Y = (X[:, 0] > 0).astype(int)
VOTERS = [SGDClassifier(), SGDClassifier(average=2), RandomizedForestClassifier(2), GaussianNB()]


class Changing(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """A map that does to rows what it is told, which may change after training."""

    change = staticmethod(lambda X: X)

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return Changing.change(X)

    def __sklearn_is_fitted__(self):
        return True


@pytest.fixture(autouse=True)
def unchanged(monkeypatch):
    monkeypatch.setattr(Changing, "change", staticmethod(lambda X: X))


def change_to(function, monkeypatch):
    monkeypatch.setattr(Changing, "change", staticmethod(function))


def mapped(voter, *maps):
    return small(voter, diversity=Diversity(feature_maps=list(maps) or [Changing()]))


WIDTHS = {
    "wider": lambda X: np.hstack([X, X]),
    "wider by one": lambda X: np.hstack([X, X[:, :1]]),
    "narrower": lambda X: X[:, :3],
    "narrower by one": lambda X: X[:, :-1],
    "without columns": lambda X: X[:, :0],
    "wider and sparse": lambda X: scipy.sparse.csr_array(np.hstack([X, X])),
}


@pytest.mark.parametrize("name", WIDTHS)
@pytest.mark.parametrize("voter", VOTERS, ids=str)
def test_a_map_must_return_the_width_that_it_had_in_training(name, voter, monkeypatch):
    fitted = mapped(voter).fit(X, Y)
    fitted = pickle.loads(pickle.dumps(copy.deepcopy(fitted)))
    change_to(WIDTHS[name], monkeypatch)
    for ask in (fitted.predict, fitted.predict_proba, fitted.decision_function):
        with pytest.raises(ValueError, match=r"feature_maps must return .*: Changing returned"):
            ask(X)
    for train in (fitted.partial_fit, fitted.refit):
        with pytest.raises(ValueError, match=r"feature_maps must return .*: Changing returned"):
            train(X, Y)


def test_a_wrong_width_names_the_map_and_both_widths(monkeypatch):
    fitted = mapped(SGDClassifier(), make_pipeline(StandardScaler(), Changing())).fit(X, Y)
    change_to(WIDTHS["narrower"], monkeypatch)
    message = r"as in training: StandardScaler \+ Changing returned 3, before 24. Correct its tra"
    with pytest.raises(ValueError, match=message):
        fitted.predict(X)


WRONG = {
    "fewer rows": (lambda X: X[:-1], r"one row for each row: Changing returned \d+ for \d+"),
    "infinity": (lambda X: np.where(X > 1, np.inf, X), "finite numbers: Changing returned"),
    "missing values": (lambda X: np.where(X > 1, np.nan, X), "finite numbers: Changing returned"),
    "one dimension": (lambda X: X[:, 0], "rows of numbers: Changing [^(]* .Expected 2D array"),
    "text": (lambda X: np.full(X.shape, "word"), "rows of numbers: Changing .* convert string"),
    "complex": (lambda X: X * 1j, "rows of numbers: Changing [^(]* .Complex data"),
    "dates": (lambda X: X.astype("datetime64[s]"), "rows of numbers: Changing [^(]* .X must hold"),
    "ragged lists": (lambda X: [[1.0], *X[1:].tolist()], "rows of numbers: Changing returned an"),
    "nothing": (lambda X: None, "rows of numbers: Changing returned an object of the type NoneT"),
    "matrix": (lambda X: scipy.sparse.csr_matrix(X).todense(), "rows .* the type matrix"),
    "no columns": (lambda X: X[:, :0], "columns: Changing returned none"),
    "repeated names": (
        lambda X: pd.DataFrame(X, columns=["a"] * X.shape[1]),
        r"rows of numbers: Changing .* type DataFrame, .*\(Columns must have different names:",
    ),
    "wrong indices": (
        lambda X: DAMAGED_MATRICES["csr with a negative index"](),
        r"rows of numbers: Changing .* \(X must be a sparse matrix whose indices fit its shape",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_map_must_return_one_row_of_numbers_for_each_row(name, monkeypatch):
    change, message = WRONG[name]
    fitted = mapped(SGDClassifier()).fit(X, Y)
    change_to(change, monkeypatch)
    for refuse in (lambda: fitted.predict(X), lambda: mapped(SGDClassifier()).fit(X, Y)):
        with pytest.raises(ValueError, match=f"feature_maps must return {message}"):
            refuse()


CONVERTED = {
    "lists": lambda X: X.tolist(),
    "data frame": pd.DataFrame,
    "objects": lambda X: X.astype(object),
    "long double": lambda X: X.astype(np.longdouble),
    "big-endian": lambda X: X.astype(">f8"),
}


@pytest.mark.parametrize("name", CONVERTED)
@pytest.mark.parametrize("voter", VOTERS, ids=str)
def test_what_holds_the_same_numbers_gives_the_same_result(name, voter, monkeypatch):
    plain = mapped(voter).fit(X, Y).predict_proba(X)
    change_to(CONVERTED[name], monkeypatch)
    assert np.array_equal(mapped(voter).fit(X, Y).predict_proba(X), plain)


@pytest.mark.parametrize("dtype", [np.int8, np.float16, bool])
@pytest.mark.parametrize("voter", VOTERS, ids=str)
def test_numbers_of_any_type_are_converted(dtype, voter, monkeypatch):
    change_to(lambda X: (X * 3).astype(dtype).astype(float), monkeypatch)
    plain = mapped(voter).fit(X, Y).predict_proba(X)
    change_to(lambda X: (X * 3).astype(dtype), monkeypatch)
    assert np.array_equal(mapped(voter).fit(X, Y).predict_proba(X), plain)


def test_missing_values_may_pass_where_voters_accept_them():
    missing = np.where(X > 1.5, np.nan, X)
    assert mapped(RandomizedForestClassifier(2)).fit(missing, Y).score(missing, Y) > 0.7


def test_an_array_of_floats_is_not_copied():
    assert checked_view(X, X, name="map") is X
    large = np.full((2, 3), 1e308)  # whose sum is infinite
    assert checked_view(large, large, name="map") is large
