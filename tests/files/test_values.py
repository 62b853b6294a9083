import math

import numpy as np
import pytest

from skliquid.files.container import Content
from skliquid.files.fields import InvalidField
from skliquid.files.schema import vocabulary
from skliquid.files.values import Reader, Writer
from skliquid.mechanisms.selection import least_competent

VALUES = [
    *(None, True, 0, -3, 2**53, 2**200, 0.1, 5e-324, math.inf, -math.inf, "", "ä", [], [1, [2]]),
    *((), (1, "a"), {}, {"a": 1, 2: (3,), (1, 2): None}, range(3, 9, 2), slice(0, 4, None)),
    *(np.dtype("float32"), np.float32, least_competent),
]
ARRAYS = [
    *(np.arange(4.0), np.ones((2, 0)), np.array(3), np.array(["a", "bc"]), np.float32([[1, 2]])),
    *(np.array([None, "a", 2**70], dtype=object), np.array([True]), np.arange(3, dtype=">i4")),
]


def read(content):
    return Reader(vocabulary(), content).value()


def again(value):
    return read(Writer(vocabulary()).serialize(value))


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values_survive(value):
    found = again(value)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("array", ARRAYS, ids=repr)
def test_arrays_survive_and_cannot_be_written_to(array):
    found = again(array)
    assert np.array_equal(found, array)
    assert found.shape == array.shape
    assert found.dtype.kind == array.dtype.kind
    if array.dtype.kind in "fi":
        with pytest.raises(ValueError, match="read-only"):
            found[...] = 0


def test_not_a_number_and_scalars_survive():
    assert math.isnan(again(math.nan))
    found = again(np.float32(0.1))
    assert found == np.float32(0.1)
    assert found.dtype == np.float32


def test_the_order_of_memory_survives():
    array = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    found = again(array)
    assert np.array_equal(found, array)
    assert found.flags.f_contiguous


def test_equal_arrays_are_stored_once():
    document, arrays = Writer(vocabulary()).serialize([np.ones(3), np.ones(3), np.zeros(3)])
    assert len(arrays) == 2
    assert document[0] == document[1] != document[2]


@pytest.mark.parametrize("value", [object(), lambda: 1, {1, 2}, b"a", 1j, np.array([1j]), "\ud800"])
def test_other_values_are_refused(value):
    with pytest.raises(InvalidField, match=r"\[0\] must be"):
        Writer(vocabulary()).serialize([value])


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"kind": 3},
        {"kind": "unheard of"},
        {"kind": "tuple"},
        {"kind": "tuple", "items": 3},
        {"kind": "tuple", "items": [], "more": 1},
        {"kind": "dict", "items": [[1]]},
        {"kind": "dict", "items": [[1, 2], [1, 3]]},
        {"kind": "dict", "items": [[[], 2]]},
        {"kind": "array", "place": 1},
        {"kind": "array", "place": -1},
        {"kind": "array", "place": True},
        {"kind": "transposed", "array": 3},
        {"kind": "scalar", "value": {"kind": "array", "place": 0}},
        {"kind": "texts", "items": ["a", 1]},
        {"kind": "objects", "items": [[]]},
        {"kind": "integer", "digits": "1x"},
        {"kind": "integer", "digits": "1" * 5000},
        {"kind": "float", "value": "1"},
        {"kind": "dtype", "name": "O"},
        {"kind": "range", "limits": [0, None, 1]},
        {"kind": "slice", "limits": [0, 1, 0]},
        {"kind": "function", "name": "os.system"},
        {"kind": "FixedCount"},
        {"kind": "FixedCount", "count": -1},
        {"kind": "FixedCount", "count": 1, "more": 2},
        {"kind": "DelegationGraph", "delegation": {"kind": "array", "place": 0}},
    ],
    ids=repr,
)
def test_wrong_documents_are_refused(document):
    with pytest.raises(InvalidField):
        read(Content([document], [np.ones(2)]))


def test_texts_do_not_take_more_room_than_the_file():
    texts = ["x" * 10_000, *(["a"] * 5_000)]
    found = read(Content({"kind": "texts", "items": texts}, []))
    assert found.nbytes < 1_000_000
    assert found.tolist() == texts
