"""
How do I train on a file larger than memory?
============================================

``train_on`` reads a Parquet or CSV file, or a folder of them, a few thousand rows at a time. Memory
does not grow with the number of rows. This example measures memory and speed while it trains.
"""

import tempfile
import time
import tracemalloc
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pyarrow
from sklearn.linear_model import SGDClassifier

from skliquid import LiquidEnsembleClassifier, train_on

plt.style.use("skliquid.plotting.skliquid")

# %%
# A folder with one file per month, 15,000 flights each. The whole table is never in memory.

rng = np.random.default_rng(0)
temporary = tempfile.TemporaryDirectory()
folder = Path(temporary.name)
n_flights = 15_000
for month in range(12):
    flights = pd.DataFrame(rng.normal(size=(n_flights, 8))).add_prefix("sensor_")
    flights["wind"] = rng.gamma(2, 9, n_flights)
    flights["airport"] = rng.choice(["OSL", "FCO", "LHR", "JFK"], n_flights)
    is_late = flights["wind"] + 9 * (flights["airport"] == "OSL") + rng.normal(0, 6, n_flights) > 25
    flights["delayed"] = np.where(is_late, "yes", "no")
    flights.to_parquet(folder / f"month_{month + 1:02}.parquet")
bytes_per_row = flights.memory_usage(deep=True).sum() / n_flights
print(f"A data frame takes {bytes_per_row:.0f} bytes per row.")

# %%
# ``report`` is called after each increment. Here it records the time, the memory that Python and
# Arrow have allocated, and the number of representatives.

notes = []


def note(progress):
    allocated, _ = tracemalloc.get_traced_memory()
    notes.append(
        {
            "rows": progress.n_rows,
            "seconds": time.perf_counter() - start,
            "megabytes": (allocated + pyarrow.total_allocated_bytes()) / 1e6,
            "representatives": progress.n_representatives,
        }
    )


ensemble = LiquidEnsembleClassifier(SGDClassifier(loss="log_loss"), n_estimators=20, random_state=0)
tracemalloc.start()
start = time.perf_counter()
options = {"increment_size": 2_000, "online": True, "report": note}
model = train_on(folder, target="delayed", ensemble=ensemble, **options)
tracemalloc.stop()
notes = pd.DataFrame(notes)

# %%
# Left: memory, compared with a data frame of all rows so far. Right: the number of representatives.

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
left.plot(notes["rows"], notes["megabytes"], label="train_on")
left.plot(notes["rows"], notes["rows"] * bytes_per_row / 1e6, marker="", label="all rows so far")
left.set(xlabel="Rows so far", ylabel="Memory, MB", ylim=0)
left.legend()
right.plot(notes["rows"], notes["representatives"])
right.set(xlabel="Rows so far", ylabel="Representatives", yticks=[0, 5, 10, 15, 20])
for ax in (left, right):
    ax.set_xticks([0, 60_000, 120_000, 180_000], ["0", "60,000", "120,000", "180,000"])
plt.show()

# %%
# Each increment is predicted before training on it, so this is the accuracy on new rows:

last = notes.iloc[-1]
print(f"{last['rows'] / last['seconds']:,.0f} rows per second")
print(f"{last['representatives']:.0f} representatives, accuracy {model.accuracy:.3f}")

# %%
# The result is a pipeline for data frames, and can be saved. ``skliquid train FOLDER --target
# delayed`` does the same on the command line.

temporary.cleanup()
model.ensemble.predict(flights.drop(columns="delayed").head())

# %%
# **To take away:** memory does not depend on the number of rows, so a file may be larger than
# memory. Linear voters, as here, are the fastest. Without ``ensemble``, the default ensemble with
# trees is trained, which is slower and often more accurate.
