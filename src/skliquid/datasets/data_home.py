"""Data home: the folder for datasets that do not come with the package, and their download."""

import io
import os
import zlib
from http.client import HTTPException
from pathlib import Path
from secrets import token_hex
from typing import IO
from urllib.request import urlopen
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

from skliquid.datasets.catalogue import CatalogueEntry

TIMEOUT = 30  # seconds to wait for UCI
MAX_BYTES = 64 << 20  # of a download and of an unpacked file; the datasets are a few megabytes
_ARCHIVE_ERRORS = (BadZipFile, EOFError, LookupError, RuntimeError, ValueError, zlib.error)


class DatasetNotAvailable(FileNotFoundError):  # noqa: N818 (the name says what is wrong)
    """The dataset is not on this machine and could not be downloaded."""


def data_home() -> Path:
    """Return the folder named by ``SKLIQUID_DATA_HOME``, or ``skliquid`` in the user's cache."""
    if chosen := os.environ.get("SKLIQUID_DATA_HOME"):
        return Path(chosen).expanduser()
    if os.name == "nt":
        cache = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    else:
        cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "skliquid"


def find(entry: CatalogueEntry) -> Path | None:
    """Return the file of the dataset in the data home, under our name for it or under UCI's."""
    names = (f"{entry.name}.csv", entry.file_name)
    paths = (data_home() / f"{name}{end}" for name in names for end in ("", ".gz", ".xz"))
    return next((path for path in paths if path.is_file()), None)


def download(entry: CatalogueEntry) -> bytes:
    """Return the dataset's file from UCI's archive."""
    try:
        with urlopen(entry.archive, timeout=TIMEOUT) as response:
            archive = _read_at_most(response, response.length)
        return _unpack(archive, entry.file_name)
    except (OSError, HTTPException, *_ARCHIVE_ERRORS) as error:
        raise DatasetNotAvailable(
            f"{entry.name} does not come with skliquid and could not be downloaded ({error}): put "
            f"the file {entry.file_name} of https://archive.ics.uci.edu/dataset/{entry.uci_id} "
            f"into {data_home()} and load it again."
        ) from error


def store(data: bytes, name: str) -> None:
    """Write a file of the data home, completely or not at all."""
    path = data_home() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{name}.{token_hex(4)}.part")
    try:
        part.write_bytes(data)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _unpack(archive: bytes, name: str) -> bytes:
    """Return a member of an untrusted zip archive."""
    with ZipFile(io.BytesIO(archive)) as members:
        member = members.getinfo(name)
        if member.compress_type not in (ZIP_STORED, ZIP_DEFLATED):  # others unpack without bounds
            raise BadZipFile(f"{name} is compressed by method {member.compress_type}")
        with members.open(member) as file:
            return _read_at_most(file, member.file_size)


def _read_at_most(file: IO[bytes], n_bytes: int | None) -> bytes:
    """Return all bytes of an open ``file``, or raise if there are more than the limit.

    ``n_bytes`` is the size that the file claims to have, if any.
    """
    data = file.read(MAX_BYTES + 1) if (n_bytes or 0) <= MAX_BYTES else b""
    if max(n_bytes or 0, len(data)) > MAX_BYTES:
        raise ValueError(f"it holds more than {MAX_BYTES >> 20} MB, the limit")
    return data
