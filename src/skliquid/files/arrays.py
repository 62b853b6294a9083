"""Arrays: checks of their type, axes, range, finiteness and order."""

from collections.abc import MutableMapping
from typing import Any, get_args, get_origin

import numpy as np
from numpy.typing import NDArray

from skliquid.delegation.storable import Array

_LABELS = "biufUO"
LARGEST, LARGEST_SINGLE = 1e150, 1e15
"""The largest number in an array of double or single precision: its product with the numbers of
usual rows is finite."""


def check_array(
    array: Any, hint: Any, rule: Array | None, lengths: MutableMapping[str, int]
) -> None:
    """Raise unless an array has the type of ``hint`` and obeys its ``rule``.

    The first array with an axis ``"n_voters"`` sets this length, and others must agree.
    """
    kinds = _type_codes(hint)
    if not isinstance(array, np.ndarray) or array.dtype.kind not in kinds:
        raise ValueError(f"an array must have a type of {kinds}: got {_short(array)}")
    if rule is None:
        return
    _check_axes(array, rule, lengths)
    if rule.is_sorted:
        _check_order(array)
    if array.size and array.dtype.kind in "iuf" and len(kinds) < len(_LABELS):
        _check_range(array, rule)


def _type_codes(hint: Any) -> str:
    """Return numpy's codes of the types that an annotation such as ``NDArray[np.intp]`` allows."""
    scalar = get_args(get_args(hint)[1])[0]
    if scalar is Any:
        return _LABELS
    scalar = get_origin(scalar) or scalar
    codes = {np.bool_: "b", np.integer: "iu", np.floating: "f", np.object_: "O"}
    return next(code for parent, code in codes.items() if issubclass(scalar, parent))


def _check_axes(array: NDArray[Any], rule: Array, lengths: MutableMapping[str, int]) -> None:
    if array.ndim != len(rule.axes):
        raise ValueError(f"an array must have {len(rule.axes)} dimensions: got {array.ndim}")
    for axis, length in zip(rule.axes, array.shape, strict=True):
        expected = lengths.setdefault(axis, length) if isinstance(axis, str) else axis
        if axis and length != expected:
            name = f", the {axis}" if isinstance(axis, str) else ""
            raise ValueError(f"an axis must have the length {expected}{name}: got {length}")


def _check_range(array: NDArray[Any], rule: Array) -> None:
    is_float = array.dtype.kind == "f"
    known = array[~np.isnan(array)] if rule.may_be_nan and is_float else array
    high = 2**62 if rule.high is None else rule.high
    low = 0 if rule.low is None else rule.low
    if is_float:
        largest = LARGEST_SINGLE if array.dtype == np.float32 else LARGEST
        high = largest if rule.high is None else min(rule.high, largest)
        low = -largest if rule.low is None else rule.low
    if known.size and not (low <= known.min().item() and known.max().item() <= high):
        raise ValueError(f"an array must have finite numbers from {low} to {high}")


def _check_order(array: NDArray[Any]) -> None:
    try:
        is_sorted = bool((array[:-1] < array[1:]).all())
    except TypeError:
        is_sorted = False
    if not is_sorted:
        raise ValueError("labels must be sorted, none of them twice")


def _short(value: Any) -> str:
    return f"{value.dtype}{value.shape}" if isinstance(value, np.ndarray) else f"{value!r:.60}"
