"""Partitions that are not like each other: handled, or an error names them before training."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client

from skliquid import DaskLiquidEnsembleClassifier, LiquidEnsembleClassifier
from skliquid.dask.partitions import Partitions
from skliquid.files.saving import digest

N = 300


@pytest.fixture(scope="module")
def client():
    options = {"processes": False, "n_workers": 1, "threads_per_worker": 1}
    with Client(**options, dashboard_address=":0", set_as_default=False) as client:
        yield client


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.normal(50, 20, N), "town": rng.choice(["Oslo", "Rome"], N)})
    ill = table["age"] + 20 * (table["town"] == "Rome") + rng.normal(0, 8, N) > 60
    return table.assign(ill=np.where(ill, "yes", "no"))


@pytest.fixture
def untrained(monkeypatch):
    """Fail if an ensemble begins to train."""
    monkeypatch.setattr("skliquid.ensemble.train", None)


def there(client, *data, **params):
    params = {"random_state": 0, "max_rows": 200} | params
    return DaskLiquidEnsembleClassifier(client, **params).fit(*data)


def here(table, **params):
    params = {"random_state": 0, "max_rows": 200} | params
    return LiquidEnsembleClassifier(**params).fit(table.drop(columns="ill"), table["ill"])


def delayed_parts(parts, meta=None):
    """Return a Dask DataFrame of partitions that Dask knows only later."""
    meta = parts[0].iloc[:0] if meta is None else meta
    return dd.from_delayed([dask.delayed(part) for part in parts], meta=meta, verify_meta=False)


def cut(table, *places):
    return [table.iloc[a:b] for a, b in zip((0, *places), (*places, len(table)), strict=True)]


# Handled


PLACES = {
    "empty at the start": (0, 0, 150),
    "empty inside": (100, 100, 101, 200),
    "empty at the end": (200, N, N),
    "of very different sizes": (1, 3, 290),
}


@pytest.mark.parametrize("max_rows", [200, None])
@pytest.mark.parametrize("name", PLACES)
def test_partitions_may_have_any_size(client, table, name, max_rows):
    rows = delayed_parts(cut(table, *PLACES[name]))
    found = there(client, rows, "ill", max_rows=max_rows)
    assert digest(found.to_local()) == digest(here(table, max_rows=max_rows))


def test_a_sample_that_takes_too_much_memory_is_refused(client, table, untrained):
    rows = delayed_parts(cut(table, 100))
    with pytest.raises(ValueError, match=r"max_memory .* must be enough for 200 rows x 2 columns"):
        there(client, rows, "ill", max_memory=1000)


def test_empty_partitions_may_have_weights(client, table):
    parts, weights = cut(table, 100, 100), np.arange(N) % 3.0
    rows = delayed_parts(parts)
    own = delayed_parts(cut(pd.Series(weights), 100, 100))
    found = there(client, rows.drop(columns="ill"), rows["ill"], own)
    expected = LiquidEnsembleClassifier(random_state=0, max_rows=200)
    expected.fit(table.drop(columns="ill"), table["ill"], weights)
    assert digest(found.to_local()) == digest(expected)
    labels = (rows["ill"], own)
    assert found.score(rows.drop(columns="ill"), *labels) == pytest.approx(
        expected.score(table.drop(columns="ill"), table["ill"], weights), rel=1e-12
    )


def test_arrays_may_have_empty_blocks(client, table):
    X, y = table[["age"]].to_numpy(), (table["ill"] == "yes").to_numpy()
    chunks = (0, 100, 0, 200)
    rows = da.from_array(X, chunks=(chunks, 1))
    found = there(client, rows, da.from_array(y, chunks=(chunks,)))
    expected = LiquidEnsembleClassifier(random_state=0, max_rows=200).fit(X, y)
    assert digest(found.to_local()) == digest(expected)
    assert found.predict(rows).compute(scheduler="synchronous").dtype == bool


def test_rows_may_be_sorted_by_class(client, table):
    table = table.sort_values("ill", ignore_index=True)
    found = there(client, dd.from_pandas(table, npartitions=5), "ill", class_weight="balanced")
    assert digest(found.to_local()) == digest(here(table, class_weight="balanced"))


def test_a_class_may_be_in_one_partition_only(client, table):
    table.loc[299, "ill"] = "perhaps"
    found = there(client, dd.from_pandas(table, npartitions=9), "ill")
    assert found.classes_.tolist() == ["no", "perhaps", "yes"]
    assert digest(found.to_local()) == digest(here(table))


def test_partitions_may_have_other_categories(client, table):
    table["town"] = table["town"].astype("category")
    parts = [
        part.assign(town=part["town"].cat.remove_unused_categories())
        for part in (table[table["town"] == "Oslo"], table[table["town"] == "Rome"])
    ]
    parts[1] = parts[1].assign(town=parts[1]["town"].cat.add_categories(["Bern", "Cairo"]))
    rows = delayed_parts(parts, meta=table.iloc[:0])
    expected = digest(here(pd.concat(parts).assign(town=lambda t: t["town"].astype("category"))))
    assert digest(there(client, rows, "ill").to_local()) == expected
    few = there(client, rows, "ill", max_rows=30)  # from some partitions only
    assert few.predict(rows.drop(columns="ill")).compute(scheduler="synchronous").size == N


def test_drawn_rows_may_come_from_few_partitions(client, table):
    table["town"] = pd.Categorical(table["town"], categories=["Bern", "Oslo", "Rome"])
    rows = dd.from_pandas(table, npartitions=50)
    found = there(client, rows, "ill", max_rows=40)
    assert digest(found.to_local()) == digest(here(table, max_rows=40))


def test_numbers_may_be_whole_in_some_partitions(client, table):
    table["age"] = table["age"].round()
    parts = cut(table, 100, 200)
    parts[1] = parts[1].assign(age=parts[1]["age"].astype(int))
    parts[2] = parts[2].assign(age=parts[2]["age"].astype(np.float32))
    found = there(client, delayed_parts(parts, meta=table.iloc[:0]), "ill")
    assert digest(found.to_local()) == digest(here(table))


def test_a_column_may_be_missing_in_all_cells_of_a_partition(client, table):
    table["town"] = table["town"].astype(object)
    parts = cut(table, 100, 200)
    parts[1] = parts[1].assign(town=None, age=np.nan)
    found = there(client, delayed_parts(parts, meta=table.iloc[:0]), "ill")
    assert digest(found.to_local()) == digest(here(pd.concat(parts)))


def test_labels_may_be_categories_or_numbers(client, table):
    for convert in (
        lambda y: y.astype("category"),
        lambda y: y == "yes",
        lambda y: (y == "yes").astype(np.int8),
    ):
        other = table.assign(ill=convert(table["ill"]))
        found = there(client, dd.from_pandas(other, npartitions=3), "ill")
        expected = here(other)
        assert digest(found.to_local()) == digest(expected)
        rows = dd.from_pandas(other, npartitions=3)
        assert found.score(rows, "ill") == expected.score(other[["age", "town"]], other["ill"])


def test_labels_and_weights_may_be_arrays_beside_frames(client, table):
    rows = dd.from_pandas(table, npartitions=3)
    labels = da.from_array(table["ill"].to_numpy(dtype=object), chunks=100)
    weights = da.ones(N, chunks=100)
    found = there(client, rows[["age", "town"]], labels, weights)
    expected = LiquidEnsembleClassifier(random_state=0, max_rows=200)
    expected.fit(table[["age", "town"]], table["ill"], np.ones(N))
    assert np.array_equal(
        found.to_local().predict_proba(table), expected.predict_proba(table[["age", "town"]])
    )


def test_files_are_read_where_they_are(client, table, tmp_path):
    for k, part in enumerate(cut(table, 100, 120, 230)):
        part.to_parquet(tmp_path / f"{k}.parquet")
    rows = dd.read_parquet(tmp_path)
    assert rows.npartitions == 4
    assert digest(there(client, rows, "ill").to_local()) == digest(here(table))
    assert digest(there(client, rows[["age", "ill"]], "ill").to_local()) == digest(
        here(table[["age", "ill"]])
    )
    assert digest(there(client, rows[rows["age"] > 40], "ill").to_local()) == digest(
        here(table[table["age"] > 40])
    )


# Errors that name the partition and the column


def broken(table, change):
    """Return partitions of which the second is changed."""
    parts = cut(table, 100, 200)
    parts[1] = change(parts[1])
    return delayed_parts(parts)


ERRORS = {
    "a missing column": (
        lambda part: part.drop(columns="age"),
        r"number 1, counted from 0, .*KeyError: .*'age'",
    ),
    "another type": (
        lambda part: part.assign(age=[f"{age:.0f} years" for age in part["age"]]),
        r"Partition 1, .*types of the other partitions: 'age' is of the type text, and not number",
    ),
    "dates": (
        lambda part: part.assign(town=pd.Timestamp("2020-01-01")),
        r"Partition 1, .*'town' is of the type date, and not text",
    ),
    "a missing label": (
        lambda part: part.assign(ill=[None, *part["ill"][1:]]),
        r"Partition 1, counted from 0: .*NaN",
    ),
    "labels of another type": (
        lambda part: part.assign(ill=(part["ill"] == "yes").astype(int)),
        r"labels of one type: partition 2, .*holds text, and partition 1 numbers",
    ),
    "labels of a continuous quantity": (
        lambda part: part.assign(ill=part["age"]),
        r"Partition 1, counted from 0: Unknown label type: continuous",
    ),
    "no target": (lambda part: part.drop(columns="ill"), r"number 1, .*\(KeyError: 'ill'\)"),
}


@pytest.mark.parametrize("name", ERRORS)
@pytest.mark.usefixtures("untrained")
def test_an_error_names_the_partition_and_the_column(client, table, name):
    change, message = ERRORS[name]
    with pytest.raises(ValueError, match=message):
        there(client, broken(table, change), "ill")


@pytest.mark.usefixtures("untrained")
def test_rows_must_have_the_columns_that_dask_knows(client, table):
    parts, labels = cut(table[["age", "town"]], 100), cut(table["ill"], 100)
    for part, name in (
        (parts[1].assign(weather=1), "'weather' is new"),
        (parts[1][["age"]], "'town' is missing"),
    ):
        rows = delayed_parts([parts[0], part])
        with pytest.raises(ValueError, match=f"Partition 1, .*columns of the others: {name}"):
            there(client, rows, delayed_parts(labels))


@pytest.mark.usefixtures("untrained")
def test_an_error_names_a_partition_that_cannot_be_read(client, table, tmp_path):
    def read(part):
        if part["age"].min() > 0 and len(part) == 99:
            raise OSError("no such disk.\nMore.")
        return part

    parts = cut(table, 100, 199)
    parts[1] = parts[1].assign(age=5.0)
    rows = delayed_parts(parts).map_partitions(read, meta=table.iloc[:0])
    message = r"must be readable: number 1, counted from 0, is not \(OSError: no such disk\)"
    with pytest.raises(ValueError, match=message):
        there(client, rows, "ill")
    late = dd.from_map(_too_late, [0], meta=table.iloc[:0])
    with pytest.raises(ValueError, match=r"number 0, .*\(TimeoutError: the disk is asleep\)"):
        there(client, late, "ill")
    files = [tmp_path / f"{k}.parquet" for k in range(3)]
    for file in files:
        table.to_parquet(file)
    rows = dd.read_parquet(files)
    size = files[1].stat().st_size
    files[1].write_bytes(files[1].read_bytes()[: size // 4] + bytes(size - size // 4))
    with pytest.raises(ValueError, match=r"readable: number 1, .*not .*Correct its data, or leave"):
        there(client, rows, "ill")


def _too_late(_):
    raise TimeoutError("the disk is asleep")


@pytest.mark.usefixtures("untrained")
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (-1.0, "Partition 2, counted from 0: sample_weight must not be negative: got -1.0"),
        (np.nan, "Partition 2, counted from 0: .*sample_weight.*NaN"),
    ],
)
def test_an_error_names_the_partition_of_a_wrong_weight(client, table, weight, message):
    weights = np.ones(N)
    weights[-1] = weight
    columns = [table.drop(columns="ill"), table["ill"], pd.Series(weights)]
    rows = [dd.from_pandas(one, npartitions=3) for one in columns]
    with pytest.raises(ValueError, match=message):
        there(client, *rows)


@pytest.mark.usefixtures("untrained")
def test_columns_must_have_the_partitions_of_the_rows(client, table):
    rows = delayed_parts(cut(table, 100, 200))
    X, y = rows.drop(columns="ill"), delayed_parts(cut(table["ill"], 100, 201))
    message = r"Partition 1, .*as many rows: got 100 and 101"
    with pytest.raises(ValueError, match=message):
        there(client, X, y)
    with pytest.raises(ValueError, match=message):
        there(client, X, rows["ill"], delayed_parts(cut(table["age"], 100, 201)))
    with pytest.raises(ValueError, match="y must have the partitions of X: got 1 for 3"):
        there(client, X, dd.from_pandas(table["ill"], npartitions=1))
    with pytest.raises(ValueError, match="sample_weight must have the partitions of X: got 2"):
        there(client, rows, "ill", delayed_parts(cut(table["age"], 7)))


@pytest.mark.usefixtures("untrained")
def test_rows_must_have_two_classes(client, table):
    rows = dd.from_pandas(table, npartitions=3)
    with pytest.raises(ValueError, match="must hold at least two classes"):
        there(client, rows[rows["ill"] == "no"], "ill")
    with pytest.raises(ValueError, match="above zero: there is none among 0 rows in 3 part"):
        there(client, rows[rows["age"] > 1e9], "ill")
    zeros = rows["age"] * 0
    for max_rows in (200, None):
        with pytest.raises(ValueError, match="above zero: there is none among 300 rows in 3 part"):
            there(client, rows, "ill", zeros, max_rows=max_rows)


def test_a_score_needs_rows(client, table):
    rows = dd.from_pandas(table, npartitions=3)
    fitted = there(client, rows, "ill")
    with pytest.raises(ValueError, match="X must hold rows with a weight above zero"):
        fitted.score(rows[["age", "town"]], rows["ill"], rows["age"] * 0)
    message = "Partition 1, .*as many rows: got 100 and 99"
    with pytest.raises(ValueError, match=message):
        fitted.score(
            *(
                delayed_parts(cut(table[c], 100, k))
                for c, k in ((["age", "town"], 200), ("ill", 199))
            )
        )


@pytest.mark.parametrize(
    ("give", "error"),
    [
        (lambda rows: (rows.compute(scheduler="synchronous"), "ill"), "X must be a Dask DataFrame"),
        (lambda rows: (rows["age"], "ill"), "X must be a Dask DataFrame"),
        (lambda rows: (rows["age"].to_dask_array(), rows["ill"]), "X must be a Dask DataFrame"),
        (lambda rows: (rows, "sick"), "y must be a column of X: got 'sick'"),
        (lambda rows: (rows, None), "y must be a Dask Series, or y the name of a column"),
        (lambda rows: (rows, [0, 1]), "y must be a Dask Series.*got list"),
        (lambda rows: (rows, rows[["ill"]]), "y must be a Dask Series.*got DataFrame"),
        (lambda rows: (rows, "ill", np.ones(N)), "sample_weight must be a Dask Series.*ndarray"),
        (
            lambda rows: (rows[["age"]].to_dask_array(), "ill"),
            "y must be a Dask Array with one dimension, .*got str",
        ),
    ],
)
def test_other_data_are_refused(table, give, error):
    with pytest.raises((TypeError, ValueError), match=error):
        Partitions(*give(dd.from_pandas(table, npartitions=3)))
