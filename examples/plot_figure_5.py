"""
How does accuracy change during delegation?
===========================================

Figure 5 of the paper shows accuracy and minimum majority while an ensemble is pruned from 350 to 10
voters, under six mechanisms. This example draws it for one dataset. ``python -m reproduction
during_delegation`` draws it in full: seven datasets, 500 trials each.
"""

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.model_selection import train_test_split

from skliquid import LiquidEnsembleClassifier, as_mechanism
from skliquid.datasets import load_dataset

plt.style.use("skliquid.plotting.skliquid")

# %%
# ``as_in_the_paper()`` has the paper's settings. Increments have 25 rows, and a fifth of the
# representatives delegate at each, so 17 increments lead from 350 to 10. With
# ``candidates="voters"`` a delegator may choose any voter, and its votes go to that voter's guru.

spam = load_dataset("spambase")
names = ["direct", "random", "max", "random_better", "proportional_better", "proportional_weighted"]
tables = []
for trial in range(3):
    X_train, X_test, y_train, y_test = train_test_split(
        spam.X, spam.y, train_size=17 * 25, test_size=400, random_state=trial
    )
    for name in names:
        ensemble = LiquidEnsembleClassifier.as_in_the_paper(
            mechanism=as_mechanism(name, candidates="voters"),
            increment_size=25,
            delegation_rate=0.2,
            final_fit=False,
            random_state=trial,
        ).fit(X_train, y_train, eval_set=(X_test, y_test))
        tables.append(ensemble.record_.to_pandas().assign(mechanism=name))
means = pd.concat(tables).groupby(["mechanism", "increment"]).mean()

# %%
# The horizontal axis runs from many representatives to few, like training. Under Direct nobody
# delegates: its lines show all 350 voters after the same increments.

n_representatives = means.loc["proportional_weighted", "n_representatives"]
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
for name in names:
    left.plot(n_representatives, means.loc[name, "eval_accuracy"], label=name)
    right.plot(n_representatives, means.loc[name, "minimum_majority"])
left.set(xlabel="Representatives", ylabel="Test accuracy", xscale="log")
right.set(xlabel="Representatives", ylabel="Minimum majority", xscale="log", yscale="log")
right.set_yticks([1, 10, 100], ["1", "10", "100"])
for ax in (left, right):
    ax.set_xticks([300, 100, 30, 10], ["300", "100", "30", "10"])
    ax.minorticks_off()
    ax.invert_xaxis()
figure.legend(loc="outside lower center", ncols=3)
plt.show()

# %%
# Test accuracy, averaged over all increments, and the minimum majority at the end:

pd.DataFrame(
    {
        "mean accuracy": means["eval_accuracy"].groupby("mechanism").mean(),
        "last minimum majority": means["minimum_majority"].groupby("mechanism").last(),
    }
).loc[names].round(2)

# %%
# **To take away:** if voters delegate to better ones, accuracy rises within a few increments and
# stays high, while that of Direct and Random fluctuates. Under Random one or two representatives
# hold a majority in the end; the other mechanisms distribute the votes more evenly.
