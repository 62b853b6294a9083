"""The paper's Figures 1 and 2, drawn from states that the library computes."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, Rectangle
from numpy.typing import NDArray

from reproduction.experiment import Experiment
from reproduction.figure_style import BLUE, COLUMN, ORANGE, PAGE, style
from reproduction.protocols import Floats
from skliquid import DelegationGraph, as_mechanism
from skliquid.theory import group_accuracy, pivotal_examples, pivotal_voters

_CENTRED: dict[str, Any] = {"ha": "center", "va": "center"}


class Step(NamedTuple):
    """The state at an increment: the delegation graph, and the mean accuracy of each voter."""

    graph: DelegationGraph
    accuracy: Floats


def worked_example(accuracy: Sequence[Sequence[float]], n_final: int) -> list[Step]:
    """Return the states of the paper's Figure 1: at each increment, the weakest voter delegates.

    By the caption, v_3 delegates to v_1, which is a delegator itself by then. Max does so when it
    compares the candidates' own weights and any voter is a candidate. ``accuracy`` is that of each
    voter on each increment; delegation ends with ``n_final`` representatives.
    """
    graph = DelegationGraph.direct(len(accuracy[0]))
    total, n_measured, steps = np.zeros(graph.n_voters), np.zeros(graph.n_voters), []
    for increment in np.array(accuracy):
        voters = graph.representatives
        total[voters] += increment[voters]
        n_measured[voters] += 1
        steps.append(Step(graph, total / n_measured))
        n_delegators = int(len(voters) > n_final)
        rng = np.random.default_rng(0)  # nothing is left to chance: there are no ties
        mechanism = as_mechanism("max", candidates="voters")
        graph = mechanism.delegate(graph, steps[-1].accuracy, n_delegators, rng)
    return steps


def states_with_pivotal_voters() -> list[NDArray[np.bool_]]:
    """Return the two states of the paper's Figure 2, the first ones that a search finds.

    In both, every voter is pivotal, and v_1 may delegate to v_2 without changing the group's
    accuracy. In the first only the last two examples are pivotal, in the second all are.
    """
    return [_search_state([False, False, False, True, True]), _search_state([True] * 5)]


def _search_state(pivotal: Sequence[bool]) -> NDArray[np.bool_]:
    """Return a state of five voters in which exactly these examples are ``pivotal``."""
    rng = np.random.default_rng(0)
    v_1_delegated_to_v_2 = [0, 2, 1, 1, 1]
    while True:
        state = rng.random((5, len(pivotal))) < 0.6
        all_pivotal = pivotal_voters(state).any(axis=1).all()
        is_equal = group_accuracy(state, v_1_delegated_to_v_2) == group_accuracy(state)
        if all_pivotal and is_equal and np.array_equal(pivotal_examples(state), pivotal):
            return state


def worked_example_figure(experiment: Experiment) -> Figure:
    """Return the paper's Figure 1: one panel per increment, weight as area."""
    steps = worked_example(experiment.options["accuracy"], experiment.options["n_final"])
    with style():
        figure = Figure(figsize=(PAGE, 2.0), layout="constrained")
        panels = figure.subplots(1, len(steps), squeeze=False)[0]
        before = steps[0].graph
        for t, (axes, step) in enumerate(zip(panels, steps, strict=True), start=1):
            _draw_step(axes, step, before)
            before, n_left = step.graph, len(step.graph.representatives)
            axes.set_title(f"t = {t}: {n_left} of {step.graph.n_voters} train", pad=2)
    return figure


def _draw_step(axes: Axes, step: Step, before: DelegationGraph) -> None:
    n = step.graph.n_voters
    angles = np.pi / 2 - 2 * np.pi * np.arange(n) / n
    places = np.column_stack([np.cos(angles), np.sin(angles)])
    for voter, delegate in enumerate(step.graph.delegation.tolist()):
        if delegate != voter:
            is_new = before.delegation[voter] == voter
            _draw_arrow(axes, places[voter], places[delegate], is_new=is_new)
    for voter in range(n):
        _draw_voter(axes, step, voter, *places[voter].tolist())
    axes.set(xlim=(-2.1, 2.1), ylim=(-1.2, 1.5), aspect="equal")
    axes.axis("off")


def _draw_arrow(axes: Axes, start: Floats, end: Floats, *, is_new: bool) -> None:
    look: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 9, "shrinkA": 9, "shrinkB": 14}
    old = {"color": "0.55", "linewidth": 1.0, "linestyle": (0, (3, 1.5))}
    look |= {"color": "black", "linewidth": 1.6} if is_new else old
    axes.add_patch(FancyArrowPatch(tuple(start), tuple(end), **look))


def _draw_voter(axes: Axes, step: Step, voter: int, x: float, y: float) -> None:
    weight = step.graph.weights[voter]
    radius = 0.19 * np.sqrt(max(weight, 0.6))
    face, edge, ink = (BLUE, BLUE, "white") if weight else ("white", "0.6", "0.4")
    axes.add_patch(Circle((x, y), radius, facecolor=face, edgecolor=edge, zorder=3))
    axes.text(x, y, f"$v_{voter + 1}$", color=ink, zorder=4, **_CENTRED)
    lines = [f"$q$ = {step.accuracy[voter]:.2f}"] + [f"$w$ = {weight}"] * bool(weight)
    apart = radius + 0.1
    if abs(x) < 0.1:  # at the top
        axes.text(x, y + apart, ", ".join(lines), ha="center", va="bottom", fontsize=6.5)
    else:
        x, side = (x + apart, "left") if x > 0 else (x - apart, "right")
        axes.text(x, y, "\n".join(lines), ha=side, va="center", fontsize=6.5)


def pivotal_states_figure() -> Figure:
    """Return the paper's Figure 2: who is right on which example, pivotal examples framed."""
    states = states_with_pivotal_voters()
    with style():
        figure = Figure(figsize=(COLUMN * 1.5, 2.6), layout="constrained")
        for axes, state, name in zip(figure.subplots(1, 2), states, "ab", strict=True):
            _draw_state(axes, state)
            axes.set_title(f"({name})", pad=2)
        figure.supxlabel("framed: pivotal examples; filled: pivotal voters", fontsize=7.5)
    return figure


def _draw_state(axes: Axes, state: NDArray[np.bool_]) -> None:
    n_voters, n_examples = state.shape
    pivotal = pivotal_voters(state)
    for (voter, example), is_right in np.ndenumerate(state):
        face = "#cfe6f5" if pivotal[voter, example] else "white"
        corner = (example - 0.5, voter - 0.5)
        axes.add_patch(Rectangle(corner, 1, 1, facecolor=face, edgecolor="0.75", linewidth=0.5))
        mark, ink = ("\N{CHECK MARK}", BLUE) if is_right else ("\N{MULTIPLICATION X}", ORANGE)
        axes.text(example, voter, mark, color=ink, fontsize=10, **_CENTRED)
    for example in np.flatnonzero(pivotal_examples(state)).tolist():
        corner, height = (example - 0.46, -0.46), n_voters - 0.08
        axes.add_patch(Rectangle(corner, 0.92, height, fill=False, linewidth=1.4))
    axes.set(xlim=(-0.55, n_examples - 0.45), ylim=(n_voters - 0.45, -0.55), aspect="equal")
    axes.set_xticks(range(n_examples), [f"$m_{k + 1}$" for k in range(n_examples)])
    axes.set_yticks(range(n_voters), [f"$v_{k + 1}$" for k in range(n_voters)])
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
