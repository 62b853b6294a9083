"""Values: Python values and objects of stored types, as a JSON document with arrays, and back.

Null, booleans, texts, finite numbers and lists are themselves in JSON. Everything else is an object
with a ``"kind"``: one of this file, or the name of a :class:`StoredType`, whose fields are checked
when they are read. A file reaches no class or function outside these tables.
"""

import math
from collections import UserList
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skliquid.files.container import DTYPES, Content
from skliquid.files.fields import Check, InvalidField, check_fields, location, require

_MAX_EXACT = 2**53  # larger integers are not exact in JSON readers that have floats only
_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_STORABLE = frozenset(DTYPES.values())
_DTYPES = {np.dtype(text).name: np.dtype(text) for text in _STORABLE}
_CREATION_ERRORS = (
    *(ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError),
    *(TypeError, ValueError),
)
"""Errors of classes whose fields do not fit together."""


@dataclass(frozen=True)
class StoredType:
    """Objects of one class: their fields, and how they are converted to these and back."""

    name: str
    cls: type
    fields: Mapping[str, Check]
    to_fields: Callable[[Any], dict[str, Any]]
    from_fields: Callable[..., Any]
    optional: frozenset[str] = frozenset()


def stored_type(
    cls: type,
    from_fields: Callable[..., Any] | None = None,
    to_fields: Callable[[Any], dict[str, Any]] | None = None,
    /,
    **fields: Check,
) -> StoredType:
    """Return the stored type of a class; by default its fields are attributes and parameters."""

    def attributes(value: Any) -> dict[str, Any]:
        return {name: getattr(value, name) for name in fields}

    return StoredType(cls.__name__, cls, fields, to_fields or attributes, from_fields or cls)


class Vocabulary:
    """All stored types and functions that a file may name."""

    def __init__(self, types: Sequence[StoredType], functions: Iterable[Callable[..., Any]]):
        self.types = {stored.name: stored for stored in types}
        self.by_class = {stored.cls: stored for stored in types}
        self.functions = {f"{f.__module__}.{f.__name__}": f for f in functions}


# Writing


class Writer:
    """Serializes one value to a document and its arrays; equal arrays are stored once."""

    def __init__(self, vocabulary: Vocabulary):
        self._vocabulary = vocabulary
        self._arrays: list[NDArray[Any]] = []
        self._places: dict[tuple[str, tuple[int, ...], bytes], int] = {}

    def serialize(self, value: Any) -> Content:
        """Serialize ``value`` to a document and its arrays."""
        return Content(self._document(value), self._arrays)

    def _document(self, value: Any) -> Any:
        write = _WRITERS.get(type(value), Writer._other)
        return write(self, value)

    def _integer(self, value: int) -> Any:
        return value if abs(value) <= _MAX_EXACT else {"kind": "integer", "digits": str(value)}

    def _float(self, value: float) -> Any:
        return value if math.isfinite(value) else {"kind": "float", "value": str(value)}

    def _list(self, values: Iterable[Any]) -> list[Any]:
        documents = []
        for k, value in enumerate(values):
            with location(f"[{k}]"):
                documents.append(self._document(value))
        return documents

    def _dict(self, values: dict[Any, Any]) -> dict[str, Any]:
        pairs = []
        for key, value in values.items():
            with location(f"[{key!r}]"):
                pairs.append([self._document(key), self._document(value)])
        return {"kind": "dict", "items": pairs}

    def _limits(self, value: range | slice) -> dict[str, Any]:
        return {"kind": type(value).__name__, "limits": [value.start, value.stop, value.step]}

    def _array(self, array: NDArray[Any]) -> dict[str, Any]:
        if array.dtype.kind == "U" and array.ndim == 1:
            return {"kind": "texts", "items": [_check_text(text) for text in array.tolist()]}
        if array.dtype.kind == "O" and array.ndim == 1:
            return {"kind": "objects", "items": self._list(array.tolist())}
        if _little(array.dtype) not in _STORABLE:
            raise InvalidField(f"an array of numbers or texts: got one of the type {array.dtype}")
        if array.flags.f_contiguous and not array.flags.c_contiguous:  # bits of products depend on
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
            return _check_text(value)
        if isinstance(value, UserList):  # in scikit-learn before 1.7
            return self._list(value.data)
        if isinstance(value, np.generic) and _little(value.dtype) in _STORABLE:
            return {"kind": "scalar", "value": self._array(np.asarray(value))}
        if isinstance(value, np.dtype) and _little(value) in _STORABLE:
            return {"kind": "dtype", "name": value.name}
        stored = self._vocabulary.by_class.get(type(value))
        return self._named(value) if stored is None else self._object(stored, value)

    def _named(self, value: Any) -> dict[str, Any]:
        if isinstance(value, type) and issubclass(value, np.generic):
            return {"kind": "type", "name": np.dtype(value).name}
        for name, function in self._vocabulary.functions.items():
            if function is value:
                return {"kind": "function", "name": name}
        is_function = callable(value) and hasattr(value, "__qualname__")
        what, owner = ("the function", value) if is_function else ("a", type(value))
        raise InvalidField(
            f"of a type that model files can store: got {what} "
            f"{owner.__module__}.{owner.__qualname__}"
        )

    def _object(self, stored: StoredType, value: Any) -> dict[str, Any]:
        document = {"kind": stored.name}
        for name, part in stored.to_fields(value).items():
            with location(name):
                require(name in stored.fields, f"an attribute of {stored.name} that files store")
                document[name] = self._document(part)
        return document


