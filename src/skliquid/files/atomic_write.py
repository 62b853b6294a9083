"""atomic_write: a file that holds either all of its new content or all of the old."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from io import BufferedRandom
from pathlib import Path
from secrets import token_hex


@contextmanager
def atomic_write(path: Path) -> Iterator[BufferedRandom]:
    """Yield a new file that replaces ``path`` when the block ends; if it raises, nothing changes.

    The new file has a name of its own in the same folder. So writers do not disturb each other, and
    the last one to end wins. The file is on disk when the block is left.
    """
    if path.exists() and not path.is_file():  # renaming would remove a device such as /dev/null
        raise OSError(f"{path} cannot be written (it is not a regular file).")
    part = path.with_name(f".{path.name}.{token_hex(4)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("x+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
        _flush_folder(path.parent)
    except OSError as error:
        reason = error.strerror or str(error).strip().partition("\n")[0].rstrip(".")
        raise OSError(f"{path} cannot be written ({reason}).") from error
    finally:
        with suppress(OSError):  # it was renamed or never created
            part.unlink()


def replace_text(path: Path, text: str) -> None:
    """Write ``text`` to ``path`` in UTF-8, all of it or nothing."""
    with atomic_write(path) as file:
        file.write(text.encode())


def remove_leftovers(path: Path) -> None:
    """Remove the temporary files of killed processes; no process may be writing ``path``."""
    for part in path.parent.glob(f".{escape(path.name)}.*.part"):
        part.unlink(missing_ok=True)


def _flush_folder(folder: Path) -> None:
    if os.name != "posix":  # other systems cannot flush a folder
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # the file system does not support it
            raise
    finally:
        os.close(descriptor)
