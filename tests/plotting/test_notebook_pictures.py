import re

import numpy as np
import pytest

from plotting.records import random_record
from skliquid import DelegationGraph
from skliquid.delegation.record import TrainingRecord
from skliquid.plotting.notebook_pictures import curve, forest, format_number, record_html, table


def circles(svg):
    found = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="([\d.]+)"', svg)
    return [tuple(map(float, circle)) for circle in found]


def test_a_curve_rises_with_its_values_and_leaves_missing_ones_out():
    points = re.search(r'points="([^"]+)"', curve([float("nan"), 1.0, 3.0]))[1].split()
    (x1, y1), (x2, y2) = (map(float, point.split(",")) for point in points)
    assert x2 > x1
    assert y2 < y1  # up, on a screen
    assert curve([float("nan")]) == ""


def test_a_constant_curve_is_drawn():
    assert "nan" not in curve([2.0, 2.0])


def test_areas_are_votes_and_titles_name_them():
    svg = forest(DelegationGraph([0, 0, 1, 3]))
    areas = [radius**2 for _, _, radius in circles(svg)]
    assert np.array(areas) / areas[3] == pytest.approx([3, 2, 1, 1], rel=0.01)
    assert svg.count("<line") == 2
    assert "voter 0 carries 3 votes" in svg
    assert "voter 3 carries 1 vote<" in svg
    assert "voter 2 delegates to 1" in svg


@pytest.mark.parametrize(
    "graph", [DelegationGraph.direct(350), DelegationGraph([0, *range(299)])], ids=["many", "chain"]
)
def test_large_forests_are_drawn_without_overlap(graph):
    svg = forest(graph)
    x, y, radii = np.array(circles(svg)).T
    apart = np.hypot(x[:, None] - x, y[:, None] - y) + 1000 * np.eye(len(x))
    assert (apart > radii[:, None] + radii - 0.2).all()
    assert int(re.search(r'width="(\d+)"', svg)[1]) <= 640


def test_the_view_of_a_record_ends_with_the_final_fit(alike):
    record = alike.record_
    text = record_html(record)
    assert f"<td>{record.cost.total:,}</td>" in text
    assert f"<td>{format_number(record.final_eval_accuracy)}</td>" in text
    assert "minimum majority (fewest with over half of the votes)" in text
    stream = random_record(4, 2)  # without a final fit and an evaluation set
    assert "evaluation set" not in record_html(stream)
    assert "No increments yet." in record_html(TrainingRecord(n_final=1))


def test_long_tables_show_their_beginning_and_their_end():
    text = table([{"increment": k, "n_rows": 1000} for k in range(1, 101)])
    shown = re.findall(r"<td>(\d+)</td><td>1,000</td>", text)
    assert shown == ["1", "2", "3", "4", "5", "96", "97", "98", "99", "100"]
    assert "n rows" in text
    assert table([]) == ""


def test_text_in_tables_is_escaped():
    assert "<b>" not in table([{"<b>": "<b>"}])
    assert format_number(1234.5678) == "1.23e+03"
