import gzip

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from skliquid.streams.csv_dialect import Dialect, GivenDialect
from skliquid.streams.csv_format import CsvFormat
from skliquid.streams.data_files import DataFiles

GERMAN = {"sep": ";", "decimal": ",", "lineterminator": "\r\n"}


def read(files, columns=("age", "visits", "town", "smokes", "ill")):
    column_types = {name: files.column_types[name] for name in columns}
    return pa.concat_tables(table for table, _ in files.tables(column_types, 100))


def same_rows(path, plain, **given):
    files, others = DataFiles(path, given=GivenDialect(**given)), DataFiles(plain)
    assert files.column_types == others.column_types
    assert files.n_rows_by_file == others.n_rows_by_file
    return read(files).equals(read(others))


@pytest.mark.parametrize(
    "options",
    [
        {"sep": ";"},
        {"sep": "|"},
        {"sep": "\t", "lineterminator": "\r\n"},
        GERMAN,
        GERMAN | {"encoding": "utf-8-sig"},
        {"sep": "\t", "decimal": ",", "encoding": "utf-16"},
        {"encoding": "utf-32"},
        {"quoting": 2, "sep": ";"},
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz"])
def test_a_file_is_read_however_it_is_written(table, write, options, name):
    table = table.assign(town=table["town"].replace("Rome", "Rom; Süd, alt\t|\nneu"))
    assert same_rows(write(table, name, **options), write(table, "plain.csv"))


def test_files_of_a_folder_may_be_written_differently(table, write):
    path = write(table[:500], "folder/a.csv").parent
    write(table[500:900], "folder/b.csv", **GERMAN)
    write(table[900:], "folder/c.tsv", sep="\t", encoding="utf-16")
    assert [dialect[:3] for dialect in DataFiles(path).dialects] == [
        (",", ".", "utf-8"),
        (";", ",", "utf-8"),
        ("\t", ".", "utf-16"),
    ]
    assert read(DataFiles(path)).equals(read(DataFiles(write(table, "plain.csv"))))


def test_what_is_given_holds_for_all_files(table, write):
    path = write(table, "a.csv", sep="~", decimal=",", encoding="cp1252")
    given = {"separator": "~", "decimal": ",", "encoding": "cp1252"}
    assert same_rows(path, write(table, "plain.csv"), **given)


def test_empty_lines_and_the_first_line_of_excel_are_no_rows(write, tmp_path):
    (tmp_path / "a.csv").write_bytes(b"sep=;\r\nkg;town\r\n3,5;Bonn\r\n\r\n2;Ulm\r\n\r\n\r\n")
    rows = read(DataFiles(tmp_path / "a.csv"), columns=["kg", "town"])
    assert rows.to_pydict() == {"kg": [3.5, 2.0], "town": ["Bonn", "Ulm"]}


def test_one_column_may_have_decimal_commas(tmp_path):
    (tmp_path / "a.csv").write_text("kg\n3,14\n2\n")
    assert read(DataFiles(tmp_path / "a.csv"), columns=["kg"])["kg"].to_pylist() == [3.14, 2.0]


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252"])
def test_other_encodings_are_read_in_blocks(tmp_path, encoding, monkeypatch):
    monkeypatch.setattr("skliquid.streams.csv_format._BLOCK", 1000)
    text = "n;town\n" + "".join(f"{k};Köln {k % 7}\n" for k in range(5000))
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode(encoding))
    reader = CsvFormat(GivenDialect(encoding=None if encoding == "utf-16" else encoding))
    batches = list(reader.read_batches(path, {"n": "number", "town": "text"}, 10))
    assert len(batches) > 50
    numbers = np.concatenate([batch["n"].to_numpy() for batch in batches])
    assert np.array_equal(numbers, np.arange(10, 5000))
    assert batches[-1]["town"].to_pylist()[-1] == "Köln 1"


def test_ids_are_read_as_they_are_written(tmp_path):
    (tmp_path / "a.csv").write_text("id,x\n007,1\n08.10,2\n")
    batches = CsvFormat(GivenDialect()).read_batches(tmp_path / "a.csv", {"id": "id"}, 0)
    assert [value for batch in batches for value in batch["id"].to_pylist()] == ["007", "08.10"]


@pytest.mark.parametrize("place", ["a,é\n1,2\n", "a,b\n1,é\n", "a,b\n" + "1,x\n" * 500 + "1,é\n"])
def test_another_encoding_is_named_as_the_way_out(tmp_path, place, monkeypatch):
    monkeypatch.setattr("skliquid.streams.csv_format._FIRST_BLOCK", 100)
    path = tmp_path / "a.csv"
    path.write_bytes(place.encode("cp1252"))
    with pytest.raises(ValueError, match=r"text in UTF-8.*a.csv .*--encoding cp1252"):
        read(DataFiles(path), columns=["a", "b"])
    files = DataFiles(path, given=GivenDialect(encoding="cp1252"))
    assert "é" in files.column_types or "é" in read(files, columns=["b"])["b"].to_pylist()


def test_an_encoding_that_is_wrong_is_refused(tmp_path):
    (tmp_path / "a.csv").write_bytes("a,b\n1,é\n".encode())
    for wrong in ("ascii", "utf-16"):
        with pytest.raises(ValueError, match=f"must be text in {wrong.upper()}: .*a.csv cannot"):
            DataFiles(tmp_path / "a.csv", given=GivenDialect(encoding=wrong))


def test_the_other_decimal_mark_is_named_as_the_way_out(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a;b;c\n1.5;2.5;3,5\n")
    with pytest.raises(ValueError, match=r"holds '3,5' .* give decimal=',' \(--decimal ,\), or"):
        read(DataFiles(path, {"c": "number"}), columns=["c"])
    files = DataFiles(path, given=GivenDialect(decimal=","))
    assert list(files.column_types.values()) == ["text", "text", "number"]


def test_the_separator_is_named_when_rows_differ(tmp_path):
    (tmp_path / "a.csv").write_text("a;b\n1;2\n1;2;3\n")
    with pytest.raises(ValueError, match=r"It was read with ';' between cells.*\(--sep\)"):
        DataFiles(tmp_path / "a.csv")


def test_a_broken_compressed_file_is_refused(tmp_path):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n")[:-12])
    with pytest.raises(ValueError, match=r"a.csv.gz cannot be read"):
        CsvFormat(GivenDialect()).dialect(tmp_path / "a.csv.gz")


def test_dialects_are_for_csv_files(write):
    path = write(pd.DataFrame({"a": [1]}), "a.parquet")
    assert DataFiles(path).dialects == []
    with pytest.raises(ValueError, match=r"are for CSV files \(--sep, .*a.parquet is a Parquet"):
        DataFiles(path, given=GivenDialect(separator=";"))


def test_a_dialect_is_found_once(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("a;b\n1;2\n")
    reader = CsvFormat(GivenDialect())
    assert reader.dialect(tmp_path / "a.csv") == Dialect(";")
    monkeypatch.setattr("skliquid.streams.csv_format.find_dialect", None)
    assert reader.count_rows(tmp_path / "a.csv") == 1
