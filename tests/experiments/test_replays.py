import pytest

from skliquid.experiments.replays import dataset_replays
from skliquid.experiments.spec import load_experiment


def shown(spec, data, protocol="paper"):
    experiment = load_experiment(spec(protocols=[protocol], datasets=data))
    return [(experiment, [(trial, {}) for trial in experiment.trials(data, 2)])]


def test_each_dataset_has_one_replay_of_the_papers_ensemble(spec, two_targets):
    path = two_targets()
    data = ["heart", f"{path}::easy", f"{path}::rand"]
    replays = dataset_replays(shown(spec, data))
    assert [replay.dataset for replay in replays] == data
    assert replays[0].words == "350 voters, 93 representatives after 6 increments"
    assert replays[1].replay.title == "two.csv::easy: the paper's ensemble"


def test_a_replay_is_the_same_each_time(spec):
    first, again = (dataset_replays(shown(spec, ["heart"]))[0] for _ in range(2))
    assert first.replay.page() == again.replay.page()


def test_rows_are_prepared_by_the_rules_that_have_results(spec):
    raw, scaled = (dataset_replays(shown(spec, ["heart"], name))[0] for name in ("paper", "ours"))
    assert raw.replay.page() != scaled.replay.page()


def test_without_results_there_is_no_replay(spec):
    experiment = load_experiment(spec())
    assert dataset_replays([(experiment, [])]) == []


@pytest.mark.parametrize("n_rare", [1, 20])
def test_a_dataset_whose_half_lacks_a_class_has_no_replay(spec, tmp_path, n_rare):
    path = tmp_path / "rare.csv"
    labels = ["a"] * 60 + ["b"] * 60 + ["c"] * n_rare
    path.write_text("x,y\n" + "".join(f"{k % 7},{label}\n" for k, label in enumerate(labels)))
    n_replays = len(dataset_replays(shown(spec, [str(path)], "ours")))
    assert n_replays == (1 if n_rare > 1 else 0)
