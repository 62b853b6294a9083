"""Tables that have what real ones have, as files."""

import numpy as np
import pandas as pd
import pytest


def made_table(n_rows=1200, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.normal(50, 20, n_rows),
            "visits": rng.integers(0, 9, n_rows),
            "town": rng.choice(["Oslo", "Rome", "Cairo"], n_rows),
            "smokes": rng.random(n_rows) < 0.3,
            "seen": pd.Timestamp("2020-01-01"),
        }
    )
    noise = rng.normal(0, 8, n_rows)
    ill = table["age"] + 20 * (table["town"] == "Rome") + noise > 60
    table.loc[::7, "age"] = None
    table.loc[::9, "town"] = None
    return table.assign(ill=np.where(ill, "yes", "no"))


@pytest.fixture(scope="session")
def table():
    return made_table()


@pytest.fixture
def write(tmp_path):
    """Write a table to a file of that name, and return its path."""

    def written(table, name, **options):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        if path.suffix == ".parquet":
            table.to_parquet(path, index=False, **options)
        else:
            table.to_csv(path, index=False, **options)
        return path

    return written
