"""
Where do the votes go?
======================

Each voter starts with one vote. When it delegates, its votes go to another voter, until a few
representatives carry all of them. The mechanism determines where votes accumulate. This example
shows the six mechanisms of the paper.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import scale

from skliquid import LiquidEnsembleClassifier
from skliquid.plotting import WeightFlowDisplay

plt.style.use("skliquid.plotting.skliquid")

# %%
# 40 linear voters, which see five features each, are pruned to 6. Only the mechanism differs.

X, y = load_breast_cancer(return_X_y=True)
names = ["direct", "random", "max", "random_better", "proportional_better", "proportional_weighted"]
ensembles = {}
for name in names:
    ensembles[name] = LiquidEnsembleClassifier(
        SGDClassifier(loss="log_loss"),
        n_estimators=40,
        n_final=6,
        max_features=5,
        mechanism=name,
        random_state=0,
    ).fit(scale(X), y)

# %%
# Time runs from left to right. Each band is a representative; its height is the number of votes
# that it carries. When it delegates, its band ends, and another one grows. Colours show the
# representative that carries the votes at the end; they are light while another voter carries them.

figure, axes = plt.subplots(3, 2, figsize=(8, 9), layout="constrained")
for ax, (name, ensemble) in zip(axes.flat, ensembles.items(), strict=True):
    WeightFlowDisplay.from_estimator(ensemble, ax=ax)
    ax.set(title=name, xlabel="Increment")
plt.show()

# %%
# The largest share of the votes that one representative carries at the end, and the Gini
# coefficient of all of them, which is 0 if all carry the same:

for name, ensemble in ensembles.items():
    last = ensemble.record_[-1]
    print(f"{name:21}  largest share {last.largest_share:.2f}, Gini {last.gini:.2f}")

# %%
# **To take away:** a delegator passes on all its votes, so a late delegation can move many votes at
# once. Mechanisms that use the weight of candidates, Max and Proportional Weighted, distribute the
# votes more evenly than Proportional Better, which uses only the gain.
