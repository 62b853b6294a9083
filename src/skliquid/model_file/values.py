"""Values: how Python's values, and objects of known kinds, become a JSON document and arrays.

Null, booleans, texts, finite numbers and lists are what they are in JSON. All else is an object
with a ``"kind"``: those of this file, or a :class:`Kind` with fields, each of which is checked when
it is read. There is no other way from a file to a class or function than the tables of kinds.
"""

import math
from collections import UserList
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skliquid.model_file.container import DTYPES, Content
from skliquid.model_file.fields import Check, Unfit, check_fields, inside

_EXACT = 2**53  # whole numbers beyond it are not exact in JSON readers that have floats only
_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_NUMPY_TYPES = frozenset(DTYPES.values())
_STORABLE = "biuf"
_BROKEN = (
    *(ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError),
    *(TypeError, ValueError),
)
"""What making an object of fields that do not fit together may raise."""


@dataclass(frozen=True)
class Kind:
    """Objects of one class: their fields, and how they are taken apart and made."""

    name: str
    cls: type
    fields: Mapping[str, Check]
    take_apart: Callable[[Any], dict[str, Any]]
    make: Callable[..., Any]
    optional: frozenset[str] = frozenset()
    matches: Callable[[Any], bool] | None = None  # which objects, if their class is not imported


@dataclass
class Vocabulary:
    """All kinds and functions that a file may name."""

    kinds: dict[str, Kind]
    functions: dict[str, Callable[..., Any]]
    by_class: dict[type, Kind] = field(init=False)

    def __post_init__(self) -> None:
        self.by_class = {kind.cls: kind for kind in self.kinds.values()}

    def kind_of(self, value: Any) -> Kind | None:
        """Return the kind of an object, or None if files do not hold it."""
        matching = (k for k in self.kinds.values() if k.matches is not None and k.matches(value))
        return self.by_class.get(type(value)) or next(matching, None)


# Writing


class Writer:
    """Turns a value into a document and its arrays; equal arrays are stored once."""

    def __init__(self, vocabulary: Vocabulary):
        self._vocabulary = vocabulary
        self._arrays: list[NDArray[Any]] = []
        self._places: dict[tuple[str, tuple[int, ...], bytes], int] = {}

    def content(self, value: Any) -> Content:
        """Return what a file that holds ``value`` holds."""
        return Content(self._document(value), self._arrays)

    def _document(self, value: Any) -> Any:
        written = _WRITTEN.get(type(value))
        return self._other(value) if written is None else written(self, value)

    def _integer(self, value: int) -> Any:
        is_exact = abs(value) <= _EXACT
        return value if is_exact else {"kind": "integer", "digits": str(value)}

    def _float(self, value: float) -> Any:
        return value if math.isfinite(value) else {"kind": "float", "value": str(value)}

    def _list(self, values: list[Any]) -> list[Any]:
        return list(self._items(values))

    def _tuple(self, values: tuple[Any, ...]) -> dict[str, Any]:
        return {"kind": "tuple", "items": self._list(list(values))}

    def _dict(self, values: dict[Any, Any]) -> dict[str, Any]:
        return {"kind": "dict", "items": list(self._pairs(values))}

    def _limits(self, value: range | slice) -> dict[str, Any]:
        limits = [value.start, value.stop, value.step]
        return {"kind": type(value).__name__, "limits": limits}

    def _items(self, values: Any) -> Iterator[Any]:
        for k, value in enumerate(values):
            with inside(f"[{k}]"):
                yield self._document(value)

    def _pairs(self, values: dict[Any, Any]) -> Iterator[Any]:
        for key, value in values.items():
            with inside(f"[{key!r}]"):
                yield [self._document(key), self._document(value)]

    def _array(self, array: NDArray[Any]) -> dict[str, Any]:
        if array.dtype.kind == "U" and array.ndim == 1:
            return {"kind": "texts", "items": [_checked_text(text) for text in array.tolist()]}
        if array.dtype.kind == "O" and array.ndim == 1:
            return {"kind": "objects", "items": list(self._items(array.tolist()))}
        if array.dtype.kind not in _STORABLE or _little(array.dtype) not in _NUMPY_TYPES:
            raise Unfit(f"an array of numbers or texts: got one of the type {array.dtype}")
        if array.flags.f_contiguous and not array.flags.c_contiguous:  # which products depend on
            return {"kind": "transposed", "array": self._array(array.T)}
        array = np.array(array, dtype=_little(array.dtype), order="C")
        key = array.dtype.str, array.shape, sha256(array.tobytes()).digest()
        place = self._places.setdefault(key, len(self._arrays))
        if place == len(self._arrays):
            self._arrays.append(array)
        return {"kind": "array", "place": place}

    def _other(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):  # of a subclass
            return self._array(value)
        if isinstance(value, str):
            return _checked_text(value)
        if isinstance(value, UserList):  # of scikit-learn before 1.7
            return self._list(value.data)
        if isinstance(value, np.generic) and _little(value.dtype) in _NUMPY_TYPES:
            return {"kind": "scalar", "value": self._array(np.asarray(value))}
        if isinstance(value, np.dtype) and _little(value) in _NUMPY_TYPES:
            return {"kind": "dtype", "name": value.name}
        kind = self._vocabulary.kind_of(value)
        return self._named(value) if kind is None else self._object(kind, value)

    def _named(self, value: Any) -> dict[str, Any]:
        """Return the name of a function, or of a type of numbers."""
        if isinstance(value, type) and issubclass(value, np.generic):
            return {"kind": "type", "name": np.dtype(value).name}
        for name, function in self._vocabulary.functions.items():
            if function is value:
                return {"kind": "function", "name": name}
        raise Unfit(f"data, or of a kind that files hold: got {_described(value)}")

    def _object(self, kind: Kind, value: Any) -> dict[str, Any]:
        written = {"kind": kind.name}
        for name, part in kind.take_apart(value).items():
            with inside(name):
                if name not in kind.fields:
                    raise Unfit(f"an attribute of {kind.name} that files hold")
                written[name] = self._document(part)
        return written


