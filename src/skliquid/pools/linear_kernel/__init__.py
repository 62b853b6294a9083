"""The inner loop of linear voters, compiled. The only importer of numba.

One *machine* is one linear separator: a voter has one, or one for each class when there are more
than two. ``linear_reference`` is the same loop, readable. Its steps are those of scikit-learn's
``SGDClassifier``, and so are its bits, by these rules:

- sums that weights depend on are taken in order; additions to weights are element by element;
- hinge and perceptron steps depend on a prediction only through a threshold, so a sum in any order
  will do unless it comes near, in which case it is taken again in order;
- the stopping rule depends on the objective only through a comparison, so sums in any order, and
  the logarithm of a product for a sum of logarithms, will do unless it comes near, in which case
  the verdict is ``DOUBTFUL`` and the caller asks scikit-learn.
"""

from skliquid.pools.linear_kernel.cosines import turn_into_cosines
from skliquid.pools.linear_kernel.rows import SHORTEST, SparseRows
from skliquid.pools.linear_kernel.steps import (
    CONSTANT,
    HINGE,
    INVSCALING,
    LOG_LOSS,
    MODIFIED_HUBER,
    OPTIMAL,
    PERCEPTRON,
    SQUARED_HINGE,
    Settings,
)
from skliquid.pools.linear_kernel.training import (
    DOUBTFUL,
    MACHINE,
    OVERFLOWN,
    SETTLED,
    Machines,
    count_steps,
    legacy_draws,
    n_side_by_side,
    shuffle,
    take_epochs,
)
from skliquid.pools.linear_kernel.voting import fill_votes, judge

__all__ = [
    "CONSTANT",
    "DOUBTFUL",
    "HINGE",
    "INVSCALING",
    "LOG_LOSS",
    "MACHINE",
    "MODIFIED_HUBER",
    "OPTIMAL",
    "OVERFLOWN",
    "PERCEPTRON",
    "SETTLED",
    "SHORTEST",
    "SQUARED_HINGE",
    "Machines",
    "Settings",
    "SparseRows",
    "count_steps",
    "fill_votes",
    "judge",
    "legacy_draws",
    "n_side_by_side",
    "shuffle",
    "take_epochs",
    "turn_into_cosines",
]
