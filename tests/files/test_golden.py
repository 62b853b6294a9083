"""Files of every format version since 3 are read, whatever changes in skliquid.

``tools/write_golden_files.py`` wrote them. They are never written again.
"""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from skliquid import load
from skliquid.files.container import FIRST_VERSION, VERSION

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.skliquid"))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_file_of_any_version_is_loaded_and_predicts(path, tmp_path):
    model, beside = load(path), np.load(path.with_suffix(".npz"))
    rows, table = beside["rows"], str(beside["table"])
    if table:
        rows = pd.read_csv(io.StringIO(table))
    if hasattr(model, "predictions"):
        (tmp_path / "rows.csv").write_text(table)
        (batch,) = model.predictions(tmp_path / "rows.csv")
        found = batch.probabilities
    else:
        found = model.predict_proba(rows)
    assert np.abs(found - beside["expected"]).max() < 1e-9


def test_there_are_files_of_every_version():
    found = {int(path.stem.rpartition("-")[2]) for path in GOLDEN}
    assert found == set(range(FIRST_VERSION, VERSION + 1))
