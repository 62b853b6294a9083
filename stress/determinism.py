"""The same seed, the same bits: a matrix of trainings over all that must not matter.

Each training is a process of its own. Its digests are compared with those of a reference. Other
processors may change bits; there the section measures by how much.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from circumstances import Case, processor_cases, promised_cases
from section import ROOT, Findings, Section, Table, with_progress

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


def run(times: int, rng: np.random.Generator) -> Findings:
    """Compare ``times`` trainings, drawn at random if there are more in the matrix."""
    promised = _drawn(list(promised_cases()), -(-times // 2), rng)
    others = _drawn(list(processor_cases()), times // 2, rng)
    cases = list(dict.fromkeys(c for case in (*promised, *others) for c in (case.reference, case)))
    on_cluster = [case for case in cases if case.on_cluster]
    with _scheduler() as address:
        results = _results(on_cluster, "On a cluster", "--scheduler", address)
    results |= _results([case for case in cases if not case.on_cluster], "On one machine")
    bits, other_bits = (
        [(case, _compared(results[case], results[case.reference])) for case in part]
        for part in (promised, others)
    )
    failures = [
        f"{case.training}, {case.circumstance}: {', '.join(found['differ'])}"
        for case, found in bits
        if found["differ"]
    ]
    failures += [
        f"{c.training}, {c.circumstance}: {f['error']}" for c, f in other_bits if "error" in f
    ]
    parts: list[str | Table] = [TEXT, _bits_table(bits), PROCESSOR_TEXT, _distances(other_bits)]
    return Findings(parts, failures, len(bits) + len(other_bits))


def _drawn(cases: list[Case], n: int, rng: np.random.Generator) -> list[Case]:
    return [cases[k] for k in sorted(rng.permutation(len(cases))[:n])]


@contextmanager
def _scheduler() -> Iterator[str]:
    from clusters import cluster_of

    with tempfile.TemporaryDirectory() as folder, cluster_of(Path(folder), 2) as cluster:
        yield cluster.address


def _results(cases: list[Case], description: str, *words: str) -> dict[Case, dict[str, Any]]:
    with ThreadPoolExecutor(N_PROCESSES) as executor:
        found = executor.map(lambda case: _result(case, words), cases)
        return dict(zip(cases, with_progress(found, description, len(cases)), strict=True))


def _result(case: Case, more_words: Iterable[str]) -> dict[str, Any]:
    """Train in a new process; return its digests, probabilities and delegations."""
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder) / "saved.npz"
        words = [*case.training, "--way", case.way, *case.words, *more_words]
        done = subprocess.run(
            [sys.executable, ROOT / "stress" / "trainings.py", *words, "--save", saved],
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
