"""Text values: numbers and dates in the distinct texts of a column, and labels written alike.

A column has numbers if at least 90 % of its cells are numbers in one format, and likewise dates.
Cells with markers of missing values, such as "-" or "unknown", do not count for this share. All
other cells are odd, and are treated as missing.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skliquid.delegation.arrays import Floats
from skliquid.delegation.storable import require, storable
from skliquid.validation.user_warnings import warn_user

MISSING_MARKERS = frozenset(
    {"", "-", "--", "---", "\u2013", "\u2014", "?", "??", ".", "..", "...", "*", "/", "\\n"}
    | {"na", "n/a", "n.a.", "n.a", "n/d", "nan", "-nan", "<na>", "nat", "nil", "none", "null"}
    | {"#n/a", "#na", "#value!", "#div/0!", "#ref!", "#null!", "#num!", "#name?", "(null)"}
    | {"unknown", "missing", "undefined", "not available", "not applicable", "tbd", "no data"}
    | {"(blank)", "(none)", "<null>", "[null]", "unspecified"}
)
"""Casefolded texts that count as missing in columns of numbers and dates."""

MAX_MARKERS, MAX_LENGTH = 1000, 64
"""How many markers a format keeps, and the longest text that can be a number, date or marker."""

_N_LISTED = 5


# Missing values


def is_marker(value: str) -> bool:
    """Return whether a text is a common marker of missing values."""
    return value.strip().casefold() in MISSING_MARKERS


def _odd_values(values: Iterable[str], own: Collection[str] = ()) -> list[str]:
    """Return the distinct values that are no markers, neither common ones nor the column's own."""
    markers = frozenset(own)
    odd = [value for value in dict.fromkeys(values) if not is_marker(value)]
    return [value for value in odd if value.strip() not in markers]


class _Missing(NamedTuple):
    """The values of a column that cannot be read, with counts, the most frequent first."""

    marked: dict[str, int]
    odd: dict[str, int]
    n_cells: int  # of the column, without those that are marked

    @classmethod
    def of(cls, values: Sequence[str], counts: Any, is_missing: NDArray[np.bool_]) -> "_Missing":
        numbers = np.asarray(counts)
        found = zip(compress(values, is_missing), numbers[is_missing].tolist(), strict=True)
        sorted_counts = dict(sorted(found, key=lambda pair: -pair[1]))
        odd = {value: sorted_counts[value] for value in _odd_values(sorted_counts)}
        marked = {value: n for value, n in sorted_counts.items() if value not in odd}
        return cls(marked, odd, int(numbers.sum()) - sum(marked.values()))

    @property
    def is_frequent(self) -> bool:
        """Whether no cells can be read, or more than a tenth of them cannot."""
        n_odd = sum(self.odd.values())
        return n_odd == self.n_cells or n_odd * 10 > self.n_cells

    def markers(self) -> tuple[str, ...]:
        texts = dict.fromkeys(map(str.strip, (*self.marked, *self.odd)))
        return tuple([text for text in texts if len(text) <= MAX_LENGTH][:MAX_MARKERS])

    def notes(self, expected: str) -> list[str]:
        notes = [describe_missing(self.marked)] if self.marked else []
        if self.odd:
            notes.append(
                f"{describe_missing(self.odd)}: no {expected}. Correct them, or declare the "
                "column a category (categorical_features, --category NAME)"
            )
        return notes


def describe_missing(counts: Mapping[str, int]) -> str:
    """Return text such as "120 cells '-' and 1 cell 'unknown' count as missing"."""
    shown = [(n, repr(value[:MAX_LENGTH])) for value, n in list(counts.items())[:_N_LISTED]]
    n_cells = sum(counts.values())
    n_others = n_cells - sum(n for n, _ in shown)
    shown += [(n_others, "with other values")] if n_others else []
    *most, last = [f"{n:,} cell{'s' * (n != 1)} {value}" for n, value in shown]
    subject = f"{', '.join(most)} and {last}" if most else last
    return f"{subject} count{'s' * (n_cells == 1)} as missing"


