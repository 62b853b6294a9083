"""Run all sections of the stress test, and write the page of results.

``python stress/run.py --quick`` shows in minutes that each section works; ``--only kills disk``
chooses sections, and ``--resume`` leaves out those that are stored already, of the same code.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

from page import write_page
from section import RESULTS, ROOT, code_version, result_of

SECTIONS = ("kills", "files", "input", "disk", "determinism", "soak", "threads")


def is_stored(name: str, size: str) -> bool:
    """Return whether there is a result of a section, of this size and of this code."""
    if not result_of(name).exists():
        return False
    stored = json.loads(result_of(name).read_text())
    return (stored.get("size"), stored.get("code")) == (size, code_version())


def run_section(name: str, size: str) -> None:
    """Run a section in a process of its own, so that a crash of it is a result like others."""
    result_of(name).unlink(missing_ok=True)
    words = ["--quick"] if size == "quick" else []
    script = str(ROOT / "stress" / f"{name}.py")
    code = subprocess.run([sys.executable, script, *words], check=False).returncode
    if not result_of(name).exists():
        failure = f"`python stress/{name}.py` ended with exit code {code} and without a result"
        stored = {"title": name.capitalize(), "size": size, "code": code_version()}
        stored |= {"n_tried": 0, "parts": [], "failures": [failure]}
        result_of(name).write_text(json.dumps(stored))


def main() -> None:
    """Run the sections that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a few tries of each")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS, metavar="SECTION")
    parser.add_argument("--resume", action="store_true", help="keep results that are stored")
    parser.add_argument("--page", type=Path, help="where to write the page of results")
    options = parser.parse_args()
    size = "quick" if options.quick else "whole"
    RESULTS.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(options.only, start=1):
        if not (options.resume and is_stored(name, size)):
            print(f"\n[{number} of {len(options.only)}] {name}", flush=True)
            run_section(name, size)
    page = options.page or RESULTS / "stress.md"
    n_failures = write_page(page, [name for name in SECTIONS if is_stored(name, size)])
    print(f"\n{n_failures} failures. Results: {page}")
    sys.exit(bool(n_failures))


if __name__ == "__main__":
    main()
