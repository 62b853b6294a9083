"""LinearPool: linear voters in one array, trained by one compiled call per increment."""

import copy
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import scipy.linalg.blas
import scipy.sparse
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from skliquid import native
from skliquid.arrays import Floats, Voters, Votes
from skliquid.increments import slices
from skliquid.pools.learned import Learned
from skliquid.pools.linear import layout, prediction, scikit_learn, support
from skliquid.pools.linear.problem import LinearProblem
from skliquid.pools.linear.seen_columns import SeenColumns
from skliquid.pools.linear.state import SeparatorState, shuffle_seeds
from skliquid.pools.pool import VoterPool
from skliquid.rows import Rows
from skliquid.user_warnings import warn_user

DOUBTFUL, OVERFLOWN = 1, 2
_N_LANES = 4
_MOST_ORDERS_TO_KEEP = 2**20
_NO_ORDERS = np.empty((0, 0), dtype=np.int32)
_SUMS_IN_ONE_THREAD = 8192  # more, and BLAS would wait for threads longer than it adds up
_LABELS_AT_ONCE = 2**22  # those of some classes, of which each has its own
_WORK_OF_A_THREAD = 2_000_000  # multiplications, at least: about half a millisecond


class LinearPool(VoterPool):
    """Voters that are ``SGDClassifier`` or ``Perceptron``, with scikit-learn's own bits.

    They may differ in the hyperparameters of ``support.PER_VOTER`` and share all others. Threads
    are used where they pay. ``stopping_rule`` says when a final fit ends: ``"loss"`` is the rule of
    scikit-learn up to 1.7, ``"objective"`` that of 1.8 and later, which includes the penalty; by
    default it is the installed version's.
    """

    name = "linear"
    stopping_rule = support.INSTALLED_RULE
    refusal = staticmethod(support.refusal)
    group_of = staticmethod(support.shared_parameters)
    holds_together = staticmethod(support.are_per_voter)
    _problem: LinearProblem  # known with the first rows, as is the state
    _state: SeparatorState | None = None
    _columns: SeenColumns | None = None  # of wide sparse rows

    def __init__(
        self,
        voters: Sequence[Any],
        classes: NDArray[Any],
        n_jobs: int | None = None,
        subspaces: NDArray[np.intp] | None = None,
        shared: dict[Any, Any] | None = None,
    ):
        self.n_jobs, self._classes, self._subspaces = n_jobs, classes, subspaces
        self._voters = dict(enumerate(voters))
        self._place = np.arange(len(voters))
        self._known_attributes = {} if shared is None else shared
        self._last_rows: tuple[Any, Any] = None, None
        self._orders = _NO_ORDERS

    # Training

    def train(self, voters: Voters, rows: Rows) -> int:
        state, separators = self._begin(rows), self._separators_of(voters)
        before = state.at(separators) if self._problem.averages else None
        is_doubtful = self._take_epochs(voters, rows, max_iter=1, tol=-np.inf)
        if before is not None and is_doubtful.any():  # their averages have changed
            own = np.flatnonzero(np.repeat(is_doubtful, self._problem.n_separators))
            state.restore(separators[own], before.at(own))
        for voter, seen in self._seen(voters, is_doubtful, rows):
            estimator = self.estimators(voter)[0]
            estimator.partial_fit(seen.X, self._classes[seen.y], **seen.weights_argument)
            self._read(estimator, state, self._separators_of(voter))
        return len(voters) * len(rows.y)

    def finish(self, voters: Voters, rows: Rows, max_passes: int | None = None) -> int:
        state, separators = self._begin(rows), self._separators_of(voters)
        state.reset(separators)
        problem, own_max_iter = self._problem, self._problem.params["max_iter"]
        max_iter = int(min(own_max_iter, max_passes or np.inf))
        is_doubtful = self._take_epochs(voters, rows, max_iter=max_iter, tol=problem.tol)
        for voter, seen in self._seen(voters, is_doubtful, rows):
            own = self._separators_of(voter)
            if self.stopping_rule == support.INSTALLED_RULE:
                estimator = clone(self._voters[voter[0]])
                scikit_learn.fit(estimator, seen, self._classes, max_iter=max_iter)
                self._read(estimator, state, own)
            else:
                taught = seen._replace(X=self._taught(seen.X))
                scikit_learn.fit_by_reference(
                    problem, state, own, taught, stopping_rule=self.stopping_rule, max_iter=max_iter
                )
        n_iter = state.scalars["n_iter"][separators].reshape(len(voters), -1).max(axis=1)
        if problem.tol > -np.inf and np.any(n_iter == own_max_iter):
            warn_user(
                "A voter took max_iter epochs without converging: raise max_iter or scale X.",
                ConvergenceWarning,
            )
        return int(n_iter.sum()) * len(rows.y)

    def _take_epochs(
        self, voters: Voters, rows: Rows, *, max_iter: int, tol: float
    ) -> NDArray[np.bool_]:
        """Train ``voters``, and return which of them have to be trained by scikit-learn."""
        is_sparse = scipy.sparse.issparse(rows.X)
        settings = self._problem.settings(self.stopping_rule, is_sparse, max_iter, tol)
        n_at_once, weights = len(voters), rows.sample_weight
        if self._subspaces is not None or (weights is not None and weights.ndim == 2):
            n_numbers = len(rows.y) * self._arrays.coef.shape[1]
            n_at_once = max(layout.MOST_NUMBERS_TO_COPY // n_numbers, _N_LANES)
        if len(voters) <= n_at_once:
            return self._take_epochs_at_once(voters, rows, settings)
        cuts = slices(len(voters), n_at_once)
        parts = [(voters[cut], rows.for_voters(cut)) for cut in cuts]
        return np.concatenate([self._take_epochs_at_once(*part, settings) for part in parts])

    def _take_epochs_at_once(
        self, voters: Voters, rows: Rows, settings: native.Settings
    ) -> NDArray[np.bool_]:
        """Train ``voters`` in one call of the core."""
        problem, state, separators = self._problem, self._arrays, self._separators_of(voters)
        X, n_rows = self._taught(rows.X), len(rows.y)
        n_threads = self._n_threads(
            len(separators) * n_rows * X.shape[1] * min(settings.max_iter, 5)
        )
        if self._subspaces is not None:
            X = layout.stacked_subspaces(X, self._subspaces[voters])
            first_row = np.repeat(np.arange(len(voters)), problem.n_separators) * n_rows
            state.scalars["first_row"][separators] = first_row
        core_rows, norms = self._kept_rows(X)
        orders = self._kept_orders(n_rows if settings.max_iter == 1 else 0)
        for cut in slices(problem.n_separators, max(_LABELS_AT_ONCE // n_rows, _N_LANES)):
            chosen = separators.reshape(len(voters), -1)[:, cut].ravel()
            labels, importance, taken = problem.arrays(len(voters), rows, cut)
            state.scalars["problem"][chosen] = np.tile(np.arange(len(labels)), len(voters))
            state.scalars["weights"][chosen] = taken
            native.train(
                *state.arrays,
                chosen,
                core_rows,
                labels,
                importance,
                norms,
                orders,
                settings,
                n_threads,
            )
        if not problem.averages:  # round as scikit-learn stores them
            intercept = state.scalars["intercept"]
            intercept[separators] = intercept[separators].astype(problem.intercept_dtype)
        is_doubtful = self._doubtful(voters, state.scalars["verdict"][separators])
        if is_doubtful.any():
            separators = separators[~np.repeat(is_doubtful, problem.n_separators)]
        self._count_steps(separators, n_rows)
        return is_doubtful

    def _doubtful(self, voters: Voters, verdict: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of ``voters`` have to be trained by scikit-learn."""
        if not verdict.any():
            return np.zeros(len(voters), dtype=np.bool_)
        if np.any(verdict == OVERFLOWN):
            raise ValueError(
                "X must not drive coefficients out of range: those of a voter became infinite. "
                "Scale the features, for example with StandardScaler."
            )
        is_doubtful: NDArray[np.bool_] = (verdict == DOUBTFUL).reshape(len(voters), -1).any(axis=1)
        return is_doubtful

    def _count_steps(self, separators: NDArray[np.intp], n_rows: int) -> None:
        """Count the steps just taken, and add to the averages what the core left open.

        Once an average is shown, scikit-learn starts later calls from the intercept it had before;
        with several classes it overwrites the averaged one with the new. We do the same.
        """
        problem, state = self._problem, self._arrays
        if problem.averages:
            axpy = _axpy(problem.dtype)
            factors = state.scalars["average_a"][separators].tolist()
            cuts = slices(state.coef.shape[1], _SUMS_IN_ONE_THREAD)
            for s, a in zip(separators.tolist(), factors, strict=True):
                for cut in cuts:
                    axpy(state.coef[s, cut], state.average[s, cut], a=a)
        native.count_steps(
            *state.arrays, separators, problem.n_separators, n_rows, problem.average_from
        )

    def _n_threads(self, work: int) -> int:
        """Return how many threads pay for ``work``, in multiplications."""
        n_threads = work // _WORK_OF_A_THREAD
        return 1 if n_threads <= 1 else int(min(n_threads, effective_n_jobs(self.n_jobs)))

    # Prediction

    def vote(self, voters: Voters, X: Any) -> Votes:
        X, (last, kept_rows) = self._known(X), self._last_rows
        return prediction.votes_of(
            self._problem,
            self._arrays,
            self._separators_of(voters),
            X,
            subspaces=self._subspaces_of(voters),
            kept_rows=kept_rows if last is X else None,
        )

    def margins(self, voters: Voters, X: Any) -> Floats:
        margins = self._margins(voters, X)
        return np.concatenate([-margins, margins], axis=2) if margins.shape[2] == 1 else margins

    def probabilities(self, voters: Voters, X: Any) -> Floats:
        return prediction.probabilities_from(self._problem, self._margins(voters, X))

    def _margins(self, voters: Voters, X: Any) -> NDArray[Any]:
        separators, subspaces = self._separators_of(voters), self._subspaces_of(voters)
        return prediction.margins_of(
            self._problem, self._arrays, separators, self._known(X), subspaces=subspaces
        )

    def _subspaces_of(self, voters: Voters) -> NDArray[np.intp] | None:
        return None if self._subspaces is None else self._subspaces[voters]

    # State

    @property
    def _arrays(self) -> SeparatorState:
        assert self._state is not None
        return self._state

    def _begin(self, rows: Rows, columns: SeenColumns | None = None) -> SeparatorState:
        """Return the state; before the first rows, create it and ask scikit-learn once.

        ``columns`` are those of which coefficients are restored.
        """
        if self._state is not None:
            return self._widened(rows.X)
        voters, seen = list(self._voters.values()), self._seen_by(0, 0, rows)
        layout.check_indices(seen.X)  # which scikit-learn trusts
        key = support.shared_parameters(voters[0]), seen.X.dtype
        if key not in self._known_attributes:
            attributes = scikit_learn.fitted_attributes(copy.copy(voters[0]), seen, self._classes)
            self._known_attributes[key] = attributes
        attributes = self._known_attributes[key] | {"n_features_in_": seen.X.shape[1]}
        problem = LinearProblem(support.parameters(voters[0]), self._classes, attributes)
        n, width = problem.n_separators, problem.n_features
        if columns is not None:
            self._columns, width = columns, len(columns.numbers)
        elif self._subspaces is None and SeenColumns.suit(rows.X):
            self._columns = SeenColumns(width)
            width = self._taught(rows.X).shape[1]
        state = SeparatorState.zeros(
            len(voters) * n, width, problem.dtype, averages=problem.averages
        )
        for name in ("alpha", "eta0"):
            state.scalars[name] = np.repeat([getattr(voter, name) for voter in voters], n)
        seeds = np.array([voter.random_state for voter in voters], dtype=np.int64)
        state.scalars["seed"], state.scalars["steps"] = shuffle_seeds(seeds, n), 1
        self._problem, self._state = problem, state
        return state

    def _widened(self, X: Any) -> SeparatorState:
        """Return the state, with room for columns that have not occurred before."""
        if self._columns is not None:
            self._taught(X)
            self._state = self._arrays.with_room_for(len(self._columns.numbers))
            self._columns.make_room(self._state.coef.shape[1])
        return self._arrays

    def _taught(self, X: Any) -> Any:
        """Return the rows as voters train on them; from now on they know the columns."""
        return X if self._columns is None else self._columns.taught(X)

    def _known(self, X: Any) -> Any:
        """Return the rows with the columns that voters know."""
        return X if self._columns is None else self._columns.known(X)

    def _read(self, estimator: Any, state: SeparatorState, separators: NDArray[np.intp]) -> None:
        """Take over what scikit-learn has learned."""
        numbers = slice(None) if self._columns is None else self._columns.numbers
        scikit_learn.read(estimator, self._problem, state, separators, numbers)

    def estimators(self, voters: Voters) -> list[Any]:
        whole = None if self._columns is None else self._columns.whole
        separators = self._separators_of(voters).reshape(len(voters), -1)
        return [
            scikit_learn.written(
                clone(self._voters[voter]), self._problem, self._arrays.at(own).over(whole)
            )
            for voter, own in zip(voters.tolist(), separators, strict=True)
        ]

    def keep(self, voters: Voters, *, training_is_over: bool) -> VoterPool:
        self._last_rows, self._orders = (None, None), _NO_ORDERS
        if self._columns is not None:
            self._columns.forget_rows()
        if self._state is not None and len(voters) < len(self._voters):
            self._state = self._state.at(self._separators_of(voters))
            self._voters = {voter: self._voters[voter] for voter in voters.tolist()}
            self._place = np.full(len(self._place), -1)
            self._place[voters] = np.arange(len(voters))
        return self

    def learned(self, voters: Voters) -> list[Learned]:
        if self._state is None:
            return []
        n_features = self._problem.n_features
        columns = None if self._columns is None else self._columns.numbers
        width = n_features if columns is None else len(columns)
        values = self._state.learned(self._separators_of(voters), width)
        shape = len(voters), self._problem.n_separators
        own = {name: array.reshape(*shape, *array.shape[1:]) for name, array in values.items()}
        shared = {"n_features": n_features, "columns": columns}
        return [Learned(self.name, np.arange(len(voters)), own, shared)]

    def restore(self, parts: Sequence[Learned]) -> None:
        voters = np.sort(np.concatenate([part.voters for part in parts]))
        self._voters = {voter: self._voters[voter] for voter in voters.tolist()}
        self._place = np.full(len(self._place), -1)
        self._place[voters] = np.arange(len(voters))
        width, columns = parts[0].shared["n_features"], self._columns_of(parts)
        if self._subspaces is not None:
            width = int(self._subspaces.max()) + 1
        is_dense = columns is None and self._subspaces is None
        make_row = np.zeros if is_dense else scipy.sparse.csr_array
        row: Any = make_row((1, width), dtype=parts[0].own["coef"].dtype)
        # by one row of zeros, from which no coefficient comes
        state = self._begin(Rows(row, np.zeros(1, dtype=np.intp)), columns)
        for part in parts:
            separators, own = self._separators_of(part.voters), part.shared["columns"]
            flat = {k: a.reshape(len(separators), *a.shape[2:]) for k, a in part.own.items()}
            n_own = part.own["coef"].shape[2]
            places = np.arange(n_own) if columns is None else columns.places_of(own)
            state.relearn(separators, flat, places)

    def _columns_of(self, parts: Sequence[Learned]) -> SeenColumns | None:
        """Return the columns that any of the parts knows; those of shards may differ."""
        known = [part.shared["columns"] for part in parts]
        if any(columns is None for columns in known):
            return None
        numbers, first = np.unique(np.concatenate(known), return_index=True)
        return SeenColumns(parts[0].shared["n_features"], numbers[np.argsort(first)])

    def __deepcopy__(self, memo: dict[int, Any]) -> "LinearPool":
        twin = copy.copy(self)  # all but these is replaced, never changed
        state = None if self._state is None else self._state.copied()
        columns = None if self._columns is None else self._columns.copied()
        known = dict(self._known_attributes)
        vars(twin).update(_state=state, _columns=columns, _known_attributes=known)
        return twin

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_last_rows": (None, None), "_orders": _NO_ORDERS}

    def _separators_of(self, voters: Voters) -> NDArray[np.intp]:
        places, n = self._place[voters], self._problem.n_separators
        if len(places) and places.min() < 0:
            raise KeyError(voters[places < 0][0])
        return places if n == 1 else (places[:, None] * n + np.arange(n)).ravel()

    def _seen(
        self, voters: Voters, chosen: NDArray[np.bool_], rows: Rows
    ) -> Iterator[tuple[Voters, Rows]]:
        """Yield each voter that is ``chosen``, as an array, with its features and weights."""
        for k in np.flatnonzero(chosen).tolist():
            yield voters[k : k + 1], self._seen_by(voters[k], k, rows)

    def _seen_by(self, voter: int, position: int, rows: Rows) -> Rows:
        X = rows.X if self._subspaces is None else rows.X[:, self._subspaces[voter]]
        return rows.for_voter(position)._replace(X=X)

    def _kept_rows(self, X: Any) -> tuple[Any, Floats]:
        """Return the rows as the core takes them; kept, since voters train and vote on them."""
        last, rows = self._last_rows
        if last is not X:
            rows = layout.core_rows(X, self._arrays.coef)
            self._last_rows = X, rows
        return rows  # type: ignore[no-any-return]  # it is kept beside its X, as Any

    def _kept_orders(self, n_rows: int) -> NDArray[np.int32]:
        """Return in which order each separator takes so many rows, as far as that is known."""
        n = len(self._arrays.scalars)
        if not 0 < n * n_rows <= _MOST_ORDERS_TO_KEEP:
            return np.empty((0, n_rows), dtype=np.int32)
        if self._orders.shape != (n, n_rows):
            self._orders = np.full((n, n_rows), -1, dtype=np.int32)
        return self._orders


@cache
def _axpy(dtype: Any) -> Any:
    """Return BLAS's a x + y, which scikit-learn calls too, and which changes its y."""
    return scipy.linalg.blas.get_blas_funcs("axpy", dtype=dtype)
