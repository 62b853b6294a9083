"""``kill -9`` at random moments: of drivers, of workers, of whole nodes, of schedulers."""

from collections import Counter

import numpy as np
from killed_clusters import killed_nodes, killed_schedulers, killed_workers
from killed_commands import killed_experiments, killed_trainings
from section import Findings, Section, Table, with_progress

TARGETS = {
    "driver, `skliquid train`": (killed_trainings, 0.36),
    "driver, `python -m reproduction`": (killed_experiments, 0.1),
    "one Dask worker": (killed_workers, 0.26),
    "a node: a Dask nanny and its workers": (killed_nodes, 0.18),
    "the Dask scheduler": (killed_schedulers, 0.1),
}
"""What is killed, with the share of all kills."""
TEXT = (
    "Process groups get `SIGKILL` at random moments; drivers after their imports. A driver "
    "is killed up to three times and then run to its end by the same command. Bits are the SHA-256 "
    "of labels, probabilities, delegations, record and voters, compared with an undisturbed run; "
    "for the reproduction, of the exported table. A stream must train on each row once. On Dask "
    "clusters, 3000 rows in 12 partitions are fitted, and all trees grow on workers."
)


def run(times: int, rng: np.random.Generator) -> Findings:
    """Kill ``times`` times in all."""
    table: Table = []
    failures = []
    for target, (killed, share) in TARGETS.items():
        n_kills = max(round(share * times), 1)
        outcomes = Counter(with_progress(killed(n_kills, rng), target, n_kills))
        table += [
            {"killed": target, "times": n, "outcome": outcome} for outcome, n in outcomes.items()
        ]
        failures += [f"{target}: {o} ({n} times)" for o, n in outcomes.items() if "FAULT" in o]
    return Findings([TEXT, table], failures, sum(row["times"] for row in table))


SECTION = Section("kills", "Kills", run, times=100, quick_times=5)

if __name__ == "__main__":
    SECTION.main()
