"""Output files: written as a whole or not at all, each under a name of its own."""

import os
from collections.abc import Iterable
from contextlib import suppress
from itertools import chain, count
from pathlib import Path
from secrets import token_hex


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file, text in UTF-8; if that fails, an older file keeps its content."""
    part = path.with_name(f".{path.name}.{token_hex(4)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("xb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise OSError(f"{path} cannot be written ({error.strerror or error}).") from error
    finally:
        with suppress(OSError):  # it has been renamed, or could not be created
            part.unlink()


class UniqueNames:
    """Names that are given once: of files in a folder, or of anchors on a page.

    Examples
    --------
    >>> names = UniqueNames(["top"])
    >>> names.claim("data"), names.claim("Data"), names.claim("top")
    ('data', 'Data_2', 'top_2')
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {*taken}

    def claim(self, name: str) -> str:
        """Return ``name``, with a number if it is taken; upper and lower case are the same."""
        names = chain([name], (f"{name}_{k}" for k in count(2)))
        free = next(candidate for candidate in names if candidate.casefold() not in self._taken)
        self._taken.add(free.casefold())
        return free
