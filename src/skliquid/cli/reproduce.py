"""``skliquid reproduce``: the paper's tables and figures, from trials to one page."""

import difflib
import logging
import shutil
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
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
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from skliquid.cli.refusal import refusing
from skliquid.cluster import ClusterError
from skliquid.datasets import DATASET_NAMES, load_dataset
from skliquid.experiments.cluster import run_on_cluster
from skliquid.experiments.protocols import rows
from skliquid.experiments.report import Plan, write_report
from skliquid.experiments.runner import run_trials
from skliquid.experiments.spec import Experiment, experiment_files, load_experiment
from skliquid.experiments.store import Store, StoreDamagedError
from skliquid.experiments.trial import Trial


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Experiments by name, or TOML files; all when none is given."),
    ] = None,
    *,
    datasets: Annotated[
        list[str] | None,
        typer.Option(help="Datasets, one or more: names, or CSV or Parquet files (file::target)."),
    ] = None,
    trials: Annotated[int | None, typer.Option(min=1, help="Trials of each method.")] = None,
    full: Annotated[bool, typer.Option("--full", help="As many trials as the paper.")] = False,
    jobs: Annotated[
        int, typer.Option(help="Processes; -1 for all cores, -2 for all but one.")
    ] = -1,
    out: Annotated[Path, typer.Option(help="Where results go.")] = Path("out"),
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Run on the Dask cluster at this address."),
    ] = None,
    timeout: Annotated[
        float, typer.Option(min=0, help="Seconds to wait for the cluster, or its workers.")
    ] = 60,
    retry: Annotated[bool, typer.Option("--retry", help="Try failed trials again.")] = False,
) -> None:
    """Run the paper's experiments, and write every table and figure and one page with all.

    Running again does only what is missing, with or without a cluster; Ctrl-C stops cleanly at any
    time.
    """
    console = Console(markup=False, emoji=False)  # names of files are to be shown as they are
    sys.path.append(str(Path.cwd()))  # where a mechanism of the user's own may be
    with refusing(console):
        n_jobs = _n_processes(jobs)
        names, datasets = _sorted_out(names or [], datasets or [])
        experiments = _experiments(names)
        if datasets:  # asked for, whatever the experiments say
            experiments = [replace(each, datasets=datasets) for each in experiments]
        wanted, left_out = _datasets(experiments, console, must_be_there=bool(datasets))
        plan = [(each, _trials(each, wanted, trials, full)) for each in experiments]
        store = Store(out / "trials.sqlite")
    start = perf_counter()
    run: Callable[..., int] = partial(run_trials, n_jobs=n_jobs)
    if scheduler:
        logging.disable(logging.CRITICAL)  # of what goes wrong, we tell in a sentence
        run = partial(run_on_cluster, address=scheduler, timeout=timeout)
    with _telling_of_damage(console), store:
        if retry:
            store.forget_errors()
        everything = _evenly(plan)
        missing = store.missing(everything)
        n_there = len({trial.key for trial in everything}) - len(missing)
        if n_there:
            console.print(f"{n_there} trials are there already, {len(missing)} are to be run.")
        _run(missing, store, run, console)
        n_failed = len(store.errors(everything))
        with console.status("Drawing"):
            page = write_report(plan, store, out, left_out=left_out)
            store.export(out)
    if n_failed:
        told = f"{n_failed} trials failed; the page says why. --retry tries again."
        console.print(told, style="red", soft_wrap=True)
    seconds = perf_counter() - start
    console.print(f"Done in {seconds:.0f} s: open {page}", soft_wrap=True)
    if n_failed:
        raise typer.Exit(1)


def _n_processes(jobs: int) -> int:
    """Return how many processes are meant, by joblib's rule."""
    if jobs == 0:
        raise ValueError(
            "--jobs must not be 0: nobody would do the work. Give 1, or -1 for all cores."
        )
    n_processes: int = effective_n_jobs(jobs)
    return n_processes


@contextmanager
def _telling_of_damage(console: Console) -> Iterator[None]:
    try:
        yield
    except StoreDamagedError as error:
        console.print(str(error), style="red", soft_wrap=True)
        raise typer.Exit(2) from None