def _check_markers(markers: tuple[str, ...]) -> None:
    are_short = all(len(marker) <= MAX_LENGTH for marker in markers)
    require(are_short and len(markers) <= MAX_MARKERS, f"at most {MAX_MARKERS} short markers")


# Numbers

_MARKS = [(".", ""), (".", ","), (",", ""), (",", "."), (".", " "), (",", " "), (".", "'")]
_MARKS += [(",", "'")]
"""Decimal marks and thousands separators. Of several that fit, the first is chosen."""

_CODES = (
    "AED ARS AUD BGN BRL CAD CHF CLP CNY COP CZK DKK EGP EUR GBP HKD HUF IDR ILS INR ISK JPY KRW "
    "MXN MYR NGN NOK NZD PHP PKR PLN RMB RON RUB SAR SEK SGD THB TRY TWD UAH USD VND ZAR"
)
_CURRENCY = (
    r"(?:[A-Z]{0,3}[$\u00a2-\u00a5\u0e3f\u20a0-\u20bf]|Rs\.?|Fr\.|kr\.?|z\u0142|K\u010d|"
    rf"{_CODES.replace(' ', '|')})"
)
_UNIT = r"(?:[%\u2030]|/?(?:\u00b0|[^\W\d_])[^\W\d_]*[23]?\.?(?:/[^\W\d_]+[23]?)?)"
_AFFIX = re.compile(f"(?:{_CURRENCY}|{_UNIT}|)")
_CURRENCY_OR_NONE = re.compile(f"(?:{_CURRENCY})?")
_EXPONENT = "(?:[eE][+-]?[0-9]+)?"
_WRITTEN = re.compile(
    rf"(\(?) ?([+-]?) ?({_CURRENCY}|) ?([+-]?)([0-9.,](?:[0-9.,' ]*[0-9.,])?{_EXPONENT})"
    rf" ?({_AFFIX.pattern}) ?(\)?)"
)
_PLAIN = re.compile(
    r"[ \t\n]*(?:-|\+(?![0-9]{8,}\s*\Z))?"  # long numbers with a plus sign are for phones
    rf"(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+){_EXPONENT}[ \t\n]*"  # no zeros as in codes
)
_PHONE = re.compile("[0-9]{3} [0-9]{3} [0-9]{3}")
_CODE = re.compile(r"\s*(?:0[0-9]+|[0-9]{3,}-[0-9]+|[A-Za-z]{1,3}-?[0-9]{2,})\s*")
_LOOKALIKES = str.maketrans("\u00a0\u202f\u2009\u2212\u2019", "   -'")


class _Written(NamedTuple):
    """The parts of a number as it is written."""

    sign: str
    prefix: str
    body: str  # digits, marks and exponent
    suffix: str

    @property
    def affixes(self) -> tuple[str, str]:
        return self.prefix, _unit_name(self.suffix)


def _split(value: str) -> _Written | None:
    if len(value) > MAX_LENGTH:
        return None
    text = value if value.isascii() else value.translate(_LOOKALIKES)
    if (match := _WRITTEN.fullmatch(text.strip())) is None:
        return None
    opening, sign, prefix, inner_sign, body, suffix, closing = match.groups()
    signs = opening + sign + inner_sign
    is_phone = sign == "+" and len(digits := body.replace(" ", "")) > 7 and digits.isdecimal()
    is_time = suffix.casefold() in ("am", "pm")
    if len(signs) > 1 or len(opening) != len(closing) or is_phone or is_time:
        return None
    return _Written("-" if signs in ("-", "(") else "", prefix, body, suffix)


@lru_cache(maxsize=1000)
def _unit_name(suffix: str) -> str:
    """Return a unit in the singular: "1 year" and "2 Years" have the same; mW and MW do not."""
    name = suffix.removesuffix(".")
    if len(name) > 3 and (name.islower() or name.istitle() or name.isupper()):
        name = name.casefold()
    return name.removesuffix("s") if len(name) > 2 else name


