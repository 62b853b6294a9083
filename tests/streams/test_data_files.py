import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skliquid.streams.data_files import DataFiles, _regroup

USED = ["age", "visits", "town", "smokes", "ill"]


def read(files, start=0, columns=USED):
    column_types = {name: files.column_types[name] for name in columns}
    return pa.concat_tables(table for table, _ in files.tables(column_types, 100, start))


@pytest.mark.parametrize("name", ["one.parquet", "one.csv", "one.csv.gz"])
def test_a_file_is_read_whole_and_from_any_row(table, write, name):
    options = {"row_group_size": 500} if name.endswith("parquet") else {}
    files = DataFiles(write(table, name, **options))
    whole = read(files)
    assert files.column_types == {
        "age": "number",
        "visits": "number",
        "town": "text",
        "smokes": "boolean",
        "seen": "left_out",
        "ill": "text",
    }
    assert np.allclose(whole["age"].to_numpy(), table["age"], equal_nan=True)
    assert whole["town"].null_count == table["town"].isna().sum()
    for start in (1, 499, 500, 1199):
        assert read(files, start).equals(whole.slice(start))
    assert list(files.tables({"age": "number"}, 100, 1200)) == []


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_folder_is_one_table_in_the_order_of_names(table, write, ending):
    path = write(table[:700], f"folder/a.{ending}").parent
    write(table[:0], f"folder/b.{ending}")
    write(table[700:], f"folder/c.{ending}")
    for other in ("_SUCCESS", ".hidden.csv", "README.md", "m.skliquid", "m.skliquid.checkpoint"):
        (path / other).write_text("")
    (path / "plots").mkdir()
    files, whole = DataFiles(path), DataFiles(write(table, f"whole.{ending}"))
    assert files.n_rows_by_file == [700, 0, 500]
    for start in (0, 10, 700, 701):
        assert read(files, start).equals(read(whole, start))
    assert files.locate(0, 699) == f"row 700 of {path / f'a.{ending}'}"
    assert files.locate(600, 100) == f"row 1 of {path / f'c.{ending}'}"


def test_a_file_of_polars_is_read(tmp_path):
    path = tmp_path / "a.parquet"
    pl.DataFrame(
        {
            "text": ["a", None],
            "category": pl.Series(["x", "y"], dtype=pl.Categorical),
            "boolean": [True, None],
            "small": pl.Series([1, None], dtype=pl.Int8),
            "floats": pl.Series([1.5, None], dtype=pl.Float32),
        }
    ).write_parquet(path)
    files = DataFiles(path)
    assert list(files.column_types.values()) == ["text", "text", "boolean", "number", "number"]
    assert read(files, columns=list(files.column_types)).to_pydict() == {
        "text": ["a", None],
        "category": ["x", "y"],
        "boolean": [True, None],
        "small": [1, None],
        "floats": [1.5, None],
    }


def test_the_index_of_pandas_is_left_out(table, tmp_path):
    table.to_csv(tmp_path / "a.csv")
    assert DataFiles(tmp_path / "a.csv").column_types[""] == "left_out"
    table[table["visits"] > 3].to_parquet(tmp_path / "a.parquet")
    column_types = DataFiles(tmp_path / "a.parquet").column_types
    assert column_types["__index_level_0__"] == "left_out"


def test_only_the_columns_asked_for_are_read(table, write):
    assert read(DataFiles(write(table, "a.parquet")), columns=["ill"]).column_names == ["ill"]


def test_a_chosen_type_makes_text_of_numbers_and_numbers_of_text(table, write):
    for name in ("a.parquet", "a.csv"):
        files = DataFiles(write(table.assign(code="7"), name), {"visits": "text", "code": "number"})
        got = read(files, columns=["visits", "code"])
        assert set(got["visits"].to_pylist()) == {str(k) for k in range(9)}
        assert set(got["code"].to_pylist()) == {7.0}


def test_a_value_that_is_not_of_the_chosen_type_is_refused(table, write):
    files = DataFiles(write(table, "a.parquet"), {"town": "number"})
    with pytest.raises(ValueError, match=r"'town' of .*a.parquet has a value that is not of the"):
        read(files, columns=["town"])


def test_a_list_is_no_text(write):
    files = DataFiles(write(pd.DataFrame({"a": [[1], [2]]}), "a.parquet"), {"a": "text"})
    message = r"train with column_types={'a': 'left_out'} \(.*--leave-out a"
    with pytest.raises(ValueError, match=message):
        read(files, columns=["a"])


def test_only_zeros_and_ones_are_booleans(write):
    for name in ("a.parquet", "a.csv"):
        frame = pd.DataFrame({"a": [0, 1, None], "b": [0, 1, 49]}, dtype="Int64")
        path = write(frame, name)
        files = DataFiles(path, {"a": "boolean", "b": "boolean"})
        assert read(files, columns=["a"])["a"].to_pylist() == [False, True, None]
        with pytest.raises(ValueError, match="49"):
            read(files, columns=["b"])


