"""Files that hold one object completely at any time, with a checksum."""

import pickle
from hashlib import file_digest, sha256
from pathlib import Path
from typing import TypeVar

import joblib

from skliquid.replacing import replacing
from skliquid.streams.reason import reason

_T = TypeVar("_T")
_NAME, _FIRST_BYTES = b"skliquid ", b"skliquid 6\n"
"""How a file begins; the SHA-256 of the rest comes next. The number is raised when older files can
no longer be read."""
_START = len(_FIRST_BYTES) + sha256().digest_size


def write_whole(path: Path, content: object) -> None:
    """Pickle an object to a file, which at any time holds it completely or what it held before."""
    try:
        with replacing(path) as file:
            file.seek(_START)
            joblib.dump(content, file)
            file.seek(_START)
            digest = file_digest(file, "sha256").digest()
            file.seek(0)
            file.write(_FIRST_BYTES + digest)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError(
            f"The ensemble must be picklable: {reason(error)}. Define your functions and classes "
            "in a module."
        ) from error


def read_whole(path: Path, expected: type[_T], *, parameter: str) -> _T:
    """Return the object in a file, which must be trusted."""
    if not path.is_file():
        raise FileNotFoundError(
            f"{parameter} must be an existing file: {path} is not. Correct the path."
        )
    with path.open("rb") as file:
        first_bytes = file.read(len(_FIRST_BYTES))
        digest = file.read(_START - len(_FIRST_BYTES))
        if not first_bytes.startswith(_NAME):
            problem = "was not written by skliquid. Give another path."
        elif first_bytes != _FIRST_BYTES:
            problem = "is of another version. Train again, or use the version that wrote it."
        elif file_digest(file, "sha256").digest() != digest:
            problem = "has changed, or was cut off. Train again, or restore a copy."
        else:
            file.seek(_START)
            try:
                content = joblib.load(file)
            except (AttributeError, ImportError) as error:
                raise ValueError(
                    f"{parameter} must not need code that is missing: {path} does ({error}). Make "
                    "it importable, or use the version of skliquid that wrote the file."
                ) from error
            if isinstance(content, expected):
                return content
            problem = f"holds a {type(content).__name__}. Give another path."
    raise ValueError(f"{parameter} must be a file as skliquid wrote it: {path} {problem}")
