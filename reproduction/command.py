"""The command: which experiments to run on which datasets, with how many trials."""

import logging
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer
from joblib import effective_n_jobs
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from reproduction.dask_runner import ClusterError, run_on_cluster
from reproduction.exits import Stopped, exit_on_error
from reproduction.experiment import Experiment, experiment_files, load_experiment, own_modules
from reproduction.own_table import load_data
from reproduction.process_runner import run_trials
from reproduction.protocols import rows
from reproduction.report import Plan, write_report
from reproduction.trial import Trial
from reproduction.trial_store import Store
from skliquid.datasets import DATASET_NAMES

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
_KEPT = "Finished trials are kept; run the same command to continue."


@app.command()
def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Names of experiments, or TOML files; by default all."),
    ] = None,
    *,
    datasets: Annotated[
        list[str] | None,
        typer.Option(help="Names of datasets, or CSV or Parquet files (file::target)."),
    ] = None,
    trials: Annotated[
        int | None, typer.Option(min=1, help="Number of trials of each method.")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Run as many trials as the paper.")] = False,
    jobs: Annotated[
        int, typer.Option(help="Number of processes; -1 for all cores, -2 for all but one.")
    ] = -1,
    out: Annotated[Path, typer.Option(help="Folder for results.")] = Path("out"),
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Run on the Dask cluster at this address."),
    ] = None,
    timeout: Annotated[
        float, typer.Option(min=0, help="Seconds to wait for the cluster or its workers.")
    ] = 60,
    retry: Annotated[bool, typer.Option("--retry", help="Run failed trials again.")] = False,
) -> None:
    """Run the paper's experiments, and write tables, figures, replays and an HTML report.

    Running again runs only the trials that are missing, with or without a cluster; Ctrl-C stops
    cleanly at any time.
    """
    console = Console(markup=False, emoji=False)  # names of files are shown literally
    print_error = partial(console.print, style="red", soft_wrap=True)
    sys.path.append(str(Path.cwd()))  # where a user's mechanism may be
    with exit_on_error(print_error):
        n_jobs = _n_processes(jobs)
        names, datasets = _split_names(names or [], datasets or [])
        experiments = _experiments(names, console)
        if datasets:  # instead of the datasets in the files of the experiments
            experiments = [replace(experiment, datasets=datasets) for experiment in experiments]
        available, left_out = _datasets(experiments, console, are_required=bool(datasets))
        plan = [(e, _trials(e, available, trials, full)) for e in experiments]
        store = Store(out / "trials.sqlite")
    run: Callable[..., int] = partial(run_trials, n_jobs=n_jobs)
    if scheduler:
        logging.disable(logging.CRITICAL)  # errors are reported in one sentence
        run = partial(run_on_cluster, address=scheduler, timeout=timeout)
    start = perf_counter()
    with exit_on_error(print_error, errors=(OSError,)), store:
        if retry:
            store.forget_errors()
        n_failed = _run(_interleaved(plan), store, run, console)
        with console.status("Drawing"):
            page = write_report(plan, store, out, left_out=left_out)
            store.export(out)
    if n_failed:
        print_error(f"{n_failed} trials failed; the report has their errors. --retry tries again.")
    console.print(f"Done in {perf_counter() - start:.0f} s: open {page}", soft_wrap=True)
    if n_failed:
        raise typer.Exit(1)


def _n_processes(jobs: int) -> int:
    """Return the number of processes, by joblib's rule."""
    if jobs == 0:
        raise ValueError("--jobs must not be 0: got 0. Give 1, or -1 for all cores.")
    n_processes: int = effective_n_jobs(jobs)
    return n_processes


# Names of experiments and datasets


