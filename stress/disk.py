"""A full disk under models, checkpoints, predictions and the store of the reproduction.

A write that does not fit must end in an error that names the file; what was there before must be
intact, and nothing else must be left behind.
"""

import os
import resource
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from killed_commands import (
    ENVIRONMENT,
    REPRODUCTION,
    SKLIQUID,
    table_digest,
    write_experiment,
    write_rows,
)
from section import Findings, Section, Table, with_progress
from trainings import StoppedError, resuming

import skliquid
from skliquid import LiquidEnsembleClassifier, train_on
from skliquid.voters import BoostedTreesClassifier

DISK_SIZE = 4 << 20
TEXT = (
    "How many bytes are free is drawn at random, from none to a little more than is needed. {how} "
    "*Refused* means an error that names the file, with the old file as it was and no other file "
    "left behind; *written* means that there was room. A checkpoint is written after each "
    "increment, so that the file may be a later one, which must be whole. A store is *continued* "
    "if the command ends with a sentence, and the same command completes the same table once there "
    "is room."
)
STORE_BYTES = 120_000


class Disk(NamedTuple):
    """A folder, and a context in which only so many bytes can be written to it."""

    folder: Path
    full: Callable[[int], Any]
    how: str


@contextmanager
def small_disk() -> Iterator[Disk]:
    """Yield a disk of a few megabytes, or, if the user may not mount one, a limit for files."""
    with tempfile.TemporaryDirectory() as name:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_SIZE}", "tmpfs", name]
        if os.geteuid() or subprocess.run(mount, check=False, capture_output=True).returncode:
            yield Disk(Path(name), _limited, "The size of files is limited (`RLIMIT_FSIZE`).")
            return
        try:
            yield Disk(Path(name), lambda n: _filled(Path(name), n), "The disk is a `tmpfs`.")
        finally:
            subprocess.run(["umount", name], check=True)


@contextmanager
def _filled(folder: Path, n_free: int) -> Iterator[None]:
    filler, disk = folder / "filler", os.statvfs(folder)
    filler.write_bytes(bytes(max(disk.f_bavail * disk.f_frsize - n_free, 0)))
    try:
        yield
    finally:
        filler.unlink()


@contextmanager
def _limited(n_free: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_free, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


class Writes:
    """What is written to the full disk."""

    def __init__(self, folder: Path):
        self.folder = folder
        write_rows(folder)
        write_experiment(folder)
        trees = BoostedTreesClassifier(4)
        self.ensemble = LiquidEnsembleClassifier(trees, n_estimators=6, n_final=2, random_state=0)
        self.model = self._trained()
        self.model.save(folder / "model.skliquid")

    def _trained(self, **options: Any) -> Any:
        path = self.folder / "rows.csv"
        options |= {"increment_size": 500, "online": True}
        return train_on(path, target="y", ensemble=self.ensemble, **options)

    def save_model(self, target: Path) -> None:
        """Write a model for ``skliquid predict``."""
        self.model.save(target)

    def save_ensemble(self, target: Path) -> None:
        """Write an ensemble."""
        skliquid.save(self.model.ensemble, target)

    def save_checkpoint(self, target: Path) -> None:
        """Resume a training, which writes a checkpoint after each increment."""
        self._trained(checkpoint=target, every=1, **resuming(target))

    def predict(self, target: Path) -> None:
        """Write predictions."""
        model, rows = self.folder / "model.skliquid", self.folder / "rows.csv"
        typed(*SKLIQUID, "predict", model, rows, "--out", target, "--proba")

    def stop_midway(self, target: Path) -> None:
        """Leave the checkpoint of an unfinished training."""

        def report(progress: Any) -> None:
            if progress.n_rows >= 1500:
                raise StoppedError

        target.unlink(missing_ok=True)
        with suppress(StoppedError):
            self._trained(checkpoint=target, report=report)


def typed(*words: Any) -> None:
    """Run a command; what it says in a sentence is raised as OSError."""
    command = [str(word) for word in words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=ENVIRONMENT)
    printed = " ".join((done.stdout + done.stderr).split())
    if "Traceback" in printed or done.returncode not in (0, 2):
        raise RuntimeError(f"exit code {done.returncode}: {printed[-250:]}")
    if done.returncode:
        raise OSError(printed)


def attempts(
    name: str, times: int, writes: Writes, disk: Disk, rng: np.random.Generator
) -> Iterator[str]:
    """Yield what came of writing a file so many times."""
    write, target = getattr(writes, WRITTEN[name][0]), disk.folder / WRITTEN[name][1]
    is_checkpoint = WRITTEN[name][0] == "save_checkpoint"
    prepare = writes.stop_midway if is_checkpoint else write
    prepare(target)
    size = target.stat().st_size
    for _ in range(times):
        if is_checkpoint:
            prepare(target)
        yield _attempt(write, target, disk, int(rng.uniform(0, 1.5 * size)), is_checkpoint)
    target.unlink()


def _attempt(
    write: Callable[[Path], None], target: Path, disk: Disk, n_free: int, is_checkpoint: bool
) -> str:
    before = _contents(disk.folder)
    with disk.full(n_free):
        try:
            write(target)
        except OSError as error:
            if target.name not in str(error):
                return f"FAULT: the error does not name the file: {error}"[:300]
        except Exception as error:  # any other is what this looks for
            return f"FAULT: {type(error).__name__}: {error}"[:300]
        else:
            return "written"
    after = _contents(disk.folder)
    changed = {name for name in after | before if after.get(name) != before.get(name)}
    if changed == {target.name} and is_checkpoint:
        n_rows = skliquid.load(target).n_rows
        return f"refused, after a later checkpoint{'' if n_rows > 1500 else ': FAULT'}"
    return f"FAULT: after an error {sorted(changed)} had changed" if changed else "refused"


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "filler"}


