import json

import numpy as np
import pytest

SMALL = {
    "method": "liquid",
    "mechanism": "proportional_weighted",
    "increment_size": 20,
    "delegation_rate": 0.3,
    "n_estimators": 20,
    "n_final": 4,
}


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
