import gzip
import lzma
import math
import re
import tracemalloc

import pytest

from skliquid.datasets import table
from skliquid.datasets.table import (
    check_column,
    check_distinct,
    checksum,
    infer_type,
    numbers,
    read_csv,
    words,
)

COLUMN_TYPES = ("numerical", "categorical", "categorical")
TABLE = {"age": ("41", "?", "0.5"), "city": ("Bonn", "", "Rom"), "class": ("a", "b", "a")}
TEXT = b"age,city,class\n41,Bonn,a\n?,,b\n0.5,Rom,a\n"


@pytest.mark.parametrize(
    ("data", "path"),
    [
        (TEXT, "own.csv"),
        (gzip.compress(TEXT, mtime=0), "own.csv.gz"),
        (lzma.compress(TEXT), "own.CSV.XZ"),
        (b"\xef\xbb\xbf" + TEXT.replace(b"\n", b"\r\n"), "from_a_spreadsheet.csv"),
        (b"\n" + TEXT.replace(b",", b" , ") + b"\n\n", "with_space_and_blank_lines.csv"),
        (TEXT.replace(b"Bonn", b'"Bonn"'), "with_quotes.csv"),
    ],
)
def test_the_same_table_is_read_however_it_is_compressed(data, path):
    assert read_csv(data, path) == TABLE


@pytest.mark.parametrize("data", [b"", b"\n\n", b"age,city,class\n"])
def test_a_file_without_rows_is_refused(data):
    with pytest.raises(ValueError, match=r"must have rows: own\.csv has none below the names"):
        read_csv(data, "own.csv")


def test_a_row_with_a_cell_too_many_is_named():
    with pytest.raises(ValueError, match=r"columns, 3: row 2 of own\.csv has 4\. Correct the row"):
        read_csv(TEXT.replace(b"?,,b", b"?,,,b"), "own.csv")


@pytest.mark.parametrize(
    ("data", "path"),
    [
        (b"\xff\xfe\x00", "own.csv"),
        (TEXT, "own.csv.gz"),
        (TEXT, "own.csv.xz"),
        (gzip.compress(TEXT, mtime=0)[:-9], "own.csv.gz"),
        (lzma.compress(TEXT)[:-9], "own.csv.xz"),
        (gzip.compress(TEXT, mtime=0)[:12] + b"\x07" * 9, "own.csv.gz"),
    ],
)
def test_bytes_that_are_not_what_the_name_says_are_refused(data, path):
    with pytest.raises(ValueError, match=f"compressed as its name says: {path} is not"):
        read_csv(data, path)


@pytest.mark.parametrize(("compress", "end"), [(gzip.compress, "gz"), (lzma.compress, "xz")])
def test_a_file_is_not_decompressed_beyond_the_limit(monkeypatch, compress, end):
    data = compress(TEXT + b"?,,b\n" * (10 << 20))
    assert len(data) < 1 << 20
    monkeypatch.setattr(table, "MAX_BYTES", 1 << 20)
    tracemalloc.start()
    with pytest.raises(ValueError, match=f"at most 1 MB: own.csv.{end} holds more. Decompress it"):
        read_csv(data, f"own.csv.{end}")
    assert tracemalloc.get_traced_memory()[1] < 20 << 20
    tracemalloc.stop()


def test_an_invalid_csv_line_is_named():
    with pytest.raises(ValueError, match=r"must be a CSV file: line 2 of own\.csv cannot be read"):
        read_csv(b'age,class\n"' + b"1" * 200_000 + b'",a\n', "own.csv")


def test_the_checksum_depends_on_values_and_not_on_their_notation():
    columns = (("5e-1", "41.0", "NA"), ("Rom", "Bonn", "?"), ("a", "a", "b"))
    same = dict(zip(TABLE, columns, strict=True))
    assert checksum(same, COLUMN_TYPES) == checksum(TABLE, COLUMN_TYPES)
    zeros = [{"age": (zero,)} for zero in ("0", "-0.0", "0.000")]
    assert len({checksum(zero, ("numerical",)) for zero in zeros}) == 1


@pytest.mark.parametrize(
    "other",
    [
        dict(zip(("age", "town", "class"), TABLE.values(), strict=True)),
        TABLE | {"age": ("42", "?", "0.5")},
        TABLE | {"age": ("41", "0", "0.5")},
        TABLE | {"age": ("41", "x", "0.5")},
        TABLE | {"class": ("b", "a", "a")},
        {name: column[:2] for name, column in TABLE.items()},
    ],
)
def test_the_checksum_changes_with_every_value(other):
    assert checksum(other, COLUMN_TYPES) != checksum(TABLE, COLUMN_TYPES)


def test_the_checksum_is_the_one_that_its_docstring_describes():
    import hashlib

    lines = ["age\x1fcity\x1fclass", "0.5\x1fRom\x1fa", "41.0\x1fBonn\x1fa", "?\x1f?\x1fb"]
    assert checksum(TABLE, COLUMN_TYPES) == hashlib.sha256("\n".join(lines).encode()).hexdigest()


def test_missing_cells_are_nan_or_none():
    missing = ["", "?", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL"]
    assert words(["a", *missing]) == ["a", *[None] * len(missing)]
    values = numbers(["1e3", *missing])
    assert values[0] == 1000
    assert all(map(math.isnan, values[1:]))


@pytest.mark.parametrize(
    ("column", "column_type"),
    [
        (("1", "-2.5", "3e-7", "?"), "numerical"),
        (("?", ""), "numerical"),
        (("1", "two"), "categorical"),
        (("1_000", "2_000"), "categorical"),
        (("TRUE", "FALSE"), "categorical"),
    ],
)
def test_a_column_is_numerical_when_all_its_values_are_numbers(column, column_type):
    assert infer_type(column) == column_type


def test_the_closest_name_is_suggested():
    message = "target must be a column of data.csv, which has age, class: got 'clas'. Did you mean"
    with pytest.raises(ValueError, match=re.escape(message)):
        check_column("clas", ["age", "class"], "data.csv", parameter="target")


def test_of_many_columns_only_the_first_are_listed():
    with pytest.raises(ValueError, match=r"has c0, .*c19, \.\.\.: got 'z'"):
        check_column("z", [f"c{k}" for k in range(99)], "data.csv", parameter="target")


def test_two_columns_of_one_name_are_refused():
    check_distinct(["a", "b"], "data.csv")
    with pytest.raises(ValueError, match=r"data.csv has 'a' more than once\. Rename one"):
        check_distinct(["a", "b", "a"], "data.csv")
