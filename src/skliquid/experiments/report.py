"""The report: every table and figure as files, and all of them on one page."""

import base64
import html
import platform
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import chain, count
from pathlib import Path

from matplotlib.figure import Figure

import skliquid
from skliquid.experiments import figures, tables
from skliquid.experiments.findings import findings
from skliquid.experiments.spec import Experiment
from skliquid.experiments.store import Store
from skliquid.experiments.tables import Results, Table
from skliquid.experiments.trial import Trial, code_version

Plan = Sequence[tuple[Experiment, Sequence[Trial]]]
_ORDER = ("harmful_states", "delegation_cost", "datasets", "search", "curves", "results")
_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "matplotlib")


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
    return _ORDER.index(experiment.kind), experiment.published != "comparison", experiment.name


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


def _tables(experiment: Experiment, results: Results) -> Iterator[Table]:
    if experiment.kind == "datasets":
        yield tables.dataset_table(experiment)
    elif experiment.kind == "harmful_states":
        yield tables.harmful_states_table(experiment)
    elif not results:
        return
    elif experiment.kind == "search":
        yield tables.search_table(experiment, results)
    elif experiment.kind == "curves":
        yield tables.curve_ends_table(experiment, results)
        yield tables.significance_table(experiment, results)
    elif experiment.kind == "results":
        if experiment.published == "comparison":
            yield tables.headline_table(experiment, results)
        yield tables.results_table(experiment, results)


def _figures(experiment: Experiment, results: Results) -> Iterator[tuple[str, str, Figure]]:
    if experiment.kind == "delegation_cost":
        yield experiment.caption, experiment.name, figures.delegation_cost_figure(experiment)
    for dataset in tables.datasets_of(results):
        stem = f"{experiment.name}_{_file_name(dataset)}"
        if experiment.kind == "search":
            yield dataset, stem, figures.search_figure(experiment, results, dataset)
        elif experiment.kind == "curves":
            for protocol in experiment.protocols:
                figure = figures.curves_figure(experiment, results, dataset, protocol)
                yield f"{dataset}, {tables.WHOSE[protocol]}", f"{stem}_{protocol}", figure


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
    seconds = sum(result.get("seconds", 0.0) for _, result in trials.values())
    datasets = tables.datasets_of(list(trials.values()))
    versions = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    rows = [
        ("trials", f"{len(trials)}, which took {seconds / 60:.1f} minutes of one core in all"),
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
