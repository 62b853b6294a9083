"""How often would any single delegation lower the accuracy of a group?

The paper bounds the fraction of such states by a ratio that vanishes as examples are added. This
script draws random states, tries all delegations in them, and prints the fraction and the ratio.
"""

import argparse

import numpy as np
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import track
from rich.table import Table

from skliquid.theory import every_delegation_harms, harmful_state_fraction, pivotal_voters


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--states", type=int, default=4000, help="of each size (4000)")
    n_states = arguments.parse_args().states
    rng = np.random.default_rng(0)
    table = Table(box=SIMPLE, title=f"{n_states} random states each", title_justify="left")
    for column in ("voters", "examples", "all pivotal", "all harmful", "± s.e.", "paper's ratio"):
        table.add_column(column, justify="right")
    sizes = [(n, m) for n in (3, 5, 7) for m in (3, 11, 51, 201)]
    for n, m in track(sizes, "Sizes"):
        states = rng.random((n_states, n, m)) < 0.5
        pivotal = np.mean([pivotal_voters(state).any(axis=1).all() for state in states])
        harmful = np.mean([every_delegation_harms(state) for state in states])
        error = np.sqrt(harmful * (1 - harmful) / n_states)
        ratio = f"{harmful_state_fraction(n, m):.1e}"
        table.add_row(str(n), str(m), f"{pivotal:.4f}", f"{harmful:.4f}", f"{error:.4f}", ratio)
    Console().print(table)


if __name__ == "__main__":
    main()
