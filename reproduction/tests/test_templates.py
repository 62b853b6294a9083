import pytest
from markupsafe import Markup

from reproduction.report import image_address, templates
from reproduction.result_tables import Table

parts = templates().get_template("parts.html").module


def table(n_rows):
    return Table("t", "T <1>", "A & b", ["x"], [["1 <"], *[["2*"]] * (n_rows - 1)])


def test_texts_are_shown_as_they_are_and_files_are_linked():
    html = parts.result_table(table(2), ["tables/my table.csv", "tables/my table.md"])
    assert "A &amp; b" in html
    assert "<td>1 &lt;</td>" in html
    assert '<td class="far">2*</td>' in html
    assert '<a href="tables/my%20table.csv">CSV</a> <a href' in html


@pytest.mark.parametrize(("n_rows", "is_closed"), [(40, False), (41, True)], ids=["short", "long"])
def test_a_long_table_opens_when_it_is_clicked(n_rows, is_closed):
    html = parts.result_table(table(n_rows), [])
    assert ("<details>" in html) == is_closed
    assert ("T &lt;1&gt;: all 41 rows" in html) == is_closed
    assert html.count("<tr") == n_rows + 1


def test_the_first_row_of_each_dataset_is_marked():
    rows = [["a", "1"], ["a", "2"], ["b", "3"], ["a", "4"]]
    html = parts.result_table(Table("t", "T", "", ["x", "y"], rows), [])
    starts = [line.partition("<td>")[0] for line in html.splitlines() if "<td>" in line]
    assert starts == ['<tr class="first">', "<tr>", '<tr class="first">', '<tr class="first">']


def test_a_figure_is_part_of_the_page():
    address = image_address('<svg id="a">\n#1 50%</svg>')
    assert address == "data:image/svg+xml,%3Csvg id=%22a%22%3E %231 50%25%3C/svg%3E"
    html = parts.figure('A "b"', address, ["figures/a.svg"])
    assert 'alt="A &#34;b&#34;"' in html
    assert f'src="{address}"' in html


def test_a_replay_is_loaded_when_it_is_opened():
    html = parts.replay("replay_a", "a&b.csv", "350 voters", "replays/a b.html")
    assert " src=" not in html
    assert 'data-src="replays/a%20b.html"' in html
    assert "<b>a&amp;b.csv</b> 350 voters" in html


def test_empty_lists_and_captions_are_left_out():
    assert parts.items([]) == ""
    assert 'class="caption"' not in parts.grid(["a"], caller=str)


def test_cells_have_the_name_of_their_column():
    assert parts.cell("a & b", Markup("<b>1</b>")) == '<td data-name="a &amp; b"><b>1</b></td>'
    assert parts.cell("a", "<b>") == '<td data-name="a">&lt;b&gt;</td>'
