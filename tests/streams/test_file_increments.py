import tracemalloc

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from skliquid import LiquidEnsembleClassifier, increments_from
from skliquid.streams.file_increments import draw_held_out


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
    monkeypatch.setattr("skliquid.streams.file_increments._BYTES_AT_ONCE", 8 * 9 * 70)
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


@pytest.mark.parametrize("name", ["a.parquet", "a.csv"])
@pytest.mark.parametrize("size", [25, 100, 333])
def test_held_out_rows_are_in_no_increment(table, write, name, size):
    path = write(table.assign(number=range(1200)), name)
    data = increments(path, increment_size=size, test_size=0.2, column_types={"age": "left_out"})
    whole = increments(path, increment_size=size, column_types={"age": "left_out"})
    assert len(data) == len(whole)

    def numbers(parts, encoding):
        scaler = encoding.encoder.named_transformers_["numbers"][-1]
        X = np.concatenate([X for X, _ in parts])
        return np.rint(X[:, 1] * scaler.scale_[1] + scaler.mean_[1]).astype(int)

    trained, tested = (numbers(parts, data.encoding) for parts in (data, data.test_rows()))
    assert sorted([*trained, *tested]) == list(range(1200))
    assert len(tested) == pytest.approx(240, rel=0.25)
    y = np.concatenate([y for _, y in data.test_rows()])
    assert np.array_equal(y, table["ill"].to_numpy()[tested])
    assert list(whole.test_rows()) == []
    last = [*data.from_row(size * (len(data) - 1))]
    assert np.array_equal(numbers(last, data.encoding), trained[-len(last[0][1]) :])


def test_the_encoder_does_not_see_held_out_rows(table, write):
    data = increments(write(table, "a.parquet"), test_size=0.5, sample_size=300)
    n_held_out = data.is_held_out(0, 300).sum()
    scaler = data.encoding.encoder.named_transformers_["numbers"][-1]
    assert scaler.n_samples_seen_ == 300 - n_held_out < 200


def test_at_most_some_rows_are_held_out(table, write, monkeypatch):
    monkeypatch.setattr("skliquid.streams.file_increments._MAX_HELD_OUT", 60)
    data = increments(write(table, "a.parquet"), test_size=0.5)
    assert 40 < sum(len(y) for _, y in data.test_rows()) < 80


def test_an_error_in_a_held_out_row_has_its_place(table, write):
    row = int(
        np.flatnonzero(increments(write(table, "a.csv"), test_size=0.1).is_held_out(0, 900))[-1]
    )
    wrong = table.assign(visits=table["visits"].astype(float))
    wrong.loc[row, "visits"] = np.inf
    data = increments(write(wrong, "a.parquet"), test_size=0.1, sample_size=100)
    for read in (data.test_rows, data.__iter__):
        with pytest.raises(ValueError, match=f"in row {row + 1} of .*a.parquet holds inf"):
            list(read())


def test_options_for_csv_files_are_given_to_them(table, write):
    path = write(table, "a.csv", sep="~", decimal=",", encoding="utf-16-le")
    options = {"separator": "~", "decimal": ",", "encoding": "utf-16-le"}
    X, _ = next(iter(increments(path, **options)))
    X_other, _ = next(iter(increments(write(table, "b.csv"))))
    assert np.array_equal(X, X_other)


@pytest.mark.parametrize("wrong", [-0.1, 1, "0.1", True])
def test_the_share_of_held_out_rows_is_checked(wrong):
    with pytest.raises(ValueError, match="test_size must be a share from 0 to below 1: got"):
        increments("nowhere.csv", test_size=wrong)


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
    monkeypatch.setattr("skliquid.streams.file_increments.find_classes", None)
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


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5])
def test_about_that_share_is_held_out(share):
    is_held_out = draw_held_out(share, 1000, 0, 200_000)
    assert is_held_out.mean() == pytest.approx(share, rel=0.05)
    assert draw_held_out(0.0, 1000, 5, 300).sum() == 0


@pytest.mark.parametrize("increment_size", [1, 7, 100])
def test_a_row_is_held_out_or_not_wherever_reading_starts(increment_size):
    everything = draw_held_out(0.3, increment_size, 0, 1000)
    for start, n_rows in [(0, 1), (0, 0), (3, 5), (7, 700), (99, 2), (500, 500), (999, 1)]:
        part = draw_held_out(0.3, increment_size, start, n_rows)
        assert np.array_equal(part, everything[start : start + n_rows])


def test_each_increment_keeps_a_row():
    assert not draw_held_out(0.9, 7, 0, 7000)[::7].any()
    assert not draw_held_out(0.9, 1, 0, 100).any()


@pytest.mark.parametrize("period", [2, 3, 10, 13, 24])
def test_rows_that_recur_are_held_out_as_often_as_others(period):
    is_held_out = draw_held_out(0.1, 1000, 0, 240_000)
    shares = [is_held_out[phase::period].mean() for phase in range(period)]
    assert min(shares) > 0.09
    assert max(shares) < 0.11
