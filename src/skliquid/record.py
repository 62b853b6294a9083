"""What happened in training, increment by increment, and what it cost."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from skliquid.arrays import Floats, RowNumbers, Voters
from skliquid.delegation_graph import DelegationGraph
from skliquid.voting import gini, largest_share, minimum_majority

if TYPE_CHECKING:
    import pandas as pd


INCREMENTS_KEPT = 1000
"""How many increments of a stream are kept, so that a training without end stays small."""


class TrainingCost(NamedTuple):
    """Work done, in sample visits: how often any voter has looked at any row."""

    increments: int
    final_fit: int

    @property
    def total(self) -> int:
        """Both parts together: the paper's TC."""
        return self.increments + self.final_fit


@dataclass(frozen=True, eq=False)
class IncrementRecord:
    """What happened at one increment.

    Attributes
    ----------
    increment : int
        Its number t, counted from 1.
    rows : range or array of int
        The rows trained on: positions in the X given to ``fit``, or in the rows that all calls of
        ``partial_fit`` have given.
    voters : array of int
        Who trained: the representatives before anyone delegated.
    accuracy : array of float
        Their accuracy on this increment; not a number where none was measured.
    mean_accuracy : array of float
        Their accuracy averaged over the increments so far: what delegation was decided by.
    delegators, delegates : array of int
        Who delegated now, and to whom.
    returned : array of int
        Who took its vote back now, and represents again.
    graph : DelegationGraph
        All delegations after this increment.
    cost : int
        Sample visits spent on this increment.
    eval_accuracy : float
        Accuracy of the ensemble on the evaluation set; not a number without one.
    """

    increment: int
    rows: RowNumbers
    voters: Voters
    accuracy: Floats
    mean_accuracy: Floats
    delegators: Voters
    delegates: Voters
    returned: Voters
    graph: DelegationGraph
    cost: int
    eval_accuracy: float

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


@dataclass(eq=False)
class TrainingRecord:
    """The increments of a training, in order, and the cost of the final fit.

    Attributes
    ----------
    n_final : int
        The number of representatives at which delegation ends.
    increments : list of IncrementRecord
        The increments that are kept, in order.
    n_increments : int
        How many increments there were, kept or not.
    increments_cost, final_fit_cost : int
        Sample visits of all increments and of the final fit.
    stopped : str or None
        What a budget cut short; None when nothing was.
    most : int or None
        How many increments are kept, the last; None means all.
    """

    n_final: int
    increments: list[IncrementRecord] = field(default_factory=list)
    n_increments: int = 0
    increments_cost: int = 0
    final_fit_cost: int = 0
    stopped: str | None = None
    most: int | None = None

    def append(self, record: IncrementRecord) -> None:
        """Write down one more increment, and forget the oldest when there are too many."""
        self.increments.append(record)
        self.n_increments += 1
        self.increments_cost += record.cost
        if self.most is not None:
            del self.increments[: -self.most]

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

    @property
    def cost(self) -> TrainingCost:
        """Sample visits of the increments and of the final fit."""
        return TrainingCost(self.increments_cost, self.final_fit_cost)

    @property
    def reached_n_final(self) -> bool:
        """Whether no more than ``n_final`` representatives are left."""
        return bool(self.increments) and self.increments[-1].n_representatives <= self.n_final

    def to_pandas(self) -> "pd.DataFrame":
        """Return a table with one row an increment.

        ``accuracy_of_voters`` is the mean over those who trained, on this increment.
        """
        return _data_frame(
            {
                "increment": record.increment,
                "n_rows": record.n_rows,
                "n_trained": len(record.voters),
                "accuracy_of_voters": float(np.mean(record.accuracy)),
                "accuracy_of_the_best": float(np.max(record.accuracy)),
                "n_delegated": len(record.delegators),
                "n_returned": len(record.returned),
                "n_representatives": record.n_representatives,
                "minimum_majority": record.minimum_majority,
                "largest_share": record.largest_share,
                "gini": record.gini,
                "cost": record.cost,
                "eval_accuracy": record.eval_accuracy,
            }
            for record in self.increments
        )

    def voters_to_pandas(self) -> "pd.DataFrame":
        """Return a table with one row for each voter that trained at each increment.

        ``delegate`` is the voter it delegated to at that increment, itself if it did not;
        ``weight`` is what it carried afterwards.
        """
        return _data_frame(
            {
                "increment": record.increment,
                "voter": int(voter),
                "accuracy": float(accuracy),
                "mean_accuracy": float(mean),
                "delegate": int(record.graph.delegation[voter]),
                "weight": int(record.graph.weights[voter]),
            }
            for record in self.increments
            for voter, accuracy, mean in zip(
                record.voters, record.accuracy, record.mean_accuracy, strict=True
            )
        )


def _data_frame(rows: Iterable[dict[str, float]]) -> "pd.DataFrame":
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            "A table of the record needs pandas, which is not installed: "
            "pip install 'skliquid[pandas]'."
        ) from error
    return pd.DataFrame(list(rows))
