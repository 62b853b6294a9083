"""The report: every table, figure and replay as files, and all of them on one page."""

import platform
import re
from collections.abc import Iterable, Sequence
from functools import partial
from html import escape
from importlib.metadata import version
from importlib.resources import files
from itertools import chain, count
from pathlib import Path
from string import Template

import pandas as pd

import skliquid
from skliquid.experiments import figures
from skliquid.experiments.agreement import agreement_figure
from skliquid.experiments.contents import CONTENTS, Picture, file_name
from skliquid.experiments.estimates import Results, Shown, datasets_of, trials_of_each
from skliquid.experiments.findings import findings
from skliquid.experiments.page import (
    counted,
    facts_html,
    failures_html,
    figure_html,
    items,
    link,
    replay_html,
    section,
    table_html,
)
from skliquid.experiments.replays import dataset_replays
from skliquid.experiments.rules import WITHOUT_TRIALS
from skliquid.experiments.spec import Experiment
from skliquid.experiments.store import Store
from skliquid.experiments.summary import summary_html
from skliquid.experiments.tables import Table
from skliquid.experiments.trial import Trial, code_version
from skliquid.replacing import replace_text

Plan = Sequence[tuple[Experiment, Sequence[Trial]]]
_PACKAGES = ("numpy", "scipy", "scikit-learn", "matplotlib")
_ANCHORS = ("top", "summary", "claims", "agreement", "replays", "run")


