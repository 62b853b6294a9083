"""The page of results: all sections, with versions and the kind of machine."""

import json
import os
import platform
from collections.abc import Iterator, Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path
from textwrap import fill
from typing import Any

from section import as_markdown, result_of
from threadpoolctl import threadpool_info
from trainings import blas_kernels

import skliquid
from skliquid import native

PACKAGES = ("numpy", "scipy", "scikit-learn", "joblib", "distributed", "pyarrow")
INTRODUCTION = (
    "`make stress` tries to break what [Guarantees](../guarantees.md) promises, and writes this "
    "page. Each section can be run alone: `python stress/kills.py --times 5`. A failure is an "
    "outcome that a promise rules out."
)


def write_page(path: Path, names: Sequence[str]) -> int:
    """Write what the sections found; return the number of failures."""
    stored = {name: json.loads(result_of(name).read_text()) for name in names}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(_lines(stored)) + "\n", encoding="utf-8")
    return sum(len(section["failures"]) for section in stored.values())


def _lines(stored: dict[str, Any]) -> Iterator[str]:
    yield from ("# Stress", "", fill(INTRODUCTION, 120), "")
    yield from (fill(f"{date.today()}. {_versions()}. {_machine()}.", 120), "")
    yield from ("| section | tried | minutes | failures |", "|---|---|---|---|")
    for section in stored.values():
        title, minutes = section["title"], f"{section.get('seconds', 0) / 60:.1f}"
        link = f"[{title}](#{title.lower().replace(' ', '-')})"
        n_failures = len(section["failures"])
        yield f"| {link} | {section['n_tried']:,} | {minutes} | {n_failures} |"
    for section in stored.values():
        yield ""
        for line in as_markdown(section):
            yield line if line.startswith("|") else fill(line, 120, subsequent_indent="")


def _versions() -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return f"skliquid {skliquid.__version__}, Python {platform.python_version()}, {packages}"


def _machine() -> str:
    blas = {
        f"{i['internal_api']} {i['version']}" for i in threadpool_info() if i["user_api"] == "blas"
    }
    return (
        f"{platform.system()} on {platform.machine()}, {os.cpu_count()} cores, instructions "
        f"{native.instructions()}; BLAS: {', '.join(sorted(blas))}, kernels {blas_kernels()}"
    )
