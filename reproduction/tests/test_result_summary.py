import re
from html import unescape

import pytest

from reproduction.experiment import Row
from reproduction.report import templates
from reproduction.result_summary import (
    Agreement,
    findings,
    published_beside_measured,
    summarize,
)
from reproduction.tests.small_results import (
    BOOSTED,
    DIRECT,
    MAX,
    as_published,
    curve_ends,
    experiment,
    experiment_named,
    results,
    variation,
    variation_results,
)

DATASETS = ["heart", "spambase"]


def agreement(*shown, measure="accuracy"):
    return Agreement.of(measure, published_beside_measured(shown))


def test_values_as_published_agree():
    found = agreement(as_published("comparison"))
    assert (found.n_within, found.n_values) == (7, 7)
    assert found.mean_distance == pytest.approx(0, abs=1e-9)
    assert found.two_errors == pytest.approx(0.0025820, rel=1e-3)


def test_values_that_are_off_do_not_agree():
    found = agreement(as_published("comparison", offset=lambda label: 0.1 * (label == "Direct")))
    assert (found.n_within, found.n_values) == (6, 7)
    assert found.mean_distance == pytest.approx(0.1 / 7)


def test_rows_that_tables_share_count_once_and_the_cost_of_direct_never():
    comparison, all_mechanisms = as_published("comparison"), as_published("accuracy_maximizing")
    values = published_beside_measured([comparison, all_mechanisms])
    assert list(values.groupby("measure").size()) == [11, 10]  # of 7 and 10 ensembles
    assert not ((values["measure"] == "cost") & (values["ensemble"] == "Direct")).any()


def test_chance_lets_fewer_values_agree_when_there_are_few_trials():
    shares = [
        found.n_expected / found.n_values
        for found in (agreement(as_published("comparison", n_trials=n)) for n in (2, 4, 50))
    ]
    assert shares == pytest.approx([0.70, 0.86, 0.84], abs=0.01)  # ours vary less than theirs at 4


def test_one_trial_decides_nothing():
    found = agreement(as_published("comparison", n_trials=1))
    assert (found.n_within, found.n_values, found.n_expected) == (0, 0, 0)


def test_what_is_not_published_is_left_out():
    experiment, results = as_published("comparison")
    ours = [pair for pair in results if pair[0].protocol == "ours"]
    assert published_beside_measured([(experiment, [])]).empty
    assert published_beside_measured([(experiment, ours)]).empty


def test_the_largest_difference_comes_first():
    offsets = {"Direct": 0.05, "Prop W Acc": -0.2}
    shown = [as_published("comparison", offset=lambda label: offsets.get(label, 0))]
    found = summarize(shown, [])["differences"]
    assert [row["ensemble"] for row in found] == ["Prop W Acc", "Direct"]
    assert found[0]["distance"] == pytest.approx(0.2)


ROWS = (Row("Whole", DIRECT), Row("Max", MAX), Row("Boost", BOOSTED))


def found(kind="results", rows=ROWS):
    mine = experiment(kind, rows=rows)
    methods = [row.method for row in rows]
    return findings([(mine, [pair for pair in results() if pair[0].method in methods])])


def test_the_best_of_both_sorts_are_compared_and_the_gap_is_reported():
    words = " ".join(found())
    assert (
        "Mine, our rules: the best delegating ensemble is more accurate than the best AdaBoost"
        in words
    )
    assert "on 0 of 1 datasets." in words
    assert "mechanisms, Direct included, lie furthest apart on heart, by 0.100" in words


def test_what_was_not_run_is_not_mentioned():
    other = DIRECT | {"mechanism": "random"}
    assert found(rows=[Row("Max", MAX)]) == []
    assert "Direct" not in " ".join(found(rows=[Row("Max", MAX), Row("Random", other)]))
    assert not any("least concentrated" in each for each in found("curves", [Row("D", DIRECT)]))
    assert any("least concentrated" in each for each in found("curves", [Row("M", MAX)]))


