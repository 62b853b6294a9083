import re
from html import unescape

import pytest

from experiments.test_agreement import as_published
from experiments.test_claims import curves, load
from experiments.test_tables import experiment, results
from experiments.test_variations import experiment as varied
from experiments.test_variations import results as varied_results
from skliquid.experiments.summary import summary_html

DATASETS = ["heart", "spambase"]


def summary(*shown, left_out=(), n_failed=0):
    anchors = {experiment.name: f"at_{experiment.name}" for experiment, _ in shown}
    return summary_html(shown, left_out, n_failed, anchors, lambda values: "[figure]")


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
    html = summary(as_published("comparison"), as_published("cost_minimizing"), curves("Max"))
    links = set(re.findall('href="#([^"]+)"', html))
    assert {"at_comparison", "at_cost_minimizing", "at_during_delegation"} <= links
    assert links - {"at_comparison", "at_cost_minimizing", "at_during_delegation"} == {
        "agreement",
        "claims",
    }
    assert all(f'id="{name}"' in html for name in ("agreement", "claims"))


def test_the_rules_that_come_nearest_are_named(table):
    mine = varied(candidates=["representatives", "voters"])
    found = varied_results(mine, lambda m: 0.58 if m["candidates"] == "voters" else 0.5)
    words = words_of(summary((mine, found)))
    assert "Mine accuracy any voter (0.0030) representatives only (0.0795)" in words
    own = varied_results(mine, lambda _: 0.5, dataset=str(table))
    assert "leaves open" not in summary((mine, own))


def test_an_experiment_of_ones_own_is_summarized_by_its_findings():
    html = summary((experiment(), results()))
    assert 'href="#at_mine"' in html
    assert "mechanisms, Direct included, lie furthest apart on heart" in html
    assert "<h3" not in html
    assert "published" not in html


def test_without_trials_there_is_nothing_but_what_was_run():
    assert words_of(summary((load("delegation_cost"), []))).strip() == (
        "1 experiment (delegation_cost)."
    )
