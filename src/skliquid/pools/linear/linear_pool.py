"""LinearPool: linear voters in one array, trained by one compiled call per increment."""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import scipy.sparse
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from skliquid import native
from skliquid.delegation.arrays import Floats, Voters, Votes
from skliquid.delegation.increments import slices
from skliquid.delegation.rows import Rows
from skliquid.delegation.storable import Array, Positive, require, storable
from skliquid.delegation.voter_pool import VoterPool, VoterState
from skliquid.pools.linear import layout, scikit_learn, support
from skliquid.pools.linear.linear_predictions import LinearPredictor, probabilities_from
from skliquid.pools.linear.problem import LinearProblem
from skliquid.pools.linear.seen_columns import SeenColumns
from skliquid.pools.linear.state import Separators, SeparatorState, shuffle_seeds
from skliquid.validation.user_warnings import warn_user

_DOUBTFUL, _OVERFLOWN = 1, 2  # verdicts of the core
_N_LANES = 4
_MAX_ORDERS = 2**20  # numbers in the orders of rows that are kept
_NO_ORDERS = np.empty((0, 0), dtype=np.int32)
_LABELS_AT_ONCE = 2**22  # with many classes, labels are computed for some of them at a time
_WORK_OF_A_THREAD = 2_000_000  # multiplications, at least: about half a millisecond


_PerSeparator = Annotated[Floats, Array("voters", "separators")]


@storable
@dataclass(frozen=True, eq=False)
class LinearState(VoterState):
    """Coefficients of linear voters; those of ``columns``, if only these were seen."""

    coef: Annotated[Floats, Array("voters", "separators", "features")]
    average: Annotated[Floats, Array("voters", "separators", "averaged")]
    intercept: _PerSeparator
    average_intercept: _PerSeparator
    shows_average: Annotated[NDArray[np.int64], Array("voters", "separators", high=1)]
    steps: Annotated[Floats, Array("voters", "separators", low=1)]
    n_iter: Annotated[NDArray[np.int64], Array("voters", "separators")]
    n_features: Positive
    columns: Annotated[NDArray[np.integer[Any]], Array("features")] | None

    shared = ("n_features", "columns")

    def check_voter(self, position: int, n_columns: int, n_classes: int) -> None:
        """Raise unless the coefficients are for these columns and classes."""
        n_separators = 1 if n_classes == 2 else n_classes
        is_valid = self.coef.shape[1] == n_separators and self.n_features == n_columns
        require(is_valid, f"coefficients of {n_columns} columns for {n_separators} separators")

    def check_stored(self) -> None:
        """Raise unless coefficients belong to different columns that exist."""
        super().check_stored()
        n_seen = self.coef.shape[2]
        is_valid = self.average.shape[2] in (0, n_seen)
        require(is_valid, "averages of all coefficients, or of none")
        if self.columns is None:
            require(n_seen == self.n_features, "a coefficient of each feature")
        else:
            is_valid = (
                len(np.unique(self.columns)) == n_seen
                and self.columns.max(initial=0) < self.n_features
            )
            require(is_valid, "columns that exist, none of them twice")


