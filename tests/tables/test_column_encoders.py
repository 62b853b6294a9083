"""Numbers, categories, dates and texts as columns of numbers."""

import calendar as standard_calendar
import math
from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import pytest

from skliquid.tables.column_encoders import (
    MAX_VALUES,
    N_FOLDS,
    OTHER,
    PARTS,
    Calendar,
    Codes,
    Column,
    Numbers,
    Target,
    TargetShares,
    TextComponents,
    calendar,
)
from skliquid.tables.frames import as_frame
from skliquid.tables.text_values import DateFormat, NumberFormat

MOMENTS = [datetime(1904, 2, 29, 23, 59) + timedelta(days=497 * k, hours=7 * k) for k in range(120)]


def column(values, **options):
    return Column(as_frame(pd.DataFrame({"c": pd.Series(values, **options)})), "c")


def target(y=None, n_rows=None, *, is_first=True):
    y = np.zeros(n_rows, dtype=int) if y is None else np.asarray(y)
    folds = np.random.default_rng(0).permutation(len(y)) % N_FOLDS
    return Target(y, max(int(y.max()) + 1, 2), folds, is_first)


def learned(encoder, values, y=None):
    found = column(values)
    encoder.learn_and_encode(found, target(y, found.n_rows))
    return encoder


# Numbers


def test_numbers_of_columns_and_of_texts():
    encoder = Numbers(NumberFormat(prefix="$", thousands=",", markers=("-",)))
    assert encoder.encode(column([1, None, 2.5])).tolist()[::2] == [[1], [2.5]]
    found = encoder.encode(column(["$1,234", "-", "$7"]))
    assert np.array_equal(found, [[1234], [np.nan], [7]], equal_nan=True)


@pytest.mark.parametrize(
    ("values", "found"),
    [(["1", "x"], "'x'"), ([True, False], "'True'"), (pd.to_datetime(["2024-01-01"]), "dates")],
    ids=["text", "boolean", "date"],
)
def test_values_that_are_not_numbers_are_named(values, found):
    with pytest.raises(ValueError, match=f"must have numbers in the column 'c', .* got {found}"):
        Numbers().encode(column(values))


def test_infinite_numbers_are_refused():
    with pytest.raises(ValueError, match="finite numbers: the column 'c' holds an infinite one"):
        Numbers().encode(column([1.0, np.inf]))


# Categories


def test_codes_are_by_frequency_and_ties_by_text():
    encoder = learned(Codes(), ["b", "c", "a", "c", None, "c", "b"])
    assert encoder.values == ["c", "b", "a"]
    found = encoder.encode(column(["a", "b", "c", None, "unseen"]))[:, 0]
    assert np.array_equal(found, [2, 1, 0, np.nan, OTHER], equal_nan=True)


def test_the_62_most_frequent_categories_have_codes():
    values = [f"n{k}" for k in range(80) for _ in range(80 - k)]
    encoder = learned(Codes(), values)
    assert encoder.values == [f"n{k}" for k in range(62)]
    assert encoder.encode(column(["n61", "n62", "n79"])).tolist() == [[61], [OTHER], [OTHER]]


def test_later_categories_get_the_next_codes_while_there_are_some():
    encoder = learned(Codes(), ["a", "b", "a"])
    later = column(["c", "b", "b", "b", *map(str, range(70))])
    encoder.learn_and_encode(later, target(n_rows=later.n_rows, is_first=False))
    assert encoder.values[:3] == ["a", "b", "0"]
    assert len(encoder.values) == OTHER


def test_missing_categories_may_count_as_others():
    encoder = Codes(["a"], missing_is_other=True)
    assert encoder.encode(column(["a", None])).tolist() == [[0], [OTHER]]


@pytest.mark.parametrize("n_rows", [3, 40])
def test_categories_with_the_same_text_are_the_same(n_rows):
    encoder = learned(Codes(), ["1", "True", "1"])
    for values, code in (([True, "True"], 1), ([1, 1.0, "1", np.float32(1)], 0)):
        assert set(encoder.encode(column(values * n_rows, dtype=object))[:, 0]) == {code}


def test_booleans_have_several_spellings():
    encoder = learned(Codes(), [True, True, False])
    for yes, no in ((True, False), (1, 0), (1.0, 0.0), ("true", "false"), ("TRUE", "FALSE")):
        assert encoder.encode(column([yes, no], dtype=object)).tolist() == [[0], [1]]
    assert encoder.encode(column(["yes"])).tolist() == [[OTHER]]
    texts = learned(Codes(), ["True", "False", "maybe"])
    assert texts.encode(column([1])).tolist() == [[OTHER]]


# Many categories


