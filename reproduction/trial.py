"""Trials: one training each, identified by a key and run with seeds that follow from it."""

import hashlib
import importlib
import json
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import ThreadpoolController

import skliquid
from reproduction.methods import Result, run
from reproduction.protocols import PROTOCOLS, VARIATIONS, halves
from skliquid import native
from skliquid.datasets.catalogue import CATALOGUE

_libraries = cache(ThreadpoolController)  # searching for them takes longer than some trials
_UNRELATED = ("cli", "cluster", "datasets", "html", "plotting", "streams")
_RELATED = (
    *("methods.py", "mixture_weights.py", "own_table.py"),
    *("protocols.py", "real_adaboost.py", "trial.py"),
)


@dataclass(frozen=True)
class Trial:
    """One method, trained once, on one half of one dataset.

    Its random numbers follow from its fields: results depend neither on the order of trials nor on
    the process that runs them. The split into halves depends only on the dataset and the number:
    trials of the same number have the same halves for all methods and protocols. Methods that
    differ only in ``VARIATIONS`` also have the same seeds, so that their effect can be compared.
    """

    dataset: str
    protocol: str
    method: Mapping[str, Any]
    number: int
    target: str | None = None

    @property
    def data(self) -> str:
        """The dataset as it is typed: its name, a file, or ``file::target``."""
        return self.dataset if self.target is None else f"{self.dataset}::{self.target}"

    @property
    def key(self) -> str:
        """A hash of this trial, its data and the code, the same on every machine."""
        mechanism = self.method.get("mechanism", "")
        versions = [code_version(), _data_version(self.dataset), _own_code_version(mechanism)]
        return _hash(self._identity, *versions)

    @property
    def _identity(self) -> dict[str, Any]:
        """The fields of this trial, without rules that equal those of the protocol."""
        rules = {name: getattr(PROTOCOLS[self.protocol], name) for name in VARIATIONS}
        method = {k: v for k, v in self.method.items() if k not in rules or v != rules[k]}
        return asdict(self) | {"method": method}

    def run(self) -> Result:
        """Train and return scores, costs and time."""
        split = _seed("halves", self.dataset, self.number)
        unvaried = {k: v for k, v in self.method.items() if k not in VARIATIONS}
        seed = _seed(self._identity | {"method": unvaried})
        with _libraries().limit(limits=1), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # raw features do not converge
            data = halves(self.dataset, self.target, self.protocol, split)
            return run(self.method, data, PROTOCOLS[self.protocol], seed)


@cache
def code_version() -> str:
    """Return a hash of all code that may change the result of a trial."""
    digest = hashlib.sha256(native.SOURCES.encode())
    package, here = Path(skliquid.__file__).parent, Path(__file__).parent
    files = {path.relative_to(package).as_posix(): path for path in package.rglob("*.py")}
    files = {k: path for k, path in files.items() if k.partition("/")[0] not in _UNRELATED}
    files |= {f"reproduction/{name}": here / name for name in _RELATED}
    for name, path in sorted(files.items()):
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


@cache
def _data_version(dataset: str) -> str:
    if dataset in CATALOGUE:
        return CATALOGUE[dataset].checksum
    return hashlib.sha256(Path(dataset).read_bytes()).hexdigest()


@cache
def _own_code_version(mechanism: str) -> str:
    """Return a hash of the module of a user's mechanism, ``module:name``."""
    if ":" not in mechanism:
        return ""
    module = importlib.import_module(mechanism.partition(":")[0])
    return hashlib.sha256(Path(str(module.__file__)).read_bytes()).hexdigest()


def _hash(*parts: Any) -> str:
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _seed(*parts: Any) -> int:
    entropy = np.random.SeedSequence(int(_hash(*parts), 16))
    return int(entropy.generate_state(1)[0])
