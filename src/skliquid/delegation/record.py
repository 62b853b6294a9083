"""TrainingRecord: each increment of a training, and its cost."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skliquid.delegation.arrays import Floats, RowNumbers, Voters
from skliquid.delegation.graph import DelegationGraph
from skliquid.delegation.storable import Array, Count, Positive, require, smallest, storable
from skliquid.delegation.votes import gini, largest_share, minimum_majority
from skliquid.validation.checks import missing_extra

if TYPE_CHECKING:
    import pandas as pd

    from skliquid.plotting.replay import Replay

INCREMENTS_KEPT = 1000
"""How many increments of a stream are kept, so that the record of an endless stream stays small."""


@dataclass(frozen=True)
class VoterDescription:
    """The properties by which a voter differs from the others.

    Attributes
    ----------
    estimator : str
        The name of its estimator in a list of estimators, such as ``"forest"``, else its class.
    feature_map : str
        The feature map through which it sees the rows; empty without one.
    hyperparameters : dict
        The hyperparameters that it has drawn.
    """

    estimator: str
    feature_map: str = ""
    hyperparameters: Mapping[str, Any] = field(default_factory=dict)


class TrainingCost(NamedTuple):
    r"""Work done, in sample visits: how often any voter has looked at any row.

    .. math:: TC = \text{Delegation Cost} + \sum_{v_i \in V^\text{final}} m e_i

    for :math:`m` rows and :math:`e_i` passes of voter i over them.
    """

    increments: int
    final_fit: int

    @property
    def total(self) -> int:
        """Both parts together, the paper's TC."""
        return self.increments + self.final_fit


@dataclass(frozen=True, eq=False)
class IncrementRecord:
    """The data of one increment.

    A new recorded number is one more field, of type int or float, and one value in
    :func:`~skliquid.training.train`; the table of increments has a column for it. Fields of type
    ``Floats`` hold one number for each of ``voters``, and are columns of the table of voters.

    Attributes
    ----------
    increment : int
        Its number t, counted from 1.
    rows : range or array of int
        The rows trained on: positions in the X given to ``fit``, or in the rows that all calls of
        ``partial_fit`` have given.
    voters : array of int
        The representatives before this increment's delegations.
    accuracy : array of float
        Their accuracy on this increment; NaN where none was measured.
    competence : array of float
        Their competence averaged over the increments so far, by which delegation was decided.
    before, graph : DelegationGraph
        All delegations before and after this increment.
    n_trained : int
        How many voters trained on it: the representatives before delegations if competence is
        measured after training, else those that are left; none where a final fit comes next.
    cost : int
        Sample visits spent on this increment.
    eval_accuracy : float
        Accuracy of the ensemble on the evaluation set; NaN without one.
    log_loss : float
        Log-loss on held-out rows where voters grow: of the voter that tries alone, then of the
        group. NaN elsewhere.
    """

    increment: int
    rows: RowNumbers
    voters: Voters
    accuracy: Floats
    competence: Floats
    before: DelegationGraph
    graph: DelegationGraph
    n_trained: int
    cost: int
    eval_accuracy: float
    log_loss: float = np.nan

    @property
    def delegators(self) -> Voters:
        """The voters that delegated now."""
        return np.flatnonzero(self._has_changed & (self.graph.weights == 0))

    @property
    def delegates(self) -> Voters:
        """The voters that each of ``delegators`` delegated to."""
        return self.graph.delegation[self.delegators]

    @property
    def returned(self) -> Voters:
        """The voters that took their vote back now, and are representatives again."""
        return np.flatnonzero(self._has_changed & (self.graph.weights > 0))

    @property
    def _has_changed(self) -> NDArray[np.bool_]:
        return np.not_equal(self.before.delegation, self.graph.delegation)

    @property
    def n_rows(self) -> int:
        """Number of rows trained on."""
        return len(self.rows)

    @property
    def n_representatives(self) -> int:
        """Number of representatives left after this increment."""
        return len(self.graph.representatives)

    @property
    def weights(self) -> Voters:
        """Weights of the representatives left, in the order of ``graph.representatives``."""
        return self.graph.weights[self.graph.representatives]

    @property
    def minimum_majority(self) -> int:
        """The fewest representatives that hold more than half of the weight."""
        return minimum_majority(self.weights)

    @property
    def largest_share(self) -> float:
        """The share of the weight that the heaviest representative holds."""
        return largest_share(self.weights)

    @property
    def gini(self) -> float:
        """The Gini coefficient of the representatives' weights."""
        return gini(self.weights)


_NOT_NUMBERS = {"rows", "voters", "before", "graph"}  # among the fields of an increment
_PerIncrement = Annotated[NDArray[np.integer[Any]], Array("increments")]


