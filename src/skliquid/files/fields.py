"""Fields: checks of the values in a model file, applied before they are used.

A check is called with a value and with the lengths known so far, by name: the first array with an
axis ``"n_voters"`` sets the number of voters, and others must agree. It raises
:class:`InvalidField`.
"""

import math
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Lengths: TypeAlias = MutableMapping[str, int]
Check: TypeAlias = Callable[[Any, Lengths], None]

LARGEST, LARGEST_SINGLE = 1e150, 1e15
"""The largest number in an array of double or single precision: its product with the numbers of
usual rows is finite."""


class InvalidField(ValueError):  # noqa: N818 (it never leaves this package)
    """A value that breaks the rule of its field, and its path in the document."""

    def __init__(self, rule: str, path: str = ""):
        super().__init__(rule)
        self.rule, self.path = rule, path

    def __str__(self) -> str:
        return f"{self.path or 'the document'} must be {self.rule}"


def require(condition: Any, rule: str) -> None:
    """Raise :class:`InvalidField` with ``rule`` unless ``condition`` holds."""
    if not condition:
        raise InvalidField(rule)


@contextmanager
def location(name: str) -> Iterator[None]:
    """Put ``name`` before the path of an :class:`InvalidField` that the block raises."""
    try:
        yield
    except InvalidField as error:
        dot = "." if error.path and not error.path.startswith("[") else ""
        error.path = f"{name}{dot}{error.path}"
        raise


@dataclass(frozen=True)
class Anything:
    """Any value."""

    def __call__(self, value: Any, lengths: Lengths) -> None: ...


@dataclass(frozen=True)
class Integer:
    """A whole number; its ``name``, if any, is a length that arrays agree with."""

    low: int = 0
    high: int = 2**62
    name: str | None = None

    def __call__(self, value: Any, lengths: Lengths) -> None:
        is_whole = isinstance(value, Integral) and not isinstance(value, bool)
        if not (is_whole and self.low <= value <= self.high):
            raise _invalid(f"a whole number from {self.low} to {self.high}", value)
        if self.name is not None and lengths.setdefault(self.name, int(value)) != value:
            raise InvalidField(f"{lengths[self.name]}, the {self.name}: got {value}")


@dataclass(frozen=True)
class Number:
    """A finite number."""

    low: float = -math.inf
    high: float = math.inf

    def __call__(self, value: Any, lengths: Lengths) -> None:
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        if not (is_number and math.isfinite(value) and self.low <= value <= self.high):
            raise _invalid(f"a finite number from {self.low} to {self.high}", value)


@dataclass(frozen=True)
class Boolean:
    """True or false."""

    def __call__(self, value: Any, lengths: Lengths) -> None:
        if not isinstance(value, bool | np.bool_):
            raise _invalid("true or false", value)


@dataclass(frozen=True)
class Text:
    """A text, one of ``choices`` if there are any."""

    choices: tuple[str, ...] = ()

    def __call__(self, value: Any, lengths: Lengths) -> None:
        if not isinstance(value, str) or (self.choices and value not in self.choices):
            raise _invalid(f"one of {', '.join(self.choices)}" if self.choices else "text", value)


@dataclass(frozen=True)
class Maybe:
    """None, or a value that passes another check."""

    check: Check

    def __call__(self, value: Any, lengths: Lengths) -> None:
        if value is not None:
            self.check(value, lengths)


@dataclass(frozen=True)
class ListOf:
    """A list or tuple whose items pass a check; its length may have a name."""

    check: Check = Anything()
    name: str | None = None

    def __call__(self, value: Any, lengths: Lengths) -> None:
        if not isinstance(value, list | tuple):
            raise _invalid("a list", value)
        if self.name is not None and lengths.setdefault(self.name, len(value)) != len(value):
            raise InvalidField(f"of length {lengths[self.name]}, the {self.name}: got {len(value)}")
        for k, item in enumerate(value):
            with location(f"[{k}]"):
                self.check(item, lengths)


