"""Numbers and dates in the distinct texts of columns."""

from datetime import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skliquid.files.documents import Reader, Writer
from skliquid.tables.text_values import (
    DATE_PATTERNS,
    MISSING_MARKERS,
    DateFormat,
    NumberFormat,
    find_date_format,
    find_number_format,
    mean_words,
    similar_labels,
)

NAN = float("nan")
NUMBERS = {
    "plain": (["1", "-2.5", " +3 ", "1e3", ".5", "0.25", "7."], [1, -2.5, 3, 1000, 0.5, 0.25, 7]),
    "markers": (["1.5", "-", "Unknown", " N/A ", "", "None", "#DIV/0!"], [1.5] + 6 * [NAN]),
    "thousands": (["1,234.50", "12", "1,234,567", "-1,000"], [1234.5, 12, 1234567, -1000]),
    "points for thousands": (["1.234,56", "12", "1.234"], [1234.56, 12, 1234]),
    "points alone": (["1.234", "1.234.567", "999"], [1234, 1234567, 999]),
    "decimal comma": (["1,5", "2,25", "3", "0,123"], [1.5, 2.25, 3, 0.123]),
    "three decimals": (["0,123", "1,234"], [0.123, 1.234]),
    "spaces": (["1 234,56", "1\u202f234\u202f567,5", "12\u00a0000"], [1234.56, 1234567.5, 12000]),
    "apostrophes": (["1'234.50", "1\u2019234\u2019567"], [1234.5, 1234567]),
    "dollars": (["$1,200", "-$5", "$-5", "($7.50)", "3", "$ 4"], [1200, -5, -5, -7.5, 3, 4]),
    "euros": (["1.200,50 \u20ac", "5\u20ac", "-3 \u20ac"], [1200.5, 5, -3]),
    "codes of currencies": (["CHF 1'200.00", "CHF -5", "-CHF 6"], [1200, -5, -6]),
    "codes behind": (["12 USD", "1,300.5 USD"], [12, 1300.5]),
    "US dollars": (["US$5", "US$6.5"], [5, 6.5]),
    "per month": (["$500/mo", "$1,500/mo"], [500, 1500]),
    "accounting": (["(1,200)", "1,300", "(5)"], [-1200, 1300, -5]),
    "other spaces": (["5\x1f", "\u00a06"], [5, 6]),
    "minus sign": (["\u22125", "6"], [-5, 6]),
    "percent": (["45%", "3.5 %", "-1%"], [45, 3.5, -1]),
    "years": (["45 years", "1 year", "3 Years"], [45, 1, 3]),
    "weights": (["12kg", "3.5 kg"], [12, 3.5]),
    "speeds": (["3.5 km/h", "100 km/h"], [3.5, 100]),
    "areas": (["35 m2", "40 m2", "50.5 m2"], [35, 40, 50.5]),
    "degrees": (["35 \u00b0C", "-4\u00b0C"], [35, -4]),
    "exponents with comma": (["1,5e3", "2,5E-1"], [1500, 0.25]),
}


def found(values, counts=None):
    return find_number_format(values, np.ones(len(values), int) if counts is None else counts)


@pytest.mark.parametrize(("values", "expected"), NUMBERS.values(), ids=list(NUMBERS))
def test_numbers_are_found_in_many_formats(values, expected):
    column = found(values)
    np.testing.assert_array_equal(column.format.numbers(values), expected)
    assert not column.are_digits
    column.format.check_stored()
    numbers, unread = column.format.parse([*values, "abc", "abc", "null"])
    np.testing.assert_array_equal(numbers, [*expected, NAN, NAN, NAN])
    assert unread == ["abc"]


