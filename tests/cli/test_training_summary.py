import io

import numpy as np
from rich.console import Console

from skliquid.cli.training_summary import confusion_table


def cells(confusion, classes):
    console = Console(file=io.StringIO(), width=300)
    console.print(confusion_table(np.array(confusion), np.array(classes)))
    lines = console.file.getvalue().splitlines()
    return [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines if "│" in line]


def test_classes_are_rows_and_predictions_are_columns():
    assert cells([[5, 1], [2, 2000]], ["no", "yes"]) == [
        ["no", "5", "1", "83%"],
        ["yes", "2", "2,000", "100%"],
    ]


def test_a_class_without_held_out_rows_has_no_share():
    assert cells([[0, 0], [2, 3]], [0, 1]) == [["0", "0", "0", ""], ["1", "2", "3", "60%"]]


def test_of_many_classes_the_rare_are_summed():
    counts = np.ones((13, 13), dtype=int) + np.diag(np.arange(13))  # class 12 is most frequent
    rows = cells(counts, range(13))
    assert [row[0] for row in rows] == [*map(str, range(3, 13)), "3 others"]
    assert rows[0] == ["3", "4", *["1"] * 9, "3", "25%"]
    assert rows[-1] == ["3 others", *["3"] * 10, "12", "14%"]
    assert sum(int(cell) for row in rows for cell in row[1:-1]) == counts.sum()
