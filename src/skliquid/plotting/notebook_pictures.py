"""Notebook pictures: curves, delegations and tables, as HTML without dependencies."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import pairwise
from math import isfinite, sqrt
from typing import Any

from skliquid.delegation.graph import DelegationGraph
from skliquid.delegation.record import TrainingRecord, increment_row

_BLUE, _ORANGE = "#0072B2", "#E69F00"
_MAX_RADIUS = 17.0
_ROWS_SHOWN = 5  # at the beginning and at the end of a table
_CURVES = ("n_representatives", "accuracy_of_voters", "eval_accuracy", "minimum_majority", "cost")


def graph_html(graph: DelegationGraph) -> str:
    """Return the HTML that notebooks show for a delegation graph."""
    n_left = len(graph.representatives)
    text = f"{graph.n_voters} voters, {n_left} representatives: the larger, the more votes."
    picture = delegations(graph.delegation.tolist(), graph.weights.tolist())
    return f"<div>{picture}<div>{text}</div></div>"


def record_html(record: TrainingRecord) -> str:
    """Return the HTML that notebooks show for a training record."""
    rows = [increment_row(increment) for increment in record.increments]
    columns = {name: [row[name] for row in rows] for name in _CURVES}
    curves = "".join(
        f"<tr><td>{name.replace('_', ' ')}</td><td>{picture}</td>"
        f"<td>{format_number(values[-1])}</td></tr>"
        for name, values in columns.items()
        if (picture := curve(values))
    )
    return (
        f"<div><p>{escape(record.summary())}</p><table>{curves}</table>"
        f"<details><summary>Increments</summary>{table(rows)}</details></div>"
    )


def curve(values: Sequence[float], *, width: int = 150, height: int = 26) -> str:
    """Return a small curve as SVG, with a dot at its end; NaN are left out.

    Examples
    --------
    >>> curve([1.0, 2.0]).count("<circle")
    1
    """
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


def delegations(delegation: Sequence[int], weights: Sequence[int]) -> str:
    """Return a forest as SVG: representatives on top, their delegators below.

    The area of a representative's circle is its weight.
    """
    children: dict[int, list[int]] = {voter: [] for voter in range(len(delegation))}
    for voter, delegate in enumerate(delegation):
        if voter != delegate:
            children[delegate].append(voter)
    tops = [voter for voter, delegate in enumerate(delegation) if voter == delegate]
    tops.sort(key=lambda voter: -weights[voter])
    columns, depths = _places(tops, children)
    n_columns, n_levels = int(max(columns.values())) + 1, max(depths.values())
    width = min(max(26 * n_columns, 160), 640)
    step, drop = (width - 40) / max(n_columns - 1, 1), 30 if n_levels < 5 else 150 / n_levels
    centres = {v: (20 + step * columns[v], 22 + drop * depths[v]) for v in columns}
    lines = [_line(centres[voter], centres[delegate]) for voter, delegate in enumerate(delegation)]
    radii = _radii(tops, weights, {voter: centres[voter][0] for voter in tops})
    dot = min(3.0, max(1.0, step / 3))
    dots = [
        _circle(centres[voter], radii[voter], _ORANGE, _caption(voter, weights[voter]))
        if voter in radii
        else _circle(centres[voter], dot, _BLUE, f"voter {voter} delegates to {delegation[voter]}")
        for voter in columns
    ]
    return _svg(width, int(40 + drop * n_levels), "".join([*lines, *dots]))


def _places(
    tops: Sequence[int], children: Mapping[int, Sequence[int]]
) -> tuple[dict[int, float], dict[int, int]]:
    """Return the column and depth of each voter, above the middle of its delegators."""
    columns: dict[int, float] = {}
    depths: dict[int, int] = {}
    n_leaves, waiting = 0, [(top, 0, False) for top in reversed(tops)]
    while waiting:
        voter, depth, is_done = waiting.pop()
        if is_done:
            below = [columns[child] for child in children[voter]]
            columns[voter] = (below[0] + below[-1]) / 2
        elif children[voter]:
            waiting.append((voter, depth, True))
            waiting.extend((child, depth + 1, False) for child in reversed(children[voter]))
        else:
            columns[voter], n_leaves = n_leaves, n_leaves + 1
        depths[voter] = depth
    return columns, depths


def _radii(tops: Sequence[int], weights: Sequence[int], x: Mapping[int, float]) -> dict[int, float]:
    """Return the radius of each representative: areas are weights, and circles do not overlap."""
    roots = {voter: sqrt(weights[voter]) for voter in tops}
    gaps = [(x[b] - x[a]) / (roots[a] + roots[b]) for a, b in pairwise(tops)]
    scale = min([_MAX_RADIUS / max(roots.values()), *gaps])
    return {voter: scale * root for voter, root in roots.items()}


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
    """Return a number with separators or three digits, and any other value as text.

    Examples
    --------
    >>> [format_number(value) for value in (12345, 0.98765, float("nan"), "max")]
    ['12,345', '0.988', '', 'max']
    """
    if isinstance(value, float):
        return f"{value:.3g}" if isfinite(value) else ""
    return f"{value:,}" if isinstance(value, int) else str(value)


def _svg(width: int, height: int, content: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" style="max-width:100%">{content}</svg>'
    )


def _line(start: tuple[float, float], end: tuple[float, float]) -> str:
    (x1, y1), (x2, y2) = start, end
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#999" '
        'stroke-width="0.7"/>'
    )


def _circle(place: tuple[float, float], radius: float, colour: str, caption: str) -> str:
    x, y = place
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{colour}" stroke="white" '
        f'stroke-width="0.5"><title>{escape(caption)}</title></circle>'
    )


def _caption(voter: int, weight: int) -> str:
    return f"voter {voter} carries {weight} {'votes' if weight > 1 else 'vote'}"
