import gzip

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skliquid.sources.csv_dialect import GivenDialect
from skliquid.sources.data_files import MAX_CSV_COLUMNS, DataFiles, _regroup

USED = ["age", "visits", "town", "smokes", "ill"]
GERMAN = {"sep": ";", "decimal": ",", "lineterminator": "\r\n"}


def read(files, start=0, columns=USED):
    column_types = {name: files.column_types[name] for name in columns}
    if start:
        files.count_labels("ill", 0)
    labelled = "ill" if start else ""
    tables = list(files.tables(column_types, 100, start, labelled))
    return pa.concat_tables(tables) if tables else pa.table({})


def values(path, column, **options):
    files = DataFiles(path, **options)
    return read(files, columns=[column])[column].to_pylist()


# Rows and types


@pytest.mark.parametrize("name", ["one.parquet", "one.csv", "one.csv.gz", "ONE.CSV.GZ"])
def test_a_file_is_read_whole_and_from_any_row(table, write, tmp_path, name):
    options = {"row_group_size": 500} if name.endswith("parquet") else {}
    files = DataFiles(write(table, name.lower(), **options).rename(tmp_path / name))
    whole = read(files)
    is_csv = "csv" in name.lower()
    assert files.column_types == {
        "age": "number",
        "visits": "number",
        "town": "text",
        "smokes": "boolean",
        "seen": "text" if is_csv else "date",
        "ill": "text",
    }
    assert np.array_equal(whole["age"].to_numpy(), table["age"], equal_nan=True)
    assert whole["town"].null_count == table["town"].isna().sum()
    assert whole["smokes"].to_pylist() == table["smokes"].to_list()
    for start in (1, 499, 500, 1199):
        assert read(files, start).equals(whole.slice(start))
    assert read(files, 1200).num_rows == 0


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_folder_is_one_table_in_the_order_of_names(table, write, ending):
    path = write(table[:700], f"folder/a.{ending}").parent
    write(table[:0], f"folder/b.{ending}")
    write(table[700:], f"folder/c.{ending}")
    for other in ("_SUCCESS", ".hidden.csv", "README.md", "m.skliquid", "m.skliquid.checkpoint"):
        (path / other).write_text("")
    (path / "plots").mkdir()
    files, whole = DataFiles(path), DataFiles(write(table, f"whole.{ending}"))
    for start in (0, 10, 700, 701):
        assert read(files, start).equals(read(whole, start))
    assert [part.n_rows for part in files.parts] == [700, 0, 500]
    unit, offset = ("line", 2) if ending == "csv" else ("row", 1)
    assert files.locate(699, "ill") == f"{unit} {699 + offset} of {path / f'a.{ending}'}"
    assert files.locate(700, "ill") == f"{unit} {offset} of {path / f'c.{ending}'}"


def test_a_query_is_read_like_a_file(table, write):
    path = write(table, "a.parquet")
    files = DataFiles(f"SELECT age, upper(town) AS town, ill FROM '{path}' WHERE visits > 3;")
    assert files.column_types == {"age": "number", "town": "text", "ill": "text"}
    expected = table[table["visits"] > 3]
    assert read(files, columns=["town"])["town"].null_count == expected["town"].isna().sum()
    assert read(files, 5, ["age"]).num_rows == len(expected) - 5
    assert files.locate(3, "ill") == "row 4 of the query"
    same = DataFiles(files.source).fingerprint()
    assert files.fingerprint() == same
    write(table.assign(age=1.0), "a.parquet")
    assert DataFiles(files.source).fingerprint() != same
    for start in ("FROM", "with t as (FROM", "  select * FROM"):
        end = ") FROM t" if "(" in start else ""
        assert len(DataFiles(f"{start} '{path}'{end}").column_types) == 6


def test_a_query_that_is_wrong_is_refused():
    with pytest.raises(ValueError, match=r"A query must be SQL that DuckDB can run: .*nowhere"):
        DataFiles("SELECT * FROM 'nowhere.csv'")


