"""Fields: what a value in a model file must be, checked before it is used.

A check is called with a value and with the lengths that are known so far by name: the first array
with an axis ``"n_voters"`` says how many there are, and others must agree. It raises
:class:`Unfit`. Its ``schema`` is what JSON Schema can say of it.
"""

import math
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Lengths: TypeAlias = MutableMapping[str, int]

LARGEST, LARGEST_SINGLE = 1e150, 1e15
"""The largest number in an array, of double or single precision: its product with numbers of usual
rows is finite."""

ARRAY = {"anyOf": [{"$ref": "#/$defs/array"}, {"$ref": "#/$defs/transposed"}]}
VALUE = {"$ref": "#/$defs/value"}


class Unfit(ValueError):  # noqa: N818 (it never leaves this package)
    """A value that breaks the rule of its field, and where it is."""

    def __init__(self, rule: str, where: str = ""):
        super().__init__(rule)
        self.rule, self.where = rule, where

    def __str__(self) -> str:
        return f"{self.where or 'the document'} must be {self.rule}"


@contextmanager
def inside(name: str) -> Iterator[None]:
    """Say that what is read or written here is at ``name`` of what is around it."""
    try:
        yield
    except Unfit as error:
        dot = "." if error.where and not error.where.startswith("[") else ""
        error.where = f"{name}{dot}{error.where}"
        raise


class Check(Protocol):
    """What a value must be."""

    @property
    def schema(self) -> dict[str, Any]:
        """The rule as JSON Schema."""
        ...

    def __call__(self, value: Any, lengths: Lengths) -> None:
        """Raise unless ``value`` follows the rule."""
        ...


@dataclass(frozen=True)
class Anything:
    """Any value."""

    @property
    def schema(self) -> dict[str, Any]:
        return VALUE

    def __call__(self, value: Any, lengths: Lengths) -> None: ...


@dataclass(frozen=True)
class Integer:
    """A whole number; its ``name``, if any, is a length that arrays agree with."""

    low: int = 0
    high: int = 2**62
    name: str | None = None

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "integer", "minimum": self.low, "maximum": self.high}

    def __call__(self, value: Any, lengths: Lengths) -> None:
        is_whole = isinstance(value, Integral) and not isinstance(value, bool)
        if not (is_whole and self.low <= value <= self.high):
            raise Unfit(f"a whole number from {self.low} to {self.high}: got {_short(value)}")
        if self.name is not None and lengths.setdefault(self.name, int(value)) != value:
            raise Unfit(f"{lengths[self.name]}, the {self.name}: got {value}")


@dataclass(frozen=True)
class Number:
    """A finite number."""

    low: float = -math.inf
    high: float = math.inf

    @property
    def schema(self) -> dict[str, Any]:
        bounds = {"minimum": self.low, "maximum": self.high}
        return {"type": "number"} | {k: b for k, b in bounds.items() if math.isfinite(b)}

    def __call__(self, value: Any, lengths: Lengths) -> None:
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        if not (is_number and math.isfinite(value) and self.low <= value <= self.high):
            raise Unfit(f"a finite number from {self.low} to {self.high}: got {_short(value)}")


@dataclass(frozen=True)
class Flag:
    """True or false."""

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}

    def __call__(self, value: Any, lengths: Lengths) -> None:
        if not isinstance(value, bool | np.bool_):
            raise Unfit(f"true or false: got {_short(value)}")


@dataclass(frozen=True)
class Text:
    """A text, one of ``choices`` if there are any."""

    choices: tuple[str, ...] = ()

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "string"} | ({"enum": list(self.choices)} if self.choices else {})

    def __call__(self, value: Any, lengths: Lengths) -> None:
        if not isinstance(value, str) or (self.choices and value not in self.choices):
            rule = f"one of {', '.join(self.choices)}" if self.choices else "text"
            raise Unfit(f"{rule}: got {_short(value)}")


@dataclass(frozen=True)
class Maybe:
    """None, or what another check wants."""

    check: Check

    @property
    def schema(self) -> dict[str, Any]:
        return {"anyOf": [{"type": "null"}, self.check.schema]}

    def __call__(self, value: Any, lengths: Lengths) -> None:
        if value is not None:
            self.check(value, lengths)


@dataclass(frozen=True)
class Items:
    """A list or tuple, each item of which follows a check; its length may have a name."""

    check: Check = Anything()
    name: str | None = None

    @property
    def schema(self) -> dict[str, Any]:
        return {"$ref": "#/$defs/items"}

    def __call__(self, value: Any, lengths: Lengths) -> None:
        if not isinstance(value, list | tuple):
            raise Unfit(f"a list: got {_short(value)}")
        if self.name is not None and lengths.setdefault(self.name, len(value)) != len(value):
            raise Unfit(f"of length {lengths[self.name]}, the {self.name}: got {len(value)}")
        for k, item in enumerate(value):
            with inside(f"[{k}]"):
                self.check(item, lengths)


