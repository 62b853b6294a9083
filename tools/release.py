"""Prepare a release: its version and date in every file that has them, and its notes.

    python tools/release.py 0.2.0
    python tools/release.py --notes 0.2.0

The first command changes ``src/skliquid/__init__.py``, ``CITATION.cff`` and ``CHANGELOG.md``. The
second prints the section of the changelog, for the release on GitHub.
"""

import argparse
import datetime
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
UNRELEASED = "## [Unreleased]\n"


def prepare(version: str, date: str, root: Path = ROOT) -> None:
    """Write ``version`` and ``date`` into the files of the project."""
    if not re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", version):
        sys.exit(f"A version must be like 0.2.0 or 0.2.0rc1: got {version!r}.")
    if _section(version, root):
        sys.exit(f"CHANGELOG.md has a section for {version}. Choose the next version.")
    if not _section("Unreleased", root):
        sys.exit("CHANGELOG.md has nothing under Unreleased: there is nothing to release.")
    _replace(
        root / "src/skliquid/__init__.py", r'^__version__ = ".+"$', f'__version__ = "{version}"'
    )
    _replace(root / "CITATION.cff", r"^version: .+$", f"version: {version}")
    _replace(root / "CITATION.cff", r"^date-released: .+$", f"date-released: {date}")
    heading = f"{UNRELEASED}\n## [{version}] - {date}\n"
    _replace(root / "CHANGELOG.md", f"^{re.escape(UNRELEASED)}", heading)


def notes(version: str, root: Path = ROOT) -> str:
    """Return what the changelog says about ``version``."""
    return _section(version, root) or sys.exit(f"CHANGELOG.md has no section for {version}.")


def _section(version: str, root: Path) -> str:
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(
        rf"^## \[{re.escape(version)}\].*?\n(.*?)(?=^## \[|\Z)", text, re.MULTILINE | re.DOTALL
    )
    return found[1].strip() if found else ""


def _replace(path: Path, pattern: str, text: str) -> None:
    changed, count = re.subn(
        pattern, lambda _: text, path.read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    if count != 1:
        sys.exit(f"{path} must have one line like {pattern}: found {count}.")
    path.write_text(changed, encoding="utf-8")


def main() -> None:
    """Prepare the release, or print its notes."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("version", help="such as 0.2.0")
    parser.add_argument("--notes", action="store_true", help="print the section of the changelog")
    arguments = parser.parse_args()
    if arguments.notes:
        print(notes(arguments.version))
    else:
        prepare(arguments.version, datetime.datetime.now(datetime.UTC).date().isoformat())


if __name__ == "__main__":
    main()
