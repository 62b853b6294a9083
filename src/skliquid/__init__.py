"""Ensembles that prune themselves while they train, by liquid democracy.

To read the code, start where the ideas are and follow them outwards:

1. ``delegation_graph``: who delegates to whom, and the weights that follow;
2. ``mechanisms``: who delegates next (g), and to whom (p);
3. ``schedules`` and ``competence``: how many delegate, and what decides who is weak;
4. ``pools``: how voters are trained and asked; ``linear_reference`` before ``native``, its C++;
5. ``training``: the algorithm, on one page;
6. ``ensemble``: ``LiquidEnsembleClassifier``, the scikit-learn classifier around it;
7. ``theory``: the paper's formulas;
8. ``streams``: files larger than memory.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from skliquid.delegation_graph import DelegationGraph
from skliquid.ensemble import LiquidEnsembleClassifier
from skliquid.mechanisms import Mechanism
from skliquid.pools import DaskPool
from skliquid.record import TrainingCost, TrainingRecord
from skliquid.tabular import tabular_pipeline

if TYPE_CHECKING:
    from skliquid.pruning import prune

__version__ = "0.1.0"

__all__ = [
    "DaskPool",
    "DelegationGraph",
    "LiquidEnsembleClassifier",
    "Mechanism",
    "TrainingCost",
    "TrainingRecord",
    "prune",
    "tabular_pipeline",
]

_WHEN_ASKED_FOR = {
    "increments_from": "skliquid.streams",  # needs the extra stream
    "prune": "skliquid.pruning",  # imports every ensemble of scikit-learn
    "train_on": "skliquid.streams",
}


def __getattr__(name: str) -> Any:
    """Return what is imported when it is first asked for."""
    if name in _WHEN_ASKED_FOR:
        return getattr(import_module(_WHEN_ASKED_FOR[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
