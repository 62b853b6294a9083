"""Documents: a model as a list of parts in JSON, with arrays beside it, and models from documents.

A part refers to parts before it in the list, so there are no cycles, and a part that several others
share is stored once. An array is used once. The reader compares the number of values with the size
of the file, so memory is limited.
"""

from collections import UserList
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, get_args, get_origin

import msgspec
import numpy as np
from numpy.typing import NDArray

from skliquid.files import references as refer
from skliquid.files.arrays import check_array
from skliquid.files.container import DTYPES, Content
from skliquid.files.descriptions import Description, options, vocabulary

_STORABLE_TYPES = frozenset(DTYPES.values())
_BYTES_PER_ITEM, _BYTES_PER_OBJECT, _BYTES_PER_PART, _BYTES_ALLOWED = 64, 256, 1024, 2**22
_BYTES_FOR_TEXTS = 2**25


class InvalidPart(ValueError):  # noqa: N818 (it never leaves this package)
    """A value that files cannot store, or a part that is not valid, and where it is."""


@contextmanager
def _location(name: str) -> Iterator[None]:
    """Prefix messages with ``name``, whatever the error: invalid parts may raise any."""
    try:
        yield
    except InvalidPart as error:
        raise InvalidPart(f"{name}.{error}") from error.__cause__
    except Exception as error:
        raise InvalidPart(f"{name}: {str(error) or type(error).__name__}") from error


# Writing


class Writer:
    """Serializes one value to a document and its arrays."""

    def __init__(self) -> None:
        self._vocabulary = vocabulary()
        self._parts: list[msgspec.Struct] = []
        self._arrays: list[NDArray[Any]] = []
        self._places: dict[int, tuple[int, Any]] = {}  # of parts, which must stay in memory

    def serialize(self, value: Any) -> Content:
        """Serialize ``value``."""
        with _location("model"):
            model = self._value(value, Any)
            text = msgspec.json.encode({"parts": self._parts, "model": model})
        return Content(text, self._arrays)

    def _value(self, value: Any, hint: Any) -> Any:
        """Return a value in the document, whose form may depend on the type of its field."""
        if isinstance(value, np.generic):
            value = value.item()
        if type(value) is int and [float] == [
            one for one, _ in options(hint) if one in (int, float)
        ]:
            value = float(value)
        if value is None or isinstance(value, bool | int | float | str):
            is_finite = not isinstance(value, float) or np.isfinite(value)
            return value if is_finite else refer.Float(str(value))  # type: ignore[arg-type]
        if isinstance(value, np.ndarray):
            return self._array(value)
        if type(value) in self._vocabulary.by_class:
            return self._part(self._vocabulary.by_class[type(value)], value)
        if isinstance(value, list | tuple | UserList | Mapping):
            return self._container(value, _inner(hint))
        return self._named(value)

    def _container(self, value: Any, inner: tuple[Any, ...] | None) -> Any:
        if isinstance(value, Mapping) and inner is not None:
            return {key: self._item(key, item, inner[-1]) for key, item in value.items()}
        if isinstance(value, Mapping):
            return refer.Dict(
                [(self._value(k, Any), self._item(k, v, Any)) for k, v in value.items()]
            )
        pairs = zip(value, _element_types(inner, len(value)), strict=True)
        listed = [self._item(k, item, hint) for k, (item, hint) in enumerate(pairs)]
        return refer.Tuple(listed) if isinstance(value, tuple) and inner is None else listed

    def _item(self, name: Any, value: Any, hint: Any) -> Any:
        with _location(f"[{name!r}]"):
            return self._value(value, hint)

    def _part(self, description: Description, part: Any) -> refer.Part:
        if id(part) not in self._places:
            fields = {}
            for name, value in description.to_fields(part).items():
                if value is None and description.defaults.get(name, ...) is None:
                    continue
                with _location(f"{description.name}.{name}"):
                    if name not in description.fields:
                        raise TypeError("the class must declare the type of this attribute")
                    fields[name] = self._value(value, description.fields[name])
            self._places[id(part)] = len(self._parts), part
            self._parts.append(description.struct(**fields))
        return refer.Part(self._places[id(part)][0])

    def _array(self, array: NDArray[Any]) -> refer.AnyArray:
        if array.dtype.kind in "UO" and array.ndim == 1:
            return self._objects(array.tolist(), are_objects=array.dtype.kind == "O")
        dtype = array.dtype.newbyteorder("<")
        if dtype.str not in _STORABLE_TYPES:
            raise TypeError(f"files cannot store an array of the type {array.dtype}")
        if array.flags.f_contiguous and not array.flags.c_contiguous:  # bits of products depend on
            return refer.Numbers(self._add(array.T.astype(dtype)), is_transposed=True)
        return refer.Numbers(self._add(np.array(array, dtype=dtype, order="C")))

    def _objects(self, items: list[Any], *, are_objects: bool) -> refer.AnyArray:
        if all(item is None or isinstance(item, str) for item in items):
            data, lengths = refer.pack_texts(items)
            return refer.Texts(self._add(data), self._add(lengths), are_objects)
        if not all(item is None or isinstance(item, bool | int | float | str) for item in items):
            raise TypeError("files can store arrays of numbers, texts and None")
        return refer.Objects(items)

    def _add(self, array: NDArray[Any]) -> int:
        self._arrays.append(array)
        return len(self._arrays) - 1

    def _named(self, value: Any) -> refer.Reference:
        if isinstance(value, range):
            return refer.Range(value.start, value.stop, value.step)
        if isinstance(value, np.dtype) or (
            isinstance(value, type) and issubclass(value, np.generic)
        ):
            return refer.Type(np.dtype(value).name)  # type: ignore[arg-type]
        for name, function in self._vocabulary.functions.items():
            if function is value:
                return refer.Function(name)
        is_function = callable(value) and hasattr(value, "__qualname__")
        what, owner = ("the function", value) if is_function else ("a", type(value))
        raise TypeError(
            f"files cannot store {what} {owner.__module__}.{owner.__qualname__}, which is not "
            "declared with skliquid.delegation.storable"
        )


