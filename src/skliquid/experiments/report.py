"""The report: every table and figure as files, and all of them on one page."""

import base64
import html
import platform
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import chain, count, product
from pathlib import Path

from matplotlib.figure import Figure

import skliquid
from skliquid.experiments import diagrams, figures, tables, variation_figures, variations
from skliquid.experiments.findings import findings
from skliquid.experiments.rules import WITHOUT_TRIALS
from skliquid.experiments.spec import Experiment
from skliquid.experiments.store import Store
from skliquid.experiments.tables import Results, Table
from skliquid.experiments.trial import Trial, code_version

Plan = Sequence[tuple[Experiment, Sequence[Trial]]]
_PACKAGES = ("numpy", "scipy", "scikit-learn", "matplotlib")


@dataclass
class Section:
    """What one experiment shows."""

    experiment: Experiment
    results: Results
    tables: list[Table] = field(default_factory=list)
    pictures: list[tuple[str, str]] = field(default_factory=list)  # caption, file without ending


def write_report(plan: Plan, store: Store, out: Path, *, left_out: Sequence[str] = ()) -> Path:
    """Write the tables, the figures and the page of all experiments; return the page.

    The same store gives the same bytes.
    """
    for folder in ("tables", "figures"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    taken: set[str] = set()
    sections = [
        _section(experiment, store.results(trials), out, taken)
        for experiment, trials in sorted(plan, key=_place)
    ]
    failed = store.errors(trial for _, trials in plan for trial in trials)
    words = findings([(section.experiment, section.results) for section in sections])
    (out / "findings.md").write_text("".join(f"- {each}\n" for each in words), encoding="utf-8")
    page = out / "report.html"
    page.write_text(_page(sections, words, failed, left_out, out), encoding="utf-8")
    return page


def _place(planned: tuple[Experiment, Sequence[Trial]]) -> tuple[int, bool, str]:
    """Return what orders experiments as the paper has them."""
    experiment = planned[0]
    is_first = (
        experiment.name == "what_the_paper_did_not_say" or experiment.published == "comparison"
    )
    return list(_TABLES).index(experiment.kind), not is_first, experiment.name


def _section(experiment: Experiment, results: Results, out: Path, taken: set[str]) -> Section:
    """Return what an experiment shows, and write it to files whose names are not ``taken``."""
    section = Section(experiment, results)
    for table in _tables(experiment, results):
        _write(table, out / "tables", _untaken(table.name, taken))
        section.tables.append(table)
    for caption, name, figure in _figures(experiment, results):
        stem = _untaken(name, taken)
        figures.save(figure, out / "figures", stem)
        section.pictures.append((caption, stem))
    return section


def _write(table: Table, folder: Path, stem: str) -> None:
    (folder / f"{stem}.md").write_text(table.to_markdown(), encoding="utf-8")
    (folder / f"{stem}.tex").write_text(table.to_latex(), encoding="utf-8")
    (folder / f"{stem}.csv").write_text(table.to_csv(), encoding="utf-8")


def _untaken(name: str, taken: set[str]) -> str:
    """Return ``name``, with a number if it is taken, and take it."""
    numbered = (f"{name}_{k}" for k in count(2))
    free = next(each for each in chain([name], numbered) if each.casefold() not in taken)
    taken.add(free.casefold())
    return free


def _file_name(dataset: str) -> str:
    file, _, target = dataset.partition("::")
    return re.sub(r"[^\w.-]+", "_", "_".join(filter(None, [Path(file).stem, target])))


def _tables(experiment: Experiment, results: Results) -> list[Table]:
    if not results and experiment.kind not in WITHOUT_TRIALS:
        return []
    return _TABLES[experiment.kind](experiment, results)


def _tables_of_results(experiment: Experiment, results: Results) -> list[Table]:
    whole = tables.results_table(experiment, results)
    is_comparison = experiment.published == "comparison"
    return [tables.headline_table(experiment, results), whole] if is_comparison else [whole]


_TABLES: dict[str, Callable[[Experiment, Results], list[Table]]] = {
    "diagrams": lambda *_: [],
    "harmful_states": lambda experiment, _: [tables.harmful_states_table(experiment)],
    "delegation_cost": lambda *_: [],
    "datasets": lambda experiment, _: [tables.dataset_table(experiment)],
    "search": lambda *both: [tables.search_table(*both)],
    "curves": lambda *both: [tables.curve_ends_table(*both), tables.significance_table(*both)],
    "results": _tables_of_results,
    "variations": lambda *both: [variations.variation_table(*both)],
}
"""The tables of each kind of experiment, in the order of the page."""

Picture = tuple[str, str, Figure]  # caption, file without ending


def _figures(experiment: Experiment, results: Results) -> Iterator[Picture]:
    draw = _FIGURES.get(experiment.kind)
    return draw(experiment, results) if draw else iter(())


def _diagrams(experiment: Experiment, _: Results) -> Iterator[Picture]:
    first = "Figure 1: the weakest delegates. Area is weight; black arrows are new."
    yield first, "worked_example", diagrams.worked_example_figure(experiment)
    second = "Figure 2: who is right on which example, in two states."
    yield second, "pivotal_states", diagrams.pivotal_states_figure()


def _delegation_cost(experiment: Experiment, _: Results) -> Iterator[Picture]:
    yield experiment.caption, experiment.name, figures.delegation_cost_figure(experiment)


def _searches(experiment: Experiment, results: Results) -> Iterator[Picture]:
    for dataset in tables.datasets_of(results):
        figure = figures.search_figure(experiment, results, dataset)
        yield dataset, f"{experiment.name}_{_file_name(dataset)}", figure


def _curves(experiment: Experiment, results: Results) -> Iterator[Picture]:
    for dataset, protocol in product(tables.datasets_of(results), experiment.protocols):
        figure = figures.curves_figure(experiment, results, dataset, protocol)
        stem = f"{experiment.name}_{_file_name(dataset)}_{protocol}"
        yield f"{dataset}, {tables.WHOSE[protocol]}", stem, figure


def _distances(experiment: Experiment, results: Results) -> Iterator[Picture]:
    figure = variation_figures.variation_figure(experiment, results)
    if figure is not None:
        yield "Mean distance to the published values.", f"{experiment.name}_distances", figure


_FIGURES: dict[str, Callable[[Experiment, Results], Iterator[Picture]]] = {
    "diagrams": _diagrams,
    "delegation_cost": _delegation_cost,
    "search": _searches,
    "curves": _curves,
    "variations": _distances,
}


# The page


def _page(
    sections: Sequence[Section],
    words: Sequence[str],
    failed: Sequence[tuple[Trial, str]],
    left_out: Sequence[str],
    out: Path,
) -> str:
    links = "".join(
        f'<li><a href="#{_safe(s.experiment.name)}">{_safe(s.experiment.title)}</a></li>'
        for s in sections
    )
    body = "".join(_section_html(section, out) for section in sections)
    found = "".join(f"<li>{_safe(each)}</li>" for each in words)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="data:,"><title>skliquid: the paper, run again</title>'
        f"<style>{_STYLE}</style></head><body><main>"
        f"<h1>Liquid Democracy for Low-Cost Ensemble Pruning</h1>"
        f'<p class="lead">Every table and figure of Armstrong and Larson\'s paper, beside what '
        f"skliquid measures.</p><nav><ul>{links}</ul></nav>"
        f"<h2>What was run</h2>{_what_was_run(sections, left_out)}{_failures(failed)}"
        f"<h2>What was found</h2><ul>{found}</ul>{body}</main></body></html>\n"
    )


