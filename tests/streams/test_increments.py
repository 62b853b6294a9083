import tracemalloc

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from skliquid import LiquidEnsembleClassifier, increments_from
from skliquid.streams.coding import as_frame


def increments(path, **options):
    return increments_from(path, **{"target": "ill", "increment_size": 100} | options)


def test_increments_have_one_size_but_for_the_last(table, write):
    found = increments(write(table, "a.parquet", row_group_size=77), increment_size=500)
    assert [X.shape for X, _ in found] == [(500, 9), (500, 9), (200, 9)]
    assert len(found) == 3
    assert found.n_rows == 1200


@pytest.mark.parametrize("size", [1, 100, 333, 5000])
def test_increments_do_not_depend_on_how_files_are_cut(table, write, size, monkeypatch):
    one = list(increments(write(table, "a.parquet"), increment_size=size))
    monkeypatch.setattr("skliquid.streams.increments._BYTES_AT_ONCE", 8 * 9 * 70)
    groups = increments(write(table, "b.parquet", row_group_size=77), increment_size=size)
    folder = write(table[:310], "folder/a.parquet").parent
    write(table[310:], "folder/b.parquet")
    # the coder is fitted to the same first rows, which may end in the second file
    for other in (groups, increments(folder, increment_size=size)):
        for (X, y), (X_other, y_other) in zip(one, other, strict=True):
            assert np.array_equal(X, X_other)
            assert np.array_equal(y, y_other)


def test_csv_and_parquet_give_the_same(table, write):
    as_text, as_columns = increments(write(table, "a.csv")), increments(write(table, "a.parquet"))
    assert as_text.n_rows == as_columns.n_rows
    for (X, y), (X_other, y_other) in zip(as_text, as_columns, strict=True):
        assert np.allclose(X, X_other)
        assert np.array_equal(y, y_other)


def test_increments_from_a_row_are_the_last_of_all(table, write):
    found = increments(write(table, "a.parquet", row_group_size=77))
    everything = list(found)
    for start in (100, 700, 1100):
        some = list(found.from_row(start))
        assert len(some) == (1200 - start) // 100
        for (X, y), (X_all, y_all) in zip(some, everything[start // 100 :], strict=True):
            assert np.array_equal(X, X_all)
            assert np.array_equal(y, y_all)
    assert list(found.from_row(1200)) == []


def test_the_coder_is_that_of_the_first_rows(table, write):
    found = increments(write(table, "a.parquet"), sample_size=300)
    rows = next(iter(found.files.batches(list(found.coding.kinds))))
    scaler = found.coder.named_transformers_["numbers"][-1]
    assert scaler.n_samples_seen_ == 300
    X, _ = next(iter(found))
    assert np.array_equal(X, found.coder.transform(as_frame(rows, found.coding.kinds))[:100])


def test_partial_fit_takes_them(table, write):
    found = increments(write(table, "a.parquet"))
    ensemble = LiquidEnsembleClassifier(n_estimators=20, n_final=4, random_state=0)
    for X, y in found:
        ensemble.partial_fit(X, y, classes=found.classes)
    assert ensemble.n_samples_seen_ == 1200
    assert found.left_out == ["seen"]


def test_a_class_first_seen_late_is_known_from_the_start(table, write):
    late = table.assign(ill=["a", "b"] * 599 + ["c"] * 2)
    found = increments(write(late, "a.csv"))
    assert found.classes.tolist() == ["a", "b", "c"]
    ensemble = LiquidEnsembleClassifier(n_estimators=20, n_final=4, random_state=0)
    for X, y in found:
        ensemble.partial_fit(X, y, classes=found.classes)
    assert ensemble.classes_.tolist() == ["a", "b", "c"]


def test_announced_classes_save_the_look_at_the_target(table, write, monkeypatch):
    found = increments(write(table, "a.parquet"), classes=["yes", "no", "perhaps"])
    monkeypatch.setattr("skliquid.streams.increments.classes_in", None)
    assert found.classes.tolist() == ["no", "perhaps", "yes"]
    assert len(list(found)) == 12


def test_a_label_that_was_not_announced_is_refused(table, write):
    found = increments(write(table, "a.parquet"), classes=["no", "perhaps"])
    with pytest.raises(ValueError, match="'yes', in row"):
        list(found)


def test_what_makes_no_increments_is_refused(table, write):
    with pytest.raises(ValueError, match="increment_size must be 1 or more: 0 is less"):
        increments(write(table, "a.csv"), increment_size=0)
    with pytest.raises(ValueError, match="no column of numbers, text or truth values besides"):
        list(increments(write(table[["seen", "ill"]], "b.csv")))
    for name in ("c.csv", "c.parquet"):
        with pytest.raises(ValueError, match=r"holds no row|begins without a value"):
            increments(write(table[:0], name)).classes  # noqa: B018 (it is read when asked for)


def test_infinity_in_the_first_rows_is_refused(table, write):
    with pytest.raises(ValueError, match=r"column 'visits' in row 1 of .*a.parquet holds inf"):
        list(increments(write(table.assign(visits=np.inf), "a.parquet")))


def test_memory_does_not_grow_with_the_file(write):
    rng, n_rows = np.random.default_rng(0), 200_000
    numbers = pd.DataFrame(rng.normal(size=(n_rows, 20)), columns=[f"x{k}" for k in range(20)])
    path = write(numbers.assign(ill=np.arange(n_rows) % 2), "a.parquet", row_group_size=20_000)
    del numbers
    found = increments(path, increment_size=1000)
    before, columns = pa.total_allocated_bytes(), []
    tracemalloc.start()
    for X, y in found:
        assert len(X) == len(y) == 1000
        columns.append(pa.total_allocated_bytes() - before)
    _, arrays = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert path.stat().st_size > 32e6
    assert max(columns) < 16e6
    assert arrays < 24e6