# Reading


class Reader:
    """Restores a value from a document and its arrays; it trusts neither."""

    def __init__(self, content: Content):
        self._vocabulary = vocabulary()
        self._text, self._arrays = content
        self._n_bytes = len(self._text) + sum(array.nbytes for array in self._arrays)
        self._parts: list[Any] = []
        self._is_used = [False] * len(self._arrays)
        self._lengths: dict[str, int] = {}  # axes of arrays of one part

    def model(self) -> Any:
        """Return the value; :class:`InvalidPart` says what is wrong, and where."""
        with _location("document"), np.errstate(all="ignore"):
            self._check_size()
            document = self._vocabulary.decoder.decode(self._text)
            self._check_bytes(_BYTES_PER_PART * len(document.parts), "values")
            for k, struct in enumerate(document.parts):
                name = struct.__struct_config__.tag
                with _location(f"parts[{k}], {name}"):
                    self._parts.append(self._part(self._vocabulary.by_name[name], struct))
            return self._value(document.model, Any)

    def _check_size(self) -> None:
        """Raise if the document would take much more memory than the file."""
        n_objects, n_items = self._text.count(b"{"), self._text.count(b",") + self._text.count(b"[")
        n_bytes = _BYTES_PER_OBJECT * n_objects + _BYTES_PER_ITEM * n_items + 4 * len(self._text)
        self._check_bytes(n_bytes, "values")

    def _check_bytes(self, n_bytes: int, name: str, allowed: int = _BYTES_ALLOWED) -> None:
        if n_bytes > 2 * self._n_bytes + allowed:
            raise ValueError(f"there are too many {name} for the size of the file")

    def _part(self, description: Description, struct: Any) -> Any:
        self._lengths, fields = {}, {}
        for name, hint in description.fields.items():
            if (value := getattr(struct, name)) is not msgspec.UNSET:
                with _location(name):
                    fields[name] = self._value(value, hint)
        n_features = self._lengths.get("n_features")
        if n_features is not None and fields.get("n_features_in_", n_features) != n_features:
            raise ValueError(f"n_features_in_ must be {n_features}, the length of its arrays")
        return description.from_fields(**fields)

    def _value(self, value: Any, hint: Any) -> Any:
        """Return the value of a field, after checking that it has the type of the field."""
        inner = _inner(hint)
        if isinstance(value, dict) and inner is None:
            value = msgspec.convert(value, refer.AnyReference)
        if isinstance(value, refer.Reference):
            found = self._resolve(value)
            if isinstance(found, np.ndarray) and _is_copied(hint):
                if isinstance(value, refer.Numbers):
                    found = found.copy(order="K")  # the file may change later
                found.flags.writeable = False
            _check_type(found, hint, self._lengths)
            return found
        if isinstance(value, dict) and inner is not None:
            return {key: self._value(item, inner[-1]) for key, item in value.items()}
        if isinstance(value, list | tuple):
            pairs = zip(value, _element_types(inner, len(value)), strict=True)
            return type(value)(self._value(item, own) for item, own in pairs)
        return value

    def _resolve(self, reference: refer.Reference) -> Any:  # noqa: C901, PLR0911 (a table)
        match reference:
            case refer.Part():
                return _at(self._parts, reference.at)
            case refer.Function():
                return self._function(reference.name)
            case refer.Numbers():
                array = self._array(reference.at)
                return array.T if reference.is_transposed else array
            case refer.Texts():
                return self._texts(reference)
            case refer.Objects():
                return refer.object_array(reference.items)
            case refer.Tuple():
                return tuple(self._value(item, Any) for item in reference.items)
            case refer.Dict():
                return self._dict(reference.items)
            case refer.Float():
                return float(reference.value)
            case refer.Range():
                return range(reference.start, reference.stop, reference.step)
            case refer.Type():
                return np.dtype(reference.name)

    def _function(self, name: str) -> Any:
        if name not in self._vocabulary.functions:
            raise ValueError(f"no function {name[:60]!r} is declared; import its module before")
        return self._vocabulary.functions[name]

    def _array(self, place: int) -> NDArray[Any]:
        """Return an array of the file, each once."""
        array: NDArray[Any] = _at(self._arrays, place)
        if self._is_used[place]:
            raise ValueError(f"array {place} must be used once")
        self._is_used[place] = True
        return array

    def _texts(self, texts: refer.Texts) -> NDArray[Any]:
        data, lengths = self._array(texts.at), self._array(texts.lengths)
        self._check_bytes(_BYTES_PER_ITEM * lengths.size, "texts", _BYTES_FOR_TEXTS)
        return refer.unpack_texts(data, lengths, texts.are_objects)

    def _dict(self, items: list[tuple[Any, Any]]) -> dict[Any, Any]:
        found = {self._value(key, Any): self._value(value, Any) for key, value in items}
        if len(found) < len(items):
            raise ValueError("a dict must have different keys")
        return found


