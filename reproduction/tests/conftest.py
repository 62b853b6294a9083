"""Files for tests: tables of a user, and experiments."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from chromium import chromium  # noqa: F401 (a fixture)

from reproduction.tests.small_results import SMALL
from reproduction.trial import Trial

DEADLY = """
import os, signal, pathlib, time
from skliquid.mechanisms import Mechanism
from skliquid.mechanisms.probability import better
from skliquid.mechanisms.selection import least_competent


def killed(gain, weight):
    os.kill(os.getpid(), signal.SIGKILL)


def killed_once(gain, weight):
    mark = pathlib.Path(os.environ["KILLED_ONCE"])
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return better(gain, weight)


def failing(gain, weight):
    raise RuntimeError("no way")


def sleeping(gain, weight):
    time.sleep(300)


always, once, wrong, endless = (
    Mechanism(least_competent, f) for f in (killed, killed_once, failing, sleeping)
)
"""


@pytest.fixture(autouse=True)
def _importable_in_other_processes(monkeypatch):
    paths = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))


@pytest.fixture
def table(tmp_path):
    """A small dataset of a user, with a category and missing cells."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=160) > 0, "yes", "no")
    words = rng.choice(["red", "blue"], size=160)
    lines = [
        f"{a:.3f},{b:.3f},{c:.3f},{word},{label}"
        for (a, b, c), word, label in zip(X, words, y, strict=True)
    ]
    lines[3] = lines[3].replace(lines[3].split(",")[1], "?", 1)
    path = tmp_path / "own.csv"
    path.write_text("\n".join(["a,b,c,colour,class", *lines]) + "\n")
    return path


@pytest.fixture
def two_targets(tmp_path):
    """Write a file with a class that is easy to tell and one that is not."""

    def write(name="two.csv"):
        rng = np.random.default_rng(0)
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        X, chance = rng.normal(size=(120, 2)), rng.integers(2, size=120)
        lines = [f"{a:.3f},{b:.3f},{int(a > 0)},{c}" for (a, b), c in zip(X, chance, strict=True)]
        path.write_text("\n".join(["a,b,easy,rand", *lines]) + "\n")
        return path

    return write


@pytest.fixture
def spec(tmp_path):
    """A function that writes an experiment's file from keywords."""

    def write(name="mine", **changes):
        content = {
            "title": "Mine",
            "kind": "results",
            "protocols": ["paper", "ours"],
            "datasets": ["heart"],
            "trials": {"full": 3, "quick": 2},
        } | changes
        lines = []
        for key, value in content.items():
            if key == "trials":
                pairs = ", ".join(f"{k} = {json.dumps(v)}" for k, v in value.items())
                lines.append(f"trials = {{{pairs}}}")
            elif key != "methods":
                lines.append(f"{key} = {json.dumps(value)}")
        for method in content.get("methods", [SMALL | {"mechanism": ["direct", "max"]}]):
            lines.append("[[methods]]")
            lines += [f"{key} = {json.dumps(value)}" for key, value in method.items()]
        path = tmp_path / f"{name}.toml"
        path.write_text("\n".join(lines) + "\n")
        return path

    return write


@pytest.fixture
def deadly(monkeypatch, tmp_path):
    """A function that returns a trial whose mechanism kills its process, fails or never ends."""
    (tmp_path / "deadly_mechanisms.py").write_text(DEADLY)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("KILLED_ONCE", str(tmp_path / "killed"))
    return lambda name: Trial(
        "heart", "ours", SMALL | {"mechanism": f"deadly_mechanisms:{name}"}, 0
    )