@pytest.mark.parametrize(
    "values",
    [
        ["01234", "12345", "99999"],
        ["007", *map(str, range(100, 200))],
        ["+41791234567", "+41441234567"],
        ["+41 791 234 567", "+41 441 234 567"],
        ["079 123 45 67", "044 123 45 67"],
        ["612 345 678", "699 123 456", "655 222 333"],
        ["(555) 123-4567", "(555) 123-4568"],
        ["192.168.1.1", "10.0.0.1"],
        ["192.168.100.200", "10.0.0.1"],
        ["1.2.3", "1.10.0"],
        ["2020-01-02", "2020-01-03"],
        ["31.12.2020", "01.12.2020"],
        ["12:30", "13:45"],
        ["9 am", "10 am"],
        ["18-25", "26-35"],
        ["A12", "B13"],
        ["12A", "12B"],
        ["1/2", "3/4"],
        ["1,2,3", "4,5,6"],
        ["1)", "2)"],
        ["1_000", "2_000"],
        ["0x10", "0x11"],
        ["inf", "1e400"],
        ["\u0661", "\u0662"],
        ["1 234", "12 13"],
        ["1,5", "1.5"],
        ["1,234.5", "1.234,5"],
        ["$5", "5\u20ac"],
        ["5 kg", "5 lb"],
        ["5 mW", "5 MW"],
        ["45%", "0.45"],
        ["12 Main St", "14 Main St"],
        ["--5", "-(5)"],
        ["-", "unknown", ""],
        ["yes", "no"],
        ["<5", ">10"],
        [""],
        [],
    ],
    ids=str,
)
def test_other_columns_have_no_numbers(values):
    assert found(values) is None


def test_a_tenth_of_the_cells_may_be_odd():
    column = found(["1", "2", "abc", "inf", "-"], [450, 450, 60, 40, 7])
    assert not column.are_digits
    assert column.format.markers == ("-", "abc", "inf")
    assert column.notes[1].startswith("60 cells 'abc' and 40 cells 'inf' count as missing: no")
    numbers = column.format.numbers(["1", "2", "abc", "inf", "-"])
    np.testing.assert_array_equal(numbers, [1, 2, NAN, NAN, NAN])
    assert column.format.parse(["3", "abc", "xyz"])[1] == ["xyz"]
    assert found(["1", "2", "abc", "inf", "-"], [450, 449, 61, 40, 7]) is None


def test_a_code_among_fractions_is_odd():
    assert found(["0.5", "007", "3"], [90, 5, 5]).format.markers == ("007",)


def test_a_rare_other_unit_currency_or_decimal_mark_is_odd():
    assert found(["5 kg", "6 kg", "6 lb", "7"], [50, 45, 3, 2]).format.markers == ("6 lb",)
    assert found(["$5", "\u20ac5", "7"], [50, 3, 47]).format.markers == ("\u20ac5",)
    assert found(["1.5", "1,5", "1,234"], [95, 3, 2]).format.markers == ("1,5", "1,234")
    assert found(["45%", "0.45"], [95, 5]).format.markers == ("0.45",)


def test_markers_of_a_format_are_missing_even_if_they_are_numbers():
    numbers, unread = NumberFormat(markers=("-999", "x")).parse(["3", " -999", "x"])
    np.testing.assert_array_equal(numbers, [3, NAN, NAN])
    assert unread == []


def test_notes_count_cells_and_show_the_way_out():
    column = found(["$1,234.50", "-", "unknown", "abc"], [1200, 120, 1, 2])
    assert column.notes == [
        "'$1,234.50' is read as 1234.5",
        "120 cells '-' and 1 cell 'unknown' count as missing",
        "2 cells 'abc' count as missing: no number. Correct them, or declare the column a category "
        "(categorical_features, --category NAME)",
    ]
    assert found(["1", "2.5"]).notes == []


def test_an_unclear_comma_or_point_is_noted():
    column = found(["1,234", "5,678"])
    assert column.format.numbers(["1,234", "5,678"]).tolist() == [1234, 5678]
    assert "--decimal ," in column.notes[0]
    assert "--decimal" not in str(found(["1,234", "5,678,901"]).notes)
    column = found(["1.234", "5.678"])
    assert column.format.numbers(["1.234", "5.678"]).tolist() == [1.234, 5.678]
    assert "--decimal ," in column.notes[0]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, unique=True))
def test_floats_written_by_python_come_back(numbers):
    values = [repr(number) for number in numbers]
    column = found(values)
    assert column.format.numbers(values).tolist() == numbers
    assert column.are_digits == all(number.is_integer() for number in numbers)


