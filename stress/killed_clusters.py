"""Dask clusters of processes on this machine, of which workers, nodes or schedulers are killed."""

import logging
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from trainings import digests, rows, sees_each_row_once

from skliquid import DaskPool, LiquidEnsembleClassifier
from skliquid.dask import ClusterError
from skliquid.voters import RandomizedForestClassifier

N_ROWS, N_PARTS, WORKERS_OF_A_NODE = 1200, 12, 2
_VOTERS = [
    ("linear", SGDClassifier(loss="log_loss")),
    ("forest", RandomizedForestClassifier(3)),
    ("bayes", GaussianNB()),
]


def parts() -> list[tuple[Any, Any]]:
    """Return the rows of a training, in parts."""
    X, y, _ = rows("narrow")
    return [(X[part], y[part]) for part in np.array_split(np.arange(N_ROWS), N_PARTS)]


def new_ensemble(pool: Any = "auto") -> LiquidEnsembleClassifier:
    """Return an ensemble of compiled and other voters."""
    return LiquidEnsembleClassifier(
        _VOTERS, n_estimators=18, n_final=4, delegation_rate=0.15, pool=pool, random_state=0
    )


def trained(model: LiquidEnsembleClassifier, *, first: int = 0) -> Iterator[None]:
    """Train on part after part, and yield after each."""
    for X, y in parts()[first:]:
        model.partial_fit(X, y, classes=[0, 1])
        yield


def digest(model: LiquidEnsembleClassifier) -> str:
    """Return the bits of a trained ensemble, and whether each row was trained on once."""
    is_whole = sees_each_row_once(model, N_ROWS)
    return (
        str(digests(model, rows("narrow")[2]))
        if is_whole
        else "rows were lost, or trained on twice"
    )


def undisturbed() -> str:
    """Return the digest of a training on one machine."""
    model = new_ensemble()
    list(trained(model))
    return digest(model)


def killed_workers(n_kills: int, rng: np.random.Generator) -> Iterator[str]:
    """Yield what came of each kill of one of three workers; another takes its place."""
    with _cluster(3) as cluster:

        def kill() -> None:
            victim = cluster.living()[int(rng.integers(len(cluster.living())))]
            victim.kill()
            victim.wait()
            cluster.start_workers(1)

        yield from _disturbed(cluster, kill, n_kills, rng)


def killed_nodes(n_kills: int, rng: np.random.Generator) -> Iterator[str]:
    """Yield what came of each kill of one of two nodes: a nanny with its workers."""
    with _cluster(0) as cluster:
        nodes = [_started_node(cluster) for _ in range(2)]

        def kill() -> None:
            _end_node(nodes.pop(int(rng.integers(len(nodes)))))
            nodes.append(_started_node(cluster))

        try:
            yield from _disturbed(cluster, kill, n_kills, rng, n_workers=2 * WORKERS_OF_A_NODE)
        finally:
            for node in nodes:
                _end_node(node)


def killed_schedulers(n_kills: int, rng: np.random.Generator) -> Iterator[str]:
    """Yield what came of each kill of a scheduler, after which a pickle is continued here."""
    expected, seconds = undisturbed(), 3.0
    while n_kills > 0:
        with _cluster(2) as cluster:
            start = time.perf_counter()
            timer = threading.Timer(rng.uniform(0, seconds), cluster.kill_the_scheduler)
            timer.start()
            outcome = _continued(cluster, expected)
            timer.cancel()
            timer.join()
        if outcome is None:  # it was too late
            seconds = time.perf_counter() - start
            continue
        n_kills -= 1
        yield outcome


def _continued(cluster: Any, expected: str) -> str | None:
    """Train until the scheduler is lost, then continue the last pickle; None if it was not lost."""
    model = new_ensemble(DaskPool(cluster.client, timeout=20))
    kept = [pickle.dumps(new_ensemble())]
    try:
        for _ in trained(model):
            kept.append(pickle.dumps(model))  # noqa: PERF401 (some are kept before an error)
    except ClusterError:
        twin = pickle.loads(kept[-1])
        list(trained(twin, first=len(kept) - 1))
        is_same = digest(twin) == expected
        return "ClusterError, then same bits" if is_same else "FAULT: other bits from the pickle"
    except Exception as error:  # any other is what this looks for
        return f"FAULT: {type(error).__name__}: {error}"[:300]
    return None


def _disturbed(
    cluster: Any,
    kill: Callable[[], None],
    n_kills: int,
    rng: np.random.Generator,
    n_workers: int = 3,
) -> Iterator[str]:
    """Yield what came of trainings, in each of which ``kill`` is called at a random moment."""
    expected, seconds = undisturbed(), 3.0
    while n_kills > 0:
        cluster.client.wait_for_workers(n_workers, timeout=120)
        start = time.perf_counter()
        timer = threading.Timer(rng.uniform(0, seconds), kill)
        timer.start()
        outcome = _outcome(DaskPool(cluster.client), expected)
        seconds = min(seconds, time.perf_counter() - start)
        is_killed = not timer.is_alive()
        timer.cancel()
        timer.join()
        n_kills -= is_killed
        if is_killed or outcome.startswith("FAULT"):
            yield outcome


def _outcome(pool: DaskPool, expected: str) -> str:
    model = new_ensemble(pool)
    try:
        list(trained(model))
        return "same bits" if digest(model) == expected else "FAULT: other bits"
    except Exception as error:  # any is what this looks for
        return f"FAULT: {type(error).__name__}: {error}"[:300]


@contextmanager
def _cluster(n_workers: int) -> Iterator[Any]:
    from clusters import cluster_of

    logging.disable(logging.CRITICAL)  # Dask reports at length what is lost here on purpose
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        cluster_of(Path(folder), n_workers) as cluster,
    ):
        yield cluster


def _started_node(cluster: Any) -> "subprocess.Popen[bytes]":
    words = f"--host 127.0.0.1 --no-dashboard --nworkers {WORKERS_OF_A_NODE} --nthreads 1"
    words += f" --memory-limit 0 --death-timeout 60 --local-directory {cluster.folder}"
    command = [sys.executable, "-m", "distributed.cli.dask_worker", *words.split()]
    with (cluster.folder / "node.log").open("a") as log:
        return subprocess.Popen(
            [*command, "--scheduler-file", str(cluster.file)],
            env=cluster.environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def _end_node(node: "subprocess.Popen[bytes]") -> None:
    os.killpg(node.pid, signal.SIGKILL)
    node.wait()
