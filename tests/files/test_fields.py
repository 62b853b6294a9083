import numpy as np
import pytest

from skliquid.files.fields import (
    Boolean,
    DictOf,
    InstanceOf,
    Integer,
    InvalidField,
    Labels,
    ListOf,
    Maybe,
    Number,
    Text,
    booleans,
    check_fields,
    floats,
    integers,
    location,
)

GOOD = [
    (Integer(0, 5), 5),
    (Integer(), np.int64(3)),
    (Number(0, 1), 0.5),
    (Number(), -7),
    (Boolean(), True),
    (Text(), "a"),
    (Text(("a", "b")), "b"),
    (Maybe(Text()), None),
    (ListOf(Integer()), (1, 2)),
    (DictOf(Integer()), {"a": 1}),
    (InstanceOf(dict), {}),
    (floats("n"), np.ones(2)),
    (floats("n", may_be_nan=True), np.array([np.nan, 1.0])),
    (integers("n", high=3), np.arange(4)),
    (booleans("n"), np.array([True])),
    (Labels(), np.array(["a", "b"])),
    (Labels(are_sorted=False), np.array([2, 1, 1])),
]
BAD = [
    (Integer(0, 5), 6, "from 0 to 5: got 6"),
    (Integer(), True, "got True"),
    (Integer(), 1.0, "got 1.0"),
    (Number(), np.nan, "finite number"),
    (Number(), "1", "finite number"),
    (Boolean(), 1, "true or false"),
    (Text(), 1, "text: got 1"),
    (Text(("a", "b")), "c", "one of a, b: got 'c'"),
    (Maybe(Text()), 1, "text"),
    (ListOf(Integer()), [1, "a"], r"\[1\] must be a whole number"),
    (ListOf(), {}, "a list"),
    (DictOf(Integer()), {"a": "b"}, r"\['a'\] must be a whole number"),
    (DictOf(), {1: 2}, "text"),
    (InstanceOf(dict), [], "a dict: got"),
    (floats("n"), np.array([np.nan]), "numbers from"),
    (floats("n"), np.array([np.inf]), "numbers from"),
    (floats("n"), np.array([1e200]), "numbers from"),
    (floats("n"), np.ones((1, 1)), "of 1 dimensions: got 2"),
    (floats("n"), np.arange(2), "of type f"),
    (floats(2), np.ones(3), "of length 2: got 3"),
    (integers("n", high=3), np.arange(5), "numbers from 0 to 3"),
    (integers("n"), np.array([-1]), "numbers from 0"),
    (booleans("n"), np.array([1]), "of type b"),
    (Labels(), np.array(["b", "a"]), "sorted"),
    (Labels(), np.array(["a", "a"]), "none of them twice"),
    (Labels(), np.array(["a", 1], dtype=object), "sorted"),
    (Labels(), [1, 2], "an array of labels"),
]


@pytest.mark.parametrize(("check", "value"), GOOD, ids=repr)
def test_values_that_follow_their_rule_pass(check, value):
    check(value, {})


@pytest.mark.parametrize(("check", "value", "problem"), BAD, ids=repr)
def test_values_that_break_their_rule_are_refused(check, value, problem):
    with pytest.raises(InvalidField, match=problem):
        check(value, {})


def test_arrays_agree_in_the_lengths_of_their_axes():
    fields = {
        "a": floats("n", "m"),
        "b": floats("n"),
        "n": Integer(name="n"),
        "c": ListOf(name="n"),
    }
    check_fields({"a": np.ones((2, 3)), "b": np.ones(2), "n": 2, "c": [1, 2]}, fields, {})
    for wrong in ({"b": np.ones(3)}, {"n": 3}, {"c": [1]}):
        with pytest.raises(InvalidField, match=f"{next(iter(wrong))} must be .*the n"):
            check_fields({"a": np.ones((2, 3))} | wrong, fields, {})


def test_an_axis_without_a_name_may_have_any_length():
    lengths = {}
    floats("")(np.ones(2), lengths)
    floats("")(np.ones(3), lengths)


def test_an_error_says_where_the_value_is():
    with (
        pytest.raises(InvalidField, match=r"^a\.b\[3\]\.c must be text"),
        location("a"),
        location("b"),
        location("[3]"),
        location("c"),
    ):
        Text()(1, {})