_WRITTEN: dict[type, Callable[[Writer, Any], Any]] = {
    type(None): lambda _, value: value,
    bool: lambda _, value: value,
    str: lambda _, value: _checked_text(value),
    int: Writer._integer,
    float: Writer._float,
    list: Writer._list,
    tuple: Writer._tuple,
    dict: Writer._dict,
    range: Writer._limits,
    slice: Writer._limits,
    np.ndarray: Writer._array,
}
"""How values of these types are written."""


def _described(value: Any) -> str:
    if callable(value) and hasattr(value, "__qualname__"):
        return f"the function {value.__module__}.{value.__qualname__}"
    return f"a {type(value).__module__}.{type(value).__qualname__}"


def _little(dtype: np.dtype[Any]) -> str:
    return dtype.newbyteorder("<").str


def _checked_text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Unfit(f"text that UTF-8 can hold: got {text!r}") from error
    return str(text)


# Reading


class Reader:
    """Turns a document and its arrays into a value again; it trusts neither."""

    def __init__(self, vocabulary: Vocabulary, content: Content):
        self._vocabulary, self._arrays = vocabulary, content.arrays
        self._document = content.document
        self._copies: dict[int, NDArray[Any]] = {}

    def value(self) -> Any:
        """Return the value; :class:`Unfit` says what is wrong, and where."""
        return self._value(self._document)

    def _value(self, document: Any) -> Any:
        if isinstance(document, list):
            return list(self._items(document))
        if not isinstance(document, dict):
            return document
        name = document.get("kind")
        if not isinstance(name, str):
            raise Unfit("an object with a kind")
        plain = _PLAIN.get(name)
        if plain is not None:
            parts = {key: part for key, part in document.items() if key != "kind"}
            expected, make = plain
            if set(parts) != {expected}:
                raise Unfit(f"an object with {expected!r} beside its kind {name!r}")
            return make(self, parts[expected])
        return self._object(name, document)

    def _items(self, documents: list[Any]) -> Iterator[Any]:
        for k, document in enumerate(documents):
            with inside(f"[{k}]"):
                yield self._value(document)

    def _object(self, name: str, document: dict[str, Any]) -> Any:
        kind = self._vocabulary.kinds.get(name)
        if kind is None:
            raise Unfit(f"of a known kind: got {name[:40]!r}")
        parts = dict(self._fields(kind, document))
        if missing := kind.fields.keys() - parts.keys() - kind.optional:
            raise Unfit(f"a {name} with {', '.join(sorted(missing))}")
        try:
            check_fields(parts, kind.fields, {})
            return kind.make(**parts)
        except Unfit:
            raise
        except _BROKEN as error:
            raise Unfit(f"a valid {name}: {type(error).__name__}: {error}") from error

    def _fields(self, kind: Kind, document: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        for name, part in document.items():
            if name == "kind":
                continue
            with inside(name[:40]):
                if name not in kind.fields:
                    raise Unfit(f"a field of {kind.name}")
                yield name, self._value(part)

    def _array(self, place: Any) -> NDArray[Any]:
        if type(place) is not int or not 0 <= place < len(self._arrays):
            raise Unfit(f"an array of the file, by its number: got {place!r}")
        if place not in self._copies:  # what was checked must not change with the file after that
            self._copies[place] = np.array(self._arrays[place])
            self._copies[place].flags.writeable = False
        return self._copies[place]

    def _transposed(self, document: Any) -> NDArray[Any]:
        array = self._value(document)
        if not isinstance(array, np.ndarray):
            raise Unfit("an array")
        return array.T

    def _listed(self, documents: Any) -> list[Any]:
        if not isinstance(documents, list):
            raise Unfit(f"a list: got {documents!r:.40}")
        return list(self._items(documents))

    def _dict(self, documents: Any) -> dict[Any, Any]:
        pairs = self._listed(documents)
        if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
            raise Unfit("a list of pairs")
        keys = [key for key, _ in pairs]
        if not all(isinstance(key, str | int | float | tuple | np.generic) for key in keys):
            raise Unfit("a list of pairs of a text or number and a value")
        found = dict(pairs)
        if len(found) < len(pairs):
            raise Unfit("a list of pairs with different keys")
        return found

    def _texts(self, documents: Any) -> NDArray[Any]:
        texts = self._listed(documents)
        longest = max((len(text) for text in texts if isinstance(text, str)), default=0)
        n_bytes = sum(len(text.encode()) for text in texts if isinstance(text, str))
        if not all(isinstance(text, str) for text in texts):
            raise Unfit("a list of texts")
        # numpy gives each text the room of the longest
        if longest * len(texts) > 1_000_000 + 16 * n_bytes:
            return self._objects(documents)
        return np.array(texts, dtype=f"U{max(longest, 1)}")

    def _objects(self, documents: Any) -> NDArray[Any]:
        items = self._listed(documents)
        if not all(item is None or isinstance(item, str | int | float) for item in items):
            raise Unfit("a list of texts, numbers and null")
        objects = np.empty(len(items), dtype=object)
        objects[:] = items
        return objects

    def _function(self, name: Any) -> Any:
        if not isinstance(name, str) or name not in self._vocabulary.functions:
            raise Unfit(f"a known function: got {name!r:.60}")
        return self._vocabulary.functions[name]

    def _scalar(self, document: Any) -> Any:
        array = self._value(document)
        if not isinstance(array, np.ndarray) or array.shape != () or array.dtype.kind == "O":
            raise Unfit("an array without dimensions")
        return array[()]

    def _limits(self, limits: Any, low: int | None) -> list[Any]:
        is_valid = isinstance(limits, list) and len(limits) == 3
        for limit in limits if is_valid else ():
            is_whole = type(limit) is int and abs(limit) <= _EXACT
            is_valid = is_valid and (is_whole or (limit is None and low is None))
        if not is_valid or limits[2] == 0:
            raise Unfit(f"three whole numbers: got {limits!r:.40}")
        return list(limits)


def _integer(_: Reader, digits: Any) -> int:
    is_number = isinstance(digits, str) and digits.isascii() and digits.removeprefix("-").isdigit()
    if not is_number or len(digits) > 4000:
        raise Unfit("a whole number in decimal digits")
    return int(digits)


def _float(_: Reader, text: Any) -> float:
    if not isinstance(text, str) or text not in _NOT_FINITE:
        raise Unfit(f"one of {', '.join(_NOT_FINITE)}")
    return _NOT_FINITE[text]


def _dtype(_: Reader, name: Any) -> np.dtype[Any]:
    known = {np.dtype(text).name: np.dtype(text) for text in _NUMPY_TYPES}
    if not isinstance(name, str) or name not in known:
        raise Unfit(f"one of {', '.join(sorted(known))}: got {name!r:.40}")
    return known[name]


_PLAIN: dict[str, tuple[str, Callable[[Reader, Any], Any]]] = {
    "integer": ("digits", _integer),
    "float": ("value", _float),
    "tuple": ("items", lambda reader, items: tuple(reader._listed(items))),
    "dict": ("items", Reader._dict),
    "array": ("place", Reader._array),
    "transposed": ("array", Reader._transposed),
    "texts": ("items", Reader._texts),
    "objects": ("items", Reader._objects),
    "scalar": ("value", Reader._scalar),
    "dtype": ("name", _dtype),
    "type": ("name", lambda reader, name: _dtype(reader, name).type),
    "range": ("limits", lambda reader, limits: range(*reader._limits(limits, 0))),
    "slice": ("limits", lambda reader, limits: slice(*reader._limits(limits, None))),
    "function": ("name", Reader._function),
}
"""Kinds without fields of their own: the one key beside ``"kind"``, and what makes the value."""
