"""Replay data: the numbers and texts of a record that the replay page reads as JSON."""

import re
from collections.abc import Iterable, Sequence
from math import ceil, isfinite, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skliquid.delegation.graph import DelegationGraph
from skliquid.delegation.record import IncrementRecord, TrainingRecord, VoterDescription
from skliquid.plotting.fitted_record import competence_unit, estimators_of
from skliquid.plotting.forest_layout import ForestLayout
from skliquid.plotting.marks import CIRCLE, marks_by_estimator
from skliquid.plotting.training_history import TrainingHistory

MAX_INCREMENTS = 200  # shown in a replay; if there are more, evenly spaced ones are shown
_LEVELS = 1_000  # minimum number of steps in which the range of competences is shown
_MAX_LETTERS = 120  # of a hyperparameter


def replay_data(record: TrainingRecord) -> dict[str, Any]:
    """Return the data that a page needs to replay ``record``.

    Columns hold one entry per increment shown. ``moves`` has pairs of a voter and the voter that it
    delegates to from then on, in the order of the replay: voters that take their vote back first,
    then the weakest first. ``visits`` and ``visits_of_all`` are counted from the first increment
    kept. The latter assumes that all voters kept training, each at the mean cost of those that did.
    ``positions`` are those of the voters in the last graph, as in a display: x, y, x and so on.
    """
    increments = record.increments
    n_shown = min(len(increments), MAX_INCREMENTS)
    positions = sorted({round(k) for k in np.linspace(0, len(increments) - 1, n_shown)})
    shown = [increments[k] for k in positions]
    graphs = [increments[0].before, *(increment.graph for increment in shown)]
    start, n_voters = graphs[0].delegation, graphs[0].n_voters
    digits = _digits(np.concatenate([increment.competence for increment in shown]))
    return {
        "n_voters": n_voters,
        "n_final": record.n_final,
        "n_increments": record.n_increments,
        "n_kept": len(increments),
        "stopped": record.stopped,
        **_descriptions(record.voters),
        **_forest(record),
        "start": None if np.array_equal(start, np.arange(n_voters)) else start.tolist(),
        "increment": [increment.increment for increment in shown],
        "n_rows": [increment.n_rows for increment in shown],
        "n_trained": [increment.n_trained for increment in shown],
        "minimum_majority": [increment.minimum_majority for increment in shown],
        "eval_accuracy": [_accuracy(increment.eval_accuracy) for increment in shown],
        "final_eval_accuracy": _accuracy(record.final_eval_accuracy),
        **_visits(record, positions),
        "moves": _moves(shown, graphs),
        "judged": [_measured_voters(*pair) for pair in zip(shown, graphs[:-1], strict=True)],
        "competence": [_as_integers(increment.competence, digits) for increment in shown],
        "competence_digits": digits,
        "competence_unit": competence_unit(record),
    }


def _accuracy(value: float) -> float | None:
    return round(float(value), 5) if isfinite(value) else None


def _forest(record: TrainingRecord) -> dict[str, Any]:
    """Return the places of voters, and the corners of each estimator's mark; None is a circle."""
    estimators = estimators_of(record)
    marks = marks_by_estimator(estimators)
    layout = ForestLayout.from_graph(record[-1].graph, [marks[name] for name in estimators])
    corners = {mark: mark.corners.round(3).ravel().tolist() for mark in marks.values()}
    return {
        "positions": layout.positions.round(2).ravel().tolist(),
        "marks": [None if mark is CIRCLE else corners[mark] for mark in marks.values()],
    }


def _descriptions(voters: Sequence[VoterDescription]) -> dict[str, Any]:
    """Return the properties of the voters, with each estimator and feature map named once."""
    estimators = list(dict.fromkeys(voter.estimator for voter in voters))
    maps = list(dict.fromkeys(voter.feature_map for voter in voters))
    return {
        "estimators": estimators,
        "estimator": [estimators.index(voter.estimator) for voter in voters],
        "feature_maps": maps,
        "feature_map": [maps.index(voter.feature_map) for voter in voters],
        "hyperparameters": [
            {str(name): _text(value) for name, value in voter.hyperparameters.items()}
            for voter in voters
        ],
    }


def _text(value: Any) -> str:
    """Return a hyperparameter as text that is the same in each process."""
    if isinstance(value, float | np.floating):
        return f"{value:.3g}"
    text = re.sub(r" at 0x[0-9a-fA-F]+", "", value if isinstance(value, str) else repr(value))
    return text if len(text) <= _MAX_LETTERS else f"{text[: _MAX_LETTERS - 1]}…"


def _visits(record: TrainingRecord, positions: Sequence[int]) -> dict[str, Any]:
    """Return sample visits so far, and their estimate if all voters had kept training."""
    history = TrainingHistory.from_record(record)
    elsewhere = int(history.cost[0]) - record[0].cost
    spent, of_all = history.cost - elsewhere, history.cost_of_all - elsewhere
    return {
        "visits": [int(spent[k]) for k in positions],
        "visits_of_all": [round(of_all[k]) for k in positions],
        "visits_elsewhere": elsewhere,
        "final_fit": record.final_fit_cost,
        "final_fit_of_all": round(of_all[-1] - of_all[-2]),
    }


def _moves(shown: Sequence[IncrementRecord], graphs: Sequence[DelegationGraph]) -> list[list[int]]:
    """Return the moves since the increment shown before: voter, delegate, voter and so on."""
    latest, moves = np.full(graphs[0].n_voters, np.inf), []
    for increment, before, after in zip(shown, graphs[:-1], graphs[1:], strict=True):
        is_measured = np.isfinite(increment.competence)
        latest[increment.voters[is_measured]] = increment.competence[is_measured]
        moves.append(_order_moves(before.delegation, after.delegation, latest))
    return moves


def _order_moves(before: NDArray[Any], after: NDArray[Any], competence: NDArray[Any]) -> list[int]:
    """Return the moves between two graphs, in an order that never makes a cycle."""
    voters = np.arange(len(before))
    has_changed = before != after
    returned = np.flatnonzero(has_changed & (before != voters))  # also to delegate to another
    delegators = np.flatnonzero(has_changed & (after != voters))
    delegators = delegators[np.argsort(competence[delegators], kind="stable")]
    pairs = [(voter, voter) for voter in returned] + [(voter, after[voter]) for voter in delegators]
    return [int(voter) for pair in pairs for voter in pair]


def _measured_voters(increment: IncrementRecord, before: DelegationGraph) -> list[int] | None:
    """Return the voters with a competence, or None if these are all representatives before."""
    is_usual = np.array_equal(increment.voters, before.representatives)
    return None if is_usual else increment.voters.tolist()


def _digits(values: NDArray[Any]) -> int:
    """Return the number of decimals that show differences between ``values``."""
    values = values[np.isfinite(values)]
    spread = float(np.ptp(values)) if len(values) else 0.0
    return max(3, ceil(log10(_LEVELS / spread))) if spread else 3


def _as_integers(values: Iterable[Any], digits: int) -> list[int | None]:
    """Return numbers in units of their last decimal, and None for NaN."""
    return [round(float(value) * 10**digits) if isfinite(value) else None for value in values]
