"""Dask clusters of processes on this machine, of which workers, nodes or schedulers are killed."""

import logging
import os
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
from trainings import digests, rows, trained, trained_on_cluster

from skliquid import LiquidEnsembleClassifier

TABLE, N_PARTITIONS, WORKERS_OF_A_NODE = "narrow", 12, 2
LOST = "an error that says so"


def digest(model: LiquidEnsembleClassifier) -> str:
    """Return the bits of a trained ensemble."""
    return str(digests(model, rows(TABLE)[2]))


def undisturbed() -> str:
    """Return the digest of a training on one machine."""
    return digest(trained("default", TABLE)[0])


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
    """Yield what came of each kill of a scheduler."""
    expected, seconds = undisturbed(), 3.0
    while n_kills > 0:
        with _cluster(2) as cluster:
            start = time.perf_counter()
            timer = threading.Timer(rng.uniform(0, seconds), cluster.kill_the_scheduler)
            timer.start()
            outcome = _outcome(cluster.client, expected)
            timer.cancel()
            timer.join()
        if outcome == "same bits":  # it was too late
            seconds = time.perf_counter() - start
            continue
        n_kills -= 1
        yield outcome if outcome == LOST else f"FAULT: {outcome}"


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
        outcome = _outcome(cluster.client, expected)
        seconds = min(seconds, time.perf_counter() - start)
        is_killed = not timer.is_alive()
        timer.cancel()
        timer.join()
        n_kills -= is_killed
        if is_killed or outcome != "same bits":
            yield outcome if outcome == "same bits" else f"FAULT: {outcome}"


def _outcome(client: Any, expected: str) -> str:
    try:
        model = trained_on_cluster(client, TABLE, N_PARTITIONS)
        return "same bits" if digest(model) == expected else "other bits"
    except Exception as error:  # any other than a lost connection is what this looks for
        is_lost = "was lost" in str(error) or "must be connected" in str(error)
        return LOST if is_lost else f"{type(error).__name__}: {error}"[:300]


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
