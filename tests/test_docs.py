"""The map from the paper to the code names things that are there."""

import re
from pathlib import Path

import pytest

import skliquid

ROOT = Path(__file__).parent.parent
MAP = (ROOT / "docs" / "from_paper_to_code.md").read_text()


def rows():
    for line in MAP.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        files = re.findall(r"`([^`]+\.py)`", cells[-1]) if cells else []
        if files:
            yield pytest.param(re.findall(r"`([^`]+)`", cells[-2]), files, id=cells[0][:40])


def path_of(name):
    return ROOT / name if name.startswith("tests/") else ROOT / "src" / "skliquid" / name


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
