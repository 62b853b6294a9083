"""Clusters of processes on this machine, to be disturbed by tests."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from importlib import import_module

from distributed import Client

DEADLINE = 60
_HERE = ["--host", "127.0.0.1", "--no-dashboard"]


def wait_until(condition, seconds=DEADLINE):
    """Wait until a condition holds, and return what it gave."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.02)
    raise AssertionError("it did not come about in time")


def end_this_process(*_):
    """End a worker, as the kernel does when memory runs out."""
    os.kill(os.getpid(), signal.SIGKILL)


class Held:
    """A function by its name, whose first call waits in a worker until it is released."""

    def __init__(self, folder, module, name):
        self.folder, self.module, self.name = folder, module, name

    def __call__(self, *arguments):
        if not (self.folder / "pid").exists():
            (self.folder / "unfinished").write_text(str(os.getpid()))
            (self.folder / "unfinished").rename(self.folder / "pid")
            wait_until((self.folder / "released").exists)
        return getattr(import_module(self.module), self.name)(*arguments)

    def started_in(self):
        """Wait for the first call, and return the process that it is in."""
        wait_until((self.folder / "pid").exists)
        return int((self.folder / "pid").read_text())

    def release(self):
        (self.folder / "released").touch()


class Cluster:
    """A scheduler and workers of one thread, each a process of its own."""

    def __init__(self, folder, environment):
        paths = [path for path in sys.path if path]  # what can be imported here, can be there
        self.environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)} | environment
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.scheduler, self.workers, self.client = None, [], None

    def start(self, n_workers):
        # should the tests themselves be killed, the scheduler ends, and the workers with it
        words = ["--port", "0", "--no-show", "--idle-timeout", "300s"]
        self.scheduler = self._process("scheduler", *words)
        self.start_workers(n_workers)
        wait_until(self.file.exists)
        self.client = Client(scheduler_file=str(self.file), set_as_default=False)
        self.address = self.client.scheduler.address
        if n_workers:
            self.client.wait_for_workers(n_workers, timeout=DEADLINE)

    def start_workers(self, n_workers):
        words = ["--no-nanny", "--nthreads", "1", "--memory-limit", "0", "--death-timeout", "60"]
        words += ["--local-directory", str(self.folder)]
        self.workers += [self._process("worker", *words) for _ in range(n_workers)]

    def living(self):
        return [worker for worker in self.workers if worker.poll() is None]

    def kill_a_worker(self):
        _kill(self.living()[0])

    def kill_workers(self, *pids):
        """Kill workers by their process ids; by default all."""
        for worker in self.living():
            if not pids or worker.pid in pids:
                _kill(worker)

    def kill_the_scheduler(self):
        _kill(self.scheduler)

    def close(self):
        if self.client:
            with suppress(OSError, TimeoutError):
                self.client.close(timeout=2)
        for process in (self.scheduler, *self.workers):
            _kill(process)

    def _process(self, kind, *words):
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *_HERE, *words]
        command += ["--scheduler-file", str(self.file)]
        with (self.folder / f"{kind}.log").open("a") as log:
            return subprocess.Popen(command, env=self.environment, stdout=log, stderr=log)


def _kill(process):
    process.kill()
    process.wait()


@contextmanager
def cluster_of(folder, n_workers, **environment):
    """Give a cluster, all of whose processes end with the block."""
    cluster = Cluster(folder, environment)
    try:
        cluster.start(n_workers)
        yield cluster
    finally:
        cluster.close()
