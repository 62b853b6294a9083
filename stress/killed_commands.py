"""Drivers that are killed: ``skliquid train`` and the reproduction, run until they end."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from inspect import signature
from pathlib import Path

import numpy as np
import pandas as pd
from trainings import digests, rows, sees_each_row_once

from skliquid.cli.commands import train
from skliquid.streams import load_model

SKLIQUID = [sys.executable, "-m", "skliquid.cli"]
REPRODUCTION = [sys.executable, "-m", "reproduction"]
ENVIRONMENT = os.environ | {"COLUMNS": "500", "PYTHONPATH": str(Path(__file__).parents[1])}
MOST_KILLS_OF_A_RUN = 3
MADE = ("rows.csv", "model", "killed.toml", "out")
"""What files of a command are called when it has ended."""
_MOST_SECONDS = 300
EXPERIMENT = """
title = "Killed"
kind = "results"
protocols = ["ours"]
datasets = ["heart"]
trials = {full = 40, quick = 40}
[[methods]]
method = "liquid"
mechanism = ["direct", "max"]
increment_size = 20
delegation_rate = 0.3
n_estimators = 12
n_final = 4
"""


@dataclass
class Command:
    """A command: its ``words``, given what earlier runs left in the folder.

    ``kept`` is the file from which it continues.
    """

    words: Callable[[Path], Sequence[str]]
    digest: Callable[[Path], str]
    prepare: Callable[[Path], None]
    kept: str


def killed_trainings(n_kills: int, rng: np.random.Generator) -> Iterator[str]:
    """Yield what came of each kill of ``skliquid train``, which is resumed from its checkpoint."""
    return _killed(
        Command(_train_words, _model_digest, write_rows, "model.checkpoint"), n_kills, rng
    )


def killed_experiments(n_kills: int, rng: np.random.Generator) -> Iterator[str]:
    """Yield what came of each kill of the reproduction, which continues from its store."""
    return _killed(
        Command(_reproduce_words, table_digest, write_experiment, "out/trials.sqlite"), n_kills, rng
    )


def _killed(command: Command, n_kills: int, rng: np.random.Generator) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        expected, seconds = _end_of(command, Path(folder)), time.perf_counter() - start
    while n_kills > 0:
        n_now = min(int(rng.integers(1, MOST_KILLS_OF_A_RUN + 1)), n_kills)
        with tempfile.TemporaryDirectory() as folder:
            delays = rng.uniform(0.3 * seconds, seconds, n_now)  # before, modules are imported
            n_killed = sum(_kill(command, Path(folder), delay) for delay in delays.tolist())
            is_kept = (Path(folder) / command.kept).exists()
            outcome = _compared(_end_of(command, Path(folder)), expected, is_kept)
            n_left = sum(path.name not in MADE for path in Path(folder).iterdir())
            outcome += f", {n_left} other files left behind" if n_left else ""
        yield from [outcome] * n_killed
        n_kills -= n_killed


def _compared(found: str, expected: str, is_kept: bool) -> str:
    if found.startswith("FAULT"):
        return found
    if found != expected:
        return "FAULT: other bits than an undisturbed run"
    return f"{'resumed' if is_kept else 'nothing was there yet, started again'}, same bits"


def _kill(command: Command, folder: Path, delay: float) -> bool:
    """Start a command and kill all its processes; return False if it had ended before."""
    with _started(command, folder) as process:
        try:
            process.communicate(timeout=delay)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return True
    return False


def _end_of(command: Command, folder: Path) -> str:
    """Run a command to its end; return the digest of what it made, or what went wrong."""
    with _started(command, folder) as process:
        printed, _ = process.communicate(timeout=_MOST_SECONDS)
    if process.returncode or "Traceback" in printed:
        return f"FAULT: exit code {process.returncode}: {' '.join(printed.split())[-300:]}"
    return command.digest(folder)


def _started(command: Command, folder: Path) -> "subprocess.Popen[str]":
    command.prepare(folder)
    return subprocess.Popen(
        command.words(folder),
        cwd=folder,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


# skliquid train


def write_rows(folder: Path) -> None:
    """Write the rows of a training, unless they are there."""
    X, y, _ = rows("narrow")
    if not (folder / "rows.csv").exists():
        pd.DataFrame(X).add_prefix("x").assign(y=y).to_csv(folder / "rows.csv", index=False)


def _train_words(folder: Path) -> list[str]:
    words = "train rows.csv --target y --model model --increment-size 25 --every 2 --online"
    words += " --test-size 0"
    can_resume = "resume" in signature(train).parameters
    is_stopped = (folder / "model.checkpoint").exists()
    return [*SKLIQUID, *words.split(), *(["--resume"] if can_resume and is_stopped else [])]


def _model_digest(folder: Path) -> str:
    model, (_, y, new) = load_model(folder / "model"), rows("narrow")
    if not sees_each_row_once(model.ensemble, len(y)):
        return "FAULT: rows were lost, or trained on twice"
    return str(digests(model.ensemble, new))


# python -m reproduction


def write_experiment(folder: Path) -> None:
    """Write the file of an experiment."""
    (folder / "killed.toml").write_text(EXPERIMENT)


def _reproduce_words(_: Path) -> list[str]:
    return [*REPRODUCTION, "killed.toml", "--jobs", "2"]


def table_digest(folder: Path) -> str:
    """Return the SHA-256 of the table that an experiment exports."""
    return sha256((folder / "out" / "trials.csv").read_bytes()).hexdigest()