def stores(times: int, writes: Writes, disk: Disk, rng: np.random.Generator) -> Iterator[str]:
    """Yield what came of experiments whose store does not fit."""
    _reproduce(writes, writes.folder)
    expected = table_digest(writes.folder)
    for _ in range(times):
        with tempfile.TemporaryDirectory(dir=disk.folder) as folder:
            yield _continued(writes, disk, Path(folder), int(rng.uniform(0, STORE_BYTES)), expected)


def _reproduce(writes: Writes, folder: Path) -> None:
    words = (*REPRODUCTION, writes.folder / "killed.toml", "--jobs", "2")
    typed(*words, "--out", folder / "out")


def _continued(writes: Writes, disk: Disk, folder: Path, n_free: int, expected: str) -> str:
    try:
        with disk.full(n_free):
            _reproduce(writes, folder)
    except OSError as error:
        if str(folder) not in str(error):
            return f"FAULT: the error does not name the folder: {error}"[:300]
    except RuntimeError as error:
        return f"FAULT: {error}"
    else:
        return "written"
    try:
        _reproduce(writes, folder)
    except (OSError, RuntimeError) as error:
        return f"FAULT: not continued when there was room: {error}"[:300]
    return "continued" if table_digest(folder) == expected else "FAULT: another table"


WRITTEN = {
    "a model (`StreamedModel.save`)": ("save_model", "model.skliquid", 0.3),
    "an ensemble (`skliquid.save`)": ("save_ensemble", "ensemble.skliquid", 0.3),
    "a checkpoint (`train_on`)": ("save_checkpoint", "training.checkpoint", 0.2),
    "predictions, CSV (`skliquid predict`)": ("predict", "predictions.csv", 0.075),
    "predictions, Parquet": ("predict", "predictions.parquet", 0.075),
}
"""What is written: the method of ``Writes``, the file, and the share of all tries."""
STORES, SHARE_OF_STORES = "the store of `python -m reproduction`", 0.05


def run(times: int, rng: np.random.Generator) -> Findings:
    """Write to a full disk ``times`` times in all."""
    table: Table = []
    failures: list[str] = []

    def count(name: str, outcomes: Iterator[str], n: int) -> None:
        for outcome, number in Counter(with_progress(outcomes, name, n)).items():
            table.append({"written": name, "times": number, "outcome": outcome})
            if "FAULT" in outcome:
                failures.append(f"{name}: {outcome} ({number} times)")

    with tempfile.TemporaryDirectory() as folder, small_disk() as disk:
        writes = Writes(Path(folder))
        for name, (_, _, share) in WRITTEN.items():
            n = max(round(share * times), 1)
            count(name, attempts(name, n, writes, disk, rng), n)
        n = max(round(SHARE_OF_STORES * times), 1)
        count(STORES, stores(n, writes, disk, rng), n)
        n_tried = sum(row["times"] for row in table)
        return Findings([TEXT.format(how=disk.how), table], failures, n_tried)


SECTION = Section("disk", "Full disk", run, times=200, quick_times=12)

if __name__ == "__main__":
    SECTION.main()
