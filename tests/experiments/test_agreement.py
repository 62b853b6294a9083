import pytest

from skliquid.experiments.agreement import (
    Agreement,
    agreement_figure,
    differences,
    published_beside_measured,
)
from skliquid.experiments.estimates import published_values
from skliquid.experiments.spec import experiment_files, load_experiment


def as_published(name, datasets=("heart",), offset=lambda label: 0.0, n_trials=4):
    """An experiment of the paper, and trials whose means are the published values and an offset."""
    experiment = load_experiment(experiment_files()[name])
    results = []
    for trial in experiment.trials(list(datasets), n_trials):
        label, noise = experiment.label(trial), 0.002 * (trial.number - (n_trials - 1) / 2)
        accuracy, cost = (
            published_values(name)[trial.data, label, measure] for measure in ("accuracy", "cost")
        )
        accuracy += noise + offset(label)
        scores = {f"accuracy_{when}": accuracy for when in ("one_pass", "final")}
        results.append((trial, scores | {"cost_final_fit": 1000 * (cost + noise)}))
    return experiment, results


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
    found = differences(published_beside_measured(shown), 5)
    assert found["ensemble"].tolist() == ["Prop W Acc", "Direct"]
    assert differences(published_beside_measured(shown), 1)["distance"].tolist() == [
        pytest.approx(0.2)
    ]


@pytest.mark.parametrize("datasets", [["heart"], ["spambase", "heart"]], ids=["one", "two"])
def test_the_figure_has_a_mark_for_each_delegating_ensemble(datasets):
    figure = agreement_figure(published_beside_measured([as_published("comparison", datasets)]))
    figure.draw_without_rendering()
    accuracy, cost = figure.axes
    marks = [line for line in accuracy.lines if line.get_marker() in "osD^vP*X"]
    assert sum(len(line.get_xdata()) for line in marks) == 3 * len(datasets)
    assert cost.get_xscale() == "log"
    assert [text.get_text() for text in figure.legends[0].texts] == datasets
