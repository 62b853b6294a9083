"""Mapped files: arrays that lie in a file, which may have become shorter than they are."""

import mmap
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

_PARTS = ("data", "indices", "indptr", "row", "col", "offsets")  # of sparse matrices


def refuse_cut_file(name: str, data: Any) -> None:
    """Raise when numbers of ``data`` lie behind the end of the file that they are mapped from.

    Reading them would end the process: the operating system sends SIGBUS.
    """
    parts = [getattr(data, part, None) for part in _PARTS] if scipy.sparse.issparse(data) else []
    for array in [data, *parts]:
        if isinstance(array, np.ndarray) and array.base is not None and array.size:
            _check_ends_in_file(name, array)


def _check_ends_in_file(name: str, array: NDArray[Any]) -> None:
    start, path, mapped = 0, "its file", None
    for mapped in _bases(array):
        if isinstance(mapped, np.memmap):
            start = mapped.offset - mapped.offset % mmap.ALLOCATIONGRANULARITY
            path = str(mapped.filename or path)
    if not isinstance(mapped, mmap.mmap):
        return
    first = np.frombuffer(mapped, np.uint8).ctypes.data
    steps = zip(array.shape, array.strides, strict=True)
    reach = sum((n - 1) * step for n, step in steps if step > 0)
    end, size = start + array.ctypes.data + reach + array.itemsize - first, _size(mapped)
    if size is not None and end > size:
        raise ValueError(
            f"{name} must lie within the file that it is mapped from: it ends at byte {end:,}, and "
            f"{path} has {size:,}. Write the file again, or map fewer rows."
        )


def _size(mapped: mmap.mmap) -> int | None:
    """Return the size of the file now; None for memory that is not of a file."""
    try:
        return mapped.size()
    except OSError:
        return None


def _bases(array: Any) -> Iterator[Any]:
    """Yield what owns the memory of an array: other arrays, and last a mapped file or bytes."""
    while array is not None:
        yield array
        array = array.obj if isinstance(array, memoryview) else getattr(array, "base", None)