def test_a_file_of_polars_is_read(tmp_path):
    path = tmp_path / "a.parquet"
    frame = pl.DataFrame(
        {
            "text": ["a", None],
            "category": pl.Series(["x", "y"], dtype=pl.Categorical),
            "boolean": [True, None],
            "small": pl.Series([1, None], dtype=pl.Int8),
            "floats": pl.Series([1.5, None], dtype=pl.Float32),
        }
    )
    frame.write_parquet(path)
    files = DataFiles(path)
    assert list(files.column_types.values())[2:] == ["boolean", "number", "number"]
    assert read(files, columns=frame.columns).to_pydict() == frame.to_dict(as_series=False)


def test_categories_of_pandas_are_categories(tmp_path):
    codes = pd.Series([100, 200, None], dtype="Int64").astype("category")
    pd.DataFrame({"a": codes, "b": pd.Categorical(["x", "y", "x"])}).to_parquet(tmp_path / "a.pq")
    files = DataFiles(tmp_path / "a.pq")
    assert files.column_types == {"a": "category", "b": "category"}
    rows = read(files, columns=["a", "b"])
    assert all(pa.types.is_dictionary(column.type) for column in rows.columns)
    assert rows["a"].to_pylist() == [100, 200, None]


def test_the_index_of_pandas_is_left_out(table, tmp_path):
    table.to_csv(tmp_path / "a.csv")
    table[table["visits"] > 3].to_parquet(tmp_path / "a.parquet")
    for name, index in [("a.csv", ""), ("a.parquet", "__index_level_0__")]:
        files = DataFiles(tmp_path / name)
        assert files.column_types[index] == "left out"
        assert files.why_unused(index) == "the row numbers of pandas"


def test_names_may_differ_in_case_only(tmp_path):
    frame = pd.DataFrame({"a": [1], "A": [2], 'a "b"': [3], "it's": [4]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    for name in ("a.csv", "a.parquet"):
        rows = read(DataFiles(tmp_path / name), columns=list(frame))
        assert rows.to_pydict() == frame.to_dict("list")


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "2.5", "-", "unknown"], [1.0, 2.5, None, None]),
        (["01234", "01235"], ["01234", "01235"]),
        (["true", "FALSE", ""], [True, False, None]),
        (["$1", "$2"], ["$1", "$2"]),
        (["31.12.2020", "1.1.2021"], ["31.12.2020", "1.1.2021"]),
        (["1e3", " 7 "], [1000.0, 7.0]),
        (["?", "NA"], [None, None]),
    ],
)
def test_cells_of_csv_files_have_the_type_of_their_column(tmp_path, cells, expected):
    (tmp_path / "a.csv").write_text("a,b\n" + "".join(f"{cell},x\n" for cell in cells))
    assert values(tmp_path / "a.csv", "a") == expected


