"""References: objects in a document that stand for parts, arrays and values that JSON lacks."""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray


class Reference(msgspec.Struct, tag_field="is", forbid_unknown_fields=True, omit_defaults=True):
    """An object that stands for a value."""


class Part(Reference, tag="part"):
    """A part before this one, by its place in the list of parts."""

    at: int


class Function(Reference, tag="function"):
    """A storable function."""

    name: str


class Numbers(Reference, tag="array"):
    """An array of numbers or booleans, by the name of its tensor."""

    at: int
    is_transposed: bool = False


class Texts(Reference, tag="texts"):
    """An array of texts: all in UTF-8, one after the other, and their lengths; -1 means None."""

    at: int
    lengths: int
    are_objects: bool = False


class Objects(Reference, tag="objects"):
    """An array of Python numbers, texts and None."""

    items: list[bool | int | float | str | None]


class Tuple(Reference, tag="tuple"):
    """A tuple."""

    items: list[Any]


class Dict(Reference, tag="dict"):
    """A dict, whose keys may be texts, numbers and tuples."""

    items: list[tuple[Any, Any]]


class Float(Reference, tag="float"):
    """A number that is not finite."""

    value: Literal["nan", "inf", "-inf"]


class Range(Reference, tag="range"):
    """A range."""

    start: int
    stop: int
    step: int


class Type(Reference, tag="dtype"):
    """A type of numbers, as numpy names it."""

    name: Literal["bool", "float32", "float64", "int32", "int64", "uint8", "uint32", "uint64"]


AnyPart: TypeAlias = Part | Function
AnyArray: TypeAlias = Numbers | Texts | Objects
AnyReference: TypeAlias = AnyPart | AnyArray | Tuple | Dict | Float | Range | Type


# Texts


def pack_texts(texts: Sequence[str | None]) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    """Return all texts in UTF-8, and their lengths."""
    encoded = [None if text is None else text.encode() for text in texts]
    lengths = np.array([-1 if one is None else len(one) for one in encoded], dtype=np.int64)
    data = np.frombuffer(b"".join(one or b"" for one in encoded), dtype=np.uint8)
    return data, lengths.astype(np.min_scalar_type(-int(lengths.max(initial=1)) - 1))


def unpack_texts(data: NDArray[Any], lengths: NDArray[Any], are_objects: bool) -> NDArray[Any]:
    """Return the array of texts."""
    is_valid = data.dtype == np.uint8 and lengths.dtype.kind == "i" and lengths.ndim == 1
    ends = np.cumsum(np.maximum(lengths, 0), dtype=np.int64)
    if not is_valid or lengths.min(initial=0) < -1 or len(data) != ends[-1:].sum():
        raise ValueError("texts must be bytes, with lengths that add up to their number")
    whole, pairs = data.tobytes(), zip(ends - np.maximum(lengths, 0), lengths, strict=True)
    texts = [None if n < 0 else whole[start : start + n].decode() for start, n in pairs]
    longest = max((len(text) for text in texts if text is not None), default=0)
    # numpy gives each text as many bytes as the longest
    if are_objects or None in texts or longest * len(texts) > 1_000_000 + 16 * len(whole):
        return object_array(texts)
    return np.array(texts, dtype=f"U{max(longest, 1)}")


def object_array(items: Sequence[Any]) -> NDArray[Any]:
    """Return a one-dimensional array of objects."""
    objects = np.empty(len(items), dtype=object)
    objects[:] = items
    return objects
