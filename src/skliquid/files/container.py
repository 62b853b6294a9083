"""The container: one JSON document and arrays, as a safetensors file with a digest.

The arrays are tensors named ``"0"``, ``"1"`` and so on. The document is the tensor ``"document"``,
as UTF-8. The metadata has one entry, ``"skliquid"``: the version of the format, a blank, and the
SHA-256 of the file, computed with zeros in place of these 64 digits.
"""

from hashlib import sha256
from math import prod
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skliquid.validation.checks import missing_extra


class ModelFileError(ValueError):
    """A file without a valid model, or a model that files cannot store."""


FIRST_VERSION, VERSION = 3, 5
"""The oldest version of the format that is read, and the one that is written. The latter is raised
when earlier versions of skliquid can no longer read new files; the former stays."""

DTYPES = {"F64": "<f8", "F32": "<f4", "BOOL": "|b1"}
DTYPES |= {"I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1"}
DTYPES |= {"U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1"}
"""Types of arrays: the names of safetensors, and those of numpy."""

_DOCUMENT, _KEY, _NO_DIGEST = "document", "skliquid", "0" * 64
_MAX_HEADER = 100_000_000  # bytes, the limit of safetensors
_CHUNK, _BYTES_PER_ARRAY = 2**20, 512


class Content(NamedTuple):
    """The content of a file: a document in JSON, and arrays."""

    text: bytes
    arrays: list[NDArray[Any]]


def write(content: Content, file: BinaryIO) -> None:
    """Write a document and its arrays to an empty file."""
    tensors = {str(k): array for k, array in enumerate(content.arrays)}
    tensors[_DOCUMENT] = np.frombuffer(content.text, dtype=np.uint8)
    data = _safetensors().numpy.save(tensors, metadata={_KEY: f"{VERSION} {_NO_DIGEST}"})
    start = data.index(_NO_DIGEST.encode())
    file.write(data[:start])
    file.write(sha256(data).hexdigest().encode())
    file.write(data[start + len(_NO_DIGEST) :])


def read(path: Path) -> Content:
    """Return the content of a file, after all checks of the container.

    The arrays are memory-mapped: copy those that are kept.
    """
    try:
        data = np.asarray(np.memmap(path, dtype=np.uint8, mode="r"))
    except (ValueError, OSError) as error:
        problem = getattr(error, "strerror", None) or "it is empty"
        raise ModelFileError(f"{path} cannot be read: {problem}.") from error
    tensors = _read_tensors(path, data)
    document = tensors.pop(_DOCUMENT, None)
    if document is None or document.dtype != np.uint8:
        raise _damaged(path, "it has no document")
    if tensors.keys() != {str(k) for k in range(len(tensors))}:
        raise _damaged(path, "its arrays are not numbered")
    return Content(document.tobytes(), [tensors[str(k)] for k in range(len(tensors))])


def _read_tensors(path: Path, data: NDArray[np.uint8]) -> dict[str, NDArray[Any]]:
    """Return arrays by name, after the checks of safetensors and of the digest."""
    safetensors = _safetensors()
    try:
        with safetensors.safe_open(path, framework="np") as opened:
            names = list(opened.offset_keys())
            if _BYTES_PER_ARRAY * len(names) > 2 * len(data) + 2**22:
                raise _damaged(path, "it has too many arrays for its size")
            slices = [opened.get_slice(name) for name in names]
            layout = [(DTYPES.get(str(s.get_dtype())), s.get_shape()) for s in slices]
            metadata = opened.metadata() or {}
    except (safetensors.SafetensorError, OSError) as error:
        raise ModelFileError(
            f"{path} must be a model file of skliquid: {error}. Give another path, restore a copy, "
            "or save the model again."
        ) from error
    end = 8 + int.from_bytes(data[:8].tobytes(), "little")
    _check_metadata(path, metadata, data, min(end, _MAX_HEADER))
    tensors = {}
    for name, (dtype, shape) in zip(names, layout, strict=True):
        if dtype is None:
            raise _damaged(path, "it has an array of an unknown type")
        start, end = end, end + np.dtype(dtype).itemsize * prod(shape)
        try:
            tensors[name] = data[start:end].view(dtype).reshape(shape)
        except ValueError as error:
            raise _damaged(path, "it has an array of an invalid shape") from error
    if end != len(data):
        raise _damaged(path, "its length differs from that in its header")
    return tensors


def _check_metadata(
    path: Path, metadata: dict[str, str], data: NDArray[np.uint8], n_header: int
) -> None:
    version, _, digest = metadata.get(_KEY, "").partition(" ")
    if set(metadata) != {_KEY} or not version.isdecimal() or not version.isascii():
        raise ModelFileError(
            f"{path} must be a model file of skliquid: it is another safetensors file. Give "
            "another path."
        )
    if not FIRST_VERSION <= int(version[:9]) <= VERSION:
        raise ModelFileError(
            f"{path} must have version {FIRST_VERSION} to {VERSION} of the file format: it has "
            f"version {version[:9]}. Install a version of skliquid that reads it, or train again."
        )
    start = data[:n_header].tobytes().find(digest.encode())
    if len(digest) != len(_NO_DIGEST) or _digest(data, start) != digest:
        raise _damaged(path, "its digest does not match")


def _digest(data: NDArray[np.uint8], start: int) -> str:
    """Return the digest of a file, with zeros in place of the digits from ``start`` on."""
    found, end = sha256(data[:start].tobytes()), start + len(_NO_DIGEST)
    found.update(_NO_DIGEST.encode())
    for k in range(end, len(data), _CHUNK):
        found.update(data[k : k + _CHUNK].tobytes())
    return found.hexdigest()


def _damaged(path: Path, problem: str) -> ModelFileError:
    return ModelFileError(
        f"{path} must be unchanged since it was written: {problem}. Restore a copy, or save the "
        "model again."
    )


def _safetensors() -> Any:
    try:
        import safetensors.numpy  # noqa: PLC0415 (of an extra)
    except ImportError as error:
        raise missing_extra("A model file", "safetensors", "files") from error
    return safetensors
