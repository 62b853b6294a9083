"""The native core: inner loops in C++, entered through one door that checks every array.

``linear/`` has the loops of linear voters, ``trees/`` those of trees, and ``door/`` the checks.
Python code imports compiled functions from here.
"""

import os
from typing import Any, NamedTuple

import numpy as np

try:
    from skliquid.native import _core
except ImportError as error:
    raise ImportError(
        "skliquid's native core must be built before it is imported, and was not found: "
        f"{error}. Install skliquid from its sources: pip install . in a clone."
    ) from error

SOURCES = _core.SOURCES
Trees = _core.Trees
add_up_trees = _core.add_up_trees
cosines = _core.cosines
count_steps = _core.count_steps
draw_seeds = _core.draw_seeds
explain_trees = _core.explain_trees
explain_waves = _core.explain_waves
find_bins = _core.find_bins
grow_forest = _core.grow_forest
grow_sequences = _core.grow_sequences
instruction_sets = _core.instruction_sets
instructions = _core.instructions
vote_by_scores = _core.vote_by_scores
row_norms = _core.row_norms
to_probabilities = _core.to_probabilities
train = _core.train
use_instructions = _core.use_instructions
vote = _core.vote

LOSSES = ("hinge", "perceptron", "squared_hinge", "modified_huber", "log_loss")
LEARNING_RATES = ("constant", "optimal", "invscaling")

SEPARATOR = np.dtype(
    [
        ("alpha", np.float64),
        ("eta0", np.float64),
        ("seed", np.int64),
        ("problem", np.int64),
        ("weights", np.int64),
        ("first_row", np.int64),
        ("steps", np.float64),
        ("n_iter", np.int64),
        ("verdict", np.int64),
        ("intercept", np.float64),
        ("average_intercept", np.float64),
        ("shows_average", np.int64),
        ("average_a", np.float64),
        ("average_b", np.float64),
        ("scale", np.float64),
        ("new_intercept", np.float64),
    ]
)
"""A binary linear classifier without its coefficients: ``Separator`` in ``linear/kernels.hpp``."""

MOST_DRAWS = 624 - 397
"""Largest number of draws per seed: later ones depend on earlier output of a Mersenne twister."""

SPLITTERS = ("random", "best", "mixed")

MOST_EDGES = 62
"""Largest number of edges between the bins of a column."""

MOST_DENSE_CLASSES = 256
"""With more classes, a leaf of a forest stores pairs: a class and its value."""

MISSING_BIN = 63
"""The bin of missing values."""

NODE = np.dtype([("cut", np.uint64), ("feature", np.uint32), ("next", np.uint32)])
"""A node of a tree: ``Node`` in ``trees/trees.hpp``."""

FOREST_TASK = np.dtype(
    [
        ("seed", np.uint64),
        ("n_drawn", np.int64),
        ("n_tried", np.int64),
        ("min_leaf", np.int64),
        ("splitter", np.int64),
        ("weights", np.int64),
    ]
)
"""Parameters of a tree in a forest: ``ForestTask`` in ``trees/trees.hpp``."""

BOOSTING_TASK = np.dtype(
    [
        ("seed", np.uint64),
        ("n_trees", np.int64),
        ("n_window", np.int64),
        ("n_drawn", np.int64),
        ("n_columns", np.int64),
        ("depth", np.int64),
        ("rate", np.float64),
        ("penalty", np.float64),
        ("min_hessian", np.float64),
        ("weights", np.int64),
        ("scores", np.int64),
    ]
)
"""Parameters of a sequence of boosted trees: ``BoostingTask`` in ``trees/trees.hpp``."""


class Settings(NamedTuple):
    """Hyperparameters that the separators of a call share: see ``linear/kernels.hpp``."""

    loss: int
    learning_rate: int
    power_t: float
    penalized: bool
    penalty_counts: bool
    intercept_step: float
    shuffles: bool
    average_from: int
    max_iter: int
    tol: float
    n_iter_no_change: int


class SparseRows(NamedTuple):
    """Rows of a CSR matrix, in the form that the core accepts."""

    data: Any
    indices: Any
    indptr: Any
    n_columns: int


if "SKLIQUID_INSTRUCTIONS" in os.environ:  # for benchmarks, or to rule out faults of a processor
    use_instructions(os.environ["SKLIQUID_INSTRUCTIONS"])
