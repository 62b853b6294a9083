"""Presets: every default of the ensemble in one file, and why it is so.

The constructor of :class:`~skliquid.LiquidEnsembleClassifier` says how many voters start and remain
(24 and 5). This module has the values that ``"auto"`` and None stand for:

- ``estimator=None``: :data:`ESTIMATORS`, 8 linear voters, 8 small forests and 8 sequences of
  boosted trees (decisions 25 and 27);
- only linear voters for sparse rows with more than 5,000 columns, and only forests for more than
  1,000 classes (decision 29);
- hyperparameters that voters draw: :func:`default_hyperparameters` (decisions 13 and 26);
- feature maps of linear voters: :data:`FOURIER_MAPS` (decisions 12 and 16);
- increments of ``fit`` with trees: three rounds of at most 2,000, 2,000 and 4,000 rows (decisions
  26 and 27); without trees: 50 of equal size, of 25 rows or more (decision 13);
- at most 1,020,000 rows: :func:`max_rows` (decision 39);
- growth from 10,000 rows on: :data:`GROWTH_SIZES`, :func:`split_for_growth` (decision 36);
- ``n_final="auto"``: 4 to 40 representatives (decision 25);
- ``delegation_rate="auto"``: just fast enough to reach ``n_final`` in ``fit``, 0.05 in
  ``partial_fit`` (decision 4).

Each decision is a page ``docs/decisions/NNNN-*.md`` with its measurements. Two whole presets,
:func:`as_in_the_paper` and :func:`for_streams`, replace the defaults of the constructor.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline

from skliquid.delegation.arrays import Voters
from skliquid.delegation.increments import doubling_slices, equal_slices, slices
from skliquid.diversity import (
    DefaultsWithout,
    Diversity,
    FourierFeatures,
    FourierMap,
    LogUniform,
    Spread,
    is_auto,
)
from skliquid.diversity.standardizer import Standardizer
from skliquid.mechanisms import Rounded, as_mechanism, revocable
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier

# Voters

ESTIMATORS: list[tuple[str, Any]] = [
    (
        "linear",
        SGDClassifier(
            loss="log_loss",
            learning_rate="invscaling",
            eta0=1.0,
            power_t=0.25,
            average=True,
            n_iter_no_change=1,
        ),
    ),
    ("forest", RandomizedForestClassifier()),
    ("boosted", BoostedTreesClassifier()),
]
"""The default voters. Averaged coefficients need no long convergence."""

ESTIMATOR_NAMES = tuple(name for name, _ in ESTIMATORS)

MAX_SPARSE_COLUMNS = 5_000
"""Only linear voters see sparse rows with more columns, such as texts."""

MAX_CLASSES = 1_000
"""Only forests are used with more classes: other voters take time for each class of each row."""


def is_wide(X: Any) -> bool:
    """Return whether rows are sparse with more than ``MAX_SPARSE_COLUMNS`` columns."""
    n_columns: int = X.shape[1]
    return scipy.sparse.issparse(X) and n_columns > MAX_SPARSE_COLUMNS


def estimators_for(X: Any, n_classes: int) -> list[tuple[str, Any]]:
    """Return the default voters that suit the rows and the number of classes."""
    if is_wide(X):
        return ESTIMATORS[:1]
    return ESTIMATORS[1:2] if n_classes > MAX_CLASSES else ESTIMATORS


# Diversity: hyperparameters and feature maps

SIGNED_LOG = FourierMap(None)

FOURIER_MAPS = (SIGNED_LOG, FourierMap(0.2), FourierMap(1.0))
"""``feature_maps="fourier"``: standardized signed logarithms, and Fourier features of these."""

FEATURE_MAPS = {"linear": "fourier"}
"""The default feature maps, by the names of the default voters."""

MANY_ROWS, MANY_COLUMNS = 20_000, 500
"""Beyond 20,000 rows boosted trees are deeper. Beyond 500 columns forests try a fixed number."""

MAX_TREE_FACTOR = 4.0
"""The number of trees grows with the root of the number of classes, up to this factor."""

MAX_STEPS, FEW_PASSES = 1_000_000, 10
"""In the final fit, linear voters take at most a million steps, but at least one pass over the
rows. The limit applies where ten passes would exceed it."""

STREAM_ROWS = 20_000
"""In ``partial_fit``, trees are grown on the last 20,000 rows."""

ALL_ROWS, MAX_ROWS = 50_000, 200_000
"""Up to 50,000 rows, trees use all of them. Beyond that, each tree of a forest samples 50,000, and
each boosted sequence 50,000 and an eighth of the others, up to 200,000."""


def default_hyperparameters(
    n_rows: int | None = None,
    n_columns: int = 1,
    n_classes: int = 2,
    names: Sequence[str] = ESTIMATOR_NAMES,
) -> dict[str, Any]:
    """Return the distributions from which the default voters called ``names`` draw.

    They depend on the numbers of rows (None if unknown), columns and classes.
    """
    tree_factor = min(math.sqrt(max(n_classes, 2) / 2), MAX_TREE_FACTOR)
    is_large = n_rows is not None and n_rows > MANY_ROWS
    is_wide = n_columns > MANY_COLUMNS
    drawn = _work_limits(n_rows) | {
        "linear__alpha": LogUniform(1e-6, 1e-3),
        "linear__eta0": LogUniform(0.05, 20),
        "forest__max_features": Spread(("sqrt", 125, 200) if is_wide else ("sqrt", 0.25, 0.4)),
        "forest__min_samples_leaf": Spread((1, 2, 3)),
        "forest__splitter": Spread(("random", "best", "mixed")),
        "forest__n_estimators": Spread((round(8 * tree_factor),)),
        "boosted__n_estimators": Spread((round((80 if is_large else 60) * tree_factor),)),
        "boosted__max_depth": Spread((5, 6, 7) if is_large else (3, 4, 5, 6)),
        "boosted__learning_rate": Spread((0.15, 0.2, 0.3)),
        "boosted__max_features": Spread((0.5, 0.7, 1.0) if is_large else (0.3, 0.5, 0.7, 1.0)),
        "boosted__subsample": Spread((0.4, 0.5, 0.6) if is_large else (0.6, 0.8, 1.0)),
        "boosted__l2_regularization": Spread((1.0, 3.0, 10.0)),
        "boosted__min_child_weight": Spread((1.0, 3.0)),
    }
    return {key: values for key, values in drawn.items() if key.partition("__")[0] in names}


def _work_limits(n_rows: int | None) -> dict[str, Any]:
    """Return limits of the work on many rows, and of the rows kept of a stream."""
    limits: dict[str, Any] = {}
    if n_rows is None:
        return {name: Spread((STREAM_ROWS,)) for name in ("boosted__max_rows", "forest__max_rows")}
    if n_rows * FEW_PASSES > MAX_STEPS:
        limits["linear__max_iter"] = Spread((max(MAX_STEPS // n_rows, 1),))
        limits["linear__tol"] = Spread((None,))
    if n_rows > ALL_ROWS:
        some = min(ALL_ROWS + (n_rows - ALL_ROWS) // 8, MAX_ROWS)
        limits["boosted__max_rows"] = Spread((some,))
        limits["forest__max_rows"] = Spread((ALL_ROWS,))
    return limits


def resolve_diversity(
    diversity: Diversity, *, has_default_estimator: bool, is_wide: bool = False, **data: Any
) -> Diversity:
    """Return ``diversity`` with the values that ``"auto"`` and ``"fourier"`` stand for.

    ``is_wide`` says whether rows are sparse with very many columns; ``data`` are the arguments of
    :func:`default_hyperparameters`.
    """
    params, maps = diversity.param_distributions, diversity.feature_maps
    if is_auto(params):
        params = default_hyperparameters(**data) if has_default_estimator else None
    elif isinstance(params, DefaultsWithout):
        params = params.applied_to(default_hyperparameters(**data))
    elif has_default_estimator and isinstance(params, dict):
        unused = set(ESTIMATOR_NAMES) - set(data.get("names", ESTIMATOR_NAMES))
        params = {k: v for k, v in params.items() if k.partition("__")[0] not in unused}
    if is_auto(maps):
        default: dict[str, Any] = {"linear": [SIGNED_LOG]} if is_wide else FEATURE_MAPS
        maps = default if has_default_estimator else None
    if isinstance(maps, dict):
        maps = {name: _listed_maps(own) for name, own in maps.items()}
    return Diversity(param_distributions=params, feature_maps=_listed_maps(maps))


def _listed_maps(maps: Any) -> Any:
    return list(FOURIER_MAPS) if isinstance(maps, str) else maps


# Increments, sizes and rates

MAX_INCREMENTS, MIN_INCREMENT_ROWS = 50, 25
"""``increment_size="auto"`` without trees: 50 increments, or fewer with 25 rows each. So their
number does not grow with the data, and small data still give enough rows to compare voters."""

FIRST_ROUND, N_ROUNDS, ROWS_PER_CLASS = 2_000, 3, 4
"""``increment_size="auto"`` with trees, which are grown again at each increment: three rounds, each
as long as all before it. The first has at most 2,000 rows, or four per class if that is more."""

MIN_ROWS_TO_GROW, HELD_OUT, MAX_HELD_OUT, MAX_GROWN_ROWS = 10_000, 0.1, 20_000, 1_000_000
"""From 10,000 rows on, boosted voters may grow: on at most a million rows, measured on a tenth of
the rows, at most 20,000."""

GROWTH_SIZES = (1.0, 1.5, *(2.0 * (4 / 3) ** k for k in range(9)))
"""The sizes at which voters that grow are measured, in multiples of the trees of a final fit."""

MAX_GROWTH = 8_500_000
"""The largest product of size and rows: on a million rows voters grow to 8.4 times the trees."""

MAX_CELLS = 2**27
"""``max_rows="auto"``: of more cells than 2**27, and of more rows than voters grow on and are held
out, training draws a sample."""

N_FINAL_RANGE = (4, 40)
"""``n_final="auto"``: the fewest and the most representatives that remain."""


def increments(n_rows: int, increment_size: Any) -> list[slice]:
    """Return the increments for voters that are not trees.

    Examples
    --------
    >>> len(increments(10_000_000, "auto")), len(increments(101, "auto")), len(increments(101, 50))
    (50, 4, 3)
    """
    if increment_size != "auto":
        return slices(n_rows, increment_size)
    n_parts = min(max(n_rows // MIN_INCREMENT_ROWS, 1), MAX_INCREMENTS)
    return equal_slices(n_rows, n_parts)


def rounds(n_rows: int, *, all_rows: bool, n_classes: int = 2) -> list[slice]:
    """Return the increments for trees; all rows are covered only if ``all_rows``.

    Examples
    --------
    >>> [cut.stop for cut in rounds(1000, all_rows=False)]
    [250, 500, 1000]
    >>> [cut.stop for cut in rounds(100_000, all_rows=False)]
    [2000, 4000, 8000]
    >>> [cut.stop for cut in rounds(100_000, all_rows=False, n_classes=1_000)]
    [4000, 8000, 16000]
    """
    longest = max(FIRST_ROUND, ROWS_PER_CLASS * n_classes)
    first = max(min(-(-n_rows // 2 ** (N_ROUNDS - 1)), longest), 1)
    return doubling_slices(n_rows, first, None if all_rows else N_ROUNDS)


def max_rows(n_columns: int, is_sparse: bool = False) -> int:
    """Return the most rows that default voters train on.

    Examples
    --------
    >>> max_rows(10), max_rows(1000)
    (1020000, 134217)
    """
    most = MAX_GROWN_ROWS + MAX_HELD_OUT
    return most if is_sparse else min(most, MAX_CELLS // max(n_columns, 1))


def growth_sizes(n_rows: int) -> list[float]:
    """Return the sizes to which voters may grow on ``n_rows`` rows.

    Examples
    --------
    >>> [round(max(growth_sizes(n_rows)), 1) for n_rows in (10_000, 1_000_000)]
    [20.0, 8.4]
    """
    return [size for size in GROWTH_SIZES if size * n_rows <= MAX_GROWTH]


def split_for_growth(
    order: NDArray[np.intp], y: NDArray[Any], n_chosen: int
) -> tuple[Voters, Voters] | None:
    """Return the rows on which voters grow, and held-out rows; None if rows are too few.

    ``order`` are the rows in random order, of which voters were chosen on the first ``n_chosen``.
    Held-out rows are others, of classes that the voters know.
    """
    n_held = min(int(HELD_OUT * len(order)), MAX_HELD_OUT)
    if len(order) < MIN_ROWS_TO_GROW or n_chosen > len(order) - n_held:
        return None
    held, grown = order[-n_held:], order[:-n_held][:MAX_GROWN_ROWS]
    is_known = np.isin(y[held], y[grown])
    if 2 * is_known.sum() < n_held:
        return None
    return np.sort(np.concatenate([grown, held[~is_known]])), np.sort(held[is_known])


# Whole presets

FEATURES_PER_VOTER = 20
"""Features per voter in the paper, reconstructed from its numbers."""


def as_in_the_paper() -> dict[str, Any]:
    """Return the settings with which the paper's accuracy is best: u = 65 and rate 0.05.

    350 copies of ``SGDClassifier()`` that differ in their seeds and features. Two settings are not
    in the paper's text but follow from its numbers: each voter sees 20 random features, or all
    where there are fewer, and a delegator may choose any voter. See
    ``docs/what_the_paper_did_not_say.md``. ``increment_size=25`` and ``delegation_rate=0.85`` give
    the paper's cheapest ensemble.
    """
    return {
        "estimator": SGDClassifier(),
        "n_estimators": 350,
        "n_final": 10,
        "mechanism": as_mechanism("proportional_weighted", candidates="voters"),
        "delegation_rate": Rounded(0.05, "floor"),
        "increment_size": 65,
        "competence": "training",
        "voting": "hard",
        "max_features": FEATURES_PER_VOTER,
        "diversity": None,
    }


def for_streams() -> dict[str, Any]:
    """Return settings for streams with concept drift: scaled rows, given to ``partial_fit``.

    18 voters: 6 linear ones, 6 forests and 6 sequences of boosted trees; 6 remain. Linear
    voters learn at a constant rate, each at its own, on the rows and on random Fourier features of
    them; averaged coefficients, as those of the default, would never forget. Trees are grown on the
    last 500 or the last 4,000 rows. Voters are compared by their contribution over the last 20
    increments, delegations are revocable, and votes are soft, weighted by the recent accuracy of
    the representatives. Increments of about 100 rows suit it. Rows must not have missing values.
    For sparse rows with more than 5,000 columns give it linear voters alone, and for more than
    1,000 classes forests, with ``diversity=None``, as in ``for_streams(estimator=SGDClassifier(
    loss="log_loss", learning_rate="constant", eta0=0.1), diversity=None)``: others take time for
    each column, or for each class.
    """
    waves, recent = FourierFeatures(gamma="scale"), Spread((500, 4_000))
    linear = SGDClassifier(loss="log_loss", learning_rate="constant", eta0=0.1)
    forest = RandomizedForestClassifier(5, max_features=0.4, splitter="mixed")
    boosted = BoostedTreesClassifier(24, max_depth=4, l2_regularization=3.0)
    return {
        "estimator": [("linear", linear), ("forest", forest), ("boosted", boosted)],
        "n_estimators": 18,
        "n_final": 6,
        "mechanism": as_mechanism(
            revocable("proportional_weighted"), vote_weights="delegated_log_odds"
        ),
        "diversity": Diversity(
            param_distributions={
                "linear__eta0": LogUniform(1e-2, 2),
                "linear__alpha": LogUniform(1e-6, 1e-3),
                "forest__max_rows": recent,
                "boosted__max_rows": recent,
            },
            feature_maps={"linear": ["passthrough", waves, waves]},
        ),
    }


def for_unscaled_streams() -> dict[str, Any]:
    """Return :func:`for_streams` for rows that are not scaled, or have missing values.

    Linear voters see standardized rows, by means and deviations of the first increment.
    """
    waves = make_pipeline(Standardizer(), FourierFeatures(gamma="scale"))
    settings = for_streams()
    distributions = settings["diversity"].param_distributions
    maps = {"linear": [Standardizer(), waves, waves]}
    diversity = Diversity(param_distributions=distributions, feature_maps=maps)
    return settings | {"diversity": diversity}