@dataclass(frozen=True)
class Keyed:
    """A dict, the keys and values of which follow checks."""

    check: Check = Anything()
    keys: Check = Text()

    @property
    def schema(self) -> dict[str, Any]:
        return {"$ref": "#/$defs/dict"}

    def __call__(self, value: Any, lengths: Lengths) -> None:
        if not isinstance(value, Mapping):
            raise Unfit(f"a dict: got {_short(value)}")
        for key, item in value.items():
            with inside(f"[{key!r}]"):
                self.keys(key, lengths)
                self.check(item, lengths)


@dataclass(frozen=True)
class Is:
    """An object of one of these classes."""

    classes: tuple[type, ...]

    @property
    def schema(self) -> dict[str, Any]:
        return VALUE

    def __call__(self, value: Any, lengths: Lengths) -> None:
        if not isinstance(value, self.classes):
            names = " or ".join(cls.__name__ for cls in self.classes)
            raise Unfit(f"a {names}: got {_short(value)}")


@dataclass(frozen=True)
class Numbers:
    """An array of numbers: their ``kinds``, the names of its axes, and the range of its values.

    An axis is a name, with whose length others agree, or a number; without a name, any length.
    """

    axes: tuple[str | int, ...]
    kinds: str = "f"
    low: float = -math.inf
    high: float = math.inf
    may_be_nan: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        return ARRAY

    def __call__(self, value: Any, lengths: Lengths) -> None:
        if not isinstance(value, np.ndarray) or value.dtype.kind not in self.kinds:
            raise Unfit(f"an array of type {' or '.join(self.kinds)}: got {_short(value)}")
        check_axes(value, self.axes, lengths)
        known = value[~np.isnan(value)] if self.may_be_nan and value.dtype.kind == "f" else value
        high = min(self.high, LARGEST_SINGLE) if value.dtype == np.float32 else self.high
        low = max(self.low, -high)
        least, most = (np.asarray(found).item() for found in _range(known, low))
        if not low <= least <= most <= high:
            raise Unfit(f"an array of numbers from {low} to {high}")
        if value.dtype.kind == "f" and not np.isfinite(known).all():
            raise Unfit("an array of finite numbers")


def _range(array: NDArray[Any], low: float) -> tuple[Any, Any]:
    return (array.min(), array.max()) if array.size else (low, low)


def integers(*axes: str | int, low: int = 0, high: float = 2**62) -> Numbers:
    """Return the check of an array of whole numbers."""
    return Numbers(axes, kinds="iu", low=low, high=high)


def floats(*axes: str | int, low: float = -LARGEST, may_be_nan: bool = False) -> Numbers:
    """Return the check of an array of floating-point numbers, whose products do not overflow."""
    return Numbers(axes, low=low, high=LARGEST, may_be_nan=may_be_nan)


def flags(*axes: str | int) -> Numbers:
    """Return the check of an array of booleans."""
    return Numbers(axes, kinds="b")


@dataclass(frozen=True)
class Labels:
    """Labels in one array: numbers, booleans or text, sorted and different from each other."""

    axis: str = "n_classes"
    are_sorted: bool = True

    @property
    def schema(self) -> dict[str, Any]:
        return VALUE

    def __call__(self, value: Any, lengths: Lengths) -> None:
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "biufUO":
            raise Unfit(f"an array of labels: got {_short(value)}")
        check_axes(value, (self.axis,), lengths)
        items: list[Any] = value.tolist()
        if not self.are_sorted:
            return
        try:
            is_sorted = all(low < high for low, high in pairwise(items))
        except TypeError:
            is_sorted = False
        if not is_sorted:
            raise Unfit("an array of labels, sorted, none of them twice")


def check_axes(array: NDArray[Any], axes: Sequence[str | int], lengths: Lengths) -> None:
    """Raise unless an array has these axes."""
    if array.ndim != len(axes):
        raise Unfit(f"an array of {len(axes)} dimensions: got {array.ndim}")
    for axis, length in zip(axes, array.shape, strict=True):
        wanted = lengths.setdefault(axis, length) if isinstance(axis, str) else axis
        if axis and length != wanted:
            name = f", the {axis}" if isinstance(axis, str) else ""
            raise Unfit(f"an array with an axis of length {wanted}{name}: got {length}")


def check_fields(values: Mapping[str, Any], fields: Mapping[str, Check], lengths: Lengths) -> None:
    """Check all values that are there by the field of their name."""
    for name, value in values.items():
        with inside(name):
            fields[name](value, lengths)


def _short(value: Any) -> str:
    text = f"an array {value.dtype}{value.shape}" if isinstance(value, np.ndarray) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
