"""Circumstances of a training: those that must not change its bits, and those that may."""

import platform
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from trainings import ENSEMBLES

from skliquid import native

KERNELS = {
    "SkylakeX": "avx512",
    "Haswell": "avx2",
    "Sandybridge": "avx2",
    "Nehalem": "baseline",
    "Prescott": "baseline",
}
"""Kernels of OpenBLAS for x86-64, with the instructions that a processor must have."""
TRAININGS = [
    *((name, table) for table in ("narrow", "digits") for name in ENSEMBLES),
    ("linear, soft votes", "wide"),
    ("default", "wide"),
]
OTHER_POOLS = {
    "linear, hard votes": ("linear", "estimator"),
    "linear, soft votes": ("linear", "estimator"),
    "linear, averaged": ("linear", "estimator"),
    "trees": ("trees", "estimator"),
    "default": ("estimator",),
    "for streams": ("estimator",),
}
NOT_IN_FILES = ("naive Bayes",)
"""Voters of which there are no checkpoints."""


@dataclass(frozen=True)
class Case:
    """A training under circumstances that should not matter, compared with ``way`` without them."""

    training: tuple[str, str]
    axis: str
    circumstance: str
    way: str = "fit"
    words: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    on_cluster: bool = False

    @property
    def reference(self) -> "Case":
        """The same training without the circumstances."""
        return Case(self.training, "", "", self.way)


def promised_cases() -> Iterator[Case]:
    """Yield the trainings that must have the bits of their reference."""
    for training in TRAININGS:
        for n_jobs in ("2", "4"):
            yield Case(training, "jobs", f"n_jobs={n_jobs}", words=("--n-jobs", n_jobs))
        for pool in OTHER_POOLS.get(training[0], ()):
            yield Case(training, "pools", f"pool={pool!r}", words=("--pool", pool))
        for n in ("1", "3", "17"):
            words, text = ("--partitions", n), f"{n} partitions"
            yield Case(training, "Dask clusters", text, words=words, on_cluster=True)
        for name in native.instruction_sets()[:-1]:
            environment = (("SKLIQUID_INSTRUCTIONS", name),)
            yield Case(training, "engines", f"instructions: {name}", environment=environment)
        environment = (("PYTHONHASHSEED", "0"),)  # that of the reference is drawn at random
        yield Case(training, "hash seeds", "PYTHONHASHSEED=0", environment=environment)
        words = ("--way", "pickled")
        yield Case(training, "pickles", "pickled after each part", "partial_fit", words)
        if training[0] not in NOT_IN_FILES:
            words = ("--way", "resumed")
            yield Case(training, "stop and resume", "stopped twice", "streamed", words)


def processor_cases() -> Iterator[Case]:
    """Yield the trainings whose bits may differ."""
    found = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    is_x86 = platform.machine() in ("x86_64", "AMD64")
    kernels = [k for k, least in KERNELS.items() if is_x86 and least in native.instruction_sets()]
    for training in TRAININGS:
        for kernel in kernels:
            environment = (("OPENBLAS_CORETYPE", kernel),)
            yield Case(training, "kernel of BLAS", kernel, environment=environment)
        for n_threads in ("1", "2", "4"):
            environment = (("OPENBLAS_NUM_THREADS", n_threads),)
            yield Case(training, "threads of BLAS", n_threads, environment=environment)
        for k in range(min(len(found), 2)):
            environment = (("NPY_DISABLE_CPU_FEATURES", " ".join(found[k:])),)
            yield Case(training, "code of numpy", f"without {found[k:]}", environment=environment)
