"""File paths: the data files of a folder and their format, and the paths of results."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryFile

from skliquid.streams.csv_dialect import GivenDialect
from skliquid.streams.csv_format import CsvFormat
from skliquid.streams.parquet_format import ParquetFormat

FORMATS = dict.fromkeys((".parquet", ".pq"), "Parquet")
FORMATS |= dict.fromkeys((".csv", ".csv.gz", ".tsv", ".tsv.gz"), "CSV")
"""The formats of files, by the end of their names."""


def data_paths(path: Path) -> list[Path]:
    """Return the file, or the data files of a folder in the order of their names."""
    if path.is_file():
        return [path]
    if not path.is_dir():
        problem = "is a broken link" if path.is_symlink() else f"is not, seen from {Path.cwd()}"
        raise FileNotFoundError(
            f"path must be an existing file or folder: {path} {problem}. Correct the path."
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


def format_of(paths: Sequence[Path], given: GivenDialect) -> CsvFormat | ParquetFormat:
    """Return the reader of ``paths``, all of one format; ``given`` is for CSV files."""
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
    if formats == {"CSV"}:
        return CsvFormat(given.validate())
    if given != GivenDialect():
        raise ValueError(
            "separator, decimal and encoding are for CSV files (--sep, --decimal, --encoding): "
            f"{paths[0]} is a Parquet file. Leave them out."
        )
    return ParquetFormat()


# Results


def check_output(path: Path, inputs: Sequence[Path], *, name: str) -> None:
    """Raise unless ``path`` can be written without overwriting inputs; create its folder."""
    if path.exists() and not path.is_file():
        problem = (
            "a folder. Give a name in it" if path.is_dir() else "a device or a pipe. Rename it"
        )
        raise ValueError(f"{name} must be a file: {path} is {problem}.")
    if any(_is_same(path, other) for other in inputs):
        raise ValueError(
            f"{name} must not be a file that is needed: {path} would be overwritten. Rename it."
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise ValueError(
            f"{name} must be in a folder that can be written to: {path.parent} is not "
            f"({error.strerror}). Give another name."
        ) from error


def _is_same(path: Path, other: Path) -> bool:
    if path.exists() and other.exists():
        return path.samefile(other)
    return path.absolute() == other.absolute()


def default_name(data: Path) -> str:
    """Return the name of the model of a file or folder: ``sales.skliquid`` for ``sales.csv``."""
    stem = data.resolve().name or "model"
    ending = next((end for end in FORMATS if stem.lower().endswith(end)), "")
    return f"{stem[: len(stem) - len(ending)]}.skliquid"
