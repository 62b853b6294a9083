"""The reproduction is a user of skliquid: it imports public names, with two exceptions."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

import skliquid

SOURCES = sorted(Path(__file__).parents[1].glob("*.py"))
EXCEPTIONS = {
    # parts of the keys of trials: versions of the native core and of the paper's datasets
    ("skliquid", "native"),
    ("skliquid.datasets.catalogue", "CATALOGUE"),
}
PUBLIC_MODULES = {"skliquid", *(f"skliquid.{name}" for name in skliquid._SUBMODULES)}


def imports(path):
    """Yield the modules and names that a file imports from skliquid."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module.partition(".")[0] == "skliquid":
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            yield from ((name, "__all__") for name in names if name.startswith("skliquid"))


def is_public(module, name):
    if module not in PUBLIC_MODULES or (name.startswith("_") and name != "__all__"):
        return False
    names = dir(skliquid) if module == "skliquid" else vars(import_module(module)).get("__all__")
    return name == "__all__" or names is None or name in names


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_only_public_names_are_imported(path):
    private = [pair for pair in imports(path) if not is_public(*pair)]
    assert set(private) <= EXCEPTIONS


def test_each_exception_is_needed():
    assert {pair for path in SOURCES for pair in imports(path)} >= EXCEPTIONS
