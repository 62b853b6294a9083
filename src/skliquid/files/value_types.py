"""Value types: the parts of an ensemble that are plain values, trees or functions."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
from scipy import stats
from sklearn.model_selection import StratifiedKFold

from skliquid import native
from skliquid.delegation.calibration import POWERS, Calibration, GroupAnswers
from skliquid.delegation.class_weights import ClassCounts
from skliquid.delegation.competence import CompetenceMeasure
from skliquid.delegation.graph import DelegationGraph
from skliquid.delegation.new_classes import NewClasses
from skliquid.delegation.rows import Rows
from skliquid.delegation.running_averages import DecayedAverage, OverallAverage, RecentAverage
from skliquid.diversity import DefaultsWithout, LogUniform, Sample, Spread, VoterSpec
from skliquid.diversity.feature_maps import FourierMap, signed_log
from skliquid.files.fields import (
    Anything,
    Boolean,
    Check,
    DictOf,
    InstanceOf,
    Integer,
    InvalidField,
    Labels,
    ListOf,
    Maybe,
    Number,
    NumericArray,
    Text,
    booleans,
    floats,
    integers,
    require,
)
from skliquid.files.values import StoredType, stored_type
from skliquid.mechanisms import (
    VOTE_WEIGHTS,
    BetterThanGuru,
    FastestLearners,
    FixedCount,
    JustFastEnough,
    Mechanism,
    Rounded,
    probability,
    selection,
)
from skliquid.tables.column_encoders import calendar, category_name, part_names
from skliquid.tables.table_columns import as_numbers, as_text
from skliquid.voters.categories import CategoryCoder
from skliquid.voters.grown_trees import GrownTrees
from skliquid.voters.recent_rows import RecentRows

_COUNT, _128_BITS = Integer(), Integer(0, 2**128 - 1)
_ANY = Anything()
_LOSSES, _WEIGHT, _PER_CLASS = floats(len(POWERS)), Number(0), integers("n_classes")


# Random numbers


def _generator_fields(rng: np.random.Generator) -> dict[str, Any]:
    state = rng.bit_generator.state
    if state["bit_generator"] != "PCG64":
        raise InvalidField(f"a generator of the type PCG64: got {state['bit_generator']}")
    own, rest = state["state"], {name: state[name] for name in ("has_uint32", "uinteger")}
    return {"state": own["state"], "inc": own["inc"], **rest}


def _generator(state: int, inc: int, **rest: int) -> np.random.Generator:
    bits = np.random.PCG64(0)
    whole: Any = {"bit_generator": "PCG64", "state": {"state": state, "inc": inc | 1}, **rest}
    bits.state = whole
    return np.random.Generator(bits)


def _random_state_fields(random_state: np.random.RandomState) -> dict[str, Any]:
    _, key, position, has_gauss, gauss = random_state.get_state(legacy=True)
    return {"key": key, "position": position, "has_gauss": has_gauss, "gauss": gauss}


def _random_state(key: Any, position: int, has_gauss: int, gauss: float) -> np.random.RandomState:
    random_state = np.random.RandomState(0)
    random_state.set_state(("MT19937", key, position, has_gauss, gauss))
    return random_state


def _distribution_fields(distribution: Any) -> dict[str, Any]:
    name = distribution.dist.name
    if type(getattr(stats, name, None)) is not type(distribution.dist):
        raise InvalidField(f"a distribution of scipy.stats: got {name!r}")
    return {"name": name, "args": distribution.args, "kwds": distribution.kwds}


def _distribution(name: str, args: Any, kwds: Any) -> Any:
    family = getattr(stats, name, None)
    if not isinstance(family, stats.rv_continuous | stats.rv_discrete):
        raise InvalidField(f"a distribution of scipy.stats: got {name!r:.40}")
    return family(*args, **kwds)


def _distribution_type(cls: type) -> StoredType:
    """Return the stored type of distributions from which voters draw hyperparameters."""
    fields: dict[str, Check] = {"name": Text(), "args": ListOf(), "kwds": DictOf()}
    return StoredType("distribution", cls, fields, _distribution_fields, _distribution)


# Rows


def _sparse_type(cls: Any) -> StoredType:
    def to_fields(matrix: Any) -> dict[str, Any]:
        arrays = {name: getattr(matrix, name) for name in ("data", "indices", "indptr")}
        return {**arrays, "shape": list(matrix.shape)}

    def from_fields(data: Any, indices: Any, indptr: Any, shape: list[int]) -> Any:
        is_valid = len(shape) == 2 and len(indptr) == shape[0] + 1 and len(data) == len(indices)
        require(is_valid, "a sparse matrix whose arrays have matching lengths")
        matrix = cls((data, indices, indptr), shape=tuple(shape))
        matrix.check_format(full_check=True)
        return matrix

    return stored_type(
        cls,
        from_fields,
        to_fields,
        data=floats("n_stored", may_be_nan=True),
        indices=integers("n_stored"),
        indptr=integers("n_ends"),
        shape=ListOf(Integer(0, 2**31)),
    )


def _rows(X: Any, y: Any, sample_weight: Any, numbers: Any) -> Rows:
    has_numbers = numbers is None or len(numbers) == len(y)
    is_valid = X.shape[0] == len(y) and X.ndim == 2 and has_numbers
    require(is_valid, "rows with as many labels and numbers")
    return Rows(X, y, sample_weight, numbers)


def _recent_fields(recent: RecentRows) -> dict[str, Any]:
    X, y = (recent.X, recent.y) if recent.n_seen else (None, None)
    counts = {"max_rows": recent.max_rows, "n_seen": recent.n_seen}
    return {**counts, "X": X, "y": y, "weights": recent.weights}


def _recent(max_rows: int, n_seen: int, X: Any, y: Any, weights: Any) -> RecentRows:
    recent = RecentRows(max_rows)
    has_rows, n_kept = X is not None and y is not None, min(n_seen, max_rows)
    is_complete = X.shape[0] == len(y) == n_kept > 0 if has_rows else n_kept == 0
    require(is_complete, f"recent rows, {n_kept} of them")
    if has_rows:
        recent.fill(X, y, weights, n_seen)
    return recent


# Trees


def _tree_fields(trees: GrownTrees) -> dict[str, Any]:
    nodes = [np.frombuffer(nodes, dtype=native.NODE) for nodes, _ in trees.trees]
    values = [np.frombuffer(values, dtype=np.float32) for _, values in trees.trees]
    all_nodes = np.concatenate([*nodes, np.empty(0, dtype=native.NODE)])
    all_values = np.concatenate([*values, np.empty(0, dtype=np.float32)])
    width = 2 if trees.is_sparse else trees.n_outputs
    return {
        **{name: all_nodes[name].copy() for name in ("cut", "feature", "next")},
        "n_nodes": np.array([len(own) for own in nodes], dtype=np.uint32),
        "values": all_values.reshape(-1, width),
        "n_values": np.array([len(own) // width for own in values], dtype=np.uint32),
        "n_outputs": trees.n_outputs,
        "n_columns": trees.n_columns,
        "is_sparse": trees.is_sparse,
    }


def _trees(
    *, cut: Any, feature: Any, n_nodes: Any, values: Any, n_values: Any, **rest: Any
) -> GrownTrees:
    lengths = [(n_nodes, len(cut)), (n_values, len(values))]
    are_complete = all(int(counts.sum(dtype=np.int64)) == n for counts, n in lengths)
    require(are_complete, "trees that have all nodes and values together")
    n_outputs, n_columns, is_sparse = (rest[k] for k in ("n_outputs", "n_columns", "is_sparse"))
    width = 2 if is_sparse else n_outputs
    require(values.shape[1] == width, "trees with a value for each output, or with pairs")
    nodes = np.empty(len(cut), dtype=native.NODE)
    nodes["cut"], nodes["feature"], nodes["next"] = cut, feature, rest["next"]
    pairs = zip(_split(nodes, n_nodes), _split(values, n_values), strict=True)
    trees = [(own.tobytes(), numbers.tobytes()) for own, numbers in pairs]
    return GrownTrees(trees, n_outputs, n_columns, is_sparse)  # the native core checks every node


def _split(array: Any, lengths: Any) -> list[Any]:
    return np.split(array, np.cumsum(lengths)[:-1]) if len(lengths) else []


def _coder_fields(coder: CategoryCoder) -> dict[str, Any]:
    codes = [list(known) for known in coder.codes.values()]
    return {"is_categorical": coder.is_categorical, "categories": codes}


def _coder(is_categorical: Any, categories: list[list[Any]]) -> CategoryCoder:
    coder = CategoryCoder(is_categorical)
    for known, values in zip(coder.codes.values(), categories, strict=True):
        known.update({value: code for code, value in enumerate(values)})
    return coder


VALUE_TYPES = [
    # random numbers
    stored_type(
        np.random.Generator,
        _generator,
        _generator_fields,
        state=_128_BITS,
        inc=_128_BITS,
        has_uint32=Integer(0, 1),
        uinteger=Integer(0, 2**32 - 1),
    ),
    stored_type(
        np.random.RandomState,
        _random_state,
        _random_state_fields,
        key=integers(624),
        position=Integer(0, 624),
        has_gauss=Integer(0, 1),
        gauss=Number(),
    ),
    _distribution_type(type(stats.norm())),
    _distribution_type(type(stats.poisson(1))),
    stored_type(StratifiedKFold, n_splits=Integer(2), shuffle=Boolean(), random_state=_ANY),
    # rows
    _sparse_type(scipy.sparse.csr_matrix),
    _sparse_type(scipy.sparse.csr_array),
    stored_type(
        Rows,
        _rows,
        X=_ANY,
        y=Labels("n_rows", are_sorted=False),
        sample_weight=Maybe(floats("n_rows", low=0)),
        numbers=Maybe(_ANY),
    ),
    stored_type(
        RecentRows,
        _recent,
        _recent_fields,
        max_rows=Integer(1),
        n_seen=_COUNT,
        X=_ANY,
        y=Maybe(integers("n_rows", high=2**31 - 1)),
        weights=Maybe(floats("n_sets", "n_rows", low=0)),
    ),
    stored_type(NewClasses, rows=Maybe(InstanceOf(Rows))),
    stored_type(ClassCounts, labels=Maybe(Labels()), n_rows=Maybe(integers("n_classes"))),
    # trees
    stored_type(
        GrownTrees,
        _trees,
        _tree_fields,
        cut=NumericArray(("nodes",), kinds="u"),
        feature=NumericArray(("nodes",), kinds="u", high=2**32 - 1),
        next=NumericArray(("nodes",), kinds="u", high=2**32 - 1),
        n_nodes=NumericArray(("trees",), kinds="u"),
        values=floats("values", "width"),
        n_values=NumericArray(("trees",), kinds="u"),
        n_outputs=Integer(1, 2**31),
        n_columns=Integer(1, 2**29 - 1),
        is_sparse=Boolean(),
    ),
    stored_type(
        CategoryCoder,
        _coder,
        _coder_fields,
        is_categorical=booleans("n_columns"),
        categories=ListOf(ListOf()),
    ),
    # competence of voters
    stored_type(CompetenceMeasure, measured=Text(), memory=_ANY),
    stored_type(
        OverallAverage,
        numerators=NumericArray(("n_voters",), kinds="iuO"),
        denominator=Integer(1, 2**600),
        n_measured=integers("n_voters"),
        n_answers=integers("n_voters"),
        variances=Maybe(floats("n_voters", low=0)),
    ),
    stored_type(
        RecentAverage,
        window=Integer(1),
        sums=floats("n_increments", 3, "n_voters"),
        mean=floats("n_voters", may_be_nan=True),
        has_variance=Boolean(),
    ),
    stored_type(
        DecayedAverage, factor=Number(0, 1), sums=floats(3, "n_voters"), has_variance=Boolean()
    ),
    stored_type(Calibration, losses=_LOSSES, weight=_WEIGHT, n_rows=_COUNT, sharpens=Boolean()),
    stored_type(
        GroupAnswers,
        losses=_LOSSES,
        weight=_WEIGHT,
        n_rows=_COUNT,
        n_predicted=_PER_CLASS,
        n_actual=_PER_CLASS,
    ),
    # delegation
    stored_type(DelegationGraph, delegation=integers("n_voters")),
    stored_type(
        Mechanism,
        selection=_ANY,
        probability=_ANY,
        refinements=ListOf(),
        weight_of=Text(),
        candidates=Text(),
        vote_weights=_ANY,
        returns=_ANY,
    ),
    stored_type(BetterThanGuru, level=Number(0, 1)),
    stored_type(FastestLearners),
    stored_type(FixedCount, count=_COUNT),
    stored_type(Rounded, rate=Number(0, 1), rounding=Text()),
    stored_type(JustFastEnough, n_voters=Integer(1), n_final=Integer(1), n_increments=Integer(1)),
    # diversity
    stored_type(LogUniform, low=Number(0), high=Number(0)),
    stored_type(Spread, values=ListOf()),
    stored_type(DefaultsWithout, keys=ListOf(Text())),
    stored_type(FourierMap, gamma=Maybe(Number(0))),
    stored_type(Sample, share=Number(0, 1), bootstrap=Boolean()),
    stored_type(
        VoterSpec,
        estimators=ListOf(),
        seeds=ListOf(Integer(0, 2**32 - 1), name="n_voters"),
        params=ListOf(DictOf()),
        subspaces=Maybe(integers("n_voters", "n_seen")),
        maps=ListOf(name="n_maps"),
        sample=Maybe(InstanceOf(Sample)),
        maps_by_estimator=Maybe(DictOf(ListOf(_COUNT), keys=_COUNT)),
        names=ListOf(Text()),
        map_names=ListOf(Text(), name="n_maps"),
    ),
]

FUNCTIONS: list[Callable[..., Any]] = [
    *(selection.nobody, selection.at_random, selection.least_competent),
    *(probability.none, probability.any_candidate, probability.best_of_the_lightest),
    *(probability.better, probability.gain_of_the_better, probability.gain_per_weight),
    *VOTE_WEIGHTS.values(),
    *(signed_log, as_numbers, as_text, calendar, part_names, category_name),
]
"""Functions that a file may name."""
