"""A release: versions, dates and notes."""

import shutil
from pathlib import Path

import pytest

from tools import release

ROOT = Path(__file__).parent.parent
FILES = ["src/skliquid/__init__.py", "CITATION.cff", "CHANGELOG.md"]


@pytest.fixture
def project(tmp_path):
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    text = text.replace(release.UNRELEASED, f"{release.UNRELEASED}\n### Added\n\n- A new name.\n")
    (tmp_path / "CHANGELOG.md").write_text(text, encoding="utf-8")
    return tmp_path


def test_a_release_has_its_version_and_date_in_every_file(project):
    release.prepare("98.7.0", "2030-02-01", project)
    package, citation, changelog = [(project / name).read_text() for name in FILES]
    assert '\n__version__ = "98.7.0"\n' in package
    assert "\nversion: 98.7.0\ndate-released: 2030-02-01\n" in citation
    assert "\n## [Unreleased]\n\n## [98.7.0] - 2030-02-01\n\n### Added\n" in changelog


def test_its_notes_are_its_section_of_the_changelog(project):
    release.prepare("98.7.0", "2030-02-01", project)
    notes = release.notes("98.7.0", project)
    assert notes.startswith("### Added\n\n- A new name.\n")
    assert "\n## " not in notes


@pytest.mark.parametrize(
    ("version", "message"),
    [("0.2", "must be like 0.2.0"), ("0.1.0", "Choose the next version")],
)
def test_a_version_that_cannot_be_released_changes_nothing(project, version, message):
    before = [(project / name).read_bytes() for name in FILES]
    with pytest.raises(SystemExit, match=message):
        release.prepare(version, "2030-02-01", project)
    assert [(project / name).read_bytes() for name in FILES] == before


def test_a_release_needs_a_change(project):
    release.prepare("98.7.0", "2030-02-01", project)
    with pytest.raises(SystemExit, match="nothing to release"):
        release.prepare("98.8.0", "2030-02-02", project)
