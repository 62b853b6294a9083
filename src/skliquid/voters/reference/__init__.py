"""The trees of the native core, readable: the same bits, slowly.

``numbers`` and ``tree`` are the twins of ``native/random.hpp``, ``native/exponential.hpp`` and
``native/tree_prediction.cpp``; ``forest`` and ``boosting`` those of the files of that name. Rows
are in bins, of which 63 is that of missing values. A split is the set of bins that go right.
"""

from skliquid.voters.reference.boosting import grow_sequence
from skliquid.voters.reference.forest import grow_tree
from skliquid.voters.reference.numbers import Random, bin_of, draw_rows, exponential, softmax
from skliquid.voters.reference.tree import leaf_of, sums_of_pairs, sums_of_trees

__all__ = [
    "Random",
    "bin_of",
    "draw_rows",
    "exponential",
    "grow_sequence",
    "grow_tree",
    "leaf_of",
    "softmax",
    "sums_of_pairs",
    "sums_of_trees",
]
