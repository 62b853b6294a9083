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
        Whether each answer was right. Who was not asked has it as not right.
    """

    is_right: NDArray[np.bool_]

    @classmethod
    def of_nothing(cls, n_voters: int) -> "Answers":
        """Return the answers to no rows."""
        return cls(np.zeros((n_voters, 0), dtype=np.bool_))

    def after(self, voters: Voters, is_right: NDArray[np.bool_]) -> "Answers":
        """Return the answers when ``voters`` have given more."""
        more = np.zeros((len(self.is_right), is_right.shape[1]), dtype=np.bool_)
        more[voters] = is_right
        return Answers(np.hstack([self.is_right, more])[:, -_MOST_ROWS:])
