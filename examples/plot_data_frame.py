"""
How do I use a table with categories and dates?
===============================================

``LiquidEnsembleClassifier`` takes data frames with numbers, categories, dates and missing values.
This example trains it on orders of a shop, and shows how much each column contributes.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.inspection import permutation_importance
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from skliquid import LiquidEnsembleClassifier

plt.style.use("skliquid.plotting.skliquid")

# %%
# 4,000 orders over two years. Which ones will be returned? Clothes often are, and so are presents,
# in December and January. The country has no influence. One price in ten is missing.

rng = np.random.default_rng(0)
n = 4_000
orders = pd.DataFrame(
    {
        "ordered": pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.uniform(0, 730, n), "D"),
        "article": rng.choice(["book", "dress", "lamp", "phone", "shoes"], n),
        "country": rng.choice(["FR", "IT", "NO", "PT"], n),
        "price": rng.gamma(3, 20, n).round(2),
    }
)
score = (
    2.5 * orders["article"].isin(["dress", "shoes"])
    + 2.5 * orders["ordered"].dt.month.isin([12, 1])
    + 0.02 * orders["price"]
    + rng.logistic(size=n)
)
y = np.where(score > 3.5, "returned", "kept")
orders.loc[rng.random(n) < 0.1, "price"] = np.nan
orders.head()

# %%
# No preparation is needed:

X_train, X_test, y_train, y_test = train_test_split(orders, y, random_state=0)
model = LiquidEnsembleClassifier(random_state=0).fit(X_train, y_train)
print(f"Accuracy: {model.score(X_test, y_test):.3f}")

# %%
# What the columns were taken for:

model.encoder_.column_types_

# %%
# How much does each column contribute? First, add one column after the other. Then shuffle each
# column of the test rows: ``permutation_importance`` works on the columns of the data frame.

steps = [["price"], ["price", "article"], ["price", "article", "ordered"]]
auc = []
for columns in steps:
    smaller = LiquidEnsembleClassifier(random_state=0).fit(X_train[columns], y_train)
    returned = smaller.predict_proba(X_test[columns])[:, 1]
    auc.append(roc_auc_score(y_test, returned))
lost = permutation_importance(model, X_test, y_test, n_repeats=5, random_state=0)

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 2.6), layout="constrained")
left.barh(["price", "+ article", "+ ordered"], auc, color="#56B4E9")
left.set(xlabel="ROC-AUC with these columns", xlim=(0.5, 1))
right.barh(orders.columns, lost.importances_mean, xerr=lost.importances_std, color="#0072B2")
right.set(xlabel="Accuracy lost without this column")
for ax in (left, right):
    ax.invert_yaxis()
    ax.grid(visible=False, axis="y")
plt.show()

# %%
# **To take away:** one call fits a model to a data frame. Dates are useful, because the month, the
# weekday or the hour often matters. A column without information, the country, does little harm.
