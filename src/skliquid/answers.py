"""Answers: which of the last rows each voter got right."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skliquid.arrays import Voters

_MOST_ROWS = 1000


@dataclass(frozen=True, eq=False)
class Answers:
    """What voters said of the last thousand rows: enough to compare their errors.

    Parameters
    ----------
    is_right : array of bool, one row a voter
        Whether each answer was right; False where there is none.
    was_asked : array of bool, one row a voter
        Whether there is an answer.
    """

    is_right: NDArray[np.bool_]
    was_asked: NDArray[np.bool_]

    @classmethod
    def of_nothing(cls, n_voters: int) -> "Answers":
        """Return the answers to no rows."""
        nothing = np.zeros((n_voters, 0), dtype=np.bool_)
        return cls(nothing, nothing)

    def after(self, voters: Voters, is_right: NDArray[np.bool_]) -> "Answers":
        """Return the answers when ``voters`` have given more."""
        more = np.zeros((2, len(self.is_right), is_right.shape[1]), dtype=np.bool_)
        more[0, voters], more[1, voters] = is_right, True
        return Answers(_last(self.is_right, more[0]), _last(self.was_asked, more[1]))


def _last(before: NDArray[np.bool_], more: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return np.hstack([before, more])[:, -_MOST_ROWS:]
