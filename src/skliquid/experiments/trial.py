"""Trials: what identifies one, and how it is run."""

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

from skliquid import native
from skliquid.datasets.catalogue import CATALOGUE
from skliquid.experiments.methods import Result, run
from skliquid.experiments.protocols import PROTOCOLS, VARIATIONS, halves

_libraries = cache(ThreadpoolController)  # to search for them takes longer than some trials
_UNRELATED = ("cli", "cluster", "datasets", "experiments", "html", "plotting", "streams")
_RELATED = tuple(f"experiments/{n}.py" for n in ("methods", "protocols", "real_adaboost", "trial"))


@dataclass(frozen=True)
class Trial:
    """One method, trained once, on one half of one dataset.

    Its random numbers follow from its fields, so that results depend neither on the order of
    trials nor on the process that runs them. The split into halves follows from dataset and number
    alone: all methods and protocols have the same halves in trials of the same number. Methods that
    differ only in ``VARIATIONS`` also have the same seeds, so that their effect can be seen.
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
        """The fields of this trial; rules that are the same as the protocol's are left out."""
        rules = {name: getattr(PROTOCOLS[self.protocol], name) for name in VARIATIONS}
        method = {k: v for k, v in self.method.items() if k not in rules or v != rules[k]}
        return asdict(self) | {"method": method}

    def run(self) -> Result:
        """Return the record of this trial."""
        split = _seed("halves", self.dataset, self.number)
        unvaried = {k: v for k, v in self.method.items() if k not in VARIATIONS}
        seed = _seed(self._identity | {"method": unvaried})
        with _libraries().limit(limits=1), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # raw features do not converge
            data = halves(self.dataset, self.target, self.protocol, split)
            return run(self.method, data, PROTOCOLS[self.protocol], seed)


@cache
def code_version() -> str:
    """Return a hash of all code that a trial's result may depend on."""
    digest = hashlib.sha256(native.SOURCES.encode())
    package = Path(__file__).parents[1]
    for name in sorted(path.relative_to(package).as_posix() for path in package.rglob("*.py")):
        if name.partition("/")[0] not in _UNRELATED or name in _RELATED:
            digest.update(name.encode() + b"\0" + (package / name).read_bytes() + b"\0")
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