class Names:
    """Names that are given once: of files in a folder, or of places on the page."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {*taken}

    def free(self, name: str) -> str:
        """Return ``name``, with a number if it is taken, and take it."""
        names = chain([name], (f"{name}_{k}" for k in count(2)))
        free = next(candidate for candidate in names if candidate.casefold() not in self._taken)
        self._taken.add(free.casefold())
        return free


def write_report(plan: Plan, store: Store, out: Path, *, left_out: Sequence[str] = ()) -> Path:
    """Write the tables, figures and replays, and the page with all of them; return the page.

    The same store gives the same bytes.
    """
    for folder in ("tables", "figures"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    shown = [(e, store.results(trials)) for e, trials in sorted(plan, key=lambda p: _place(p[0]))]
    failed = store.errors(trial for _, trials in plan for trial in trials)
    sentences = "".join(f"- {sentence}\n" for sentence in findings(shown))
    replace_text(out / "findings.md", sentences)
    page = out / "report.html"
    replace_text(page, _page(shown, failed, left_out, out))
    return page


def _page(
    shown: Shown, failed: Sequence[tuple[Trial, str]], left_out: Sequence[str], out: Path
) -> str:
    """Return the page, when the files of all tables, figures and replays are written."""
    places, stems = Names(_ANCHORS), Names()
    anchors = {e.name: places.free(re.sub(r"[^\w.-]+", "_", e.name)) for e, _ in shown}
    draw = partial(_draw_agreement, out=out, stems=stems)
    summary = summary_html(shown, left_out, len(failed), anchors, draw)
    sections = [_section(*pair, anchors[pair[0].name], out, stems) for pair in shown]
    replays = _replays(shown, out, places)
    titles = {"summary": "Summary"} | {anchors[e.name]: e.title for e, _ in shown}
    titles |= {"replays": "Replays"} if replays else {}
    titles["run"] = "What was run"
    template = Template(files("skliquid.experiments").joinpath("report.html").read_text("utf-8"))
    return template.substitute(
        links=items(link(*pair) for pair in titles.items()),
        summary=section("summary", titles["summary"], [summary]),
        sections="".join([*sections, replays]),
        run=section("run", titles["run"], [_facts(shown, left_out), failures_html(failed)]),
    )


def _draw_agreement(values: pd.DataFrame, out: Path, stems: Names) -> str:
    caption = (
        "Our means against the published values of delegating ensembles, with bars of two "
        "standard errors; filled marks are further off than that."
    )
    return _write(Picture(caption, "agreement", agreement_figure(values)), out, stems)


def _place(experiment: Experiment) -> tuple[int, bool, str]:
    """Return the sort key that orders experiments as in the paper."""
    is_first = experiment.name in ("comparison", "what_the_paper_did_not_say")
    return list(CONTENTS).index(experiment.kind), not is_first, experiment.name


def _section(experiment: Experiment, results: Results, anchor: str, out: Path, stems: Names) -> str:
    """Write what an experiment shows to files; return its part of the page."""
    is_shown = bool(results) or experiment.kind in WITHOUT_TRIALS
    contents = [*CONTENTS[experiment.kind](experiment, results)] if is_shown else []
    pictures = [content for content in contents if isinstance(content, Picture)]
    shown_tables = [content for content in contents if isinstance(content, Table)]
    parts = []
    if not shown_tables:
        parts.append(f"<p>{escape(experiment.caption)}</p>")
    if not is_shown:
        parts.append('<p class="note">No trial of it has a result.</p>')
    if results:
        n_trials = counted(trials_of_each(results), "trial")
        parts.append(f'<p class="note">{n_trials} of each method.</p>')
    parts.append(items(map(escape, _sentences(experiment, results))))
    drawn = "".join(_write(picture, out, stems) for picture in pictures)
    parts.append(f'<div class="figures">{drawn}</div>' if drawn else "")
    parts += [_write(table, out, stems) for table in shown_tables]
    return section(anchor, experiment.title, parts)


def _sentences(experiment: Experiment, results: Results) -> list[str]:
    """Return the findings without the title of the experiment, which is above them."""
    start = f"{experiment.title}, "
    found = (sentence.removeprefix(start) for sentence in findings([(experiment, results)]))
    return [sentence[0].upper() + sentence[1:] for sentence in found]


def _write(content: Table | Picture, out: Path, stems: Names) -> str:
    """Write a table or a figure to files, and return its HTML."""
    stem = stems.free(content.name)
    if isinstance(content, Table):
        texts = {"md": content.to_markdown(), "tex": content.to_latex(), "csv": content.to_csv()}
        for ending, text in texts.items():
            replace_text(out / "tables" / f"{stem}.{ending}", text)
        return table_html(content, [f"tables/{stem}.{ending}" for ending in texts])
    paths = figures.save(content.figure, out / "figures", stem)
    svg = next(path for path in paths if path.suffix == ".svg")
    links = [f"figures/{path.name}" for path in paths]
    return figure_html(content.caption, svg.read_bytes(), links)


def _replays(shown: Shown, out: Path, places: Names) -> str:
    """Write one replay per dataset; return their part of the page, empty without replays."""
    stems, parts = Names(), []
    for dataset, words, replay in dataset_replays(shown):
        stem = stems.free(file_name(dataset))
        replay.save(out / "replays" / f"{stem}.html")
        anchor = places.free(f"replay_{stem}")
        parts.append(replay_html(anchor, dataset, words, f"replays/{stem}.html"))
    if not parts:
        return ""
    caption = (
        "How the paper's ensemble delegates on one half of each dataset: 350 voters, Proportional "
        "Weighted, u = 25 and rate 0.2, as in Figure 5. Accuracy is that on rows of the other half."
    )
    return section("replays", "Replays", [f"<p>{caption}</p>", *parts])


def _facts(shown: Shown, left_out: Sequence[str]) -> str:
    results = [pair for _, pairs in shown for pair in pairs]
    versions = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    facts = {
        "experiments": ", ".join(experiment.name for experiment, _ in shown),
        "trials": f"{len({t.key for t, _ in results}):,}; seconds.csv has their times",
        "datasets": ", ".join(datasets_of(results)) or "none needed",
        "left out, not available": ", ".join(left_out) or "none",
        "versions": f"skliquid {skliquid.__version__} (code {code_version()}), {versions}",
        "Python": f"{platform.python_version()} on {platform.machine()}",
    }
    return facts_html(facts)
