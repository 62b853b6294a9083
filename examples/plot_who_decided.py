"""
Who decided this row, and why?
==============================

``explain`` shows for each prediction which representatives made it, which voters stand behind them,
and what each column contributed to the probability. This example looks at one email.
"""

import matplotlib.pyplot as plt
import shap
from sklearn.model_selection import train_test_split

from skliquid import LiquidEnsembleClassifier, explain
from skliquid.datasets import load_dataset
from skliquid.plotting import DecisionDisplay

plt.style.use("skliquid.plotting.skliquid")

spam = load_dataset("spambase", as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(spam.X, spam.y, random_state=0)
ensemble = LiquidEnsembleClassifier(random_state=0).fit(X_train, y_train)

# %%
# The delegation path of one prediction: delegators, representatives and their probabilities, and
# the columns with the largest contributions.

DecisionDisplay.from_estimator(ensemble, X_test, row=3, background=X_train)
plt.show()

# %%
# The same contributions as a waterfall plot of ``shap``. They start at the probability where no
# column is known, and end at ``predict_proba``.

explanation = explain(ensemble, X_test, background=X_train)
shap.plots.waterfall(explanation.to_shap()[3])

# %%
# Which columns move the probabilities of all emails the most?

table = explanation.to_pandas()
table.abs().mean().sort_values(ascending=False).head(5)

# %%
# **To take away:** contributions of a row sum to its probability. They say how the ensemble used
# the columns, not what would happen if you changed one.
