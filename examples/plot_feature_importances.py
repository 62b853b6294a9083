"""
Which features matter?
======================

``feature_importances_`` shows which features the ensemble uses, without extra computation.
``permutation_importance`` of scikit-learn shows how much accuracy it would lose without them,
measured on rows that the ensemble has not seen. This example compares both.
"""

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.inspection import permutation_importance
from sklearn.model_selection import train_test_split

from skliquid import LiquidEnsembleClassifier
from skliquid.datasets import load_dataset

plt.style.use("skliquid.plotting.skliquid")

spam = load_dataset("spambase", as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(spam.X, spam.y, random_state=0)
ensemble = LiquidEnsembleClassifier(random_state=0).fit(X_train, y_train)

# %%
# ``feature_importances_`` is the mean over the representatives, weighted by the votes they carry:
# coefficients of linear voters, splits of trees. It sums to one.
#
# ``permutation_importance`` shuffles one column at a time and measures the loss of accuracy.

lost = permutation_importance(ensemble, X_test, y_test, n_repeats=5, random_state=0)
table = pd.DataFrame(
    {
        "used": ensemble.feature_importances_,
        "lost": lost.importances_mean,
        "spread": lost.importances_std,
    },
    index=ensemble.feature_names_in_,
).sort_values("lost")

# %%
# The fifteen features with the largest loss:

top = table.tail(15)
figure, (left, right) = plt.subplots(1, 2, sharey=True, figsize=(8, 4), layout="constrained")
left.barh(top.index, top["used"], color="#56B4E9")
left.set(xlabel="feature_importances_: share of what is used")
right.barh(top.index, top["lost"], xerr=top["spread"], color="#0072B2", ecolor="0.5")
right.set(xlabel="permutation_importance: accuracy lost")
for ax in (left, right):
    ax.grid(visible=False, axis="y")
plt.show()

# %%
# **To take away:** ``feature_importances_`` is a first look, without any extra computation. Before
# you drop a feature, use ``permutation_importance``: a feature that is used often need not improve
# accuracy, for example if others are correlated with it.
