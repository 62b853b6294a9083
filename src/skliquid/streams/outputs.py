"""Where results go: looked at before the work, so that it is not done for nothing."""

import os
from collections.abc import Sequence
from pathlib import Path

from skliquid.streams.files import FORMATS


def check_output(path: Path, inputs: Sequence[Path], *, name: str) -> None:
    """Raise unless ``path`` can be written without harm; its folder is made if it is not there."""
    if path.is_dir():
        raise ValueError(
            f"{name} must be a file: {path} is a folder. Give a name in it, such as "
            f"{path / 'result'}."
        )
    if any(_is_same(path, each) for each in inputs):
        raise ValueError(
            f"{name} must not be a file that is needed: {path} would be overwritten. "
            "Give another name."
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(
            f"{name} must be in a folder: {path.parent} cannot be one ({error.strerror}). "
            "Give another name."
        ) from error
    if not os.access(path.parent, os.W_OK):
        raise ValueError(
            f"{name} must be in a folder that may be written to: {path.parent} may not. "
            "Give another name."
        )


def _is_same(path: Path, other: Path) -> bool:
    if path.exists() and other.exists():
        return path.samefile(other)
    return path.absolute() == other.absolute()


def default_name(data: Path) -> str:
    """Return how the model of a file or folder is called.

    Examples
    --------
    >>> default_name(Path("sales.2023.csv.gz"))
    'sales.2023.skliquid'
    """
    stem = data.resolve().name or "model"
    ending = max((e for e in FORMATS if stem.lower().endswith(e)), key=len, default="")
    return f"{stem[: len(stem) - len(ending)]}.skliquid"
