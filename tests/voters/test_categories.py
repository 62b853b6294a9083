import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.base import clone

from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier
from skliquid.voters.categories import MAX_CATEGORIES, CategoryCoder, category_coder
from voters.tables import random_order_of_categories

KINDS = [
    RandomizedForestClassifier(random_state=0, max_features=1.0),
    RandomizedForestClassifier(random_state=0, max_features=1.0, splitter="best"),
    BoostedTreesClassifier(20, random_state=0),
]
COLORS = np.array(["red", "green", "blue", None], dtype=object)


def forms():
    """Return the same rows in all forms in which categories can be given, and how."""
    rng = np.random.default_rng(0)
    codes, numbers = rng.integers(4, size=80), rng.integers(9, size=80).astype(float)
    numbers[5] = np.nan
    colors = COLORS[codes]
    array = np.column_stack([colors, numbers]).astype(object)
    frame = pd.DataFrame({"color": pd.Categorical(colors), "n": numbers})
    strings = pd.DataFrame({"color": pd.array(colors, dtype="string"), "n": numbers})
    columns = {
        "color": colors.tolist(),
        "n": [None if n != n else int(n) for n in numbers.tolist()],
    }
    y = (codes == 1) | (numbers > 6)
    return y, {
        "array by number": (array, [0]),
        "array by boolean": (array, [True, False]),
        "list": (array.tolist(), (0,)),
        "pandas by type": (frame, "from_dtype"),
        "pandas by name": (strings, ["color"]),
        "pandas by number": (frame, np.array([0])),
        "polars categorical": (
            pl.DataFrame(columns, schema={"color": pl.Categorical, "n": pl.Float64}),
            "from_dtype",
        ),
        "polars enum": (
            pl.DataFrame(columns, schema={"color": pl.Enum(COLORS[:3].tolist()), "n": pl.Int64}),
            "from_dtype",
        ),
        "polars by name": (pl.DataFrame(columns), ["color"]),
    }


@pytest.mark.parametrize("form", forms()[1])
@pytest.mark.parametrize("kind", KINDS, ids=["random", "best", "boosted"])
def test_categories_are_the_same_in_all_forms(kind, form):
    y, all_forms = forms()
    array, chosen = all_forms["array by number"]
    expected = (
        clone(kind).set_params(categorical_features=chosen).fit(array, y).predict_proba(array)
    )
    X, chosen = all_forms[form]
    voter = clone(kind).set_params(categorical_features=chosen).fit(X, y)
    assert voter.is_categorical.tolist() == [True, False]
    assert np.array_equal(voter.predict_proba(X), expected)
    assert voter.score(X, y) > 0.95


@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("kind", KINDS, ids=["random", "best", "boosted"])
def test_categories_are_learned_better_than_as_numbers(kind, n_classes):
    X, y = random_order_of_categories(n_classes=n_classes)
    accuracy = {}
    for chosen in ((0, 1, 2, 3), None):
        voter = clone(kind).set_params(categorical_features=chosen).fit(X[:1000], y[:1000])
        accuracy[chosen] = voter.score(X[1000:], y[1000:])
    assert accuracy[0, 1, 2, 3] > accuracy[None] + 0.02


def test_the_most_frequent_categories_are_told_apart():
    values = np.repeat(np.arange(100.0), np.arange(100, 0, -1))[:, None]
    coder = category_coder(values, [0])
    coder.learn(values)
    codes = coder.encode(np.arange(100.0)[:, None])[:, 0]
    assert np.array_equal(codes[:MAX_CATEGORIES], np.arange(MAX_CATEGORIES))
    assert np.all(np.isnan(codes[MAX_CATEGORIES:]))


@pytest.mark.parametrize("kind", KINDS, ids=["random", "best", "boosted"])
def test_many_categories_are_learned(kind):
    rng = np.random.default_rng(0)
    X = rng.integers(200, size=(6000, 1)).astype(float)
    X[:3000] //= 5  # so many are frequent
    y = rng.integers(2, size=200)[X[:, 0].astype(int)]
    voter = clone(kind).set_params(categorical_features=[0]).fit(X, y)
    frequent = X[:, 0] < 40
    assert voter.score(X[frequent], y[frequent]) > 0.98


