"""
Can I trust the probabilities?
==============================

Of all e-mails with a predicted spam probability of 0.8, about 80 % should be spam.
``CalibrationDisplay`` of scikit-learn shows whether this is true, for any classifier. This example
compares soft and hard votes, and shows the effect of ``temperature_``.
"""

import matplotlib.pyplot as plt
from sklearn.calibration import CalibrationDisplay
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import scale

from skliquid import LiquidEnsembleClassifier
from skliquid.datasets import load_dataset

plt.style.use("skliquid.plotting.skliquid")

spam = load_dataset("spambase")
X_train, X_test, y_train, y_test = train_test_split(
    scale(spam.X), spam.y == "1", test_size=0.5, random_state=0
)

# %%
# Soft votes and hard votes
# -------------------------
#
# With soft votes, the default, each representative predicts probabilities. With hard votes, as in
# the paper, it predicts a class, and a probability is a share of the votes.

models = {
    "soft votes": LiquidEnsembleClassifier(random_state=0),
    "hard votes": LiquidEnsembleClassifier(voting="hard", random_state=0),
    "random forest": RandomForestClassifier(random_state=0),
}
figure, ax = plt.subplots(figsize=(5, 4.2), layout="constrained")
for name, model in models.items():
    model.fit(X_train, y_train)
    CalibrationDisplay.from_estimator(model, X_test, y_test, n_bins=6, name=name, ax=ax)
    print(f"{name:13}  log-loss {log_loss(y_test, model.predict_proba(X_test)):.3f}")
ax.set(xlabel="Predicted probability of spam", ylabel="Share of spam")
plt.show()

# %%
# Above the diagonal there is more spam than predicted, below it less. Log-loss penalizes confident
# errors most, and the hard votes of five representatives are often confident.
#
# Temperature scaling
# -------------------
#
# Some voters are overconfident, such as linear ones after a single pass with large steps. During
# training, the ensemble predicts each increment before it trains on it. From these predictions it
# learns one number, the temperature: above 1 it makes probabilities less certain, below 1 more
# certain.

linear = LiquidEnsembleClassifier(SGDClassifier(loss="log_loss"), final_fit=False, random_state=0)
calibrated = linear.fit(X_train, y_train).predict_proba(X_test)
print(f"Temperature: {linear.temperature_:.1f}")

# %%
# To undo it, take probabilities to the power of the temperature:

raw = calibrated**linear.temperature_
raw /= raw.sum(axis=1, keepdims=True)

figure, ax = plt.subplots(figsize=(5, 4.2), layout="constrained")
for name, probabilities in {"with temperature": calibrated, "without": raw}.items():
    CalibrationDisplay.from_predictions(y_test, probabilities[:, 1], n_bins=6, name=name, ax=ax)
    print(f"{name:16}  log-loss {log_loss(y_test, probabilities):.3f}")
ax.set(xlabel="Predicted probability of spam", ylabel="Share of spam")
plt.show()

# %%
# **To take away:** soft votes give useful probabilities, hard votes of a few representatives do
# not. A temperature corrects overconfident voters, though it cannot straighten every curve. It is
# learned before the final fit, which was skipped here: if voters change much in the final fit,
# check this diagram before you rely on their probabilities.
