"""Records: what happened in training, as arrays of all increments."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skliquid.delegation_graph import DelegationGraph
from skliquid.model_file.fields import Integer, Maybe, Text, Unfit, floats, integers
from skliquid.model_file.values import Kind
from skliquid.record import IncrementRecord, TrainingRecord

_COUNT = Integer()


def _record_parts(record: TrainingRecord) -> dict[str, Any]:
    increments = record.increments
    graphs = [increments[0].before, *(one.graph for one in increments)] if increments else []
    rows = [one.rows for one in increments]
    return {
        "n_final": record.n_final,
        "n_increments": record.n_increments,
        "increments_cost": record.increments_cost,
        "final_fit_cost": record.final_fit_cost,
        "stopped": record.stopped,
        "most": record.most,
        "delegation": smallest(_stacked([graph.delegation for graph in graphs])),
        "n_rows": smallest(np.array([len(own) for own in rows], dtype=np.int64)),
        "first_row": np.array(
            [own.start if isinstance(own, range) else -1 for own in rows], dtype=np.int64
        ),
        "rows": smallest(
            _joined(
                [own for own in rows if not isinstance(own, range)],
                np.int64,
            )
        ),
        "n_voters": smallest(np.array([len(one.voters) for one in increments], dtype=np.int64)),
        "voters": smallest(_joined([one.voters for one in increments], np.int64)),
        "accuracy": _joined([one.accuracy for one in increments], np.float64),
        "competence": _joined([one.competence for one in increments], np.float64),
        "n_trained": smallest(np.array([one.n_trained for one in increments], dtype=np.int64)),
        "cost": smallest(np.array([one.cost for one in increments], dtype=np.int64)),
        "eval_accuracy": np.array([one.eval_accuracy for one in increments], dtype=np.float64),
    }


def _record(
    delegation: Any, n_rows: Any, first_row: Any, rows: Any, n_voters: Any, **more: Any
) -> TrainingRecord:
    names = ("n_final", "n_increments", "increments_cost", "final_fit_cost", "stopped", "most")
    record = TrainingRecord(**{name: more[name] for name in names})
    n = len(n_rows)
    if n > record.n_increments or len(delegation) != (n + 1 if n else 0):
        raise Unfit("a record with a graph before and after each increment")
    graphs = [DelegationGraph(own) for own in delegation]
    is_range = first_row >= 0
    all_rows = _split(rows, np.where(is_range, 0, n_rows))
    parts = [_split(more[name], n_voters) for name in ("voters", "accuracy", "competence")]
    for k, (voters, accuracy, competence) in enumerate(zip(*parts, strict=True)):
        start, length = int(first_row[k]), int(n_rows[k])
        if not np.array_equal(voters, graphs[k].representatives):
            raise Unfit("a record of the representatives of each increment")
        record.increments.append(
            IncrementRecord(
                increment=record.n_increments - n + k + 1,
                rows=range(start, start + length) if is_range[k] else all_rows[k],
                voters=graphs[k].representatives,
                accuracy=accuracy,
                competence=competence,
                before=graphs[k],
                graph=graphs[k + 1],
                n_trained=int(more["n_trained"][k]),
                cost=int(more["cost"][k]),
                eval_accuracy=float(more["eval_accuracy"][k]),
            )
        )
    return record


def _split(values: Any, lengths: Any) -> list[Any]:
    """Return consecutive parts of an array."""
    ends = np.cumsum(lengths.astype(np.int64))
    if len(values) != (ends[-1] if len(ends) else 0):
        raise Unfit("arrays with as many values as increments need")
    return np.split(values, ends[:-1]) if len(ends) else []


def _joined(arrays: Sequence[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    return np.concatenate([*arrays, np.empty(0, dtype=dtype)])


def _stacked(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return np.stack(arrays) if arrays else np.empty((0, 0), dtype=np.int64)


def smallest(values: NDArray[Any]) -> NDArray[Any]:
    """Return whole numbers of zero or more in the type that takes the fewest bytes."""
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))


_PER_INCREMENT = integers("increments")
RECORD = Kind(
    "TrainingRecord",
    TrainingRecord,
    {
        "n_final": Integer(1),
        "n_increments": _COUNT,
        "increments_cost": _COUNT,
        "final_fit_cost": _COUNT,
        "stopped": Maybe(Text()),
        "most": Maybe(Integer(1)),
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
    },
    _record_parts,
    _record,
)

KINDS = [RECORD]
