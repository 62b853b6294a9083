"""Odd input: each case of the fuzz table ends in a result or a clear error, never in a crash."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import numpy as np
from section import Findings, Section, Table, with_progress

N_CHUNKS, N_PROCESSES = 20, 2
TEXT = (
    "Cases of `tests/odd_input.py`: types, shapes and values that no one should pass, to all "
    "public methods. *Result* and *refused*, by an error that says what is wrong, are as promised; "
    "a wrong result, another error or the end of the process is a failure."
)


def run(times: int, rng: np.random.Generator) -> Findings:
    """Try ``times`` cases, spread evenly over the table, or all if there are fewer."""
    from odd_input import cases
    from odd_input import run as endings_of

    n_cases = len(cases())
    step = max(n_cases // times, 1)
    first = int(rng.integers(step))
    n_chunks = min(N_CHUNKS, -(-times // 50))
    chunks = [range(first + k * step, n_cases, step * n_chunks) for k in range(n_chunks)]
    with ThreadPoolExecutor(N_PROCESSES) as executor:
        found = list(with_progress(executor.map(endings_of, chunks), "Cases", n_chunks))
    endings = list(chain.from_iterable(chunk.items() for chunk in found))
    counts = Counter(ending.partition(":")[0] for _, ending in endings)
    table: Table = [{"outcome": kind, "cases": n} for kind, n in sorted(counts.items())]
    failures = [f"{case}: {end}"[:300] for case, end in endings if end not in ("result", "refused")]
    return Findings([TEXT, table], failures, len(endings))


SECTION = Section("input", "Odd input", run, times=100_000, quick_times=100)

if __name__ == "__main__":
    SECTION.main()