class LinearPool(VoterPool):
    """Voters that are ``SGDClassifier`` or ``Perceptron``, with scikit-learn's own bits.

    They may differ in the hyperparameters of ``support.PER_VOTER`` and share all others. Threads
    are used where they pay. ``stopping_rule`` says when a final fit ends: ``"loss"`` is the rule of
    scikit-learn up to 1.7; ``"objective"`` that of 1.8 and later, where the penalty counts. The
    default is the installed version's.
    """

    name = "linear"
    stopping_rule = support.INSTALLED_RULE
    unsupported_parameter = staticmethod(support.unsupported_parameter)
    sharing_key = staticmethod(support.shared_parameters)
    can_share = staticmethod(support.can_share)
    _problem: LinearProblem  # created with the first rows, as is the state
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
        self._fitted_attributes = {} if shared is None else shared
        self._last_rows: tuple[Any, Any] = None, None
        self._orders = _NO_ORDERS

    # Training

    def train(self, voters: Voters, rows: Rows) -> int:
        state, separators = self._prepare(rows), self._separators_of(voters)
        before = state.select(separators) if self._problem.averages else None
        is_doubtful = self._take_epochs(voters, rows, max_iter=1, tol=-np.inf)
        if before is not None and is_doubtful.any():  # their averages have changed
            own = np.flatnonzero(np.repeat(is_doubtful, self._problem.n_separators))
            state.restore(separators[own], before.select(own))
        for voter, seen in self._rows_by_voter(voters, is_doubtful, rows):
            estimator = self.estimators(voter)[0]
            estimator.partial_fit(seen.X, self._classes[seen.y], **seen.weights_argument)
            self._read(estimator, voter)
        return len(voters) * len(rows.y)

    def finish(self, voters: Voters, rows: Rows, max_passes: int | None = None) -> int:
        state, separators = self._prepare(rows), self._separators_of(voters)
        state.reset(separators)
        problem, own_max_iter = self._problem, self._problem.params["max_iter"]
        max_iter = int(min(own_max_iter, max_passes or np.inf))
        is_doubtful = self._take_epochs(voters, rows, max_iter=max_iter, tol=problem.tol)
        for voter, seen in self._rows_by_voter(voters, is_doubtful, rows):
            if self.stopping_rule == support.INSTALLED_RULE:
                estimator = clone(self._voters[voter[0]])
                scikit_learn.fit(estimator, seen, self._classes, max_iter=max_iter)
                self._read(estimator, voter)
            else:
                own, narrow = self._separators_of(voter), seen._replace(X=self._add_columns(seen.X))
                rule = self.stopping_rule
                scikit_learn.fit_by_reference(problem, state, own, narrow, rule, max_iter=max_iter)
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
        """Train ``voters``; return whether each of them has to be trained by scikit-learn."""
        is_sparse = scipy.sparse.issparse(rows.X)
        settings = self._problem.settings(self.stopping_rule, is_sparse, max_iter, tol)
        n_at_once = len(voters)
        if self._subspaces is not None or rows.has_weights_per_voter:
            n_numbers = len(rows.y) * self._arrays.coef.shape[1]
            n_at_once = max(layout.MAX_COPIED_NUMBERS // n_numbers, _N_LANES)
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
        X, n_rows = self._add_columns(rows.X), len(rows.y)
        work = len(separators) * n_rows * X.shape[1] * min(settings.max_iter, 5)
        n_threads = self._n_threads(work)
        if self._subspaces is not None:
            X = layout.stack_subspaces(X, self._subspaces[voters])
            first_row = np.repeat(np.arange(len(voters)), problem.n_separators) * n_rows
            state.scalars["first_row"][separators] = first_row
        core_rows, norms = self._core_rows(X)
        orders = self._orders_of(n_rows if settings.max_iter == 1 else 0)
        for cut in slices(problem.n_separators, max(_LABELS_AT_ONCE // n_rows, _N_LANES)):
            chosen = separators.reshape(len(voters), -1)[:, cut].ravel()
            labels, importance, taken = problem.arrays(len(voters), rows, cut)
            state.scalars["problem"][chosen] = np.tile(np.arange(len(labels)), len(voters))
            state.scalars["weights"][chosen] = taken
            data = core_rows, labels, importance, norms, orders
            native.train(*state.arrays, chosen, *data, settings, n_threads)
        if not problem.averages:  # round as scikit-learn stores them
            intercept = state.scalars["intercept"]
            intercept[separators] = intercept[separators].astype(problem.intercept_dtype)
        verdict = state.scalars["verdict"][separators].reshape(len(voters), -1)
        if np.any(verdict == _OVERFLOWN):
            raise ValueError(
                "X must not drive coefficients out of range: those of a voter became infinite. "
                "Scale the features, for example with StandardScaler."
            )
        is_doubtful: NDArray[np.bool_] = (verdict == _DOUBTFUL).any(axis=1)
        self._count_steps(separators[~np.repeat(is_doubtful, problem.n_separators)], n_rows)
        return is_doubtful

    def _count_steps(self, separators: Separators, n_rows: int) -> None:
        """Count the steps just taken, and add to the averages the sums that the core left open.

        Once an average is shown, scikit-learn starts later calls from the intercept it had before;
        with several classes it overwrites the averaged one with the new. We do the same.
        """
        problem, state = self._problem, self._arrays
        if problem.averages:
            state.add_to_averages(separators, problem.n_features, self._columns)
        counted = problem.n_separators, n_rows, problem.average_from
        native.count_steps(*state.arrays, separators, *counted)

    def _n_threads(self, work: int) -> int:
        """Return the number of threads that pay for ``work``, in multiplications."""
        n_threads = work // _WORK_OF_A_THREAD
        return 1 if n_threads <= 1 else int(min(n_threads, effective_n_jobs(self.n_jobs)))

    # Prediction

    def vote(self, voters: Voters, X: Any) -> Votes:
        X, (last, kept_rows) = self._select_columns(X), self._last_rows
        return self._predictor(voters).votes(X, kept_rows if last is X else None)

    def margins(self, voters: Voters, X: Any) -> Floats:
        margins = self._predictor(voters).margins(self._select_columns(X))
        return np.concatenate([-margins, margins], axis=2) if margins.shape[2] == 1 else margins

    def probabilities(self, voters: Voters, X: Any) -> Floats:
        margins = self._predictor(voters).margins(self._select_columns(X))
        return probabilities_from(self._problem, margins)

    def _predictor(self, voters: Voters) -> LinearPredictor:
        separators, arrays = self._separators_of(voters), self._arrays.prediction_arrays()
        subspaces = None if self._subspaces is None else self._subspaces[voters]
        return LinearPredictor(self._problem, *arrays, separators, subspaces)

    # State

    @property
    def _arrays(self) -> SeparatorState:
        assert self._state is not None
        return self._state

    def _prepare(self, rows: Rows, columns: SeenColumns | None = None) -> SeparatorState:
        """Return the state, with room for new columns; create it with the first rows.

        ``columns`` are those seen by voters whose state is restored.
        """
        if self._state is None:
            self._state = self._first_state(rows, columns)
        elif self._columns is not None:
            self._add_columns(rows.X)
            self._state = self._state.widen(len(self._columns.numbers))
            self._columns.make_room(self._state.coef.shape[1])
        return self._state

    def _first_state(self, rows: Rows, columns: SeenColumns | None) -> SeparatorState:
        voters, seen = list(self._voters.values()), self._rows_of(0, 0, rows)
        (_, n_features), dtype = seen.X.shape, seen.X.dtype
        if scipy.sparse.issparse(seen.X):  # the core checks indices; scikit-learn does not
            layout.core_rows(seen.X, np.empty((0, n_features), dtype=dtype))
        key = support.shared_parameters(voters[0]), dtype
        if key not in self._fitted_attributes:
            attributes = scikit_learn.fitted_attributes(copy.copy(voters[0]), seen, self._classes)
            self._fitted_attributes[key] = attributes
        attributes = self._fitted_attributes[key] | {"n_features_in_": n_features}
        problem = LinearProblem(support.parameters(voters[0]), self._classes, attributes)
        n, width = problem.n_separators, n_features
        if columns is not None:
            self._columns, width = columns, len(columns.numbers)
        elif self._subspaces is None and SeenColumns.suits(rows.X):
            self._columns = SeenColumns(width)
            width = self._add_columns(rows.X).shape[1]
        n_all, averages = len(voters) * n, problem.averages
        state = SeparatorState.zeros(n_all, width, problem.dtype, averages=averages)
        for name in ("alpha", "eta0"):
            state.scalars[name] = np.repeat([getattr(voter, name) for voter in voters], n)
        seeds = np.array([voter.random_state for voter in voters], dtype=np.int64)
        state.scalars["seed"], state.scalars["steps"] = shuffle_seeds(seeds, n), 1
        self._problem = problem
        return state

    def _add_columns(self, X: Any) -> Any:
        """Return the rows as voters train on them; from now on they know the columns."""
        return X if self._columns is None else self._columns.add_and_select(X)

    def _select_columns(self, X: Any) -> Any:
        """Return the rows with the columns that voters know."""
        return X if self._columns is None else self._columns.select(X)

    def _read(self, estimator: Any, voter: Voters) -> None:
        """Copy the state of a voter that scikit-learn has trained."""
        numbers = slice(None) if self._columns is None else self._columns.numbers
        separators = self._separators_of(voter)
        scikit_learn.read(estimator, self._problem, self._arrays, separators, numbers)

    def estimators(self, voters: Voters) -> list[Any]:
        separators = self._separators_of(voters).reshape(len(voters), -1)
        states = [self._arrays.select(own).with_all_columns(self._columns) for own in separators]
        return [
            scikit_learn.write(clone(self._voters[voter]), self._problem, state)
            for voter, state in zip(voters.tolist(), states, strict=True)
        ]

    def keep(self, voters: Voters, *, training_is_over: bool) -> VoterPool:
        self._last_rows, self._orders = (None, None), _NO_ORDERS
        if self._columns is not None:
            self._columns.forget_rows()
        if self._state is not None and len(voters) < len(self._voters):
            self._state = self._state.select(self._separators_of(voters))
            self._drop_others(voters)
        return self

    def _drop_others(self, voters: Voters) -> None:
        self._voters = {voter: self._voters[voter] for voter in voters.tolist()}
        self._place = np.full(len(self._place), -1)
        self._place[voters] = np.arange(len(voters))

    def state_of(self, voters: Voters) -> list[VoterState]:
        if self._state is None:
            return []
        n_features = self._problem.n_features
        columns = None if self._columns is None else self._columns.numbers
        width = n_features if columns is None else len(columns)
        values = self._state.values(self._separators_of(voters), width)
        shape = len(voters), self._problem.n_separators
        own = {name: array.reshape(*shape, *array.shape[1:]) for name, array in values.items()}
        return [LinearState(np.arange(len(voters)), **own, n_features=n_features, columns=columns)]

    def load_state(self, parts: Sequence[Any]) -> None:
        self._drop_others(np.sort(np.concatenate([part.voters for part in parts])))
        width, columns = parts[0].n_features, _seen_columns(parts)
        if self._subspaces is not None:
            width = int(self._subspaces.max()) + 1
        is_dense = columns is None and self._subspaces is None
        make_row = np.zeros if is_dense else scipy.sparse.csr_array
        row: Any = make_row((1, width), dtype=parts[0].coef.dtype)
        # one row of zeros adds no column
        state = self._prepare(Rows(row, np.zeros(1, dtype=np.intp)), columns)
        for part in parts:
            separators, own = self._separators_of(part.voters), part.columns
            flat = {k: a.reshape(len(separators), *a.shape[2:]) for k, a in part.own.items()}
            n_own = part.coef.shape[2]
            places = np.arange(n_own) if columns is None else columns.places_of(own)
            state.set_values(separators, flat, places)

    def __deepcopy__(self, memo: dict[int, Any]) -> "LinearPool":
        twin = copy.copy(self)  # all but these is replaced, never changed
        state, columns = copy.deepcopy((self._state, self._columns), memo)
        attributes = dict(self._fitted_attributes)
        vars(twin).update(_state=state, _columns=columns, _fitted_attributes=attributes)
        return twin

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_last_rows": (None, None), "_orders": _NO_ORDERS}

    def _separators_of(self, voters: Voters) -> Separators:
        places, n = self._place[voters], self._problem.n_separators
        if len(places) and places.min() < 0:
            raise KeyError(voters[places < 0][0])
        return places if n == 1 else (places[:, None] * n + np.arange(n)).ravel()

    def _rows_by_voter(
        self, voters: Voters, chosen: NDArray[np.bool_], rows: Rows
    ) -> Iterator[tuple[Voters, Rows]]:
        """Yield each voter that is ``chosen``, as an array, with its features and weights."""
        for k in np.flatnonzero(chosen).tolist():
            yield voters[k : k + 1], self._rows_of(voters[k], k, rows)

    def _rows_of(self, voter: int, position: int, rows: Rows) -> Rows:
        X = rows.X if self._subspaces is None else rows.X[:, self._subspaces[voter]]
        return rows.for_voter(position)._replace(X=X)

    def _core_rows(self, X: Any) -> tuple[Any, Floats]:
        """Return the rows as the core takes them; kept, since voters train and vote on them."""
        if self._last_rows[0] is not X:
            self._last_rows = X, layout.core_rows(X, self._arrays.coef)
        return self._last_rows[1]  # type: ignore[no-any-return]  # it is kept beside its X, as Any

    def _orders_of(self, n_rows: int) -> NDArray[np.int32]:
        """Return the order of rows of each separator: -1 until it is known, empty if too large."""
        n = len(self._arrays.scalars)
        if not 0 < n * n_rows <= _MAX_ORDERS:
            return np.empty((0, n_rows), dtype=np.int32)
        if self._orders.shape != (n, n_rows):
            self._orders = np.full((n, n_rows), -1, dtype=np.int32)
        return self._orders


def _seen_columns(parts: Sequence[LinearState]) -> SeenColumns | None:
    """Return the columns that any of the parts has seen; those of shards may differ."""
    seen = [part.columns for part in parts if part.columns is not None]
    if len(seen) < len(parts):
        return None
    numbers, first = np.unique(np.concatenate(seen), return_index=True)
    return SeenColumns(parts[0].n_features, numbers[np.argsort(first)])