@pytest.mark.parametrize("kind", KINDS, ids=["random", "best", "boosted"])
def test_categories_that_are_unseen_are_like_missing_values(kind):
    X, y = random_order_of_categories()
    voter = clone(kind).set_params(categorical_features=[0]).fit(X, y)
    strange, missing = X[:50].copy(), X[:50].copy()
    strange[:, 0], missing[:, 0] = 99.5, np.nan
    assert np.array_equal(voter.predict_proba(strange), voter.predict_proba(missing))


@pytest.mark.parametrize("kind", KINDS, ids=["random", "best", "boosted"])
def test_a_category_may_come_late(kind):
    rng = np.random.default_rng(0)
    X = rng.integers(40, size=(2000, 1)).astype(float)
    y = rng.integers(2, size=40)[X[:, 0].astype(int)]
    is_early = X[:, 0] < 20
    voter = clone(kind).set_params(categorical_features=[0])
    voter.partial_fit(X[is_early], y[is_early])
    assert voter.score(X[~is_early], y[~is_early]) < 0.8
    for _ in range(4):
        voter.partial_fit(X[~is_early], y[~is_early])
    assert voter.score(X, y) > 0.98


def test_codes_stay_when_categories_come():
    coder = CategoryCoder(np.array([True]))
    coder.learn(np.array([["b"], ["b"], ["a"]], dtype=object))
    coder.learn(np.array([["c"], ["a"], ["a"], ["d"], ["d"]], dtype=object))
    codes = coder.encode(np.array([list("abcde")], dtype=object).T)[:, 0]
    np.testing.assert_array_equal(codes, [1, 0, 3, 2, np.nan])


def test_numbers_beside_categories_stay_as_they_are():
    X = np.array([[3.0, 0.1], [4.0, np.nan]], dtype=np.float32)
    coder = category_coder(X, [0])
    coder.learn(X)
    coded = coder.encode(X)
    assert coded.dtype == np.float32
    np.testing.assert_array_equal(coded[:, 1], X[:, 1])
    assert category_coder(X, []) is None
    assert category_coder(X, None) is None
    assert category_coder(X, "from_dtype") is None
    assert category_coder(pd.DataFrame(X), "from_dtype") is None


@pytest.mark.parametrize(
    "wrong", ["all", 1, [2], [-1], [0.5], ["color"], [[0]], [True], [True, False, True]], ids=str
)
@pytest.mark.parametrize("kind", KINDS[1:], ids=["forest", "boosted"])
def test_columns_that_are_none_are_an_error(kind, wrong):
    voter = clone(kind).set_params(categorical_features=wrong)
    with pytest.raises(
        ValueError, match=r"categorical_features must be 'from_dtype', None, or say"
    ):
        voter.fit(np.eye(2), [0, 1])


def test_names_are_those_of_the_frame():
    X = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    with pytest.raises(ValueError, match=r"got \['a', 'c'\]. Give a list such as"):
        category_coder(X, ["a", "c"])
    assert category_coder(X, ["b"]).is_categorical.tolist() == [False, True]


def test_categories_of_sparse_rows_are_an_error():
    X = scipy.sparse.csr_array(np.eye(3))
    with pytest.raises(ValueError, match=r"where X is sparse: got \[1\]. Give a dense array"):
        category_coder(X, [1])
    assert category_coder(X, []) is None
    assert category_coder(X, "from_dtype") is None


def test_text_that_is_no_category_is_an_error():
    X = pd.DataFrame({"color": pd.Categorical(["red", "blue"]), "n": ["one", "two"]})
    with pytest.raises(ValueError, match="could not convert string to float"):
        BoostedTreesClassifier().fit(X, [0, 1])


def test_infinite_numbers_beside_categories_are_an_error():
    X = pd.DataFrame({"color": pd.Categorical(["red", "blue"]), "n": [1.0, np.inf]})
    with pytest.raises(ValueError, match="infinity"):
        BoostedTreesClassifier().fit(X, [0, 1])


def test_names_of_frames_with_categories_are_checked():
    X = pd.DataFrame({"color": pd.Categorical(["red", "blue"]), "n": [1.0, 2.0]})
    voter = BoostedTreesClassifier().fit(X, [0, 1])
    assert voter.feature_names_in_.tolist() == ["color", "n"]
    with pytest.raises(ValueError, match="feature names should match"):
        voter.predict(X.rename(columns={"n": "m"}))