def _what_was_run(sections: Sequence[Section], left_out: Sequence[str]) -> str:
    trials = {t.key: (t, r) for section in sections for t, r in section.results}
    datasets = tables.datasets_of(list(trials.values()))
    versions = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    rows = [
        ("trials", f"{len(trials)}; seconds.csv says how long each took"),
        ("datasets", ", ".join(datasets) or "none needed"),
        ("left out, not being here", ", ".join(left_out) or "none"),
        ("versions", f"skliquid {skliquid.__version__} (code {code_version()}), {versions}"),
        ("Python", f"{platform.python_version()} on {platform.machine()}"),
    ]
    cells = "".join(f"<tr><th>{_safe(a)}</th><td>{_safe(b)}</td></tr>" for a, b in rows)
    return f'<table class="facts">{cells}</table>'


def _failures(failed: Sequence[tuple[Trial, str]]) -> str:
    if not failed:
        return ""
    items = "".join(
        f"<li>{_safe(f'{t.data}, {t.protocol}, {dict(t.method)}, number {t.number}')}"
        f"<pre>{_safe(error)}</pre></li>"
        for t, error in failed
    )
    return f"<h3>{len(failed)} trials failed, three times each</h3><ul>{items}</ul>"


def _section_html(section: Section, out: Path) -> str:
    experiment = section.experiment
    counts = {(t.data, t.protocol, str(sorted(t.method.items()))) for t, _ in section.results}
    each = len(section.results) / len(counts) if counts else 0
    note = f'<p class="note">{each:.0f} trials of each method.</p>' if counts else ""
    pictures = "".join(_picture(caption, stem, out) for caption, stem in section.pictures)
    shown = "".join(_table_html(table) for table in section.tables)
    title = f'<h2 id="{_safe(experiment.name)}">{_safe(experiment.title)}</h2>'
    caption = "" if section.tables else f"<p>{_safe(experiment.caption)}</p>"
    return f"<section>{title}{caption}{note}{pictures}{shown}</section>"


