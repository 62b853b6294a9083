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
from skliquid.ensemble import LiquidEnsembleClassifier
from skliquid.files.checkpoint import hash_settings, load_checkpoint, reserve
from skliquid.files.saving import serialize, write
from skliquid.mechanisms import JustFastEnough
from skliquid.sources.file_paths import data_paths
from skliquid.streams.file_increments import OPTIONS, Increments, check_integer, increments_from
from skliquid.streams.model import StreamedModel
from skliquid.tables.column_report import ColumnReport, describe_columns
from skliquid.tables.text_values import warn_of_similar_classes
from skliquid.validation.parameters import check_no_budget

MAX_CELLS = 2**24
"""Data with more rows x columns are trained on in increments; others are read whole."""

_MAX_SCORES = 100
_NO_EFFECT = ("n_jobs", "on_interrupt", "verbose")  # on the bits of an ensemble


class Progress(NamedTuple):
    """The state of training, or of scoring the held-out rows after it."""

    n_rows: int  # trained on, or scored
    n_rows_in_all: int
    n_representatives: int
    cost: int  # in sample visits
    accuracy: float  # as in StreamedModel
    stage: Literal["fitting", "training", "scoring"]  # whole, in increments, held-out rows
    columns: Sequence[ColumnReport]  # of all rows, or of the first increment


Report: TypeAlias = Callable[[Progress], None]


