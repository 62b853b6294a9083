import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from skliquid import native
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier, one_hot
from skliquid.voters.binning import BinnedRows, bins_of, edges_of
from skliquid.voters.one_hot import NUMBERS, ONE_HOT, bundle

KINDS = [
    *(RandomizedForestClassifier(random_state=0, splitter=name) for name in native.SPLITTERS),
    BoostedTreesClassifier(20, random_state=0),
]
IDS = [*native.SPLITTERS, "boosted"]


def encoded(codes, n_codes):
    return np.eye(n_codes)[np.asarray(codes)]


def rows_of(X):
    none = np.zeros(X.shape[1], dtype=bool)
    return BinnedRows.from_rows(X, np.zeros(X.shape[0], dtype=int), None, none)


def test_columns_of_an_encoding_share_one():
    X = np.column_stack([encoded([0, 2, 1, 0], 3), [5.0, 6.0, 7.0, 8.0], encoded([1, 0, 0, 1], 2)])
    rows = rows_of(X)
    assert rows.bins.tolist() == [[1, 3, 2, 1], [0, 1, 2, 3], [2, 1, 1, 2]]
    assert rows.column_types.tolist() == [ONE_HOT, NUMBERS, ONE_HOT]
    assert rows.features[0, :4].tolist() == [0, 0, 1, 2]
    assert rows.features[1, 0] == 3
    assert rows.features[2, :3].tolist() == [4, 4, 5]


@given(st.lists(st.integers(0, 7), min_size=1, max_size=30), st.integers(0, 3))
def test_what_is_bundled_can_be_read_again(codes, n_dropped):
    X = encoded(codes, 8)[:, n_dropped:]
    rows = rows_of(X)
    again = np.zeros_like(X)
    features = np.arange(rows.n_columns)[:, None] if rows.features is None else rows.features
    for own, kind, its in zip(rows.bins, rows.column_types, features, strict=True):
        if kind == ONE_HOT:
            again[np.flatnonzero(own), its[own[own > 0]]] = 1
        else:
            again[:, its[0]] = own if len(np.unique(X[:, its[0]])) > 1 else X[:, its[0]]
    assert np.array_equal(again, X)


@pytest.mark.parametrize(
    "X",
    [
        np.array([[0, 1], [1, 0], [1, 1]]),  # twice 1 in a row
        np.array([[0, 1], [1, np.nan], [0, 0]]),
        np.array([[0, 2], [1, 0], [0, 0]]),
        np.array([[0, 0.5, 1], [1, 0.7, 0], [0, 0.9, 0]]),  # no neighbours
        np.array([[1, 1], [0, 1], [0, 1]]),  # constant
    ],
    ids=str,
)
def test_other_columns_stay_alone(X):
    rows = rows_of(X.astype(float))
    assert rows.features is None
    assert not rows.column_types.any()


def test_categories_stay_alone():
    X = encoded([0, 1, 2, 0], 3)
    rows = BinnedRows.from_rows(X, np.zeros(4, dtype=int), None, np.array([False, False, True]))
    assert rows.n_columns == 2
    assert rows.column_types.tolist() == [2, 1]


def test_a_column_has_room_for_so_many_features():
    rows = rows_of(encoded(np.arange(150), 150))
    assert [np.isfinite(edges).sum() for edges in rows.edges] == [62, 62, 26]
    assert rows.bins.max(axis=1).tolist() == [62, 62, 26]


def test_sparse_encodings_share_columns_too():
    X = encoded([0, 2, 1, 0], 3)
    dense, sparse = rows_of(X), rows_of(scipy.sparse.csr_array(X))
    assert np.array_equal(dense.bins, sparse.bins)
    assert np.array_equal(dense.features, sparse.features)


def test_nothing_changes_where_nothing_is_encoded():
    X = np.random.default_rng(0).normal(size=(20, 3))
    edges = edges_of(X, np.zeros(3, dtype=bool))
    bins, kinds = bins_of(X, edges), np.zeros(3, dtype=np.uint8)
    for ours, theirs in zip(bundle(bins, edges, kinds), (bins, edges, kinds, None), strict=True):
        assert ours is theirs


@pytest.mark.parametrize("kind", KINDS, ids=IDS)
def test_encodings_are_learned_as_well_as_without_sharing(kind, monkeypatch):
    rng = np.random.default_rng(0)
    codes = rng.integers(12, size=(1500, 2))
    effects = rng.normal(size=(2, 12))
    y = (effects[0, codes[:, 0]] + effects[1, codes[:, 1]] > 0).astype(int)
    X = np.hstack([encoded(codes[:, 0], 12), encoded(codes[:, 1], 12), rng.normal(size=(1500, 2))])
    ours = clone(kind).fit(X[:700], y[:700]).score(X[700:], y[700:])
    monkeypatch.setattr(one_hot, "_groups", lambda bins, *_: [range(k, k + 1) for k in range(26)])
    alone = clone(kind).fit(X[:700], y[:700]).score(X[700:], y[700:])
    margin = 0.01 if isinstance(kind, BoostedTreesClassifier) else 0.08  # fewer are tried
    assert ours > alone - margin
    assert ours > 0.85


@pytest.mark.parametrize("kind", KINDS, ids=IDS)
def test_features_that_were_never_one_together_may_be_later(kind):
    X, y = encoded([0, 1, 2] * 20, 3), np.array([0, 1, 1] * 20)
    voter = clone(kind).fit(X, y)
    probabilities = voter.predict_proba([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [np.nan] * 3])
    assert np.all(np.isfinite(probabilities))
    assert voter.score(X, y) == 1


def test_a_split_is_on_one_feature():
    X, y = encoded([0, 1, 2] * 20, 3), np.array([0, 1, 0] * 20)
    voter = RandomizedForestClassifier(1, splitter="best", max_features=1.0).fit(X, y)
    root = np.frombuffer(voter.trees_.trees[0][0], native.NODE)[0]
    assert root["feature"] == 1
    assert root["cut"].view(np.float64) == 0.5
