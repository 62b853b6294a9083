"""The schema of the documents in model files, as JSON Schema, from the checks of their fields.

``python -m skliquid.model_file.schema`` prints it.
"""

import json
import sys
from typing import Any

from skliquid.model_file.container import DTYPES, VERSION
from skliquid.model_file.values import Kind
from skliquid.model_file.vocabulary import vocabulary

_VALUE = {"$ref": "#/$defs/value"}
_LIST = {"type": "array", "items": _VALUE}
_PLACE = {"type": "integer", "minimum": 0}
_LIMIT = {"type": ["integer", "null"]}
_PLAIN: dict[str, dict[str, Any]] = {
    "integer": {"digits": {"type": "string", "pattern": "^-?[0-9]+$"}},
    "float": {"value": {"enum": ["nan", "inf", "-inf"]}},
    "tuple": {"items": _LIST},
    "dict": {"items": {"type": "array", "items": {"type": "array", "minItems": 2, "maxItems": 2}}},
    "array": {"place": _PLACE},
    "transposed": {"array": {"$ref": "#/$defs/array"}},
    "texts": {"items": {"type": "array", "items": {"type": "string"}}},
    "objects": {"items": _LIST},
    "scalar": {"value": {"$ref": "#/$defs/array"}},
    "dtype": {"name": {"type": "string"}},
    "type": {"name": {"type": "string"}},
    "range": {"limits": {"type": "array", "items": _LIMIT, "minItems": 3, "maxItems": 3}},
    "slice": {"limits": {"type": "array", "items": _LIMIT, "minItems": 3, "maxItems": 3}},
    "function": {"name": {"enum": []}},
}


def schema() -> dict[str, Any]:
    """Return the schema of the document."""
    known = vocabulary()
    names = {"name": {"enum": sorted(known.functions)}}
    plain = {k: _object(k, parts) for k, parts in (_PLAIN | {"function": names}).items()}
    kinds = {name: _kind(kind) for name, kind in sorted(known.kinds.items())}
    simple = [{"type": ["null", "boolean", "number", "string"]}, _LIST]
    objects = [{"$ref": f"#/$defs/{name}"} for name in [*plain, *kinds]]
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
            "value": {"anyOf": [*simple, *objects]},
            "items": {"anyOf": [_LIST, {"$ref": "#/$defs/tuple"}]},
            **plain,
            **kinds,
        },
    }


def _object(name: str, parts: dict[str, Any], optional: frozenset[str] = frozenset()) -> Any:
    return {
        "type": "object",
        "properties": {"kind": {"const": name}, **parts},
        "required": ["kind", *(part for part in parts if part not in optional)],
        "additionalProperties": False,
    }


def _kind(kind: Kind) -> Any:
    parts = {name: _loosened(check.schema) for name, check in kind.fields.items()}
    return _object(kind.name, parts, kind.optional)


def _loosened(found: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a field whose numbers may also be written as objects."""
    if found.get("type") == "integer":
        others = [{"$ref": "#/$defs/integer"}, {"$ref": "#/$defs/scalar"}]
        return {"anyOf": [found, *others]}
    if found.get("type") in ("number", "boolean"):
        return {"anyOf": [found, {"$ref": "#/$defs/scalar"}]}
    if "anyOf" in found:
        return {"anyOf": [_loosened(one) for one in found["anyOf"]]}
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(schema(), indent=1) + "\n")
