import csv
import io
import math
from dataclasses import replace

import pytest

from reproduction.experiment import Row
from reproduction.result_tables import (
    Table,
    curve_ends_table,
    dataset_table,
    harmful_states_table,
    headline_table,
    results_table,
    search_table,
    significance_table,
)
from reproduction.tests.small_results import (
    BOOSTED,
    DIRECT,
    MAX,
    experiment,
    experiment_named,
    result,
    results,
)
from reproduction.trial import Trial


def values(table, **where):
    rows = table.values.to_dict("records")
    return [v for v in rows if all(v[name] == value for name, value in where.items())]


def test_costs_are_relative_to_direct_and_counted_by_each_protocols_rules():
    table = results_table(experiment(), results())
    cost = {(v["ensemble"], v["protocol"]): v["mean"] for v in values(table, measure="cost")}
    assert cost["Direct", "paper"] == cost["Direct", "ours"] == 1
    assert cost["Max", "paper"] == pytest.approx(0.100)
    assert cost["Max", "ours"] == pytest.approx(0.090)
    assert cost["Ada DT Small", "ours"] == pytest.approx(0.015)


def test_f1_is_of_the_class_that_the_paper_took():
    def of(dataset, ensemble):
        table = results_table(experiment(), results(dataset))
        return values(table, ensemble=ensemble, measure="f1", protocol="paper")[0]["mean"]

    assert of("ionosphere", "Ada DT Small") == 0.25
    assert of("heart", "Ada DT Small") == pytest.approx(0.815)
    assert of("ionosphere", "Max") == pytest.approx(0.515)


def test_what_is_two_standard_errors_off_is_marked():
    table = results_table(experiment(published="comparison"), results())
    rows = {row[1]: row for row in table.rows}
    assert rows["Direct"][2] == "0.584"
    assert rows["Direct"][3] == "0.615 ± 0.006*"  # 0.031 away, which is five


def test_what_was_neither_published_nor_run_is_not_mentioned():
    mine = replace(experiment(), protocols=["ours"], caption="Mine.")
    table = results_table(mine, [pair for pair in results() if pair[0].protocol == "ours"])
    assert table.header[2:] == ["acc, our rules", "F1, our rules", "cost, our rules"]
    assert table.rows[0][2] == "0.615 ± 0.006"
    assert table.caption == (
        "Mine. Our rules: after the final fit, scaled and one-hot; macro F1. ± one standard error."
    )


def test_labels_do_not_say_what_a_method_is():
    rows = [Row("Whole", DIRECT), Row("Adaptive", MAX), Row("Boosted", BOOSTED)]
    table = results_table(replace(experiment(), rows=rows), results())
    found = {(v["ensemble"], v["measure"]): v["mean"] for v in values(table, protocol="paper")}
    assert found["Adaptive", "f1"] == pytest.approx(0.515)
    assert found["Boosted", "f1"] == pytest.approx(0.815)
    assert found["Whole", "cost"] == 1
    assert found["Adaptive", "cost"] == pytest.approx(0.100)


def test_the_headline_names_the_protocols_that_were_run():
    mine = experiment(published="comparison")
    assert headline_table(mine, results()).caption.endswith(
        "published / under their rules / under ours."
    )
    ours = [pair for pair in results() if pair[0].protocol == "ours"]
    mine = replace(mine, protocols=["ours"])
    assert headline_table(mine, ours).caption.endswith("published / under ours.")


def test_trials_that_were_refused_have_no_value():
    refused = [(t, {"refused": True} if t.method is BOOSTED else r) for t, r in results()]
    table = results_table(experiment(), refused)
    assert {row[1]: row[3] for row in table.rows}["Ada DT Small"] == "-"


def test_the_table_in_three_languages():
    table = Table("t", "Title", "100 % of it", ["a", "b_c"], [["x & y", "1 ± 2"], ["z", "<0.001*"]])
    assert "| x & y | 1 ± 2 |" in table.to_markdown()
    assert r"| z | \<0.001\* |" in table.to_markdown()
    assert r"x \& y & 1 $\pm$ 2 \\" in table.to_latex()
    assert r"\caption{100 \% of it}" in table.to_latex()
    assert list(csv.reader(io.StringIO(table.to_csv())))[1] == ["x & y", "1 ± 2"]


def test_cells_in_markdown_are_shown_as_they_are():
    table = Table("t", "A_b", "", ["a|b"], [["x | y"], ["`c` *d* _e_ [f](g) <h>"], ["two\nlines"]])
    lines = table.to_markdown().splitlines()
    assert lines[0] == r"### A\_b"
    assert lines[4] == r"| a\|b |"
    assert lines[6] == r"| x \| y |"
    assert lines[7] == r"| \`c\` \*d\* \_e\_ \[f\](g) \<h\> |"
    assert lines[8] == "| two lines |"


def test_datasets_are_counted_beside_what_is_published():
    rows = {r[0]: r for r in dataset_table(experiment_named("datasets")).rows}
    assert rows["ionosphere"][1:7] == ["351", "34", "0", "351", "0*", "34*"]
    assert rows["breast-cancer-w"][7] == "16"
    assert len(rows) == 8


def test_the_harmful_states_are_the_papers():
    table = harmful_states_table(experiment_named("harmful_states"))
    assert table.rows[0][1] == "7.7e-08 / 7.712e-08"
    assert len(table.rows) == 5


def test_significance_and_ends_of_curves():
    curves = experiment("curves")
    marked = significance_table(curves, results())
    assert marked.header == ["pair", "heart"]
    assert len(marked.rows) == 3
    assert all("/" in row[1] for row in marked.rows)
    ends = curve_ends_table(curves, [r for r in results() if r[0].method is not BOOSTED])
    assert ends.rows[0][:4] == ["heart", "Direct", "4", "0.615 ± 0.006"]


def test_a_curve_without_a_number_has_no_best():
    unmeasured = result(0.6, curve_accuracy=[math.nan, math.nan])
    ends = curve_ends_table(experiment("curves"), [(Trial("heart", "ours", DIRECT, 0), unmeasured)])
    assert ends.rows[0][4] == "-"


def test_the_best_cell_of_the_search():
    cells = [
        (Trial("heart", "paper", MAX | {"increment_size": u}, 0), result(accuracy))
        for u, accuracy in ((5, 0.5), (25, 0.7), (45, 0.6))
    ]
    (row,) = search_table(experiment("search"), cells).rows
    assert row == ["heart", "max", "25", "0.3", "20", "0.700", "0.500"]
