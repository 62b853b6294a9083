"""Readable twins of compiled code: the same bits, slowly.

The compiled versions are in ``src/skliquid/native``. ``numbers`` is the twin of ``random.hpp``,
``exponential.hpp`` and ``binning.cpp`` in ``trees/``, ``tree`` that of ``prediction.cpp``;
``forest`` and ``boosting`` are those of the files of that name, and ``cosine`` is that of
``linear/kernels.cpp``. The twin of the linear loop is in the package:
``skliquid.pools.linear.reference``. Rows are in bins; bin 63 holds missing values. A split is the
set of bins that go right.
"""

from readable.boosting import grow_sequence
from readable.cosine import cosine
from readable.forest import grow_tree
from readable.numbers import Random, bin_of, draw_rows, exponential, softmax
from readable.tree import leaf_of, sums_of_pairs, sums_of_trees

__all__ = [
    "Random",
    "bin_of",
    "cosine",
    "draw_rows",
    "exponential",
    "grow_sequence",
    "grow_tree",
    "leaf_of",
    "softmax",
    "sums_of_pairs",
    "sums_of_trees",
]
