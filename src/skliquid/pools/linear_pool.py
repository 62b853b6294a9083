"""LinearPool: linear voters in one coefficient array, trained by one compiled call an increment."""

import copy
import math
import warnings
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cache
from numbers import Real
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
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.fixes import parse_version

from skliquid import native
from skliquid.arrays import Floats, Labels, Voters, Votes
from skliquid.pools import linear_reference
from skliquid.pools.voters import Copies, twin, values_of, weights_of

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
_COLUMNS_AT_ONCE = 16  # a sparse row's number is multiplied with a cache line or two
_SCORES_AT_ONCE = 150_000  # they stay in the cache until they are judged
_N_LANES = 4
_WIDTH = 8  # features are padded to a multiple: the core takes that many at once
_CACHE_LINE = 64  # bytes
_MOST_NUMBERS_TO_COPY = 2**24  # beyond this, rows are not copied to be padded
_BLANK = ("intercept", "average_intercept", "shows_average")
_MOST_ORDERS_TO_KEEP = 2**20
_NO_ORDERS = np.empty((0, 0), dtype=np.int32)
_LARGEST_INT = 2**31 - 1
STOPPING_RULES = ("loss", "objective")
"""What must stop decreasing for a final fit to end: the loss, or the loss and the penalty."""

_INSTALLED_RULE = STOPPING_RULES[parse_version(sklearn.__version__) >= parse_version("1.8")]
_WORK_OF_A_THREAD = 2_000_000  # at least: about half a millisecond
_SPARSE_INTERCEPT_STEP = 0.01  # scikit-learn's, since sparse rows reach the intercept more often


def unsupported(estimator: Any) -> str | None:
    """Return why ``estimator`` cannot be a voter of a linear pool, or None if it can."""
    if type(estimator) not in (SGDClassifier, Perceptron):
        return f"estimator={type(estimator).__name__}(...)"
    params = _params(estimator)
    weights = params.pop("class_weight")
    if weights is not None and not _are_numbers(weights):
        return f"class_weight={weights!r}"
    for name, value in params.items():  # of any type: scikit-learn has not looked at them yet
        if not isinstance(value, Hashable) or value not in _SUPPORTED.get(name, [value]):
            return f"{name}={value!r}"
    is_optimal = params["learning_rate"] == "optimal"
    for name, may_be_zero in (("alpha", not is_optimal), ("eta0", is_optimal)):
        value = params[name]
        is_number = isinstance(value, Real) and math.isfinite(value)
        if not (is_number and (value > 0 or (value == 0 and may_be_zero))):
            return f"{name}={value!r}"
    return None


def _are_numbers(class_weight: Any) -> bool:
    is_mapping = isinstance(class_weight, Mapping)
    return is_mapping and all(isinstance(weight, Real) for weight in class_weight.values())


def shared_parameters(estimator: Any) -> tuple[Any, ...]:
    """Return what voters of one linear pool have in common, as something to compare."""
    params = _params(estimator)
    kept = {name: value for name, value in params.items() if name not in OF_EACH_VOTER}
    if kept["class_weight"] is not None:
        kept["class_weight"] = tuple(kept["class_weight"].items())
    return (type(estimator), *kept.items())


