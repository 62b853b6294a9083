"""Replays: one page per dataset that replays how the paper's ensemble delegates on it."""

import warnings
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from sklearn.exceptions import ConvergenceWarning

from skliquid.arrays import Floats, Labels
from skliquid.ensemble import LiquidEnsembleClassifier
from skliquid.experiments.estimates import Shown, short_name
from skliquid.experiments.protocols import Halves, halves
from skliquid.html.replay import Replay
from skliquid.record import TrainingRecord
from skliquid.schedules import Rounded

SETTING = {"increment_size": 25, "delegation_rate": Rounded(0.2, "floor")}
"""That of the paper's Figure 5, chosen there because it has many rounds of delegation."""

_MOST_ROWS = 1000  # on which accuracy is shown, so that large tables take no longer


class DatasetReplay(NamedTuple):
    """The replay of a training on a dataset, and what happens in it, in words."""

    dataset: str
    words: str
    replay: Replay


def dataset_replays(shown: Shown) -> list[DatasetReplay]:
    """Return one replay for each dataset that has results, the same in each call.

    The ensemble is trained on one half of the rows, prepared by the rules under which there are
    results, and its accuracy is that on rows of the other half.
    """
    replays = []
    for names in _splits(shown).values():
        with suppress(ValueError):  # the half lacks a class that halves of the trials had
            replays.append(_dataset_replay(*names))
    return replays


def _splits(shown: Shown) -> Mapping[str, tuple[str, str, str | None, str]]:
    """Return names, files, targets and protocols by dataset."""
    splits: dict[str, tuple[str, str, str | None, str]] = {}
    for _, results in shown:
        for trial, _ in results:
            names = (trial.data, trial.dataset, trial.target, trial.protocol)
            splits.setdefault(trial.data, names)
    return splits


def _dataset_replay(data: str, dataset: str, target: str | None, protocol: str) -> DatasetReplay:
    split = halves(dataset, target, protocol, seed=0)
    ensemble = LiquidEnsembleClassifier.as_in_the_paper(random_state=0, **SETTING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # raw features do not converge
        ensemble.fit(split.X_train, split.y_train, eval_set=_some_test_rows(split))
    title = f"{short_name(data)}: the paper's ensemble"
    return DatasetReplay(data, _words(ensemble.record_), Replay.of(ensemble.record_, title=title))


def _some_test_rows(split: Halves) -> tuple[Floats, Labels]:
    """Return at most ``_MOST_ROWS`` test rows, from all parts of a table that may be sorted."""
    step = -(-len(split.y_test) // _MOST_ROWS)
    return split.X_test[::step], split.y_test[::step]


def _words(record: TrainingRecord) -> str:
    graph = record[-1].graph
    n_left, n_increments = len(graph.representatives), len(record)
    return f"{graph.n_voters} voters, {n_left} representatives after {n_increments} increments"
