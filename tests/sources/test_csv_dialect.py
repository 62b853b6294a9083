import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skliquid.sources.csv_dialect import (
    SEPARATORS,
    Dialect,
    GivenDialect,
    find_dialect,
)


def found(text, written_in="utf-8", is_whole=True, **options):
    data = text.encode(written_in)
    return find_dialect(data, GivenDialect(**options).validate(), is_whole=is_whole)


@pytest.mark.parametrize(
    ("text", "separator", "decimal"),
    [
        ("a,b\n1,2\n", ",", "."),
        ("a;b\n1;2\n", ";", "."),
        ("a\tb\n1\t2\n", "\t", "."),
        ("a|b\n1|2\n", "|", "."),
        ("a;b\n3,14;2,5\n", ";", ","),
        ("a;b\r\n3,14;2,5\r\n\r\n\r\n", ";", ","),
        ("a\tb\n-,5\tx\n1e3\ty\n", "\t", ","),
        ('"a;b",c\n"1;2",3\n', ",", "."),
        ('a;b\n"x;y";"3,5"\n', ";", ","),
        ("height, cm;weight, kg\n1,80;75,5\n", ";", ","),
        ("id,tags\n1,a;b\n2,c;d\n", ",", "."),
        ("name;note\nx;well, yes\ny;no, no, no\n", ";", "."),
        ("a,b,c\n1,2,3\n1,2\n", ",", "."),
        ("x\n3,14\n2\n", ";", ","),
        ("x\ny\n", ",", "."),
        ("x", ",", "."),
        ("", ",", "."),
        ("a;b\n12.05;3,5\n13.05;2,5\n", ";", ","),
        ("a;b\n3.14;x\n2.5;1,5\n", ";", "."),
        ("a;b\n1,234;x\n999;y\n", ";", "."),
        ("a;b\n1,234;3.5\n1,999;2.5\n", ";", "."),
        ("a;b\n0,125;3\n1,999;2\n", ";", ","),
        ("a;b\n1,234;3\n1,999;2\n", ";", ","),
        ("a;b\n1,2;3\n?;2\n;1\n", ";", ","),
        ("a;b\n1,2;3\nunknown;2\n-;1\n", ";", ","),
        ("a;b\n1,2,3;4\n2,3,4;5\n", ";", "."),
        ("sep=|\na|b;c\n1|2\n", "|", "."),
    ],
    ids=lambda value: repr(value)[:24],
)
def test_separators_and_decimal_marks_are_found(text, separator, decimal):
    assert found(text)[:2] == (separator, decimal)


@given(
    separator=st.sampled_from(SEPARATORS),
    rows=st.lists(st.lists(st.text("ab1,;|\t\"\n'", max_size=6), min_size=3, max_size=3)),
)
def test_a_separator_is_found_whatever_the_cells_hold(separator, rows):
    file = io.StringIO()
    csv.writer(file, delimiter=separator).writerows([["x", "y", "z"], *rows])
    assert found(file.getvalue()).separator == separator
    assert found(file.getvalue(), is_whole=False).separator == separator


def test_a_row_that_is_cut_off_does_not_count():
    assert found("a;b\n1;2,5\n1;2.", is_whole=False).decimal == ","
    assert found("a;b\n1;2,5\n1;x", is_whole=True).decimal == "."


@pytest.mark.parametrize(
    ("encoding", "name"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("utf-16", "utf-16"),
        ("utf-32", "utf-32"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
    ],
)
def test_encodings_are_found_by_their_first_bytes(encoding, name):
    assert found("a;ä\n3,14;ö\n", encoding) == Dialect(";", ",", name)


def test_text_that_is_not_utf_8_is_windows_1252():
    assert found("ä;b\n3,14;ö\n", "cp1252") == Dialect(";", ",", "cp1252")
    assert found("ä;b\n3,14;ö\n", "cp1252", encoding="latin-1").encoding == "iso8859-1"


def test_what_is_given_is_not_searched_for():
    assert found("a;b\n3,14;2\n", separator=",", decimal=".") == Dialect()
    assert found("a,b;c\n1,5;2\n", decimal=",").separator == ";"
    assert found("a;b\n1;2\n", encoding="Windows-1252").encoding == "cp1252"
    assert found("a;b\n1;2\n", encoding="utf_8_sig").encoding == "utf-8"
    assert found("a b\n1 2\n", separator=" ").separator == " "


def test_the_first_line_of_excel_names_the_separator():
    assert found('sep=;\r\n"a,b";"c,d"\r\n1;2\r\n') == Dialect(";", ".", "utf-8", 1)
    assert found('"sep=,"\na,b\n1,2\n') == Dialect(n_skipped=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"separator": ""}, "separator must be one ASCII character, .*got ''"),
        ({"separator": ";;"}, "separator must be one ASCII character, .*got ';;'"),
        ({"separator": "§"}, "got '§'. Give one like ';'"),
        ({"separator": '"'}, "not a quote"),
        ({"separator": 5}, "separator must be one ASCII character, .*got 5"),
        ({"decimal": "'"}, "decimal must be '.' or ',', and"),
        ({"separator": ",", "decimal": ","}, "and not the separator: got ','"),
        ({"encoding": "latin-99"}, "encoding must be one that Python knows: got 'latin-99'"),
        ({"encoding": "base64"}, "encoding must be one that Python knows: got 'base64'"),
        ({"encoding": 5}, "encoding must be one that Python knows: got 5"),
    ],
    ids=str,
)
def test_what_cannot_be_a_dialect_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        GivenDialect(**options).validate()
