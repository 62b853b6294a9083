"""locked: one process at a time writes a file, and a file beside it says which."""

import errno
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from skliquid.user_warnings import warn_user

_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
_LENGTH = 200
_HELD = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)

if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        os.lseek(descriptor, _LENGTH, os.SEEK_SET)  # what precedes it can be read by others
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Return a context for one writer of ``path`` at a time; a second one raises at once.

    The file ``path.lock`` names the process, the machine and the time. The operating system unlocks
    it when that process ends, even if it is killed; a lock file that is left behind locks nothing.
    """
    lock = path.with_name(f"{path.name}.lock")
    descriptor = _taken(lock, path)
    try:
        _write_who(descriptor, lock)
        yield
    finally:
        if os.name == "posix":  # elsewhere a file that is open cannot be removed
            lock.unlink(missing_ok=True)
        os.close(descriptor)


def _taken(lock: Path, path: Path) -> int:
    """Return the descriptor of the lock file, which is locked where that is possible."""
    while True:
        descriptor = _opened(lock)
        try:
            _lock(descriptor)
        except OSError as error:
            if error.errno in _HELD:
                who = _who(descriptor)
                os.close(descriptor)
                raise BlockingIOError(
                    f"One training at a time can write {path}: {who} has not ended. Wait for it, "
                    "stop it, or give another path."
                ) from error
            warn_user(
                f"{lock} cannot be locked here ({error.strerror}). Make sure that no other "
                f"training writes {path}."
            )
            return descriptor
        if _is_current(descriptor, lock):
            return descriptor
        os.close(descriptor)  # its last holder has removed it meanwhile


def _opened(lock: Path) -> int:
    with _naming(lock):
        return os.open(lock, _FLAGS, 0o666)


@contextmanager
def _naming(lock: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OSError(f"{lock} cannot be written ({error.strerror}).") from error


def _is_current(descriptor: int, lock: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), lock.stat())
    except FileNotFoundError:
        return False


def _write_who(descriptor: int, lock: Path) -> None:
    now = datetime.now().astimezone().isoformat(sep=" ", timespec="seconds")
    words = f"process {os.getpid()} on {socket.gethostname()}, started {now},"
    with _naming(lock):
        os.ftruncate(descriptor, 0)
        os.write(descriptor, words.encode()[:_LENGTH])


def _who(descriptor: int) -> str:
    """Return who holds the lock; the file may hold anything."""
    words = os.read(descriptor, _LENGTH).decode(errors="replace")
    return "".join(filter(str.isprintable, words)) or "another process"