@given(
    st.lists(st.integers(-(10**11), 10**11), min_size=1, max_size=30, unique=True),
    st.sampled_from([(".", ","), (",", "."), (".", "'"), (",", " "), (",", ""), (".", "")]),
    st.sampled_from(["{}", "${}", "{} \u20ac", "EUR {}", "{}%", "{} kg", " {}"]),
    st.sampled_from(["-{}", "({})"]),
)
def test_numbers_come_back_from_any_format(cents, marks, affixes, negative):
    def write(cent):
        text = f"{abs(cent) / 100:,.2f}".translate(
            str.maketrans(",.", f"{marks[1] or '_'}{marks[0]}")
        )
        text = affixes.format(text.replace("_", ""))
        return negative.format(text) if cent < 0 else text

    values = [write(cent) for cent in cents]
    column = found(values)
    numbers, unread = column.format.parse([*values, "?"])
    assert numbers[:-1].tolist() == [cent / 100 for cent in cents]
    assert unread == []


@given(st.lists(st.text(max_size=12), unique=True), st.text("0123456789.,-+%$() eE'", max_size=9))
def test_any_text_is_read_or_refused(values, other):
    values = list(dict.fromkeys([*values, other]))
    column = found(values)
    if column is not None:
        column.format.check_stored()
        numbers, unread = column.format.parse(values)
        assert np.isfinite(numbers).any()
        assert unread == []
    dates = found_dates(values)
    assert dates is None or not np.isnat(dates[0].parse(values)[0]).all()


def test_markers_are_casefolded_and_limited():
    assert all(marker == marker.casefold().strip() for marker in MISSING_MARKERS)
    values = [*map(str, range(20_000)), *(f"odd {k}!" for k in range(1500)), "y" * 100]
    column = found(values)
    assert len(column.format.markers) == 1000
    assert "1,496 cells with other values" in column.notes[0]
    column.format.check_stored()


@pytest.mark.parametrize(
    "form",
    [
        NumberFormat(decimal=";"),
        NumberFormat(decimal=".", thousands="."),
        NumberFormat(prefix="(a+)+"),
        NumberFormat(suffix="k" * 100),
        NumberFormat(suffix="12"),
        NumberFormat(markers=("x",) * 1001),
        NumberFormat(markers=("x" * 65,)),
        DateFormat("%c"),
        DateFormat("iso", ("x" * 65,)),
    ],
)
def test_files_cannot_hold_other_formats(form):
    with pytest.raises(ValueError, match="it must have"):
        form.check_stored()


def test_files_hold_formats():
    forms = [NumberFormat(",", ".", "", "%", ("-", "abc")), DateFormat("%d.%m.%Y"), NumberFormat()]
    assert Reader(Writer().serialize(forms)).model() == forms
    with pytest.raises(ValueError, match="patterns"):
        Reader(Writer().serialize(DateFormat("%c"))).model()


def test_long_texts_take_no_time():
    values = ["1" * 10**5, " " * 10**5 + "1x", "1 " * 10**5, "1," * 10**5, "a" * 10**5]
    assert found(values) is None
    assert found_dates(values) is None
    assert "a" * 100 not in str(found(["1", *values], [999, 1, 1, 1, 1, 1]).notes)


DATES = {
    "iso": (["2024-01-31", "2024-02-01T09:30", "2024-02-01 10:30:15.5"], "iso"),
    "unpadded": (["2024-1-31", "2024-2-1 9:30", "2024-2-1 10:30:15.5"], "%Y-%m-%d"),
    "zone": (["2024-01-31T00:00Z", "2024-02-01T10:30+01:00", "2024-02-01 10:30:15.5"], "iso"),
    "dots": (["31.01.2024", "1.2.2024 09:30", "01.02.2024 10:30:15.5"], "%d.%m.%Y"),
    "day first": (["31/01/2024", "01/02/2024 9:30", "01/02/2024 10:30:15.5"], "%d/%m/%Y"),
    "month first": (["1/31/2024", "2/1/2024 9:30 AM", "2/1/2024 10:30:15.5 am"], "%m/%d/%Y"),
    "year first": (["2024/01/31", "2024/02/01 09:30", "2024/02/01 10:30:15.5"], "%Y/%m/%d"),
    "names": (["31-Jan-2024", "01-Feb-2024 09:30", "1-feb-2024 10:30:15.5"], "%d-%b-%Y"),
    "long names": (["31 January 2024", "1 Feb. 2024 09:30", "1 FEB 2024 10:30:15.5"], "%d %b %Y"),
    "US names": (["Jan 31, 2024", "February 1, 2024 09:30", "Feb 1, 2024 10:30:15.5"], "%b %d, %Y"),
}
MOMENTS = [
    datetime(2024, 1, 31),
    datetime(2024, 2, 1, 9, 30),
    datetime(2024, 2, 1, 10, 30, 15, 500000),
]