@given(
    sizes=st.lists(st.integers(0, 9), max_size=8),
    n_rows=st.integers(1, 12),
)
@settings(max_examples=60)
def test_tables_do_not_depend_on_where_batches_end(sizes, n_rows):
    values = iter(range(1000))
    batches = [
        pa.table({"a": pa.array([next(values) for _ in range(k)], pa.int64())}) for k in sizes
    ]
    tables = list(_regroup(batches, n_rows))
    assert [v for table in tables for v in table["a"].to_pylist()] == list(range(sum(sizes)))
    assert all(len(table) == n_rows for table in tables[:-1])
    assert all(0 < len(table) <= n_rows for table in tables)


# What can be wrong with files


def test_a_broken_row_group_is_named(table, write):
    path = write(table, "a.parquet", row_group_size=400, use_dictionary=False)
    column = pq.ParquetFile(path).metadata.row_group(1).column(0)
    content = bytearray(path.read_bytes())
    start = column.data_page_offset
    content[start : start + column.total_compressed_size // 2] = b"\xff" * (
        column.total_compressed_size // 2
    )
    path.write_bytes(content)
    files = DataFiles(path)
    with pytest.raises(ValueError, match=r"row group 1 \(counted from 0, of 3\) of .*a.parquet is"):
        read(files)
    assert read(files, 800).num_rows == 400


def test_a_flipped_bit_is_found_by_the_checksum_that_a_page_has(table, write):
    path = write(
        table,
        "a.parquet",
        row_group_size=400,
        compression=None,
        use_dictionary=False,
        write_page_checksum=True,
    )
    column = pq.ParquetFile(path).metadata.row_group(2).column(0)
    content = bytearray(path.read_bytes())
    content[column.data_page_offset + column.total_compressed_size // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match="row group 2"):
        read(DataFiles(path))


def test_an_invalid_parquet_file_is_refused(tmp_path):
    (tmp_path / "a.parquet").write_text("age,ill\n1,2\n")
    with pytest.raises(ValueError, match=r"a.parquet is not \(.*\). Write it again"):
        DataFiles(tmp_path / "a.parquet")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files_of_a_folder_must_have_the_same_columns(table, write, ending):
    path = write(table, f"folder/a.{ending}").parent
    write(table.drop(columns="town"), f"folder/b.{ending}")
    with pytest.raises(
        ValueError, match=rf"'town' is .* in .*a.{ending} and missing in .*b.{ending}"
    ):
        DataFiles(path)
    write(table.assign(more=1), f"folder/b.{ending}")
    with pytest.raises(ValueError, match=rf"'more' is missing in .*a.{ending} and "):
        DataFiles(path)


def test_files_of_a_folder_must_have_the_same_column_types(table, write):
    path = write(table, "folder/a.parquet").parent
    write(table.assign(visits="many"), "folder/b.parquet")
    with pytest.raises(ValueError, match=r"'visits' is number in .*a.parquet and text in .*b.par"):
        DataFiles(path)


def test_integers_and_floats_are_of_one_type(table, write):
    path = write(table, "folder/a.parquet").parent
    write(table.assign(visits=0.5), "folder/b.parquet")
    assert set(read(DataFiles(path), 1200)["visits"].to_pylist()) == {0.5}


def test_a_column_without_a_type_takes_that_of_the_other_files(table, write):
    path = write(
        table.assign(age=pd.Series([None] * 1200, dtype=object)), "folder/a.parquet"
    ).parent
    write(table, "folder/b.parquet")
    got = read(DataFiles(path))
    assert got["age"].slice(0, 1200).null_count == 1200
    assert got["age"].type == pa.float64()


@pytest.mark.parametrize("late", ["folder/b.csv", "folder/a.csv"])
def test_a_csv_column_that_turns_into_text_is_refused(table, write, late, monkeypatch):
    monkeypatch.setattr("skliquid.streams.csv_format._FIRST_BLOCK", 10_000)
    monkeypatch.setattr("skliquid.streams.csv_format._BLOCK", 10_000)
    changed = table.astype({"visits": object})
    changed.loc[1100, "visits"] = "many"
    path = write(table, "folder/a.csv").parent
    write(changed, late)
    message = rf"column 'visits' of .*{late} is read as 'number', and holds 'many'"
    way_out = r" some rows after row \d+\. .*'visits': 'text'"
    with pytest.raises(ValueError, match=message + way_out):
        read(DataFiles(path))
    assert "many" in read(DataFiles(path, {"visits": "text"}))["visits"].to_pylist()


def test_a_csv_column_of_integers_may_continue_with_floats(write, monkeypatch):
    monkeypatch.setattr("skliquid.streams.csv_format._FIRST_BLOCK", 100)
    frame = pd.DataFrame({"a": ["1"] * 500 + ["2.5", "", "?"]})
    got = read(DataFiles(write(frame, "a.csv")), columns=["a"])["a"]
    assert got.to_pylist()[-3:] == [2.5, None, None]


def test_a_csv_row_of_too_many_cells_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("skliquid.streams.csv_format._FIRST_BLOCK", 100)
    monkeypatch.setattr("skliquid.streams.csv_format._BLOCK", 100)
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + "1,2\n" * 500 + "1,2,3\n")
    with pytest.raises(
        ValueError, match=r"a.csv cannot be read some rows after row \d+ \(.*Expect"
    ):
        read(DataFiles(path), columns=["a"])


