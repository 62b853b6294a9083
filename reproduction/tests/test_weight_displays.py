import numpy as np
import pytest

from reproduction.experiment import Experiment, Row
from reproduction.result_summary import findings
from reproduction.tests.small_results import OF_A_TABLE
from reproduction.trial import Trial
from reproduction.weight_displays import (
    CHOOSING,
    dataset_figure,
    differences,
    mechanism_figure,
    overall,
    summary_table,
    value_table,
)

GAINS = {"equal": 0.0, "delegated": -0.02, "log_odds": 0.01, "fitted": 0.0, "hindsight": 0.05}
CHOICE = {"direct": 0.0, "random": -0.1, "max": 0.1, "random_better": 0.3}
ROWS = [
    Row(f"{mechanism} {u}", OF_A_TABLE | {"mechanism": mechanism, "increment_size": u})
    for u in (65, 25)
    for mechanism in CHOICE
]
MINE = Experiment("mine", "Mine", "weights", protocols=["paper"], rows=ROWS)


def result(trial):
    """A trial whose accuracy is known by mechanism and weights, but for a common noise."""
    noise = 0.05 * np.random.default_rng(trial.number).normal()
    scores = {}
    for weights, gain in GAINS.items():
        mechanism = trial.method["mechanism"]
        is_equal = mechanism == "direct" and weights == "delegated"
        extra = 0.0 if is_equal else gain + 0.0001 * trial.number * (gain != 0)
        suffix = "" if weights == "delegated" else f"_{weights}"
        scores[f"accuracy_one_pass{suffix}"] = 0.5 + CHOICE[mechanism] + noise + extra
        scores[f"f1_first_one_pass{suffix}"] = 0.4 + extra
        scores[f"minimum_majority{suffix}"] = 3 if weights == "delegated" else 6
    return scores


def results(n_trials=4, datasets=("heart", "ionosphere"), rows=ROWS):
    trials = [
        Trial(dataset, "paper", row.under("paper"), number)
        for dataset in datasets
        for number in range(n_trials)
        for row in rows
    ]
    return [(trial, result(trial)) for trial in trials]


def test_differences_are_paired_by_trial():
    found = overall(differences(results())).sort_index().loc["accuracy", "u = 25, rate 0.05"]
    votes, choice = found.loc["Max", "delegated"], found.loc["Max", "chosen - at random"]
    assert votes["mean"] == pytest.approx(-0.02 + 0.00015)
    assert votes["standard_error"] < 0.001  # the noise of 0.05 is common to all weights
    assert choice["mean"] == pytest.approx(0.2)
    assert found.loc["Max", "chosen - all voters"]["mean"] == pytest.approx(0.1)
    assert found.loc[(CHOOSING, "chosen - all voters"), "mean"] == pytest.approx(0.2)
    assert (votes["better"], votes["worse"]) == (0, 2)
    fitted = found.loc["Max", "fitted"]
    assert (fitted["mean"], fitted["better"], fitted["worse"]) == (0, 0, 0)


def test_the_error_is_that_of_the_mean_over_datasets():
    frame = differences(results())
    is_own = (frame[["measure", "setting", "ensemble", "difference"]] == [
        "accuracy", "u = 65, rate 0.05", "Max", "log_odds"
    ]).all(axis=1)  # fmt: skip
    errors = frame.loc[is_own, "standard_error"]
    assert len(errors) == 2
    expected = np.sqrt((errors**2).sum()) / 2
    found = overall(frame).loc["accuracy", "u = 65, rate 0.05", "Max", "log_odds"]
    assert found["standard_error"] == pytest.approx(expected)


def test_direct_has_no_votes_but_its_own():
    found = differences(results())
    assert "delegated" not in set(found.loc[found["ensemble"] == "Direct", "difference"])
    assert "log_odds" in set(found.loc[found["ensemble"] == "Direct", "difference"])


def test_the_summary_has_a_row_per_measure_setting_and_mechanism():
    table = summary_table(MINE, results())
    assert len(table.rows) == 2 * 2 * (len(CHOICE) + 1)
    assert [row[1] for row in table.rows[:6]] == ["u = 65, rate 0.05"] * 5 + ["u = 25, rate 0.05"]
    cells = dict(zip(table.header, table.rows[2], strict=True))
    assert cells["mechanism"] == "Max"
    assert cells["votes carried - one vote"] == "-0.0198 ± 0.0000 (0 : 2)"
    assert cells["chosen - at random"] == "+0.2000 ± 0.0000 (2 : 0)"
    assert dict(zip(table.header, table.rows[0], strict=True))["votes carried - one vote"] == "-"
    assert set(table.values["difference"]) >= {"delegated", "chosen - all voters"}


def test_every_value_is_marked_if_it_is_clearly_not_that_of_one_vote_each():
    table = value_table(MINE, results())
    assert len(table.rows) == 2 * len(ROWS)
    cells = dict(zip(table.header, table.rows[2], strict=True))
    assert cells["accuracy, log-odds"].endswith("*")
    assert not cells["accuracy, fitted"].endswith("*")
    assert cells["minimum majority, votes carried"] == "3.0*"
    assert cells["minimum majority, one vote each"] == "6.0"


def test_without_random_and_direct_there_are_weights_alone():
    alone = [row for row in ROWS if row.method["mechanism"] == "max"]
    found = results(rows=alone)
    header = summary_table(MINE, found).header
    assert not any(title.startswith("chosen") for title in header)
    mechanism_figure(found).draw_without_rendering()
    (sentence, _) = findings([(MINE, found)])
    assert "votes carried - one vote: -0.0198 ± 0.0000 (0 : 2)" in sentence


def test_figures_have_a_mark_per_mechanism_or_dataset_and_kind_of_weights():
    found = results()
    first, _ = mechanism_figure(found).axes
    assert [text.get_text() for text in first.get_yticklabels()] == ["Random", "Max", "Rand B"]
    votes = next(line for line in first.lines if line.get_label() == "votes carried")
    noise = np.mean([0.05 * np.random.default_rng(n).normal() for n in range(4)])
    np.testing.assert_allclose(votes.get_xdata() - noise, [0.38015, 0.58015, 0.78015])
    first, second = dataset_figure(found).axes
    assert [axes.get_title() for axes in (first, second)] == [
        "u = 65, rate 0.05",
        "u = 25, rate 0.05",
    ]
    names = [text.get_text() for text in first.get_yticklabels()]
    assert names == ["heart", "ionosphere"]


def test_one_trial_has_neither_error_nor_test():
    found = results(n_trials=1)
    cells = summary_table(MINE, found).rows[2]
    assert cells[-1] == "+0.0500 (0 : 0)"
    dataset_figure(found).draw_without_rendering()
