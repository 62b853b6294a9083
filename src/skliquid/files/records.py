"""Records: the history of training, as arrays over all increments."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skliquid.delegation.graph import DelegationGraph
from skliquid.delegation.record import IncrementRecord, TrainingRecord
from skliquid.files.fields import Check, Integer, Maybe, Text, floats, integers, require
from skliquid.files.values import stored_type

_COUNT, _PER_INCREMENT = Integer(), integers("increments")
_TOTALS: dict[str, Check] = {
    "n_final": Integer(1),
    "n_increments": _COUNT,
    "increments_cost": _COUNT,
    "final_fit_cost": _COUNT,
    "stopped": Maybe(Text()),
    "max_increments": Maybe(Integer(1)),
}
_ARRAYS: dict[str, Check] = {
    "delegation": integers("graphs", "voters of a graph"),
    "n_rows": _PER_INCREMENT,
    "first_row": integers("increments", low=-1),
    "rows": integers("listed rows"),
    "n_voters": _PER_INCREMENT,
    "voters": integers("all voters"),
    "accuracy": floats("all voters", may_be_nan=True),
    "competence": floats("all voters", may_be_nan=True),
    "n_trained": _PER_INCREMENT,
    "cost": _PER_INCREMENT,
    "eval_accuracy": floats("increments", may_be_nan=True),
}


def _record_fields(record: TrainingRecord) -> dict[str, Any]:
    increments = record.increments
    graphs = [increments[0].before, *(one.graph for one in increments)] if increments else []
    delegation = [graph.delegation for graph in graphs] or np.empty((0, 0))
    rows = [one.rows for one in increments]
    first_row = [own.start if isinstance(own, range) else -1 for own in rows]
    return {
        **{name: getattr(record, name) for name in _TOTALS},
        "delegation": smallest(delegation),
        "n_rows": smallest([len(own) for own in rows]),
        "first_row": np.array(first_row, dtype=np.int64),
        "rows": smallest(_join([own for own in rows if not isinstance(own, range)], np.int64)),
        "n_voters": smallest([len(one.voters) for one in increments]),
        "voters": smallest(_join([one.voters for one in increments], np.int64)),
        "accuracy": _join([one.accuracy for one in increments], np.float64),
        "competence": _join([one.competence for one in increments], np.float64),
        "n_trained": smallest([one.n_trained for one in increments]),
        "cost": smallest([one.cost for one in increments]),
        "eval_accuracy": np.array([one.eval_accuracy for one in increments], dtype=np.float64),
    }


def _record(
    delegation: Any, n_rows: Any, first_row: Any, rows: Any, n_voters: Any, **rest: Any
) -> TrainingRecord:
    record = TrainingRecord(**{name: rest[name] for name in _TOTALS})
    n = len(n_rows)
    has_graphs = n <= record.n_increments and len(delegation) == (n + 1 if n else 0)
    require(has_graphs, "a record with a graph before and after each increment")
    graphs = [DelegationGraph(own) for own in delegation]
    is_range = first_row >= 0
    all_rows = _split(rows, np.where(is_range, 0, n_rows))
    parts = [_split(rest[name], n_voters) for name in ("voters", "accuracy", "competence")]
    for k, (voters, accuracy, competence) in enumerate(zip(*parts, strict=True)):
        start, length = int(first_row[k]), int(n_rows[k])
        is_same = np.array_equal(voters, graphs[k].representatives)
        require(is_same, "a record of the representatives of each increment")
        record.increments.append(
            IncrementRecord(
                increment=record.n_increments - n + k + 1,
                rows=range(start, start + length) if is_range[k] else all_rows[k],
                voters=graphs[k].representatives,
                accuracy=accuracy,
                competence=competence,
                before=graphs[k],
                graph=graphs[k + 1],
                n_trained=int(rest["n_trained"][k]),
                cost=int(rest["cost"][k]),
                eval_accuracy=float(rest["eval_accuracy"][k]),
            )
        )
    return record


def _split(values: Any, lengths: Any) -> list[Any]:
    """Return consecutive parts of an array."""
    ends = np.cumsum(lengths.astype(np.int64))
    is_complete = len(values) == (ends[-1] if len(ends) else 0)
    require(is_complete, "arrays with as many values as increments need")
    return np.split(values, ends[:-1]) if len(ends) else []


def _join(arrays: Sequence[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    return np.concatenate([*arrays, np.empty(0, dtype=dtype)])


def smallest(values: ArrayLike) -> NDArray[Any]:
    """Return non-negative integers in the type that takes the fewest bytes."""
    array = np.asarray(values, dtype=np.int64)
    return array.astype(np.min_scalar_type(int(array.max(initial=0))))


RECORD_TYPES = [stored_type(TrainingRecord, _record, _record_fields, **_TOTALS, **_ARRAYS)]
