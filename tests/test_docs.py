"""Pages: the map from the paper to the code, decisions, links, commands."""

import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import skliquid

ROOT = Path(__file__).parent.parent
MAP = (ROOT / "docs" / "from_paper_to_code.md").read_text()
HOW_IT_IS_BUILT = (ROOT / "docs" / "how_it_is_built.md").read_text()
PAGES = [
    *ROOT.glob("*.md"),
    *(path for folder in (".github", "docs", "src") for path in (ROOT / folder).rglob("*.md")),
]


def rows():
    for line in MAP.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        files = re.findall(r"`([^`]+\.py)`", cells[-1]) if cells else []
        if files:
            yield pytest.param(re.findall(r"`([^`]+)`", cells[-2]), files, id=cells[0][:40])


def path_of(name):
    is_at_the_root = name.startswith(("tests/", "reproduction/"))
    return ROOT / name if is_at_the_root else ROOT / "src" / "skliquid" / name


@pytest.mark.parametrize(("names", "files"), list(rows()))
def test_every_name_stands_in_a_file_of_its_row(names, files):
    text = "".join(path_of(name).read_text() for name in files)
    for name in names:
        for word in re.findall(r"[A-Za-z_]+\w", name):
            assert word in text, f"{word} is not in {files}"


def test_every_line_of_algorithm_1_is_mapped():
    table = MAP.split("### Algorithm 1")[1].split("## 3.")[0]
    lines = set()
    for cell in re.findall(r"^\| ([\d, to]+) \|", table, flags=re.MULTILINE):
        for part in cell.split(","):
            ends = [int(number) for number in part.split(" to ")]
            lines.update(range(ends[0], ends[-1] + 1))
    assert lines == set(range(1, 28))


def test_every_decision_is_numbered_once():
    numbers = [path.name[:4] for path in sorted((ROOT / "docs" / "decisions").glob("*.md"))]
    assert numbers == [f"{i:04d}" for i in range(1, len(numbers) + 1)]


def test_changelog_and_citation_have_the_version_of_the_package():
    changelog = (ROOT / "CHANGELOG.md").read_text()
    released = re.findall(r"^## \[(\d[^]]*)\] - (\d{4}-\d\d-\d\d)$", changelog, re.MULTILINE)
    citation = (ROOT / "CITATION.cff").read_text()
    version = re.search(r"^version: (.+)$", citation, re.MULTILINE)[1]
    date = re.search(r"^date-released: (.+)$", citation, re.MULTILINE)[1]
    assert released[0] == (version, date)
    assert version == skliquid.__version__


def name_of(page):
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", sorted(PAGES), ids=name_of)
def test_links_between_pages_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{name_of(page)} links to {target}"


def test_the_map_of_the_source_is_current():
    command = [sys.executable, str(ROOT / "tools" / "source_map.py"), "--check"]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


def test_the_manual_names_files_and_names_that_exist():
    manual = HOW_IT_IS_BUILT.split("## The map")[0]
    package = ROOT / "src" / "skliquid"
    for path in re.findall(r"`([a-z_/]+(?:\.py|\.rst|\.md|/))`", manual):
        assert (package / path).exists() or (ROOT / path).exists(), path
    for name, path in re.findall(r"`([A-Za-z_]+)` of `([a-z_/]+\.py)`", manual):
        assert name in (package / path).read_text(), f"{name} is not in {path}"


def test_the_commands_of_getting_started_run_on_its_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "getting_started.md").read_text(encoding="utf-8")
    before, after = page.split("## Without a line of code")
    examples = doctest.DocTestParser().get_doctest(before, {}, "page", None, None).examples
    exec("".join(example.source for example in examples), {})
    commands = re.findall(r"^\$ skliquid (.+)$", after, re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        run = [sys.executable, "-m", "skliquid.cli", *shlex.split(command)]
        subprocess.run(run, check=True, capture_output=True)
    assert (tmp_path / "predictions.csv").read_text().count("\n") == 51


GUARANTEES = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "name", sorted(set(re.findall(r"`((?:reproduction/)?tests/[^`]+)`", GUARANTEES)))
)
def test_every_test_that_shows_a_guarantee_exists(name):
    path, _, test = name.partition("::")
    assert not test or f"def {test}(" in (ROOT / path).read_text(encoding="utf-8")
    assert (ROOT / path).is_file()


def test_every_command_that_shows_a_guarantee_exists():
    targets = set(re.findall(r"`make ([a-z-]+)`", GUARANTEES))
    scripts = set(re.findall(r"`python (stress/[a-z_]+\.py)`", GUARANTEES))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert {target for target in targets if f"\n{target}: " not in makefile} == set()
    assert {script for script in scripts if not (ROOT / script).is_file()} == set()
    assert len(targets) > 2
    assert len(scripts) > 5
