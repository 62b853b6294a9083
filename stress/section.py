"""A section of the stress test: something that is tried many times, and what came of it."""

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import date
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np
from rich.progress import track

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "out" / "stress"
MOST_FAILURES_SHOWN = 20
_SOURCES = (".py", ".cpp", ".hpp")

Table: TypeAlias = list[dict[str, Any]]
"""Rows, of which each has a cell for each column."""

sys.path.append(str(ROOT / "tests"))  # sections share clusters, mutations and odd input with tests


@dataclass
class Findings:
    """What a section found: paragraphs and tables of the page, and what broke a promise."""

    parts: list[str | Table] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    n_tried: int = 0


@dataclass
class Section:
    """A section: its name and title, how often it tries, and the function that does."""

    name: str
    title: str
    run: Callable[[int, np.random.Generator], Findings]
    times: int
    quick_times: int

    def main(self) -> None:
        """Run the section as its command line says, store what it found, and print it."""
        parser = argparse.ArgumentParser(description=self.title)
        size = parser.add_mutually_exclusive_group()
        size.add_argument("--times", type=int, default=self.times, help="how often (%(default)s)")
        size.add_argument("--quick", action="store_const", dest="times", const=self.quick_times)
        parser.add_argument("--seed", type=int, default=0)
        options = parser.parse_args()
        start = perf_counter()
        findings = self.run(options.times, np.random.default_rng(options.seed))
        sizes = {self.quick_times: "quick", self.times: "whole"}
        stored = {
            "title": self.title,
            "size": sizes.get(options.times, str(options.times)),
            "code": code_version(),
            "seed": options.seed,
            "date": date.today().isoformat(),
            "seconds": round(perf_counter() - start, 1),
            **asdict(findings),
            "failures": [without_folders(failure) for failure in findings.failures],
        }
        result_of(self.name).parent.mkdir(parents=True, exist_ok=True)
        result_of(self.name).write_text(json.dumps(stored, indent=1))
        print("\n".join(as_markdown(stored)))
        sys.exit(bool(findings.failures))


def without_folders(text: str) -> str:
    """Return a text with the names of files instead of their paths on this machine."""
    return re.sub(r"/(?:[^\s/:()'\"]+/)+", "", text)


def code_version() -> str:
    """Return a hash of the sources of the package and of the stress test."""
    digest = sha256()
    for folder in ("src", "stress"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in _SOURCES:
                digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def result_of(name: str) -> Path:
    """Return the file that holds what a section found."""
    return RESULTS / f"{name}.json"


def as_markdown(stored: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of a section of the page."""
    yield f"## {stored['title']}"
    yield ""
    for part in stored["parts"]:
        yield from (*([part] if isinstance(part, str) else _table(part)), "")
    failures = stored["failures"]
    yield f"**Failures: {len(failures)}.**" if failures else "Failures: none."
    yield ""
    yield from (f"- {failure}" for failure in failures[:MOST_FAILURES_SHOWN])
    if len(failures) > MOST_FAILURES_SHOWN:
        yield f"- and {len(failures) - MOST_FAILURES_SHOWN} more"


def _table(rows: Table) -> Iterator[str]:
    columns = list(rows[0])
    yield "| " + " | ".join(columns) + " |"
    yield "|" + "---|" * len(columns)
    for row in rows:
        yield "| " + " | ".join(str(row[column]) for column in columns) + " |"


def with_progress(
    tries: Iterable[Any], description: str, total: int | None = None
) -> Iterable[Any]:
    """Iterate over what is tried, with a bar on the screen."""
    return track(tries, description, total=total)