def _at(items: Sequence[Any], place: int) -> Any:
    if not 0 <= place < len(items):
        raise ValueError(f"a part or array must be there before it is used: got {place}")
    return items[place]


def _inner(hint: Any) -> tuple[Any, ...] | None:
    """Return the types of the items of a container; None if a field may hold anything."""
    for one, _ in options(hint):
        if get_origin(one) in (list, tuple, dict, Sequence, Mapping):
            return get_args(one)
    return None


def _element_types(inner: tuple[Any, ...] | None, n: int) -> list[Any]:
    if inner is None:
        return [Any] * n
    return list(inner) if len(inner) == n and ... not in inner else [inner[0]] * n


def _is_copied(hint: Any) -> bool:
    return all(rule is None or rule.is_copied for _, rule in options(hint))


def _check_type(value: Any, hint: Any, lengths: dict[str, int]) -> None:
    """Raise unless a part or an array has one of the types of a field."""
    allowed = [(get_origin(one) or one, one, rule) for one, rule in options(hint)]
    for origin, one, rule in allowed:
        if origin is np.ndarray and isinstance(value, np.ndarray):
            check_array(value, one, rule, lengths)
            return
        if origin is Any or (origin is Callable and callable(value)):
            return
        if isinstance(origin, type) and isinstance(value, origin):
            return
    raise TypeError(f"a {type(value).__name__} must be of the type {hint}")
