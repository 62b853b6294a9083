"""How long do importing skliquid and a first fit take in a new process, with an empty home?

``import skliquid`` loads nothing yet: each public name is imported when it is used. Each figure is
of new processes, in turns with importing scikit-learn's ensembles alone. ``--against PYTHON`` adds
the version that another interpreter has.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
from rich.box import MARKDOWN
from rich.console import Console
from rich.progress import track
from rich.table import Table

PREPARE = """
import json, resource, sys, time
started = time.perf_counter()
def say(**figures):
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(figures | {"memory": peak}))
"""
SCIKIT_LEARN = """
import sklearn.ensemble
say(imported=time.perf_counter() - started)
"""
PACKAGE = """
import skliquid
say(imported=time.perf_counter() - started)
"""
SKLIQUID = """
from skliquid import LiquidEnsembleClassifier
imported = time.perf_counter()
import numpy as np
rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 20))
y = X[:, 0] + rng.normal(size=2000) > 0
started_fit = time.perf_counter()
LiquidEnsembleClassifier(random_state=0).fit(X, y)
fitted = time.perf_counter()
LiquidEnsembleClassifier(random_state=0).fit(X, y)
again = time.perf_counter()
say(imported=imported - started, first=fitted - started_fit, second=again - fitted)
"""


def run(python: str, code: str) -> dict[str, float]:
    """Return what a new process says, with an empty home, into which older versions compiled."""
    with tempfile.TemporaryDirectory() as home:
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        places = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR"), home)
        done = subprocess.run(
            [python, "-c", PREPARE + code],
            env=kept | places,
            cwd=home,
            capture_output=True,
            text=True,
            check=True,
        )
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--against", metavar="PYTHON", help="with another version of skliquid")
    arguments.add_argument("--rounds", type=int, default=9)
    options = arguments.parse_args()
    cases = {
        "scikit-learn's ensembles": (sys.executable, SCIKIT_LEARN),
        "import skliquid": (sys.executable, PACKAGE),
        "skliquid's ensemble": (sys.executable, SKLIQUID),
    }
    if options.against:
        cases["skliquid of the other interpreter"] = (options.against, SKLIQUID)
    figures = {name: [] for name in cases}
    for _ in track(range(options.rounds), "Measuring"):
        for name, case in cases.items():
            figures[name].append(run(*case))
    table = Table("", "import (s)", "first fit (s)", "second fit (s)", "memory (MB)", box=MARKDOWN)
    for name, said in figures.items():
        columns = ("imported", "first", "second", "memory")
        medians = [np.median([run.get(column, np.nan) for run in said]) for column in columns]
        digits = (2, 3, 3, 0)
        cells = zip(medians, digits, strict=True)
        table.add_row(name, *("" if np.isnan(m) else f"{m:.{d}f}" for m, d in cells))
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