def stays_with_its_kind(own: Mapping[str, Any]) -> bool:
    """Return whether parameters of its own let a voter share a linear pool with its kind."""
    rates = [value for name, value in own.items() if name in ("alpha", "eta0")]
    return all(name in OF_EACH_VOTER for name in own) and all(
        isinstance(value, Real) and 0 < float(value) < math.inf for value in rates
    )


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
        Threads for final fits and large increments, as joblib counts them; used where they pay.
    subspaces : array of int, one row a voter, or None
        The features that each voter looks at; None means all.
    examined : dict or None
        What scikit-learn made of voters, by what they share: pools that have it in common ask once.

    Attributes
    ----------
    stopping_rule : {"loss", "objective"}
        When a final fit ends: ``"loss"`` is the rule of scikit-learn up to 1.7, ``"objective"``
        that of 1.8 and later, which counts the penalty. The installed version's unless set.
    """

    stopping_rule = _INSTALLED_RULE

    def __init__(
        self,
        estimators: Sequence[Any],
        classes: NDArray[Any],
        n_jobs: int | None = None,
        subspaces: NDArray[np.intp] | None = None,
        *,
        examined: dict[Any, dict[str, Any]] | None = None,
    ):
        self.n_jobs = n_jobs
        self._subspaces = subspaces
        self._voters: Any = estimators
        self._place = np.arange(len(estimators))
        self._classes = classes
        self._n_machines = 1 if len(classes) == 2 else len(classes)
        self._votes_dtype = np.min_scalar_type(len(classes) - 1)
        self._shared = _params(estimators[0])
        self._state: dict[str, NDArray[Any]] = {}
        self._examined = {} if examined is None else examined
        self._fitted_attributes: dict[str, Any] = {}
        self._last_rows: tuple[Any, Any] = None, None
        self._orders = _NO_ORDERS

    def train(self, voters: Voters, X: Any, y: Labels, sample_weight: Floats | None = None) -> int:
        """Train ``voters`` on one more increment and return the sample visits it took."""
        if not self._state:
            self._begin(X, y, sample_weight)
        machines = self._machines_of(voters)
        before = {name: values[machines] for name, values in self._state.items() if self._averages}
        doubtful = self._take_epochs(voters, X, y, sample_weight, max_iter=1, tol=-np.inf)
        self._count_steps(_without(voters, doubtful), len(y))
        for voter in doubtful.tolist():
            for name, values in before.items():
                its_own = np.repeat(voters == voter, self._n_machines)
                self._state[name][machines[its_own]] = values[its_own]
            estimator = self.estimators(np.array([voter]))[0]
            weights = weights_of(sample_weight, voters, voter)
            estimator.partial_fit(self._seen_by(voter, X), self._classes[y], **_weights(weights))
            self._read(voter, estimator)
        return len(voters) * len(y)

    def accuracy(self, voters: Voters, X: Any, y: Labels) -> Floats:
        """Return the share of rows that each of ``voters`` gets right."""
        n_right = np.add.reduce(
            self._votes(voters, X, is_of_increment=True) == y.astype(self._votes_dtype), axis=1
        )
        accuracy: Floats = n_right / len(y)
        return accuracy

    def finish(
        self,
        voters: Voters,
        X: Any,
        y: Labels,
        sample_weight: Floats | None = None,
        *,
        warm: bool = False,
        max_passes: int | None = None,
    ) -> int:
        """Fit ``voters`` in full, anew or from where they are; return the sample visits."""
        if not self._state:
            self._begin(X, y, sample_weight)
        state, machines = self._state, self._machines_of(voters)
        each = state["each"]
        warmed = {voter: self.estimators(np.array([voter]))[0] for voter in voters.tolist() if warm}
        if warm:
            dtype = state["coef"].dtype  # in which scikit-learn starts warm
            each["intercept"][machines] = each["intercept"][machines].astype(dtype)
            each["steps"][machines] = 1
        else:
            self._reset(machines)
        tol = -np.inf if self._shared["tol"] is None else self._shared["tol"]
        max_iter = min(self._shared["max_iter"], max_passes or np.inf)
        if warm and self._averages:
            doubtful = voters
        else:
            doubtful = self._take_epochs(voters, X, y, sample_weight, max_iter=max_iter, tol=tol)
        if len(doubtful) and self.stopping_rule != _INSTALLED_RULE:
            self._check_can_settle(warm=warm)
            self._settle(doubtful, X, y, sample_weight, int(max_iter))
            doubtful = voters[:0]
        self._count_steps(_without(voters, doubtful), len(y))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # said below for all voters
            for voter in doubtful.tolist():
                estimator = warmed.get(voter, clone(self._voters[voter]))
                estimator.set_params(warm_start=warm, max_iter=int(max_iter))
                weights = weights_of(sample_weight, voters, voter)
                estimator.fit(self._seen_by(voter, X), self._classes[y], **_weights(weights))
                self._read(voter, estimator)
        n_iter = each["n_iter"][machines].reshape(len(voters), -1).max(axis=1)
        if tol > -np.inf and np.any(n_iter == self._shared["max_iter"]):
            warnings.warn(
                "A voter took max_iter epochs without converging: raise max_iter or scale X.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return int(n_iter.sum()) * len(y)

    def _reset(self, machines: NDArray[np.intp]) -> None:
        """Let ``machines`` begin from zero."""
        self._state["coef"][machines] = self._state["average"][machines] = 0
        for name in _BLANK:
            self._state["each"][name][machines] = 0
        self._state["each"]["steps"][machines] = 1

    def _check_can_settle(self, *, warm: bool) -> None:
        """Raise where the readable loop does not do all that scikit-learn does."""
        is_single = self._state["coef"].dtype == np.float32
        if warm or self._averages or is_single or not self._shared["shuffle"]:
            raise ValueError(
                f"stopping_rule must be {_INSTALLED_RULE!r}, the installed scikit-learn's, with "
                "averages, warm starts, float32 or without shuffling: got "
                f"{self.stopping_rule!r}, and rounding decides when a voter stops. Scale X, or "
                "leave these out."
            )

    def _settle(
        self, voters: Voters, X: Any, y: Labels, sample_weight: Floats | None, max_iter: int
    ) -> None:
        """Fit voters for which rounding decides when to stop by the readable loop.

        The installed scikit-learn, which is asked otherwise, has another stopping rule.
        """
        state, each, labels = self._state, self._state["each"], self._labels(y)
        for voter in voters.tolist():
            one = np.array([voter])
            weights = weights_of(sample_weight, voters, voter)
            importance, rows_of_weights = self._importance(one, y, weights)
            rows = _pairs(self._seen_by(voter, X))
            for machine, of_machine in zip(self._machines_of(one), rows_of_weights, strict=True):
                separator = linear_reference.train(
                    [0.0] * state["coef"].shape[1],
                    0.0,
                    rows,
                    labels[each["problem"][machine]].tolist(),
                    importance[of_machine].tolist(),
                    seed=int(each["seed"][machine]),
                    loss=self._shared["loss"],
                    alpha=float(each["alpha"][machine]),
                    penalized=self._shared["penalty"] == "l2",
                    learning_rate=self._shared["learning_rate"],
                    eta0=float(each["eta0"][machine]),
                    power_t=float(self._shared["power_t"]),
                    intercept_step=self._intercept_step(is_sparse=scipy.sparse.issparse(X)),
                    max_iter=max_iter,
                    tol=self._shared["tol"],
                    n_iter_no_change=int(self._shared["n_iter_no_change"]),
                    penalty_counts=self.stopping_rule == "objective",
                )
                state["coef"][machine] = separator.coef
                each["intercept"][machine] = separator.intercept
                each["n_iter"][machine] = separator.n_iter

    def vote(self, voters: Voters, X: Any) -> Votes:
        """Return the vote of each of ``voters`` (rows) on each sample (columns)."""
        return self._votes(voters, X, is_of_increment=False)

    def _votes(self, voters: Voters, X: Any, *, is_of_increment: bool) -> Votes:
        machines = self._machines_of(voters)
        votes = np.empty((len(voters), X.shape[0]), dtype=self._votes_dtype)
        is_sparse = bool(scipy.sparse.issparse(X))
        if is_sparse and self._subspaces is None and X.nnz >= X.shape[1]:
            return self._sparse_votes(voters, X.tocsr(), votes)
        coef, intercept = self._shown()
        if self._subspaces is not None:
            coef, intercept = (
                self._over_all_features(coef[machines], voters, X),
                intercept[machines],
            )
            machines = np.arange(len(machines))
        by_product = not is_sparse and X.shape[0] >= _ROWS_THAT_PAY_A_PRODUCT
        keeps = is_of_increment and self._subspaces is None
        rows, norms = self._kept_rows(X) if keeps else self._rows(X, coef, pad=not by_product)
        doubtful = np.zeros(len(voters), dtype=np.bool_)
        filled = norms, votes, doubtful
        if by_product:
            voting = coef, intercept, machines, self._n_machines
            for start, scores in _products(coef[machines], rows, len(norms)):
                native.judge(scores, start, *voting, *filled)
        else:
            native.vote(coef, intercept, machines, self._n_machines, rows, *filled)
        if doubtful.any():
            shown = self._shown()
            for k in np.flatnonzero(doubtful):
                votes[k] = self._votes_of(voters[k : k + 1], X, *shown)[0]
        return votes

    def _sparse_votes(self, voters: Voters, X: Any, votes: Votes) -> Votes:
        """Fill in the votes on rows that hold more numbers than a voter has coefficients."""
        n_at_once, shown = -(-_COLUMNS_AT_ONCE // self._n_machines), self._shown()
        for start in range(0, len(voters), n_at_once):
            some = slice(start, start + n_at_once)
            votes[some] = self._votes_of(voters[some], X, *shown)
        return votes

    def _votes_of(self, voters: Voters, X: Any, coef: NDArray[Any], intercept: Floats) -> Votes:
        """Return votes by the very product that scikit-learn takes, on as many rows.

        Only of sparse rows may several voters be asked at once: dense products are summed in an
        order that depends on how many there are.
        """
        machines = self._machines_of(voters)
        seen = self._seen_by(voters[0], X)
        if scipy.sparse.issparse(X):
            seen = seen.tocsr()
        scores: Any = safe_sparse_dot(seen, self._unpadded(coef, machines).T, dense_output=True)
        scores = scores + intercept[machines].astype(self._intercept_dtype)
        by_voter = scores.reshape(-1, len(voters), self._n_machines)
        votes: Votes = by_voter[:, :, 0] > 0 if self._n_machines == 1 else by_voter.argmax(axis=2)
        return votes.T

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
            estimator.n_iter_ = int(self._state["each"]["n_iter"][machines].max())
            estimator.t_ = float(self._state["each"]["steps"][machines[0]])
            if self._averages:
                self._write_average(estimator, machines)
            made.append(estimator)
        return made

    def keep(self, voters: Voters, *, training_is_over: bool) -> None:
        """Forget all other voters."""
        self._last_rows, self._orders = (None, None), _NO_ORDERS
        if not self._state or len(voters) * self._n_machines == len(self._state["each"]):
            return
        machines = self._machines_of(voters)
        self._state = {name: values[machines] for name, values in self._state.items()}
        if not isinstance(self._voters, Copies):  # which hold next to nothing
            self._voters = {voter: self._voters[voter] for voter in voters.tolist()}
        self._place = np.full(len(self._place), -1)
        self._place[voters] = np.arange(len(voters))

    def __deepcopy__(self, memo: dict[int, Any]) -> "LinearPool":
        twin = copy.copy(self)  # all but these is replaced, never changed
        twin._orders = _NO_ORDERS
        twin._examined = dict(self._examined)
        twin._state = {name: values.copy() for name, values in self._state.items()}
        return twin

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_last_rows": (None, None), "_orders": _NO_ORDERS}

    def _begin(self, X: Any, y: Labels, sample_weight: Floats | None) -> None:
        """Lay out the arrays, and let scikit-learn look at the parameters and data once."""
        X = self._seen_by(0, X)
        n_features, dtype = X.shape[1], X.dtype
        if scipy.sparse.issparse(X):  # the core looks at indices, which scikit-learn trusts
            self._rows(X, np.empty((0, n_features), dtype=dtype))
        key = (shared_parameters(self._voters[0]), dtype)
        if key not in self._examined:
            self._examined[key] = self._attributes(X, y, sample_weight)
        self._fitted_attributes = self._examined[key] | {"n_features_in_": n_features}
        dtype = self._fitted_attributes["coef_"].dtype
        width = _padded(n_features)
        n = len(self._voters) * self._n_machines
        each = np.zeros(n, dtype=native.MACHINE)
        for name in ("alpha", "eta0"):
            each[name] = np.repeat(values_of(self._voters, name), self._n_machines)
        each["problem"] = np.tile(np.arange(self._n_machines), len(self._voters))
        each["seed"], each["steps"] = self._shuffle_seeds(), 1
        self._state = {
            "coef": _aligned_zeros(n, width, dtype),
            "average": _aligned_zeros(n, width if self._averages else 0, dtype),
            "each": each,
        }

    def _attributes(self, X: Any, y: Labels, sample_weight: Floats | None) -> dict[str, Any]:
        """Return what scikit-learn adds to a voter that it trains."""
        first = twin(self._voters[0])
        unfitted = set(vars(first))
        weights = sample_weight if sample_weight is None else sample_weight.reshape(-1, len(y))[0]
        first.partial_fit(X, self._classes[y], classes=self._classes, **_weights(weights))
        return {name: value for name, value in vars(first).items() if name not in unfitted}

    def _shuffle_seeds(self) -> NDArray[np.int64]:
        """Return the seed with which scikit-learn would shuffle for each machine."""
        seeds = values_of(self._voters, "random_state").astype(np.int64)
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

    def _seen_by(self, voter: int, X: Any) -> Any:
        """Return the features that ``voter`` looks at."""
        return X if self._subspaces is None else X[:, self._subspaces[voter]]

    def _seen_by_all(self, voters: Voters, X: Any) -> Any:
        """Return the features that each of ``voters`` looks at, the rows of one after another's."""
        if self._subspaces is None:
            return X
        subspaces = self._subspaces[voters]
        if scipy.sparse.issparse(X):
            csr: Any = X
            seen_by_each: list[Any] = [csr[:, subspace] for subspace in subspaces]
            return scipy.sparse.vstack(seen_by_each, format="csr")
        n_rows, n_seen = X.shape[0], subspaces.shape[1]
        seen = X[:, subspaces.ravel()].reshape(n_rows, len(voters), n_seen)
        return seen.transpose(1, 0, 2).reshape(-1, n_seen)

    def _over_all_features(self, coef: NDArray[Any], voters: Voters, X: Any) -> NDArray[Any]:
        """Return coefficients that are zero where a voter does not look."""
        assert self._subspaces is not None
        subspaces = np.repeat(self._subspaces[voters], self._n_machines, axis=0)
        whole = _aligned_zeros(len(coef), _padded(X.shape[1]), coef.dtype)
        np.put_along_axis(whole, subspaces, coef[:, : subspaces.shape[1]], axis=1)
        return whole

    def _kept_rows(self, X: Any) -> tuple[Any, Floats]:
        """Return the rows as the core takes them; kept, since voters are asked of them too."""
        last, rows = self._last_rows
        if last is not X:
            rows = self._rows(X, self._state["coef"])
            self._last_rows = X, rows
        return rows  # type: ignore[no-any-return]  # it is kept beside its X, as Any

    def _rows(self, X: Any, coef: NDArray[Any], *, pad: bool = True) -> tuple[Any, Floats]:
        """Return the rows as the core takes them with ``coef``, and the length of each."""
        rows: Any = X
        if scipy.sparse.issparse(X):
            csr = rows.tocsr()
            data, indices = _laid_out(csr.data, coef.dtype), _laid_out(csr.indices, np.int32)
            rows = native.SparseRows(data, indices, csr.indptr.astype(np.int64), csr.shape[1])
        elif not pad or X.shape[1] == coef.shape[1] or X.size > _MOST_NUMBERS_TO_COPY:
            rows = _laid_out(X, coef.dtype)
        else:
            rows = _aligned_zeros(X.shape[0], coef.shape[1], coef.dtype)
            rows[:, : X.shape[1]] = X
        norms = np.empty(X.shape[0])
        native.row_norms(rows, coef, norms)
        return rows, norms

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
        if self._subspaces is None and (sample_weight is None or sample_weight.ndim == 1):
            return self._take_epochs_of(voters, X, y, sample_weight, max_iter=max_iter, tol=tol)
        n_at_once = max(_MOST_NUMBERS_TO_COPY // (len(y) * self._state["coef"].shape[1]), _N_LANES)
        doubtful = []
        for start in range(0, len(voters), n_at_once):
            some = slice(start, start + n_at_once)
            weights = sample_weight
            if weights is not None and weights.ndim == 2:
                weights = weights[some]
            doubtful.append(
                self._take_epochs_of(voters[some], X, y, weights, max_iter=max_iter, tol=tol)
            )
        return np.concatenate(doubtful)

    def _take_epochs_of(
        self,
        voters: Voters,
        X: Any,
        y: Labels,
        sample_weight: Floats | None,
        *,
        max_iter: int,
        tol: float,
    ) -> Voters:
        """Train ``voters`` in one call of the core."""
        machines = self._machines_of(voters)
        rows, norms = self._kept_rows(self._seen_by_all(voters, X))
        labels, each = self._labels(y), self._state["each"]
        importance, each["weights"][machines] = self._importance(voters, y, sample_weight)
        if self._subspaces is not None:
            first_row = np.repeat(np.arange(len(voters)), self._n_machines) * len(y)
            each["first_row"][machines] = first_row
        native.train(
            *self._arrays(),
            machines,
            rows,
            labels,
            importance,
            norms,
            self._kept_orders(len(y) if max_iter == 1 else 0),
            self._settings(is_sparse=scipy.sparse.issparse(X), max_iter=max_iter, tol=tol),
            self._n_threads(len(machines) * len(y) * X.shape[1] * min(max_iter, 5)),
        )
        if not self._averages:
            each["intercept"][machines] = self._stored(each["intercept"][machines])
        return self._in_doubt(voters, each["verdict"][machines])

    def _n_threads(self, work: int) -> int:
        """Return how many threads pay for ``work``, in multiplications."""
        n_threads = work // _WORK_OF_A_THREAD
        if n_threads <= 1:
            return 1
        return int(min(n_threads, effective_n_jobs(self.n_jobs)))

    def _in_doubt(self, voters: Voters, verdict: NDArray[np.int64]) -> Voters:
        """Return those of ``voters`` for which scikit-learn has to be asked."""
        if not verdict.any():
            return voters[:0]
        if np.any(verdict == OVERFLOWN):
            raise ValueError(
                "X must not drive coefficients out of range: a voter's became infinite. Scale the "
                "features, with StandardScaler say."
            )
        by_voter = verdict.reshape(len(voters), self._n_machines)
        return voters[np.flatnonzero((by_voter == DOUBTFUL).any(axis=1))]

    def _kept_orders(self, n_rows: int) -> NDArray[np.int32]:
        """Return in which order each machine takes so many rows, as far as that is known."""
        n = len(self._state["each"])
        if not 0 < n * n_rows <= _MOST_ORDERS_TO_KEEP:
            return np.empty((0, n_rows), dtype=np.int32)
        if self._orders.shape != (n, n_rows):
            self._orders = np.full((n, n_rows), -1, dtype=np.int32)
        return self._orders

    def _arrays(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.uint8]]:
        """Return the state as the core takes it, to be changed in place."""
        state = self._state
        return state["coef"], state["average"], state["each"].view(np.uint8)

    def _settings(self, *, is_sparse: bool, max_iter: int, tol: float) -> native.Settings:
        """Return what all machines of a call have in common."""
        shared = self._shared
        if self.stopping_rule not in STOPPING_RULES:
            raise ValueError(
                f"stopping_rule must be one of {', '.join(STOPPING_RULES)}: got "
                f"{self.stopping_rule!r}. Choose one."
            )
        return native.Settings(
            loss=native.LOSSES.index(shared["loss"]),
            learning_rate=native.LEARNING_RATES.index(shared["learning_rate"]),
            power_t=float(shared["power_t"]),
            penalized=shared["penalty"] == "l2",
            penalty_counts=shared["penalty"] == "l2"
            and self.stopping_rule == "objective"
            and tol > -np.inf,
            intercept_step=self._intercept_step(is_sparse=is_sparse),
            shuffles=bool(shared["shuffle"]),
            average_from=int(shared["average"]),
            max_iter=int(max_iter),
            tol=float(tol),
            n_iter_no_change=int(shared["n_iter_no_change"]),
        )

    def _intercept_step(self, *, is_sparse: bool) -> float:
        step = _SPARSE_INTERCEPT_STEP if is_sparse else 1.0
        return float(self._shared["fit_intercept"]) * step

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
        """Count the steps just taken, and fold what the core left open into the averages.

        Once an average is shown, scikit-learn starts later calls from the intercept it had before;
        with several classes it writes the new one over the averaged. We do as it does.
        """
        state, machines = self._state, self._machines_of(voters)
        if self._averages:
            coef, average = state["coef"], state["average"]
            axpy = _axpy(coef.dtype)
            factors = state["each"]["average_a"][machines]
            for m, a in zip(machines.tolist(), factors.tolist(), strict=True):
                axpy(coef[m], average[m], a=a)
        average_from = int(self._shared["average"])
        native.count_steps(*self._arrays(), machines, self._n_machines, n_rows, average_from)

    def _shown(self) -> tuple[NDArray[Any], Floats]:
        """Return the coefficients and intercepts that machines vote by."""
        coef, average, each = self._state["coef"], self._state["average"], self._state["each"]
        if not self._averages:
            return coef, each["intercept"].copy()
        shows = each["shows_average"] != 0
        if shows.all():
            return average, each["average_intercept"].copy()
        return (
            np.where(shows[:, None], average, coef),
            np.where(shows, each["average_intercept"], each["intercept"]),
        )

    def _unpadded(self, coef: NDArray[Any], machines: NDArray[np.intp]) -> NDArray[Any]:
        n_features = self._fitted_attributes["n_features_in_"]
        return np.ascontiguousarray(coef[machines, :n_features])

    def _write_average(self, estimator: Any, machines: NDArray[np.intp]) -> None:
        each, flat = self._state["each"], self._n_machines == 1
        dtype = self._state["coef"].dtype
        for kind, coef, intercept in (
            ("standard", self._state["coef"], each["intercept"]),
            ("average", self._state["average"], each["average_intercept"]),
        ):
            values = self._unpadded(coef, machines)
            setattr(estimator, f"_{kind}_coef", values.ravel() if flat else values)
            setattr(estimator, f"_{kind}_intercept", intercept[machines].astype(dtype))
        shows, intercept = each["shows_average"][machines[0]], each["intercept"][machines]
        if flat and (not shows or intercept[0] != dtype.type(intercept[0])):
            estimator._standard_intercept = intercept  # from before an average was shown
        kind = "average" if shows else "standard"
        estimator.coef_ = getattr(estimator, f"_{kind}_coef").reshape(self._n_machines, -1)
        estimator.intercept_ = getattr(estimator, f"_{kind}_intercept")

    def _read(self, voter: int, estimator: Any) -> None:
        """Take over what scikit-learn made of ``estimator``."""
        machines, each = self._machines_of(np.array([voter])), self._state["each"]
        width = estimator.coef_.shape[1]
        self._state["coef"][machines, :width] = (
            estimator._standard_coef if self._averages else estimator.coef_
        )
        each["intercept"][machines] = (
            estimator._standard_intercept if self._averages else estimator.intercept_
        )
        if self._averages:
            self._state["average"][machines, :width] = estimator._average_coef
            each["average_intercept"][machines] = estimator._average_intercept
            each["shows_average"][machines] = self._shared["average"] <= estimator.t_ - 1
        each["n_iter"][machines] = estimator.n_iter_
        each["steps"][machines] = estimator.t_

    def _labels(self, y: Labels) -> NDArray[Any]:
        """Return the labels of the rows for each problem: one class against others."""
        dtype = self._state["coef"].dtype
        of_others = 0.0 if self._shared["loss"] == "log_loss" else -1.0
        if self._n_machines == 1:
            return np.array([of_others, 1.0], dtype=dtype)[y][None]
        labels = np.full((self._n_machines, len(y)), of_others, dtype=dtype)
        labels[y, np.arange(len(y))] = 1.0
        return labels

    def _importance(
        self, voters: Voters, y: Labels, sample_weight: Floats | None
    ) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """Return what rows weigh, and which of these weights each machine takes.

        Machines that weigh rows alike share them: with many classes, all those of a voter may.
        """
        dtype = self._state["coef"].dtype
        by_class = np.asarray(self._fitted_attributes["_expanded_class_weight"], dtype=dtype)
        if self._n_machines == 1:
            alike = by_class[y][None]
        elif np.all(by_class == 1):
            alike = np.ones((1, len(y)), dtype=dtype)
        else:
            is_positive = y == np.arange(self._n_machines)[:, None]
            alike = np.where(is_positive, by_class[:, None], dtype.type(1))
        weights = alike[None]  # voter, machine, row
        if sample_weight is not None:
            weights = weights * sample_weight.reshape(-1, 1, len(y)).astype(dtype)
        importance = np.ascontiguousarray(weights.reshape(-1, len(y)))
        first = np.arange(len(voters)) * (len(alike) if len(weights) > 1 else 0)
        return importance, np.add.outer(first, np.arange(self._n_machines) % len(alike)).ravel()


