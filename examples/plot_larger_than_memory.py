"""
How do I train on files larger than memory?
===========================================

``train_on`` counts the rows of files, draws a random sample of them and fits the ensemble to it.
How many rows does it need? And when is it better to train on all rows, in one pass?
"""

import tempfile
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skliquid import LiquidEnsembleClassifier, train_on

plt.style.use("skliquid.plotting.skliquid")

# %%
# A folder with one file per month, 5,000 flights each, and flights of the next year.

rng = np.random.default_rng(0)


def flights_of_a_month(n_flights=5_000):
    """Return flights, and whether they are delayed."""
    flights = pd.DataFrame(rng.normal(size=(n_flights, 4))).add_prefix("sensor_")
    flights["wind"] = rng.gamma(2, 9, n_flights)
    flights["airport"] = rng.choice(["OSL", "FCO", "LHR", "JFK"], n_flights)
    risk = flights["wind"] / 9 + (flights["airport"] == "OSL")
    risk += flights["sensor_0"] * flights["sensor_1"] + np.sin(3 * flights["sensor_2"])
    flights["delayed"] = np.where(risk + rng.normal(0, 0.5, n_flights) > 2.5, "yes", "no")
    return flights


temporary = tempfile.TemporaryDirectory()
folder = Path(temporary.name)
for month in range(12):
    flights_of_a_month().to_parquet(folder / f"month_{month + 1:02}.parquet")
next_year = flights_of_a_month()

# %%
# Train on samples of 500 to 32,000 of the 60,000 rows, by ``max_rows``, and online on all of them.
# ``report`` is called with the stage of the training; here it measures the CPU seconds of each.

results, stages = {}, ["counting", "reading", "choosing", "growing", "training"]


def train(name, **options):
    """Train, and keep the accuracy and the CPU seconds of each stage."""
    seconds, last = dict.fromkeys(stages, 0.0), time.process_time()

    def report(progress):
        nonlocal last
        now = time.process_time()
        seconds[progress.stage] += now - last
        last = now

    model = train_on(folder, target="delayed", report=report, **options)
    X, y = next_year.drop(columns="delayed"), next_year["delayed"]
    results[name] = {"accuracy": model.ensemble.score(X, y)} | seconds
    return model


sizes = (500, 2_000, 8_000, 32_000)
for max_rows in sizes:
    train(f"{max_rows:,}", ensemble=LiquidEnsembleClassifier(max_rows=max_rows, random_state=0))
ensemble = LiquidEnsembleClassifier.for_streams(random_state=0)
online = train("online", ensemble=ensemble, online=True)
table = pd.DataFrame(results).T
table.round(3)

# %%
# Left: accuracy on the next year. Right: how the time was spent.

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
left.plot(sizes, table["accuracy"][:-1], marker="o", label="a sample")
left.axhline(table["accuracy"]["online"], color="C1", linestyle="--", label="online, 60,000 rows")
left.set(xlabel="Rows drawn", ylabel="Accuracy", xscale="log")
left.set_xticks(sizes, table.index[:-1])
left.minorticks_off()
left.legend()
bottom = np.zeros(len(table))
for stage in stages:
    right.bar(table.index, table[stage], bottom=bottom, label=stage)
    bottom += table[stage].to_numpy()
right.set(xlabel="Rows drawn", ylabel="CPU seconds")
right.legend()
plt.show()

# %%
# The default draws up to 1,020,000 rows, so these 60,000 would all be used. The ensemble is the one
# that ``fit`` returns for all rows in memory:

drawn = train("again", ensemble=LiquidEnsembleClassifier(max_rows=2_000, random_state=0))
whole = pd.concat(pd.read_parquet(file) for file in sorted(folder.glob("*.parquet")))
X, y = whole.drop(columns="delayed"), whole["delayed"]
in_memory = LiquidEnsembleClassifier(max_rows=2_000, random_state=0).fit(X, y)
print((drawn.ensemble.predict_proba(X) == in_memory.predict_proba(X)).all())

# %%
# Online, each increment is predicted before it is trained on. This is the accuracy of those
# predictions, which would also show a change of the concept:

print(f"{online.accuracy:.3f} on {online.n_scored:,} rows")
temporary.cleanup()

# %%
# **To take away:** on these rows, whose order says nothing, some thousand of them give a better
# ensemble than one pass over all. Train online if the concept changes over time, or if you want to
# stop and resume. On the command line, it is ``skliquid train FOLDER --target delayed``, also with
# ``--online``.
