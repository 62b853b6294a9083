"""Pages: the map from the paper to the code, decisions, links, commands, figures, line lengths."""

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
PAGES = [
    *ROOT.glob("*.md"),
    *(path for folder in (".github", "docs", "src") for path in (ROOT / folder).rglob("*.md")),
]
LONGEST_LINE = 120
TERMS = [
    "concept drift",
    "diversity",
    "hyperparameter",
    "overfitting",
    "one-hot encoding",
    "refit",
    "calibration",
    "class imbalance",
    "per voter",
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
def test_no_line_is_longer_than_an_editor_shows(page):
    # docs/results holds tables that commands write, with as many columns as they need
    is_written_by_a_command = page.parent == ROOT / "docs" / "results"
    long = [
        number
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1)
        if len(line) > LONGEST_LINE and not (is_written_by_a_command and line.startswith("|"))
    ]
    assert long == [], f"{name_of(page)} has lines of more than {LONGEST_LINE} characters"


@pytest.mark.parametrize("page", sorted(PAGES), ids=name_of)
def test_links_between_pages_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{name_of(page)} links to {target}"


@pytest.mark.parametrize("term", TERMS)
def test_terms_that_people_search_for_are_in_the_docs(term):
    text = " ".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert term in re.sub(r"\s+", " ", text.lower())


def test_the_map_of_the_source_names_all_files_that_there_are():
    page = (ROOT / "docs" / "how_it_is_built.md").read_text()
    tables = page.split("## The map")[1].split("Imports point one way")[0]
    *rest, pools = tables.split("| in `pools/` | job |")
    package = ROOT / "src" / "skliquid"
    for part, folder in (("".join(rest), package), (pools, package / "pools")):
        cells = [line.split("|")[1] for line in part.splitlines() if line.startswith("| `")]
        named = {name.rstrip("/") for cell in cells for name in re.findall(r"`([^`]+)`", cell)}
        files = {path.name for path in folder.iterdir() if path.suffix == ".py" or path.is_dir()}
        assert named | {"__init__.py", "__pycache__"} == files | {"__init__.py", "__pycache__"}


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
    scripts = set(re.findall(r"`python (torture/[a-z_]+\.py)`", GUARANTEES))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert {target for target in targets if f"\n{target}: " not in makefile} == set()
    assert {script for script in scripts if not (ROOT / script).is_file()} == set()
    assert len(targets) > 2
    assert len(scripts) > 5


def test_every_guarantee_says_what_is_not_promised():
    table, *sections = re.split(r"^## ", GUARANTEES, flags=re.MULTILINE)
    promises = [section for section in sections if not section.startswith("Nowhere promised")]
    assert re.findall(r"\(#([a-z]+)\)", table) == [text.split()[0].lower() for text in promises]
    for promise in promises:
        assert "**Not promised:" in promise, promise.split()[0]


def first_table(text):
    """Return the first table of a text: cells by column, for each first cell of a row."""
    lines = re.search(r"(^\|.*\n)+", text, re.MULTILINE)[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: dict(zip(rows[0], row, strict=True)) for row in rows[2:]}


def number(cell):
    return float(cell.replace("∞", "inf"))


def test_the_advice_when_to_use_it_has_the_measured_figures():
    results = (ROOT / "docs" / "results" / "accuracy.md").read_text(encoding="utf-8")
    measured = first_table(results.split("## Further tables: means")[1])
    page = first_table((ROOT / "docs" / "when_to_use.md").read_text(encoding="utf-8"))
    rival = measured["LightGBM, 100 trees"]
    for method, cells in page.items():
        for name, error in (("accuracy", 6e-5), ("log-loss", 6e-4), ("ROC-AUC", 6e-4)):
            assert number(cells[name]) == pytest.approx(number(measured[method][name]), abs=error)
        for name, column in (("fit time", "fit, CPU ms"), ("predict time", "predict, ms")):
            ratio = number(measured[method][column]) / number(rival[column])
            assert number(cells[name]) == pytest.approx(ratio, abs=6e-3)


@pytest.mark.parametrize(
    "name", re.findall(r"\(([a-z_]+\.md)\)", (ROOT / "docs" / "user_guide.md").read_text())
)
def test_every_page_of_the_user_guide_has_examples_that_run(name):
    assert ">>> " in (ROOT / "docs" / name).read_text(encoding="utf-8")
