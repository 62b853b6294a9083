"""The container: one JSON document and arrays, as a safetensors file with a digest.

The arrays are tensors named ``"0"``, ``"1"`` and so on, and the document is the tensor
``"document"``, as UTF-8. The only metadata are ``"skliquid"``: the version of the format, a blank,
and the SHA-256 of the file in which these 64 digits are zeros.
"""

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skliquid.model_file.errors import ModelFileError

VERSION = 1
"""The version of the format, raised when older versions of skliquid can no longer read it."""

DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "|i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "|u1",
    "BOOL": "|b1",
}
"""Types of arrays: what safetensors calls them, and numpy."""

_DOCUMENT, _KEY, _NO_DIGEST = "document", "skliquid", "0" * 64
_LONGEST_HEADER = 100_000_000  # that safetensors reads
_BYTES_AT_ONCE = 2**20
_BYTES_OF_A_PART, _ROOM = 64, 2**22  # that Python needs for an empty list, and for a small file


class Content(NamedTuple):
    """What a file holds."""

    document: Any
    arrays: list[NDArray[Any]]


def write(content: Content, file: BinaryIO) -> None:
    """Write a document and its arrays to a file that is empty, and can be read."""
    save = _safetensors().numpy.save
    text = json.dumps(content.document, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    tensors = {str(k): array for k, array in enumerate(content.arrays)}
    tensors[_DOCUMENT] = np.frombuffer(text.encode(), dtype=np.uint8)
    data = save(tensors, metadata={_KEY: f"{VERSION} {_NO_DIGEST}"})
    at = data.index(_NO_DIGEST.encode())
    file.write(data[:at])
    file.write(sha256(data).hexdigest().encode())
    file.write(data[at + len(_NO_DIGEST) :])


def read(path: Path) -> Content:
    """Return what is in a file; its arrays are memory-mapped: copy what is to stay."""
    try:
        whole = np.memmap(path, dtype=np.uint8, mode="r")
    except (ValueError, OSError) as error:
        problem = getattr(error, "strerror", None) or "it is empty"
        raise ModelFileError(f"{path} cannot be read: {problem}.") from error
    names, tensors = _tensors(path, whole)
    if _DOCUMENT not in names or tensors[names.index(_DOCUMENT)].dtype != np.uint8:
        raise _damaged(path, "it has no document")
    by_name = dict(zip(names, tensors, strict=True))
    document = by_name.pop(_DOCUMENT)
    try:
        arrays = [by_name[str(k)] for k in range(len(by_name))]
        return Content(_parsed(document.tobytes(), len(whole)), arrays)
    except (ValueError, KeyError, RecursionError) as error:
        raise _damaged(path, str(error)) from error


def _tensors(path: Path, whole: NDArray[np.uint8]) -> tuple[list[str], list[NDArray[Any]]]:
    """Return names and arrays, after the checks of safetensors and of the digest."""
    safetensors = _safetensors()
    try:
        with safetensors.safe_open(path, framework="np") as opened:
            names: list[str] = list(opened.offset_keys())
            slices = [opened.get_slice(name) for name in names]
            layout = [(DTYPES.get(str(s.get_dtype())), s.get_shape()) for s in slices]
            metadata = opened.metadata() or {}
    except (safetensors.SafetensorError, OSError) as error:
        raise ModelFileError(
            f"{path} must be a model file of skliquid, and whole: {error}. Give another path, "
            "restore a copy, or save the model again."
        ) from error
    at = 8 + int.from_bytes(whole[:8].tobytes(), "little")
    _check_metadata(path, metadata, whole, min(at, _LONGEST_HEADER))
    tensors = []
    for dtype, shape in layout:
        if dtype is None:
            raise _damaged(path, "it has an array of an unknown type")
        n_bytes = np.dtype(dtype).itemsize * _product(shape)
        tensors.append(whole[at : at + n_bytes].view(dtype).reshape(shape))
        at += n_bytes
    if at != len(whole):
        raise _damaged(path, "it has another length than its header says")
    return names, tensors


def _check_metadata(
    path: Path, metadata: dict[str, str], whole: NDArray[np.uint8], n_header: int
) -> None:
    version, _, digest = metadata.get(_KEY, "").partition(" ")
    if set(metadata) != {_KEY} or not version.isdecimal() or not version.isascii():
        raise ModelFileError(
            f"{path} must be a model file of skliquid: it is another safetensors file. Give "
            "another path."
        )
    if int(version[:9]) != VERSION:
        raise ModelFileError(
            f"{path} must have version {VERSION} of the file format: it has version {version[:9]}. "
            "Install a version of skliquid that reads it, or train again."
        )
    header = whole[:n_header].tobytes()
    at = header.find(digest.encode())
    if len(digest) != len(_NO_DIGEST) or _digest(whole, at) != digest:
        raise _damaged(path, "its digest does not match")


def _digest(whole: NDArray[np.uint8], at: int) -> str:
    """Return the digest of a file in which that at position ``at`` is zeros."""
    found, end = sha256(whole[:at].tobytes()), at + len(_NO_DIGEST)
    found.update(_NO_DIGEST.encode())
    for start in range(end, len(whole), _BYTES_AT_ONCE):
        found.update(whole[start : start + _BYTES_AT_ONCE].tobytes())
    return found.hexdigest()


def _parsed(text: bytes, n_bytes: int) -> Any:
    """Return a JSON document, in which no key is repeated and all numbers are finite."""
    if _BYTES_OF_A_PART * (text.count(b"[") + text.count(b"{")) > 2 * n_bytes + _ROOM:
        raise ValueError("its document has too many parts")
    return json.loads(text.decode(), object_pairs_hook=_distinct, parse_constant=_refuse)


def _distinct(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("its document repeats a key")
    return found


def _refuse(constant: str) -> Any:
    raise ValueError(f"its document holds {constant}")


def _product(shape: Sequence[int]) -> int:
    product = 1
    for length in shape:
        product *= length
    return product


def _damaged(path: Path, problem: str) -> ModelFileError:
    return ModelFileError(
        f"{path} must be unchanged since it was written: {problem}. Restore a copy, or save the "
        "model again."
    )


def _safetensors() -> Any:
    try:
        import safetensors.numpy  # noqa: PLC0415 (of an extra)
    except ImportError as error:
        raise ImportError(
            "Model files need safetensors, which is not installed: pip install 'skliquid[files]'."
        ) from error
    return safetensors
