"""File locks: only one process writes a file; a lock file next to it names that process."""

import errno
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from skliquid.validation.checks import printable
from skliquid.validation.user_warnings import warn_user

_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
_LENGTH = 200
_HELD = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)

if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        os.lseek(descriptor, _LENGTH, os.SEEK_SET)  # the bytes before it can be read by others
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def file_lock(path: Path) -> Iterator[None]:
    """Let one process at a time write ``path``; a second one raises ``BlockingIOError``.

    The file ``path.lock`` names the process, the machine and the time. The operating system unlocks
    it when that process ends, even if it is killed; a lock file that is left behind locks nothing.
    """
    lock = path.with_name(f"{path.name}.lock")
    descriptor = _acquire(lock, path)
    try:
        _write_holder(descriptor, lock)
        yield
    finally:
        if os.name == "posix":  # elsewhere a file that is open cannot be removed
            lock.unlink(missing_ok=True)
        os.close(descriptor)


def _acquire(lock: Path, path: Path) -> int:
    """Return the descriptor of the lock file, locked if the file system allows it."""
    while True:
        with _name_in_errors(lock):
            descriptor = os.open(lock, _FLAGS, 0o666)
        try:
            _lock(descriptor)
        except OSError as error:
            if error.errno in _HELD:
                holder = _read_holder(descriptor)
                os.close(descriptor)
                raise BlockingIOError(
                    f"One training at a time can write {path}: {holder} has not ended. Wait for "
                    "it, stop it, or give another path."
                ) from error
            warn_user(
                f"{lock} cannot be locked here ({error.strerror}). Make sure that no other "
                f"training writes {path}."
            )
            return descriptor
        if _is_current(descriptor, lock):
            return descriptor
        os.close(descriptor)  # its last holder has removed it meanwhile


@contextmanager
def _name_in_errors(lock: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OSError(f"{lock} cannot be written ({error.strerror}).") from error


def _is_current(descriptor: int, lock: Path) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(descriptor), lock.stat())
    return False


def _write_holder(descriptor: int, lock: Path) -> None:
    now = datetime.now().astimezone().isoformat(sep=" ", timespec="seconds")
    holder = f"process {os.getpid()} on {socket.gethostname()}, started {now},"
    with _name_in_errors(lock):
        os.ftruncate(descriptor, 0)
        os.write(descriptor, holder.encode()[:_LENGTH])


def _read_holder(descriptor: int) -> str:
    """Return the process that holds the lock; the file may hold anything."""
    text = os.read(descriptor, _LENGTH).decode(errors="replace")
    return printable(text) or "another process"


def check_owner(path: Path, *, parameter: str) -> None:
    """Raise unless the current user owns the file. Not checked on Windows."""
    if sys.platform == "win32":  # owners are not numbers
        return
    owner, user = path.stat().st_uid, os.geteuid()
    if owner != user:
        raise PermissionError(
            f"{parameter} must belong to you, user {user}: {path} belongs to user {owner}. Copy it "
            "if you trust that user, or start from scratch with restart=True (--restart)."
        )