def summary(*shown, left_out=(), n_failed=0):
    return (
        templates()
        .get_template("summary.html")
        .render(
            summary=summarize(shown, left_out),
            failed=["a trial"] * n_failed,
            anchor_of={mine.name: f"at_{mine.name}" for mine, _ in shown},
            title_of={mine.name: mine.title for mine, _ in shown},
            agreement_figure={"caption": "[figure]", "image": "", "paths": []},
        )
    )


def words_of(html):
    return re.sub(r"\s+", " ", unescape(re.sub("<[^>]+>", " ", html)))


def test_results_as_published_are_said_to_agree():
    html = summary(as_published("comparison", DATASETS, n_trials=20))
    words = words_of(html)
    assert "6 of 6 published accuracies are within two standard errors of ours; about 5" in words
    assert "4 of 4 published costs are within" in words
    assert "Where ours differ" not in words
    assert "Few trials" not in words
    assert "1 of 3 claims of the paper hold; 2 in part" in words
    assert "[figure]" in words


def test_results_that_are_off_are_said_to_differ_and_where():
    shown = as_published("comparison", DATASETS, offset=lambda label: 0.2 * (label == "Direct"))
    words = words_of(summary(shown))
    assert "4 of 6 published accuracies" in words
    assert "Where ours differ: all" in words
    assert "heart, Direct: accuracy 0.784 ± 0.001, published 0.584 ( Comparison with" in words
    assert "Prop W Acc is more accurate than the full ensemble ahead on 1 of 2" in words
    assert "fails ahead on 0 of 2 (-0.211 to -0.151)" in words


def test_only_the_furthest_differences_are_listed():
    shown = as_published("comparison", DATASETS, offset=lambda label: 0.2)
    html = summary(shown)
    assert "the 5 furthest of 14" in html
    assert html.count(" ± ") == 5


@pytest.mark.parametrize(
    ("n_trials", "expected"),
    [
        (1, "Means are over 1 trial, so the power is small. A single trial has no standard error."),
        (2, "Two standard errors of an accuracy are 0.002 in the median"),
        (12, None),
    ],
)
def test_few_trials_are_said_to_have_little_power(n_trials, expected):
    words = words_of(summary(as_published("comparison", n_trials=n_trials)))
    assert ("Few trials." in words) == (expected is not None)
    assert expected is None or expected in words


def test_what_was_run_is_said_in_a_sentence():
    comparison, results = as_published("comparison", n_trials=2)
    timed = [(trial, result | {"seconds": 10.0}) for trial, result in results]
    words = words_of(summary((comparison, timed), left_out=["online-shoppers"], n_failed=2))
    start = "1 experiment (comparison), 28 trials (2 of each method), 1 dataset (heart)."
    assert start in words
    assert "Training took 5 minutes of one core. Left out, not available: online-shoppers." in words
    assert "2 trials failed in all attempts" in words


def test_every_line_links_to_its_section():
    html = summary(as_published("comparison"), as_published("cost_minimizing"), curve_ends("Max"))
    links = set(re.findall('href="#([^"]+)"', html))
    assert {"at_comparison", "at_cost_minimizing", "at_during_delegation"} <= links
    assert links - {"at_comparison", "at_cost_minimizing", "at_during_delegation"} == {
        "agreement",
        "claims",
    }
    assert all(f'id="{name}"' in html for name in ("agreement", "claims"))


def test_the_rules_that_come_nearest_are_named(table):
    mine = variation(candidates=["representatives", "voters"])
    found = variation_results(mine, lambda m: 0.58 if m["candidates"] == "voters" else 0.5)
    words = words_of(summary((mine, found)))
    assert "Mine accuracy any voter (0.0030) representatives only (0.0795)" in words
    own = variation_results(mine, lambda _: 0.5, dataset=str(table))
    assert "leaves open" not in summary((mine, own))


def test_an_experiment_of_ones_own_is_summarized_by_its_findings():
    html = summary((experiment(), results()))
    assert 'href="#at_mine"' in html
    assert "mechanisms, Direct included, lie furthest apart on heart" in html
    assert "<h3" not in html
    assert "published" not in html


def test_without_trials_there_is_nothing_but_what_was_run():
    assert words_of(summary((experiment_named("delegation_cost"), []))).strip() == (
        "1 experiment (delegation_cost)."
    )
