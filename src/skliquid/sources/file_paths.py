"""File paths: the data files of a source, and their format."""

import re
from collections.abc import Sequence
from hashlib import sha256
from os import SEEK_END, PathLike
from pathlib import Path

FORMATS = dict.fromkeys((".parquet", ".pq"), "Parquet")
FORMATS |= dict.fromkeys((".csv", ".csv.gz", ".tsv", ".tsv.gz"), "CSV")
"""The formats of files, by the end of their names."""

_QUERY = re.compile(r"\s*(select|with|from)\s", re.IGNORECASE)
_FINGERPRINT_BYTES = 1 << 16


def is_query(source: str | PathLike[str]) -> bool:
    """Return whether a source of data is a query in SQL, and not a path."""
    return isinstance(source, str) and bool(_QUERY.match(source))


def data_paths(source: str | PathLike[str]) -> list[Path]:
    """Return the file, or the data files of a folder by their names; none for a query."""
    if is_query(source):
        return []
    path = Path(source)
    if path.is_file():
        return [path]
    if not path.is_dir():
        problem = "is a broken link" if path.is_symlink() else f"is not, seen from {Path.cwd()}"
        raise FileNotFoundError(
            f"Data must be an existing file or folder, or a query that begins with SELECT: {path} "
            f"{problem}. Correct the path."
        )
    entries = [entry for entry in sorted(path.iterdir()) if not entry.name.startswith((".", "_"))]
    for entry in entries:  # these must not be ignored silently
        if entry.is_dir() and any(map(_is_data, entry.rglob("*"))):
            raise ValueError(
                f"A folder of data must hold its files directly: {entry} is a folder with data "
                "files. Give a folder without subfolders of data, or move the files."
            )
        if not entry.exists() and _is_data(entry):
            raise ValueError(f"Files of a folder must exist: {entry} is a broken link. Remove it.")
    paths = [entry for entry in entries if entry.is_file() and _is_data(entry)]
    if not paths:
        raise ValueError(
            f"A folder of data must hold files that end in {', '.join(FORMATS)}: {path} holds "
            "none. Correct the path."
        )
    return paths


def _is_data(path: Path) -> bool:
    return path.name.lower().endswith(tuple(FORMATS))


def format_of(paths: Sequence[Path]) -> str:
    """Return the one format of data files: "CSV" or "Parquet"."""
    formats = {FORMATS[end] for end in FORMATS for p in paths if p.name.lower().endswith(end)}
    if not formats:
        raise ValueError(
            f"A data file must end in {', '.join(FORMATS)}: {paths[0]} does not. Rename it, or "
            "write it in one of these formats."
        )
    if len(formats) > 1:
        raise ValueError(
            f"The files of a folder must be of one format: {paths[0].parent} holds CSV and "
            "Parquet. Move the files of one format."
        )
    return formats.pop()


def fingerprint(paths: Sequence[Path]) -> str:
    """Return a digest of the names, sizes, first and last bytes of files."""
    digest = sha256()
    for path in paths:
        size = path.stat().st_size
        digest.update(repr((path.name, size)).encode())
        with path.open("rb") as file:
            digest.update(file.read(_FINGERPRINT_BYTES))
            file.seek(-min(_FINGERPRINT_BYTES, size), SEEK_END)
            digest.update(file.read())
    return digest.hexdigest()