@lru_cache(maxsize=len(_MARKS))
def _body_pattern(decimal: str, thousands: str) -> re.Pattern[str]:
    point = re.escape(decimal)
    grouped = rf"|[1-9][0-9]{{0,2}}(?:{re.escape(thousands)}[0-9]{{3}})+" if thousands else ""
    whole = f"(?:0|[1-9][0-9]*{grouped})"
    return re.compile(f"(?:{whole}(?:{point}[0-9]*)?|{point}[0-9]+){_EXPONENT}")


def _plain_numbers(values: Sequence[str]) -> Floats:
    """Return numbers as Python writes them, NaN for other values."""
    is_plain = _PLAIN.fullmatch
    return np.array([float(value) if is_plain(value) else np.nan for value in values])


@storable
@dataclass(frozen=True)
class NumberFormat:
    """How the numbers of a column are written: marks, currency, percent sign or unit.

    The markers are values that count as missing. Numbers without the currency or the unit are
    accepted; without the percent sign they are not, because 0.5 may be 50 %.
    """

    decimal: str = "."
    thousands: str = ""
    prefix: str = ""
    suffix: str = ""
    markers: tuple[str, ...] = ()

    def parse(self, values: Sequence[str]) -> tuple[Floats, list[str]]:
        """Return numbers, NaN if missing, and the distinct values that cannot be read."""
        numbers = self.numbers(values)
        return numbers, _odd_values(compress(values, np.isnan(numbers)), self.markers)

    def numbers(self, values: Sequence[str]) -> Floats:
        """Return numbers; NaN for markers and for values that cannot be read."""
        is_plain_read = self.decimal == "." and not self._is_percent
        numbers = _plain_numbers(values) if is_plain_read else np.full(len(values), np.nan)
        for k in np.flatnonzero(np.isnan(numbers)).tolist():
            numbers[k] = self._number(values[k])
        numbers[np.isinf(numbers)] = np.nan
        if own := frozenset(self.markers):
            numbers[[value.strip() in own for value in values]] = np.nan
        return numbers

    def check_stored(self) -> None:
        """Raise unless marks, currency and unit are possible ones."""
        require((self.decimal, self.thousands) in _MARKS, "a decimal and a thousands mark")
        require(_CURRENCY_OR_NONE.fullmatch(self.prefix), "a currency, or nothing, as its prefix")
        is_suffix = _AFFIX.fullmatch(self.suffix) and len(self.suffix) <= MAX_LENGTH
        require(is_suffix, "a currency, a percent sign, a unit, or nothing as its suffix")
        _check_markers(self.markers)

    def _number(self, value: str) -> float:
        written = _split(value)
        if written is None or not self.has_affixes(written):
            return np.nan
        if not _body_pattern(self.decimal, self.thousands).fullmatch(written.body):
            return np.nan
        digits = written.body.replace(self.thousands, "").replace(self.decimal, ".")
        return float(written.sign + digits)

    def has_affixes(self, written: _Written) -> bool:
        """Whether a number has the currency, percent sign or unit of this format."""
        is_bare = not (written.prefix or written.suffix)
        own = self.prefix, _unit_name(self.suffix)
        return written.affixes == own or (is_bare and not self._is_percent)

    @property
    def _is_percent(self) -> bool:
        return self.suffix in ("%", "\u2030")


class FoundNumbers(NamedTuple):
    """The format of the numbers of a column, and notes for the user."""

    format: NumberFormat
    notes: list[str]
    are_digits: bool  # all cells are integers without currency, unit, separators and markers