def test_a_csv_row_of_too_many_cells_is_refused_at_the_start_too(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n1,2,3\n")
    with pytest.raises(ValueError, match=r"as many cells in each row: .*a.csv cannot be read"):
        DataFiles(tmp_path / "a.csv")


def test_a_compressed_csv_file_in_capitals_is_read(table, write, tmp_path):
    compressed = write(table, "a.csv.gz").rename(tmp_path / "A.CSV.GZ")
    assert read(DataFiles(compressed)).equals(read(DataFiles(write(table, "b.csv"))))


def test_a_compressed_csv_file_that_is_cut_off_is_refused(table, write):
    path = write(table, "a.csv.gz")
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(ValueError, match=r"a.csv.gz"):
        read(DataFiles(path))


def test_a_csv_file_that_is_not_utf8_is_refused(tmp_path):
    (tmp_path / "a.csv").write_bytes("a,b\n1,é\n".encode("latin-1"))
    with pytest.raises(
        ValueError, match=r"text in UTF-8, .*: column 'b' of .*a.csv has bytes that"
    ):
        DataFiles(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_bytes("a,é\n1,2\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"text in UTF-8, .*: the first line of .*b.csv has"):
        DataFiles(tmp_path / "b.csv")


def test_a_byte_that_is_not_utf8_far_down_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("skliquid.streams.csv_format._FIRST_BLOCK", 100)
    (tmp_path / "a.csv").write_bytes(b"a,b\n" + b"1,x\n" * 500 + b"1,\xe9\n")
    with pytest.raises(ValueError, match=r"text in UTF-8: .*a.csv cannot be read"):
        read(DataFiles(tmp_path / "a.csv"), columns=["b"])


def test_a_line_break_within_quotes_is_not_a_new_row(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('a,b\n1,"x\ny"\n2,z\n')
    assert read(DataFiles(path), columns=["b"])["b"].to_pylist() == ["x\ny", "z"]


def test_a_csv_file_without_a_line_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("")
    with pytest.raises(ValueError, match=r"a.csv cannot be read .*\(Empty CSV file\)"):
        DataFiles(tmp_path / "a.csv")


def test_paths_are_checked(table, write, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere.csv is not, seen from"):
        DataFiles(tmp_path / "nowhere.csv")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "README.md").write_text("nothing yet")
    with pytest.raises(ValueError, match=r"files that end in .*: .*empty holds none"):
        DataFiles(tmp_path / "empty")
    (tmp_path / "a.xls").write_text("x")
    with pytest.raises(ValueError, match=r"must end in .parquet, .*, .tsv, .tsv.gz: .*a.xls does"):
        DataFiles(tmp_path / "a.xls")
    write(table, "mixed/a.csv")
    with pytest.raises(ValueError, match="mixed holds CSV and Parquet"):
        DataFiles(write(table, "mixed/b.parquet").parent)


def test_folders_within_a_folder_are_not_ignored(table, write, tmp_path):
    (tmp_path / "all").mkdir()
    write(table, "all/year=1/a.csv")
    with pytest.raises(ValueError, match=r"hold its files directly: .*year=1 is a folder"):
        DataFiles(tmp_path / "all")


def test_broken_links_are_refused(table, write, tmp_path):
    (write(table, "folder/a.csv").parent / "b.csv").symlink_to("nowhere.csv")
    with pytest.raises(ValueError, match=r"b.csv is a broken link"):
        DataFiles(tmp_path / "folder")
    with pytest.raises(FileNotFoundError, match=r"b.csv is a broken link"):
        DataFiles(tmp_path / "folder" / "b.csv")


def test_the_fingerprint_changes_with_the_data(table, write):
    path = write(table, "a.csv")
    first = DataFiles(path).fingerprint()
    assert DataFiles(path).fingerprint() == first
    path.write_bytes(path.read_bytes().replace(b"Rome", b"Bern"))
    assert DataFiles(path).fingerprint() != first
