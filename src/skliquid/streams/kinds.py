"""Kinds: what a column holds, whatever its file calls it."""

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Literal, TypeAlias

import pyarrow as pa
from pyarrow import types

Kind: TypeAlias = Literal["number", "text", "truth", "code", "left_out", "empty"]
"""Text, truth values and codes, which are categories of numbers, are categories; dates, lists and
columns without a type are not used."""

Kinds: TypeAlias = dict[str, Kind]

WISHES: dict[Kind, str] = {
    "number": "--number",
    "text": "--text",
    "truth": "",
    "left_out": "--leave-out",
}
"""What a column may be taken for, and the option that says so at the command line."""

ARROW_TYPES: dict[Kind, pa.DataType] = {
    "number": pa.float64(),
    "text": pa.string(),
    "truth": pa.bool_(),
    "code": pa.string(),
}

_INDEX = re.compile(r"(__index_level_\d+__)?")
"""How pandas calls the numbers of rows when it writes them: in CSV files, nothing at all."""


def _is_string_view(arrow_type: pa.DataType) -> bool:
    return str(arrow_type) == "string_view"  # which the oldest pyarrow does not know


_TESTS: dict[Kind, list[Callable[[pa.DataType], bool]]] = {
    "number": [types.is_integer, types.is_floating, types.is_decimal],
    "text": [types.is_string, types.is_large_string, _is_string_view],
    "truth": [types.is_boolean],
    "empty": [types.is_null],
}


def kind_of(arrow_type: pa.DataType) -> Kind:
    """Return what a column of this type holds.

    Examples
    --------
    >>> kind_of(pa.int8()), kind_of(pa.dictionary(pa.int8(), pa.string())), kind_of(pa.date32())
    ('number', 'text', 'left_out')
    """
    if types.is_dictionary(arrow_type):
        kind = kind_of(arrow_type.value_type)
        return "code" if kind == "number" else kind
    for kind, tests in _TESTS.items():
        if any(test(arrow_type) for test in tests):
            return kind
    return "left_out"


def is_used(kind: Kind) -> bool:
    """Return whether columns of this kind are learned from."""
    return kind in ARROW_TYPES


def kinds_of(schema: pa.Schema, path: Path) -> Kinds:
    """Return what each column of a file holds."""
    names = list(schema.names)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(
            f"Columns must have different names: {path} has {twice!r} more than once. Rename one."
        )
    return {
        field.name: "left_out" if _INDEX.fullmatch(field.name) else kind_of(field.type)
        for field in schema
    }


def with_wishes(kinds: Kinds, wishes: Mapping[str, Kind] | None, path: Path) -> Kinds:
    """Return ``kinds`` as the user wants them."""
    if not isinstance(wishes, Mapping | None):
        raise TypeError(
            f"kinds must be a mapping from columns to kinds: {wishes!r} is none. Give one like "
            "{'zip': 'text'}."
        )
    for name, kind in (wishes or {}).items():
        check_column(name, kinds, path, parameter="kinds")
        if kind not in WISHES:
            raise ValueError(
                f"kinds must be among {', '.join(WISHES)}: {kind!r}, for the column "
                f"{name!r}, is none. Choose one of them."
            )
    return kinds | dict(wishes or {})


def way_out(name: str, kind: Kind) -> str:
    """Return in words how a column is taken for another kind."""
    return f"kinds={{{name!r}: {kind!r}}} (at the command line {WISHES[kind]} {name})"


def check_column(name: str, kinds: Mapping[str, Kind], path: Path, *, parameter: str) -> None:
    """Raise unless ``name`` is a column, and say which may have been meant."""
    if name not in kinds:
        meant = get_close_matches(str(name), kinds, n=1)
        known = ", ".join([*list(kinds)[:20], *(["..."] if len(kinds) > 20 else [])])
        way_out = f"Did you mean {meant[0]!r}?" if meant else "Choose one of them."
        raise ValueError(
            f"{parameter} must be a column of {path}: {name!r} is none of {known}. {way_out}"
        )
