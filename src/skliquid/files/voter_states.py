"""Voter states: learned coefficients, trees and samples, and checks against rows and classes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from skliquid.delegation.graph import DelegationGraph
from skliquid.delegation.voter_pool import VoterState
from skliquid.diversity import FeatureMap, VoterSpec
from skliquid.files.fields import (
    Check,
    DictOf,
    InstanceOf,
    Integer,
    ListOf,
    Maybe,
    Text,
    check_fields,
    floats,
    integers,
    location,
    require,
)
from skliquid.files.records import smallest
from skliquid.files.table_encoders import try_transform
from skliquid.files.values import stored_type
from skliquid.voters.grown_trees import GrownTrees
from skliquid.voters.recent_rows import RecentRows

_COUNTS = ListOf(Integer(), name="voters")
_OWN: dict[str, dict[str, Check]] = {
    "linear": {
        "coef": floats("voters", "separators", "features"),
        "average": floats("voters", "separators", "averaged"),
        "intercept": floats("voters", "separators"),
        "average_intercept": floats("voters", "separators"),
        "shows_average": integers("voters", "separators", high=1),
        "steps": floats("voters", "separators", low=1),
        "n_iter": integers("voters", "separators"),
    },
    "trees": {
        "n_grown_": _COUNTS,
        "n_seen_": _COUNTS,
        "n_visits_": _COUNTS,
        "_turns": ListOf(InstanceOf((float, int)), name="voters"),
        "trees_": ListOf(InstanceOf(GrownTrees), name="voters"),
        "base_scores_": ListOf(Maybe(floats("outputs")), name="voters"),
        "rows_of": integers("voters"),
    },
    "samples": {"generators": ListOf(InstanceOf(np.random.Generator), name="voters")},
}
_SHARED: dict[str, dict[str, Check]] = {
    "linear": {"n_features": Integer(1, 2**31 - 1), "columns": Maybe(integers("features"))},
    "trees": {"rows": ListOf(InstanceOf(RecentRows))},
    "samples": {},
}
"""State of the voters by pool: one entry per voter, and values that they share."""


def _state_fields(state: VoterState) -> dict[str, Any]:
    voters, own = smallest(state.voters), dict(state.own)
    return {"of": state.pool, "voters": voters, "own": own, "shared": dict(state.shared)}


def _state(of: str, voters: Any, own: dict[str, Any], shared: dict[str, Any]) -> VoterState:
    lengths = {"voters": len(voters)}
    for values, fields in ((own, _OWN[of]), (shared, _SHARED[of])):
        require(values.keys() == fields.keys(), f"the state of voters: {', '.join(fields)}")
        check_fields(values, fields, lengths)
    if of == "linear":
        is_valid = own["average"].shape[2] in (0, own["coef"].shape[2])
        require(is_valid, "averaged coefficients of all features, or of none")
    if of == "trees" and len(voters):
        require(own["rows_of"].max() < len(shared["rows"]), "voters with rows that exist")
    return VoterState(of, voters.astype(np.intp), own, shared)


VOTER_STATE_TYPES = [
    stored_type(
        VoterState,
        _state,
        _state_fields,
        of=Text(tuple(_OWN)),
        voters=integers("voters"),
        own=DictOf(),
        shared=DictOf(),
    )
]


def check_voters(states: Sequence[VoterState], graph: DelegationGraph, kept: Any) -> None:
    """Raise unless all representatives have a state, and each voter has at most one."""
    n_states = np.zeros(graph.n_voters, dtype=np.intp)
    for state in states:
        require(np.all(state.voters < graph.n_voters), "voters that exist")
        if state.pool != "samples":
            np.add.at(n_states, state.voters, 1)
    is_valid = n_states.max(initial=0) <= 1 and n_states[graph.representatives].all()
    require(is_valid, "one state of each representative, and of no voter two")
    require(np.isin(np.flatnonzero(n_states), kept).all(), "voters that are kept")


def check_state(state: VoterState, spec: VoterSpec, n_classes: int, n_features: int) -> None:
    """Raise unless the state of the voters fits the classes and the features they see."""
    if state.pool == "samples":
        return
    voters = state.voters.tolist()
    for k, (voter, place) in enumerate(zip(voters, spec.maps_of(voters), strict=True)):
        width = n_features if spec.subspaces is None else spec.subspaces.shape[1]
        if place is not None:
            width = _map_width(spec.maps[place], n_features)
        with location(f"voters[{voter}]"):
            _check_voter(state, k, width, n_classes)


def _check_voter(state: VoterState, k: int, width: int, n_classes: int) -> None:
    if state.pool == "trees":
        trees = state.own["trees_"][k]
        is_valid = trees.n_columns == width and trees.n_outputs in (1, n_classes)
        require(is_valid, "a voter with trees for these features and classes")
        return
    columns = state.shared["columns"]
    shape = (1 if n_classes == 2 else n_classes, width if columns is None else len(columns))
    is_valid = state.own["coef"].shape[1:] == shape and state.shared["n_features"] == width
    require(is_valid, f"a voter with coefficients of the shape {shape}")
    if columns is not None:
        is_valid = np.all(columns < width) and len(np.unique(columns)) == len(columns)
        require(is_valid, "a voter with columns that exist, none of them twice")


def _map_width(transformer: Any, n_features: int) -> int:
    """Return the number of columns that a feature map gives, found with a row of zeros."""
    steps = getattr(transformer, "steps", [("", transformer)])
    is_valid = getattr(steps[0][1], "n_features_in_", n_features) == n_features
    require(is_valid, f"a feature map of {n_features} features")
    row = np.zeros((1, n_features))
    for step in FeatureMap(transformer).steps:
        row = try_transform(step, row)
    return row.shape[1]
