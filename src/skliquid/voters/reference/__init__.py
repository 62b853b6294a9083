"""The trees of the native core, readable: the same bits, slowly.

The compiled versions are in ``native/trees``: ``numbers`` has those of ``random.hpp``,
``exponential.hpp`` and ``binning.cpp``, ``tree`` that of ``prediction.cpp``, and ``forest`` and
``boosting`` those of the files of the same name. Rows hold bins; bin 63 is for missing values. A
split is the set of bins that go right.
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
