"""
Who delegated to whom?
======================

``DelegationDisplay`` draws all delegations. This example shows a small ensemble with readable voter
numbers, and the 350 voters of the paper.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from skliquid import LiquidEnsembleClassifier
from skliquid.datasets import load_dataset
from skliquid.plotting import DelegationDisplay

# %%
# Twelve voters, pruned to three. A line leads from each voter to the one that it delegated to.

X, y = load_breast_cancer(return_X_y=True)
small = LiquidEnsembleClassifier(n_estimators=12, n_final=3, random_state=0).fit(X, y)
display = DelegationDisplay.from_estimator(small)
plt.show()

# %%
# The same as numbers: ``delegation[i]`` is the voter that voter i delegated to, and ``gurus[i]``
# the representative at the end of its chain.

graph = small.delegation_graph_
print("delegation:     ", graph.delegation)
print("gurus:          ", graph.gurus)
print("representatives:", graph.representatives)
print("their votes:    ", graph.weights[graph.representatives])

# %%
# Now the paper's ensemble: 350 linear voters, pruned to ten. Numbers are left out if there is no
# room for them. Chains are longer, because voters with many votes delegate later.

spam = load_dataset("spambase")
large = LiquidEnsembleClassifier.as_in_the_paper(
    increment_size=25, delegation_rate=0.1, final_fit=False, random_state=0
).fit(spam.X[::3], spam.y[::3])
display = DelegationDisplay.from_estimator(large)
plt.show()

# %%
# ``increment`` shows an earlier state: after five increments most voters are still
# representatives.

display = DelegationDisplay.from_estimator(large, increment=5)
plt.show()

# %%
print("Representatives after five increments:", large.record_[4].n_representatives)
print("Longest chain at the end:", large.delegation_graph_.distances.max())

# %%
# **To take away:** ``DelegationDisplay.from_estimator(ensemble)`` draws the delegations of any
# fitted ensemble, and ``delegation_graph_`` has the numbers. Strong voters receive votes early, and
# pass them on when they delegate later: this makes the chains.
