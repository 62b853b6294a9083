import pyarrow as pa
import pytest

from skliquid.streams import unseen
from skliquid.streams.unseen import Unseen, UnseenCount, unseen_in

KNOWN = {"town": frozenset({"Oslo", "Rome", None}), "smokes": frozenset({"True", "False"})}


def test_categories_that_are_not_known_are_counted_by_column():
    towns, smokes = ["Oslo", "Lima", None, "Lima", "Bonn"], [True, False, None, True, True]
    table = pa.table({"town": towns, "smokes": smokes, "other": range(5)})
    assert unseen_in(table, KNOWN) == {"town": Unseen(frozenset({"Lima", "Bonn"}), 3)}
    assert unseen_in(table.slice(0, 1), KNOWN) == {}
    assert unseen_in(table.slice(2, 1), KNOWN) == {}
    assert unseen_in(table, {}) == {}


def test_a_category_of_many_tables_is_counted_once():
    count = UnseenCount()
    for _ in range(7):
        count.add(Unseen(frozenset({"Lima"}), 1))
    assert str(count) == "7 rows with 1 category that the model does not know ('Lima')"
    count.add(Unseen(frozenset({"Lima", "Bonn", "Ulm", "Kiel"}), 2000))
    assert str(count).startswith(
        "2,007 rows with 4 categories that the model does not know ('Lima'"
    )
    assert str(count).endswith("'Bonn', 'Kiel', ...)")


@pytest.mark.parametrize("n_more", [0, 1, 100])
def test_memory_is_bounded(monkeypatch, n_more):
    monkeypatch.setattr(unseen, "_MOST_COUNTED", 10)
    count = UnseenCount()
    for k in range(10 + n_more):
        count.add(Unseen(frozenset({f"{k} " + "x" * 999}), 1))
    assert len(count.hashes) <= 11
    assert max(map(len, count.examples)) == 30
    assert ("over 10 categories" in str(count)) == (n_more > 0)
    assert f"{10 + n_more} rows" in str(count)
