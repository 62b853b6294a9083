"""Examples on pages write their files into a folder of their own, and show no windows."""

import os
import sys

import pytest

os.environ.setdefault("MPLBACKEND", "agg")

collect_ignore = ["conf.py", "_ext", "auto_examples"]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
