"""Bounded reading: a small file, or a server, may give far more bytes than fit into memory."""

import io
from collections.abc import Callable
from typing import Protocol

_BLOCK = 1 << 16


class TooLargeError(ValueError):
    """There are more bytes than are read."""


class Readable(Protocol):
    """What bytes are read from."""

    def read(self, size: int, /) -> bytes:
        """Return at most that many bytes, none at the end."""


def read_at_most(
    file: Readable, most: int, *, report: Callable[[int], None] = lambda _: None
) -> bytes:
    """Return all bytes of ``file``, or raise once they are more than ``most``.

    ``report`` is called with the number of bytes that were read since its last call.
    """
    data = io.BytesIO()
    while block := file.read(_BLOCK):
        data.write(block)
        check_size(data.tell(), most)
        report(len(block))
    return data.getvalue()


def check_size(n_bytes: int, most: int) -> None:
    """Raise if there are more bytes than ``most``."""
    if n_bytes > most:
        raise TooLargeError(f"it holds more than {most >> 20} MB, the most that is read")
