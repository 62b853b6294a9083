"""Mutated model files: each is refused with a clear error, or gives the same predictions."""

import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
from section import Findings, Section, Table, with_progress
from trainings import trained

import skliquid

MODELS = (("default", "narrow"), ("linear, hard votes", "digits"), ("trees", "digits"))
TEXT = (
    "Model files that `skliquid.save` wrote are changed in all the ways of "
    "`tests/file_mutations.py`, with digests recomputed, and loaded. *Refused* means a "
    "`ModelFileError`, *same* the predictions of the original file. Any other exception, another "
    "model, or memory beyond twice the file is a failure."
)


def run(times: int, rng: np.random.Generator) -> Findings:
    """Load ``times`` mutated files."""
    from file_mutations import mutations, outcome

    outcomes: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for name, data in MODELS:
            model, _ = trained(name, data)
            path = Path(folder) / f"{name}.skliquid"
            skliquid.save(model, path)
            n = -(-times // len(MODELS))
            for kind, content in with_progress(mutations(path, n, rng), name, n):
                outcomes[kind, outcome(content, model)] += 1
    table: Table = [
        {"mutation": kind, "outcome": result, "times": n}
        for (kind, result), n in sorted(outcomes.items())
    ]
    failures = [
        f"{kind}: {result} ({n} times)"
        for (kind, result), n in sorted(outcomes.items())
        if result not in ("refused", "same")
    ]
    return Findings([TEXT, table], failures, outcomes.total())


SECTION = Section("files", "Mutated model files", run, times=10_000, quick_times=300)

if __name__ == "__main__":
    SECTION.main()
