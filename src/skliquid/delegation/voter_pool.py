"""VoterPool: the interface between training and its voters; VoterState: their learned state."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from skliquid.delegation.arrays import Floats, Voters, Votes
from skliquid.delegation.rows import Rows
from skliquid.delegation.storable import Array, require


@dataclass(frozen=True, eq=False)
class VoterState:
    """The learned state of some voters, as data. Pools declare theirs as subclasses.

    Fields are arrays and lists with one entry per voter, except those in ``shared``.
    """

    voters: Annotated[Voters, Array("voters")]

    shared: ClassVar[tuple[str, ...]] = ()
    is_learned: ClassVar[bool] = True  # whether it is what voters predict with

    @property
    def own(self) -> dict[str, Any]:
        """Fields with one entry per voter, except the voters."""
        names = [one.name for one in fields(self) if one.name not in (*self.shared, "voters")]
        return {name: getattr(self, name) for name in names}

    def renamed(self, names: Voters) -> Self:
        """Return the same state for voters ``names[k]`` in place of k."""
        return replace(self, voters=names[self.voters])

    def at(self, positions: NDArray[np.intp]) -> Self:
        """Return the state of the voters at ``positions``."""
        own = {name: _taken(values, positions) for name, values in self.own.items()}
        return replace(self, voters=self.voters[positions], **own)

    def check_voter(self, position: int, n_columns: int, n_classes: int) -> None:
        """Raise unless the state of a voter fits its columns and the classes."""

    def check_stored(self) -> None:
        """Raise unless there is an entry for each voter."""
        has_all = all(len(values) == len(self.voters) for values in self.own.values())
        require(has_all, "an entry for each voter")


def _taken(values: Any, positions: NDArray[np.intp]) -> Any:
    if isinstance(values, np.ndarray):
        return values[positions]
    return [values[k] for k in positions.tolist()]


def among(parts: Sequence[VoterState], voters: Voters) -> list[VoterState]:
    """Return the state of ``voters``, which are then named by their positions."""
    found = []
    for part in parts:
        is_asked = np.isin(part.voters, voters)
        if is_asked.any():
            own = part.at(np.flatnonzero(is_asked))
            found.append(replace(own, voters=np.searchsorted(voters, own.voters)))
    return found


class VoterPool(ABC):
    """All voters of an ensemble, or some of them.

    Every method takes a set of voters. So one pool can loop over them, another can make one
    compiled call, a third can send them to other machines. Labels and votes are positions in the
    sorted array of classes. Work is returned in sample visits.

    A pool that :mod:`skliquid.pools.choosing` can choose also has a ``name``, and declares the
    voters that it supports (``unsupported_parameter``) and those that can share it
    (``sharing_key``). Its constructor is ``Pool(voters, classes, n_jobs, subspaces, shared)``:
    unfitted classifiers with hyperparameters and seeds; all classes, sorted; the number of threads;
    the features of each voter, one row per voter, or None for all; and a dict that the pools of one
    ensemble share.
    """

    name: ClassVar[str]
    pools: Sequence["VoterPool"] = ()  # the pools inside
    n_jobs: int | None = None
    max_passes: int | None = None
    core: Any = None
    is_fitted = False  # whether voters can predict before they are trained here

    @classmethod
    def unsupported_parameter(cls, estimator: Any) -> str | None:
        """Return the parameter of ``estimator`` that the pool does not support, or None."""
        return None

    @classmethod
    def sharing_key(cls, estimator: Any) -> Any:
        """Return a hashable key; voters with the same key can share one pool."""
        return None

    @classmethod
    def can_share(cls, hyperparameters: Sequence[Mapping[str, Any]]) -> bool:
        """Return whether voters that differ only in ``hyperparameters`` can share a pool."""
        return not hyperparameters

    @abstractmethod
    def train(self, voters: Voters, rows: Rows) -> int:
        """Train ``voters`` on one more increment and return the sample visits."""

    @abstractmethod
    def finish(self, voters: Voters, rows: Rows, max_passes: int | None = None) -> int:
        """Refit ``voters`` from scratch, in at most ``max_passes``; return the sample visits."""

    def can_grow(self, voters: Voters) -> NDArray[np.bool_]:
        """Return which of ``voters`` :meth:`grow` with the data: more trees improve them."""
        return np.zeros(len(voters), dtype=np.bool_)

    def grow(self, voters: Voters, rows: Rows, size: float) -> int:
        """Grow ``voters`` to ``size`` times as many trees as a final fit; return the sample visits.

        The first call starts from scratch. Further calls add trees, also on other rows.
        """
        raise NotImplementedError(type(self).__name__)

    @abstractmethod
    def vote(self, voters: Voters, X: Any) -> Votes:
        """Return the votes of ``voters`` on ``X``: one row per voter, one column per sample."""

    @abstractmethod
    def probabilities(self, voters: Voters, X: Any) -> Floats:
        """Return class probabilities: one row per voter, sample and class.

        They come from ``predict_proba``; without one, from the margin by a logistic function;
        without both, they are one for the predicted class. See :mod:`skliquid.pools.predictions`.
        """

    def margins(self, voters: Voters, X: Any) -> Floats:
        """Return decision functions: one row per voter, sample and class; zero without any."""
        return np.zeros_like(self.probabilities(voters, X))

    def expect(self, rows: Rows) -> None:
        """Prepare for an increment: voters will predict ``rows`` and train on them."""

    @abstractmethod
    def estimators(self, voters: Voters) -> list[Any]:
        """Return ``voters`` as fitted scikit-learn classifiers."""

    def keep(self, voters: Voters, *, training_is_over: bool) -> "VoterPool":
        """Drop all other voters, and return the pool to continue with, which may be another.

        When training is over, copies need not carry its rows.
        """
        return self

    def state_of(self, voters: Voters) -> list[VoterState]:
        """Return the learned state of ``voters``, which are named by their positions."""
        names = sorted({type(estimator).__name__ for estimator in self.estimators(voters)})
        raise NotImplementedError(", ".join(names))

    def load_state(self, parts: Sequence[VoterState]) -> None:
        """Restore the voters in ``parts`` with their learned state, and drop all others."""
        raise NotImplementedError

    def set_n_jobs(self, n_jobs: int | None) -> None:
        """Set the number of threads, on which no result depends."""
        self.n_jobs = n_jobs
        for pool in self.pools:
            pool.set_n_jobs(n_jobs)

    def set_core(self, core: Any) -> None:
        """Let ``core`` grow trees in place of the native core; None undoes it."""
        self.core = core
        for pool in self.pools:
            pool.set_core(core)

    def limit_passes(self, max_passes: int | None) -> None:
        """Limit the passes of voters that are refitted at each increment; None means no limit."""
        self.max_passes = max_passes
        for pool in self.pools:
            pool.limit_passes(max_passes)
