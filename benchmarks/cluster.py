"""Data larger than memory: one plan on one machine and on a Dask cluster, beside LightGBM.

Makes a folder of 10 GB of Parquet, and trains on it with a scheduler and workers that are processes
on this machine, each worker with one thread and 2 GB. Kills workers. Fits a model of time to small
folders, checks it on the large one, and asks it about sizes that were not measured. Results are
kept in a file, and only what it lacks is run.

    python benchmarks/cluster.py --write docs/results/cluster.md
"""

import argparse
import hashlib
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Timer
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import psutil
from large_folder import ROWS_PER_FILE, TARGET, table, write_folder
from scipy.optimize import nnls
from sklearn.metrics import accuracy_score, roc_auc_score

HERE = Path(__file__)
N_TEST_ROWS, N_SMALL_FILES, ROWS_OF_SMALL_FILE = 100_000, 400, 2_500
MEMORY, PLENTY = 2_000_000_000, 11_000_000_000
SECONDS_AT_MOST = 900
GIGABYTES_TO_FIT = (1, 4)  # of the model of time
N_KILLS, ROWS_FOR_KILLS = 20, 200_000
PARTITIONS, WORKERS = (1, 3, 17, 200), (1, 2, 4)
ROWS_FOR_BITS = 300_000
MAX_DRAWN, N_GROWERS = 1_020_000, 2  # of the default ensemble
NETWORK = 1e9 / 8  # bytes per second of an ordinary network, assumed
THREADS = dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"], "1")


class Run(NamedTuple):
    """A training in a process of its own; without workers it is on one machine."""

    method: str  # the name of a function of TRAINED
    folder: str = "large"
    n_workers: int = 0
    memory: int = MEMORY  # of each worker
    n_partitions: int = 0  # 0 means the files
    max_rows: int = 0  # 0 means the default


# Trainings


def by_plan(run: Run, folder: Path, address: str | None) -> tuple[Any, dict[str, Any]]:
    """Train on files, and time each stage."""
    from skliquid import LiquidEnsembleClassifier, train_on

    stages: dict[str, float] = {}
    last = time.perf_counter()

    def report(progress: Any) -> None:
        nonlocal last
        now = time.perf_counter()
        stages[progress.stage] = stages.get(progress.stage, 0.0) + now - last
        last = now

    ensemble = LiquidEnsembleClassifier(max_rows=run.max_rows or "auto", random_state=0)
    model = train_on(folder, target=TARGET, ensemble=ensemble, scheduler=address, report=report)
    grown = model.ensemble.estimators_
    return model.ensemble, {"stages": stages, "rows": model.n_rows, "voters": len(grown)}


def by_frame(run: Run, folder: Path, address: str | None) -> tuple[Any, dict[str, Any]]:
    """Fit to a Dask DataFrame."""
    import dask.dataframe as dd

    from skliquid import DaskLiquidEnsembleClassifier

    rows = dd.read_parquet(folder)
    if run.n_partitions:
        rows = rows.repartition(npartitions=run.n_partitions)
    max_rows = run.max_rows or "auto"
    ensemble = DaskLiquidEnsembleClassifier(address, max_rows=max_rows, random_state=0)
    return ensemble.fit(rows, TARGET).to_local(), {}


def in_memory(run: Run, folder: Path, _: str | None) -> tuple[Any, dict[str, Any]]:
    """Fit to a data frame in memory."""
    from skliquid import LiquidEnsembleClassifier

    rows = pd.read_parquet(folder)
    ensemble = LiquidEnsembleClassifier(max_rows=run.max_rows or "auto", random_state=0)
    return ensemble.fit(rows.drop(columns=TARGET), rows[TARGET]), {}


def lightgbm(_: Run, folder: Path, address: str | None) -> tuple[Any, dict[str, Any]]:
    """Fit LightGBM to all rows of a Dask DataFrame, as float32, which takes half the memory."""
    import dask
    import dask.dataframe as dd
    from distributed import Client
    from lightgbm import DaskLGBMClassifier

    keep_partitions = {"optimization.tune.active": False}  # or those of y are joined, and not of X
    with Client(address), dask.config.set(keep_partitions):
        rows = dd.read_parquet(folder)
        numbers = {name: np.float32 for name in rows.columns if name.startswith("x")}
        X, y = rows.drop(columns=TARGET).astype(numbers), (rows[TARGET] == "yes").astype(int)
        model = DaskLGBMClassifier(n_estimators=100, verbose=-1, random_state=0).fit(X, y)
        return model.to_local(), {}


