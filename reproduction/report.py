"""The report: tables, figures and replays as files, and all of them on one HTML page."""

import platform
import re
import warnings
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from sklearn.exceptions import ConvergenceWarning

import skliquid
from reproduction.experiment import Experiment
from reproduction.experiment_displays import DISPLAYS, Picture, file_name
from reproduction.experiment_rules import WITHOUT_TRIALS
from reproduction.figure_style import save_figure
from reproduction.output_files import UniqueNames, write_whole
from reproduction.protocols import halves
from reproduction.result_figures import agreement_figure
from reproduction.result_summary import counted, findings, summarize
from reproduction.result_tables import Table
from reproduction.trial import Trial, code_version
from reproduction.trial_statistics import (
    Results,
    Shown,
    datasets_of,
    number_text,
    short_name,
    trials_per_method,
)
from reproduction.trial_store import Store
from skliquid import LiquidEnsembleClassifier, TrainingRecord, replay
from skliquid.mechanisms import Rounded

Plan = Sequence[tuple[Experiment, Sequence[Trial]]]
Part = dict[str, Any]
"""A part of the page, as the templates use it."""
_PACKAGES = ("numpy", "scipy", "scikit-learn", "matplotlib")
_ANCHORS = ("top", "summary", "claims", "agreement", "replays", "run")
_MAX_REPLAYED_ROWS = 1000  # on which accuracy is shown, so that large tables take no longer


def write_report(plan: Plan, store: Store, out: Path, *, left_out: Sequence[str] = ()) -> Path:
    """Write tables, figures and replays, and the page with all of them; return the page.

    The same store gives the same bytes.
    """
    shown = [(e, store.results(trials)) for e, trials in sorted(plan, key=lambda p: _order(p[0]))]
    failed = store.errors(trial for _, trials in plan for trial in trials)
    write_whole(out / "findings.md", "".join(f"- {sentence}\n" for sentence in findings(shown)))
    path = out / "report.html"
    write_whole(path, _page(shown, failed, left_out, out))
    return path


def _order(experiment: Experiment) -> tuple[int, bool, str]:
    """Return the sort key that orders experiments as in the paper."""
    is_first = experiment.name in ("comparison", "what_the_paper_did_not_say")
    return list(DISPLAYS).index(experiment.kind), not is_first, experiment.name


def _page(
    shown: Shown, failed: Sequence[tuple[Trial, str]], left_out: Sequence[str], out: Path
) -> str:
    """Write the files of all tables, figures and replays; return the page."""
    anchors, stems = UniqueNames(_ANCHORS), UniqueNames()
    summary, figure = summarize(shown, left_out), None
    anchor_of = {e.name: anchors.claim(re.sub(r"[^\w.-]+", "_", e.name)) for e, _ in shown}
    if len(summary["compared"]):
        caption = (
            "Our means against the published values of delegating ensembles, with bars of two "
            "standard errors; filled marks are further off than that."
        )
        picture = Picture(caption, "agreement", agreement_figure(summary["compared"]))
        figure = _write_figure(picture, out, stems)
    sections = [_section(*pair, out, stems) for pair in shown]
    replays = [
        part | {"anchor": anchors.claim(f"replay_{part['stem']}")}
        for part in write_replays(shown, out / "replays")
    ]
    template = templates().get_template("report.html")
    return template.render(
        anchor_of=anchor_of,
        title_of={experiment.name: experiment.title for experiment, _ in shown},
        summary=summary,
        agreement_figure=figure,
        sections=sections,
        replays=replays,
        facts=_facts(shown, left_out),
        failed=failed,
    )


def templates() -> Environment:
    """Return the templates of the page; all texts in them are escaped."""
    folder = Path(__file__).with_name("templates")
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"counted": counted, "number": number_text, "quoted": quote}
    return environment