def _picture(caption: str, stem: str, out: Path) -> str:
    content = base64.b64encode((out / "figures" / f"{stem}.svg").read_bytes()).decode()
    return (
        f'<figure><img alt="{_safe(caption)}" src="data:image/svg+xml;base64,{content}">'
        f"<figcaption>{_safe(caption)}</figcaption></figure>"
    )


def _table_html(table: Table) -> str:
    head = "".join(f"<th>{_safe(cell)}</th>" for cell in table.header)
    rows, last = [], None
    for row in table.rows:
        start = ' class="first"' if row[0] != last else ""
        last = row[0]
        cells = "".join(
            f"<td{' class=far' if cell.endswith(tables.MARK) else ''}>{_safe(cell)}</td>"
            for cell in row
        )
        rows.append(f"<tr{start}>{cells}</tr>")
    return (
        f'<div class="wide"><table><caption>{_safe(table.caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _safe(text: str) -> str:
    return html.escape(text)


_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; margin: 0; }
main { max-width: 76rem; margin: 0 auto; padding: 2rem 1.5rem 5rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin-bottom: .3rem; }
h2 { font-size: 1.3rem; margin-top: 3rem; border-top: 1px solid #ccc; padding-top: 1rem; }
.lead { color: #444; font-size: 1.1rem; margin-top: 0; }
nav ul { columns: 2; padding-left: 1.2rem; } a { color: #0b5394; }
.note, figcaption, caption { color: #555; font-size: .9rem; text-align: left; }
caption { caption-side: top; padding: .5rem 0; max-width: 60rem; }
figure { margin: 1.5rem 0; } figure img { max-width: 100%; height: auto; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th { text-align: left; vertical-align: bottom; border-bottom: 1.5px solid #333; }
th, td { padding: .18rem .6rem .18rem 0; } td { white-space: nowrap; }
tr.first td { border-top: 1px solid #bbb; } td.far { background: #fdf0d5; }
.facts th { border: 0; font-weight: 600; white-space: nowrap; vertical-align: top; }
.facts td { white-space: normal; } pre { overflow-x: auto; font-size: .8rem; }
@media (max-width: 40rem) { nav ul { columns: 1; } }
"""
