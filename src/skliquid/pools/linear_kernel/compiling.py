"""How functions are compiled, and kept on disk."""

from numba import njit


def compiled(fastmath=False):
    """Return a decorator that compiles a function, and keeps it on disk where it can."""

    def decorate(function):
        options = {"nogil": True, "error_model": "numpy", "fastmath": fastmath}
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:  # there is no folder that may be written to
            return njit(**options)(function)

    return decorate
