import pytest

from reproduction.experiment import load_experiment
from reproduction.report import write_replays


def shown(spec, data, protocol="paper"):
    experiment = load_experiment(spec(protocols=[protocol], datasets=data))
    return [(experiment, [(trial, {}) for trial in experiment.trials(data, 2)])]


def test_each_dataset_has_one_replay_of_the_papers_ensemble(spec, two_targets, tmp_path):
    path = two_targets()
    data = ["heart", f"{path}::easy", f"{path}::rand"]
    replays = list(write_replays(shown(spec, data), tmp_path))
    assert [part["dataset"] for part in replays] == data
    assert [part["stem"] for part in replays] == ["heart", "two_easy", "two_rand"]
    assert replays[0]["words"] == "350 voters, 93 representatives after 6 increments"
    assert "two.csv::easy: the paper&#x27;s ensemble" in (tmp_path / "two_easy.html").read_text()


def page(spec, folder, protocol="paper"):
    (replay,) = write_replays(shown(spec, ["heart"], protocol), folder)
    return (folder / f"{replay['stem']}.html").read_text()


def test_a_replay_is_the_same_each_time(spec, tmp_path):
    assert page(spec, tmp_path) == page(spec, tmp_path)


def test_rows_are_prepared_by_the_rules_that_have_results(spec, tmp_path):
    assert page(spec, tmp_path, "paper") != page(spec, tmp_path, "ours")


def test_without_results_there_is_no_replay(spec, tmp_path):
    experiment = load_experiment(spec())
    assert list(write_replays([(experiment, [])], tmp_path)) == []


@pytest.mark.parametrize("n_rare", [1, 20])
def test_a_dataset_whose_half_lacks_a_class_has_no_replay(spec, tmp_path, n_rare):
    path = tmp_path / "rare.csv"
    labels = ["a"] * 60 + ["b"] * 60 + ["c"] * n_rare
    path.write_text("x,y\n" + "".join(f"{k % 7},{label}\n" for k, label in enumerate(labels)))
    replays = list(write_replays(shown(spec, [str(path)], "ours"), tmp_path))
    assert len(replays) == (1 if n_rare > 1 else 0)