def train_on(
    source: str | PathLike[str],
    *,
    target: str,
    ensemble: LiquidEnsembleClassifier | None = None,
    online: bool | None = None,
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

    Data of at most 2**24 cells are read whole: the ensemble is that of ``ensemble.fit``. Larger
    data are trained on in one pass, increment by increment, by ``ensemble.partial_fit``.

    Parameters
    ----------
    source : str or path
        A Parquet, CSV or TSV file, a folder of such files, taken in the order of their names, or a
        query of DuckDB that begins with SELECT, WITH or FROM and names files.
    target : str
        The column that holds the classes: text, integers or booleans. Rows without a label are
        skipped.
    ensemble : LiquidEnsembleClassifier, default=None
        The ensemble; a copy of it is trained. None means the defaults. In increments,
        ``delegation_rate="auto"`` is just fast enough to reach ``n_final`` at the end of the data.
    online : bool, default=None
        Whether to train in increments; None means only if there are more than 2**24 cells.
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
        A file with the unfinished model, written regularly when training in increments. During
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
        Called with the ``Progress`` after each increment and after each batch of held-out rows; for
        data that are read whole, before and after ``fit``. An exception that it raises ends the
        training, in increments after a checkpoint has been written.

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
    prototype = _check_ensemble(ensemble)
    if increment_size is None and prototype.increment_size != "auto":
        increment_size = prototype.increment_size
    file = None if checkpoint is None else Path(checkpoint)
    if resume and (restart or file is None):
        raise ValueError(
            f"resume must go with a checkpoint and without restart: got checkpoint={file}, "
            f"restart={restart}. Leave out one of resume and restart, or name a checkpoint."
        )
    with (
        nullcontext()
        if file is None
        else reserve(file, data_paths(source), may_exist=resume or restart)
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
        )
        n_cells = increments.n_rows * (len(increments.column_types) + 1)
        is_online = n_cells > MAX_CELLS if online is None else bool(online)
        if is_online:  # otherwise `fit` warns
            warn_of_similar_classes(increments.classes.tolist(), f"the target {target!r}")
        settings = _settings(prototype, increments, classes, is_online) if file else {}
        if file and resume and file.exists():
            model: StreamedModel = load_checkpoint(file, settings)
        else:
            model = _untrained(prototype, increments, is_online)
            model.settings = settings
            if file:
                file.unlink(missing_ok=True)
        model.ensemble.n_jobs = prototype.n_jobs
        report = report or (lambda _: None)
        with threadpool_limits(1, user_api="blas"):  # matrices are small, and threads only wait
            if is_online:
                _train_online(model, increments, file, every, report)
            else:
                _train_whole(model, increments, increment_size, report)
            if test_size:
                _score(model, increments, report)
    return model


def _check_ensemble(ensemble: LiquidEnsembleClassifier | None) -> LiquidEnsembleClassifier:
    """Return the ensemble, or the default one, after checks that need no data."""
    if not isinstance(ensemble, LiquidEnsembleClassifier | None):
        raise TypeError(
            f"ensemble must be a LiquidEnsembleClassifier: got {ensemble!r}. It encodes columns, "
            "so give no pipeline."
        )
    prototype = LiquidEnsembleClassifier() if ensemble is None else ensemble
    check_no_budget(prototype.max_cost, prototype.max_seconds)
    prototype.check_parameters()
    return prototype


def _untrained(
    prototype: LiquidEnsembleClassifier, increments: Increments, is_online: bool
) -> StreamedModel:
    ensemble: LiquidEnsembleClassifier = clone(prototype)
    if is_online:
        ensemble.increment_size = "auto"  # an increment at a time
        if ensemble.delegation_rate == "auto":
            n_final = presets.N_FINAL_RANGE[0] if ensemble.n_final == "auto" else ensemble.n_final
            n_voters = ensemble.n_estimators
            ensemble.delegation_rate = JustFastEnough(
                n_voters, min(n_final, n_voters), increments.n_with_rows
            )
    return StreamedModel(
        ensemble=ensemble,
        classes=increments.classes,
        target=increments.target,
        target_type=increments.target_type,
        column_types=increments.column_types,
        chosen_types=dict(increments.files.chosen),
        missing_values=increments.files.missing_values,
        left_out=list(increments.left_out),
        n_unlabelled=increments.n_unlabelled,
    )


def _settings(
    prototype: LiquidEnsembleClassifier, increments: Increments, classes: Any, is_online: bool
) -> dict[str, str]:
    """Return hashes of all settings and data on which the bits of a model depend."""
    settings = {k: v for k, v in prototype.get_params(deep=False).items() if k not in _NO_EFFECT}
    files = increments.files
    settings |= {
        "data": files.fingerprint(),
        "the version of skliquid": __version__,
        "online": is_online,
        "target": increments.target,
        "column_types": files.column_types,
        "missing_values": files.missing_values,
        "increment_size": increments.increment_size,
        "classes": classes and increments.classes.tolist(),
        "test_size": float(increments.test_size),
        "separator, decimal or encoding": [list(part.dialect or ()) for part in files.parts],
    }
    return hash_settings(settings)


def _train_whole(
    model: StreamedModel, increments: Increments, increment_size: Any, report: Report
) -> None:
    if increment_size is not None:
        model.ensemble.set_params(increment_size=increment_size)
    X, y = increments.all_rows()
    n_voters = model.ensemble.n_estimators
    report(Progress(0, increments.n_rows, n_voters, 0, model.accuracy, "fitting", ()))
    with increments.naming_odd_cells():
        model.ensemble.fit(X, y)
    model.columns = _describe(model, increments, X)
    model.n_rows = increments.n_rows
    report(_progress(model, model.n_rows, increments.n_rows))


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
            report(_progress(model, model.n_rows, increments.n_rows))
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
    n_rows: int,
    n_rows_in_all: int,
    stage: Literal["training", "scoring"] = "training",
) -> Progress:
    n_left = len(model.ensemble.delegation_graph_.representatives)
    cost = model.ensemble.training_cost_.total
    return Progress(n_rows, n_rows_in_all, n_left, cost, model.accuracy, stage, model.columns)


def _score(model: StreamedModel, increments: Increments, report: Report) -> None:
    """Count the predictions for held-out rows, by class."""
    classes, ensemble = model.classes, model.ensemble
    confusion = np.zeros((len(classes), len(classes)), dtype=np.int64)
    n_in_all = len(increments.held_out)
    for X, y in increments.test_rows():
        pairs = np.searchsorted(classes, y), np.searchsorted(classes, ensemble.predict(X))
        np.add.at(confusion, pairs, 1)
        report(_progress(model, int(confusion.sum()), n_in_all, stage="scoring"))
    model.confusion = confusion
