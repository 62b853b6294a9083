import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from skliquid.streams.column_encoding import Encoding, Unseen, UnseenCount, find_unseen

COLUMN_TYPES = {"age": "number", "visits": "number", "town": "text", "smokes": "boolean"}
KNOWN = {"town": frozenset({"Oslo", "Rome", None}), "smokes": frozenset({"True", "False"})}


def locate(row):
    return f"row {row + 101} of a.csv"


def arrow(frame, column_types=COLUMN_TYPES):
    types = {"number": pa.float64(), "text": pa.string(), "boolean": pa.bool_()}
    frame = frame.astype(object).where(frame.notna(), None)
    return pa.table({k: pa.array(frame[k], types[column_types[k]]) for k in column_types})


@pytest.fixture
def encoding(table):
    return Encoding.fit(arrow(table[:600]), COLUMN_TYPES, locate)


def unusual(table):
    """Return rows with what is not in the sample: categories, missing values, missing booleans."""
    frame = table[600:].astype({"smokes": object})
    frame.loc[650:700, "town"] = "Lima"
    frame.loc[690:720, "visits"] = None
    frame.loc[720:730, "smokes"] = None
    return frame


def test_fast_encoding_has_the_bits_of_the_encoder(table, encoding):
    for frame in (table[600:], unusual(table), table[600:601], unusual(table)[90:125]):
        rows = arrow(frame)
        slow = encoding.encoder.transform(rows.to_pandas())
        assert np.array_equal(encoding.encode(rows, locate), slow)


@pytest.mark.parametrize("n_categories", [1, 3, 49, 50, 51, 200])
def test_fast_encoding_has_the_bits_of_the_encoder_for_many_categories(n_categories):
    rng = np.random.default_rng(0)
    values = {f"c{k}": rng.integers(n_categories, size=900) for k in range(3)}
    rows = pa.table({name: [f"n{v}" for v in column] for name, column in values.items()})
    encoding = Encoding.fit(rows.slice(0, 500), dict.fromkeys(rows.column_names, "text"), locate)
    n_seen = [len(set(column[:500])) for column in values.values()]
    assert encoding.n_features == sum(min(n, 50) for n in n_seen)
    slow = encoding.encoder.transform(rows.to_pandas())
    assert np.array_equal(encoding.encode(rows, locate), slow)


def test_an_empty_text_is_not_a_missing_one():
    rows = pa.table({"c": ["", None, "a", ""]})
    encoding = Encoding.fit(rows, {"c": "text"}, locate)
    encoded = encoding.encode(rows, locate)
    assert encoded.tolist() == [[1, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]]
    assert np.array_equal(encoded, encoding.encoder.transform(rows.to_pandas()))


def test_numbers_that_are_missing_only_after_the_sample_become_the_median(table, encoding):
    rows = unusual(table)
    encoded = encoding.encode(arrow(rows), locate)
    assert np.isfinite(encoded).all()
    scaler = encoding.encoder.named_transformers_["numbers"][-1]
    median = table["visits"][:600].median()
    is_missing = rows["visits"].isna().to_numpy()
    assert np.allclose(encoded[is_missing, 1], (median - scaler.mean_[1]) / scaler.scale_[1])


def test_unseen_categories_are_encoded_as_zeros(table, encoding):
    rows = unusual(table)
    towns = encoding.encode(arrow(rows), locate)[:, -6:-2]
    assert not towns[(rows["town"] == "Lima").to_numpy()].any()
    assert towns[(rows["town"] != "Lima").to_numpy()].sum(axis=1).min() == 1


def test_categories_are_those_of_the_sample(encoding):
    assert encoding.categories["town"] == {"Oslo", "Rome", "Cairo", None}
    assert encoding.categories["smokes"] == {"False", "True"}


@pytest.mark.parametrize("names", [["age", "visits"], ["town", "smokes"]])
def test_columns_of_one_type_alone_can_be_encoded(table, names):
    column_types = {name: COLUMN_TYPES[name] for name in names}
    rows = arrow(table, column_types)
    encoding = Encoding.fit(rows, column_types, locate)
    assert encoding.encode(rows, locate).shape == (1200, encoding.n_features)
    assert list(encoding.categories) == [name for name in names if name in ("town", "smokes")]


def test_a_column_without_a_value_in_the_sample_is_left_out(table):
    encoding = Encoding.fit(arrow(table.assign(age=None)[:600]), COLUMN_TYPES, locate)
    assert list(encoding.column_types) == ["visits", "town", "smokes"]
    assert np.isfinite(encoding.encode(arrow(table), locate)).all()
    ages = {"age": "number"}
    with pytest.raises(ValueError, match="none of the 1 columns has a value"):
        Encoding.fit(arrow(table.assign(age=None), ages), ages, locate)


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e300])
def test_numbers_without_a_finite_square_are_refused_with_their_place(table, encoding, value):
    rows = arrow(pd.concat([table[:5], table[5:9].assign(age=value)]))
    message = rf"column 'age' in row 106 of a.csv holds {value:g}. Correct it".replace("+", r"\+")
    with pytest.raises(ValueError, match=message):
        encoding.encode(rows, locate)
    with pytest.raises(ValueError, match=message):
        Encoding.fit(rows, COLUMN_TYPES, locate)


def test_categories_that_are_not_known_are_counted_by_column():
    towns, smokes = ["Oslo", "Lima", None, "Lima", "Bonn"], [True, False, None, True, True]
    table = pa.table({"town": towns, "smokes": smokes, "other": range(5)})
    assert find_unseen(table, KNOWN) == {"town": Unseen(frozenset({"Lima", "Bonn"}), 3)}
    assert find_unseen(table.slice(0, 1), KNOWN) == {}
    assert find_unseen(table.slice(2, 1), KNOWN) == {}
    assert find_unseen(table, {}) == {}


def test_a_category_of_many_tables_is_counted_once():
    count = UnseenCount()
    for _ in range(7):
        count.add(Unseen(frozenset({"Lima"}), 1))
    assert str(count) == "7 rows with 1 category that the model does not know ('Lima')"
    count.add(Unseen(frozenset({"Lima", "Bonn", "Ulm", "Kiel"}), 2000))
    assert str(count).startswith(
        "2,007 rows with 4 categories that the model does not know ('Lima'"
    )
    assert str(count).endswith("'Bonn', 'Kiel', ...)")


@pytest.mark.parametrize("n_more", [0, 1, 100])
def test_memory_is_bounded(monkeypatch, n_more):
    monkeypatch.setattr("skliquid.streams.column_encoding._MAX_COUNTED", 10)
    count = UnseenCount()
    for k in range(10 + n_more):
        count.add(Unseen(frozenset({f"{k} " + "x" * 999}), 1))
    assert len(count.hashes) <= 11
    assert max(map(len, count.examples)) == 30
    assert ("over 10 categories" in str(count)) == (n_more > 0)
    assert f"{10 + n_more} rows" in str(count)
