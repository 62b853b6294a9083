"""Notebook pictures: curves, delegations and tables, as HTML without dependencies."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import isfinite
from typing import Any

import numpy as np

from skliquid.delegation.graph import DelegationGraph
from skliquid.delegation.record import TrainingRecord, increment_row
from skliquid.plotting.forest_layout import ForestLayout
from skliquid.plotting.training_history import TrainingHistory

_BLUE, _ORANGE = "#0072B2", "#E69F00"
_MAX_WIDTH, _UNIT = 640, 16  # pixels: of a picture, and of the mark of a voter with one vote
_ROWS_SHOWN = 5  # at the beginning and at the end of a table


def graph_html(graph: DelegationGraph) -> str:
    """Return the HTML that notebooks show for a delegation graph."""
    n_left = len(graph.representatives)
    text = f"{graph.n_voters} voters, {n_left} representatives: the larger, the more votes."
    return f"<div>{forest(graph)}<div>{text}</div></div>"


def record_html(record: TrainingRecord) -> str:
    """Return the HTML that notebooks show for a training record."""
    rows = [increment_row(increment) for increment in record.increments]
    columns = _curves(TrainingHistory.from_record(record)) if rows else {}
    curves = "".join(
        f"<tr><td>{name}</td><td>{picture}</td><td>{format_number(values[-1])}</td></tr>"
        for name, values in columns.items()
        if (picture := curve(values))
    )
    return (
        f"<div><p>{escape(record.summary())}</p><table>{curves}</table>"
        f"<details><summary>Increments</summary>{table(rows)}</details></div>"
    )


def _curves(history: TrainingHistory) -> dict[str, list[Any]]:
    """Return the numbers over increments by their names; a score or cost ends with the last fit."""
    scores = history.eval_accuracy
    is_scored = np.isfinite(scores[-1])
    return {
        "representatives": history.representatives.tolist(),
        "accuracy of voters": history.accuracy.tolist(),
        "accuracy on the evaluation set": (scores if is_scored else scores[:-1]).tolist(),
        "minimum majority (fewest with over half of the votes)": history.minimum_majority.tolist(),
        "cost so far (sample visits)": history.cost.astype(int).tolist(),
    }


def curve(values: Sequence[float], *, width: int = 150, height: int = 26) -> str:
    """Return a small curve as SVG, with a dot at its end; NaN are left out."""
    points = [(k, value) for k, value in enumerate(values) if isfinite(value)]
    if not points:
        return ""
    low, high = min(value for _, value in points), max(value for _, value in points)
    step, scale = (width - 8) / max(len(values) - 1, 1), (height - 8) / ((high - low) or 1)
    places = [(4 + k * step, height - 4 - (value - low) * scale) for k, value in points]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    x, y = places[-1]
    polyline = f'<polyline points="{line}" fill="none" stroke="{_BLUE}" stroke-width="1.5"/>'
    dot = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{_ORANGE}"/>'
    return _svg(width, height, polyline + dot)


def forest(graph: DelegationGraph) -> str:
    """Return the trees of all representatives as SVG, in the layout of the displays."""
    layout = ForestLayout.from_graph(graph)
    (left, right), (low, high) = layout.limits
    unit = min(_MAX_WIDTH / (right - left), _UNIT)
    centres = (layout.positions - (left, high)) * (unit, -unit)
    line = '<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="#999"/>'
    lines = [
        line.format(*centres[voter], *centres[graph.delegation[voter]])
        for voter in np.flatnonzero(graph.distances)
    ]
    circles = zip(centres, unit * layout.radii, graph.weights, graph.delegation, strict=True)
    marks = [
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.2f}" fill="{_ORANGE if weight else _BLUE}">'
        f"<title>{_caption(voter, weight, delegate)}</title></circle>"
        for voter, ((x, y), radius, weight, delegate) in enumerate(circles)
    ]
    width, height = unit * (right - left), unit * (high - low)
    return _svg(round(width), round(height), "".join([*lines, *marks]))


def _caption(voter: int, weight: int, delegate: int) -> str:
    if not weight:
        return f"voter {voter} delegates to {delegate}"
    return f"voter {voter} carries {weight} {'votes' if weight > 1 else 'vote'}"


def _svg(width: int, height: int, content: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" style="max-width:100%">{content}</svg>'
    )


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a table as HTML: all rows, or the first and the last ones if there are many."""
    if not rows:
        return ""
    shown = [_cells(row.values(), "td") for row in rows]
    if len(rows) > 2 * _ROWS_SHOWN + 1:
        dots = f'<tr><td colspan="{len(rows[0])}">…</td></tr>'
        shown = [*shown[:_ROWS_SHOWN], dots, *shown[-_ROWS_SHOWN:]]
    names = _cells([name.replace("_", " ") for name in rows[0]], "th")
    return f"<table><thead>{names}</thead><tbody>{''.join(shown)}</tbody></table>"


def _cells(values: Iterable[Any], tag: str) -> str:
    cells = (f"<{tag}>{escape(format_number(value))}</{tag}>" for value in values)
    return f"<tr>{''.join(cells)}</tr>"


def format_number(value: Any) -> str:
    """Return a number with separators or three digits, and any other value as text."""
    if isinstance(value, float):
        return f"{value:.3g}" if isfinite(value) else ""
    return f"{value:,}" if isinstance(value, int) else str(value)