def find_number_format(values: Sequence[str], counts: Any) -> FoundNumbers | None:
    """Return the format of numbers from the distinct values of a column, or None for others."""
    form, numbers = NumberFormat(), _plain_numbers(values)
    numbers[np.isinf(numbers)] = np.nan
    special = list(compress(values, np.isnan(numbers)))
    if any(_split(value) for value in special if not is_marker(value)):
        form = _choose_format(_unmarked(values, counts))
        numbers = form.numbers(values)
    missing = _Missing.of(values, counts, np.isnan(numbers))
    if missing.is_frequent or _has_codes(missing.odd, numbers):
        return None
    unclear = _unclear_values(form, compress(values, ~np.isnan(numbers)))
    notes = _format_notes(form, special, unclear) + missing.notes("number")
    are_digits = not special and bool(np.all(numbers == np.floor(numbers)))
    return FoundNumbers(replace(form, markers=missing.markers()), notes, are_digits)


def _unmarked(values: Sequence[str], counts: Any) -> dict[str, int]:
    """Return the number of cells of each value that is no marker."""
    pairs = zip(values, np.asarray(counts).tolist(), strict=True)
    return {value: n for value, n in pairs if not is_marker(value)}


def _has_codes(odd: Collection[str], numbers: Floats) -> bool:
    """Whether the numbers are codes: without fractions, and beside codes like 007 or 98107-0126."""
    known = numbers[~np.isnan(numbers)]
    return any(map(_CODE.fullmatch, odd)) and bool((known == np.floor(known)).all())


def _choose_format(cells: Mapping[str, int]) -> NumberFormat:
    """Return the format of most cells, given the number of cells by value."""
    plain = dict.fromkeys(filter(_PLAIN.fullmatch, cells))
    others = [value for value in cells if value not in plain]
    written = {value: parts for value in others if (parts := _split(value)) is not None}
    spellings: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for value, parts in written.items():
        spellings[parts.affixes][parts.suffix] += cells[value]
    prefix, unit = affixes = _choose_affixes(spellings, sum(cells.values()))
    suffix = spellings[affixes].most_common(1)[0][0] if unit else ""
    form = NumberFormat(prefix=prefix, suffix=suffix)
    bodies: dict[str, int] = {}
    pairs = [(value, parts.body) for value, parts in written.items() if form.has_affixes(parts)]
    for value, body in [*pairs, *((value, value.strip().lstrip("+-")) for value in plain)]:
        bodies[body] = bodies.get(body, 0) + cells[value]
    decimal, thousands = _choose_marks(bodies)
    return replace(form, decimal=decimal, thousands=thousands)


def _choose_affixes(
    spellings: Mapping[tuple[str, str], Counter[str]], n_cells: int
) -> tuple[str, str]:
    """Return the most frequent currency, or the unit that nearly all cells have."""
    cells = {pair: own.total() for pair, own in spellings.items() if pair != ("", "")}
    best = max(cells, key=cells.__getitem__, default=("", ""))
    is_currency = all(map(_CURRENCY_OR_NONE.fullmatch, best))
    return best if is_currency or cells[best] * 10 >= n_cells * 9 else ("", "")


def _choose_marks(bodies: Mapping[str, int]) -> tuple[str, str]:
    """Return the decimal mark and thousands separator of most cells."""
    best, n_best = (".", ""), 0
    used = set("".join(bodies))
    for marks in _MARKS:
        if not used.issuperset(marks[1] or marks[0]):
            continue
        is_number = _body_pattern(*marks).fullmatch
        wrong = [body for body in bodies if not is_number(body)]
        n_cells = sum(bodies.values()) - sum(bodies[body] for body in wrong)
        if n_cells > n_best and not _are_wrong_groups(marks[1], wrong, bodies):
            best, n_best = marks, n_cells
        if not wrong:
            break
    return best


def _are_wrong_groups(thousands: str, wrong: Sequence[str], bodies: Collection[str]) -> bool:
    """Whether a separator is not for thousands: other groups, or phone numbers (612 345 678)."""
    if thousands == " " and len(bodies) > 2 and all(map(_PHONE.fullmatch, bodies)):
        return True
    return bool(thousands) and any(thousands in body for body in wrong)


