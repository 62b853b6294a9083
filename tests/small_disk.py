"""A disk that is too small, without being root: no file may grow beyond a size."""

from contextlib import contextmanager

import pytest

resource = pytest.importorskip("resource", reason="limits are those of POSIX")


@contextmanager
def small_disk(n_bytes):
    """Let writing raise OSError where a file would become larger than ``n_bytes``."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