def _sorted_out(names: Sequence[str], datasets: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return experiments and datasets: words that follow the first dataset are datasets too."""
    spread = [name for words in datasets for name in _spread(words)]
    known = experiment_files()
    others = [name for name in names if name not in known and not name.endswith(".toml")]
    of_data = [name for name in others if datasets and not _is_mistyped_experiment(name, known)]
    return [name for name in names if name not in of_data], [*spread, *of_data]


def _is_mistyped_experiment(name: str, experiments: Iterable[str]) -> bool:
    """Return whether ``name`` is no dataset, and more like an experiment than like a dataset."""
    path = Path(name.partition("::")[0])
    if name in DATASET_NAMES or path.suffix or path.exists():
        return False
    nearest = difflib.get_close_matches(name, [*experiments, *DATASET_NAMES], 1)
    return nearest != [] and nearest[0] not in DATASET_NAMES


def _nearest(name: str, known: Iterable[str]) -> str:
    """Return a question that offers the known name most like ``name``, if one is alike."""
    return "".join(f" Did you mean {each}?" for each in difflib.get_close_matches(name, known, 1))


def _spread(words: str) -> list[str]:
    """Return datasets with commas between them; a comma may also be in the name of a file."""
    parts, names = words.split(","), []
    while parts:
        starts = [",".join(parts[:k]) for k in range(1, len(parts) + 1)]
        files = [name for name in starts if Path(name.partition("::")[0]).is_file()]
        names.append(files[0] if files else parts[0])
        parts = parts[names[-1].count(",") + 1 :]
    return names


def _experiments(names: Sequence[str]) -> list[Experiment]:
    known = experiment_files()
    paths: dict[str, Path] = {}
    for name in names or known:
        path = Path(name) if name.endswith(".toml") else known.get(name)
        if path is None or not path.is_file():
            raise ValueError(
                f"NAME must be an experiment or a TOML file: got {name!r}.{_nearest(name, known)} "
                f"Choose among {', '.join(known)}."
            )
        other = paths.setdefault(path.stem, path)
        if not other.samefile(path):
            raise ValueError(
                f"Experiments must have files of different names, after which their tables are "
                f"named: {path} has the name of {other}. Rename one, or run it into another --out."
            )
    return [load_experiment(path) for path in paths.values()]


def _datasets(
    experiments: Sequence[Experiment], console: Console, *, must_be_there: bool
) -> tuple[list[str], list[str]]:
    """Return which datasets of the experiments are there, and which are left out, not being there.

    Files must be there in any case.
    """
    there, left_out = [], []
    for name in dict.fromkeys(name for each in experiments for name in each.datasets):
        path, _, target = name.partition("::")
        try:
            load_dataset(path, target=target or None)
        except (OSError, ValueError) as error:
            if must_be_there or name not in DATASET_NAMES:
                raise
            left_out.append(name)
            console.print(f"{name} is left out. {error}", style="yellow", soft_wrap=True)
        else:
            there.append(name)
    return there, left_out


def _trials(
    experiment: Experiment, datasets: Sequence[str], n_trials: int | None, full: bool
) -> list[Trial]:
    count = n_trials or (experiment.n_trials if full else experiment.n_quick_trials)
    trials = list(experiment.trials(datasets, count))
    if experiment.rows and not trials:
        raise ValueError(
            f"{experiment.name} must have a dataset that is here: it names "
            f"{', '.join(experiment.datasets) or 'none'}. Give some by --datasets."
        )
    for dataset, target, protocol in dict.fromkeys(
        (t.dataset, t.target, t.protocol) for t in trials
    ):
        if dataset not in DATASET_NAMES:
            rows(dataset, target, protocol)  # raises when they cannot be learnt from
    return trials


def _evenly(plan: Plan) -> list[Trial]:
    """Return all trials, so ordered that every experiment has its share at any time."""
    share = []
    for _, trials in plan:
        count = 1 + max((trial.number for trial in trials), default=0)
        share += [((trial.number + 0.5) / count, trial) for trial in trials]
    return [trial for _, trial in sorted(share, key=lambda pair: pair[0])]


def _run(trials: Sequence[Trial], store: Store, run: Callable[..., int], console: Console) -> None:
    if not trials:
        return
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=min(40, shutil.get_terminal_size().columns // 3)),
        MofNCompleteColumn(),
        TextColumn("run"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
    )
    try:
        with _interruptible(), progress:
            bar = progress.add_task("Trials", total=len(trials))
            run(trials, store, report=lambda n: progress.advance(bar, n))
    except KeyboardInterrupt:
        console.print("Stopped. What was finished is kept; run the same command to go on.")
        raise typer.Exit(130) from None
    except (ClusterError, ImportError) as error:
        console.print(str(error), style="red", soft_wrap=True)
        console.print("What was finished is kept; run the same command to go on.")
        raise typer.Exit(3) from None


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let SIGTERM, as batch systems send it, end the run as cleanly as Ctrl-C."""
    before = signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