def _padded(n_features: int) -> int:
    return -(-n_features // _WIDTH) * _WIDTH


def _aligned_zeros(n_rows: int, width: int, dtype: Any) -> NDArray[Any]:
    """Return an array whose rows begin where lines of the processor's cache do."""
    n_bytes = n_rows * width * np.dtype(dtype).itemsize
    room = np.zeros(n_bytes + _CACHE_LINE, dtype=np.uint8)
    start = -room.ctypes.data % _CACHE_LINE
    rows: NDArray[Any] = room[start : start + n_bytes].view(dtype).reshape(n_rows, width)
    return rows


def _laid_out(array: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Return numbers as the core takes them; what comes from another process may not be aligned."""
    array = np.ascontiguousarray(array, dtype=dtype)
    return array if array.flags.aligned else array.copy()


@cache
def _axpy(dtype: Any) -> Any:
    """Return the product and sum that scikit-learn calls, which changes its second argument."""
    return scipy.linalg.blas.get_blas_funcs("axpy", dtype=dtype)


def _pairs(X: Any) -> list[list[tuple[int, float]]]:
    """Return the rows as the readable loop takes them: pairs of a feature and its value."""
    if not scipy.sparse.issparse(X):
        return [list(enumerate(row.tolist())) for row in X]
    rows: Any = X
    csr = rows.tocsr()
    cuts = zip(csr.indptr[:-1], csr.indptr[1:], strict=True)
    pairs = list(zip(csr.indices.tolist(), csr.data.tolist(), strict=True))
    return [pairs[start:stop] for start, stop in cuts]


def _without(voters: Voters, doubtful: Voters) -> Voters:
    return np.setdiff1d(voters, doubtful) if len(doubtful) else voters


def _weights(sample_weight: Floats | None) -> dict[str, Floats]:
    return {} if sample_weight is None else {"sample_weight": sample_weight}


def _products(
    coef: NDArray[Any], rows: NDArray[Any], n_rows: int
) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield the first row of each block, and the scores of all machines on it."""
    n_at_once = max(_SCORES_AT_ONCE // max(len(coef), 1), 1)
    weights = coef[:, : rows.shape[1]]
    for start in range(0, n_rows, n_at_once):
        yield start, weights @ rows[start : start + n_at_once].T


def _draws(seeds: NDArray[np.int64], n_draws: int) -> NDArray[np.int64]:
    """Return the first draws of ``RandomState(seed).randint(2**31 - 1)`` for each seed."""
    draws: NDArray[np.int64] = np.full((len(seeds), n_draws), -1)
    if n_draws <= native.MOST_DRAWS:
        native.draw_seeds(seeds, draws)
    for k in np.flatnonzero((draws < 0).any(axis=1)):
        draws[k] = np.random.RandomState(seeds[k]).randint(_LARGEST_INT, size=n_draws)
    return draws
