"""File training: an ensemble from a file of any size; training can be stopped and resumed."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from skliquid import __version__, presets
from skliquid.dask import Cluster
from skliquid.delegation.drawn_rows import DrawnRows, draw_row_numbers
from skliquid.ensemble import LiquidEnsembleClassifier
from skliquid.files.checkpoint import hash_settings, load_checkpoint, reserve
from skliquid.files.saving import serialize, write
from skliquid.mechanisms import JustFastEnough
from skliquid.sources.file_paths import data_paths
from skliquid.streams.file_increments import OPTIONS, Increments, check_integer, increments_from
from skliquid.streams.model import StreamedModel
from skliquid.tables.column_report import ColumnReport, describe_columns
from skliquid.tables.text_values import warn_of_similar_classes
from skliquid.training import Training
from skliquid.validation.limits import check_sample_fits
from skliquid.validation.parameters import check_no_budget

_MAX_SCORES, _ROWS_AT_ONCE = 100, 8192
_NO_EFFECT = ("n_jobs", "on_interrupt", "verbose")  # on the bits of an ensemble


Stage: TypeAlias = Literal["counting", "reading", "choosing", "growing", "training", "scoring"]


class Progress(NamedTuple):
    """The state of training, or of scoring the held-out rows after it.

    The stages are "counting" rows of each class, "reading" a sample, "choosing" voters and
    "growing" them; or, online, "training" increment by increment; and "scoring" held-out rows.
    """

    stage: Stage
    share: float  # of the stage that is done, at least
    n_rows: int  # read, trained on, or scored; 0 while they are counted
    n_rows_in_all: int
    n_representatives: int
    cost: int  # in sample visits
    accuracy: float  # as in StreamedModel
    log_loss: float  # of the group on held-out rows, where voters grow
    columns: Sequence[ColumnReport]  # of the sample, or of the first increment


Report: TypeAlias = Callable[[Progress], None]


def train_on(
    source: str | PathLike[str],
    *,
    target: str,
    ensemble: LiquidEnsembleClassifier | None = None,
    online: bool = False,
    max_memory: int | None = None,
    scheduler: Any = None,
    increment_size: int | None = None,
    classes: Sequence[Any] | None = None,
    column_types: Mapping[str, str] | None = None,
    missing_values: Collection[str] = (),
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
    """Return an ensemble trained on a file, a folder or a query, however large.

    The rows are counted, a random sample of as many as ``ensemble.max_rows`` allows is read, and
    the ensemble is fitted to it: it is that of ``ensemble.fit`` on the whole table, bit for bit.
    With ``online=True``, rows are trained on in their order by ``ensemble.partial_fit``, for data
    with concept drift.

    Parameters
    ----------
    source : str or path
        A Parquet, CSV or TSV file, a folder of such files, taken in the order of their names, or a
        query of DuckDB that begins with SELECT, WITH or FROM and names files.
    target : str
        The column that holds the classes: text, integers or booleans. Rows without a label are
        skipped.
    ensemble : LiquidEnsembleClassifier, default=None
        The ensemble; a copy of it is trained. None means the defaults, or online the preset
        ``for_streams`` with standardized rows. Online, ``delegation_rate="auto"`` is just fast
        enough to reach ``n_final`` at the end of the data.
    online : bool, default=False
        Whether to train in one pass, increment by increment. Each increment is predicted before it
        is trained on (``model.accuracy``), and training can be stopped and resumed.
    max_memory : int, default=None
        The most bytes that the sample and the training may take. None means a quarter of the main
        memory, at most 4 GB. If a sample of ``ensemble.max_rows`` rows needs more, an error is
        raised before it is read.
    scheduler : distributed.Client or str, default=None
        A Dask cluster, or the address of its scheduler. Its workers read and count the files, one
        file at a time and worker, and grow trees on the sample; they must find the files under the
        same paths. The ensemble has the same bits.
    increment_size : int, default=None
        Number of rows between delegations; None means the ensemble's, or, if that is ``"auto"``,
        as in ``fit``, or in increments as in :func:`increments_from`.
    classes : sequence, default=None
        All labels that may occur; None means those of the target.
    column_types : mapping from str to str, default=None
        Types of columns that differ from those in the data, such as ``{"zip": "category"}``:
        ``"number"``, ``"category"``, ``"text"``, ``"date"``, ``"left out"``, or ``"id"`` for a
        column that is left out, and kept beside predictions.
    missing_values : collection of str, default=()
        Texts that are missing values, besides the usual ones.
    test_size : float, default=0.0
        Share of the rows of each class to hold out; at most about 10,000 rows in all.
        They are never trained on, and score the final ensemble: ``model.test_accuracy`` and
        ``model.confusion``.
    separator : str, default=None
        The separator of CSV files; None finds a comma, semicolon, tab or vertical bar in each.
    decimal : {".", ","}, default=None
        The decimal mark of CSV files; None finds decimal commas where the separator is not a comma.
    encoding : str, default=None
        The encoding of CSV files, such as ``"latin-1"``; None finds UTF-8, cp1252, UTF-16, and
        UTF-32 with a byte order mark.
    checkpoint : str or path, default=None
        A file with the unfinished model, written regularly when training online. During
        training, a file with the same name and ``.lock`` names the process that writes it, and no
        other training can. If the checkpoint exists, ``resume`` or ``restart`` must be True.
    resume : bool, default=False
        Whether to resume training from the checkpoint, if it exists. It then ends with the same
        bits as if it had never stopped. The checkpoint must belong to the user.
    restart : bool, default=False
        Whether to remove the checkpoint, if it exists, and start from scratch.
    every : int, default=100
        Number of increments between checkpoints.
    report : callable, default=None
        Called with the ``Progress`` after each batch of rows read, each increment, and each batch
        of held-out rows. An exception that it raises ends the training, online after a checkpoint
        has been written.

    Returns
    -------
    model : StreamedModel
        The ensemble, and how to read other files for it.

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
    >>> model = train_on(file, target="ill", ensemble=ensemble, test_size=0.1)
    >>> len(model.ensemble.estimators_), model.test_accuracy > 0.9
    (3, True)
    >>> model.ensemble.predict(pd.DataFrame({"age": [20, 90], "town": ["a", "c"]})).tolist()
    ['no', 'yes']
    """
    check_integer("every", every, like=100)
    if max_memory is not None:
        check_integer("max_memory", max_memory, like=10**9)
    prototype = _check_ensemble(ensemble, online=online)
    if increment_size is None and prototype.increment_size != "auto":
        increment_size = prototype.increment_size
    file = None if checkpoint is None else Path(checkpoint)
    _check_combination(source, file, scheduler, online=online, resume=resume, restart=restart)
    report = report or (lambda _: None)

    def report_counting(share: float) -> None:
        n_voters, none = prototype.n_estimators, float("nan")
        report(Progress("counting", share, 0, 0, n_voters, 0, none, none, ()))

    may_exist = resume or restart
    with (
        reserve(file, data_paths(source), may_exist=may_exist) if file else nullcontext(),
        Cluster(scheduler) if scheduler is not None else nullcontext() as cluster,
    ):
        increments = increments_from(
            source,
            target=target,
            increment_size=increment_size,
            classes=classes,
            column_types=column_types,
            missing_values=missing_values,
            test_size=test_size,
            separator=separator,
            decimal=decimal,
            encoding=encoding,
            report=report_counting,
            cluster=cluster,
        )
        with threadpool_limits(1, user_api="blas"):  # matrices are small, and threads only wait
            if not online:
                model = _untrained(prototype, increments)
                if increment_size is not None:
                    model.ensemble.set_params(increment_size=increment_size)
                _train_on_sample(model, increments, max_memory, report)
                return model
            settings = _settings(prototype, increments, classes) if file else {}
            model = _start_online(prototype, increments, file if resume else None, settings)
            if file and not resume:
                file.unlink(missing_ok=True)
            _train_online(model, increments, file, every, report)
            if test_size:
                _score(model, *next(increments.test_rows()), report)
    return model


def _check_combination(
    source: Any, file: Path | None, scheduler: Any, *, online: bool, resume: bool, restart: bool
) -> None:
    """Raise unless parameters go together."""
    if file is not None and not online:
        raise ValueError(
            f"checkpoint must go with online=True: got {file}. Leave it out; without online=True "
            "nothing is lost but a sample that is quickly read again."
        )
    if resume and (restart or file is None):
        raise ValueError(
            f"resume must go with a checkpoint and without restart: got checkpoint={file}, "
            f"restart={restart}. Leave out one of resume and restart, or name a checkpoint."
        )
    if scheduler is not None and (online or not data_paths(source)):
        raise ValueError(
            "scheduler (--scheduler) must go with files, and without online=True: got "
            f"{source!r} and online={online}. Leave it out."
        )


def _check_ensemble(
    ensemble: LiquidEnsembleClassifier | None, *, online: bool
) -> LiquidEnsembleClassifier:
    """Return the ensemble, or the default one, after checks that need no data."""
    if not isinstance(ensemble, LiquidEnsembleClassifier | None):
        raise TypeError(
            f"ensemble must be a LiquidEnsembleClassifier: got {ensemble!r}. It encodes columns, "
            "so give no pipeline."
        )
    if ensemble is None:
        settings = presets.for_unscaled_streams() if online else {}
        ensemble = LiquidEnsembleClassifier(**settings)
    if online:
        check_no_budget(ensemble)
    ensemble.check_parameters()
    return ensemble


def _untrained(prototype: LiquidEnsembleClassifier, increments: Increments) -> StreamedModel:
    return StreamedModel(
        ensemble=clone(prototype),
        classes=increments.classes,
        target=increments.target,
        target_type=increments.target_type,
        column_types=increments.column_types,
        chosen_types=dict(increments.files.chosen),
        missing_values=increments.files.missing_values,
        left_out=list(increments.left_out),
        n_unlabelled=increments.n_unlabelled,
    )


def _start_online(
    prototype: LiquidEnsembleClassifier,
    increments: Increments,
    kept: Path | None,
    settings: dict[str, str],
) -> StreamedModel:
    """Return the unfinished model of a checkpoint, or an untrained one."""
    warn_of_similar_classes(increments.classes.tolist(), f"the target {increments.target!r}")
    if kept and kept.exists():
        model: StreamedModel = load_checkpoint(kept, settings)
        model.ensemble.n_jobs = prototype.n_jobs
        return model
    model = _untrained(prototype, increments)
    model.settings, ensemble = settings, model.ensemble
    ensemble.increment_size = "auto"  # an increment at a time
    if ensemble.delegation_rate == "auto":
        n_final = presets.N_FINAL_RANGE[0] if ensemble.n_final == "auto" else ensemble.n_final
        n_voters, n_increments = ensemble.n_estimators, increments.n_with_rows
        n_final = min(n_final, n_voters)
        ensemble.delegation_rate = JustFastEnough(n_voters, n_final, n_increments)
    return model


def _settings(
    prototype: LiquidEnsembleClassifier, increments: Increments, classes: Any
) -> dict[str, str]:
    """Return hashes of all settings and data on which the bits of a model depend."""
    settings = {k: v for k, v in prototype.get_params(deep=False).items() if k not in _NO_EFFECT}
    files = increments.files
    settings |= {
        "data": files.fingerprint(),
        "the version of skliquid": __version__,
        "target": increments.target,
        "column_types": files.column_types,
        "missing_values": files.missing_values,
        "increment_size": increments.increment_size,
        "classes": classes and increments.classes.tolist(),
        "test_size": float(increments.test_size),
        "separator, decimal or encoding": [list(part.dialect or ()) for part in files.parts],
    }
    return hash_settings(settings)


def _train_on_sample(
    model: StreamedModel, increments: Increments, max_memory: int | None, report: Report
) -> None:
    """Fit the ensemble to a random sample of the rows, and score it on held-out rows."""
    ensemble, n_columns = model.ensemble, len(increments.column_types)
    n_rows = increments.n_rows - len(increments.held_out)
    limit = ensemble.row_limit(n_columns)
    n_drawn = n_rows if limit is None else min(limit, n_rows)
    check_sample_fits(n_drawn, n_columns, max_memory)
    drawn = draw_row_numbers(n_rows, n_drawn, ensemble.draw_seed()) if n_drawn < n_rows else None

    def report_reading(share: float) -> None:
        n_read = round(share * increments.n_rows)
        report(_progress(model, "reading", share, (n_read, increments.n_rows)))

    (X, y), test = increments.take(drawn, report_reading)
    rows = DrawnRows(X, y, None, drawn, increments.counts(), n_rows)

    def report_training(training: Training, stage: Any, share: float) -> None:
        report(_progress(model, stage, share, (n_drawn, n_rows), training))

    with increments.naming_odd_cells():
        rows = ensemble.encode_drawn(rows)
    model.columns = _describe(model, increments, X)
    del X, y
    increments.forget_rows()
    ensemble.fit_drawn(rows, core=increments.files.cluster, report=report_training)
    model.n_rows = increments.n_rows
    report(_progress(model, "growing", 1.0, (n_drawn, n_rows)))
    if len(increments.held_out):
        _score(model, *test, report)


def _describe(model: StreamedModel, increments: Increments, X: Any) -> list[ColumnReport]:
    """Return a report of each column; raise unless columns have the types that were chosen."""
    left_out, chosen = increments.left_out.items(), increments.files.chosen
    used = describe_columns(X, model.ensemble.encoder_, increments.files.markers)
    for one in used:
        wanted = chosen.get(one.name, one.column_type)
        suitable = {wanted, "left out"} | ({"category"} if wanted == "text" else set())
        if one.column_type not in suitable:
            raise ValueError(
                f"column_types ({OPTIONS[wanted]}) must suit the cells: the column {one.name!r} is "
                f"not of the type {wanted}, but {one.column_type}, with values such as "
                f"{one.example!r}. Correct the cells, or leave the choice out."
            )
    return used + [ColumnReport(k, "left out", 0, 0, "", [reason]) for k, reason in left_out]


def _train_online(
    model: StreamedModel, increments: Increments, file: Path | None, every: int, report: Report
) -> None:
    def save() -> None:
        if file is not None:
            write(serialize(model), file)

    score_every = max(len(increments) // _MAX_SCORES, 1)
    n_done = model.n_rows // increments.increment_size
    for n_before, (X, y) in enumerate(increments.from_row(model.n_rows), start=n_done):
        with increments.naming_odd_cells():
            _train_more(model, X, y, is_scored=n_before > 0 and n_before % score_every == 0)
        if not model.columns:
            model.columns = _describe(model, increments, X)
        model.n_rows = min((n_before + 1) * increments.increment_size, increments.n_rows)
        if n_before == n_done or (n_before + 1) % every == 0:  # soon, in case it cannot be saved
            save()
        try:
            share = model.n_rows / increments.n_rows
            report(_progress(model, "training", share, (model.n_rows, increments.n_rows)))
        except BaseException:
            save()
            raise
    save()


def _train_more(model: StreamedModel, X: Any, y: Any, *, is_scored: bool) -> None:
    if not len(y):  # all rows are held out
        return
    if is_scored and model.ensemble.__sklearn_is_fitted__():
        model.n_correct += int(np.sum(model.ensemble.predict(X) == y))
        model.n_scored += len(y)
    model.ensemble.partial_fit(X, y, classes=model.classes)


def _progress(
    model: StreamedModel,
    stage: Stage,
    share: float,
    n_rows: tuple[int, int],  # and in all
    training: Training | None = None,
) -> Progress:
    """Return the state of a training in progress, or of the ensemble."""
    is_fitted = model.ensemble.__sklearn_is_fitted__()
    if training is None and not is_fitted:
        n_left, cost, log_loss = model.ensemble.n_estimators, 0, np.nan
    else:
        fitted: Any = model.ensemble
        graph = fitted.delegation_graph_ if training is None else training.graph
        record = fitted.record_ if training is None else training.record
        n_left, cost, log_loss = len(graph.representatives), record.cost.total, record[-1].log_loss
    return Progress(stage, share, *n_rows, n_left, cost, model.accuracy, log_loss, model.columns)


def _score(model: StreamedModel, X: Any, y: Any, report: Report) -> None:
    """Count the predictions for held-out rows, by class."""
    classes, n_rows = model.classes, len(y)
    confusion = np.zeros((len(classes), len(classes)), dtype=np.int64)
    for start in range(0, n_rows, _ROWS_AT_ONCE):
        predicted = model.ensemble.predict(X[start : start + _ROWS_AT_ONCE])
        labels = y[start : start + _ROWS_AT_ONCE]
        pairs = np.searchsorted(classes, labels), np.searchsorted(classes, predicted)
        np.add.at(confusion, pairs, 1)
        n_done = start + len(labels)
        report(_progress(model, "scoring", n_done / n_rows, (n_done, n_rows)))
    model.confusion = confusion
