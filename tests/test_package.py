"""``import skliquid``: the public names, imported when they are used."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import skliquid

PACKAGE = Path(skliquid.__file__).parent
NAMES = sorted(skliquid._MODULES)
SUBMODULES = list(skliquid._SUBMODULES)


def in_a_new_process(code):
    """Return what ``code`` prints as JSON in a process that has imported nothing."""
    done = subprocess.run(
        [sys.executable, "-c", f"import json, sys\n{code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_dir_shows_the_public_names_and_nothing_else():
    code = "import skliquid\nprint(json.dumps(dir(skliquid)))"
    assert in_a_new_process(code) == sorted([*NAMES, "__version__"])


def test_dir_stays_the_same_when_everything_has_been_used():
    for name in NAMES:
        getattr(skliquid, name)
    assert dir(skliquid) == sorted([*NAMES, "__version__"])


def test_names_of_extras_are_public():
    assert {"DaskLiquidEnsembleClassifier", "increments_from", "train_on"} <= set(dir(skliquid))


def test_importing_the_package_loads_neither_numpy_nor_scikit_learn():
    code = "import skliquid\nprint(json.dumps(sorted(sys.modules)))"
    loaded = {name.partition(".")[0] for name in in_a_new_process(code)}
    assert not loaded & {"joblib", "numpy", "pandas", "pyarrow", "scipy", "sklearn"}


WATCHED_FIT = """
import os
written = []

def watch(event, args):
    if event == "open" and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        written.append(str(args[0]))
    elif event in ("os.mkdir", "os.rename", "os.symlink", "os.link", "sqlite3.connect"):
        written.append(f"{event}: {args}")

sys.addaudithook(watch)
import numpy as np
from skliquid import LiquidEnsembleClassifier
X = np.random.default_rng(0).normal(size=(300, 4))
ensemble = LiquidEnsembleClassifier(random_state=0).fit(X, X[:, 0] > 0)
ensemble.predict_proba(X)
print(json.dumps([path for path in written if path != os.devnull]))
"""


def test_fit_writes_nothing_to_disk(monkeypatch):
    for name in ("HOME", "XDG_CACHE_HOME", "TMPDIR", "TEMP", "TMP", "JOBLIB_TEMP_FOLDER"):
        monkeypatch.setenv(name, os.devnull)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")  # these files are Python's own
    assert in_a_new_process(WATCHED_FIT) == []


def test_submodules_work_after_a_bare_import():
    code = f"""
import skliquid
print(json.dumps([getattr(skliquid, name).__name__ for name in {SUBMODULES}]))
"""
    assert in_a_new_process(code) == [f"skliquid.{name}" for name in SUBMODULES]
    assert set(SUBMODULES) <= set(dir(skliquid))


@pytest.mark.parametrize("name", NAMES)
def test_public_names_are_those_of_their_modules(name):
    value = getattr(skliquid, name)
    module = sys.modules[skliquid._MODULES[name]]
    assert value is (module if name in SUBMODULES else getattr(module, name))


def test_star_imports_give_every_public_name():
    names = {}
    exec("from skliquid import *", names)
    assert names.keys() >= set(NAMES)


def test_type_checkers_see_the_same_names():
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text())
    modules = {
        alias.name: f"skliquid.{alias.name}" if node.module == "skliquid" else node.module
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert modules == skliquid._MODULES


def test_unknown_names_raise_an_attribute_error():
    with pytest.raises(AttributeError, match="'skliquid' has no attribute 'LiquidEnsemble'"):
        skliquid.LiquidEnsemble  # noqa: B018 (asking is the test)
    with pytest.raises(ImportError, match="cannot import name 'LiquidEnsemble'"):
        exec("from skliquid import LiquidEnsemble")


@pytest.mark.parametrize("missing", ["duckdb", "pyarrow"])
def test_a_missing_extra_is_named_and_its_names_are_not_shown(missing):
    code = f"""
sys.modules[{missing!r}] = None
import pydoc, skliquid
errors = []
for statement in ("skliquid.train_on", "skliquid.streams", "from skliquid import increments_from"):
    try:
        exec(statement)
    except ImportError as error:
        errors.append(str(error))
exec("from skliquid import *", {{}})
print(json.dumps([errors, dir(skliquid), pydoc.render_doc(skliquid)]))
"""
    errors, shown, documentation = in_a_new_process(code)
    assert len(errors) == 3
    assert all("pip install '.[stream]'" in error for error in errors)
    assert not {"increments_from", "streams", "train_on"} & set(shown)
    assert "LiquidEnsembleClassifier" in documentation


def test_help_begins_with_how_to_use_it():
    code = "import pydoc, skliquid\nprint(json.dumps(pydoc.render_doc(skliquid)))"
    documentation = re.sub(".\b", "", in_a_new_process(code))
    example = documentation.index(">>> from skliquid import LiquidEnsembleClassifier")
    assert example < documentation.index("Where to read") < documentation.index("PACKAGE CONTENTS")
    assert documentation[:example].count("\n") < 20


def test_the_version_is_the_one_that_the_build_reads():
    text = (PACKAGE / "__init__.py").read_text()
    version = re.search(r"""(?im)^__version__\s*=\s*["'](.+?)["']""", text)
    assert version[1] == skliquid.__version__


def test_scipy_stats_is_not_imported():
    # scikit-learn imports it by itself, so the source is looked at instead of sys.modules
    users = [
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if re.search(r"(?m)^\s*(from|import) scipy\.stats", path.read_text())
    ]
    assert users == []
