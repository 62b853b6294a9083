import pytest

from skliquid.experiments.page import figure_html, grid, items, replay_html, table_html
from skliquid.experiments.tables import Table


def table(n_rows):
    return Table("t", "T <1>", "A & b", ["x"], [["1 <"], *[["2*"]] * (n_rows - 1)])


def test_texts_are_shown_as_they_are_and_files_are_linked():
    html = table_html(table(2), ["tables/my table.csv"])
    assert "A &amp; b" in html
    assert "<td>1 &lt;</td>" in html
    assert "<td class=far>2*</td>" in html
    assert '<a href="tables/my%20table.csv">CSV</a>' in html


@pytest.mark.parametrize(("n_rows", "is_closed"), [(40, False), (41, True)], ids=["short", "long"])
def test_a_long_table_opens_when_asked(n_rows, is_closed):
    html = table_html(table(n_rows), [])
    assert ("<details>" in html) == is_closed
    assert html.count("<tr") == n_rows + 1


def test_a_figure_is_part_of_the_page():
    html = figure_html('A "b"', b'<svg id="a">\n#1 50%</svg>', ["figures/a.svg"])
    assert 'alt="A &quot;b&quot;"' in html
    assert "data:image/svg+xml,%3Csvg id=%22a%22%3E %231 50%25%3C/svg%3E" in html


def test_a_replay_is_loaded_when_it_is_opened():
    html = replay_html("replay_a", "a&b.csv", "350 voters", "replays/a b.html")
    assert " src=" not in html
    assert 'data-src="replays/a%20b.html"' in html
    assert "<b>a&amp;b.csv</b> 350 voters" in html


def test_what_is_empty_is_left_out():
    assert items([]) == ""
    assert 'class="caption"' not in grid(["a"], [["1"]])


def test_cells_know_the_name_of_their_column():
    assert '<td data-name="a &amp; b"><b>1</b></td>' in grid(["a & b"], [["<b>1</b>"]], "c")
