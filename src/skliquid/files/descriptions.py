"""Descriptions: the fields of storable parts and their types, and parts as fields and back."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import inf
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
import numpy as np
from numpy.typing import NDArray

from skliquid.delegation.storable import STORABLE, Array, Range
from skliquid.files.references import AnyArray, AnyPart, Float

_INPUTS: dict[str, Any] = {
    "n_features_in_": Annotated[int, Range(1, 2**31 - 1)],
    "feature_names_in_": Annotated[NDArray[Any], Array("")],
    "_sklearn_output_config": dict[str, str],
}
"""Attributes that any fitted estimator may have."""


@dataclass(frozen=True, eq=False)
class Description:
    """The fields of a part, their types, and conversion to fields and back."""

    name: str
    cls: type
    fields: Mapping[str, Any]  # the type of each
    defaults: Mapping[str, Any]  # of fields that files may leave out
    to_fields: Callable[[Any], Mapping[str, Any]]
    from_fields: Callable[..., Any]
    struct: type[msgspec.Struct] = field(init=False)

    def __post_init__(self) -> None:
        members = [
            (name, msgspec.UnsetType | _document_type(hint), msgspec.UNSET)
            if name in self.defaults
            else (name, _document_type(hint))
            for name, hint in self.fields.items()
        ]
        options: dict[str, Any] = {"tag_field": "type", "tag": self.name, "kw_only": True}
        struct = msgspec.defstruct(self.name, members, forbid_unknown_fields=True, **options)
        object.__setattr__(self, "struct", struct)


class Vocabulary:
    """The descriptions of all storable classes, and the storable functions."""

    def __init__(self, parts: Mapping[str, Any], foreign: Sequence[Description]):
        self.functions = {k: part for k, part in parts.items() if not isinstance(part, type)}
        classes = {k: part for k, part in parts.items() if isinstance(part, type)}
        described = [*foreign, *(describe(name, cls) for name, cls in classes.items())]
        self.by_name = {one.name: one for one in described}
        self.by_class = {one.cls: one for one in described}
        self.decoder = msgspec.json.Decoder(self.document_type)

    @property
    def document_type(self) -> Any:
        """The type of a document."""
        structs = tuple(one.struct for one in self.by_name.values())
        members = [("parts", list[Union[structs]]), ("model", Any)]  # type: ignore[valid-type]  # noqa: UP007
        return msgspec.defstruct("Document", members, forbid_unknown_fields=True)


def vocabulary() -> Vocabulary:
    """Return the vocabulary of the parts that have been declared so far."""
    return _vocabulary(tuple(STORABLE.items()))


@lru_cache(maxsize=1)
def _vocabulary(parts: tuple[tuple[str, Any], ...]) -> Vocabulary:
    from skliquid.files.foreign import FOREIGN  # noqa: PLC0415 (it has descriptions itself)

    return Vocabulary(dict(parts), FOREIGN)


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of documents with the parts that have been declared so far."""
    return msgspec.json.schema(vocabulary().document_type)


# Parts


def describe(name: str, cls: Any) -> Description:
    """Return the description of a class, from its declaration."""
    has_form = hasattr(cls, "stored_as")
    if hasattr(cls, "get_params") and not has_form:
        params = dict.fromkeys(cls._get_param_names(), Any)
        return describe_estimator(cls, params, _fitted_attributes(cls), name=name)
    form = cls.stored_as if has_form else cls
    hints, names = get_type_hints(form, include_extras=True), inspect.signature(form).parameters

    def to_fields(part: Any) -> dict[str, Any]:
        stored = part.to_stored() if has_form else part
        return {name: getattr(stored, name) for name in names}

    def from_fields(**fields: Any) -> Any:
        return check(cls.from_stored(form(**fields)) if has_form else cls(**fields))

    fields = {name: hints[name] for name in names}
    return Description(name, cls, fields, _defaults(form), to_fields, from_fields)


def _defaults(cls: Any) -> dict[str, Any]:
    parameters = inspect.signature(cls).parameters.values()
    return {one.name: one.default for one in parameters if one.default is not one.empty}


def check(part: Any) -> Any:
    """Return the part, after the checks that it declares."""
    if hasattr(part, "check_stored"):
        part.check_stored()
    return part


# Estimators