def _split_names(names: Sequence[str], datasets: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return experiments and datasets: names after the first dataset are datasets too."""
    known = experiment_files()
    others = [name for name in names if name not in known and not name.endswith(".toml")]
    more = [name for name in others if datasets and not _is_mistyped_experiment(name, known)]
    split = [name for text in datasets for name in _split_at_commas(text)]
    return [name for name in names if name not in more], [*split, *more]


def _is_mistyped_experiment(name: str, experiments: Iterable[str]) -> bool:
    """Return whether ``name`` is not a dataset, and closer to the name of an experiment."""
    path = Path(name.partition("::")[0])
    if name in DATASET_NAMES or path.suffix or path.exists():
        return False
    nearest = get_close_matches(name.casefold(), [*experiments, *DATASET_NAMES], n=1)
    return bool(nearest) and nearest[0] not in DATASET_NAMES


def _split_at_commas(text: str) -> list[str]:
    """Return datasets with commas between them; names of files may contain commas as well."""
    parts, names = text.split(","), []
    while parts:
        starts = [",".join(parts[:k]) for k in range(1, len(parts) + 1)]
        files = [name for name in starts if Path(name.partition("::")[0]).is_file()]
        names.append(files[0] if files else parts[0])
        parts = parts[names[-1].count(",") + 1 :]
    return names


def _experiments(names: Sequence[str], console: Console) -> list[Experiment]:
    known = experiment_files()
    paths: dict[str, Path] = {}
    for name in names or known:
        path = Path(name) if name.endswith(".toml") else known.get(name)
        if path is None or not path.is_file():
            nearest = get_close_matches(name.casefold(), known, n=1)
            way_out = f"Did you mean {nearest[0]!r}?" if nearest else "Choose one of them."
            raise ValueError(
                f"NAME must be an experiment, one of {', '.join(known)}, or a TOML file: got "
                f"{name!r}. {way_out}"
            )
        other = paths.setdefault(path.stem, path)
        if not other.samefile(path):
            raise ValueError(
                f"Experiments must have files of different names, after which their tables are "
                f"named: {path} has the name of {other}. Rename one, or run it into another --out."
            )
    for path in paths.values():
        _announce_modules(path, console)
    return [load_experiment(path) for path in paths.values()]


def _announce_modules(path: Path, console: Console) -> None:
    """Print the modules that a TOML file names before they are imported."""
    for module in own_modules(path):
        with suppress(ImportError, ValueError):  # reported when the module is imported
            found = find_spec(module.partition(".")[0])  # of "a.b", this would import a
            file = found and (found.origin or found.name)
            console.print(f"{path} runs code of the module {module} ({file}).", soft_wrap=True)


def _datasets(
    experiments: Sequence[Experiment], console: Console, *, are_required: bool
) -> tuple[list[str], list[str]]:
    """Return the datasets that are available, and those that are left out; files are required."""
    available, left_out = [], []
    for name in dict.fromkeys(name for e in experiments for name in e.datasets):
        path, _, target = name.partition("::")
        try:
            load_data(path, target or None)
        except (OSError, ValueError) as error:
            if are_required or name not in DATASET_NAMES:
                raise
            left_out.append(name)
            console.print(f"{name} is left out. {error}", style="yellow", soft_wrap=True)
        else:
            available.append(name)
    return available, left_out


# Trials


def _trials(
    experiment: Experiment, datasets: Sequence[str], n_trials: int | None, full: bool
) -> list[Trial]:
    count = n_trials or (experiment.n_trials if full else experiment.n_quick_trials)
    trials = list(experiment.trials(datasets, count))
    if experiment.rows and not trials:
        raise ValueError(
            f"{experiment.name} must have a dataset that is available: it names "
            f"{', '.join(experiment.datasets) or 'none'}. Give one with --datasets."
        )
    for dataset, target, protocol in {(t.dataset, t.target, t.protocol): None for t in trials}:
        if dataset not in DATASET_NAMES:
            rows(dataset, target, protocol)  # raises if it cannot be learned from
    return trials


def _interleaved(plan: Plan) -> list[Trial]:
    """Return all trials, ordered so that all experiments progress at the same rate."""
    shares = []
    for _, trials in plan:
        count = 1 + max((trial.number for trial in trials), default=0)
        shares += [((trial.number + 0.5) / count, trial) for trial in trials]
    return [trial for _, trial in sorted(shares, key=lambda pair: pair[0])]


def _run(trials: Sequence[Trial], store: Store, run: Callable[..., int], console: Console) -> int:
    """Run the trials that are not stored yet; return how many failed, now or before."""
    missing = store.missing(trials)
    n_stored = len({trial.key for trial in trials}) - len(missing)
    if n_stored:
        console.print(f"{n_stored} trials are stored already, {len(missing)} remain.")
    if missing:
        _run_with_progress(missing, store, run, console)
    return len(store.errors(trials))


def _run_with_progress(
    trials: Sequence[Trial], store: Store, run: Callable[..., int], console: Console
) -> None:
    bar = BarColumn(bar_width=min(40, console.width // 3))
    times = ("run", TimeElapsedColumn(), "left", TimeRemainingColumn())
    columns = ("{task.description}", bar, MofNCompleteColumn(), *times)
    try:
        with Progress(*columns, console=console) as progress:
            task = progress.add_task("Trials", total=len(trials))
            run(trials, store, report=lambda n: progress.advance(task, n))
    except Stopped as stopped:
        stopped.text += f" {_KEPT}"
        raise
    except (ClusterError, ImportError) as error:
        console.print(str(error), style="red", soft_wrap=True)
        console.print(_KEPT)
        raise typer.Exit(3) from None
