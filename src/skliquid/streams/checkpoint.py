"""Checkpoints: files that are whole at any time, and know what they belong to."""

import os
import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any, TypeVar

import joblib
from numpy.typing import NDArray

from skliquid.ensemble import LiquidEnsembleClassifier
from skliquid.streams.coding import Coding
from skliquid.streams.reason import reason

_T = TypeVar("_T")
_NAME, _FIRST_BYTES = b"skliquid ", b"skliquid 2\n"
"""What a file begins with; the SHA-256 of the rest comes next. The number goes up when files of
before would be misread."""


@dataclass
class Run:
    """All that a training has come to after some rows.

    ``n_right`` of the ``n_judged`` rows that the ensemble was asked about, before it trained on
    them, it got right.
    """

    ensemble: LiquidEnsembleClassifier
    coding: Coding
    classes: NDArray[Any]
    n_rows: int = 0
    n_increments: int = 0
    n_right: int = 0
    n_judged: int = 0


@dataclass(frozen=True)
class _Kept:
    data: str
    settings: Mapping[str, str]
    run: Run


@dataclass(frozen=True)
class Checkpoint:
    """Where a run is kept, and what it must have been trained on to be resumed.

    Parameters
    ----------
    path : path
        The file, which need not be there yet.
    data : str
        The fingerprint of the data.
    settings : mapping from str to str
        Everything else on which the bits depend, by name.
    """

    path: Path
    data: str
    settings: Mapping[str, str]

    def write(self, run: Run) -> None:
        """Put ``run`` on the disk, in place of what was there."""
        write_whole(self.path, _Kept(self.data, self.settings, run))

    def read(self) -> Run | None:
        """Return the run that was kept, or None; raise if it belongs to something else."""
        if not self.path.exists():
            return None
        kept = read_whole(self.path, _Kept, parameter="checkpoint")
        if kept.data != self.data:
            raise ValueError(
                f"checkpoint must belong to the data: {self.path} was written for other files, or "
                "these have changed since. Give the same data, or remove the checkpoint."
            )
        for name, value in self.settings.items():
            if kept.settings.get(name) != value:
                raise ValueError(
                    f"checkpoint must belong to the same settings: {name} was another when "
                    f"{self.path} was written. Set it as it was, or remove the checkpoint."
                )
        return kept.run


def write_whole(path: Path, content: object) -> None:
    """Write an object to a file that, whatever happens, holds it wholly or what it held before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    try:
        _write(part, content)
        part.replace(path)
    except OSError as error:
        raise OSError(f"{path} cannot be written ({reason(error)}).") from error
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError(
            f"The ensemble must be something that a file can hold: {reason(error)}. Define "
            "functions and classes of your own in a module."
        ) from error
    finally:
        part.unlink(missing_ok=True)
    if os.name == "posix":  # a folder can be put on the disk only here
        folder = os.open(path.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)


def _write(path: Path, content: object) -> None:
    start = len(_FIRST_BYTES) + sha256().digest_size
    with path.open("w+b") as file:
        file.seek(start)
        joblib.dump(content, file)
        file.seek(start)
        digest = file_digest(file, "sha256").digest()
        file.seek(0)
        file.write(_FIRST_BYTES + digest)
        file.flush()
        os.fsync(file.fileno())


def read_whole(path: Path, expected: type[_T], *, parameter: str) -> _T:
    """Return the object in a file, which must be trusted."""
    if not path.is_file():
        raise FileNotFoundError(
            f"{parameter} must be a file that is there: {path} is not. Correct the path."
        )
    try:
        content = _read(path, parameter)
    except (AttributeError, ImportError) as error:
        raise ValueError(
            f"{parameter} must hold nothing that is not here: {path} needs code that is missing "
            f"({error}). Make it importable, or use the version of skliquid that wrote the file."
        ) from error
    if isinstance(content, expected):
        return content
    raise ValueError(
        f"{parameter} must be a file that skliquid wrote for it: {path} holds a "
        f"{type(content).__name__}. Give another path."
    )


def _read(path: Path, parameter: str) -> object:
    with path.open("rb") as file:
        first = file.read(len(_FIRST_BYTES))
        if not first.startswith(_NAME):
            raise ValueError(
                f"{parameter} must be a file that skliquid wrote: {path} is none. Give another "
                "path."
            )
        if first != _FIRST_BYTES:
            raise ValueError(
                f"{parameter} must be a file that this version of skliquid reads: {path} is of "
                "another. Train again, or use the version that wrote it."
            )
        digest, start = file.read(sha256().digest_size), file.tell()
        if file_digest(file, "sha256").digest() != digest:
            raise ValueError(
                f"{parameter} must be a file that is as it was written: {path} has changed since, "
                "or was cut off. Train again, or take a copy."
            )
        file.seek(start)
        return joblib.load(file)
