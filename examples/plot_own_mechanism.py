"""
Can I write my own mechanism?
=============================

A mechanism decides who delegates, and to whom. It is a pair of functions, so a custom mechanism
takes a few lines. This example defines two, and compares them with two of the library.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import scale

from skliquid import LiquidEnsembleClassifier
from skliquid.mechanisms.probability import gain_per_weight
from skliquid.mechanisms.selection import least_competent
from skliquid.plotting import TrainingDisplay

plt.style.use("skliquid.plotting.skliquid")

# %%
# The first function selects the delegators. It returns positions in the array of competences. This
# one draws random pairs of representatives, and the weaker of each pair delegates.


def losers_of_duels(competence, n_delegators, rng):
    n_duels = min(n_delegators, len(competence) // 2)
    one, other = rng.permutation(len(competence))[: 2 * n_duels].reshape(2, n_duels)
    return np.where(competence[one] < competence[other], one, other)


# %%
# The second function returns one number per candidate, proportional to its probability. ``gain`` is
# the competence of the candidates minus that of the delegator, ``weight`` the votes that they
# carry. This one always chooses the best candidate, whatever its weight.


def the_best(gain, weight):
    return (gain > 0) & (gain == gain.max())


# %%
# Custom functions can be combined with those of the library. The voters are 60 linear classifiers;
# each sees ten pixels of images of digits. 8 representatives remain.

mechanisms = {
    "duels": (losers_of_duels, gain_per_weight),
    "follow the leader": (least_competent, the_best),
    "proportional_weighted": "proportional_weighted",
    "random": "random",
}
X, y = load_digits(return_X_y=True)


def fit_all(seed):
    rows = train_test_split(scale(X), y, train_size=900, test_size=400, random_state=seed)
    X_train, X_test, y_train, y_test = rows
    ensembles = {}
    for name, mechanism in mechanisms.items():
        ensembles[name] = LiquidEnsembleClassifier(
            SGDClassifier(loss="log_loss"),
            n_estimators=60,
            n_final=8,
            max_features=10,
            mechanism=mechanism,
            final_fit=False,
            random_state=seed,
        ).fit(X_train, y_train, eval_set=(X_test, y_test))
    return ensembles


# %%
# ``TrainingDisplay`` shows several ensembles at once. The minimum majority is the smallest number
# of representatives that hold more than half of the votes.

ensembles = fit_all(seed=0)
display = TrainingDisplay.from_estimators(ensembles)
plt.show()

# %%
# One split of the rows is too noisy to compare accuracies, so here are five:

accuracy = {name: [] for name in mechanisms}
for seed in range(5):
    for name, ensemble in fit_all(seed).items():
        accuracy[name].append(ensemble.record_[-1].eval_accuracy)

figure, ax = plt.subplots(figsize=(6, 2.4), layout="constrained")
for position, values in enumerate(accuracy.values()):
    ax.plot(values, np.full(len(values), position), "o", color="#0072B2", alpha=0.5)
    ax.plot(np.mean(values), position, "|", color="black", markersize=18, markeredgewidth=2)
ax.set_yticks(range(len(accuracy)), accuracy)
ax.set(xlabel="Test accuracy (points: splits, line: mean)", ylim=(3.5, -0.5))
plt.show()

# %%
# **To take away:** a custom mechanism is ``mechanism=(selection, probability)``. If everyone
# follows the leader, two or three voters soon hold a majority. This reduces accuracy, compared with
# mechanisms that distribute the votes.
