"""Reduced ensembles: fewer representatives of a fitted one, their bytes and their seconds."""

import copy
import pickle
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.random import Generator

from skliquid.delegation.arrays import Floats
from skliquid.delegation.graph import DelegationGraph
from skliquid.delegation.record import IncrementRecord
from skliquid.delegation.running_averages import RESOLUTION
from skliquid.delegation.voter_pool import VoterPool
from skliquid.mechanisms import Knowledge, Mechanism
from skliquid.tables.frames import take_rows
from skliquid.training import Training
from skliquid.validation.checks import missing_extra

N_ROWS, LEAST_CALLS, LEAST_SECONDS, MOST_SECONDS = 1000, 5, 0.05, 0.5
"""The fastest prediction of 1,000 rows counts, of at least five in at least 50 ms. As long as it
exceeds a limit more are made, for up to half a second: other processes may have been in the way."""


def reduced(ensemble: Any, graph: DelegationGraph, competence: Floats, note: str = "") -> Any:
    """Return a copy in which the representatives of ``graph`` are left; it shares their state.

    If that changes the graph, the record has one more increment, without rows.
    """
    fitted = ensemble._fitted
    training: Training = fitted.training
    before, pool = training.graph, _copied(training.pool)
    record = replace(training.record, increments=[*training.record.increments])
    voters, n_rows = before.representatives, fitted.n_samples_seen
    if graph is not before:
        record.append(
            IncrementRecord(
                increment=record.n_increments + 1,
                rows=range(n_rows, n_rows),
                voters=voters,
                accuracy=np.full(len(voters), np.nan),
                competence=competence[voters],
                before=before,
                graph=graph,
                n_trained=0,
                cost=0,
                eval_accuracy=np.nan,
            )
        )
    if note:
        record.note_stop(note)
    twin = copy.copy(ensemble)
    twin._fitted = replace(
        fitted,
        kept=graph.representatives,
        training=replace(
            training,
            graph=graph,
            record=record,
            rng=copy.deepcopy(training.rng),
            pool=pool.keep(graph.representatives, training_is_over=True),
        ),
    )
    return twin


def _copied(pool: VoterPool) -> VoterPool:
    """Return a pool that drops voters on its own."""
    twin = copy.copy(pool)
    if pool.pools:
        twin.pools = [_copied(one) for one in pool.pools]
    return twin


def delegate_one(
    graph: DelegationGraph,
    delegator: int,
    competence: Floats,
    mechanism: Mechanism,
    *,
    rng: Generator,
    knowledge: Knowledge,
) -> DelegationGraph:
    """Return the graph after a representative has delegated, by the mechanism's probabilities.

    It counts as less competent than all others, so that each is a candidate. Where the mechanism
    gives none a chance, as ``"direct"``, it delegates to the most competent.
    """
    others = np.setdiff1d(graph.representatives, [delegator])
    least = np.nanmin(competence[others], initial=np.inf)
    own = np.fmin(competence[delegator], (least if np.isfinite(least) else 0.0) - 1 / RESOLUTION)
    compared = np.nan_to_num(competence[graph.gurus], nan=own + 1 / RESOLUTION)
    compared[delegator] = own
    position = np.searchsorted(graph.representatives, [delegator])
    forced = replace(mechanism, selection=lambda *_: position, returns=None)
    changed = graph
    if not mechanism.is_direct:
        changed = forced.delegate(graph, compared, 1, rng, knowledge=knowledge)
    best = others[[compared[others].argmax()]]
    return graph.delegate([delegator], to=best) if changed is graph else changed


def n_bytes(ensemble: Any, spare: float = 0.0) -> int:
    """Return the size of the file that ``save`` writes, or else of a pickle and a ``spare`` share.

    Pickles of equal ensembles differ in size, since they hold shared objects once.
    """
    if hasattr(ensemble, "to_stored"):
        try:
            from skliquid.files import container, saving  # noqa: PLC0415 (of an extra)
        except ImportError as error:
            raise missing_extra("max_bytes", error.name, "files") from error
        try:
            return saving.n_bytes(ensemble)
        except container.ModelFileError:
            pass
    try:
        size = len(pickle.dumps(ensemble))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError(
            "max_bytes must be None for an ensemble that can neither be saved nor pickled: "
            f"{error}. Define functions in a module, or leave max_bytes out."
        ) from error
    return size + int(spare * size)


def seconds(ensemble: Any, rows: Any, limit: float = np.inf) -> float:
    """Return the time of ``predict_proba`` for some rows."""
    ensemble.predict_proba(rows)
    fastest, total, n_calls = np.inf, 0.0, 0
    while n_calls < LEAST_CALLS or total < (MOST_SECONDS if fastest > limit else LEAST_SECONDS):
        started = perf_counter()
        ensemble.predict_proba(rows)
        elapsed = perf_counter() - started
        fastest, total, n_calls = min(fastest, elapsed), total + elapsed, n_calls + 1
    return float(fastest)


def rows_to_time(X: Any) -> Any:
    """Return 1,000 rows: the first ones, repeated if there are fewer."""
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    numbers = np.arange(N_ROWS) % n_rows
    return X.iloc[numbers] if hasattr(X, "iloc") else take_rows(X, numbers)