def test_shares_are_those_of_each_class_with_a_prior():
    y = [1, 0, 1, 1] * 50
    encoder = learned(TargetShares(), ["a", "b", "b", "a"] * 50, y)
    prior = 0.75
    expected = [(100 + 10 * prior) / 110, (50 + 10 * prior) / 110, prior]
    found = encoder.encode(column(["a", "b", "unseen", None]))[:, 0]
    assert np.allclose(found[:3], expected)
    assert np.isnan(found[3])
    assert np.allclose(encoder.prior, prior)


def test_three_classes_have_three_shares():
    encoder = learned(TargetShares(), ["a", "b", "c"] * 50, [0, 1, 2] * 50)
    found = encoder.encode(column(["a", "b", "c"]))
    assert np.allclose(found.sum(axis=1), 1)
    assert found.argmax(axis=1).tolist() == [0, 1, 2]
    assert encoder.names("c") == ["c_share_0", "c_share_1", "c_share_2"]


def test_shares_follow_the_classes():
    rng = np.random.default_rng(0)
    codes, share = rng.integers(60, size=6000), np.linspace(0, 1, 60)
    encoder = learned(
        TargetShares(), codes.astype(str), (rng.random(6000) < share[codes]).astype(int)
    )
    found = encoder.encode(column([str(k) for k in range(60)]))[:, 0]
    assert np.corrcoef(found, share)[0, 1] > 0.98


def test_training_rows_are_encoded_by_rows_of_other_folds():
    rng = np.random.default_rng(0)
    values, y = rng.integers(30, size=200).astype(str), rng.integers(2, size=200)
    own, encoder = target(y), TargetShares()
    found = encoder.learn_and_encode(column(values), own)[:, 0]
    for row in range(40):
        others = own.folds != own.folds[row]
        same = others & (values == values[row])
        expected = (y[same].sum() + 10 * y[others].mean()) / (same.sum() + 10)
        assert np.isclose(found[row], expected)


@pytest.mark.parametrize("n_values", [60, 300, 2000])
def test_shares_of_noise_say_nothing_about_the_class(n_values):
    rng = np.random.default_rng(n_values)
    values, y = rng.integers(n_values, size=2000).astype(str), rng.integers(2, size=2000)
    encoder = TargetShares()
    found = encoder.learn_and_encode(column(values), target(y))[:, 0]
    assert abs(np.corrcoef(found, y)[0, 1]) < 0.08  # 3.5 standard errors
    after = encoder.encode(column(values))[:, 0]
    assert np.corrcoef(after, y)[0, 1] > 0.1  # as it would be without folds


def test_rows_of_a_stream_are_encoded_by_earlier_rows():
    encoder = learned(TargetShares(), ["a", "b"] * 50, [0, 1] * 50)
    before = encoder.encode(column(["a", "b", "new"]))
    rows, y = column(["a", "b", "new"] * 40), [1, 0, 1] * 40
    found = encoder.learn_and_encode(rows, target(y, is_first=False))
    assert np.array_equal(found[:3], before)
    after = encoder.encode(column(["a", "b", "new"]))[:, 0]
    whole = learned(TargetShares(), [*["a", "b"] * 50, *["a", "b", "new"] * 40], [0, 1] * 50 + y)
    assert np.allclose(after, whole.encode(column(["a", "b", "new"]))[:, 0])


def test_labels_of_other_classes_count_as_rows():
    y = np.array([0, 1, -1, -1] * 50)
    encoder = TargetShares()
    rows = column(["a", "b", "a", "b"] * 50)
    encoder.learn_and_encode(rows, Target(y, 2, np.arange(200) % N_FOLDS, is_first=True))
    assert np.allclose(encoder.prior, 0.25)
    assert encoder.encode(column(["a", "b"]))[:, 0] == pytest.approx([2.5 / 110, 52.5 / 110])


def test_the_number_of_categories_is_limited():
    values = [str(k) for k in range(MAX_VALUES + 50)]
    encoder = learned(TargetShares(), values, np.arange(len(values)) % 2)
    assert len(encoder.values) == MAX_VALUES
    assert encoder.encode(column(values[-3:])).ravel() == pytest.approx(encoder.prior.repeat(3))


# Texts


def similarity(values):
    unit = values / np.linalg.norm(values, axis=1, keepdims=True)
    return unit @ unit.T


@pytest.mark.parametrize(("by", "is_found"), [("spelling", True), ("words", False)], ids=str)
def test_misspelled_names_are_similar_by_spelling_and_not_by_words(by, is_found):
    rng = np.random.default_rng(0)
    names = ["".join(rng.choice(list("abcdefghijklmnopqrst"), 9)) for _ in range(20)]
    wrong = [f"{name[:4]}{name[5:]}" for name in names]
    encoder = learned(TextComponents(by, 0), names)
    found = np.nan_to_num(encoder.encode(column([*names, *wrong]))) + 1e-12
    nearest = similarity(found)[20:, :20].argmax(axis=1)
    assert (np.mean(nearest == np.arange(20)) > 0.5) == is_found


