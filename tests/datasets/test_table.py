import gzip
import lzma
import math

import pytest

from skliquid.datasets.table import Table, checksum, infer_kind, numbers, read_csv, words

KINDS = ("numerical", "categorical", "categorical")
TABLE = Table(("age", "city", "class"), (("41", "?", "0.5"), ("Bonn", "", "Rom"), ("a", "b", "a")))
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
def test_the_same_table_is_read_however_it_is_packed(data, path):
    assert read_csv(data, path) == TABLE


@pytest.mark.parametrize("data", [b"", b"\n\n", b"age,city,class\n"])
def test_a_file_without_rows_is_refused(data):
    with pytest.raises(ValueError, match=r"must have rows: own\.csv has none below the names"):
        read_csv(data, "own.csv")


def test_a_row_with_a_cell_too_many_is_named():
    with pytest.raises(ValueError, match=r"columns, 3: row 2 of own\.csv has 4\. Mend the row"):
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
    with pytest.raises(ValueError, match=f"packed as its name says: {path} is not"):
        read_csv(data, path)


def test_a_line_that_is_no_csv_is_named():
    with pytest.raises(ValueError, match=r"must be a CSV file: line 2 of own\.csv cannot be read"):
        read_csv(b'age,class\n"' + b"1" * 200_000 + b'",a\n', "own.csv")


def test_the_checksum_sees_values_and_not_how_they_are_written():
    other = Table(TABLE.names, (("5e-1", "41.0", "NA"), ("Rom", "Bonn", "?"), ("a", "a", "b")))
    assert checksum(other, KINDS) == checksum(TABLE, KINDS)
    zeros = [Table(("age",), ((zero,),)) for zero in ("0", "-0.0", "0.000")]
    assert len({checksum(zero, ("numerical",)) for zero in zeros}) == 1


@pytest.mark.parametrize(
    "other",
    [
        TABLE._replace(names=("age", "town", "class")),
        TABLE._replace(columns=(("42", "?", "0.5"), *TABLE.columns[1:])),
        TABLE._replace(columns=(("41", "0", "0.5"), *TABLE.columns[1:])),
        TABLE._replace(columns=(("41", "x", "0.5"), *TABLE.columns[1:])),
        TABLE._replace(columns=(*TABLE.columns[:2], ("b", "a", "a"))),
        Table(TABLE.names, tuple(column[:2] for column in TABLE.columns)),
    ],
)
def test_the_checksum_sees_every_change(other):
    assert checksum(other, KINDS) != checksum(TABLE, KINDS)


def test_the_checksum_is_the_one_that_its_docstring_describes():
    import hashlib

    lines = ["age\x1fcity\x1fclass", "0.5\x1fRom\x1fa", "41.0\x1fBonn\x1fa", "?\x1f?\x1fb"]
    assert checksum(TABLE, KINDS) == hashlib.sha256("\n".join(lines).encode()).hexdigest()


def test_missing_cells_are_not_a_number_or_none():
    missing = ["", "?", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL"]
    assert words(["a", *missing]) == ["a", *[None] * len(missing)]
    found = numbers(["1e3", *missing])
    assert found[0] == 1000
    assert all(map(math.isnan, found[1:]))


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (("1", "-2.5", "3e-7", "?"), "numerical"),
        (("?", ""), "numerical"),
        (("1", "two"), "categorical"),
        (("1_000", "2_000"), "categorical"),
        (("TRUE", "FALSE"), "categorical"),
    ],
)
def test_a_column_is_numerical_when_all_it_has_are_numbers(column, kind):
    assert infer_kind(column) == kind
