import pytest

from reproduction.experiment import experiment_files, load_experiment
from reproduction.tests.small_results import SMALL
from skliquid.datasets import DATASET_NAMES

PAPER = {
    "datasets",
    "harmful_states",
    "delegation_cost",
    "parameter_search",
    "during_delegation",
    "comparison",
    "accuracy_maximizing",
    "cost_minimizing",
    "diagrams",
}
BEYOND = {
    "what_the_paper_did_not_say",
    "number_of_features",
    "weight_that_max_compares",
    "boosting_algorithm",
    "stopping_rule",
    "what_weights_are_worth",
}


def test_all_experiments_of_the_paper_are_there_and_readable():
    files = experiment_files()
    assert set(files) == PAPER | BEYOND
    for path in files.values():
        assert load_experiment(path).title


def test_the_search_is_a_slice_that_holds_the_parameters_the_paper_names():
    search = load_experiment(experiment_files()["parameter_search"])
    axes = ("increment_size", "delegation_rate", "n_estimators")
    cells = {tuple(row.method[axis] for axis in axes) for row in search.rows}
    assert len(search.rows) == 4 * len(cells) == 4 * 21
    assert {(65, 0.05, 350), (85, 0.05, 200)} <= cells
    assert search.n_trials == 50
    assert list(search.datasets) == list(DATASET_NAMES)


def test_trials_at_full_are_the_papers():
    counts = {name: load_experiment(path).n_trials for name, path in experiment_files().items()}
    assert counts["during_delegation"] == 500
    assert counts["comparison"] == counts["accuracy_maximizing"] == counts["cost_minimizing"] == 50
    curves = load_experiment(experiment_files()["during_delegation"])
    assert set(curves.datasets) == set(DATASET_NAMES) - {"occupancy-det"}


def test_the_comparison_needs_no_further_trials():
    keys = {
        name: {t.key for t in load_experiment(experiment_files()[name]).trials(["heart"], 2)}
        for name in ("comparison", "accuracy_maximizing", "cost_minimizing")
    }
    assert keys["comparison"] <= keys["accuracy_maximizing"] | keys["cost_minimizing"]


def test_lists_spread_out_and_labels_tell_methods_apart(spec):
    method = SMALL | {"mechanism": ["direct", "max"], "increment_size": [10, 20]}
    experiment = load_experiment(spec(methods=[method]))
    labels = [row.label for row in experiment.rows]
    assert labels == [
        "Direct, increment_size 10",
        "Direct, increment_size 20",
        "Max, increment_size 10",
        "Max, increment_size 20",
    ]


def test_an_experiment_is_run_once_on_each_of_its_datasets(spec):
    experiment = load_experiment(spec(datasets=["heart", "own.csv::class", "heart"]))
    asked = ["heart", "spambase", "own.csv::class", "other.csv", "heart"]
    trials = list(experiment.trials(asked, 1))
    assert list(dict.fromkeys(trial.data for trial in trials)) == ["heart", "own.csv::class"]
    assert len(trials) == len({str(trial) for trial in trials}) == 8
    assert (trials[-1].dataset, trials[-1].target) == ("own.csv", "class")


def test_a_count_of_trials_stands_for_the_other(spec):
    experiment = load_experiment(spec(trials={"quick": 2}))
    assert (experiment.n_trials, experiment.n_quick_trials) == (2, 2)


def test_a_file_that_is_no_toml(tmp_path):
    path = tmp_path / "broken.toml"
    path.write_text("title = ")
    with pytest.raises(ValueError, match="must be a TOML file"):
        load_experiment(path)


def test_a_file_in_another_encoding_is_named(tmp_path):
    path = tmp_path / "latin.toml"
    path.write_bytes("title = 'Größe'".encode("latin-1"))
    with pytest.raises(ValueError, match=r"latin\.toml must be a TOML file in UTF-8"):
        load_experiment(path)


@pytest.mark.parametrize("name", ["comparison", "during_delegation", "parameter_search"])
def test_files_say_what_the_paper_does_not(name):
    experiment = load_experiment(experiment_files()[name])
    for row in experiment.rows:
        method = row.under("paper")
        if row.is_boosted:
            assert method == row.method  # AdaBoost keeps all features
        else:
            assert method["features_per_voter"] == 20
            assert method["candidates"] == "voters"
        assert row.under("ours") == row.method


def test_rules_of_a_file_give_way_to_those_of_a_method(spec):
    path = spec(methods=[SMALL | {"candidates": ["representatives", "voters"]}])
    path.write_text(path.read_text() + '[rules.paper]\ncandidates = "voters"\n')
    rows = load_experiment(path).rows
    assert [row.under("paper")["candidates"] for row in rows] == ["representatives", "voters"]


def test_a_number_of_features_a_share_and_all_may_be_listed(spec):
    path = spec(
        kind="variations",
        protocols=["paper"],
        vary=["features_per_voter"],
        methods=[SMALL | {"features_per_voter": [20, 0.5, "all"]}],
    )
    levels = [row.method["features_per_voter"] for row in load_experiment(path).rows]
    assert levels == [20, 0.5, "all"]
