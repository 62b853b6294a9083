"""train_on: an ensemble from a file of any size, in one call that can be stopped at any time."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from skliquid.arrays import Floats
from skliquid.ensemble import LiquidEnsembleClassifier
from skliquid.increments import FEWEST_ROWS, MOST_INCREMENTS
from skliquid.schedules import JustFastEnough
from skliquid.streams.checkpoint import Checkpoint, Run
from skliquid.streams.increments import (
    INCREMENT_SIZE,
    SAMPLE_SIZE,
    Increments,
    check_count,
    increments_from,
)
from skliquid.streams.kinds import Kind
from skliquid.streams.model import StreamedModel
from skliquid.streams.outputs import check_output
from skliquid.streams.value_hash import value_hash

_TIMES_JUDGED = 100
_NO_MATTER = {"n_jobs", "verbose"}
"""Parameters of the ensemble that change no bit."""


class Progress(NamedTuple):
    """How far a training has come.

    ``cost`` is in sample visits; ``accuracy`` is that of the whole ensemble, on rows that it was
    asked about before it trained on them, and not a number while there are none.
    """

    n_rows: int
    n_rows_in_all: int
    n_representatives: int
    cost: int
    accuracy: float


def train_on(
    path: str | PathLike[str],
    *,
    target: str,
    ensemble: LiquidEnsembleClassifier | None = None,
    increment_size: int | None = None,
    classes: Sequence[Any] | None = None,
    kinds: Mapping[str, Kind] | None = None,
    sample_size: int = SAMPLE_SIZE,
    checkpoint: str | PathLike[str] | None = None,
    restart: bool = False,
    every: int = 100,
    report: Callable[[Progress], None] | None = None,
) -> StreamedModel:
    """Return an ensemble trained in one pass over a file or folder, however large.

    Parameters
    ----------
    path : str or path
        A Parquet or CSV file, or a folder of such files, taken in the order of their names.
    target : str
        The column that holds the classes.
    ensemble : LiquidEnsembleClassifier, default=None
        What to train a copy of; None means the defaults. ``delegation_rate="auto"`` is just fast
        enough to reach ``n_final`` at the end of the data.
    increment_size : int, default=None
        Number of rows between delegations; None means the ensemble's, or, if that is ``"auto"``,
        1000, and for fewer than 50,000 rows as many as make 50 increments, but at least 25.
    classes : sequence, default=None
        All labels that may come. When None, the target is read once from beginning to end.
    kinds : mapping from str to {"number", "text", "truth", "left_out"}, default=None
        What columns shall be taken for, where this is not what their file says.
    sample_size : int, default=10000
        Number of first rows to which the coder is fitted.
    checkpoint : str or path, default=None
        A file that is written now and then. If it is there, training goes on where it left off,
        and ends with the same bits as if it had never stopped. It must be trusted.
    restart : bool, default=False
        Whether to begin anew if the checkpoint is there; it is removed when training begins.
    every : int, default=100
        Number of increments between checkpoints.
    report : callable, default=None
        Called with the ``Progress`` after each increment. What it raises ends the training, after
        a checkpoint has been written.

    Returns
    -------
    model : StreamedModel
        The ensemble and the coding of the columns.

    Examples
    --------
    >>> import tempfile, numpy as np, pandas as pd
    >>> from pathlib import Path
    >>> from skliquid import LiquidEnsembleClassifier
    >>> from skliquid.streams import train_on
    >>> file, rng = Path(tempfile.mkdtemp()) / "people.csv", np.random.default_rng(0)
    >>> people = pd.DataFrame({"age": rng.normal(50, 20, 4000), "town": ["a", "b"] * 2000})
    >>> ill = np.where(people["age"] + rng.normal(0, 5, 4000) > 60, "yes", "no")
    >>> people.assign(ill=ill).to_csv(file, index=False)
    >>> ensemble = LiquidEnsembleClassifier(n_estimators=20, n_final=3, random_state=0)
    >>> model = train_on(file, target="ill", ensemble=ensemble, increment_size=100)
    >>> len(model.ensemble.estimators_), model.accuracy > 0.9
    (3, True)
    >>> model.pipeline.predict(pd.DataFrame({"age": [20, 90], "town": ["a", "c"]})).tolist()
    ['no', 'yes']
    """
    check_count("every", every, like=100)
    _check_ensemble(ensemble)
    wanted = LiquidEnsembleClassifier() if ensemble is None else ensemble
    wanted._check_no_budget()
    wanted._check_parameters()  # now, not when the target has been read
    own = None if wanted.increment_size == "auto" else wanted.increment_size
    size = own if increment_size is None else increment_size
    increments = increments_from(
        path,
        target=target,
        increment_size=INCREMENT_SIZE if size is None else size,
        classes=classes,
        kinds=kinds,
        sample_size=sample_size,
    )
    if size is None:
        increments.increment_size = _fitting(increments.n_rows)
    kept = None
    if checkpoint is not None:
        check_output(Path(checkpoint), increments.files.paths, name="checkpoint")
        known = None if classes is None else increments.classes.tolist()
        settings = _settings(wanted, increments, classes=known, sample_size=sample_size)
        kept = Checkpoint(Path(checkpoint), increments.files.fingerprint(), settings)
    run = kept.read() if kept and not restart else None
    if run is None:
        run = Run(_prepared(wanted, increments), increments.coding, increments.classes)
        if kept:
            kept.path.unlink(missing_ok=True)
    run.ensemble.n_jobs = wanted.n_jobs
    increments.coding = run.coding
    keep = partial(kept.write, run) if kept else _nowhere
    with threadpool_limits(1, user_api="blas"):  # products are small, and threads only wait
        _train(run, increments, keep, every, report or _to_nobody)
    return StreamedModel(
        ensemble=run.ensemble,
        coding=run.coding,
        target=target,
        target_kind=increments.files.kinds[target],
        wishes=dict(kinds or {}),
        left_out=increments.left_out,
        accuracy=_accuracy(run),
    )


def _nowhere() -> None:
    """Keep nothing."""


def _to_nobody(_: Progress) -> None:
    """Report nothing."""


def _check_ensemble(ensemble: object) -> None:
    if not isinstance(ensemble, LiquidEnsembleClassifier | None):
        raise TypeError(
            f"ensemble must be a LiquidEnsembleClassifier: {ensemble!r} is none. Give one, without "
            "a coder, as columns are coded here."
        )


def _fitting(n_rows: int) -> int:
    """Return a size that makes enough increments of few rows, and small ones of many."""
    return min(max(-(-n_rows // MOST_INCREMENTS), FEWEST_ROWS), INCREMENT_SIZE)


def _prepared(wanted: LiquidEnsembleClassifier, increments: Increments) -> LiquidEnsembleClassifier:
    """Return a copy that takes each increment as one, and knows how many will come."""
    ensemble: LiquidEnsembleClassifier = clone(wanted).set_params(increment_size="auto")
    if ensemble.delegation_rate == "auto":
        ensemble.delegation_rate = JustFastEnough(
            ensemble.n_estimators, ensemble.n_final, max(len(increments), 1)
        )
    return ensemble


def _settings(
    ensemble: LiquidEnsembleClassifier, increments: Increments, **others: object
) -> dict[str, str]:
    params = {k: v for k, v in ensemble.get_params(deep=False).items() if k not in _NO_MATTER}
    params |= {
        "target": increments.target,
        "kinds": increments.files.kinds,
        "increment_size": increments.increment_size,
    }
    return {name: value_hash(name, value) for name, value in (params | others).items()}


def _train(
    run: Run,
    increments: Increments,
    keep: Callable[[], None],
    every: int,
    report: Callable[[Progress], None],
) -> None:
    judged_every = max(len(increments) // _TIMES_JUDGED, 1)
    for X, y in increments.from_row(run.n_rows):
        if run.n_increments and run.n_increments % judged_every == 0:
            run.n_right += int(np.sum(run.ensemble.predict(X) == y))
            run.n_judged += len(y)
        _take(run, X, y)
        if run.n_increments % every == 0:
            keep()
        try:
            report(_progress(run, increments))
        except BaseException:
            keep()
            raise
    keep()


def _take(run: Run, X: Floats, y: NDArray[Any]) -> None:
    run.ensemble.partial_fit(X, y, classes=run.classes)
    run.n_rows += len(y)
    run.n_increments += 1


def _progress(run: Run, increments: Increments) -> Progress:
    return Progress(
        run.n_rows,
        increments.n_rows,
        len(run.ensemble.delegation_graph_.representatives),
        run.ensemble.training_cost_.total,
        _accuracy(run),
    )


def _accuracy(run: Run) -> float:
    return run.n_right / run.n_judged if run.n_judged else float("nan")