def _little(dtype: np.dtype[Any]) -> str:
    return dtype.newbyteorder("<").str


def _check_text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidField(f"text that UTF-8 can encode: got {text!r}") from error
    return str(text)


_WRITERS: dict[type, Callable[[Writer, Any], Any]] = {
    type(None): lambda _, value: value,
    bool: lambda _, value: value,
    str: lambda _, value: _check_text(value),
    int: Writer._integer,
    float: Writer._float,
    list: Writer._list,
    tuple: lambda writer, values: {"kind": "tuple", "items": writer._list(values)},
    dict: Writer._dict,
    range: Writer._limits,
    slice: Writer._limits,
    np.ndarray: Writer._array,
}


# Reading


class Reader:
    """Restores a value from a document and its arrays; it trusts neither."""

    def __init__(self, vocabulary: Vocabulary, content: Content):
        self._vocabulary = vocabulary
        self._document, self._arrays = content
        self._copies: dict[int, NDArray[Any]] = {}

    def value(self) -> Any:
        """Return the value; :class:`InvalidField` says what is wrong, and where."""
        return self._value(self._document)

    def _value(self, document: Any) -> Any:
        if isinstance(document, list):
            return self._list(document)
        if not isinstance(document, dict):
            return document
        name = document.get("kind")
        if not isinstance(name, str):
            raise InvalidField("an object with a kind")
        if name not in _READERS:
            return self._object(name, document)
        key, read = _READERS[name]
        require(set(document) == {"kind", key}, f"an object with {key!r} beside its kind {name!r}")
        return read(self, document[key])

    def _object(self, name: str, document: dict[str, Any]) -> Any:
        stored = self._vocabulary.types.get(name)
        if stored is None:
            raise InvalidField(f"of a known kind: got {name[:40]!r}")
        parts = dict(self._fields(stored, document))
        if missing := stored.fields.keys() - parts.keys() - stored.optional:
            raise InvalidField(f"a {name} with {', '.join(sorted(missing))}")
        try:
            check_fields(parts, stored.fields, {})
            return stored.from_fields(**parts)
        except InvalidField:
            raise
        except _CREATION_ERRORS as error:
            raise InvalidField(f"a valid {name}: {type(error).__name__}: {error}") from error

    def _fields(self, stored: StoredType, document: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        for name, part in document.items():
            if name != "kind":
                with location(name[:40]):
                    require(name in stored.fields, f"a field of {stored.name}")
                    yield name, self._value(part)

    def _array(self, place: Any) -> NDArray[Any]:
        if type(place) is not int or not 0 <= place < len(self._arrays):
            raise InvalidField(f"an array of the file, by its number: got {place!r}")
        if place not in self._copies:  # a later change of the file must not change checked values
            self._copies[place] = np.array(self._arrays[place])
            self._copies[place].flags.writeable = False
        return self._copies[place]

    def _transposed(self, document: Any) -> NDArray[Any]:
        array = self._value(document)
        if not isinstance(array, np.ndarray):
            raise InvalidField("an array")
        return array.T

    def _list(self, documents: Any) -> list[Any]:
        if not isinstance(documents, list):
            raise InvalidField(f"a list: got {documents!r:.40}")
        values = []
        for k, document in enumerate(documents):
            with location(f"[{k}]"):
                values.append(self._value(document))
        return values

    def _dict(self, documents: Any) -> dict[Any, Any]:
        pairs = self._list(documents)
        are_pairs = all(isinstance(pair, list) and len(pair) == 2 for pair in pairs)
        require(are_pairs, "a list of pairs")
        are_keys = all(isinstance(k, str | int | float | tuple | np.generic) for k, _ in pairs)
        require(are_keys, "a list of pairs of a text or number and a value")
        found = dict(pairs)
        require(len(found) == len(pairs), "a list of pairs with different keys")
        return found

    def _texts(self, documents: Any) -> NDArray[Any]:
        texts = self._list(documents)
        require(all(isinstance(text, str) for text in texts), "a list of texts")
        longest = max(map(len, texts), default=0)
        n_bytes = sum(len(text.encode()) for text in texts)
        # numpy gives each text as many bytes as the longest
        if longest * len(texts) > 1_000_000 + 16 * n_bytes:
            return self._objects(documents)
        return np.array(texts, dtype=f"U{max(longest, 1)}")

    def _objects(self, documents: Any) -> NDArray[Any]:
        items = self._list(documents)
        are_plain = all(item is None or isinstance(item, str | int | float) for item in items)
        require(are_plain, "a list of texts, numbers and null")
        objects = np.empty(len(items), dtype=object)
        objects[:] = items
        return objects

    def _function(self, name: Any) -> Any:
        if not isinstance(name, str) or name not in self._vocabulary.functions:
            raise InvalidField(f"a known function: got {name!r:.60}")
        return self._vocabulary.functions[name]

    def _scalar(self, document: Any) -> Any:
        array = self._value(document)
        if not isinstance(array, np.ndarray) or array.shape != () or array.dtype.kind == "O":
            raise InvalidField("an array without dimensions")
        return array[()]


def _read_integer(_: Reader, digits: Any) -> int:
    is_number = isinstance(digits, str) and digits.isascii() and digits.removeprefix("-").isdigit()
    require(is_number and len(digits) <= 4000, "a whole number in decimal digits")
    return int(digits)


def _read_float(_: Reader, text: Any) -> float:
    require(isinstance(text, str) and text in _NOT_FINITE, f"one of {', '.join(_NOT_FINITE)}")
    return _NOT_FINITE[text]


def _read_dtype(_: Reader, name: Any) -> np.dtype[Any]:
    if not isinstance(name, str) or name not in _DTYPES:
        raise InvalidField(f"one of {', '.join(sorted(_DTYPES))}: got {name!r:.40}")
    return _DTYPES[name]


def _read_limits(limits: Any, *, may_be_none: bool) -> list[Any]:
    def is_valid(limit: Any) -> bool:
        is_exact = type(limit) is int and abs(limit) <= _MAX_EXACT
        return is_exact or (limit is None and may_be_none)

    are_three = isinstance(limits, list) and len(limits) == 3
    if not are_three or not all(map(is_valid, limits)) or limits[2] == 0:
        raise InvalidField(f"three whole numbers: got {limits!r:.40}")
    return list(limits)


_READERS: dict[str, tuple[str, Callable[[Reader, Any], Any]]] = {
    "integer": ("digits", _read_integer),
    "float": ("value", _read_float),
    "tuple": ("items", lambda reader, items: tuple(reader._list(items))),
    "dict": ("items", Reader._dict),
    "array": ("place", Reader._array),
    "transposed": ("array", Reader._transposed),
    "texts": ("items", Reader._texts),
    "objects": ("items", Reader._objects),
    "scalar": ("value", Reader._scalar),
    "dtype": ("name", _read_dtype),
    "type": ("name", lambda reader, name: _read_dtype(reader, name).type),
    "range": ("limits", lambda _, limits: range(*_read_limits(limits, may_be_none=False))),
    "slice": ("limits", lambda _, limits: slice(*_read_limits(limits, may_be_none=True))),
    "function": ("name", Reader._function),
}
"""Objects that are no stored types: their one key beside ``"kind"``, and how they are read."""
