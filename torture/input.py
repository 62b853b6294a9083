"""Odd input: each case of the fuzz table ends in a result or a clear error, never in a crash."""

from collections import Counter
from itertools import islice

import numpy as np
from section import Findings, Section, Table, with_progress

TEXT = (
    "Every case of `tests/odd_input.py`: types, shapes and values that no one should pass, to all "
    "public methods. A case ends in a result or in an error that says what is wrong."
)


def run(times: int, rng: np.random.Generator) -> Findings:
    """Try ``times`` cases, drawn at random if there are more."""
    from odd_input import cases, outcome

    every = list(cases())
    drawn = [every[k] for k in islice(rng.permutation(len(every)).tolist(), times)]
    results = [(case, outcome(case)) for case in with_progress(drawn, "Cases")]
    counts = Counter(result.partition(":")[0] for _, result in results)
    table: Table = [{"outcome": kind, "cases": n} for kind, n in sorted(counts.items())]
    failures = [f"{case}: {result}" for case, result in results if result.startswith("FAULT")]
    return Findings([TEXT, table], failures, len(drawn))


SECTION = Section("input", "Odd input", run, times=100_000, quick_times=200)

if __name__ == "__main__":
    SECTION.main()
