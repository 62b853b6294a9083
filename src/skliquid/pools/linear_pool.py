"""LinearPool: linear voters in one coefficient array, trained by one compiled call an increment."""

import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import scipy.linalg.blas
import scipy.sparse
import sklearn
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.utils.fixes import parse_version

from skliquid.arrays import Floats, Labels, Voters, Votes

OF_EACH_VOTER = ("alpha", "eta0", "random_state", "n_jobs", "warm_start")
"""Parameters that voters of one pool need not have in common."""

_SUPPORTED: dict[str, tuple[Any, ...]] = {
    "loss": ("hinge", "log_loss", "modified_huber", "squared_hinge", "perceptron"),
    "penalty": ("l2", None),
    "learning_rate": ("optimal", "constant", "invscaling"),
    "early_stopping": (False,),
    "verbose": (0, False),
}
DOUBTFUL, OVERFLOWN = 1, 2
_ROWS_THAT_PAY_A_PRODUCT = 128
_SCORES_AT_ONCE = 150_000  # they stay in the cache until they are judged
_WIDTH = 8  # features are padded to a multiple: the kernel takes that many at once
_CACHE_LINE = 64  # bytes
_MOST_NUMBERS_TO_COPY = 2**24  # beyond this, rows are not copied to be padded
_COMPILED: set[tuple[Any, ...]] = set()
_COMPILING = "skliquid is compiling its linear voters, once; later it loads them from disk.\n"
_SECONDS_WITHOUT_A_WORD = 2
_MOVING = ("coef", "intercept", "average", "average_intercept")
_LARGEST_INT = 2**31 - 1
_PENALTY_COUNTS = parse_version(sklearn.__version__) >= parse_version("1.8")
_WORK_THAT_PAYS_A_THREAD = 2_000_000
_SPARSE_INTERCEPT_STEP = 0.01  # scikit-learn's, since sparse rows reach the intercept more often


def unsupported(estimator: Any) -> str | None:
    """Return why ``estimator`` cannot be a voter of a linear pool, or None if it can."""
    if type(estimator) not in (SGDClassifier, Perceptron):
        return f"estimator={type(estimator).__name__}(...)"
    params = _params(estimator)
    for name, values in _SUPPORTED.items():
        if params[name] not in values:
            return f"{name}={params[name]!r}"
    if params["class_weight"] == "balanced":
        return "class_weight='balanced'"
    if params["learning_rate"] == "optimal" and not params["alpha"] > 0:
        return f"alpha={params['alpha']!r}"
    return None


def shared_parameters(estimator: Any) -> tuple[Any, ...]:
    """Return what voters of one linear pool have in common, as something to compare."""
    params = _params(estimator)
    kept = {name: value for name, value in params.items() if name not in OF_EACH_VOTER}
    if kept["class_weight"] is not None:
        kept["class_weight"] = tuple(kept["class_weight"].items())
    return (type(estimator), *kept.items())


def _params(estimator: Any) -> dict[str, Any]:
    """Return the parameters of ``estimator``, a perceptron's as those of the SGD that it is."""
    defaults = _default_params()
    return {name: getattr(estimator, name, default) for name, default in defaults.items()}


@cache
def _default_params() -> dict[str, Any]:
    return dict(SGDClassifier().get_params())


