"""Checkpoints: files with unfinished models, written by one training, and read on request only."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from skliquid.files.atomic_write import remove_leftovers
from skliquid.files.container import ModelFileError
from skliquid.files.lock import check_owner, file_lock
from skliquid.files.saving import digest, load


def check_output(path: Path, inputs: Sequence[Path], *, name: str) -> None:
    """Raise unless ``path`` can be written without overwriting inputs; create its folder."""
    if path.exists() and not path.is_file():
        problem = (
            "a folder. Give a name in it" if path.is_dir() else "a device or a pipe. Rename it"
        )
        raise ValueError(f"{name} must be a file: {path} is {problem}.")
    if any(_is_same(path, other) for other in inputs):
        raise ValueError(
            f"{name} must not be a file that is needed: {path} would be overwritten. Rename it."
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise ValueError(
            f"{name} must be in a folder that can be written to: {path.parent} is not "
            f"({error.strerror}). Give another name."
        ) from error


def _is_same(path: Path, other: Path) -> bool:
    if path.exists() and other.exists():
        return path.samefile(other)
    return path.absolute() == other.absolute()


@contextmanager
def reserve(file: Path, inputs: Sequence[Path], *, may_exist: bool) -> Iterator[None]:
    """Return a context in which no other training writes the checkpoint."""
    check_output(file, inputs, name="checkpoint")
    with file_lock(file):
        if file.exists() and not may_exist:
            raise FileExistsError(
                f"checkpoint must not exist without resume or restart: {file} is of an earlier "
                "training. Give resume=True (--resume) to continue that training, or "
                "restart=True (--restart) to discard it."
            )
        remove_leftovers(file)
        yield


def load_checkpoint(file: Path, settings: Mapping[str, str]) -> Any:
    """Return the unfinished model in a checkpoint of the user, made with the same settings."""
    check_owner(file, parameter="checkpoint")
    model = load(file)
    written = getattr(model, "settings", {})
    for name, value in settings.items():
        if written.get(name) != value:
            raise ValueError(
                f"checkpoint must belong to the same data and settings: {name} has changed since "
                f"{file} was written. Change it back, or start from scratch with restart=True "
                "(--restart)."
            )
    return model


def hash_settings(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return a hash of each setting."""
    hashes = {}
    for name, value in settings.items():
        try:
            hashes[name] = digest(value)
        except ModelFileError as error:
            raise ValueError(
                f"{name} must be of a type that model files can store: got {value!r}. Choose one "
                "by its name, or give no checkpoint."
            ) from error
    return hashes
