"""Read the tables that ``evidence.py`` writes to ``docs/results/accuracy.md``."""

from pathlib import Path

import pandas as pd

MEANS = "Further tables: means"
"""Heading of the means over the tables on which no setting was chosen."""


def read_table(page: Path, heading: str) -> pd.DataFrame:
    """Return the table below a heading as numbers, indexed by its first column."""
    part = page.read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line.strip("|").split("|") for line in part.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line] for line in lines]
    table = pd.DataFrame(cells[2:], columns=cells[0]).set_index(cells[0][0])
    return table.apply(lambda column: column.map(_number))


def _number(cell: str) -> float:
    return float(cell.replace("∞", "inf").replace(",", "") or "nan")
