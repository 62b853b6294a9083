"""The examples run, and print what they promise."""

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(example, *options):
    command = [sys.executable, EXAMPLES / example, *options]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_the_main_job_compares_all_mechanisms_and_adaboost():
    printed = run("compare_mechanisms.py", "--trials", "2", "--jobs", "1", "--datasets", "wine")
    for word in ("direct", "random", "max", "random_better", "proportional_better"):
        assert word in printed
    for word in ("proportional_weighted", "AdaBoost", "accuracy", "macro F1", "majority", "100%"):
        assert word in printed


def test_the_paper_s_ratio_is_compared_with_what_is_measured():
    printed = run("when_must_delegation_harm.py", "--states", "50")
    assert "paper's ratio" in printed
    assert "6.6e-114" in printed
