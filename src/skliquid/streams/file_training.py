"""File training: an ensemble from a file of any size; training can be stopped and resumed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from skliquid import __version__, presets
from skliquid.ensemble import LiquidEnsembleClassifier
from skliquid.files.atomic_write import remove_leftovers
from skliquid.files.container import ModelFileError
from skliquid.files.saving import digest, serialize, write
from skliquid.mechanisms import JustFastEnough
from skliquid.streams.column_types import ColumnType
from skliquid.streams.csv_dialect import GivenDialect
from skliquid.streams.file_increments import SAMPLE_SIZE, Increments, check_integer, increments_from
from skliquid.streams.file_paths import check_output, data_paths
from skliquid.streams.lock import check_owner, file_lock
from skliquid.streams.model import StreamedModel, load_model
from skliquid.validation.parameters import check_no_budget

_MAX_SCORES = 100
_NO_EFFECT = ("n_jobs", "on_interrupt", "verbose")  # on the bits of an ensemble


class Progress(NamedTuple):
    """The state of training, or of scoring the held-out rows after it."""

    n_rows: int  # trained on, or scored
    n_rows_in_all: int
    n_representatives: int
    cost: int  # in sample visits
    accuracy: float  # as in StreamedModel
    stage: Literal["training", "scoring"] = "training"


Report: TypeAlias = Callable[[Progress], None]


def train_on(
    path: str | PathLike[str],
    *,
    target: str,
    ensemble: LiquidEnsembleClassifier | None = None,
    increment_size: int | None = None,
    classes: Sequence[Any] | None = None,
    column_types: Mapping[str, ColumnType] | None = None,
    sample_size: int = SAMPLE_SIZE,
    test_size: float = 0.0,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    checkpoint: str | PathLike[str] | None = None,
    resume: bool = False,
    restart: bool = False,
    every: int = 100,
    report: Report | None = None,
) -> StreamedModel:
    """Return an ensemble trained in one pass over a file or folder, however large.

    Parameters
    ----------
    path, target, classes, column_types, sample_size, separator, decimal, encoding
        The data, as in :func:`increments_from`.
    test_size : float, default=0.0
        Share of the rows to hold out, lowered so that they are about 10,000 at most. They are never
        trained on, and score the final ensemble: ``model.test_accuracy`` and ``model.confusion``.
    ensemble : LiquidEnsembleClassifier, default=None
        The ensemble; a copy of it is trained. None means the defaults. ``delegation_rate="auto"``
        is just fast enough to reach ``n_final`` at the end of the data.
    increment_size : int, default=None
        Number of rows between delegations; None means the ensemble's, or, if that is ``"auto"``,
        as in :func:`increments_from`.
    checkpoint : str or path, default=None
        A file with the unfinished model, written regularly. During training, a file with the same
        name and ``.lock`` names the process that writes it, and no other training can. If the
        checkpoint exists, ``resume`` or ``restart`` must be True.
    resume : bool, default=False
        Whether to resume training from the checkpoint, if it exists. It then ends with the same
        bits as if it had never stopped. The checkpoint must belong to the user.
    restart : bool, default=False
        Whether to remove the checkpoint, if it exists, and start from scratch.
    every : int, default=100
        Number of increments between checkpoints.
    report : callable, default=None
        Called with the ``Progress`` after each increment, and after each batch of held-out rows. An
        exception that it raises ends the training, after a checkpoint has been written.

    Returns
    -------
    model : StreamedModel
        The ensemble and the encoding of the columns.

    Examples
    --------
    >>> import tempfile, numpy as np, pandas as pd
    >>> from pathlib import Path
    >>> from skliquid import LiquidEnsembleClassifier, train_on
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
    check_integer("every", every, like=100)
    prototype = _check_ensemble(ensemble)
    if increment_size is None and prototype.increment_size != "auto":
        increment_size = prototype.increment_size
    file = None if checkpoint is None else Path(checkpoint)
    _check_resume(file, resume=resume, restart=restart)
    with _reserve(file, path, may_exist=resume or restart) if file else nullcontext():
        increments = increments_from(
            path,
            target=target,
            increment_size=increment_size,
            classes=classes,
            column_types=column_types,
            sample_size=sample_size,
            test_size=test_size,
            separator=separator,
            decimal=decimal,
            encoding=encoding,
        )
        model = _resume_or_create(prototype, increments, file, resume)
        model.ensemble.n_jobs = prototype.n_jobs
        increments.encoding = model.encoding
        report = report or (lambda _: None)
        with threadpool_limits(1, user_api="blas"):  # matrices are small, and threads only wait
            _train(model, increments, file, every, report)
            if test_size:
                _score(model, increments, report)
    return model


def _check_ensemble(ensemble: LiquidEnsembleClassifier | None) -> LiquidEnsembleClassifier:
    """Return the ensemble, or the default one, after checks that need no data."""
    if not isinstance(ensemble, LiquidEnsembleClassifier | None):
        raise TypeError(
            f"ensemble must be a LiquidEnsembleClassifier: got {ensemble!r}. Columns are encoded "
            "here, so give no pipeline."
        )
    prototype = LiquidEnsembleClassifier() if ensemble is None else ensemble
    check_no_budget(prototype.max_cost, prototype.max_seconds)
    prototype.check_parameters()
    return prototype


