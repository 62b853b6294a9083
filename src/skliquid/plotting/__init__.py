"""Displays of a training and of a prediction, in scikit-learn's style, and replays.

>>> from sklearn.datasets import load_breast_cancer
>>> from skliquid import LiquidEnsembleClassifier
>>> from skliquid.plotting import DelegationDisplay
>>> ensemble = LiquidEnsembleClassifier(random_state=0).fit(*load_breast_cancer(return_X_y=True))
>>> display = DelegationDisplay.from_estimator(ensemble)
>>> display.figure_.savefig("delegations.png")  # doctest: +SKIP

Displays need matplotlib, which the extra ``plot`` installs.
"""

from skliquid.plotting.decision_display import DecisionDisplay
from skliquid.plotting.delegation_display import DelegationDisplay
from skliquid.plotting.front_display import FrontDisplay
from skliquid.plotting.survivors_display import SurvivorsDisplay
from skliquid.plotting.training_display import TrainingDisplay
from skliquid.plotting.weight_flow_display import WeightFlowDisplay

__all__ = [
    "DecisionDisplay",
    "DelegationDisplay",
    "FrontDisplay",
    "SurvivorsDisplay",
    "TrainingDisplay",
    "WeightFlowDisplay",
]