@dataclass(frozen=True, eq=False)
class StoredRecord:
    """The increments of a record as arrays over all of them, and its totals."""

    n_final: Positive
    n_increments: Count
    increments_cost: Count
    final_fit_cost: Count
    stopped: str | None
    max_increments: Positive | None
    delegation: Annotated[NDArray[np.integer[Any]], Array("graphs", "voters of a graph")]
    n_rows: _PerIncrement
    first_row: Annotated[NDArray[np.int64], Array("increments", low=-1)]  # -1 where rows are listed
    rows: Annotated[NDArray[np.integer[Any]], Array("listed rows")]
    integers: dict[str, Annotated[NDArray[np.integer[Any]], Array("increments", low=-(2**62))]]
    floats: dict[str, Annotated[Floats, Array("increments", may_be_nan=True)]]
    of_voters: dict[str, Annotated[Floats, Array("all voters", may_be_nan=True)]]
    competence_measure: str = ""
    final_eval_accuracy: float = np.nan


@storable
@dataclass(eq=False)
class TrainingRecord:
    """The increments of a training, in order, and what it cost.

    Attributes
    ----------
    n_final : int
        The number of representatives at which delegation ends.
    increments : list of IncrementRecord
        The last increments, at most ``max_increments``; all without a limit.
    n_increments : int
        Number of increments, including those that are no longer kept.
    increments_cost, final_fit_cost : int
        Sample visits of all increments, and of the final fit and of refits.
    stopped : str or None
        The work that a budget, or Ctrl-C, cut short; None if nothing.
    voters : tuple of VoterDescription
        The properties of each voter; empty if nothing is known.
    competence_measure : str
        How competence was measured: ``"contribution"``, ``"prequential"`` or ``"training"``; empty
        before the first increment.
    final_eval_accuracy : float
        Accuracy of the ensemble on the evaluation set after the final fit; NaN without one of them,
        and when training has continued since.
    """

    n_final: int
    increments: list[IncrementRecord] = field(default_factory=list)
    n_increments: int = 0
    increments_cost: int = 0
    final_fit_cost: int = 0
    stopped: str | None = None
    max_increments: int | None = None
    voters: tuple[VoterDescription, ...] = ()
    competence_measure: str = ""
    final_eval_accuracy: float = np.nan

    stored_as = StoredRecord

    def append(self, record: IncrementRecord) -> None:
        """Add an increment, and drop the oldest beyond ``max_increments``."""
        self.increments.append(record)
        self.n_increments += 1
        self.increments_cost += record.cost
        self.final_eval_accuracy = np.nan
        if self.max_increments is not None:
            del self.increments[: -self.max_increments]

    def note_stop(self, note: str) -> None:
        """Add a note on work that was cut short to ``stopped``."""
        self.stopped = f"{self.stopped}; {note}" if self.stopped else note

    def __len__(self) -> int:
        return len(self.increments)

    def __iter__(self) -> Iterator[IncrementRecord]:
        return iter(self.increments)

    def __getitem__(self, position: int) -> IncrementRecord:
        return self.increments[position]

    def __repr__(self) -> str:
        if not self.increments:
            return "TrainingRecord(no increments)"
        graph = self.increments[-1].graph
        return (
            f"TrainingRecord({self.n_increments} increments, {graph.n_voters} voters -> "
            f"{len(graph.representatives)} representatives, "
            f"cost {self.cost.increments} + {self.cost.final_fit})"
        )

    def _repr_html_(self) -> str:
        from skliquid.plotting.notebook_pictures import record_html

        return record_html(self)

    def summary(self) -> str:
        """Return the outcome of the training in one sentence."""
        if not self.increments:
            return "No increments yet."
        graph = self.increments[-1].graph
        weights = Counter[str]()
        for voter in graph.representatives.tolist():
            name = self.voters[voter].estimator if self.voters else ""
            weights[name] += int(graph.weights[voter])
        votes = ", ".join(f"{name} {weight}" for name, weight in weights.most_common())
        has_several = len({voter.estimator for voter in self.voters}) > 1
        by_estimator = f" (votes by estimator: {votes})" if has_several else ""
        return (
            f"Of {graph.n_voters} voters {len(graph.representatives)} are left as representatives "
            f"after {self.n_increments} increments{by_estimator}, for {self.cost.total:,} sample "
            "visits."
        )

    def replay(self, title: str | None = None) -> "Replay":
        """Return a page that replays the training; notebooks show it, ``save`` writes it.

        Parameters
        ----------
        title : str, default=None
            The title of the page.

        Returns
        -------
        replay : Replay
            The page; see :func:`skliquid.replay`.
        """
        from skliquid.plotting.replay import Replay

        return Replay.of(self, title=title)

    @property
    def cost(self) -> TrainingCost:
        """Sample visits of the increments and of the final fit."""
        return TrainingCost(self.increments_cost, self.final_fit_cost)

    @property
    def reached_n_final(self) -> bool:
        """Whether no more than ``n_final`` representatives are left."""
        return bool(self.increments) and self.increments[-1].n_representatives <= self.n_final

    def to_stored(self) -> StoredRecord:
        """Return the increments as arrays, without the descriptions of the voters."""
        others = {one.name for one in fields(IncrementRecord)} - set(_names(int, float, Floats))
        if unknown := others - _NOT_NUMBERS:
            raise TypeError(f"the type of {min(unknown)} must be int, float or Floats")
        graphs = [self[0].before, *(one.graph for one in self)] if self else []
        listed = [one.rows for one in self if not isinstance(one.rows, range)]
        first = [one.rows.start if isinstance(one.rows, range) else -1 for one in self]

        def columns(*types: Any) -> dict[str, list[Any]]:
            return {name: [getattr(one, name) for one in self] for name in _names(*types)}

        return StoredRecord(
            **{name: getattr(self, name) for name in _totals()},
            delegation=smallest([graph.delegation for graph in graphs] or np.empty((0, 0))),
            n_rows=smallest([one.n_rows for one in self]),
            first_row=np.array(first, dtype=np.int64),
            rows=smallest(np.concatenate([*listed, np.empty(0, dtype=np.int64)])),
            integers={name: smallest(own) for name, own in columns(int).items()},
            floats={name: np.array(own, dtype=float) for name, own in columns(float).items()},
            of_voters={k: np.concatenate([*v, np.empty(0)]) for k, v in columns(Floats).items()},
        )

    @classmethod
    def from_stored(cls, stored: StoredRecord) -> "TrainingRecord":
        """Return the record; numbers that the file does not have take their defaults."""
        record = cls(**{name: getattr(stored, name) for name in _totals()})
        graphs = [DelegationGraph(own) for own in stored.delegation]
        require(len(graphs) == len(stored.n_rows) + bool(graphs), "a graph for each increment")
        is_range = stored.first_row >= 0
        listed = _split(stored.rows, np.where(is_range, 0, stored.n_rows))
        n_voters = [len(graph.representatives) for graph in graphs[:-1]]
        of_voters = {k: _split(own, np.array(n_voters)) for k, own in stored.of_voters.items()}
        for k, (start, n_rows) in enumerate(zip(stored.first_row, stored.n_rows, strict=True)):
            values: dict[str, Any] = {
                name: own[k].item() for name, own in (stored.integers | stored.floats).items()
            }
            values |= {name: own[k] for name, own in of_voters.items()}
            rows = range(int(start), int(start) + int(n_rows)) if is_range[k] else listed[k]
            values |= {"before": graphs[k], "graph": graphs[k + 1]}
            record.increments.append(
                IncrementRecord(rows=rows, voters=graphs[k].representatives, **values)
            )
        numbers = [one.increment for one in record]
        last = range(record.n_increments - len(record) + 1, record.n_increments + 1)
        require(numbers == list(last), "increments that follow each other")
        return record

    def to_pandas(self) -> "pd.DataFrame":
        """Return a table with one row per increment.

        ``accuracy_of_voters`` is the mean over the representatives before it, on this increment.
        """
        return _data_frame([increment_row(record) for record in self.increments])

    def voters_to_pandas(self) -> "pd.DataFrame":
        """Return a table with one row per increment and voter that trained at it.

        ``delegate`` is the voter it delegated to at that increment, itself if it did not;
        ``weight`` is what it carried afterwards.
        """
        parts = [_voter_columns(record) for record in self.increments]
        names = parts[0] if parts else ()
        return _data_frame({name: np.concatenate([part[name] for part in parts]) for name in names})


