"""The report: every table and figure as files, and all of them on one page."""

import platform
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from html import escape
from importlib.metadata import version
from importlib.resources import files
from itertools import chain, count, product
from pathlib import Path
from string import Template
from typing import NamedTuple

from matplotlib.figure import Figure

import skliquid
from skliquid.experiments import diagrams, figures, tables, variations
from skliquid.experiments.estimates import MARK, Results, datasets_of
from skliquid.experiments.findings import findings
from skliquid.experiments.rules import WITHOUT_TRIALS
from skliquid.experiments.spec import Experiment
from skliquid.experiments.store import Store
from skliquid.experiments.tables import Table
from skliquid.experiments.trial import Trial, code_version

Plan = Sequence[tuple[Experiment, Sequence[Trial]]]
_PACKAGES = ("numpy", "scipy", "scikit-learn", "matplotlib")


class Picture(NamedTuple):
    """A figure, its caption, and the name of its files."""

    caption: str
    name: str
    figure: Figure


def write_report(plan: Plan, store: Store, out: Path, *, left_out: Sequence[str] = ()) -> Path:
    """Write the tables, the figures and the page of all experiments; return the page.

    The same store gives the same bytes.
    """
    for folder in ("tables", "figures"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    shown = [(e, store.results(trials)) for e, trials in sorted(plan, key=lambda p: _place(p[0]))]
    failed = store.errors(trial for _, trials in plan for trial in trials)
    sentences, taken = findings(shown), set[str]()
    (out / "findings.md").write_text("".join(f"- {s}\n" for s in sentences), encoding="utf-8")
    names = [(escape(experiment.name), escape(experiment.title)) for experiment, _ in shown]
    template = Template(files("skliquid.experiments").joinpath("report.html").read_text("utf-8"))
    page = out / "report.html"
    text = template.substitute(
        links="".join(f'<li><a href="#{name}">{title}</a></li>' for name, title in names),
        facts=_facts([pair for _, results in shown for pair in results], left_out),
        failures=_failures(failed),
        findings="".join(f"<li>{escape(sentence)}</li>" for sentence in sentences),
        sections="".join(_section(*pair, out, taken) for pair in shown),
    )
    page.write_text(text, encoding="utf-8")
    return page


def _place(experiment: Experiment) -> tuple[int, bool, str]:
    """Return the sort key that orders experiments as in the paper."""
    is_first = experiment.name in ("comparison", "what_the_paper_did_not_say")
    return list(_CONTENTS).index(experiment.kind), not is_first, experiment.name


def _section(experiment: Experiment, results: Results, out: Path, taken: set[str]) -> str:
    """Write what an experiment shows to files whose names are not ``taken``; return its HTML."""
    parts = [f'<h2 id="{escape(experiment.name)}">{escape(experiment.title)}</h2>']
    is_shown = bool(results) or experiment.kind in WITHOUT_TRIALS
    contents = [*_CONTENTS[experiment.kind](experiment, results)] if is_shown else []
    if not any(isinstance(content, Table) for content in contents):
        parts.append(f"<p>{escape(experiment.caption)}</p>")
    methods = {(t.data, t.protocol, str(sorted(t.method.items()))) for t, _ in results}
    if methods:
        n_trials = len(results) / len(methods)
        parts.append(f'<p class="note">{n_trials:.0f} trials of each method.</p>')
    tables_last = sorted(contents, key=lambda content: isinstance(content, Table))
    parts += [_write(content, out, _free_name(content.name, taken)) for content in tables_last]
    return f"<section>{''.join(parts)}</section>"


def _write(content: Table | Picture, out: Path, stem: str) -> str:
    """Write a table or a figure to files, and return its HTML."""
    if isinstance(content, Table):
        texts = {"md": content.to_markdown(), "tex": content.to_latex(), "csv": content.to_csv()}
        for ending, text in texts.items():
            (out / "tables" / f"{stem}.{ending}").write_text(text, encoding="utf-8")
        return _table_html(content)
    _, svg = figures.save(content.figure, out / "figures", stem)
    caption, source = escape(content.caption), b64encode(svg.read_bytes()).decode()
    image = f'<img alt="{caption}" src="data:image/svg+xml;base64,{source}">'
    return f"<figure>{image}<figcaption>{caption}</figcaption></figure>"


def _free_name(name: str, taken: set[str]) -> str:
    """Return ``name``, with a number if it is taken, and take it."""
    names = chain([name], (f"{name}_{k}" for k in count(2)))
    free = next(candidate for candidate in names if candidate.casefold() not in taken)
    taken.add(free.casefold())
    return free


# What each kind of experiment shows


Contents = Iterable[Table | Picture]


def _diagrams(experiment: Experiment, _: Results) -> Contents:
    caption = "Figure 1: the weakest delegates. Area is weight; black arrows are new."
    yield Picture(caption, "worked_example", diagrams.worked_example_figure(experiment))
    caption = "Figure 2: who is right on which example, in two states."
    yield Picture(caption, "pivotal_states", diagrams.pivotal_states_figure())


def _delegation_cost(experiment: Experiment, _: Results) -> Contents:
    figure = figures.delegation_cost_figure(experiment)
    yield Picture(experiment.caption, experiment.name, figure)


def _search(experiment: Experiment, results: Results) -> Contents:
    yield tables.search_table(experiment, results)
    for dataset in datasets_of(results):
        name = f"{experiment.name}_{_file_name(dataset)}"
        yield Picture(dataset, name, figures.search_figure(experiment, results, dataset))


def _curves(experiment: Experiment, results: Results) -> Contents:
    yield tables.curve_ends_table(experiment, results)
    yield tables.significance_table(experiment, results)
    for dataset, protocol in product(datasets_of(results), experiment.protocols):
        figure = figures.curves_figure(experiment, results, dataset, protocol)
        name = f"{experiment.name}_{_file_name(dataset)}_{protocol}"
        yield Picture(f"{dataset}, {tables.TITLES[protocol]}", name, figure)


def _results(experiment: Experiment, results: Results) -> Contents:
    if experiment.published == "comparison":
        yield tables.headline_table(experiment, results)
    yield tables.results_table(experiment, results)


def _variations(experiment: Experiment, results: Results) -> Contents:
    yield variations.variation_table(experiment, results)
    if figure := variations.variation_figure(experiment, results):
        caption = "Mean distance to the published values."
        yield Picture(caption, f"{experiment.name}_distances", figure)


_CONTENTS: dict[str, Callable[[Experiment, Results], Contents]] = {
    "diagrams": _diagrams,
    "harmful_states": lambda experiment, _: [tables.harmful_states_table(experiment)],
    "delegation_cost": _delegation_cost,
    "datasets": lambda experiment, _: [tables.dataset_table(experiment)],
    "search": _search,
    "curves": _curves,
    "results": _results,
    "variations": _variations,
}
"""The tables and figures of each kind of experiment, in the order of the page."""


def _file_name(dataset: str) -> str:
    file, _, target = dataset.partition("::")
    return re.sub(r"[^\w.-]+", "_", "_".join(filter(None, [Path(file).stem, target])))


# The page


def _facts(results: Results, left_out: Sequence[str]) -> str:
    n_trials = len({trial.key for trial, _ in results})
    versions = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    facts = {
        "trials": f"{n_trials}; seconds.csv has their times",
        "datasets": ", ".join(datasets_of(results)) or "none needed",
        "left out, not available": ", ".join(left_out) or "none",
        "versions": f"skliquid {skliquid.__version__} (code {code_version()}), {versions}",
        "Python": f"{platform.python_version()} on {platform.machine()}",
    }
    rows = (f"<tr><th>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in facts.items())
    return f'<table class="facts">{"".join(rows)}</table>'


def _failures(failed: Sequence[tuple[Trial, str]]) -> str:
    if not failed:
        return ""
    items = "".join(
        f"<li>{escape(f'{t.data}, {t.protocol}, {dict(t.method)}, number {t.number}')}"
        f"<pre>{escape(error)}</pre></li>"
        for t, error in failed
    )
    return f"<h3>{len(failed)} trials failed in all attempts</h3><ul>{items}</ul>"


def _table_html(table: Table) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in table.header)
    body, last = "", None
    for row in table.rows:
        cells = (f"<td{' class=far' * c.endswith(MARK)}>{escape(c)}</td>" for c in row)
        start = ' class="first"' if row[0] != last else ""
        body, last = f"{body}<tr{start}>{''.join(cells)}</tr>", row[0]
    return (
        f'<div class="wide"><table><caption>{escape(table.caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
