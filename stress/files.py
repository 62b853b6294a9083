"""Mutated model files: each is refused with a clear error, or is a valid model."""

import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
from section import Findings, Section, Table, with_progress

TEXT = (
    "Files of nine models that `skliquid.save` wrote are changed in all the ways of "
    "`tests/file_mutations.py`, and loaded; *sealed* ones have the digest that fits. *Refused* "
    "means a `ModelFileError`, *same* the predictions of the original file. *Other model*: numbers "
    "within their rules were changed together with the digest, which makes a valid file of another "
    "model, whose probabilities are valid; only a signature could tell. Any other exception, a "
    "crash, or memory beyond twice the file (and 4 MB) is a failure."
)


def run(times: int, rng: np.random.Generator) -> Findings:
    """Load ``times`` mutated files."""
    from file_mutations import mutations, outcome, references

    outcomes: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        models = references(Path(folder))
        n = -(-times // len(models))
        for name, reference in models.items():
            for kind, content in with_progress(mutations(reference.path, n, rng), name, n):
                outcomes[kind, outcome(content, reference)] += 1
    table: Table = [
        {"mutation": kind, "outcome": result, "times": n}
        for (kind, result), n in sorted(outcomes.items())
    ]
    failures = [
        f"{kind}: {result} ({n} times)"
        for (kind, result), n in sorted(outcomes.items())
        if result.startswith("FAULT") or (kind == "bytes" and result != "refused")
    ]
    return Findings([TEXT, table], failures, outcomes.total())


SECTION = Section("files", "Mutated model files", run, times=10_000, quick_times=300)

if __name__ == "__main__":
    SECTION.main()
