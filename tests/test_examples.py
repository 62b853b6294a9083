"""The examples run, and print what they promise."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(example, *options):
    command = [sys.executable, EXAMPLES / example, *options]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_the_paper_s_ratio_is_compared_with_what_is_measured():
    printed = run("when_must_delegation_harm.py", "--states", "50")
    assert "paper's ratio" in printed
    assert "6.6e-114" in printed


@pytest.mark.slow
def test_other_readings_are_compared_with_what_is_published():
    printed = run("what_else_was_tried.py", "--datasets", "heart", "--trials", "1", "--jobs", "1")
    rows = [line.split(" | ") for line in printed.splitlines() if line]
    assert [row[0].strip("| ") for row in rows[2:4]] == ["published", "as reconstructed"]
    assert "features drawn with replacement" in printed
    assert rows[3][1:] != rows[-1][1:]


@pytest.mark.slow
def test_the_page_on_what_the_paper_did_not_say_can_be_checked(tmp_path):
    options = ("--datasets", "ionosphere", "--trials", "1", "--jobs", "1", "--out", str(tmp_path))
    printed = run("what_the_paper_did_not_say.py", *options)
    assert "20 features, any voter" in printed
    assert "ionosphere   31.7 to 32.8" in printed
    pictures = {path.name for path in tmp_path.iterdir()}
    assert pictures == {"unsaid_rules.png", "unsaid_numbers.png", "unsaid_epochs.png"}
