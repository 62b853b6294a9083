"""Experiments and results for tests, made without any training."""

import numpy as np

from reproduction.experiment import Experiment, Row, experiment_files, load_experiment
from reproduction.trial import Trial
from reproduction.trial_statistics import published_values

SMALL = {
    "method": "liquid",
    "mechanism": "proportional_weighted",
    "increment_size": 20,
    "delegation_rate": 0.3,
    "n_estimators": 20,
    "n_final": 4,
}
DIRECT, MAX = SMALL | {"mechanism": "direct"}, SMALL | {"mechanism": "max"}
BOOSTED = {"method": "adaboost", "estimator": "tree", "n_estimators": 10}
OF_A_TABLE = SMALL | {"increment_size": 65, "delegation_rate": 0.05, "n_estimators": 350}


def experiment_named(name):
    return load_experiment(experiment_files()[name])


def experiment(kind="results", **more):
    rows = [Row("Direct", DIRECT), Row("Max", MAX), Row("Ada DT Small", BOOSTED)]
    settings = {"protocols": ["paper", "ours"], "rows": rows} | more
    return Experiment("mine", "Mine", kind, **settings)


def result(accuracy, cost=100, **more):
    scores = {
        f"{name}_{when}": accuracy
        for name in ("accuracy", "f1_first", "f1_macro", "balanced_accuracy")
        for when in ("one_pass", "final")
    }
    return (
        scores
        | {
            "f1_second_one_pass": 0.25,
            "f1_second_final": 0.25,
            "cost_increments": 10,
            "cost_increments_nominal": 20,
            "cost_final_fit": cost,
            "n_representatives": 4,
            "minimum_majority": 2,
            "largest_share": 0.5,
            "curve_accuracy": [accuracy, accuracy],
        }
        | more
    )


def results(dataset="heart"):
    return [
        (Trial(dataset, protocol, method, number), result(accuracy + 0.01 * number, cost))
        for protocol in ("paper", "ours")
        for method, accuracy, cost in ((DIRECT, 0.6, 1000), (MAX, 0.5, 80), (BOOSTED, 0.8, 5))
        for number in range(4)
    ]


def as_published(name, datasets=("heart",), offset=lambda label: 0.0, n_trials=4):
    """An experiment of the paper, and trials whose means are the published values and an offset."""
    mine, found = experiment_named(name), []
    for trial in mine.trials(list(datasets), n_trials):
        label, noise = mine.label(trial), 0.002 * (trial.number - (n_trials - 1) / 2)
        accuracy, cost = (
            published_values(name)[trial.data, label, measure] for measure in ("accuracy", "cost")
        )
        accuracy += noise + offset(label)
        scores = {f"accuracy_{when}": accuracy for when in ("one_pass", "final")}
        found.append((trial, scores | {"cost_final_fit": 1000 * (cost + noise)}))
    return mine, found


def search_results(search, n_trials=2):
    rng = np.random.default_rng(0)
    trials = search.trials(["heart"], n_trials)
    return [(trial, {"accuracy_final": rng.uniform(0.6, 0.9)}) for trial in trials]


def curve_ends(best, dataset="spambase", n_trials=8):
    """Trials of the paper's curves in which one mechanism ends best."""
    curves = experiment_named("during_delegation")
    found = []
    for trial in curves.trials([dataset], n_trials):
        is_best = curves.label(trial) == best
        accuracy = 0.7 + 0.001 * trial.number + 0.2 * is_best
        majority = 5 + 0.1 * trial.number + 3 * is_best
        found.append((trial, {"accuracy_one_pass": accuracy, "minimum_majority": majority}))
    return curves, found


def variation(measure="accuracy", **levels):
    """An experiment that varies the first parameter of ``levels``."""
    (name, values), *more = levels.items()
    fixed = {key: of_key[0] for key, of_key in more}
    rows = [
        Row(f"{mechanism} {value}", OF_A_TABLE | {"mechanism": mechanism, name: value} | fixed)
        for value in values
        for mechanism in ("direct", "max")
    ]
    settings = {"protocols": ["paper"], "vary": list(levels), "measure": measure}
    return Experiment("mine", "Mine", "variations", rows=rows, **settings)


def variation_results(of, accuracy, dataset="heart", n_trials=4):
    """Trials whose accuracy is that of their variation, spread by a thousandth."""
    return [
        (
            Trial(dataset, "paper", row.under("paper"), number),
            {
                "accuracy_one_pass": accuracy(row.method) + 0.001 * number,
                "cost_final_fit": 1000 if row.is_direct else 200,
                "cost_increments_nominal": 50,
            },
        )
        for row in of.rows
        for number in range(n_trials)
    ]