def increment_row(record: IncrementRecord) -> dict[str, float]:
    """Return the row of an increment in ``to_pandas``."""
    return {
        "increment": record.increment,
        "n_rows": record.n_rows,
        "n_trained": record.n_trained,
        "accuracy_of_voters": float(np.mean(record.accuracy)),
        "accuracy_of_the_best": float(np.max(record.accuracy)),
        "n_delegated": len(record.delegators),
        "n_returned": len(record.returned),
        "n_representatives": record.n_representatives,
        "minimum_majority": record.minimum_majority,
        "largest_share": record.largest_share,
        "gini": record.gini,
        **{name: getattr(record, name) for name in _names(int, float)},
    }


def _voter_columns(record: IncrementRecord) -> dict[str, NDArray[Any]]:
    return {
        "increment": np.full(len(record.voters), record.increment),
        "voter": record.voters,
        **{name: getattr(record, name) for name in _names(Floats)},
        "delegate": record.graph.delegation[record.voters],
        "weight": record.graph.weights[record.voters],
    }


def _names(*types: Any) -> list[str]:
    """Return the names of the recorded values of these types."""
    return [value.name for value in fields(IncrementRecord) if value.type in types]


def _totals() -> set[str]:
    """Return the numbers of a record that are stored as they are."""
    return {one.name for one in fields(StoredRecord)} & {one.name for one in fields(TrainingRecord)}


def _split(values: NDArray[Any], lengths: NDArray[Any]) -> list[NDArray[Any]]:
    """Return consecutive parts of an array."""
    ends = np.cumsum(lengths, dtype=np.int64)
    require(len(values) == (ends[-1] if len(ends) else 0), "as many values as increments need")
    return np.split(values, ends[:-1]) if len(ends) else []


def _data_frame(content: Any) -> "pd.DataFrame":
    try:
        import pandas as pd
    except ImportError as error:
        raise missing_extra("A table of the record", "pandas", "pandas") from error
    return pd.DataFrame(content)
