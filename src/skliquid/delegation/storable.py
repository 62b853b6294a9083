"""Storable parts: each part declares, next to its definition, the fields that model files hold.

Model files walk over these declarations and know no part by name. A part is declared by the
decorator :func:`storable`:

- a dataclass or NamedTuple by the types of its fields;
- an estimator by its parameters and by the types of its fitted attributes, annotated in the class;
- a function by its name;
- any other class by a dataclass ``stored_as``, and methods ``to_stored`` and ``from_stored``.

Types may carry a :class:`Range` or an :class:`Array`, as in ``Annotated[int, Range(1)]``. Rules
that concern several fields go into a method ``check_stored``, or wherever the part is created. A
field that is added later has a default, so that older files can still be read.
"""

import math
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Part = TypeVar("Part", bound=Callable[..., Any])

STORABLE: dict[str, Any] = {}
"""All storable classes and functions, by their names in files."""


class Range(NamedTuple):
    """The smallest and the largest value of a number."""

    low: float = -math.inf
    high: float = math.inf


class Array:
    """The axes of an array, and the range of its numbers.

    An axis is a length, or the name of a length that the arrays of a part have in common; with an
    empty name, it has any length. By default integers are not negative, and other numbers are
    finite and at most 1e150 (1e15 in single precision). ``is_copied=False`` is for a part that
    copies the array itself.
    """

    def __init__(
        self,
        *axes: str | int,
        low: float | None = None,
        high: float | None = None,
        may_be_nan: bool = False,
        is_sorted: bool = False,
        is_copied: bool = True,
    ):
        self.axes, self.low, self.high = axes, low, high
        self.may_be_nan, self.is_sorted, self.is_copied = may_be_nan, is_sorted, is_copied


Count = Annotated[int, Range(0, 2**62)]
Positive = Annotated[int, Range(1, 2**62)]
Share = Annotated[float, Range(0, 1)]
Classes = Annotated[NDArray[Any], Array("n_classes", is_sorted=True)]
"""Types of fields: whole numbers, shares from 0 to 1, and sorted labels."""


def storable(part: Part) -> Part:
    """Register a class or function, so that model files can store it.

    Files use its qualified name, with its module in front if it is defined outside of skliquid. A
    file can be loaded where the same name has been registered.
    """
    owner = "" if part.__module__.partition(".")[0] == "skliquid" else f"{part.__module__}."
    STORABLE[f"{owner}{part.__qualname__}"] = part
    return part


def require(condition: Any, rule: str) -> None:
    """Raise an error unless the fields of a part obey a ``rule``."""
    if not condition:
        raise ValueError(f"it must have {rule}")


def smallest(values: Any) -> NDArray[Any]:
    """Return integers in the type that takes the fewest bytes."""
    array = np.asarray(values, dtype=np.int64)
    ends = int(array.min(initial=0)), int(array.max(initial=0))
    return array.astype(np.result_type(*map(np.min_scalar_type, ends)))