def _format_notes(form: NumberFormat, special: Iterable[str], unclear: Sequence[str]) -> list[str]:
    """Return a note that shows how a number is read, and the option that changes it."""
    read = (value for value in (*unclear[:1], *special) if not np.isnan(form.numbers([value])[0]))
    if (example := next(read, None)) is None:
        return []
    note = f"{example!r} is read as {form.numbers([example])[0]:.15g}"
    way_out = (
        "If the comma is the decimal mark, convert the column to numbers, or set --decimal , for "
        "a file with another separator"
    )
    return [f"{note}. {way_out}" if unclear else note]


def _unclear_values(form: NumberFormat, values: Iterable[str]) -> list[str]:
    """Return the values that a decimal comma would change, if all of them can be read that way."""
    if form.decimal == "," or form.thousands not in ("", ","):
        return []
    mark = form.thousands or "."
    found = [value for value in values if mark in value]
    is_number = _body_pattern(",", "" if form.thousands else ".").fullmatch
    is_possible = all((parts := _split(value)) and is_number(parts.body) for value in found)
    return found if is_possible else []


# Dates

DATE_PATTERNS = (
    *("iso", "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%m.%d.%Y", "%m/%d/%Y", "%d/%m/%Y"),
    *("%d-%m-%Y", "%m-%d-%Y", "%d-%b-%Y", "%d %b %Y", "%b %d, %Y", "%b %d %Y"),
)
"""ISO 8601, and patterns of strptime, each with an optional time. In a tie, the first one wins."""

_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
)
_MONTH_NUMBERS = {name[:n]: k for k, name in enumerate(_MONTHS, 1) for n in (3, 9)} | {"sept": 9}
_ISO_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])")
_DATE_PARTS = {
    "%Y": "(?P<year>[0-9]{4})",
    "%m": "(?P<month>[0-9]{1,2})",
    "%d": "(?P<day>[0-9]{1,2})",
    "%b": r"(?P<month>[A-Za-z]{3,9})\.?",
    " ": " +",
}
_CLOCK = (
    r"(?:(?:T|,? +)(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})"
    r"(?:\.(?P<fraction>[0-9]{1,6})[0-9]*)?)?(?: *(?P<half>[AaPp])\.?[Mm]\.?)?)?"
)


@lru_cache(maxsize=len(DATE_PATTERNS))
def _date_pattern(pattern: str) -> re.Pattern[str]:
    parts = re.split("(%.| )", pattern)
    return re.compile("".join(_DATE_PARTS.get(part, re.escape(part)) for part in parts) + _CLOCK)


def _iso_moment(text: str) -> datetime | None:
    """Return a date of ISO 8601; one with a time zone is converted to UTC."""
    moment = datetime.fromisoformat(text) if _ISO_DATE.match(text) else None
    if moment is None or moment.tzinfo is None:
        return moment
    return moment.astimezone(UTC).replace(tzinfo=None)


def _moment(text: str, pattern: str) -> datetime | None:
    match = _date_pattern(pattern).fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, half = match.group(
        "year", "month", "day", "hour", "minute", "second", "fraction", "half"
    )
    month = int(month) if month.isdecimal() else _MONTH_NUMBERS.get(month.lower(), 0)
    clock = _hour(int(hour or 0), half), int(minute or 0), int(second or 0)
    return datetime(int(year), month, int(day), *clock, int((fraction or "0").ljust(6, "0")))


def _hour(hour: int, half: str | None) -> int:
    if half is None:
        return hour
    if not 1 <= hour <= 12:
        raise ValueError(f"hour must be in 1..12 with am or pm: got {hour}")
    return hour % 12 + 12 * (half in "pP")


