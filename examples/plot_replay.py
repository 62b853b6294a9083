"""
What does a training look like, step by step?
=============================================

A replay is a page that animates a training: play it, stop it, or move the slider; point at a voter
to see its chain of delegations and its history. It is one HTML file that needs no network and no
Python, so you can send it to others.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import train_test_split

from skliquid import LiquidEnsembleClassifier, replay
from skliquid.plotting import DelegationDisplay

# %%
# 60 voters learn to read digits, each from a sixth of the pixels; 8 representatives remain. With an
# ``eval_set`` the replay also shows the accuracy on these rows.

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, random_state=0)
ensemble = LiquidEnsembleClassifier(
    SGDClassifier(loss="log_loss"),
    n_estimators=60,
    n_final=8,
    max_features=10,
    random_state=0,
).fit(X_train, y_train, eval_set=(X_test, y_test))

# %%
# In a notebook, as on this page, the replay is shown if it is the last line of a cell:

ensemble.record_.replay(title="60 voters learn to read digits")

# %%
# ``replay`` writes it to a file:

with tempfile.TemporaryDirectory() as folder:
    file = replay(ensemble, Path(folder) / "replay.html")
    print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB")

# %%
# For print, ``DelegationDisplay`` draws the final state:

display = DelegationDisplay.from_estimator(ensemble)
plt.show()

# %%
# **To take away:** use ``ensemble.record_.replay()`` in a notebook, and ``skliquid.replay(ensemble,
# "replay.html")`` for a file. The page holds the whole record of the training.
