import json
import math

import numpy as np
import pytest

from skliquid.delegation.graph import DelegationGraph
from skliquid.files.container import Content
from skliquid.files.documents import InvalidPart, Reader, Writer, _location
from skliquid.mechanisms.schedules import FixedCount
from skliquid.mechanisms.selection import least_competent

VALUES = [
    *(None, True, 0, -3, 2**53, 2**200, 0.1, 5e-324, math.inf, -math.inf, "", "ä", [], [1, [2]]),
    *((), (1, "a"), {}, {"a": 1, 2: (3,), (1, 2): None}, range(3, 9, 2), np.dtype("float32")),
    *(least_competent, FixedCount(3)),
]
ARRAYS = [
    *(np.arange(4.0), np.ones((2, 0)), np.array(3), np.array(["a", "bc"]), np.float32([[1, 2]])),
    *(np.array([None, "a", 2**70], dtype=object), np.array([True]), np.arange(3, dtype=">i4")),
    *(np.array(["ä", None, ""], dtype=object), np.array([], dtype="U1")),
]


def again(value):
    return Reader(Writer().serialize(value)).model()


def read(document, *arrays):
    return Reader(Content(json.dumps(document).encode(), list(arrays))).model()


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


def test_not_a_number_survives_and_scalars_of_numpy_become_numbers():
    assert math.isnan(again(math.nan))
    assert again(np.float64(0.1)) == 0.1
    assert again(np.int8(3)) == 3


def test_the_order_of_memory_survives():
    array = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    found = again(array)
    assert np.array_equal(found, array)
    assert found.flags.f_contiguous


def test_a_part_that_others_share_is_stored_once():
    graph = DelegationGraph.direct(3)
    content = Writer().serialize([graph, graph, DelegationGraph.direct(3)])
    assert len(content.arrays) == 2
    first, second, third = Reader(content).model()
    assert first is second
    assert first is not third


@pytest.mark.parametrize("value", [object(), lambda: 1, {1, 2}, b"a", 1j, np.array([1j]), "\ud800"])
def test_other_values_are_refused(value):
    with pytest.raises(InvalidPart, match="model"):
        Writer().serialize([value])


ONE = {"is": "array", "at": 0}
WRONG_VALUES = [
    *({}, {"is": 3}, {"is": "unheard of"}, {"is": "tuple"}, {"is": "tuple", "items": 3}),
    *({"is": "tuple", "items": [], "more": 1}, {"is": "dict", "items": [[1]]}),
    *({"is": "dict", "items": [[1, 2], [1, 3]]}, {"is": "dict", "items": [[[], 2]]}),
    *({"is": "array", "at": 1}, {"is": "array", "at": -1}, {"is": "array", "at": True}),
    *({"is": "part", "at": 0}, {"is": "objects", "items": [[]]}, {"is": "float", "value": "1"}),
    *({"is": "texts", "at": 0, "lengths": 0}, {"is": "dtype", "name": "object"}),
    *({"is": "range", "start": 0, "stop": 1, "step": 0}, {"is": "function", "name": "os.system"}),
    *([ONE, ONE], [[[ONE]], {"is": "tuple", "items": [ONE]}]),
]
WRONG_PARTS = [
    *({"type": "unheard of"}, {"type": "FixedCount"}, {"type": "FixedCount", "count": -1}),
    *({"type": "FixedCount", "count": True}, {"type": "FixedCount", "count": 1, "more": 2}),
    *({"type": "DelegationGraph", "delegation": ONE}, {"type": "DelegationGraph", "delegation": 3}),
    {"type": "Rounded", "rate": {"is": "part", "at": 0}},
    {"type": "NewClasses", "rows": {"is": "function", "name": "better"}},
]


@pytest.mark.parametrize("value", WRONG_VALUES, ids=repr)
def test_wrong_values_are_refused(value):
    with pytest.raises(InvalidPart):
        read({"parts": [], "model": [value]}, np.ones(2))


@pytest.mark.parametrize("part", WRONG_PARTS, ids=repr)
def test_wrong_parts_are_refused(part):
    with pytest.raises(InvalidPart):
        read({"parts": [part], "model": 1}, np.ones(2))


@pytest.mark.parametrize(
    "text",
    [
        b"[NaN]",
        b"[",
        b"[" * 50_000,
        b"\xff",
        b"1" * 5000,
        b"{}",
        b"[]",
        b'{"parts":[],"model":1e999}',
        b'{"parts":[],"model":' + b"[" * 3000 + b"]" * 3000 + b"}",
    ],
)
def test_documents_that_are_not_plain_json_are_refused(text):
    with pytest.raises(InvalidPart):
        Reader(Content(text, [])).model()


def test_errors_say_where():
    with pytest.raises(InvalidPart, match=r"parts\[0\]\.count"):
        read({"parts": [{"type": "FixedCount", "count": -1}], "model": 1})
    with pytest.raises(InvalidPart, match=r"parts\[0\], DelegationGraph.delegation: .*dimensions"):
        read(
            {"parts": [{"type": "DelegationGraph", "delegation": ONE}], "model": 1},
            np.ones((1, 1), int),
        )


def test_texts_do_not_take_more_room_than_the_file():
    texts = ["x" * 10_000, *(["a"] * 5_000)]
    found = again(np.array(texts, dtype=object))
    assert found.nbytes < 1_000_000
    assert found.tolist() == texts


def test_an_error_without_a_message_is_named_by_its_type():
    with pytest.raises(InvalidPart, match=r"^parts: MemoryError$"), _location("parts"):
        raise MemoryError
