import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from skliquid.streams.coding import Coding, as_frame, check_numbers
from skliquid.streams.files import DataFiles

KINDS = {"age": "number", "visits": "number", "town": "text", "smokes": "truth"}


def arrow(frame):
    types = {"number": pa.float64(), "text": pa.string(), "truth": pa.bool_()}
    frame = frame.astype(object).where(frame.notna(), None)
    return pa.table({k: pa.array(frame[k], types[kind]) for k, kind in KINDS.items()})


@pytest.fixture
def coding(table):
    return Coding.fitted(arrow(table[:600]), KINDS)


def strange(table):
    """Return rows with what the first sample had not: categories, missing values, truth values."""
    frame = table[600:].astype({"smokes": object})
    frame.loc[650:700, "town"] = "Lima"
    frame.loc[690:720, "visits"] = None
    frame.loc[720:730, "smokes"] = None
    return frame


def test_fast_coding_has_the_bits_of_the_coder(table, coding):
    for frame in (table[600:], strange(table), table[600:601], strange(table)[90:125]):
        rows = arrow(frame)
        slow = coding.coder.transform(as_frame(rows, KINDS))
        assert np.array_equal(coding.code(rows), slow)


def test_fast_coding_has_the_bits_of_the_coder_when_categories_are_many():
    rng = np.random.default_rng(0)
    rows = pa.table({f"c{k}": [f"n{v}" for v in rng.integers(200, size=900)] for k in range(3)})
    kinds = dict.fromkeys(rows.column_names, "text")
    coding = Coding.fitted(rows.slice(0, 500), kinds)
    assert coding.n_features == 3 * 50
    assert np.array_equal(coding.code(rows), coding.coder.transform(as_frame(rows, kinds)))


def test_an_empty_text_is_not_a_missing_one():
    rows = pa.table({"c": ["", None, "a", ""]})
    coding = Coding.fitted(rows, {"c": "text"})
    assert coding.code(rows).tolist() == [[1, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]]
    assert np.array_equal(coding.code(rows), coding.coder.transform(as_frame(rows, {"c": "text"})))


def test_numbers_that_are_missing_only_after_the_sample_become_the_median(table, coding):
    rows = strange(table)
    coded = coding.code(arrow(rows))
    assert np.isfinite(coded).all()
    scaler = coding.coder.named_transformers_["numbers"][-1]
    median = table["visits"][:600].median()
    is_missing = rows["visits"].isna().to_numpy()
    assert np.allclose(coded[is_missing, 1], (median - scaler.mean_[1]) / scaler.scale_[1])


def test_unseen_categories_are_coded_as_none(table, coding):
    rows = strange(table)
    coded = coding.code(arrow(rows))
    of_town = coded[:, -6:-2]
    assert not of_town[(rows["town"] == "Lima").to_numpy()].any()
    assert of_town[(rows["town"] != "Lima").to_numpy()].sum(axis=1).min() == 1


def test_columns_without_a_known_category_are_strange(table, coding):
    assert coding.strange(arrow(strange(table))) == set()
    assert coding.strange(arrow(table[:50].assign(town="Lima"))) == {"town"}
    assert coding.strange(arrow(table[:50].assign(town=None))) == set()


def test_columns_of_one_kind_alone_can_be_coded(table):
    for names in (["age", "visits"], ["town", "smokes"]):
        kinds = {name: KINDS[name] for name in names}
        coding = Coding.fitted(arrow(table), kinds)
        assert coding.code(arrow(table)).shape == (1200, coding.n_features)


def test_a_column_without_a_value_in_the_sample_is_left_out(table):
    coding = Coding.fitted(arrow(table.assign(age=None)[:600]), KINDS)
    assert list(coding.kinds) == ["visits", "town", "smokes"]
    assert np.isfinite(coding.code(arrow(table))).all()
    with pytest.raises(ValueError, match="none of the 1 columns besides the target has a number"):
        Coding.fitted(arrow(table.assign(age=None)), {"age": "number"})


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e300])
def test_numbers_without_a_finite_square_are_refused_with_their_place(table, write, value):
    files = DataFiles(write(table, "a.csv"))
    rows = arrow(pd.concat([table[:5], table[5:9].assign(age=value)]))
    said = rf"column 'age' in row 106 of .*a.csv holds {value:g}. Mend it".replace("+", r"\+")
    with pytest.raises(ValueError, match=said):
        check_numbers(rows, KINDS, 100, files)
