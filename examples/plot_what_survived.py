"""
What did the ensemble learn about my data?
==========================================

Voters differ in their estimator, feature map and hyperparameters. Those that suit the data keep
their votes and receive more, so the surviving voters tell something about the data. This example
shows it for two known rules.
"""

import matplotlib.pyplot as plt
import numpy as np

from skliquid import LiquidEnsembleClassifier
from skliquid.plotting import SurvivorsDisplay

# %%
# Two tables have the same rows. In the first one the class follows a linear rule, in the second one
# it depends on products of features.

rng = np.random.default_rng(0)
X = rng.normal(size=(3_000, 8))
noise = rng.normal(size=3_000)
y_linear = X @ [1, 1, 1, 1, -1, -1, -1, -1] + 0.5 * noise > 0
y_products = X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + 0.3 * noise > 0

# %%
# A linear rule
# -------------
#
# 48 voters start: 16 linear ones, 16 forests and 16 sequences of boosted trees. Grey shows the
# voters at the start, the narrow bars the votes at the end.

linear = LiquidEnsembleClassifier(n_estimators=48, random_state=0).fit(X, y_linear)
display = SurvivorsDisplay.from_estimator(linear)
plt.show()

# %%
# A rule with interactions
# ------------------------

products = LiquidEnsembleClassifier(n_estimators=48, random_state=0).fit(X, y_products)
display = SurvivorsDisplay.from_estimator(products)
plt.show()

# %%
# The same as a summary:

print("Linear rule:", linear.record_.summary())
print("Products:", products.record_.summary())

# %%
# **To take away:** if the rule is linear, linear voters carry the votes; if features interact,
# trees carry most of them. With few representatives a hyperparameter may survive by chance: compare
# several values of ``random_state`` before you draw conclusions.
