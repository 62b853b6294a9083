"""Names and labels that a terminal would obey are shown escaped."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from odd_rows import PLAIN, Y
from sklearn.linear_model import SGDClassifier
from small_ensembles import of_four as small

from skliquid import LiquidEnsembleClassifier, TableEncoder, prune

ODD = "\x1b[31m\u202e[bold]\x1b]0;title\x07"
SHOWN = r"\x1b[31m\u202e[bold]\x1b]0;title\x07"
NUMBER, CATEGORY, TARGET = f"number{ODD}", f"category{ODD}", f"target{ODD}"
SMALL = ("--n-estimators", 6, "--n-final", 2)


@pytest.fixture
def odd_file(tmp_path, monkeypatch):
    """A file with odd names of columns, categories and classes, and an odd name itself."""
    monkeypatch.chdir(tmp_path)
    rng, numbers = np.random.default_rng(0), np.random.default_rng(1).normal(size=400)
    labels = np.where(numbers > 0, f"yes{ODD}", f"[/bold]no{ODD}")
    words = rng.choice([f"a{ODD}", "b"], 400)
    table = pd.DataFrame({NUMBER: numbers, CATEGORY: words, TARGET: labels})
    name = f"data{ODD}.csv"
    table.to_csv(name, sep=";", index=False)
    unknown = table.assign(**{CATEGORY: f"new{ODD}", f"more{ODD}": 1})
    unknown.to_csv("later.csv", index=False)
    table.assign(**{TARGET: [f"yes{ODD}", f"YES{ODD}"] * 200}).to_csv("similar.csv", index=False)
    return name


def assert_printable(said):
    assert not [line for line in said.splitlines() if not line.isprintable()]


def test_commands_show_them_escaped(type_in, odd_file):
    said = type_in("train", odd_file, "--target", TARGET, *SMALL)
    assert_printable(said)
    for name in ("number", "category", "[/bold]no", "yes"):
        assert f" {name}{SHOWN} " in said
    assert f"data{SHOWN}.csv is read with semicolons between cells." in said
    assert f"Model: data{SHOWN}.skliquid" in said
    said = type_in("predict", f"data{ODD}.skliquid", "later.csv", "--out", "out.csv")
    assert_printable(said)
    assert f"Ignored: more{SHOWN}." in said
    assert f"category{SHOWN}: 400 rows with 1 category" in said
    said = type_in("train", "similar.csv", "--target", TARGET, *SMALL)
    assert_printable(said)
    assert "differ only in case" in said


@pytest.mark.parametrize(
    "options",
    [
        ("--target", f"target{ODD}s"),
        ("--target", TARGET, "--drop", f"none{ODD}"),
        ("--target", TARGET, "--number", CATEGORY),
        ("--target", TARGET, "--classes", f"a{ODD},b"),
        ("--target", TARGET, "--model", f"none{ODD}/none{ODD}"),
        ("--target", TARGET, "--encoding", ODD),
    ],
)
def test_errors_of_commands_show_them_escaped(type_in, odd_file, options):
    Path(f"none{ODD}").touch()
    said = type_in("train", odd_file, *options, code=2)
    assert_printable(said)
    assert r"\x1b" in said


FRAME = pd.DataFrame(PLAIN, columns=[f"{c}{ODD}" for c in "abcdef"])
OTHER = FRAME.rename(columns={f"a{ODD}": f"z{ODD}"})
WORDS = np.where(Y, f"yes{ODD}", f"no{ODD}")
FAILING = {
    "other columns": lambda: small().fit(FRAME, Y).predict(OTHER),
    "other columns of a linear voter": lambda: small(SGDClassifier()).fit(FRAME, Y).predict(OTHER),
    "other columns of a pruned ensemble": lambda: _pruned().predict(OTHER),
    "other columns of an encoder": lambda: TableEncoder().fit(FRAME).transform(OTHER),
    "text": lambda: small().fit(FRAME, Y).predict(FRAME.assign(**{f"a{ODD}": ODD})),
    "label": lambda: small().fit(PLAIN, WORDS).refit(PLAIN, WORDS + "more"),
    "class weight": lambda: small(class_weight={ODD: 1}).fit(PLAIN, WORDS),
}


def _pruned():
    return prune([SGDClassifier().fit(FRAME, Y)] * 2, FRAME, Y, n_final=1)


@pytest.mark.parametrize("failing", FAILING)
def test_errors_show_them_escaped(failing):
    with pytest.raises(ValueError, match=r"\\x1b") as raised:
        FAILING[failing]()
    assert_printable(str(raised.value))
    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None or raised.value.__suppress_context__


def test_warnings_show_them_escaped():
    X, y = np.zeros((200, 1)), np.array([f"no{ODD}"] * 190 + [f"yes{ODD}"] * 10)
    ensemble = LiquidEnsembleClassifier(n_estimators=4, n_final=2, random_state=0)
    with pytest.warns(UserWarning, match="predicted the class no") as warned:
        ensemble.fit(X, y)
    for warning in warned:
        assert_printable(str(warning.message))
