"""``skliquid datasets`` and ``skliquid mechanisms``."""

import subprocess
import sys

import pytest


def test_lists(type_in, monkeypatch, tmp_path):
    monkeypatch.setenv("SKLIQUID_DATA_HOME", str(tmp_path / "home"))
    assert "proportional_weighted" in type_in("mechanisms")
    printed = type_in("datasets")
    assert "online-shoppers" in printed
    assert "12330" not in printed
    assert "won: 1669, nowin: 1527" in printed


def test_lists_are_not_cut_on_narrow_screens_or_in_pipes(type_in, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert "won: 1669, nowin: 1527" in type_in("datasets")
    assert "Select the representatives with the lowest competence" in type_in("mechanisms")
    monkeypatch.setenv("FORCE_COLOR", "1")  # as if on a screen
    printed = type_in("datasets") + type_in("mechanisms")
    for word in ("breast-cancer-w", "20560", "nowin: 1527", "proportional_weighted"):
        assert word in printed
    assert "…" not in printed
    assert max(map(len, printed.splitlines())) == 80


def test_without_the_extra_a_sentence_names_it():
    code = (
        "import sys; sys.modules['typer'] = None; from skliquid.cli import main; "
        "sys.argv = ['skliquid', 'datasets']; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install '.[stream]'" in done.stderr


@pytest.mark.parametrize("words", [["--help"], ["train", "--help"]])
def test_help_imports_only_the_command_line(words):
    code = (
        f"import sys; sys.argv = ['skliquid', *{words}]; from skliquid.cli import main\n"
        "try:\n    main()\nfinally:\n"
        "    print({'numpy', 'pandas', 'pyarrow', 'sklearn'} & set(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Usage" in done.stdout
    assert done.stderr == "set()\n"
