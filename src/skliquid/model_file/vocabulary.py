"""The vocabulary of model files: every kind of object and every function that one may name."""

from functools import cache
from importlib import import_module
from typing import Any

from sklearn.model_selection import StratifiedKFold

from skliquid import column_encoders, table_columns
from skliquid.diversity import feature_maps
from skliquid.model_file import (
    distributions,
    ensembles,
    estimators,
    kinds,
    learned_voters,
    records,
)
from skliquid.model_file.fields import Anything, Flag, Integer
from skliquid.model_file.kinds import plain_kind
from skliquid.model_file.values import Kind, Vocabulary

_FUNCTIONS: dict[str, Any] = {
    f"{function.__module__}.{function.__name__}": function
    for function in (
        feature_maps.signed_log,
        table_columns.as_numbers,
        table_columns.as_text,
        column_encoders.calendar,
        column_encoders.part_names,
        column_encoders.category_name,
    )
}
_FOLDS = plain_kind(StratifiedKFold, n_splits=Integer(2), shuffle=Flag(), random_state=Anything())
_OF_EXTRAS = ("skliquid.streams.stored",)
"""Modules with more ``KINDS``, for objects that exist only where an extra is installed."""


@cache
def vocabulary() -> Vocabulary:
    """Return all kinds and functions."""
    tables = (kinds, distributions, estimators, records, learned_voters, ensembles)
    found = [_FOLDS, *(kind for table in tables for kind in table.KINDS)]
    found += [kind for module in _OF_EXTRAS for kind in _kinds_of(module)]
    return Vocabulary({kind.name: kind for kind in found}, kinds.FUNCTIONS | _FUNCTIONS)


def _kinds_of(module: str) -> list[Kind]:
    try:
        kinds_there: list[Kind] = import_module(module).KINDS
    except ImportError:
        return []
    return kinds_there
