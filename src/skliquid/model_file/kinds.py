"""Kinds: the parts of an ensemble that are values, and the functions that a file may name."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

from skliquid import native, voting
from skliquid.calibration import POWERS, Calibration, GroupAnswers
from skliquid.class_weights import ClassCounts
from skliquid.competence import Competence
from skliquid.delegation_graph import DelegationGraph
from skliquid.discovery import Discovery
from skliquid.diversity import DefaultsWithout, LogUniform, Sample, Spread, VoterSpec
from skliquid.diversity.feature_maps import FourierMap
from skliquid.estimates import DecayedEstimate, MeanEstimate, RecentEstimate
from skliquid.mechanisms import BetterThanGuru, FastestLearners, Mechanism, probability, selection
from skliquid.model_file.fields import (
    Anything,
    Check,
    Flag,
    Integer,
    Is,
    Items,
    Keyed,
    Labels,
    Maybe,
    Number,
    Numbers,
    Text,
    Unfit,
    flags,
    floats,
    integers,
)
from skliquid.model_file.values import Kind
from skliquid.rows import Rows
from skliquid.schedules import FixedCount, JustFastEnough, Rounded
from skliquid.voters.categories import CategoryCoder
from skliquid.voters.grown_trees import GrownTrees
from skliquid.voters.recent_rows import RecentRows

_COUNT = Integer()
_ANY = Anything()
_OBJECTS = Numbers(("n_voters",), kinds="iuO")


def plain_kind(cls: type, make: Callable[..., Any] | None = None, **fields: Check) -> Kind:
    """Return the kind of objects that are no more than their ``fields``."""

    def take_apart(value: Any) -> dict[str, Any]:
        return {name: getattr(value, name) for name in fields}

    return Kind(cls.__name__, cls, fields, take_apart, make or cls)


# Numbers and rows


def _generator_parts(rng: np.random.Generator) -> dict[str, Any]:
    state = rng.bit_generator.state
    if state["bit_generator"] != "PCG64":
        raise Unfit(f"a generator of the type PCG64: got {state['bit_generator']}")
    own = state["state"]
    rest = {name: state[name] for name in ("has_uint32", "uinteger")}
    return {"state": own["state"], "inc": own["inc"]} | rest


def _generator(state: int, inc: int, has_uint32: int, uinteger: int) -> np.random.Generator:
    bits = np.random.PCG64(0)
    bits.state = {
        "bit_generator": "PCG64",
        "state": {"state": state, "inc": inc | 1},
        "has_uint32": has_uint32,
        "uinteger": uinteger,
    }
    return np.random.Generator(bits)


_128_BITS = Integer(0, 2**128 - 1)
GENERATOR = Kind(
    "Generator",
    np.random.Generator,
    {
        "state": _128_BITS,
        "inc": _128_BITS,
        "has_uint32": Integer(0, 1),
        "uinteger": Integer(0, 2**32 - 1),
    },
    _generator_parts,
    _generator,
)


def _mersenne_parts(random_state: np.random.RandomState) -> dict[str, Any]:
    _, key, position, has_gauss, gauss = random_state.get_state(legacy=True)
    return {"key": key, "position": position, "has_gauss": has_gauss, "gauss": gauss}


def _mersenne(key: Any, position: int, has_gauss: int, gauss: float) -> np.random.RandomState:
    random_state = np.random.RandomState(0)
    random_state.set_state(("MT19937", key, position, has_gauss, gauss))
    return random_state


RANDOM_STATE = Kind(
    "RandomState",
    np.random.RandomState,
    {
        "key": integers(624),
        "position": Integer(0, 624),
        "has_gauss": Integer(0, 1),
        "gauss": Number(),
    },
    _mersenne_parts,
    _mersenne,
)


def _sparse_kind(name: str, cls: Any) -> Kind:
    def take_apart(matrix: Any) -> dict[str, Any]:
        shape = list(matrix.shape)
        parts = {part: getattr(matrix, part) for part in ("data", "indices", "indptr")}
        return parts | {"shape": shape}

    def make(data: Any, indices: Any, indptr: Any, shape: list[int]) -> Any:
        if len(shape) != 2 or len(indptr) != shape[0] + 1 or len(data) != len(indices):
            raise Unfit("a sparse matrix whose arrays have matching lengths")
        matrix = cls((data, indices, indptr), shape=tuple(shape))
        matrix.check_format(full_check=True)
        return matrix

    fields: dict[str, Check] = {
        "data": floats("n_stored", may_be_nan=True),
        "indices": integers("n_stored"),
        "indptr": integers("n_ends"),
        "shape": Items(Integer(0, 2**31)),
    }
    return Kind(name, cls, fields, take_apart, make)


def _rows(X: Any, y: Any, sample_weight: Any, numbers: Any) -> Rows:
    n_rows = len(y)
    if X.shape[0] != n_rows or X.ndim != 2 or (numbers is not None and len(numbers) != n_rows):
        raise Unfit("rows with as many labels and numbers")
    return Rows(X, y, sample_weight, numbers)


# Trees


def _tree_parts(trees: GrownTrees) -> dict[str, Any]:
    nodes = [np.frombuffer(nodes, dtype=native.NODE) for nodes, _ in trees.trees]
    values = [np.frombuffer(values, dtype=np.float32) for _, values in trees.trees]
    all_nodes = np.concatenate([*nodes, np.empty(0, dtype=native.NODE)])
    all_values = np.concatenate([*values, np.empty(0, dtype=np.float32)])
    width = 2 if trees.is_sparse else trees.n_outputs
    return {
        "cut": all_nodes["cut"].copy(),
        "feature": all_nodes["feature"].copy(),
        "next": all_nodes["next"].copy(),
        "n_nodes": np.array([len(own) for own in nodes], dtype=np.uint32),
        "values": all_values.reshape(-1, width),
        "n_values": np.array([len(own) // width for own in values], dtype=np.uint32),
        "n_outputs": trees.n_outputs,
        "n_columns": trees.n_columns,
        "is_sparse": trees.is_sparse,
    }


def _trees(
    *, cut: Any, feature: Any, n_nodes: Any, values: Any, n_values: Any, **more: Any
) -> GrownTrees:
    lengths = [(n_nodes, len(cut)), (n_values, len(values))]
    if any(int(counts.sum(dtype=np.int64)) != n for counts, n in lengths):
        raise Unfit("trees that have all nodes and values together")
    n_outputs, n_columns, is_sparse = (more[k] for k in ("n_outputs", "n_columns", "is_sparse"))
    if values.shape[1] != (2 if is_sparse else n_outputs):
        raise Unfit("trees with a value for each output, or with pairs")
    nodes = np.empty(len(cut), dtype=native.NODE)
    nodes["cut"], nodes["feature"], nodes["next"] = cut, feature, more["next"]
    parts = [
        np.split(array, np.cumsum(n)[:-1]) for array, n in ((nodes, n_nodes), (values, n_values))
    ]
    trees = [(own.tobytes(), numbers.tobytes()) for own, numbers in zip(*parts, strict=True)]
    trees = trees if len(n_nodes) else []
    return GrownTrees(trees, n_outputs, n_columns, is_sparse)  # the native core checks every node


TREES = Kind(
    "GrownTrees",
    GrownTrees,
    {
        "cut": Numbers(("nodes",), kinds="u"),
        "feature": Numbers(("nodes",), kinds="u", high=2**32 - 1),
        "next": Numbers(("nodes",), kinds="u", high=2**32 - 1),
        "n_nodes": Numbers(("trees",), kinds="u"),
        "values": floats("values", "width"),
        "n_values": Numbers(("trees",), kinds="u"),
        "n_outputs": Integer(1, 2**31),
        "n_columns": Integer(1, 2**29 - 1),
        "is_sparse": Flag(),
    },
    _tree_parts,
    _trees,
)


def _recent_parts(recent: RecentRows) -> dict[str, Any]:
    has_rows = recent.n_seen > 0
    return {
        "most": recent.most,
        "n_seen": recent.n_seen,
        "X": recent.X if has_rows else None,
        "y": recent.y if has_rows else None,
        "weights": recent.weights,
    }


def _recent(most: int, n_seen: int, X: Any, y: Any, weights: Any) -> RecentRows:
    recent = RecentRows(most)
    n_kept = min(n_seen, most)
    are_missing = X is None or y is None
    if are_missing != (n_kept == 0) or (not are_missing and (X.shape[0], len(y)) != (n_kept,) * 2):
        raise Unfit(f"rows that are kept, of which there are {n_kept}")
    if not are_missing:
        recent.fill(X, y, weights, n_seen)
    return recent


def _coder_parts(coder: CategoryCoder) -> dict[str, Any]:
    codes = [list(known) for known in coder.codes.values()]
    return {"is_categorical": coder.is_categorical, "categories": codes}


def _coder(is_categorical: Any, categories: list[list[Any]]) -> CategoryCoder:
    coder = CategoryCoder(is_categorical)
    for known, values in zip(coder.codes.values(), categories, strict=True):
        known.update({value: code for code, value in enumerate(values)})
    return coder


# Functions

_FUNCTIONS: tuple[Callable[..., Any], ...] = (
    selection.nobody,
    selection.at_random,
    selection.least_competent,
    probability.none,
    probability.any_candidate,
    probability.best_of_the_lightest,
    probability.better,
    probability.gain_of_the_better,
    probability.gain_per_weight,
    *voting.VOTE_WEIGHTS.values(),
)
FUNCTIONS = {f"{function.__module__}.{function.__name__}": function for function in _FUNCTIONS}

_LOSSES, _WEIGHT = floats(len(POWERS)), Number(0)
_PER_CLASS = integers("n_classes")

KINDS = [
    GENERATOR,
    RANDOM_STATE,
    _sparse_kind("csr_matrix", scipy.sparse.csr_matrix),
    _sparse_kind("csr_array", scipy.sparse.csr_array),
    plain_kind(
        Rows,
        _rows,
        X=_ANY,
        y=Labels("n_rows", are_sorted=False),
        sample_weight=Maybe(floats("n_rows", low=0)),
        numbers=Maybe(_ANY),
    ),
    plain_kind(DelegationGraph, delegation=integers("n_voters")),
    # how voters are judged
    plain_kind(Competence, measured=Text(), memory=_ANY),
    plain_kind(
        MeanEstimate,
        numerators=_OBJECTS,
        denominator=Integer(1, 2**600),
        n_measured=integers("n_voters"),
        n_answers=integers("n_voters"),
        variances=Maybe(floats("n_voters", low=0)),
    ),
    plain_kind(
        RecentEstimate,
        window=Integer(1),
        sums=floats("n_increments", 3, "n_voters"),
        mean=floats("n_voters", may_be_nan=True),
        has_variance=Flag(),
    ),
    plain_kind(
        DecayedEstimate, factor=Number(0, 1), sums=floats(3, "n_voters"), has_variance=Flag()
    ),
    plain_kind(Calibration, losses=_LOSSES, weight=_WEIGHT, n_rows=_COUNT, sharpens=Flag()),
    plain_kind(
        GroupAnswers,
        losses=_LOSSES,
        weight=_WEIGHT,
        n_rows=_COUNT,
        n_predicted=_PER_CLASS,
        n_actual=_PER_CLASS,
    ),
    # how they delegate
    plain_kind(
        Mechanism,
        selection=_ANY,
        probability=_ANY,
        refinements=Items(),
        weight_of=Text(),
        candidates=Text(),
        vote_weights=_ANY,
        returns=_ANY,
    ),
    plain_kind(BetterThanGuru, level=Number(0, 1)),
    plain_kind(FastestLearners),
    plain_kind(FixedCount, count=_COUNT),
    plain_kind(Rounded, rate=Number(0, 1), rounding=Text()),
    plain_kind(JustFastEnough, n_voters=Integer(1), n_final=Integer(1), n_increments=Integer(1)),
    # what voters do not have in common
    plain_kind(LogUniform, low=Number(0), high=Number(0)),
    plain_kind(Spread, values=Items()),
    plain_kind(DefaultsWithout, keys=Items(Text())),
    plain_kind(FourierMap, gamma=Maybe(Number(0))),
    plain_kind(Sample, share=Number(0, 1), bootstrap=Flag()),
    plain_kind(
        VoterSpec,
        estimators=Items(),
        seeds=Items(Integer(0, 2**32 - 1), name="n_voters"),
        params=Items(Keyed()),
        subspaces=Maybe(integers("n_voters", "n_seen")),
        maps=Items(name="n_maps"),
        sample=Maybe(Is((Sample,))),
        maps_of_kind=Maybe(Keyed(Items(_COUNT), keys=_COUNT)),
        names=Items(Text()),
        map_names=Items(Text(), name="n_maps"),
    ),
    # what was seen of the data
    plain_kind(Discovery, rows=Maybe(Is((Rows,)))),
    plain_kind(ClassCounts, labels=Maybe(Labels()), n_rows=Maybe(integers("n_classes"))),
    TREES,
    Kind(
        "RecentRows",
        RecentRows,
        {
            "most": Integer(1),
            "n_seen": _COUNT,
            "X": _ANY,
            "y": Maybe(integers("n_rows", high=2**31 - 1)),
            "weights": Maybe(floats("n_sets", "n_rows", low=0)),
        },
        _recent_parts,
        _recent,
    ),
    Kind(
        "CategoryCoder",
        CategoryCoder,
        {"is_categorical": flags("n_columns"), "categories": Items(Items())},
        _coder_parts,
        _coder,
    ),
]
