"""Encoders of model files of version 3, which hold the state of scikit-learn's transformers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from skliquid.tables.column_encoders import N_HASHES, PARTS, calendar
from skliquid.tables.stored_encoder import (
    CategoryState,
    DateState,
    NumberState,
    StoredTableEncoder,
    TargetState,
    TextState,
)
from skliquid.tables.table_encoder import Encoding, StoredEncoding, TableEncoder

RNG = np.random.default_rng(0)


def restored(frame, column_types, states):
    names = list(frame.columns)
    stored = StoredTableEncoder(0, names, column_types, np.array(names, dtype=object), states)
    return TableEncoder.from_stored(stored)


def scaler_of(values):
    return StandardScaler().fit(values)


def test_numbers_have_medians_and_indicators():
    frame = pd.DataFrame({"a": [1.0, np.nan, 5, 9], "b": [2.0, 3, 4, 8]})
    imputer = SimpleImputer(strategy="median", add_indicator=True).fit(frame.to_numpy())
    filled = imputer.transform(frame.to_numpy())
    scaler = scaler_of(filled)
    encoder = restored(frame, ["number"] * 2, {"numbers": NumberState(imputer, scaler)})
    assert np.allclose(encoder.transform(frame), scaler.transform(filled), rtol=0, atol=1e-15)
    gone = frame.assign(b=np.nan)
    expected = scaler.transform(imputer.transform(gone.to_numpy()))
    assert np.allclose(encoder.transform(gone), expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize("has_missing", [False, True])
def test_categories_have_columns_and_infrequent_ones_share_one(has_missing):
    values = RNG.choice(list("abcdefgh"), 300, p=[0.4, 0.3, 0.1, 0.1, 0.05, 0.03, 0.01, 0.01])
    values = values.astype(object)[:, None]
    values[::5] = None if has_missing else "a"
    theirs = OneHotEncoder(max_categories=5, sparse_output=False).fit(values)
    known, infrequent = theirs.categories_[0], theirs.infrequent_categories_[0].tolist()
    are_infrequent = np.array([value in infrequent for value in known.tolist()])
    frame = pd.DataFrame({"c": values[:, 0]})
    state = CategoryState([known], [are_infrequent])
    encoder = restored(frame, ["category"], {"categories": state})
    assert (None in known.tolist()) == has_missing
    assert np.array_equal(encoder.transform(frame), theirs.transform(values))


def test_shares_of_classes_are_scaled():
    known = np.array(["a", "b", None], dtype=object)
    scaler = scaler_of(np.array([[0.2], [0.6], [0.4]]))
    encodings = [np.array([0.2, 0.6, 0.9])]
    state = TargetState([known], encodings, np.array([0.4]), np.array([0, 1]), "binary", scaler)
    spelling = TextState(np.ones(N_HASHES), np.eye(2, N_HASHES), scaler_of(np.eye(2)))
    frame = pd.DataFrame({"c": ["a", "b", None, "unseen"]})
    encoder = restored(frame, ["many"], {"classes": state, "spelling": [spelling]})
    found = encoder.transform(frame)[:, 0]
    expected = scaler.transform([[0.2], [0.6], [0.9], [0.4]])[:, 0]
    assert np.allclose(found, expected)
    encoder.partial_fit(frame, [0, 1, 0, 1])  # files of version 3 have no counts
    assert np.allclose(encoder.transform(frame)[:, 0], expected)


def test_dates_have_medians_and_parts_that_vary():
    dates = pd.DataFrame({"d": [*pd.date_range("2024-03-01", periods=5), pd.NaT]})
    moments = dates["d"].to_numpy(dtype="datetime64[us]")
    parts = np.column_stack([calendar(moments), np.isnat(moments)])
    imputer = SimpleImputer(strategy="median").fit(parts)
    filled = imputer.transform(parts)
    varies = filled.std(axis=0) > 0
    scaler = scaler_of(filled[:, varies])
    encoder = restored(dates, ["date"], {"dates": DateState(imputer, varies, scaler)})
    assert varies[-1]
    assert len(varies) == len(PARTS) + 1
    expected = scaler.transform(filled[:, varies])
    assert np.allclose(encoder.transform(dates), expected, rtol=0, atol=1e-9)


def test_encoders_of_files_become_those_of_tables():
    known = np.array(["False", "True"], dtype=object)
    state = CategoryState([known], [np.zeros(2, dtype=bool)])
    encoder = Encoding.from_stored(StoredEncoding({"c": "boolean"}, {"categories": state}))
    assert encoder.column_types_ == {"c": "category"}
    assert encoder.transform(pd.DataFrame({"c": [True, False]})).tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("column_types", "states"),
    [
        (["number"], {}),
        (["category"], {"categories": CategoryState([], [])}),
        (["category"], {"categories": CategoryState([np.array(["a"])], [np.zeros(2, bool)])}),
        (["category"], {"categories": CategoryState([np.array(["a", "a"])], [np.zeros(2, bool)])}),
        (["number", "number"], {}),
    ],
    ids=["no state", "no categories", "widths", "twice", "names"],
)
def test_states_that_do_not_fit_are_refused(column_types, states):
    with pytest.raises(ValueError, match=r"must|shorter|longer"):
        restored(pd.DataFrame({"c": [1]}), column_types, states)