TRAINED: dict[str, Callable[..., Any]] = {
    each.__name__: each for each in (by_plan, by_frame, in_memory, lightgbm)
}


def measure(run: Run, data: Path, address: str | None) -> dict[str, Any]:
    """Return what a training takes, with this process as the one that calls ``fit``."""
    test = test_rows()
    before = time.time() - psutil.Process().create_time()
    wire, start = psutil.net_io_counters(pernic=True), time.perf_counter()
    model, found = TRAINED[run.method](run, data / run.folder, address)
    found |= {"start": before, "seconds": time.perf_counter() - start}
    sent = psutil.net_io_counters(pernic=True)["lo"].bytes_sent - wire["lo"].bytes_sent
    found["memory"] = {"caller": peak_memory()}
    if address:
        found["wire"] = sent
        found["memory"] |= memory_of_cluster(address)
    probabilities = model.predict_proba(test.drop(columns=TARGET))
    is_yes = (test[TARGET] == "yes").to_numpy()
    return found | {
        "accuracy": accuracy_score(is_yes, probabilities[:, 1] > 0.5),
        "auc": roc_auc_score(is_yes, probabilities[:, 1]),
        "bits": hashlib.sha256(np.ascontiguousarray(probabilities).tobytes()).hexdigest()[:16],
    }


@cache
def test_rows() -> pd.DataFrame:
    return table(10**6, N_TEST_ROWS)