@storable
@dataclass(frozen=True)
class DateFormat:
    """How the dates of a column are written; the markers are values that count as missing."""

    pattern: str
    markers: tuple[str, ...] = ()

    def parse(self, values: Sequence[str]) -> tuple[NDArray[np.datetime64], list[str]]:
        """Return dates, NaT if missing, and the distinct values that cannot be read."""
        own = frozenset(self.markers)
        moments = [None if value.strip() in own else self.moment(value) for value in values]
        dates = np.array(moments, dtype="datetime64[us]")
        return dates, _odd_values(compress(values, np.isnat(dates)), own)

    def moment(self, value: str) -> datetime | None:
        """Return the date in a text, or None."""
        text = value.strip()
        if len(text) > MAX_LENGTH:
            return None
        try:
            return _iso_moment(text) if self.pattern == "iso" else _moment(text, self.pattern)
        except (ValueError, OverflowError):  # such as February 30
            return None

    def check_stored(self) -> None:
        """Raise unless the pattern is a known one."""
        require(self.pattern in DATE_PATTERNS, f"one of the patterns {', '.join(DATE_PATTERNS)}")
        _check_markers(self.markers)


def find_date_format(values: Sequence[str], counts: Any) -> tuple[DateFormat, list[str]] | None:
    """Return the format of dates from the distinct values of a column, and notes for the user.

    None if the column has other values.
    """
    best, is_unclear = _choose_pattern(_unmarked(values, counts))
    if best is None:
        return None
    form = DateFormat(best)
    dates, _ = form.parse(values)
    missing = _Missing.of(values, counts, np.isnat(dates))
    example = next(compress(values, ~np.isnat(dates)))
    notes = _date_notes(form, example, is_unclear=is_unclear) + missing.notes("date")
    return replace(form, markers=missing.markers()), notes


def _choose_pattern(cells: Mapping[str, int]) -> tuple[str | None, bool]:
    """Return the pattern of most cells, and whether day and month may be the other way round."""
    best, n_best, n_cells = None, 0, sum(cells.values())
    for pattern in DATE_PATTERNS:
        n_read = _count_dates(cells, pattern)
        if n_read > n_best:
            best, n_best = pattern, n_read
        if n_read == n_cells:
            break
    swapped = (best or "").translate(str.maketrans("dm", "md"))
    is_swappable = swapped != best and swapped in DATE_PATTERNS
    return best, is_swappable and _count_dates(cells, swapped) == n_best


def _count_dates(cells: Mapping[str, int], pattern: str) -> int:
    """Return how many cells have dates; 0 as soon as more than a tenth have not."""
    form, n_cells, n_odd = DateFormat(pattern), sum(cells.values()), 0
    for value, n in cells.items():
        if form.moment(value) is None:
            n_odd += n
            if n_odd * 10 > n_cells:
                return 0
    return n_cells - n_odd


def _date_notes(form: DateFormat, example: str, *, is_unclear: bool) -> list[str]:
    if form.pattern == "iso":
        return []
    note = f"{example!r} is read as {form.moment(example):%Y-%m-%d}"
    if not is_unclear:
        return [note]
    first, other = ("day", "month") if form.pattern.startswith("%d") else ("month", "day")
    return [
        f"{note}, with the {first} first. If the {other} is first, convert the column with "
        "pandas.to_datetime, or write dates as YYYY-MM-DD"
    ]


# Labels and texts


def similar_labels(values: Sequence[str], counts: Any) -> list[tuple[str, ...]]:
    """Return groups of labels that differ only in case or spaces, the most frequent first."""
    groups: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    for value, n in zip(values, np.asarray(counts).tolist(), strict=True):
        groups["".join(value.split()).casefold()].append((n, value))
    similar = [sorted(group, key=lambda pair: -pair[0]) for group in groups.values()]
    similar = [group for group in similar if len(group) > 1]
    similar.sort(key=lambda group: -sum(n for n, _ in group))
    return [tuple(value for _, value in group) for group in similar]


def warn_of_similar_classes(classes: Sequence[Any], where: str = "y") -> None:
    """Warn if some classes differ only in case or spaces."""
    labels = list(map(str, classes))
    for group in similar_labels(labels, np.ones(len(labels))):
        warn_user(
            f"Labels of {where} differ only in case or spaces: {', '.join(map(repr, group))}. They "
            "are different classes; if they should not be, correct the data."
        )


def mean_words(values: Sequence[str]) -> float:
    """Return the average number of words in texts."""
    return sum(len(value.split()) for value in values) / max(len(values), 1)