def test_texts_with_the_same_words_are_similar():
    rng = np.random.default_rng(0)
    subjects = [["river", "boat", "fish", "water"], ["engine", "wheel", "road", "brake"]]
    texts = [" ".join(rng.choice(subjects[k % 2], 8)) for k in range(60)]
    found = similarity(learned(TextComponents(seed=0), texts).encode(column(texts))[:, :2])
    same = np.equal.outer(np.arange(60) % 2, np.arange(60) % 2)
    assert found[same].mean() > 0.3 > found[~same].mean()


@pytest.mark.parametrize("by", ["words", "spelling"])
def test_texts_are_encoded_independently_of_other_rows(by):
    texts = [f"{'word' * (k % 3 + 1)} {k}" for k in range(50)]
    encoder = learned(TextComponents(by, 0), texts)
    together = encoder.encode(column([*texts, None, ""]))
    alone = np.vstack([encoder.encode(column([text])) for text in [*texts, None, ""]])
    assert np.array_equal(together, alone, equal_nan=True)
    assert np.isnan(together[-2]).all()
    assert not together[-1].any()
    assert together.shape[1] == (30 if by == "words" else 10)


@pytest.mark.parametrize("by", ["words", "spelling"])
@pytest.mark.parametrize("n_values", [1, 2, 5])
def test_a_few_texts_have_components(by, n_values):
    texts = [f"word{k} another" for k in range(n_values)] * 3
    encoder = learned(TextComponents(by, 0), texts)
    found = encoder.encode(column(texts))
    assert np.isfinite(found).all()
    assert len(np.unique(found.round(9), axis=0)) == n_values
    assert found.shape[1] == len(encoder.names("c"))


# Dates


def test_parts_of_dates_are_those_of_the_standard_library():
    parts = dict(zip(PARTS, calendar(np.array(MOMENTS, dtype="datetime64[us]")).T, strict=True))
    days = [standard_calendar.timegm(m.timetuple()) / 86_400 for m in MOMENTS]
    assert np.allclose(parts["days"], days, rtol=1e-15)
    for name in ("year", "month", "day", "hour"):
        assert parts[name].tolist() == [getattr(moment, name) for moment in MOMENTS]
    assert parts["weekday"].tolist() == [moment.weekday() for moment in MOMENTS]
    of_day = [(m.hour + m.minute / 60) / 24 for m in MOMENTS]
    of_year = [(m.timetuple().tm_yday - 1) / 365.25 for m in MOMENTS]
    of_week = [m.weekday() / 7 for m in MOMENTS]
    for name, positions in {"year": of_year, "week": of_week, "day": of_day}.items():
        points = [(math.sin(2 * math.pi * p), math.cos(2 * math.pi * p)) for p in positions]
        assert np.allclose(np.transpose([parts[f"{name}_sin"], parts[f"{name}_cos"]]), points)


def test_parts_of_a_missing_date_are_missing():
    found = learned(Calendar(), MOMENTS[:9]).encode(column([MOMENTS[0], None]))
    assert np.isnan(found[1]).all()
    assert np.isfinite(found[0]).all()


def test_parts_that_do_not_vary_are_left_out():
    encoder = learned(Calendar(), pd.date_range("2024-03-01", periods=9))
    parts = ["days", "day", "weekday", "year_sin", "year_cos", "week_sin", "week_cos"]
    assert encoder.names("on") == [f"on_{part}" for part in parts]
    assert encoder.encode(column([datetime(2031, 4, 5, 6)])).shape == (1, 7)
    assert learned(Calendar(), MOMENTS[:9]).parts == list(PARTS)


def test_dates_may_be_text_later():
    encoder = learned(Calendar(DateFormat("%d.%m.%Y")), ["31.12.2020", "01.02.2021"])
    as_dates = pd.to_datetime(["2020-12-31", "2021-02-01"])
    found = encoder.encode(column(["31.12.2020", "01.02.2021"]))
    assert np.array_equal(found, encoder.encode(column(as_dates)))
    of_dates = learned(Calendar(), as_dates)
    iso = of_dates.encode(column(["2020-12-31", "2021-02-01"]))
    assert np.array_equal(iso, of_dates.encode(column(as_dates)))


@pytest.mark.parametrize(("values", "found"), [(["x"], "'x'"), ([1.5], "numbers")], ids=str)
def test_values_that_are_not_dates_are_named(values, found):
    encoder = learned(Calendar(), MOMENTS[:9])
    with pytest.raises(ValueError, match=f"must have dates in the column 'c', .* got {found}"):
        encoder.encode(column(values))