def peak_memory() -> int:
    """Return the bytes of main memory that this process has taken at most."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])


def memory_of_cluster(address: str) -> dict[str, int]:
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        workers = client.run(peak_memory)
        scheduler = client.run_on_scheduler(peak_memory)
    return {"scheduler": scheduler, "worker": max(workers.values(), default=0)}


# Processes


class Cluster:
    """A scheduler, and nannies with a worker of one thread each."""

    def __init__(self, folder: Path, n_workers: int, memory: int = MEMORY):
        self.file, self.folder = folder / "scheduler.json", folder
        self.scheduler = self._process("scheduler", "--port", "0", "--no-show")
        words = f"--nthreads 1 --memory-limit {memory} --nworkers {n_workers}"
        words += f" --local-directory {folder}"
        self.nannies = self._process("worker", *words.split())
        while not self.file.exists():
            time.sleep(0.1)
        self.address = json.loads(self.file.read_text())["address"]
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(n_workers, timeout=120)

    def _process(self, kind: str, *words: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--host", "127.0.0.1"]
        command += ["--no-dashboard", "--scheduler-file", str(self.file), *words]
        environment = os.environ | THREADS | {"PYTHONPATH": str(HERE.parent)}
        with (self.folder / f"{kind}.log").open("a") as log:
            return subprocess.Popen(command, env=environment, stdout=log, stderr=log)

    def workers(self) -> list[psutil.Process]:
        """Return the processes of workers, which nannies start again."""
        children = psutil.Process(self.nannies.pid).children(recursive=True)
        return [child for child in children if "spawn_main" in " ".join(child.cmdline())]

    def close(self) -> None:
        for process in (self.scheduler, self.nannies):
            children = psutil.Process(process.pid).children(recursive=True)
            for each in (process, *children):
                each.kill()
            process.wait()


@contextmanager
def cluster_of(n_workers: int, memory: int = MEMORY) -> Iterator[Cluster]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        cluster = Cluster(Path(folder), n_workers, memory)
        try:
            yield cluster
        finally:
            cluster.close()


def started(run: Run, data: Path, address: str = "") -> "subprocess.Popen[str]":
    """Start a process that trains."""
    command = [sys.executable, HERE, "--data", data, "--measure", json.dumps(run)]
    return subprocess.Popen(
        [*command, "--scheduler", address],
        env=os.environ | THREADS,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(process: "subprocess.Popen[str]", seconds: float = SECONDS_AT_MOST) -> dict[str, Any]:
    """Return what a training measured, or why it ended."""
    try:
        output, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return {"error": f"not finished after {seconds:g} s"}
    if process.returncode:
        return {"error": (errors.strip().splitlines() or ["killed"])[-1][:200]}
    return json.loads(output.splitlines()[-1])  # type: ignore[no-any-return]


def measured(run: Run, data: Path) -> dict[str, Any]:
    """Return what a training takes, on a new cluster if it has workers."""
    if not run.n_workers:
        return finished(started(run, data))
    with cluster_of(run.n_workers, run.memory) as cluster:
        return finished(started(run, data, cluster.address))


# What is run

LARGE = [
    Run("by_plan"),
    *(Run(method, n_workers=n) for method in ("by_plan", "by_frame") for n in (1, 2)),
    Run("lightgbm", n_workers=2),
    Run("lightgbm", n_workers=2, memory=PLENTY),
]
TO_FIT = [
    Run("by_plan", folder, n)
    for folder in (*(f"{size}GB" for size in GIGABYTES_TO_FIT), "small")
    for n in (1, 2)
]
BITS = [
    Run("in_memory", "1GB", max_rows=ROWS_FOR_BITS),
    Run("by_plan", "1GB", max_rows=ROWS_FOR_BITS),
    *(Run("by_plan", "1GB", n, max_rows=ROWS_FOR_BITS) for n in WORKERS),
    *(Run("by_frame", "1GB", n, max_rows=ROWS_FOR_BITS) for n in WORKERS),
    *(Run("by_frame", "1GB", 2, MEMORY, n, ROWS_FOR_BITS) for n in PARTITIONS[1:]),
    Run("by_frame", "1GB", 1, PLENTY, 1, ROWS_FOR_BITS),
]
VICTIMS = {"a worker": 1, "all workers": 2, "the scheduler": 0}


def kill_some(data: Path, kills: list[Any], report: Callable[[], None]) -> None:
    """Kill workers or the scheduler at random times in trainings, and note what came of it."""
    rng = np.random.default_rng(len(kills))
    run = Run("by_plan", "1GB", 2, max_rows=ROWS_FOR_KILLS)
    planned = ["a worker"] * N_KILLS + ["all workers", "the scheduler"] * 3
    calm = kills[0] if kills else measured(run, data)
    kills[:] = kills or [calm]
    for victim in planned[len(kills) - 1 :]:
        with cluster_of(2) as cluster:
            process = started(run, data, cluster.address)
            moment = rng.uniform(0.1, 0.95) * calm["seconds"] + calm["start"]
            timer = Timer(moment, kill, [cluster, VICTIMS[victim]])
            timer.start()
            begun = time.perf_counter()
            found = finished(process)
            found["whole"] = time.perf_counter() - begun
            timer.cancel()
        kills.append({"victim": victim, "moment": moment, **found})
        report()


def kill(cluster: Cluster, n_workers: int) -> None:
    for process in cluster.workers()[:n_workers] if n_workers else [cluster.scheduler]:
        process.kill()


def run_missing(data: Path, path: Path) -> dict[str, Any]:
    """Return all results; what a file lacks is run."""
    results = json.loads(path.read_text()) if path.exists() else {"runs": {}, "kills": []}

    def save() -> None:
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(results, indent=1))

    for run in (*BITS, *TO_FIT, *LARGE):
        if (key := json.dumps(run)) not in results["runs"]:
            results["runs"][key] = measured(run, data)
            print(run, results["runs"][key], flush=True)
            save()
    kill_some(data, results["kills"], save)
    return results


def make_folders(data: Path, gigabytes: float) -> None:
    for size in GIGABYTES_TO_FIT:
        write_folder(data / f"{size}GB", size * 1e9)
    write_folder(data / "large", gigabytes * 1e9)
    small = data / "small"
    small.mkdir(exist_ok=True)
    if len(list(small.iterdir())) < N_SMALL_FILES:
        rows = table(10**5, N_SMALL_FILES * ROWS_OF_SMALL_FILE)
        for k in range(N_SMALL_FILES):
            part = rows.iloc[k * ROWS_OF_SMALL_FILE : (k + 1) * ROWS_OF_SMALL_FILE]
            part.to_parquet(small / f"part-{k:04}.parquet", index=False)


# The model of time

MILLION = 1e6
CONSTANTS = {
    "start": "s",
    "per file, in turn": "s",
    "per file of a worker": "s",
    "per million rows of a worker": "s",
    "per million rows drawn": "s",
    "per million rows drawn, divided by the workers that grow": "s",
}


def terms(n_workers: int, n_rows: float, n_files: int) -> list[float]:
    """Return what the seconds of a training are taken to be made of."""
    drawn = min(n_rows, MAX_DRAWN) / MILLION
    busy = min(n_workers, n_files)
    growing = drawn / min(n_workers, N_GROWERS)
    return [1.0, n_files, -(-n_files // busy), n_rows / busy / MILLION, drawn, growing]


def fitted(rows: list[list[float]], times: list[float]) -> Any:
    """Return constants that are not negative and have small relative errors."""
    A, t = np.array(rows), np.array(times)
    scale = A.max(axis=0)
    constants, _ = nnls(A / scale / t[:, None], np.ones(len(t)))
    return constants / scale


# The page

HEAD = """# Data larger than memory: results