def found_dates(values, counts=None):
    return find_date_format(values, np.ones(len(values), int) if counts is None else counts)


@pytest.mark.parametrize(("values", "pattern"), DATES.values(), ids=list(DATES))
def test_dates_are_found_in_many_formats(values, pattern):
    form, notes = found_dates([*values, "-"])
    assert form == DateFormat(pattern, ("-",))
    assert len(notes) == (1 if pattern == "iso" else 2)
    dates, unread = form.parse([*values, "-", "abc", "null"])
    assert dates.dtype == "datetime64[us]"
    assert dates.tolist() == [*MOMENTS, None, None, None]
    assert unread == ["abc"]
    form.check_stored()


@pytest.mark.parametrize(
    "values",
    [
        ["2024-01-31", "2024-02-30"],
        ["20240131", "20240201"],
        ["2024", "2025"],
        ["01.02", "03.04"],
        ["12:30", "13:30"],
        ["31/12/2020", "12/31/2020"],
        ["1.2.3", "1.2.4"],
        ["192.168.1.1"],
        ["13/13/2020"],
        ["1 Foo 2020"],
        ["1/2/2020 13:00 PM"],
        ["0001-01-01T00:00+01:00"],
        ["-", ""],
        ["x" * 1000],
        [],
    ],
    ids=lambda values: str(values)[:40],
)
def test_other_columns_have_no_dates(values):
    assert found_dates(values) is None


def test_the_order_of_day_and_month_is_noted_if_no_cell_tells():
    (slashes, notes), (dots, others) = found_dates(["01/02/2020"]), found_dates(["01.02.2020"])
    assert slashes.moment("01/02/2020") == datetime(2020, 1, 2)
    assert dots.moment("01.02.2020") == datetime(2020, 2, 1)
    assert notes == [
        "'01/02/2020' is read as 2020-01-02, with the month first. If the day is first, convert "
        "the column with pandas.to_datetime, or write dates as YYYY-MM-DD",
    ]
    assert "with the day first" in others[0]
    clear, notes = found_dates(["01/02/2020", "13/02/2020"])
    assert clear.moment("01/02/2020") == datetime(2020, 2, 1)
    assert notes == ["'01/02/2020' is read as 2020-02-01"]


def test_odd_dates_count_as_missing():
    form, notes = found_dates(["2024-01-31", "2024-02-30"], [18, 2])
    assert form.markers == ("2024-02-30",)
    assert form.parse(["2024-01-31", "2024-02-30"])[0].tolist() == [MOMENTS[0], None]
    assert "2 cells '2024-02-30' count as missing: no date" in notes[0]
    assert found_dates(["2024-01-31", "2024-02-30"], [18, 3]) is None


@given(
    st.lists(st.datetimes(datetime(1000, 1, 1)), min_size=1, max_size=20, unique=True),
    st.sampled_from(DATE_PATTERNS[1:]),
    st.sampled_from(["", " %H:%M:%S.%f", "T%H:%M:%S", " %I:%M %p"]),
)
def test_dates_come_back_from_any_pattern(moments, pattern, clock):
    values = list(dict.fromkeys(moment.strftime(pattern + clock) for moment in moments))
    expected = [datetime.strptime(value, pattern + clock) for value in values]
    assert DateFormat(pattern).parse(values)[0].tolist() == expected
    form, notes = found_dates(values)
    assert form.parse(values)[0].tolist() == expected or "first" in notes[0]


def test_labels_that_differ_in_case_or_spaces_are_similar():
    values = ["Bern", "bern", " Bern ", "Zug", "New York", "new  york", "Basel"]
    groups = similar_labels(values, [5, 9, 1, 50, 20, 30, 2])
    assert groups == [("new  york", "New York"), ("bern", "Bern", " Bern ")]


def test_words_are_counted():
    assert mean_words(["one two  three", "four"]) == 2
    assert mean_words([]) == 0