def _fitted_attributes(cls: Any) -> dict[str, Any]:
    """Return the annotated attributes with a leading or trailing underscore, and their types."""
    own = [base for base in cls.__mro__ if not base.__module__.startswith("sklearn")]
    names = {name for base in own for name in vars(base).get("__annotations__", {})}
    hints = get_type_hints(cls, include_extras=True)
    return {name: hints[name] for name in sorted(names) if name.strip("_") != name}


def describe_estimator(
    cls: Any,
    params: Mapping[str, Any],
    fitted: Mapping[str, Any] | None,
    *,
    name: str = "",
    check: Callable[[Any], Any] = check,
) -> Description:
    """Return the description of an estimator: its parameters, and attributes if it is fitted.

    Parameters that are not in ``params`` must have their defaults. A fitted estimator has all
    attributes in ``fitted``, except those with a default in the class. None: files hold no
    attributes.
    """
    learned = fitted or {}
    required = {attribute for attribute in learned if not hasattr(cls, attribute)}

    def to_fields(estimator: Any) -> dict[str, Any]:
        values = estimator.get_params(deep=False)
        for other in values.keys() - params.keys():
            _check_default(cls, other, values[other])
        stored = {k: values[k] for k in params}
        if fitted is not None:
            cached = {k for k in vars(estimator) if isinstance(getattr(cls, k, 0), cached_property)}
            before = vars(cls(**values)).keys() | cached
            stored |= {k: v for k, v in sorted(vars(estimator).items()) if k not in before}
        return stored

    def from_fields(**fields: Any) -> Any:
        estimator = cls(**{k: fields.pop(k) for k in params if k in fields})
        _validate(estimator)
        vars(estimator).update(fields)
        if fields.keys() & learned.keys() or not learned:
            if missing := required - fields.keys():
                raise ValueError(f"it must have the attribute {min(missing)}")
            check(estimator)
        return estimator

    fields = {**params, **(_INPUTS if fitted is not None else {}), **learned}
    defaults = dict.fromkeys(fields, ...) | {k: v for k, v in _defaults(cls).items() if k in fields}
    return Description(name or cls.__name__, cls, fields, defaults, to_fields, from_fields)


def _validate(estimator: Any) -> None:
    if hasattr(estimator, "check_parameters"):
        estimator.check_parameters()
    elif hasattr(estimator, "_parameter_constraints"):
        estimator._validate_params()


def _check_default(cls: Any, name: str, value: Any) -> None:
    default = _defaults(cls)[name]
    if value is not default and value != default:
        raise TypeError(f"{cls.__name__} must have {name}={default!r}: got {value!r}")


# Types


def options(hint: Any) -> Iterator[tuple[Any, Array | None]]:
    """Yield the types that a field may have, and the rule for arrays."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        rule = next((one for one in arguments[1:] if isinstance(one, Array)), None)
        yield from ((inner, rule or own) for inner, own in options(arguments[0]))
    elif origin in (Union, UnionType):
        for argument in arguments:
            yield from options(argument)
    else:
        yield hint, None


def _document_type(hint: Any) -> Any:  # noqa: C901, PLR0911 (a table)
    """Return the type of a field in the document."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        for low, high in (rule for rule in arguments[1:] if isinstance(rule, Range)):
            ge, le = (None if abs(bound) == inf else bound for bound in (low, high))
            return Annotated[arguments[0], msgspec.Meta(ge=ge, le=le)]
        return _document_type(arguments[0])
    if origin in (Union, UnionType):
        found = tuple(map(_document_type, arguments))
        return Any if Any in found else Union[found]  # noqa: UP007
    if hint is float:
        return float | Float  # which may be NaN or infinite, if there is no range
    if origin is Literal or hint in (..., Any, None, type(None), bool, int, str):
        return hint
    if hint in (list, tuple, dict):
        return Any
    if origin in (list, Sequence):
        return list[_document_type(arguments[0])]  # type: ignore[misc]
    if origin is tuple:
        return tuple[tuple(map(_document_type, arguments))]  # type: ignore[misc]
    if origin in (dict, Mapping):
        return dict[arguments[0], _document_type(arguments[1])]  # type: ignore[misc, valid-type]
    return AnyArray if origin is np.ndarray else AnyPart
