import tracemalloc

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from skliquid import LiquidEnsembleClassifier, increments_from


def increments(path, **options):
    return increments_from(path, **{"target": "ill", "increment_size": 100} | options)


def test_increments_have_one_size_but_for_the_last(table, write):
    data = increments(write(table, "a.parquet", row_group_size=77), increment_size=500)
    assert [X.shape for X, _ in data] == [(500, 9), (500, 9), (200, 9)]
    assert len(data) == 3
    assert data.n_rows == 1200


@pytest.mark.parametrize("size", [1, 100, 333, 5000])
def test_increments_do_not_depend_on_how_files_are_cut(table, write, size, monkeypatch):
    one = list(increments(write(table, "a.parquet"), increment_size=size))
    monkeypatch.setattr("skliquid.streams.increments._BYTES_AT_ONCE", 8 * 9 * 70)
    groups = increments(write(table, "b.parquet", row_group_size=77), increment_size=size)
    folder = write(table[:310], "folder/a.parquet").parent
    write(table[310:], "folder/b.parquet")
    # the encoder is fitted to the same first rows, which may end in the second file
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
    data = increments(write(table, "a.parquet", row_group_size=77))
    everything = list(data)
    for start in (100, 700, 1100):
        some = list(data.from_row(start))
        assert len(some) == (1200 - start) // 100
        for (X, y), (X_all, y_all) in zip(some, everything[start // 100 :], strict=True):
            assert np.array_equal(X, X_all)
            assert np.array_equal(y, y_all)
    assert list(data.from_row(1200)) == []


def test_the_encoder_is_fitted_to_the_first_rows(table, write):
    data = increments(write(table, "a.parquet"), sample_size=300)
    encoder = data.encoding.encoder
    rows, _ = next(data.files.tables(data.encoding.column_types, 100))
    assert encoder.named_transformers_["numbers"][-1].n_samples_seen_ == 300
    X, _ = next(iter(data))
    assert np.array_equal(X, encoder.transform(rows.to_pandas()))


def test_partial_fit_takes_them(table, write):
    data = increments(write(table, "a.parquet"))
    ensemble = LiquidEnsembleClassifier(n_estimators=20, n_final=4, random_state=0)
    for X, y in data:
        ensemble.partial_fit(X, y, classes=data.classes)
    assert ensemble.n_samples_seen_ == 1200
    assert data.left_out == ["seen"]


def test_a_class_that_occurs_late_is_known_from_the_start(table, write):
    late = table.assign(ill=["a", "b"] * 599 + ["c"] * 2)
    data = increments(write(late, "a.csv"))
    assert data.classes.tolist() == ["a", "b", "c"]
    ensemble = LiquidEnsembleClassifier(n_estimators=20, n_final=4, random_state=0)
    for X, y in data:
        ensemble.partial_fit(X, y, classes=data.classes)
    assert ensemble.classes_.tolist() == ["a", "b", "c"]


def test_given_classes_save_reading_the_target(table, write, monkeypatch):
    data = increments(write(table, "a.parquet"), classes=["yes", "no", "perhaps"])
    monkeypatch.setattr("skliquid.streams.increments.classes_in", None)
    assert data.classes.tolist() == ["no", "perhaps", "yes"]
    assert len(list(data)) == 12


def test_a_label_that_is_not_among_the_given_classes_is_refused(table, write):
    data = increments(write(table, "a.parquet"), classes=["no", "perhaps"])
    with pytest.raises(ValueError, match="and 'yes' in row"):
        list(data)


def test_data_without_rows_or_features_is_refused(table, write):
    with pytest.raises(ValueError, match="increment_size must be 1 or more: got 0"):
        increments(write(table, "a.csv"), increment_size=0)
    with pytest.raises(ValueError, match="has no number, text or boolean besides the target"):
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
    data = increments(path, increment_size=1000)
    before, columns = pa.total_allocated_bytes(), []
    tracemalloc.start()
    for X, y in data:
        assert len(X) == len(y) == 1000
        columns.append(pa.total_allocated_bytes() - before)
    _, arrays = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert path.stat().st_size > 32e6
    assert max(columns) < 16e6
    assert arrays < 24e6


@pytest.mark.parametrize(("n_rows", "size"), [(100, 25), (1250, 25), (2001, 41), (60_000, 1000)])
def test_small_files_have_small_increments_unless_a_size_is_given(write, n_rows, size):
    path = write(
        pd.DataFrame(
            {"x": range(n_rows), "ill": ["a", "b"] * (n_rows // 2) + ["a"] * (n_rows % 2)}
        ),
        "a.parquet",
    )
    assert increments(path, increment_size=None).increment_size == size
