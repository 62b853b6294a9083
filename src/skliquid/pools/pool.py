"""VoterPool: what training asks of its voters."""

from typing import Any, Protocol, runtime_checkable

from skliquid.arrays import Floats, Labels, Voters, Votes


class VoterPool(Protocol):
    """All voters of an ensemble.

    Every method takes the set of voters it is about, so that one pool may loop over them, another
    make one compiled call, a third send them to other machines. ``y`` and votes are classes as
    positions in the sorted array of classes. ``sample_weight`` has one number a row, or a row of
    them for each of the voters. Work is returned in sample visits.
    """

    n_jobs: int | None

    def train(self, voters: Voters, X: Any, y: Labels, sample_weight: Floats | None = None) -> int:
        """Train ``voters`` on one more increment and return the sample visits it took."""
        ...

    def accuracy(self, voters: Voters, X: Any, y: Labels) -> Floats:
        """Return the share of rows that each of ``voters`` gets right."""
        ...

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
        """Fit ``voters`` in full, anew or from where they are; return the sample visits.

        Nobody goes over the rows more often than ``max_passes``.
        """
        ...

    def vote(self, voters: Voters, X: Any) -> Votes:
        """Return the vote of each of ``voters`` (rows) on each sample (columns)."""
        ...

    def estimators(self, voters: Voters) -> list[Any]:
        """Return ``voters`` as fitted scikit-learn classifiers."""
        ...

    def keep(self, voters: Voters, *, training_is_over: bool) -> None:
        """Forget all other voters; when training is over, copies need not carry its rows."""
        ...


@runtime_checkable
class HoldsVoters(Protocol):
    """A pool with voters that may be fitted anew at each increment, and how often is its say."""

    def hold(self, max_passes: int | None) -> None:
        """Let nobody who is fitted anew on an increment take more passes; None means any."""
        ...


def hold(pool: VoterPool, max_passes: int | None) -> None:
    """Hold voters to ``max_passes`` on increments, where they may take more than one."""
    if isinstance(pool, HoldsVoters):
        pool.hold(max_passes)
