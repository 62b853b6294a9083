"""VoterDescription: what a voter is, in words and numbers, for tables and pictures."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class VoterDescription:
    """What distinguishes a voter from the others.

    Attributes
    ----------
    kind : str
        The name of its estimator in a list of estimators, such as ``"forest"``, else its class.
    feature_map : str
        The feature map through which it sees the rows; empty if it sees them as they are.
    hyperparameters : dict
        The hyperparameters that it has drawn.
    """

    kind: str
    feature_map: str = ""
    hyperparameters: Mapping[str, Any] = field(default_factory=dict)