Made by `make bench-cluster`. A folder of {gigabytes:.1f} GB in {n_files} Parquet files has
{n_rows:,} rows of 24 numbers and 6 categories with up to 1,000 values. Scheduler and workers are
processes on this machine, which has two cores; a worker has one thread. *Caller* is the process
that calls `fit`; it holds the sample and trains voters that do not grow. *Wire* are the bytes sent
over the loopback device: what workers send to the caller counts twice, since it passes through the
scheduler. Scores are on {n_test:,} other rows. The same *bits* mean the same probabilities, to the
last bit.
"""

LIGHTGBM = """LightGBM's estimator for Dask trains 100 trees on all rows, here as float32, and
holds them in the memory of the workers. Where there are no figures, it ended with: {errors}.
"""

STAGES = ("counting", "reading", "choosing", "growing")
LABELS = {
    "by_plan": "`train_on`",
    "by_frame": "`DaskLiquidEnsembleClassifier`",
    "in_memory": "`fit`, in memory",
    "lightgbm": "`lightgbm.dask`",
}


def page(results: dict[str, Any], data: Path) -> str:
    """Return the page of results."""
    runs = {Run(*json.loads(key)): found for key, found in results["runs"].items()}
    sizes = {folder.name: folder_size(folder) for folder in data.iterdir() if folder.is_dir()}
    n_files, n_bytes = sizes["large"]
    n_rows = next(found["rows"] for run, found in runs.items() if run == LARGE[0])
    head = HEAD.format(gigabytes=n_bytes / 1e9, n_files=n_files, n_rows=n_rows, n_test=N_TEST_ROWS)
    errors = {f["error"].split(". ")[0] for r, f in runs.items() if r in LARGE and "error" in f}
    return "\n".join(
        [
            head,
            large_table(runs),
            LIGHTGBM.format(errors="; ".join(sorted(errors)) or "nothing, all finished"),
            stages_table(runs),
            bits_text(runs),
            kills_table(results["kills"]),
            model_text(runs, {name: size[0] for name, size in sizes.items()}),
        ]
    )


def folder_size(folder: Path) -> tuple[int, int]:
    """Return the numbers of files and of bytes."""
    files = list(folder.iterdir())
    return len(files), sum(file.stat().st_size for file in files)


def megabytes(value: float | None) -> str:
    return "" if value is None else f"{value / 1e6:,.0f}"


def large_table(runs: dict[Run, dict[str, Any]]) -> str:
    rows = []
    for run in LARGE:
        found = runs[run]
        one = runs.get(run._replace(n_workers=1), found)
        row: dict[str, Any] = {"": LABELS[run.method], "workers": run.n_workers or "none"}
        row["GB each"] = f"{run.memory / 1e9:g}" if run.n_workers else ""
        if "error" in found:
            rows.append(row)
            continue
        row |= {"s": f"{found['seconds']:.0f}"}
        row |= {"faster": f"{one['seconds'] / found['seconds']:.2f}" if run.n_workers > 1 else ""}
        memory = found["memory"]
        for who in ("caller", "scheduler", "worker"):
            row[f"{who}, MB"] = megabytes(memory.get(who))
        row |= {"wire, MB": megabytes(found.get("wire"))}
        row |= {"accuracy": f"{found['accuracy']:.4f}", "ROC-AUC": f"{found['auc']:.4f}"}
        rows.append(row | {"bits": found["bits"][:6]})
    return pd.DataFrame(rows).fillna("").to_markdown(index=False) + "\n"


def stages_table(runs: dict[Run, dict[str, Any]]) -> str:
    rows = [
        {"workers": run.n_workers or "none"}
        | {name: found["stages"].get(name, np.nan) for name in STAGES}
        for run in LARGE
        if run.method == "by_plan" and "stages" in (found := runs[run])
    ]
    table = pd.DataFrame(rows).to_markdown(index=False, floatfmt=".1f").replace("nan", "   ")
    return f"""## Where the time goes

Seconds of each stage, on the same folder. Without workers, counting is too fast to be reported.

{table}
"""


def bits_text(runs: dict[Run, dict[str, Any]]) -> str:
    found = [runs[run] for run in BITS]
    same = {one.get("bits", "an error") for one in found}
    n_rows = next(one["rows"] for one in found if "rows" in one)
    places = " and ".join([", ".join(map(str, WORKERS[:-1])), str(WORKERS[-1])])
    parts = " and ".join([", ".join(map(str, PARTITIONS[:-1])), str(PARTITIONS[-1])])
    return f"""## The same bits

