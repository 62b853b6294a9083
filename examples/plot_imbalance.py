"""
What helps if one class is rare?
================================

If one row in twenty belongs to the rare class, a model that never predicts it is still right in
95 % of the cases. This example compares two remedies for class imbalance: class weights, and
another threshold.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.metrics import (
    PrecisionRecallDisplay,
    balanced_accuracy_score,
    precision_score,
    recall_score,
)
from sklearn.model_selection import TunedThresholdClassifierCV, train_test_split

from skliquid import LiquidEnsembleClassifier

plt.style.use("skliquid.plotting.skliquid")

X, y = make_classification(
    8_000, 12, n_informative=5, weights=[0.95], class_sep=0.8, flip_y=0.01, random_state=0
)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
print(f"Rows of the rare class: {y.mean():.1%}")

# %%
# ``class_weight="balanced"`` gives both classes the same total weight in training.
# ``TunedThresholdClassifierCV`` of scikit-learn does not change the probabilities; it chooses the
# threshold for the rare class by cross-validation.

plain = LiquidEnsembleClassifier(random_state=0)
balanced = LiquidEnsembleClassifier(class_weight="balanced", random_state=0)
tuned = TunedThresholdClassifierCV(plain, scoring="balanced_accuracy", cv=3)
models = {"as it is": plain, "class weights": balanced, "tuned threshold": tuned}
for name, model in models.items():
    y_pred = model.fit(X_train, y_train).predict(X_test)
    print(
        f"{name:15}  accuracy {model.score(X_test, y_test):.3f}, "
        f"balanced accuracy {balanced_accuracy_score(y_test, y_pred):.3f}"
    )

# %%
# A precision-recall curve shows all thresholds at once; the marks show the three models. Recall is
# the share of the rare class that is found, precision the share of the rare class among the rows
# that are predicted as rare.

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
PrecisionRecallDisplay.from_estimator(plain, X_test, y_test, ax=ax, name="all thresholds")
for marker, (name, model) in zip("osD", models.items(), strict=True):
    y_pred = model.predict(X_test)
    recall, precision = recall_score(y_test, y_pred), precision_score(y_test, y_pred)
    ax.plot(recall, precision, marker, markersize=9, label=name)
ax.set(xlabel="Recall", ylabel="Precision")
ax.legend(loc="lower left")
plt.show()

# %%
# **To take away:** both remedies find more of the rare class, with more false alarms, and improve
# balanced accuracy. A threshold can be chosen for any metric and does not change the
# probabilities; class weights change them, so do not read them as frequencies.
