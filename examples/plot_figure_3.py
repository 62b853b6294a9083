"""
What does delegation cost?
==========================

Figure 3 of the paper plots a formula: the smallest number of sample visits until ``n_final`` of 350
voters are left, by delegation rate. :mod:`skliquid.theory` has the paper's formulas, so the figure
takes ten lines.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from skliquid import LiquidEnsembleClassifier
from skliquid.theory import delegation_cost

plt.style.use("skliquid.plotting.skliquid")

# %%
# Cost is a multiple of the increment size, so it is divided by it.

rates = np.geomspace(0.01, 0.95, 200)
figure, ax = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
for n_final in (100, 50, 25, 10, 5):
    ax.plot(
        rates, [delegation_cost(350, n_final, rate) for rate in rates], label=n_final, markevery=40
    )
ax.set(
    xscale="log", xlabel="Delegation rate", yscale="log", ylabel="Delegation cost / increment size"
)
ax.legend(title="n_final")
plt.show()

# %%
# Does the formula agree with the measured cost? The paper's ensemble, pruned from 350 to 25 voters,
# visits each row of an increment once per remaining voter.

X, y = load_digits(return_X_y=True)
measured = []
for rate in (0.1, 0.2, 0.4):
    ensemble = LiquidEnsembleClassifier.as_in_the_paper(
        n_final=25, delegation_rate=rate, increment_size=30, random_state=0
    ).fit(X, y % 2)
    measured.append(ensemble.training_cost_.increments / 30)

figure, ax = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
ax.plot(rates, [delegation_cost(350, 25, rate) for rate in rates], label="the formula")
ax.plot([0.1, 0.2, 0.4], measured, "o", label="measured")
ax.set(
    xscale="log", xlabel="Delegation rate", yscale="log", ylabel="Delegation cost / increment size"
)
ax.legend()
plt.show()

# %%
# **To take away:** the higher the delegation rate, the lower the cost of the increments. The final
# number of voters matters little, since the first increments make up most of the cost.
