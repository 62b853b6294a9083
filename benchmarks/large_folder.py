"""A folder of Parquet files of any size, with categories and missing values, made by a seed.

The classes follow a sum of deep trees of the numbers, and an effect of each category.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

N_NUMBERS, N_TREES, DEPTH = 24, 20, 6
SIZES = {"region": 4, "channel": 9, "plan": 25, "town": 60, "product": 200, "agent": 1000}
ROWS_PER_FILE, BYTES_PER_ROW = 500_000, 203
TARGET = "bought"


def table(number: int, n_rows: int = ROWS_PER_FILE) -> pd.DataFrame:
    """Return the rows of one file."""
    rules, rng = np.random.default_rng(0), np.random.default_rng([1, number])
    X = rng.standard_normal((N_NUMBERS, n_rows))
    score = np.zeros(n_rows)
    for _ in range(N_TREES):
        leaf = np.zeros(n_rows, dtype=np.int32)
        columns, edges = rules.integers(N_NUMBERS, size=DEPTH), rules.normal(0, 0.6, DEPTH)
        for column, edge in zip(columns, edges, strict=True):
            leaf = 2 * leaf + (X[column] > edge)
        score += rules.normal(0, 0.4, 2**DEPTH)[leaf]
    codes = {name: rng.integers(size, size=n_rows) for name, size in SIZES.items()}
    for name, size in SIZES.items():
        score += rules.normal(0, 0.4, size)[codes[name]]
    X[:, rng.random(n_rows) < 0.02] = np.nan  # some rows have lost all numbers
    frame = pd.DataFrame(dict(zip((f"x{k}" for k in range(N_NUMBERS)), X, strict=True)))
    for name, size in SIZES.items():
        names = np.array([f"{name} {k}" for k in range(size)])
        frame[name] = pd.Categorical.from_codes(codes[name], names)
    frame[TARGET] = np.where(score + rng.logistic(0, 0.5, n_rows) > 0, "yes", "no")
    return frame


def write_file(folder: Path, number: int) -> None:
    """Write one file of the folder."""
    table(number).to_parquet(folder / f"part-{number:04}.parquet", index=False)


def write_folder(folder: Path, n_bytes: float) -> int:
    """Write a folder of about ``n_bytes``, unless it is there, and return the number of files."""
    folder.mkdir(parents=True, exist_ok=True)
    n_files = max(round(n_bytes / BYTES_PER_ROW / ROWS_PER_FILE), 1)
    missing = [k for k in range(n_files) if not (folder / f"part-{k:04}.parquet").exists()]
    with ProcessPoolExecutor(2) as pool:
        list(pool.map(partial(write_file, folder), missing))
    return n_files


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--gigabytes", type=float, default=10)
    arguments = parser.parse_args()
    write_folder(arguments.folder, arguments.gigabytes * 1e9)
