"""What would the experiments have taken with a loop over scikit-learn's voters?

Draws trials at random from all that `python -m reproduction --full` runs, runs each through the
linear pool and through the pool that loops, and compares times. The results must be the same, so
final fits stop by the rule of the installed scikit-learn in both.
"""

import argparse
import random
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from time import process_time

from rich.console import Console
from rich.progress import track

from skliquid import LiquidEnsembleClassifier
from skliquid.datasets import available_datasets
from skliquid.pools import LinearPool

sys.path.append(str(Path(__file__).parents[1]))  # the reproduction is not installed

from reproduction import methods
from reproduction.experiment import experiment_files, load_experiment
from reproduction.trial import Trial


def timed(trial: Trial, pool: str) -> tuple[float, dict]:
    methods.LiquidEnsembleClassifier = lambda *args, **settings: LiquidEnsembleClassifier(
        *args, **settings | {"pool": pool}
    )
    start = process_time()
    result = trial.run()
    taken = process_time() - start
    return taken, {name: value for name, value in result.items() if name != "seconds"}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--sample", type=int, default=60, help="trials to draw (60)")
    options = arguments.parse_args()
    warnings.simplefilter("ignore")
    trials = {}
    for path in experiment_files().values():
        experiment = load_experiment(path)
        trials |= {t.key: t for t in experiment.trials(available_datasets(), experiment.n_trials)}
    sample = random.Random(0).sample(sorted(trials.values(), key=str), options.sample)
    Trial("heart", "ours", sample[0].method | {"n_estimators": 30}, 0).run()  # compile first
    linear = loop = boosted = 0.0
    for trial in track(sample, "Trials"):
        if trial.method["method"] == "adaboost":
            boosted += timed(trial, "auto")[0]
            continue
        method = trial.method | {"stopping_rule": LinearPool.stopping_rule}
        by_one_rule = replace(trial, method=method)
        ours, result = timed(by_one_rule, "linear")
        theirs, same = timed(by_one_rule, "estimator")
        assert str(result) == str(same), trial
        linear, loop = linear + ours, loop + theirs
    scale = len(trials) / options.sample / 3600
    Console().print(
        f"{len(sample)} of {len(trials)} trials, the same results both ways. Delegating ensembles: "
        f"{linear:.1f} s by the linear pool, {loop:.1f} s by a loop, {loop / linear:.0f} times as "
        "long. "
        f"All of them on one core: about {(linear + boosted) * scale:.1f} h, and "
        f"{(loop + boosted) * scale:.0f} h by a loop.",
        soft_wrap=True,
    )


if __name__ == "__main__":
    main()
