"""Dates, texts and many categories as numbers."""

import calendar as standard_calendar
import math
from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import pytest

from skliquid.tables.column_encoders import (
    PARTS,
    TextEncoder,
    calendar,
    date_steps,
    frequent_classes,
    target_steps,
)

MOMENTS = [datetime(1904, 2, 29, 23, 59) + timedelta(days=497 * k, hours=7 * k) for k in range(120)]


def test_parts_of_dates_are_those_of_the_standard_library():
    parts = dict(zip(PARTS, calendar(pd.DataFrame({"at": MOMENTS})).T, strict=True))
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
    assert not parts["missing"].any()


def test_parts_of_a_missing_date_are_missing():
    parts = calendar(pd.DataFrame({"at": [MOMENTS[0], None]}))[1]
    assert np.isnan(parts[:-1]).all()
    assert parts[-1] == 1


def test_parts_that_do_not_vary_are_left_out():
    days = pd.DataFrame({"on": pd.date_range("2024-03-01", periods=9), "at": MOMENTS[:9]})
    steps = date_steps()
    values = steps.fit_transform(days)
    names = steps.get_feature_names_out(["on", "at"]).tolist()
    of_on = ["days", "day", "weekday", "year_sin", "year_cos", "week_sin", "week_cos"]
    assert names == [f"on_{part}" for part in of_on] + [f"at_{part}" for part in PARTS[:-1]]
    assert np.allclose([values.mean(axis=0), values.std(axis=0)], [[0] * 19, [1] * 19])


def test_a_missing_date_is_the_median_with_an_indicator():
    steps = date_steps()
    dates = pd.DataFrame({"at": [*pd.date_range("2024-03-01", periods=5), None]})
    values = steps.fit_transform(dates)
    assert "at_missing" in steps.get_feature_names_out(["at"])
    assert values[-1, 0] == values[2, 0]  # days


def similarity(values):
    unit = values / np.linalg.norm(values, axis=1, keepdims=True)
    return unit @ unit.T


@pytest.mark.parametrize(("by", "is_found"), [("spelling", True), ("words", False)], ids=str)
def test_misspelled_names_are_similar_by_spelling_and_not_by_words(by, is_found):
    rng = np.random.default_rng(0)
    names = ["".join(rng.choice(list("abcdefghijklmnopqrst"), 9)) for _ in range(100)]
    wrong = [f"{name[:4]}{name[5:]}" for name in names]
    encoder = TextEncoder(by, random_state=0).fit(np.array([names], dtype=object).T)
    values = encoder.transform(np.array([[*names, *wrong]], dtype=object).T)
    nearest = similarity(values)[100:, :100].argmax(axis=1)
    assert (np.mean(nearest == np.arange(100)) > 0.8) == is_found


def test_texts_with_the_same_words_are_similar():
    rng = np.random.default_rng(0)
    subjects = [["river", "boat", "fish", "water"], ["engine", "wheel", "road", "brake"]]
    texts = [" ".join(rng.choice(subjects[k % 2], 8)) for k in range(60)]
    found = similarity(
        TextEncoder(random_state=0).fit_transform(np.array([texts], dtype=object).T)[:, :2]
    )
    same = np.equal.outer(np.arange(60) % 2, np.arange(60) % 2)
    assert found[same].mean() > 0.3 > found[~same].mean()


def test_a_missing_text_is_an_empty_one_and_columns_are_encoded_by_themselves():
    texts = np.array([[f"word{k} and", f"other{k % 7} {k}"] for k in range(60)], dtype=object)
    encoder = TextEncoder(random_state=0).fit(texts)
    rows = np.array([[None, "other3"], ["", "other3"]], dtype=object)
    values = encoder.transform(rows)
    assert values.shape == (2, 60)
    assert np.array_equal(values[0], values[1])
    alone = TextEncoder(random_state=0).fit(texts[:, 1:]).transform(rows[:, 1:])
    assert np.array_equal(values[:, 30:], alone)
    assert encoder.get_feature_names_out(["a", "b"])[[0, 59]].tolist() == ["a_0", "b_29"]


def test_categories_are_encoded_by_the_share_of_each_class():
    rng = np.random.default_rng(0)
    codes = rng.integers(60, size=6000)
    share = np.linspace(0, 1, 60)
    y = rng.random(6000) < share[codes]
    steps = target_steps(0).fit(pd.DataFrame({"c": codes.astype(str)}), y)
    found = steps.transform(pd.DataFrame({"c": [str(k) for k in range(60)]}))[:, 0]
    assert np.corrcoef(found, share)[0, 1] > 0.98
    unknown = steps.transform(pd.DataFrame({"c": ["60", None]}))
    assert np.allclose(unknown, 0, atol=0.1)  # the mean of all rows


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        (None, None),
        ([0] * 9 + [1] * 5, [0] * 9 + [1] * 5),
        (["a"] * 9 + ["b"] * 5 + ["c"] * 4, ["a"] * 9 + ["b"] * 5 + ["a"] * 4),
        (["a"] * 9 + ["b"] * 4, None),
        (np.arange(30.0), None),
    ],
    ids=["none", "two", "rare", "one", "numbers"],
)
def test_rare_classes_count_as_the_most_common_one(y, expected):
    found = frequent_classes(y)
    assert found is expected if expected is None else found.tolist() == expected


def test_at_most_twenty_classes_have_a_column():
    found = frequent_classes(np.repeat(np.arange(50), np.arange(50, 0, -1) + 4))
    assert np.unique(found).tolist() == list(range(20))