@dataclass(frozen=True)
class DictOf:
    """A dict whose keys and values pass checks."""

    check: Check = Anything()
    keys: Check = Text()

    def __call__(self, value: Any, lengths: Lengths) -> None:
        if not isinstance(value, Mapping):
            raise _invalid("a dict", value)
        for key, item in value.items():
            with location(f"[{key!r}]"):
                self.keys(key, lengths)
                self.check(item, lengths)


@dataclass(frozen=True)
class InstanceOf:
    """An object of a class, or of one of several."""

    classes: type | tuple[type, ...]

    def __call__(self, value: Any, lengths: Lengths) -> None:
        if not isinstance(value, self.classes):
            classes = self.classes if isinstance(self.classes, tuple) else (self.classes,)
            raise _invalid(f"a {' or '.join(cls.__name__ for cls in classes)}", value)


@dataclass(frozen=True)
class NumericArray:
    """An array of numbers: its axes, numpy's kinds of its type, and the range of its values.

    An axis is a length, or the name of a length; with an empty name, it has any length.
    """

    axes: tuple[str | int, ...]
    kinds: str = "f"
    low: float = -math.inf
    high: float = math.inf
    may_be_nan: bool = False

    def __call__(self, value: Any, lengths: Lengths) -> None:
        if not isinstance(value, np.ndarray) or value.dtype.kind not in self.kinds:
            raise _invalid(f"an array of type {' or '.join(self.kinds)}", value)
        _check_axes(value, self.axes, lengths)
        is_float = value.dtype.kind == "f"
        known = value[~np.isnan(value)] if self.may_be_nan and is_float else value
        high = min(self.high, LARGEST_SINGLE) if value.dtype == np.float32 else self.high
        low = max(self.low, -high)
        if known.size:
            least, most = (np.asarray(bound).item() for bound in (known.min(), known.max()))
            require(low <= least <= most <= high, f"an array of numbers from {low} to {high}")
            require(not is_float or np.isfinite(known).all(), "an array of finite numbers")


def integers(*axes: str | int, low: int = 0, high: float = 2**62) -> NumericArray:
    """Return the check of an array of whole numbers."""
    return NumericArray(axes, kinds="iu", low=low, high=high)


def floats(*axes: str | int, low: float = -LARGEST, may_be_nan: bool = False) -> NumericArray:
    """Return the check of an array of floating-point numbers, whose products do not overflow."""
    return NumericArray(axes, low=low, high=LARGEST, may_be_nan=may_be_nan)


def booleans(*axes: str | int) -> NumericArray:
    """Return the check of an array of booleans."""
    return NumericArray(axes, kinds="b")


@dataclass(frozen=True)
class Labels:
    """An array of labels: numbers, booleans or text, by default sorted and without repetition."""

    axis: str = "n_classes"
    are_sorted: bool = True

    def __call__(self, value: Any, lengths: Lengths) -> None:
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "biufUO":
            raise _invalid("an array of labels", value)
        _check_axes(value, (self.axis,), lengths)
        if not self.are_sorted:
            return
        try:
            is_sorted = all(low < high for low, high in pairwise(value.tolist()))
        except TypeError:
            is_sorted = False
        require(is_sorted, "an array of labels, sorted, none of them twice")


def _check_axes(array: NDArray[Any], axes: Sequence[str | int], lengths: Lengths) -> None:
    require(array.ndim == len(axes), f"an array of {len(axes)} dimensions: got {array.ndim}")
    for axis, length in zip(axes, array.shape, strict=True):
        expected = lengths.setdefault(axis, length) if isinstance(axis, str) else axis
        if axis and length != expected:
            name = f", the {axis}" if isinstance(axis, str) else ""
            raise InvalidField(f"an array with an axis of length {expected}{name}: got {length}")


def check_fields(values: Mapping[str, Any], fields: Mapping[str, Check], lengths: Lengths) -> None:
    """Check each value by the field of its name."""
    for name, value in values.items():
        with location(name):
            fields[name](value, lengths)


def _invalid(rule: str, value: Any) -> InvalidField:
    text = f"an array {value.dtype}{value.shape}" if isinstance(value, np.ndarray) else repr(value)
    return InvalidField(f"{rule}: got {text if len(text) <= 60 else f'{text[:57]}...'}")
