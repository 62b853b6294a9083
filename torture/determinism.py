"""The same seed, the same bits: a matrix of trainings over all that must not matter.

Each training is a process of its own. Its digests are compared with those of a reference. Other
processors may change bits; there the section measures by how much.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from section import ROOT, Findings, Section, Table, with_progress
from trainings import ENSEMBLES

from skliquid import native

N_PROCESSES = 2
TEXT = (
    "Every training is a process of its own. Compared are the SHA-256 of labels, probabilities, "
    "all delegation graphs, the record (rows, accuracies, competence, costs, temperature) and the "
    "numbers of the voters. Tables: narrow (3000 x 17, two classes), digits (1200 x 64, ten "
    "classes), wide (600 x 1500, three classes)."
)
PROCESSOR_TEXT = (
    "**Not promised: other processors.** Kernels of OpenBLAS (`OPENBLAS_CORETYPE`) and its number "
    "of threads (`OPENBLAS_NUM_THREADS`) decide in which order products are summed, and numpy has "
    "other code for other instruction sets (`NPY_DISABLE_CPU_FEATURES`). How far results are "
    "apart, compared with what this machine chooses:"
)
KERNELS = {
    "SkylakeX": "avx512",
    "Haswell": "avx2",
    "Sandybridge": "avx2",
    "Nehalem": "baseline",
    "Prescott": "baseline",
}
"""Kernels of OpenBLAS for x86-64, with the instructions that a processor must have."""
TRAININGS = [
    *((name, table) for table in ("narrow", "digits") for name in ENSEMBLES),
    ("linear, soft votes", "wide"),
    ("default", "wide"),
]
OTHER_POOLS = {
    "linear, hard votes": ("linear", "estimator"),
    "linear, soft votes": ("linear", "estimator"),
    "linear, averaged": ("linear", "estimator"),
    "trees": ("trees", "estimator"),
    "default": ("estimator",),
    "for streams": ("estimator",),
}
NOT_IN_FILES = ("naive Bayes",)
"""Voters of which there are no checkpoints."""


@dataclass(frozen=True)
class Case:
    """A training under circumstances that should not matter, compared with ``way`` without them."""

    training: tuple[str, str]
    axis: str
    circumstance: str
    way: str = "fit"
    words: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()

    @property
    def reference(self) -> "Case":
        """The same training without the circumstances."""
        return Case(self.training, "", "", self.way)


def promised_cases(scheduler: str) -> Iterator[Case]:
    """Yield the trainings that must have the bits of their reference."""
    for training in TRAININGS:
        for n_jobs in ("2", "4"):
            yield Case(training, "jobs", f"n_jobs={n_jobs}", words=("--n-jobs", n_jobs))
        for pool in OTHER_POOLS.get(training[0], ()):
            yield Case(training, "pools", f"pool={pool!r}", words=("--pool", pool))
        for way in ("fit", "partial_fit"):
            words = ("--pool", scheduler)
            yield Case(training, "pools", f"DaskPool, {way}", way, words)
        for name in native.instruction_sets()[:-1]:
            environment = (("SKLIQUID_INSTRUCTIONS", name),)
            yield Case(training, "engines", f"instructions: {name}", environment=environment)
        environment = (("PYTHONHASHSEED", "0"),)  # that of the reference is drawn at random
        yield Case(training, "hash seeds", "PYTHONHASHSEED=0", environment=environment)
        words = ("--way", "pickled")
        yield Case(training, "pickles", "pickled after each part", "partial_fit", words)
        if training[0] not in NOT_IN_FILES:
            words = ("--way", "resumed")
            yield Case(training, "stop and resume", "stopped twice", "streamed", words)


def processor_cases() -> Iterator[Case]:
    """Yield the trainings whose bits may differ."""
    found = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    is_x86 = platform.machine() in ("x86_64", "AMD64")
    kernels = [k for k, least in KERNELS.items() if is_x86 and least in native.instruction_sets()]
    for training in TRAININGS:
        for kernel in kernels:
            environment = (("OPENBLAS_CORETYPE", kernel),)
            yield Case(training, "kernel of BLAS", kernel, environment=environment)
        for n_threads in ("1", "2", "4"):
            environment = (("OPENBLAS_NUM_THREADS", n_threads),)
            yield Case(training, "threads of BLAS", n_threads, environment=environment)
        for k in range(min(len(found), 2)):
            environment = (("NPY_DISABLE_CPU_FEATURES", " ".join(found[k:])),)
            yield Case(training, "code of numpy", f"without {found[k:]}", environment=environment)


def run(times: int, rng: np.random.Generator) -> Findings:
    """Compare ``times`` trainings, drawn at random if there are more in the matrix."""
    with tempfile.TemporaryDirectory() as folder, _scheduler(Path(folder)) as scheduler:
        promised = _drawn(list(promised_cases(scheduler)), -(-times // 2), rng)
        others = _drawn(list(processor_cases()), times // 2, rng)
        references = list(dict.fromkeys(case.reference for case in (*promised, *others)))
        expected = dict(zip(references, _results(references, "References"), strict=True))
        compared = [
            (case, _compared(found, expected[case.reference]))
            for cases, name in ((promised, "Bits"), (others, "Other processors"))
            for case, found in zip(cases, _results(cases, name), strict=True)
        ]
    bits, other_bits = compared[: len(promised)], compared[len(promised) :]
    failures = [
        f"{case.training}, {case.circumstance}: {', '.join(found['differ'])}"
        for case, found in bits
        if found["differ"]
    ]
    failures += [
        f"{c.training}, {c.circumstance}: {f['error']}" for c, f in other_bits if "error" in f
    ]
    parts: list[str | Table] = [TEXT, _bits_table(bits), PROCESSOR_TEXT, _distances(other_bits)]
    return Findings(parts, failures, len(compared))


def _drawn(cases: list[Case], n: int, rng: np.random.Generator) -> list[Case]:
    return [cases[k] for k in sorted(rng.permutation(len(cases))[:n])]


@contextmanager
def _scheduler(folder: Path) -> Iterator[str]:
    from clusters import cluster_of

    with cluster_of(folder, 2) as cluster:
        yield cluster.address


def _results(cases: list[Case], description: str) -> list[Any]:
    with ThreadPoolExecutor(N_PROCESSES) as executor:
        return list(with_progress(executor.map(_result, cases), description, len(cases)))


def _result(case: Case) -> dict[str, Any]:
    """Train in a new process; return its digests, probabilities and delegations."""
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder) / "saved.npz"
        words = [*case.training, "--way", case.way, *case.words, "--save", str(saved)]
        done = subprocess.run(
            [sys.executable, ROOT / "torture" / "trainings.py", *words],
            env=os.environ | dict(case.environment),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:]
            return {"error": f"exit code {done.returncode}: {' '.join(last)}"}
        with np.load(saved) as arrays:
            return {"digests": json.loads(done.stdout.splitlines()[-1]), **arrays}


def _compared(found: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    """Return which parts of a training differ from those of its reference, and how far."""
    if error := found.get("error") or expected.get("error"):
        return {"error": error, "differ": [error]}
    ours, theirs = found["digests"], expected["digests"]
    labels = [each["probabilities"].argmax(axis=1) for each in (found, expected)]
    return {
        "kernels": ours.pop("kernels"),
        "differ": [part for part in ours if ours[part] != theirs[part]],
        "apart": float(np.abs(found["probabilities"] - expected["probabilities"]).max()),
        "same_labels": float(np.mean(labels[0] == labels[1])),
        "same_graph": np.array_equal(found["delegation"], expected["delegation"]),
    }


Compared: TypeAlias = Iterable[tuple[Case, dict[str, Any]]]


def _bits_table(compared: Compared) -> Table:
    by_axis: dict[str, list[tuple[str, bool]]] = {}
    for case, found in compared:
        by_axis.setdefault(case.axis, []).append((case.circumstance, not found["differ"]))
    return [
        {
            "over": axis,
            "what": ", ".join(dict.fromkeys(circumstance for circumstance, _ in tries)),
            "comparisons": len(tries),
            "same bits": sum(is_same for _, is_same in tries),
        }
        for axis, tries in by_axis.items()
    ]


def _distances(compared: Compared) -> Table:
    """Return one row per ensemble and axis."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for case, found in compared:
        if "error" not in found:
            groups.setdefault((case.axis, case.training[0]), []).append(found)
    return [
        {
            "other": axis,
            "ensemble": name,
            "comparisons": len(tries),
            "same bits": sum(not found["differ"] for found in tries),
            "what differs": ", ".join(dict.fromkeys(p for f in tries for p in f["differ"])) or "-",
            "most in a probability": f"{max(found['apart'] for found in tries):.1e}",
            "equal labels": f"{min(found['same_labels'] for found in tries):.2%}",
            "equal graphs": f"{sum(found['same_graph'] for found in tries)} of {len(tries)}",
        }
        for (axis, name), tries in sorted(groups.items())
    ]


SECTION = Section("determinism", "Determinism", run, times=330, quick_times=6)

if __name__ == "__main__":
    SECTION.main()
