"""What a replay shows of a training, as numbers and texts that fit into JSON."""

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate
from math import ceil, isfinite, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_INCREMENTS = 200
"""How many increments a replay shows; of more, it shows as many, evenly spaced."""

_LEVELS = 1_000  # the range of competences is shown in steps at least as fine as this
_LONGEST_TEXT = 120  # of a hyperparameter


def replay_data(record: Any) -> dict[str, Any]:
    """Return what a page needs to replay ``record``.

    Columns hold one entry per increment shown. ``moves`` has pairs of a voter and the voter that it
    delegates to from then on, in the order in which they are played: voters that take their vote
    back first, then the weakest first. ``visits`` and ``visits_of_all`` are counted from the first
    increment kept; the latter is what they would be if all voters had kept training, each at the
    mean cost of those that trained.
    """
    increments, shown = record.increments, _positions(len(record.increments))
    graphs = [increments[0].before, *(increments[k].graph for k in shown)]
    start, n_voters = graphs[0].delegation, graphs[0].n_voters
    digits = _digits(np.concatenate([increments[k].competence for k in shown]))
    return {
        "n_voters": n_voters,
        "n_final": record.n_final,
        "n_increments": record.n_increments,
        "n_kept": len(increments),
        "stopped": record.stopped,
        **_described(getattr(record, "voters", ())),
        "start": None if np.array_equal(start, np.arange(n_voters)) else start.tolist(),
        "increment": [increments[k].increment for k in shown],
        "n_rows": [increments[k].n_rows for k in shown],
        "n_trained": [increments[k].n_trained for k in shown],
        "minimum_majority": [increments[k].minimum_majority for k in shown],
        "eval_accuracy": _numbers((increments[k].eval_accuracy for k in shown), 5),
        **_visits(record, shown),
        "moves": _moves(increments, shown, graphs),
        "judged": _judged([increments[k].voters for k in shown], graphs),
        "competence": [_scaled(increments[k].competence, digits) for k in shown],
        "competence_digits": digits,
    }


def _positions(n_increments: int) -> list[int]:
    """Return which increments are shown: all, or the first, the last and evenly spaced ones."""
    n_shown = min(n_increments, MOST_INCREMENTS)
    return sorted({round(k) for k in np.linspace(0, n_increments - 1, n_shown)})


def _described(voters: Sequence[Any]) -> dict[str, Any]:
    """Return what distinguishes the voters, with each kind and feature map named once."""
    kinds = list(dict.fromkeys(voter.kind for voter in voters))
    maps = list(dict.fromkeys(voter.feature_map for voter in voters))
    return {
        "kinds": kinds,
        "kind": [kinds.index(voter.kind) for voter in voters],
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
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"


def _visits(record: Any, shown: Sequence[int]) -> dict[str, Any]:
    """Return sample visits so far, and how many there would be if all voters kept training."""
    increments = record.increments
    n_voters, n_left = increments[0].graph.n_voters, increments[-1].n_representatives
    spent = list(accumulate(int(one.cost) for one in increments))
    of_all = accumulate(n_voters * one.cost / max(one.n_trained, 1) for one in increments)
    rounded = [round(total) for total in of_all]
    final_fit = int(record.cost.final_fit)
    return {
        "visits": [spent[k] for k in shown],
        "visits_of_all": [rounded[k] for k in shown],
        "visits_elsewhere": int(record.cost.increments) - spent[-1],
        "final_fit": final_fit,
        "final_fit_of_all": round(final_fit * n_voters / n_left),
    }


def _moves(increments: Sequence[Any], shown: Sequence[int], graphs: Sequence[Any]) -> list[Any]:
    """Return who moved since the increment shown before: voter, delegate, voter and so on."""
    latest, moves, known = np.full(graphs[0].n_voters, np.inf), [], 0
    for place, k in enumerate(shown):
        for one in increments[known : k + 1]:
            is_known = np.isfinite(one.competence)
            latest[one.voters[is_known]] = one.competence[is_known]
        known = k + 1
        before, after = graphs[place].delegation, graphs[place + 1].delegation
        moves.append(_ordered(before, after, latest))
    return moves


def _ordered(before: NDArray[Any], after: NDArray[Any], competence: NDArray[Any]) -> list[int]:
    """Return the moves between two graphs, in an order that never makes a cycle."""
    voters = np.arange(len(before))
    has_changed = before != after
    returned = np.flatnonzero(has_changed & (before != voters))  # also to delegate to another
    delegators = np.flatnonzero(has_changed & (after != voters))
    delegators = delegators[np.argsort(competence[delegators], kind="stable")]
    pairs = [(voter, voter) for voter in returned] + [(voter, after[voter]) for voter in delegators]
    return [int(voter) for pair in pairs for voter in pair]


def _judged(voters: Sequence[NDArray[Any]], graphs: Sequence[Any]) -> list[list[int] | None]:
    """Return whose competence there is, None where it is that of all representatives before."""
    return [
        None if np.array_equal(judged, graph.representatives) else judged.tolist()
        for judged, graph in zip(voters, graphs, strict=False)
    ]


def _digits(values: NDArray[Any]) -> int:
    """Return how many decimals show differences between ``values``."""
    values = values[np.isfinite(values)]
    spread = float(np.ptp(values)) if len(values) else 0.0
    return max(3, ceil(log10(_LEVELS / spread))) if spread else 3


def _scaled(values: Iterable[Any], digits: int) -> list[int | None]:
    """Return numbers as integers, in units of their last decimal; None for NaN."""
    scale = 10**digits
    return [round(float(value) * scale) if isfinite(value) else None for value in values]


def _numbers(values: Iterable[Any], digits: int) -> list[float | None]:
    return [round(float(value), digits) if isfinite(value) else None for value in values]