{len(found)} trainings on {n_rows:,} rows, of which {ROWS_FOR_BITS:,} are drawn: `fit` in memory,
`train_on` on one machine and with {places} workers, and `DaskLiquidEnsembleClassifier` with
{places} workers, and with {parts} partitions. Different results among them: {len(same)}.
"""


def kills_table(kills: list[dict[str, Any]]) -> str:
    calm, rows = kills[0], []
    for victim in VICTIMS:
        found = [kill for kill in kills[1:] if kill["victim"] == victim]
        same = [kill for kill in found if kill.get("bits") == calm["bits"]]
        clear = [kill for kill in found if "ClusterError" in kill.get("error", "")]
        rows.append(
            {
                "killed": victim,
                "trainings": len(found),
                "same bits": len(same),
                "`ClusterError`": len(clear),
                "anything else": len(found) - len(same) - len(clear),
                "longest, s": f"{max(kill['whole'] for kill in found):.0f}",
            }
        )
    table = pd.DataFrame(rows).to_markdown(index=False)
    seconds = calm["start"] + calm["seconds"]
    return f"""## Killed processes

`SIGKILL` at random moments of trainings on two workers, which take {seconds:.0f} s undisturbed.
Nannies start new workers.

{table}
"""


def model_text(runs: dict[Run, dict[str, Any]], n_files: dict[str, int]) -> str:
    measured = [run for run in (*TO_FIT, *LARGE) if run.method == "by_plan" and run.n_workers]
    inputs = {r: terms(r.n_workers, runs[r]["rows"], n_files[r.folder]) for r in measured}
    constants = fitted([inputs[r] for r in TO_FIT], [runs[r]["seconds"] for r in TO_FIT])
    listed = pd.DataFrame(
        [
            {"constant": f"{n} ({unit})", "": v}
            for (n, unit), v in zip(CONSTANTS.items(), constants, strict=True)
        ]
    )
    checked = []
    for run in measured:
        predicted, seconds = float(constants @ inputs[run]), runs[run]["seconds"]
        use = "to fit" if run in TO_FIT else "to check"
        row = {"rows": f"{runs[run]['rows']:,}", "files": n_files[run.folder]}
        row |= {
            "workers": run.n_workers,
            "used": use,
            "measured, s": seconds,
            "model, s": predicted,
        }
        checked.append(row | {"error": f"{predicted / seconds - 1:+.0%}"})
    asked = []
    for n_rows in (10**8, 10**9, 10**10):
        hours = {
            f"{n} workers": float(constants @ terms(n, n_rows, n_rows // ROWS_PER_FILE)) / 60
            for n in (1, 2, 10, 100)
        }
        asked.append({"minutes": f"{n_rows:,} rows", **hours})
    two = runs[LARGE[2]]
    return f"""## A model of time, bytes and memory

Seconds of `train_on` with workers are taken to be a sum of six terms, whose constants are fitted
to small folders:

{listed.to_markdown(index=False, floatfmt=".3g")}

{pd.DataFrame(checked).to_markdown(index=False, floatfmt=".1f")}

Asked about sizes that were not measured, in files of {ROWS_PER_FILE:,} rows:

{pd.DataFrame(asked).to_markdown(index=False, floatfmt=".1f")}

Reading scales with the workers, up to one per file. Two things do not. {N_GROWERS} voters grow, so
that a third worker has nothing to grow: from 10 workers on, a fit to a hundred million rows gets no
faster. And the caller hands out files and joins their rows one by one, which takes most of the time
of ten billion rows with 100 workers; larger files help there. Bytes and memory do not depend on the
number of rows: the sample has at most {MAX_DRAWN:,} of them. With two workers and the large folder,
{megabytes(two["wire"])} MB crossed the wire, {two["wire"] / NETWORK:.0f} s of an ordinary network
of 1 Gbit/s. A worker that grows receives one byte per cell of the sample for each of about ten
rounds.
"""


def main() -> None:
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("out/cluster"), help="a folder for data")
    parser.add_argument("--gigabytes", type=float, default=10)
    parser.add_argument("--results", type=Path, default=Path("out/cluster.json"))
    parser.add_argument("--write", type=Path, help="file for the tables")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    parser.add_argument("--scheduler", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        run = Run(*json.loads(options.measure))
        print(json.dumps(measure(run, options.data, options.scheduler or None)))
        return
    make_folders(options.data, options.gigabytes)
    text = page(run_missing(options.data, options.results), options.data)
    if options.write:
        options.write.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