def _section(experiment: Experiment, results: Results, out: Path, stems: UniqueNames) -> Part:
    """Write the tables and figures of an experiment to files; return its section."""
    is_shown = bool(results) or experiment.kind in WITHOUT_TRIALS
    display = [*DISPLAYS[experiment.kind](experiment, results)] if is_shown else []
    return {
        "experiment": experiment,
        "is_shown": is_shown,
        "n_trials": trials_per_method(results),
        "findings": _sentences(experiment, results),
        "figures": [_write_figure(p, out, stems) for p in display if isinstance(p, Picture)],
        "tables": [_write_table(p, out, stems) for p in display if isinstance(p, Table)],
    }


def _sentences(experiment: Experiment, results: Results) -> list[str]:
    """Return the findings without the title of the experiment, which is above them."""
    start = f"{experiment.title}, "
    found = (sentence.removeprefix(start) for sentence in findings([(experiment, results)]))
    return [sentence[0].upper() + sentence[1:] for sentence in found]


def _write_table(table: Table, out: Path, stems: UniqueNames) -> Part:
    stem = stems.claim(table.name)
    texts = {"md": table.to_markdown(), "tex": table.to_latex(), "csv": table.to_csv()}
    for ending, text in texts.items():
        write_whole(out / "tables" / f"{stem}.{ending}", text)
    return {"table": table, "paths": [f"tables/{stem}.{ending}" for ending in texts]}


def _write_figure(picture: Picture, out: Path, stems: UniqueNames) -> Part:
    paths = save_figure(picture.figure, out / "figures", stems.claim(picture.name))
    image = image_address(paths[1].read_text())
    return {
        "caption": picture.caption,
        "image": image,
        "paths": [f"figures/{path.name}" for path in paths],
    }


def image_address(svg: str) -> str:
    """Return an address that contains the image, so that it is part of the page."""
    content = quote(svg.replace("\n", " "), safe=" /:=;,+()'-._")  # shorter than base64
    return f"data:image/svg+xml,{content}"


def _facts(shown: Shown, left_out: Sequence[str]) -> Part:
    results = [pair for _, pairs in shown for pair in pairs]
    versions = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    return {
        "experiments": ", ".join(experiment.name for experiment, _ in shown),
        "trials": f"{len({t.key for t, _ in results}):,}; seconds.csv has their times",
        "datasets": ", ".join(datasets_of(results)) or "none needed",
        "left out, not available": ", ".join(left_out) or "none",
        "versions": f"skliquid {skliquid.__version__} (code {code_version()}), {versions}",
        "Python": f"{platform.python_version()} on {platform.machine()}",
    }


def write_replays(shown: Shown, folder: Path) -> Iterator[Part]:
    """Write one replay for each dataset with results, the same in each call.

    The paper's ensemble is trained on one half of the rows, prepared by the first protocol with
    results, and its accuracy is measured on rows of the other half.
    """
    names, first_trials = UniqueNames(), dict[str, Trial]()
    for trial, _ in (pair for _, results in shown for pair in results):
        first_trials.setdefault(trial.data, trial)
    for data, trial in first_trials.items():
        try:
            record = _train(trial)
        except ValueError:  # the half lacks a class that halves of the trials had
            continue
        stem = names.claim(file_name(data))
        replay(record, folder / f"{stem}.html", title=f"{short_name(data)}: the paper's ensemble")
        last, n = record[-1].graph, len(record)
        words = f"{last.n_voters} voters, {len(last.representatives)} representatives after {n}"
        yield {"stem": stem, "dataset": data, "words": f"{words} increments"}


def _train(trial: Trial) -> TrainingRecord:
    """Train the paper's ensemble on the data of a trial; return the record."""
    split = halves(trial.dataset, trial.target, trial.protocol, seed=0)
    # rows from all parts of a table that may be sorted
    rows = slice(None, None, -(-len(split.y_test) // _MAX_REPLAYED_ROWS))
    # the setting of the paper's Figure 5, which has many rounds of delegation
    setting = {"increment_size": 25, "delegation_rate": Rounded(0.2, "floor")}
    ensemble = LiquidEnsembleClassifier.as_in_the_paper(random_state=0, **setting)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # raw features do not converge
        test_rows = (split.X_test[rows], split.y_test[rows])
        ensemble.fit(split.X_train, split.y_train, eval_set=test_rows)
    return ensemble.record_
