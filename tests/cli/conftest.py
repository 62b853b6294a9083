import os
import re

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from skliquid.cli.commands import skliquid_app


@pytest.fixture
def type_in(tmp_path, monkeypatch, files_of_people):
    """Run a command next to people.parquet and people.csv, and return its output."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def typed(*words, code=0):
        words = [str(word) for word in words]
        done = CliRunner().invoke(skliquid_app(), words, catch_exceptions=False)
        assert done.exit_code == code, done.output
        said = done.output
        return re.sub(r"\x1b\[[\d;]*m", "", said)

    return typed


@pytest.fixture(scope="session")
def people():
    """A table with numbers, categories, dates and missing values."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.normal(50, 20, 3000), "town": rng.choice(["a", "b"], 3000)})
    ill = table["age"] + rng.normal(0, 5, 3000) > 60
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(3000) % 365, "D")
    table = table.assign(day=days, ill=np.where(ill, "yes", "no"))
    table.loc[::7, "age"] = None
    return table


@pytest.fixture
def files_of_people(people, tmp_path):
    """The table in people.parquet and people.csv, where commands are run."""
    people.to_parquet(tmp_path / "people.parquet", index=False)
    people.to_csv(tmp_path / "people.csv", index=False)


@pytest.fixture
def subprocess_environment():
    return os.environ | {"COLUMNS": "200"}
