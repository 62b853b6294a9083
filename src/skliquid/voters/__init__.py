"""Voters of our own: small ensembles of trees, as classifiers of scikit-learn.

>>> from sklearn.datasets import load_digits
>>> from skliquid.voters import RandomizedForestClassifier
>>> X, y = load_digits(return_X_y=True)
>>> forest = RandomizedForestClassifier(random_state=0).fit(X[:1000], y[:1000])
>>> bool(forest.score(X[1000:], y[1000:]) > 0.85)
True
"""

from skliquid.voters.boosted_trees import BoostedTreesClassifier
from skliquid.voters.categories import CodedCategories
from skliquid.voters.growing import TreeVoter, grow
from skliquid.voters.randomized_forest import RandomizedForestClassifier
from skliquid.voters.recent_rows import RecentRows

__all__ = [
    "BoostedTreesClassifier",
    "CodedCategories",
    "RandomizedForestClassifier",
    "RecentRows",
    "TreeVoter",
    "grow",
]
