"""
What happens under concept drift?
=================================

When a stream changes, the best voters so far need not be the best in the future. With revocable
delegations, a delegator that has become better than its representative gets its vote back. This
example compares revocable and permanent delegations on a stream that changes in the middle.
"""

import matplotlib.pyplot as plt
import numpy as np

from skliquid import LiquidEnsembleClassifier, as_mechanism

plt.style.use("skliquid.plotting.skliquid")

# %%
# 8,000 rows of six features. In the first half the class follows a linear rule, in the second half
# it depends on the distance from the origin. One label in twenty is wrong.

rng = np.random.default_rng(0)
X = rng.normal(size=(8_000, 6))
y = X @ [1, -1, 2, 0.5, -0.5, 1] > 0
y[4_000:] = (X[4_000:, :3] ** 2).sum(axis=1) > 2.4
y ^= rng.random(8_000) < 0.05

# %%
# The preset ``for_streams()`` has 18 voters and keeps 6 representatives. Its delegations are
# revocable. The second ensemble differs only in that its delegations are not. Each batch of 100
# rows is first predicted and then trained on.

not_revocable = as_mechanism("proportional_weighted", vote_weights="delegated_log_odds")
ensembles = {
    "revocable": LiquidEnsembleClassifier.for_streams(random_state=0),
    "not revocable": LiquidEnsembleClassifier.for_streams(mechanism=not_revocable, random_state=0),
}
accuracy = {name: [] for name in ensembles}
for name, ensemble in ensembles.items():
    for start in range(0, len(y), 100):
        rows = slice(start, start + 100)
        if start > 0:
            accuracy[name].append(ensemble.score(X[rows], y[rows]))
        ensemble.partial_fit(X[rows], y[rows], classes=[False, True])

# %%
# Above: accuracy, averaged over the last ten batches. Below: the number of revoked delegations.

figure, (above, below) = plt.subplots(
    2, 1, sharex=True, figsize=(7, 4), height_ratios=[3, 1], layout="constrained"
)
for name, values in accuracy.items():
    means = np.convolve(values, np.ones(10) / 10, mode="valid")
    above.plot(1_100 + 100 * np.arange(len(means)), means, label=name, markevery=7)
returned = ensembles["revocable"].record_.to_pandas()["n_returned"]
below.bar(100 * np.arange(1, len(returned) + 1), returned, width=100, color="black")
for ax in (above, below):
    ax.axvline(4_000, color="0.5", linestyle=":")
above.text(4_080, above.get_ylim()[1], "the concept changes", va="top")
above.set(ylabel="Accuracy, mean of ten batches")
above.legend(loc="lower left")
below.set(xlabel="Rows so far", ylabel="Returned voters", yticks=range(returned.max() + 2))
plt.show()

# %%
for name, values in accuracy.items():
    before, after = np.mean(values[:39]), np.mean(values[39:])
    print(f"{name:13}  accuracy before the change {before:.3f}, after it {after:.3f}")

# %%
# Which voters returned, and when? The record describes every voter.

record = ensembles["revocable"].record_
for increment in record:
    for voter in increment.returned:
        kind, feature_map = record.voters[voter].estimator, record.voters[voter].feature_map
        print(f"batch {increment.increment}: voter {voter} ({kind} {feature_map})")

# %%
# **To take away:** before the change both ensembles are the same. After it, voters with nonlinear
# decision boundaries return, and the ensemble recovers sooner than one with permanent delegations.
# The cost is small: delegators do not train, they only predict.