class LinearPool:
    """Voters that are ``SGDClassifier`` or ``Perceptron``, with scikit-learn's own bits.

    Parameters
    ----------
    estimators : list of classifiers
        One for each voter, not fitted, with an integer ``random_state``. They may differ in the
        parameters of ``OF_EACH_VOTER`` and share all others.
    classes : array
        All classes, sorted.
    n_jobs : int or None
        Threads for the final fit, as joblib counts them; used only where they pay.
    """

    def __init__(self, estimators: Sequence[Any], classes: NDArray[Any], n_jobs: int | None = None):
        self.n_jobs = n_jobs
        self._voters = dict(enumerate(estimators))
        self._place = np.arange(len(estimators))
        self._classes = classes
        self._n_machines = 1 if len(classes) == 2 else len(classes)
        self._votes_dtype = np.min_scalar_type(len(classes) - 1)
        self._shared = _params(estimators[0])
        self._state: dict[str, NDArray[Any]] = {}
        self._fitted_attributes: dict[str, Any] = {}

    def train(self, voters: Voters, X: Any, y: Labels, sample_weight: Floats | None = None) -> int:
        """Train ``voters`` on one more increment and return the sample visits it took."""
        if not self._state:
            self._begin(X, y, sample_weight)
        before = {name: self._state[name].copy() for name in _MOVING} if self._averages else {}
        doubtful = self._take_epochs(voters, X, y, sample_weight, max_iter=1, tol=-np.inf)
        self._count_steps(_without(voters, doubtful), len(y))
        for voter in doubtful.tolist():
            machines = self._machines_of(np.array([voter]))
            for name, values in before.items():
                self._state[name][machines] = values[machines]
            estimator = self.estimators(np.array([voter]))[0]
            estimator.partial_fit(X, self._classes[y], **_weights(sample_weight))
            self._read(voter, estimator)
        return len(voters) * len(y)

    def accuracy(self, voters: Voters, X: Any, y: Labels) -> Floats:
        """Return the share of rows that each of ``voters`` gets right."""
        accuracy: Floats = np.mean(self.vote(voters, X) == y.astype(self._votes_dtype), axis=1)
        return accuracy

    def finish(
        self,
        voters: Voters,
        X: Any,
        y: Labels,
        sample_weight: Floats | None = None,
        *,
        warm: bool = False,
    ) -> int:
        """Fit ``voters`` in full, anew or from where they are; return the sample visits."""
        if not self._state:
            self._begin(X, y, sample_weight)
        state, machines = self._state, self._machines_of(voters)
        warmed = {voter: self.estimators(np.array([voter]))[0] for voter in voters.tolist() if warm}
        if warm:
            dtype = state["coef"].dtype  # in which scikit-learn starts warm
            state["intercept"][machines] = state["intercept"][machines].astype(dtype)
        else:
            for name in (*_MOVING, "shows_average"):
                state[name][machines] = 0
        state["steps"][machines] = 1
        tol = -np.inf if self._shared["tol"] is None else self._shared["tol"]
        max_iter = self._shared["max_iter"]
        if warm and self._averages:
            doubtful = voters
        else:
            doubtful = self._take_epochs(voters, X, y, sample_weight, max_iter=max_iter, tol=tol)
        self._count_steps(_without(voters, doubtful), len(y))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # said below for all voters
            for voter in doubtful.tolist():
                estimator = warmed.get(voter, clone(self._voters[voter]))
                estimator.set_params(warm_start=warm)
                estimator.fit(X, self._classes[y], **_weights(sample_weight))
                self._read(voter, estimator)
        n_iter = state["n_iter"][machines].reshape(len(voters), -1).max(axis=1)
        if tol > -np.inf and np.any(n_iter == max_iter):
            warnings.warn(
                "A voter took max_iter epochs without converging: raise max_iter or scale X.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return int(n_iter.sum()) * len(y)

    def vote(self, voters: Voters, X: Any) -> Votes:
        """Return the vote of each of ``voters`` (rows) on each sample (columns)."""
        kernel, machines = _kernel(), self._machines_of(voters)
        rows, norms = self._rows(X)
        is_sparse = bool(scipy.sparse.issparse(X))
        by_product = not is_sparse and len(norms) >= _ROWS_THAT_PAY_A_PRODUCT
        coef, intercept = self._shown()

        def judge(some: NDArray[np.intp], n_voters: int) -> tuple[Votes, NDArray[np.bool_]]:
            votes = np.empty((n_voters, len(norms)), dtype=self._votes_dtype)
            doubtful = np.zeros(n_voters, dtype=np.bool_)
            weights = coef[some, : rows.shape[1]] if by_product else coef[:0]
            step = (
                max(_SCORES_AT_ONCE // max(len(some), 1), 1) if by_product else max(len(norms), 1)
            )
            for start in range(0, len(norms), step):
                if by_product:
                    scores = weights @ rows[start : start + step].T
                else:
                    scores = np.empty((len(some), len(norms)), dtype=coef.dtype)
                    kernel.scores_of(coef, some, rows, scores)
                kernel.judge(
                    scores, start, coef, intercept, some, self._n_machines, norms, votes, doubtful
                )
            return votes, doubtful

        _compile_first(
            ("vote", coef.dtype, is_sparse, self._votes_dtype), lambda: judge(machines[:0], 0)
        )
        votes, doubtful = judge(machines, len(voters))
        for k in np.flatnonzero(doubtful):
            labels = self.estimators(voters[k : k + 1])[0].predict(X)
            votes[k] = np.searchsorted(self._classes, labels)
        return votes

    def estimators(self, voters: Voters) -> list[Any]:
        """Return ``voters`` as fitted scikit-learn classifiers, made from the arrays."""
        coef, intercept = self._shown()
        made = []
        for voter in voters.tolist():
            machines = self._machines_of(np.array([voter]))
            estimator = clone(self._voters[voter])
            vars(estimator).update(self._fitted_attributes)
            estimator.coef_ = self._unpadded(coef, machines)
            estimator.intercept_ = intercept[machines].astype(self._intercept_dtype)
            estimator.n_iter_ = int(self._state["n_iter"][machines].max())
            estimator.t_ = float(self._state["steps"][machines[0]])
            if self._averages:
                self._write_average(estimator, machines)
            made.append(estimator)
        return made

    def keep(self, voters: Voters, *, training_is_over: bool) -> None:
        """Forget all other voters."""
        if len(voters) == len(self._voters) or not self._state:
            return
        machines = self._machines_of(voters)
        self._state = {name: values[machines] for name, values in self._state.items()}
        self._voters = {voter: self._voters[voter] for voter in voters.tolist()}
        self._place = np.full(len(self._place), -1)
        self._place[voters] = np.arange(len(voters))

    def _begin(self, X: Any, y: Labels, sample_weight: Floats | None) -> None:
        """Lay out the arrays, and let scikit-learn look at the parameters and data once."""
        first = clone(next(iter(self._voters.values())))
        first.partial_fit(X, self._classes[y], classes=self._classes, **_weights(sample_weight))
        unfitted = vars(clone(first))
        self._fitted_attributes = {
            name: value for name, value in vars(first).items() if name not in unfitted
        }
        width = -(-X.shape[1] // _WIDTH) * _WIDTH
        n = len(self._voters) * self._n_machines
        per_voter = {
            name: np.repeat(
                [float(getattr(voter, name)) for voter in self._voters.values()], self._n_machines
            )
            for name in ("alpha", "eta0")
        }
        self._state = per_voter | {
            "coef": _aligned_zeros(n, width, first.coef_.dtype),
            "intercept": np.zeros(n),
            "average": np.zeros((n, width if self._averages else 0), dtype=first.coef_.dtype),
            "average_intercept": np.zeros(n),
            "shows_average": np.zeros(n, dtype=np.bool_),
            "ends": np.zeros((n, 4)),
            "steps": np.ones(n),
            "problem": np.tile(np.arange(self._n_machines), len(self._voters)),
            "seeds": self._shuffle_seeds(),
            "n_iter": np.zeros(n, dtype=np.int64),
        }

    def _shuffle_seeds(self) -> NDArray[np.int64]:
        """Return the seed with which scikit-learn would shuffle for each machine."""
        seeds = np.array([voter.random_state for voter in self._voters.values()], dtype=np.int64)
        if self._n_machines > 1:
            seeds = _draws(seeds, self._n_machines).ravel()
        return _draws(seeds, 2)[:, 1]

    def _machines_of(self, voters: Voters) -> NDArray[np.intp]:
        places = self._place[voters]
        if len(places) and places.min() < 0:
            raise KeyError(voters[places < 0][0])
        if self._n_machines == 1:
            return places
        return (places[:, None] * self._n_machines + np.arange(self._n_machines)).ravel()

    def _rows(self, X: Any) -> tuple[Any, Floats]:
        """Return the rows as the kernel takes them, and the length of each."""
        dtype = self._state["coef"].dtype
        if scipy.sparse.issparse(X):
            csr: Any = X
            csr = csr.tocsr().astype(dtype, copy=False)
            squares = csr.multiply(csr).sum(axis=1)
            rows = _kernel().SparseRows(
                csr.data, csr.indices.astype(np.int32, copy=False), csr.indptr.astype(np.int64)
            )
        else:
            width = self._state["coef"].shape[1]
            if X.shape[1] == width or X.shape[0] * width > _MOST_NUMBERS_TO_COPY:
                rows = np.ascontiguousarray(X, dtype=dtype)
            else:
                rows = _aligned_zeros(X.shape[0], width, dtype)
                rows[:, : X.shape[1]] = X
            squares = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
        return rows, np.sqrt(np.asarray(squares, dtype=np.float64).ravel())

    def _take_epochs(
        self,
        voters: Voters,
        X: Any,
        y: Labels,
        sample_weight: Floats | None,
        *,
        max_iter: int,
        tol: float,
    ) -> Voters:
        """Train ``voters``, and return those for which scikit-learn has to be asked."""
        machines = self._machines_of(voters)
        kernel, state, shared = _kernel(), self._state, self._shared
        rows, norms = self._rows(X)
        labels, importance = self._problems(y, sample_weight)
        settings = kernel.Settings(
            loss=getattr(kernel, shared["loss"].upper()),
            learning_rate=getattr(kernel, shared["learning_rate"].upper()),
            power_t=float(shared["power_t"]),
            penalized=shared["penalty"] == "l2",
            penalty_counts=shared["penalty"] == "l2" and _PENALTY_COUNTS and tol > -np.inf,
            intercept_step=float(shared["fit_intercept"])
            * (_SPARSE_INTERCEPT_STEP if scipy.sparse.issparse(X) else 1.0),
            shuffles=bool(shared["shuffle"]),
            average_from=int(shared["average"]),
            max_iter=int(max_iter),
            tol=float(tol),
            n_iter_no_change=int(shared["n_iter_no_change"]),
        )
        verdict = np.zeros(len(state["seeds"]), dtype=np.int8)
        arrays = kernel.Machines(
            coef=state["coef"],
            intercept=state["intercept"],
            average=state["average"],
            average_intercept=state["average_intercept"],
            ends=state["ends"],
            alpha=state["alpha"],
            eta0=state["eta0"],
            steps=state["steps"],
            problem=state["problem"],
            seed=state["seeds"],
            n_iter=state["n_iter"],
            verdict=verdict,
        )

        def take(chosen: NDArray[np.intp]) -> None:
            kernel.take_epochs(arrays, chosen, rows, labels, importance, norms, settings)

        key = ("train", state["coef"].dtype, bool(scipy.sparse.issparse(X)))
        _compile_first(key, lambda: take(machines[:0]))
        work = len(machines) * len(y) * X.shape[1] * min(max_iter, 5)
        n_jobs = min(work // _WORK_THAT_PAYS_A_THREAD, len(machines))
        if n_jobs > 1:
            n_jobs = min(effective_n_jobs(self.n_jobs), n_jobs)
        if n_jobs <= 1:
            take(machines)
        else:
            with ThreadPoolExecutor(n_jobs) as threads:  # joblib's would poll for longer than this
                list(threads.map(take, np.array_split(machines, n_jobs)))
        if np.any(verdict[machines] == OVERFLOWN):
            raise ValueError(
                "X must not drive coefficients out of range: a voter's became infinite. Scale the "
                "features, with StandardScaler say."
            )
        if not self._averages:
            state["intercept"][machines] = self._stored(state["intercept"][machines])
        by_voter = verdict[machines].reshape(len(voters), self._n_machines)
        return voters[np.flatnonzero((by_voter == DOUBTFUL).any(axis=1))]

    @property
    def _averages(self) -> bool:
        return bool(self._shared["average"])

    @property
    def _intercept_dtype(self) -> Any:
        """How scikit-learn stores intercepts: as the data for several classes, else as float64."""
        is_stored_alike = self._n_machines > 1 or self._averages
        return self._state["coef"].dtype if is_stored_alike else np.dtype(np.float64)

    def _stored(self, intercept: Floats) -> Floats:
        return intercept.astype(self._intercept_dtype).astype(np.float64)

    def _count_steps(self, voters: Voters, n_rows: int) -> None:
        """Count the steps just taken, and fold what the kernel left open into the averages.

        Once an average is shown, scikit-learn starts later calls from the intercept it had before;
        with several classes it writes the new one over the averaged. We do as it does.
        """
        state, machines = self._state, self._machines_of(voters)
        n_iter = state["n_iter"][machines].reshape(len(voters), self._n_machines).max(axis=1)
        state["steps"][machines] += np.repeat(n_iter, self._n_machines) * n_rows
        if not self._averages:
            return
        axpy = scipy.linalg.blas.get_blas_funcs("axpy", [state["coef"]])
        for m in machines:
            average_a, _, scale, _ = state["ends"][m].astype(state["coef"].dtype)
            state["average"][m] = axpy(state["coef"][m], state["average"][m], a=average_a)
            state["average"][m] *= state["coef"].dtype.type(1.0 / state["ends"][m, 1])
            state["coef"][m] *= scale
        new = state["ends"][machines, 3]
        shown = state["shows_average"][machines]
        shows = self._shared["average"] <= state["steps"][machines] - 1
        state["average_intercept"][machines] = self._stored(state["average_intercept"][machines])
        if self._n_machines > 1:
            state["average_intercept"][machines[shown]] = self._stored(new[shown])
            state["intercept"][machines[~shown]] = self._stored(new[~shown])
        else:
            state["intercept"][machines[~shows]] = new[~shows]
        state["shows_average"][machines] = shows

    def _shown(self) -> tuple[NDArray[Any], Floats]:
        """Return the coefficients and intercepts that machines vote by."""
        state = self._state
        if not self._averages:
            return state["coef"], state["intercept"]
        shows = state["shows_average"]
        return (
            np.where(shows[:, None], state["average"], state["coef"]),
            np.where(shows, state["average_intercept"], state["intercept"]),
        )

    def _unpadded(self, coef: NDArray[Any], machines: NDArray[np.intp]) -> NDArray[Any]:
        n_features = self._fitted_attributes["n_features_in_"]
        return np.ascontiguousarray(coef[machines, :n_features])

    def _write_average(self, estimator: Any, machines: NDArray[np.intp]) -> None:
        state, flat = self._state, self._n_machines == 1
        dtype = state["coef"].dtype
        for kind, coef, intercept in (
            ("standard", state["coef"], state["intercept"]),
            ("average", state["average"], state["average_intercept"]),
        ):
            values = self._unpadded(coef, machines)
            setattr(estimator, f"_{kind}_coef", values.ravel() if flat else values)
            setattr(estimator, f"_{kind}_intercept", intercept[machines].astype(dtype))
        shows = state["shows_average"][machines[0]]
        if flat and not shows:
            estimator._standard_intercept = state["intercept"][machines]
        kind = "average" if shows else "standard"
        estimator.coef_ = getattr(estimator, f"_{kind}_coef").reshape(self._n_machines, -1)
        estimator.intercept_ = getattr(estimator, f"_{kind}_intercept")

    def _read(self, voter: int, estimator: Any) -> None:
        """Take over what scikit-learn made of ``estimator``."""
        machines, state = self._machines_of(np.array([voter])), self._state
        width = estimator.coef_.shape[1]
        state["coef"][machines, :width] = (
            estimator._standard_coef if self._averages else estimator.coef_
        )
        state["intercept"][machines] = (
            estimator._standard_intercept if self._averages else estimator.intercept_
        )
        if self._averages:
            state["average"][machines, :width] = estimator._average_coef
            state["average_intercept"][machines] = estimator._average_intercept
            state["shows_average"][machines] = self._shared["average"] <= estimator.t_ - 1
        state["n_iter"][machines] = estimator.n_iter_
        state["steps"][machines] = estimator.t_

    def _problems(self, y: Labels, sample_weight: Floats | None) -> tuple[Any, Any]:
        """Return labels and importance of the rows for each problem: one class against others."""
        dtype = self._state["coef"].dtype
        positive = np.arange(self._n_machines)[:, None] if self._n_machines > 1 else np.array([[1]])
        is_positive = y == positive
        negative = 0.0 if self._shared["loss"] == "log_loss" else -1.0
        labels = np.where(is_positive, 1.0, negative).astype(dtype)
        by_class = np.asarray(self._fitted_attributes["_expanded_class_weight"], dtype=dtype)
        if self._n_machines > 1:
            importance = np.where(is_positive, by_class[:, None], dtype.type(1))
        else:
            importance = np.where(is_positive, by_class[1], by_class[0])
        if sample_weight is not None:
            importance = importance * sample_weight.astype(dtype)
        return labels, np.ascontiguousarray(importance)


def _aligned_zeros(n_rows: int, width: int, dtype: Any) -> NDArray[Any]:
    """Return an array whose rows begin where lines of the processor's cache do."""
    n_bytes = n_rows * width * np.dtype(dtype).itemsize
    room = np.zeros(n_bytes + _CACHE_LINE, dtype=np.uint8)
    start = -room.ctypes.data % _CACHE_LINE
    rows: NDArray[Any] = room[start : start + n_bytes].view(dtype).reshape(n_rows, width)
    return rows


def _without(voters: Voters, doubtful: Voters) -> Voters:
    return np.setdiff1d(voters, doubtful) if len(doubtful) else voters


def _weights(sample_weight: Floats | None) -> dict[str, Floats]:
    return {} if sample_weight is None else {"sample_weight": sample_weight}


def _kernel() -> Any:
    """Return the compiled loops; numba is imported when the first linear voter trains."""
    from skliquid.pools import linear_kernel

    return linear_kernel


def _compile_first(key: tuple[Any, ...], warm_up: Callable[[], Any]) -> None:
    """Compile what ``warm_up`` calls, or load it from disk; say so when it takes long."""
    if key not in _COMPILED:
        notice = threading.Timer(_SECONDS_WITHOUT_A_WORD, sys.stderr.write, [_COMPILING])
        notice.start()
        try:
            warm_up()
        finally:
            notice.cancel()
        _COMPILED.add(key)


def _draws(seeds: NDArray[np.int64], n_draws: int) -> NDArray[np.int64]:
    """Return the first draws of ``RandomState(seed).randint(2**31 - 1)`` for each seed."""
    draws: NDArray[np.int64] = _kernel().legacy_draws(seeds, n_draws)
    for k in np.flatnonzero((draws < 0).any(axis=1)):
        generator = np.random.RandomState(seeds[k])
        draws[k] = [generator.randint(_LARGEST_INT) for _ in range(n_draws)]
    return draws
