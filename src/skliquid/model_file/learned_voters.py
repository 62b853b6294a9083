"""Learned voters: coefficients, trees and samples, and whether they fit to the rows and classes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from skliquid.delegation_graph import DelegationGraph
from skliquid.diversity import FeatureMap, VoterSpec
from skliquid.model_file.fields import (
    Check,
    Integer,
    Is,
    Items,
    Keyed,
    Maybe,
    Text,
    Unfit,
    check_fields,
    floats,
    inside,
    integers,
)
from skliquid.model_file.kinds import GENERATOR
from skliquid.model_file.records import smallest
from skliquid.model_file.tables import probed
from skliquid.model_file.values import Kind
from skliquid.pools.learned import Learned
from skliquid.voters.grown_trees import GrownTrees
from skliquid.voters.recent_rows import RecentRows

_COUNT = Integer()

_LEARNED: dict[str, dict[str, Check]] = {
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
        "n_grown_": Items(_COUNT, name="voters"),
        "n_seen_": Items(_COUNT, name="voters"),
        "n_visits_": Items(_COUNT, name="voters"),
        "_turns": Items(Is((float, int)), name="voters"),
        "trees_": Items(Is((GrownTrees,)), name="voters"),
        "base_scores_": Items(Maybe(floats("outputs")), name="voters"),
        "rows_of": integers("voters"),
    },
    "samples": {"generators": Items(Is((GENERATOR.cls,)), name="voters")},
}
_SHARED: dict[str, dict[str, Check]] = {
    "linear": {"n_features": Integer(1, 2**31 - 1), "columns": Maybe(integers("features"))},
    "trees": {"rows": Items(Is((RecentRows,)))},
    "samples": {},
}


def _learned_parts(learned: Learned) -> dict[str, Any]:
    voters, own = smallest(learned.voters), dict(learned.own)
    return {"of": learned.kind, "voters": voters, "own": own, "shared": dict(learned.shared)}


def _learned(of: str, voters: Any, own: dict[str, Any], shared: dict[str, Any]) -> Learned:
    lengths = {"voters": len(voters)}
    for found, fields in ((own, _LEARNED[of]), (shared, _SHARED[of])):
        if found.keys() != fields.keys():
            raise Unfit(f"what voters have learned: {', '.join(fields)}")
        check_fields(found, fields, lengths)
    if of == "linear" and own["average"].shape[2] not in (0, own["coef"].shape[2]):
        raise Unfit("averaged coefficients of all features, or of none")
    if of == "trees" and len(voters) and own["rows_of"].max() >= len(shared["rows"]):
        raise Unfit("rows that are there")
    return Learned(of, voters.astype(np.intp), own, shared)


LEARNED = Kind(
    "Learned",
    Learned,
    {
        "of": Text(tuple(_LEARNED)),
        "voters": integers("voters"),
        "own": Keyed(),
        "shared": Keyed(),
    },
    _learned_parts,
    _learned,
)


def check_who_learned(parts: Sequence[Learned], graph: DelegationGraph, kept: Any) -> None:
    """Raise unless all representatives have learned, and each voter once."""
    has_learned = np.zeros(graph.n_voters, dtype=np.intp)
    for part in parts:
        if np.any(part.voters >= graph.n_voters):
            raise Unfit("voters that exist")
        if part.kind != "samples":
            np.add.at(has_learned, part.voters, 1)
    if has_learned.max(initial=0) > 1 or not has_learned[graph.representatives].all():
        raise Unfit("voters that have learned, each of them once, and all representatives")
    if not np.isin(np.flatnonzero(has_learned), kept).all():
        raise Unfit("voters that are kept")


def check_learned(part: Learned, spec: VoterSpec, n_classes: int, n_features: int) -> None:
    """Raise unless voters have learned about these classes, and what they see of the rows."""
    for k, (voter, place) in enumerate(
        zip(part.voters.tolist(), spec.maps_of(part.voters.tolist()), strict=True)
    ):
        if part.kind == "samples":
            continue
        width = n_features
        if place is not None:
            width = probed_map(spec.maps[place], n_features).shape[1]
        elif spec.subspaces is not None:
            width = spec.subspaces.shape[1]
        with inside(f"voters[{voter}]"):
            _check_voter(part, k, width, n_classes)


def _check_voter(part: Learned, k: int, width: int, n_classes: int) -> None:
    if part.kind == "linear":
        columns = part.shared["columns"]
        n_known = width if columns is None else len(columns)
        shape = (1 if n_classes == 2 else n_classes, n_known)
        if part.own["coef"].shape[1:] != shape or part.shared["n_features"] != width:
            raise Unfit(f"a voter with coefficients of the shape {shape}")
        if columns is not None and (
            np.any(columns >= width) or len(np.unique(columns)) < len(columns)
        ):
            raise Unfit("a voter that knows columns that exist, none of them twice")
        return
    trees = part.own["trees_"][k]
    if trees.n_columns != width or trees.n_outputs not in (1, n_classes):
        raise Unfit("a voter with trees for these features and classes")


def probed_map(transformer: Any, n_features: int) -> Any:
    """Return a row of zeros through a feature map."""
    steps = getattr(transformer, "steps", [("", transformer)])
    if getattr(steps[0][1], "n_features_in_", n_features) != n_features:
        raise Unfit(f"a feature map of {n_features} features")
    row = np.zeros((1, n_features))
    for step in FeatureMap(transformer).steps:
        row = probed(_Step(step), row)
    return row


class _Step:
    """A step of a feature map, as a transformer."""

    def __init__(self, step: Any):
        self.transform = step


KINDS = [LEARNED]
