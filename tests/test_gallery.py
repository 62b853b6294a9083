"""Examples of the gallery: figures, imports, seeds. ``make docs`` runs them all."""

import ast
import runpy
import sys
from importlib import import_module
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from skliquid.datasets.catalogue import CATALOGUE

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("plot_*.py"))
FASTEST = ("plot_calibration", "plot_replay")

NETWORK = {"ftplib", "http", "requests", "socket", "urllib", "urllib3"}
PACKAGES = {"dask", "joblib", "matplotlib", "numpy", "pandas", "scipy", "shap", "sklearn"}
PACKAGES |= {"skliquid"}
WITH_A_SEED = {
    "LiquidEnsembleClassifier",
    "RandomForestClassifier",
    "as_in_the_paper",
    "for_streams",
    "make_classification",
    "permutation_importance",
    "prune",
    "train_test_split",
}

each_example = pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)


def parsed(path):
    return ast.parse(path.read_text("utf-8"), path.name)


def calls(path):
    """Return the calls of an example, each with the name that is called."""
    nodes = [node for node in ast.walk(parsed(path)) if isinstance(node, ast.Call)]
    return [(ast.unparse(node.func).rpartition(".")[2], node) for node in nodes]


def imports(path):
    """Return what an example imports: modules, each with a name, or None for the module itself."""
    found = []
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            found += [(alias.name, None) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [(node.module, alias.name) for alias in node.names]
    return found


@each_example
def test_an_example_shows_a_picture(path):
    assert "plt.show()" in path.read_text("utf-8")


@each_example
def test_an_example_imports_public_names_of_few_packages(path):
    for module, name in imports(path):
        package = module.partition(".")[0]
        assert package in PACKAGES or package in sys.stdlib_module_names
        assert not any(part.startswith("_") for part in [*module.split("."), name or ""])
        if package == "skliquid" and name:
            public = getattr(import_module(module), "__all__", [name])
            assert name in public
            assert hasattr(import_module(module), name)


@each_example
def test_an_example_needs_no_network(path):
    assert not NETWORK & {module.partition(".")[0] for module, _ in imports(path)}
    for name, call in calls(path):
        assert not name.startswith("fetch_")
        if name == "load_dataset":
            assert CATALOGUE[call.args[0].value].is_embedded


@each_example
def test_an_example_gives_the_same_each_time(path):
    for name, call in calls(path):
        if name in WITH_A_SEED:
            assert "random_state" in {keyword.arg for keyword in call.keywords}
        if name == "default_rng":
            assert call.args


@pytest.mark.parametrize("name", FASTEST)
def test_an_example_runs_and_labels_its_axes(name, monkeypatch):
    monkeypatch.setattr(plt, "show", lambda: None)  # where there is a screen, too
    with plt.rc_context():
        runpy.run_path(str(next(path for path in EXAMPLES if path.stem == name)))
        figures = [plt.figure(number) for number in plt.get_fignums()]
    plt.close("all")
    assert figures
    assert all(ax.get_xlabel() or ax.get_ylabel() for figure in figures for ax in figure.axes)
