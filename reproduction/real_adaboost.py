"""Real AdaBoost, the algorithm SAMME.R: scikit-learn's default until 1.5, removed in 1.6."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import RandomState
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from reproduction.protocols import Floats, Labels

_SMALLEST = np.finfo(np.float64).eps
_LARGEST_SEED = 2**31 - 1


@dataclass
class RealAdaBoost:
    r"""Boosted trees that add up logarithms of class probabilities instead of votes.

    Each tree is fitted to weighted rows. A row's weight is then multiplied by

    .. math:: \exp\left(-\frac{K - 1}{K} \sum_k y_k \log p_k(x)\right),

    where K is the number of classes, p the tree's probabilities, and y is 1 for the row's class and
    -1 / (K - 1) for the others. The vote for class k is the sum over trees of
    :math:`\log p_k - \frac{1}{K} \sum_j \log p_j`. From Zhu, Zou, Rosset and Hastie, "Multi-class
    AdaBoost", Statistics and Its Interface 2 (2009), Algorithm 4.

    Labels are 0 to ``n_classes - 1``. There are fewer than ``n_estimators`` trees if one makes no
    error; ``random_state`` seeds them.
    """

    estimator: DecisionTreeClassifier
    n_estimators: int
    n_classes: int
    random_state: RandomState
    estimators_: list[Any] = field(default_factory=list, init=False)

    def fit(self, X: Floats, y: Labels) -> "RealAdaBoost":
        """Fit the trees; ``y`` must contain every class."""
        n_classes = self.n_classes
        X = X.astype(np.float32)  # the type that trees use, converted once for all of them
        codes = np.where(y[:, None] == np.arange(n_classes), 1.0, -1.0 / (n_classes - 1))
        weight = np.full(len(y), 1.0 / len(y))
        for _ in range(self.n_estimators):
            weight = np.maximum(weight, _SMALLEST)  # as scikit-learn did: no weight vanishes
            tree = clone(self.estimator)
            tree.set_params(random_state=self.random_state.randint(_LARGEST_SEED))
            tree.fit(X, y, sample_weight=weight, check_input=False)
            self.estimators_.append(tree)
            probabilities = tree.predict_proba(X, check_input=False)
            is_wrong = probabilities.argmax(axis=1) != y
            if weight[is_wrong].sum() <= 0:
                break
            factor = -(1 - 1 / n_classes) * (codes * _logarithms(probabilities)).sum(axis=1)
            weight = np.exp(np.log(weight) + factor)
            weight /= weight.sum()
        return self

    def predict(self, X: Floats) -> Labels:
        """Return the class with the largest sum, the first one of a tie."""
        X, total = X.astype(np.float32), np.zeros((len(X), self.n_classes))
        for tree in self.estimators_:
            logarithms = _logarithms(tree.predict_proba(X, check_input=False))
            total += logarithms - logarithms.mean(axis=1, keepdims=True)
        labels: Labels = total.argmax(axis=1)
        return labels


def _logarithms(probabilities: Floats) -> Floats:
    logarithms: Floats = np.log(np.maximum(probabilities, _SMALLEST))
    return logarithms
