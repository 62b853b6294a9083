import tracemalloc

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from skliquid import LiquidEnsembleClassifier, increments_from


def increments(path, **options):
    return increments_from(path, **{"target": "ill", "increment_size": 100} | options)


def assert_same(parts, others):
    for (X, y), (X_other, y_other) in zip(parts, others, strict=True):
        assert X.equals(X_other)
        assert np.array_equal(y, y_other)


def test_increments_have_one_size_but_for_the_last(table, write):
    data = increments(write(table, "a.parquet", row_group_size=77), increment_size=500)
    assert [X.shape for X, _ in data] == [(500, 5), (500, 5), (200, 5)]
    assert len(data) == 3
    assert data.n_rows == 1200


@pytest.mark.parametrize("size", [1, 100, 333, 5000])
def test_increments_do_not_depend_on_how_files_are_cut(table, write, size):
    one = list(increments(write(table, "a.parquet"), increment_size=size))
    groups = increments(write(table, "b.parquet", row_group_size=77), increment_size=size)
    folder = write(table[:310], "folder/a.parquet").parent
    write(table[310:], "folder/b.parquet")
    for other in (groups, increments(folder, increment_size=size)):
        assert_same(one, other)


def test_increments_from_a_row_are_the_last_of_all(table, write):
    for name in ("a.parquet", "a.csv"):
        data = increments(write(table, name), test_size=0.2)
        everything = list(data)
        for start in (100, 700, 1100):
            assert_same(data.from_row(start), everything[start // 100 :])
        assert list(data.from_row(1200)) == []


@pytest.mark.parametrize("name", ["a.parquet", "a.csv"])
@pytest.mark.parametrize("size", [25, 333])
def test_held_out_rows_are_in_no_increment(table, write, name, size):
    path = write(table.assign(number=range(1200)), name)
    data = increments(path, increment_size=size, test_size=0.2)
    trained, tested = (
        np.concatenate([X["number"].to_numpy() for X, _ in parts])
        for parts in (data, data.test_rows())
    )
    assert sorted([*trained, *tested]) == list(range(1200))
    y = np.concatenate([y for _, y in data.test_rows()])
    assert np.array_equal(y, table["ill"].to_numpy()[tested.astype(int)])
    counts = table["ill"].value_counts()
    for label in counts.index:
        assert np.sum(y == label) == pytest.approx(counts[label] * 0.2, abs=1)
    assert data.n_with_rows == len(data)
    (X, _), (X_test, y_test) = data.take(None)
    assert np.array_equal(X_test["number"].to_numpy(), np.sort(tested))
    assert np.array_equal(y_test, table["ill"].to_numpy()[np.sort(tested).astype(int)])
    assert np.array_equal(X["number"].to_numpy(), trained)
    drawn = np.array([0, 3, 400, 958])
    seen = []
    (X, labels), _ = data.take(drawn, seen.append)
    assert np.array_equal(X["number"].to_numpy(), trained[drawn])
    assert np.array_equal(labels, table["ill"].to_numpy()[trained[drawn].astype(int)])
    assert 0 < seen[-1] <= 1
    own = pd.Series(table["ill"].to_numpy()[trained.astype(int)]).value_counts()
    assert dict(zip(data.counts().labels, data.counts().n_rows, strict=True)) == own.to_dict()


def test_an_increment_may_be_held_out_as_a_whole(table, write):
    data = increments(write(table, "a.csv"), increment_size=1, test_size=0.2)
    assert data.n_with_rows == 1200 - len(data.held_out)
    assert [len(y) for _, y in data].count(0) == len(data.held_out)


def test_a_rare_class_is_held_out_too(write):
    ill = np.where(np.arange(4000) % 1000 == 0, "fraud", "none")
    path = write(pd.DataFrame({"x": range(4000), "ill": ill}), "a.csv")
    y = np.concatenate([y for _, y in increments(path, test_size=0.1).test_rows()])
    assert np.sum(y == "fraud") == 1
    assert np.sum(y == "none") == 400
    only = np.where(np.arange(4000) == 7, "fraud", "none")
    path = write(pd.DataFrame({"x": range(4000), "ill": only}), "a.csv")
    y = np.concatenate([y for _, y in increments(path, test_size=0.1).test_rows()])
    assert "fraud" not in y  # its one row is trained on


@pytest.mark.parametrize("period", [2, 10, 24])
def test_rows_that_recur_are_held_out_as_often_as_others(write, period):
    frame = pd.DataFrame({"x": range(60_000), "ill": np.arange(60_000) // 7 % 2})
    held_out = increments(write(frame, "a.parquet"), increment_size=1000, test_size=0.1).held_out
    shares = np.bincount(held_out % period) / (60_000 / period)
    assert min(shares) > 0.08
    assert max(shares) < 0.12


def test_at_most_some_rows_are_held_out(table, write, monkeypatch):
    monkeypatch.setattr("skliquid.streams.file_increments._MAX_HELD_OUT", 60)
    data = increments(write(table, "a.parquet"), test_size=0.5)
    assert 55 < sum(len(y) for _, y in data.test_rows()) < 62


def test_rows_without_a_label_are_skipped_and_counted(table, write):
    frame = table.assign(ill=table["ill"].where(table.index % 10 != 3), number=range(1200))
    for name in ("a.csv", "a.parquet"):
        data = increments(write(frame, name))
        assert (data.n_rows, data.n_unlabelled, len(data)) == (1080, 120, 11)
        numbers = np.concatenate([X["number"].to_numpy() for X, _ in data])
        assert np.array_equal(numbers, frame["number"][frame["ill"].notna()])
        last, _ = next(data.from_row(1000))
        assert last["number"][0].as_py() == numbers[1000]


def test_labels_that_are_nan_are_missing(write):
    path = write(pd.DataFrame({"x": range(6), "ill": [0, 1, None, 1, 0, 1.0]}), "a.parquet")
    data = increments(path)
    assert data.classes.tolist() == [0, 1]
    assert data.n_unlabelled == 1
    assert next(iter(data))[1].tolist() == [0, 1, 1, 0, 1]


def test_odd_cells_are_named_by_their_line(tmp_path):
    text = "x,ill\n" + "1,a\n2,b\n" * 5000 + '\n3,\n"inf",a\n'
    (tmp_path / "a.csv").write_text(text)
    data = increments(tmp_path / "a.csv")
    *_, (X, _) = data
    assert np.isinf(X["x"].to_numpy()).any()
    message = r"Column 'x' must hold .*: line 10004 of .*a.csv holds inf. Correct it, or"
    with pytest.raises(ValueError, match=message), data.naming_odd_cells():
        raise ValueError("X contains infinity")


def test_options_for_csv_files_are_given_to_them(table, write):
    path = write(table, "a.csv", sep="~", decimal=",", encoding="utf-16-le")
    options = {"separator": "~", "decimal": ",", "encoding": "utf-16-le"}
    assert_same(increments(path, **options), increments(write(table, "b.csv")))


def test_parameters_are_checked(table, write):
    for wrong in (-0.1, 1, "0.1", True):
        with pytest.raises(ValueError, match="test_size must be a share from 0 to below 1: got"):
            increments("nowhere.csv", test_size=wrong)
    path = write(table, "a.csv")
    with pytest.raises(ValueError, match=r"increment_size must be 1 or more, .*: got 0"):
        increments(path, increment_size=0)
    with pytest.raises(ValueError, match=r"column_types must be among .*got 'txt' .*'text'"):
        increments(path, column_types={"town": "txt"})
    with pytest.raises(ValueError, match=r"column_types \(--category\) must be a column .*'town'"):
        increments(path, column_types={"twon": "category"})
    with pytest.raises(ValueError, match="Did you mean 'ill'"):
        increments(path, target="il")


def test_partial_fit_takes_them(table, write):
    data = increments(write(table, "a.parquet"), column_types={"visits": "id"})
    ensemble = LiquidEnsembleClassifier(n_estimators=20, n_final=4, random_state=0)
    for X, y in data:
        ensemble.partial_fit(X, y, classes=data.classes)
    assert ensemble.n_samples_seen_ == 1200
    assert data.left_out == {"visits": "an id"}


def test_a_class_that_occurs_late_is_known_from_the_start(table, write):
    late = table.assign(ill=["a", "b"] * 599 + ["c"] * 2)
    assert increments(write(late, "a.csv")).classes.tolist() == ["a", "b", "c"]


def test_given_classes_may_be_more(table, write):
    path = write(table, "a.parquet")
    data = increments(path, classes=["yes", "no", "perhaps"])
    assert data.classes.tolist() == ["no", "perhaps", "yes"]
    with pytest.raises(ValueError, match=r"classes must hold all labels, .* and the target has 'n"):
        increments(path, classes=["no", "perhaps"])


def test_data_without_features_is_refused(table, write):
    path = write(table[["ill"]].assign(a=[[1]] * 1200), "b.parquet")
    with pytest.raises(ValueError, match="has no column of numbers, text, booleans or dates"):
        increments(path)


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
    frame = pd.DataFrame({"x": range(n_rows), "ill": np.arange(n_rows) % 2})
    assert increments(write(frame, "a.parquet"), increment_size=None).increment_size == size
