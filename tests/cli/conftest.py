import os
import re

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from skliquid.cli.app import app_for


@pytest.fixture
def type_in(tmp_path, monkeypatch):
    """Run a command in an empty folder, and return what it says."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def typed(*words, code=0):
        words = [str(word) for word in words]
        done = CliRunner().invoke(app_for(words), words, catch_exceptions=False)
        assert done.exit_code == code, done.output
        return re.sub(r"\x1b\[[\d;]*m", "", done.output)

    return typed


@pytest.fixture
def people(tmp_path):
    """A table in people.parquet and people.csv."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.normal(50, 20, 3000), "town": rng.choice(["a", "b"], 3000)})
    ill = table["age"] + rng.normal(0, 5, 3000) > 60
    table = table.assign(day=pd.Timestamp("2020-01-01"), ill=np.where(ill, "yes", "no"))
    table.loc[::7, "age"] = None
    table.to_parquet(tmp_path / "people.parquet", index=False)
    table.to_csv(tmp_path / "people.csv", index=False)
    return table


@pytest.fixture
def subprocess_environment():
    return os.environ | {"COLUMNS": "200"}