def _check_resume(file: Path | None, *, resume: bool, restart: bool) -> None:
    if resume and (restart or file is None):
        raise ValueError(
            f"resume must go with a checkpoint and without restart: got checkpoint={file}, "
            f"restart={restart}. Leave out one of resume and restart, or name a checkpoint."
        )


@contextmanager
def _reserve(file: Path, data: str | PathLike[str], *, may_exist: bool) -> Iterator[None]:
    """Return a context in which no other training writes the checkpoint."""
    check_output(file, data_paths(Path(data)), name="checkpoint")
    with file_lock(file):
        if file.exists() and not may_exist:
            raise FileExistsError(
                f"checkpoint must not exist without resume or restart: {file} is of an earlier "
                "training. Give resume=True (--resume) to continue that training, or "
                "restart=True (--restart) to discard it."
            )
        remove_leftovers(file)
        yield


def _resume_or_create(
    prototype: LiquidEnsembleClassifier, increments: Increments, file: Path | None, resume: bool
) -> StreamedModel:
    """Return the unfinished model in the checkpoint, or an untrained one."""
    settings = _settings(prototype, increments) if file is not None else {}
    if file is not None and resume and file.exists():
        return _load_checkpoint(file, settings)
    ensemble = clone(prototype).set_params(increment_size="auto")  # an increment at a time
    if ensemble.delegation_rate == "auto":
        n_final = presets.N_FINAL_RANGE[0] if ensemble.n_final == "auto" else ensemble.n_final
        ensemble.delegation_rate = JustFastEnough(
            ensemble.n_estimators, min(n_final, ensemble.n_estimators), max(len(increments), 1)
        )
    model = StreamedModel(
        ensemble=ensemble,
        encoding=increments.encoding,
        classes=increments.classes,
        target=increments.target,
        target_type=increments.target_type,
        chosen_types=dict(increments.files.chosen),
        left_out=increments.left_out,
        settings=settings,
    )
    if file is not None:
        file.unlink(missing_ok=True)
    return model


def _load_checkpoint(file: Path, settings: dict[str, str]) -> StreamedModel:
    check_owner(file, parameter="checkpoint")
    model = load_model(file, parameter="checkpoint")
    for name, value in settings.items():
        if model.settings.get(name) != value:
            raise ValueError(
                f"checkpoint must belong to the same data and settings: {name} has changed since "
                f"{file} was written. Change it back, or start from scratch with restart=True "
                "(--restart)."
            )
    return model


def _settings(prototype: LiquidEnsembleClassifier, increments: Increments) -> dict[str, str]:
    """Return hashes of all settings and data on which the bits of a model depend."""
    settings = {k: v for k, v in prototype.get_params(deep=False).items() if k not in _NO_EFFECT}
    settings |= {
        "target": increments.target,
        "column_types": increments.files.column_types,
        "increment_size": increments.increment_size,
        "classes": None if increments.given is None else increments.given.tolist(),
        "sample_size": increments.sample_size,
        "test_size": float(increments.test_size),
    }
    for name in GivenDialect._fields:
        settings[name] = [getattr(dialect, name) for dialect in increments.files.dialects]
    hashes = {"data": increments.files.fingerprint(), "the version of skliquid": __version__}
    for name, value in settings.items():
        try:
            hashes[name] = digest(value)
        except ModelFileError as error:
            raise ValueError(
                f"{name} must be of a type that model files can store: got {value!r}. Choose one "
                "by its name, or give no checkpoint."
            ) from error
    return hashes


def _train(
    model: StreamedModel, increments: Increments, file: Path | None, every: int, report: Report
) -> None:
    def save() -> None:
        if file is not None:
            write(serialize(model), file)

    ensemble, score_every = model.ensemble, max(len(increments) // _MAX_SCORES, 1)
    n_done = model.n_rows // increments.increment_size
    for n_before, (X, y) in enumerate(increments.from_row(model.n_rows), start=n_done):
        if n_before and n_before % score_every == 0:
            model.n_correct += int(np.sum(ensemble.predict(X) == y))
            model.n_scored += len(y)
        ensemble.partial_fit(X, y, classes=model.classes)
        model.n_rows = min((n_before + 1) * increments.increment_size, increments.n_rows)
        if n_before == n_done or (n_before + 1) % every == 0:  # soon, in case it cannot be saved
            save()
        try:
            report(_progress(model, model.n_rows, increments.n_rows))
        except BaseException:
            save()
            raise
    save()


def _progress(model: StreamedModel, n_rows: int, n_rows_in_all: int, **stage: Any) -> Progress:
    n_left = len(model.ensemble.delegation_graph_.representatives)
    cost = model.ensemble.training_cost_.total
    return Progress(n_rows, n_rows_in_all, n_left, cost, model.accuracy, **stage)


def _score(model: StreamedModel, increments: Increments, report: Report) -> None:
    """Count the predictions for held-out rows, by class."""
    classes, ensemble = model.classes, model.ensemble
    confusion = np.zeros((len(classes), len(classes)), dtype=np.int64)
    n_in_all = model.n_rows - ensemble.n_samples_seen_
    for X, y in increments.test_rows():
        pairs = np.searchsorted(classes, y), np.searchsorted(classes, ensemble.predict(X))
        np.add.at(confusion, pairs, 1)
        report(_progress(model, int(confusion.sum()), n_in_all, stage="scoring"))
    model.confusion = confusion
