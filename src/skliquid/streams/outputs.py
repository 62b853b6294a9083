"""Paths of results: checked before the work begins, and named after the data."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryFile

from skliquid.streams.data_paths import FORMATS


def check_output(path: Path, inputs: Sequence[Path], *, name: str) -> None:
    """Raise unless ``path`` can be written without overwriting inputs; create its folder."""
    if path.is_dir():
        raise ValueError(f"{name} must be a file: {path} is a folder. Give a name in it.")
    if path.exists() and not path.is_file():
        raise ValueError(f"{name} must be a file: {path} is a device or a pipe. Rename it.")
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


def default_name(data: Path) -> str:
    """Return the name of the model of a file or folder: ``sales.skliquid`` for ``sales.csv``."""
    stem = data.resolve().name or "model"
    ending = next((end for end in FORMATS if stem.lower().endswith(end)), "")
    return f"{stem[: len(stem) - len(ending)]}.skliquid"
