"""The schema of model files: all stored types and functions, also as JSON Schema.

``python -m skliquid.files.schema`` prints the JSON Schema of the documents.
"""

import json
import math
import sys
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Any

from skliquid.files.container import DTYPES, VERSION
from skliquid.files.ensembles import ENSEMBLE_TYPES
from skliquid.files.estimators import ESTIMATOR_TYPES
from skliquid.files.fields import (
    Boolean,
    Check,
    DictOf,
    Integer,
    ListOf,
    Maybe,
    Number,
    NumericArray,
    Text,
)
from skliquid.files.records import RECORD_TYPES
from skliquid.files.value_types import FUNCTIONS, VALUE_TYPES
from skliquid.files.values import Vocabulary
from skliquid.files.voter_states import VOTER_STATE_TYPES


@cache
def vocabulary() -> Vocabulary:
    """Return all stored types and functions."""
    types = [*VALUE_TYPES, *ESTIMATOR_TYPES, *RECORD_TYPES, *VOTER_STATE_TYPES, *ENSEMBLE_TYPES]
    with suppress(ImportError):  # they exist only where the extra "stream" is installed
        types += import_module("skliquid.streams.model").STREAM_TYPES
    return Vocabulary(types, FUNCTIONS)


# JSON Schema


def _reference(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


_VALUE = _reference("value")
_LIST = {"type": "array", "items": _VALUE}
_LIMIT = {"type": ["integer", "null"]}
_LIMITS = {"limits": {"type": "array", "items": _LIMIT, "minItems": 3, "maxItems": 3}}
_NAME = {"name": {"type": "string"}}
_PLAIN: dict[str, dict[str, Any]] = {
    "integer": {"digits": {"type": "string", "pattern": "^-?[0-9]+$"}},
    "float": {"value": {"enum": ["nan", "inf", "-inf"]}},
    "tuple": {"items": _LIST},
    "dict": {"items": {"type": "array", "items": {"type": "array", "minItems": 2, "maxItems": 2}}},
    "array": {"place": {"type": "integer", "minimum": 0}},
    "transposed": {"array": _reference("array")},
    "texts": {"items": {"type": "array", "items": {"type": "string"}}},
    "objects": {"items": _LIST},
    "scalar": {"value": _reference("array")},
    "dtype": _NAME,
    "type": _NAME,
    "range": _LIMITS,
    "slice": _LIMITS,
}


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the document."""
    functions = {"name": {"enum": sorted(vocabulary().functions)}}
    definitions = {k: _object(k, parts) for k, parts in _PLAIN.items()}
    definitions["function"] = _object("function", functions)
    for name, stored in sorted(vocabulary().types.items()):
        fields = {field: _field(check) for field, check in stored.fields.items()}
        definitions[name] = _object(name, fields, stored.optional)
    simple = [{"type": ["null", "boolean", "number", "string"]}, _LIST]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"The document of a skliquid model file, version {VERSION}",
        "description": (
            "Each object has a kind. An array is the tensor whose name is its place, of one of the "
            f"types {', '.join(DTYPES)}. Lengths, ranges and finiteness of arrays are checked "
            "beyond this schema."
        ),
        **_VALUE,
        "$defs": {
            "value": {"anyOf": [*simple, *map(_reference, definitions)]},
            "items": {"anyOf": [_LIST, _reference("tuple")]},
            **definitions,
        },
    }


def _object(name: str, fields: dict[str, Any], optional: frozenset[str] = frozenset()) -> Any:
    return {
        "type": "object",
        "properties": {"kind": {"const": name}, **fields},
        "required": ["kind", *(field for field in fields if field not in optional)],
        "additionalProperties": False,
    }


def _field(check: Check) -> dict[str, Any]:
    """Return the schema of a field; numbers may also be written as objects."""
    scalar = _reference("scalar")
    match check:
        case Maybe(inner):
            return {"anyOf": [{"type": "null"}, _field(inner)]}
        case Integer(low, high):
            integer = {"type": "integer", "minimum": low, "maximum": high}
            return {"anyOf": [integer, _reference("integer"), scalar]}
        case Number(low, high):
            bounds = {"minimum": low, "maximum": high}
            finite = {name: bound for name, bound in bounds.items() if math.isfinite(bound)}
            return {"anyOf": [{"type": "number"} | finite, scalar]}
        case Boolean():
            return {"anyOf": [{"type": "boolean"}, scalar]}
        case Text(choices):
            return {"type": "string"} | ({"enum": list(choices)} if choices else {})
    return _FIELDS.get(type(check), _VALUE)


_FIELDS = {
    ListOf: _reference("items"),
    DictOf: _reference("dict"),
    NumericArray: {"anyOf": [_reference("array"), _reference("transposed")]},
}

if __name__ == "__main__":
    sys.stdout.write(json.dumps(json_schema(), indent=1) + "\n")
