"""
How small can a random forest become?
=====================================

``prune`` makes a smaller ensemble from a fitted forest: weak trees delegate to strong ones. This
example shows accuracy against the number of remaining trees, and compares with random pruning.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from skliquid import as_mechanism, prune

plt.style.use("skliquid.plotting.skliquid")

# %%
# A forest of 100 trees. Pruning needs rows that the forest has not seen: on their training rows all
# trees look perfect.

X, y = make_classification(
    4_000, 20, n_informative=6, n_clusters_per_class=3, flip_y=0.05, random_state=0
)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
X_fit, X_prune, y_fit, y_prune = train_test_split(X_train, y_train, test_size=0.4, random_state=0)
forest = RandomForestClassifier(random_state=0).fit(X_fit, y_fit)

# %%
# The choice of the trees and the weights of their votes are two questions. So we compare:
#
# - by delegation: each remaining tree carries the votes of its delegators;
# - by delegation, but each remaining tree has one vote;
# - at random, one vote each: the control.


def one_vote_each(graph, competence, n_classes):
    return np.ones(len(graph.representatives))


mechanisms = {
    "by delegation": "proportional_weighted",
    "by delegation, one vote each": as_mechanism(
        "proportional_weighted", vote_weights=one_vote_each
    ),
    "at random, one vote each": as_mechanism("random", vote_weights=one_vote_each),
}
sizes = [3, 5, 10, 20, 40]
accuracy = {}
for name, mechanism in mechanisms.items():
    for n_final in sizes:
        scores = []
        for seed in range(4):
            pruned = prune(
                forest, X_prune, y_prune, n_final=n_final, mechanism=mechanism, random_state=seed
            )
            scores.append(pruned.score(X_test, y_test))
        accuracy[name, n_final] = np.mean(scores)

# %%
figure, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
for name in mechanisms:
    ax.plot(sizes, [accuracy[name, n_final] for n_final in sizes], marker="o", label=name)
ax.axhline(forest.score(X_test, y_test), color="0.5", linestyle=":", label="all 100 trees")
ax.set(xscale="log", xlabel="Trees left", ylabel="Test accuracy, mean of four seeds")
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.legend(loc="lower right")
plt.show()

# %%
# **To take away:** a fifth of the trees is nearly as accurate as the whole forest. Delegation
# chooses better trees than random pruning. But all trees of a forest are about equally good, so one
# vote each is better here than the unequal weights after delegation.
