"""
How do I train my first ensemble?
=================================

``LiquidEnsembleClassifier`` is used like any other scikit-learn classifier. This example trains one
on a table of e-mails, shows which voters remain, and compares it with a random forest.
"""

import matplotlib.pyplot as plt
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import train_test_split

from skliquid import LiquidEnsembleClassifier
from skliquid.datasets import load_dataset
from skliquid.plotting import DelegationDisplay

plt.style.use("skliquid.plotting.skliquid")

# %%
# The table has 4,601 e-mails and 57 columns, mostly frequencies of words and characters. Class 1 is
# spam. Columns need not be scaled.

spam = load_dataset("spambase")
X_train, X_test, y_train, y_test = train_test_split(spam.X, spam.y, random_state=0)
spam

# %%
# 24 voters start with one vote each: linear classifiers, small forests and short sequences of
# boosted trees. During training, the weakest delegate their votes to stronger ones and stop
# training. The remaining voters are the *representatives*.

ensemble = LiquidEnsembleClassifier(random_state=0).fit(X_train, y_train)
print(ensemble.record_.summary())
print(f"Accuracy on new e-mails: {ensemble.score(X_test, y_test):.3f}")

# %%
# Who delegated to whom? In the middle of each group is a representative. It carries the votes of
# all others in its group.

display = DelegationDisplay.from_estimator(ensemble)
plt.show()

# %%
# Everything else works as with other classifiers. A confusion matrix:

figure, ax = plt.subplots(figsize=(4, 3), layout="constrained")
ConfusionMatrixDisplay.from_estimator(
    ensemble, X_test, y_test, display_labels=["no spam", "spam"], cmap="Blues", ax=ax
)
ax.grid(visible=False)
plt.show()

# %%
# A random forest, for comparison:

forest = RandomForestClassifier(random_state=0).fit(X_train, y_train)
print(f"Accuracy of a random forest with 100 trees: {forest.score(X_test, y_test):.3f}")

# %%
# **To take away:** with default settings, the ensemble is about as accurate as a random forest.
# Five representatives vote for all 24 voters, and ``record_`` has the history of the training.
