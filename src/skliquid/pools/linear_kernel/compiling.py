"""How functions are compiled, and kept on disk."""

import zlib
from importlib import resources

from numba import njit


def _fingerprint():
    """Return a number that changes with any source that compiled code is made of."""
    pools = resources.files("skliquid.pools")
    sources = [*pools.joinpath("linear_kernel").iterdir(), pools.joinpath("linear_reference.py")]
    texts = [each.read_bytes() for each in sources if each.name.endswith(".py") and each.is_file()]
    return zlib.crc32(b"".join(sorted(texts)))


_FINGERPRINT = f"{_fingerprint():08x}"


def compiled(fastmath=False):
    """Return a decorator that compiles a function, and keeps it on disk where it can.

    What is kept holds code of other files too, while numba looks for changes in that of the
    function alone: so all of them are in its name.
    """

    def decorate(function):
        function.__qualname__ += f"-{_FINGERPRINT}"
        options = {"nogil": True, "error_model": "numpy", "fastmath": fastmath}
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:  # there is no folder that may be written to
            return njit(**options)(function)

    return decorate