def test_markers_of_missing_numbers_are_counted(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,x\n-,x\n-,x\nUnknown,x\n")
    files = DataFiles(tmp_path / "a.csv")
    read(files, columns=["a", "b"])
    assert files.markers == {"a": {"-": 2, "Unknown": 1}}


def test_a_column_that_turns_into_text_is_text_from_there(tmp_path, monkeypatch):
    monkeypatch.setattr("skliquid.sources.data_files._SAMPLE_ROWS", 100)
    (tmp_path / "a.csv").write_text("a,b\n" + "1.5,true\n" * 250 + "many,maybe\n")
    files = DataFiles(tmp_path / "a.csv")
    tables = list(files.tables(files.column_types, 100))
    assert [str(table["a"].type) for table in tables] == ["double", "double", "string"]
    assert tables[-1]["a"].to_pylist()[-2:] == ["1.5", "many"]
    assert tables[-1]["b"].to_pylist()[-2:] == ["True", "maybe"]


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_chosen_types_replace_those_of_the_file(write, name):
    frame = pd.DataFrame({"zip": [7000, 7001], "n": ["1", "2"], "day": [20201231, 20210101]})
    path = write(frame, name)
    chosen = {"zip": "category", "n": "number", "day": "date"}
    rows = read(DataFiles(path, chosen), columns=list(chosen))
    assert pa.types.is_dictionary(rows["zip"].type)
    assert rows["n"].to_pylist() == [1.0, 2.0]
    assert [day.year for day in rows["day"].to_pylist()] == [2020, 2021]
    text = values(path, "zip", chosen={"zip": "text"})
    assert text == ["7000", "7001"]


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_more_texts_can_stand_for_missing_values(write, name):
    path = write(pd.DataFrame({"a": ["x", "it's", "y"], "b": 1}), name)
    assert values(path, "a", missing_values=["it's", "{0}"]) == ["x", None, "y"]


@given(sizes=st.lists(st.integers(0, 9), max_size=8), n_rows=st.integers(1, 12))
@settings(max_examples=60)
def test_tables_do_not_depend_on_where_batches_end(sizes, n_rows):
    numbers = iter(range(1000))
    batches = [
        pa.table({"a": pa.array([next(numbers) for _ in range(k)], pa.int64())}) for k in sizes
    ]
    tables = list(_regroup(batches, n_rows))
    assert [v for table in tables for v in table["a"].to_pylist()] == list(range(sum(sizes)))
    assert all(len(table) == n_rows for table in tables[:-1])
    assert all(0 < len(table) <= n_rows for table in tables)


# Dialects


@pytest.mark.parametrize(
    "options",
    [
        {"sep": ";"},
        {"sep": "|"},
        {"sep": "\t", "lineterminator": "\r\n"},
        GERMAN,
        GERMAN | {"encoding": "utf-8-sig"},
        GERMAN | {"encoding": "cp1252"},
        {"sep": "\t", "decimal": ",", "encoding": "utf-16"},
        {"encoding": "utf-16-le"},
        {"encoding": "utf-32"},
        {"quoting": 2, "sep": ";"},
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz"])
def test_a_file_is_read_however_it_is_written(table, write, options, name):
    table = table.assign(town=table["town"].replace("Rome", "Rom; Süd, alt\t|\nneu"))
    files, plain = DataFiles(write(table, name, **options)), DataFiles(write(table, "plain.csv"))
    assert files.column_types == plain.column_types
    assert read(files).equals(read(plain))
    assert read(files, 700).equals(read(plain, 700))


def test_files_of_a_folder_may_be_written_differently(table, write):
    path = write(table[:500], "folder/a.csv").parent
    write(table[500:900], "folder/b.csv", **GERMAN)
    write(table[900:], "folder/c.tsv", sep="\t", encoding="utf-16")
    dialects = [part.dialect[:3] for part in DataFiles(path).parts]
    assert dialects == [(",", ".", "utf-8"), (";", ",", "utf-8"), ("\t", ".", "utf-16")]
    assert read(DataFiles(path)).equals(read(DataFiles(write(table, "plain.csv"))))


def test_what_is_given_holds_for_all_files(table, write):
    path = write(table, "a.csv", sep="~", decimal=",", encoding="cp1250")
    files = DataFiles(path, given=GivenDialect("~", ",", "cp1250"))
    assert read(files).equals(read(DataFiles(write(table, "plain.csv"))))


def test_line_ends_may_be_mixed(tmp_path):
    (tmp_path / "a.csv").write_bytes(b'a,b\n1,"x\ny"\n\n\r\n2,z\r\n3,w\n')
    assert values(tmp_path / "a.csv", "b") == ["x\ny", "z", "w"]


def test_empty_lines_and_the_first_line_of_excel_are_no_rows(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"sep=;\r\nkg;town\r\n3,5;Bonn\r\n\r\n2;Ulm\r\n\r\n\r\n")
    rows = read(DataFiles(tmp_path / "a.csv"), columns=["kg", "town"])
    assert rows.to_pydict() == {"kg": [3.5, 2.0], "town": ["Bonn", "Ulm"]}


def test_numbers_with_points_in_a_file_with_decimal_commas_are_text(tmp_path):
    (tmp_path / "a.csv").write_text("a;b\n1,5;1.234,5\n2,5;2.5\n")
    assert values(tmp_path / "a.csv", "a") == [1.5, 2.5]
    assert values(tmp_path / "a.csv", "b") == ["1.234,5", "2.5"]


def test_many_columns_are_read(tmp_path):
    names = [f"column_{k}" for k in range(3000)]
    pd.DataFrame(np.ones((50, 3000)), columns=names).to_csv(tmp_path / "a.csv", index=False)
    files = DataFiles(tmp_path / "a.csv")
    assert read(files, columns=names).shape == (50, 3000)


# Errors


@pytest.mark.parametrize(("row", "n_cells"), [("1", 1), ("1,2,3", 3)])
@pytest.mark.parametrize("n_before", [1, 199, 30_000])
@pytest.mark.parametrize("name", ["ragged.csv", "ragged.csv.gz"])
def test_a_row_of_too_few_or_too_many_cells_is_named_by_its_line(
    tmp_path, row, n_cells, n_before, name
):
    text = "a,b\n" + "1,2\n" * (n_before - 1) + '1,"x\ny"\n\n' + f"{row}\n1,2\n"
    data = gzip.compress(text.encode()) if name.endswith("gz") else text.encode()
    (tmp_path / name).write_bytes(data)
    message = rf"line {n_before + 4} of .*{name} has {n_cells}, and the first line 2. It was read w"
    with pytest.raises(ValueError, match=message):
        read(DataFiles(tmp_path / name), columns=["a"])


def test_a_byte_that_is_not_utf8_far_down_is_refused(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"a,b\n" + b"1,x\n" * 30_000 + b"1,\xe9\n")
    message = r"text in UTF-8: line 30002 of .*a.csv is not. .*--encoding cp1252"
    with pytest.raises(ValueError, match=message):
        DataFiles(tmp_path / "a.csv").count_labels("b", 0)


def test_an_encoding_that_is_wrong_is_refused(tmp_path):
    (tmp_path / "a.csv").write_bytes("a,b\n1,é\n".encode())
    for wrong in ("ascii", "utf-16"):
        with pytest.raises(ValueError, match=f"must be text in {wrong.upper()}: .*a.csv is not"):
            DataFiles(tmp_path / "a.csv", given=GivenDialect(encoding=wrong))


def test_broken_files_are_refused(table, write, tmp_path):
    path = write(table, "a.csv.gz")
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(ValueError, match=r"a.csv.gz"):
        read(DataFiles(path))
    (tmp_path / "b.parquet").write_text("age,ill\n1,2\n")
    with pytest.raises(ValueError, match=r"b.parquet is not \(.*\). Write it again"):
        DataFiles(tmp_path / "b.parquet")
    (tmp_path / "c.csv").write_text("")
    with pytest.raises(ValueError, match=r"names of the columns in its first line: .*c.csv has no"):
        DataFiles(tmp_path / "c.csv")
    (tmp_path / "d.csv").write_text("a,b,a\n1,2,3\n")
    with pytest.raises(ValueError, match=r"d.csv has 'a' more than once"):
        DataFiles(tmp_path / "d.csv")


def test_a_csv_file_of_very_many_columns_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "wide.csv"
    names = [f"x{k}" for k in range(MAX_CSV_COLUMNS + 1)]
    path.write_text(",".join(names) + "\n" + ",".join("1" * len(names)) + "\n")
    with pytest.raises(ValueError, match=r"at most 8,192 columns: .*wide.csv has 8,193. Leave"):
        DataFiles(path)


def test_a_broken_row_group_is_refused(table, write):
    path = write(table, "a.parquet", row_group_size=400, use_dictionary=False)
    column = pq.ParquetFile(path).metadata.row_group(1).column(0)
    content = bytearray(path.read_bytes())
    start, length = column.data_page_offset, column.total_compressed_size // 2
    content[start : start + length] = b"\xff" * length
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"Data must be readable: .*a.parquet is not"):
        read(DataFiles(path))


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
    write(table.assign(visits=0.5), "folder/b.parquet")
    assert set(read(DataFiles(path), 1200)["visits"].to_pylist()) == {0.5}


def test_a_column_without_a_type_takes_that_of_the_other_files(table, write):
    path = write(
        table.assign(age=pd.Series([None] * 1200, dtype=object)), "folder/a.parquet"
    ).parent
    write(table, "folder/b.parquet")
    got = read(DataFiles(path))
    assert got["age"].slice(0, 1200).null_count == 1200


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
    with pytest.raises(ValueError, match=r"is a Parquet file. Leave them out."):
        DataFiles(write(table, "c.parquet"), given=GivenDialect(";"))


def test_folders_within_a_folder_and_broken_links_are_refused(table, write, tmp_path):
    (tmp_path / "all").mkdir()
    write(table, "all/year=1/a.csv")
    with pytest.raises(ValueError, match=r"hold its files directly: .*year=1 is a folder"):
        DataFiles(tmp_path / "all")
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
