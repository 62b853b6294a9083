"""
How accurate is it on a small budget?
=====================================

``max_cost`` limits training in sample visits, ``max_seconds`` in seconds. Training then ends with
the best ensemble so far. This example shows accuracy against the budget, with delegation and
without.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from skliquid import LiquidEnsembleClassifier
from skliquid.datasets import load_dataset

plt.style.use("skliquid.plotting.skliquid")

# %%
# A sample visit is one step of a linear voter, or one tree grown on one row. Visits do not depend
# on the machine, so the results can be repeated. Without delegation (``mechanism="direct"``) all 24
# voters remain.

spam = load_dataset("spambase")
budgets = [50_000, 100_000, 300_000, 900_000]
mechanisms = {"with delegation": "proportional_weighted", "without": "direct"}
accuracy = {name: np.zeros((2, len(budgets))) for name in mechanisms}
for split in range(2):
    X_train, X_test, y_train, y_test = train_test_split(spam.X, spam.y, random_state=split)
    for k, max_cost in enumerate(budgets):
        for name, mechanism in mechanisms.items():
            ensemble = LiquidEnsembleClassifier(
                mechanism=mechanism, max_cost=max_cost, random_state=0
            ).fit(X_train, y_train)
            accuracy[name][split, k] = ensemble.score(X_test, y_test)

# %%
figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for name, values in accuracy.items():
    ax.plot(budgets, values.mean(axis=0), marker="o", label=name)
ax.set(xscale="log", xlabel="Budget, in sample visits", ylabel="Test accuracy, mean of two splits")
ax.set_xticks(budgets, [f"{budget:,}" for budget in budgets])
ax.minorticks_off()
ax.legend()
plt.show()

# %%
# ``max_seconds`` works in the same way, but its result depends on the machine. The record says
# which part of the training was skipped.

quick = LiquidEnsembleClassifier(max_seconds=0.3, random_state=0).fit(X_train, y_train)
print(f"Accuracy: {quick.score(X_test, y_test):.2f}")
print(quick.record_.stopped)

# %%
# **To take away:** with a ninth of the visits, accuracy is only one or two points lower. Unless the
# budget ends before anyone has delegated, an ensemble that delegates is more accurate: delegators
# have no further cost, so more of the budget is left for the others.
