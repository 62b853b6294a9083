"""
How do I train on a Dask DataFrame?
===================================

``DaskLiquidEnsembleClassifier`` takes Dask DataFrames and Arrays. The workers count rows and draw a
random sample; the ensemble is that of one machine, bit for bit, however the rows are partitioned.
"""

from itertools import pairwise

import dask.dataframe as dd
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from dask.distributed import Client

from skliquid import DaskLiquidEnsembleClassifier, LiquidEnsembleClassifier

plt.style.use("skliquid.plotting.skliquid")

# %%
# A cluster of three workers, as threads of this process. For another one, give the address of its
# scheduler: ``Client("tcp://192.168.0.1:8786")``.

client = Client(processes=False, n_workers=3, threads_per_worker=1, dashboard_address=":0")

# %%
# A table that is sorted by its class, in partitions of very different sizes. One of them is empty.

rng = np.random.default_rng(0)
n_rows = 30_000
table = pd.DataFrame(rng.normal(size=(n_rows, 6))).add_prefix("sensor_")
table["plant"] = rng.choice(["Oslo", "Rome", "Cairo"], n_rows)
heat = table["sensor_0"] * table["sensor_1"] + (table["plant"] == "Cairo")
table["state"] = np.where(heat + rng.normal(0, 0.6, n_rows) > 0.8, "failed", "works")
table = table.sort_values("state", ignore_index=True)
ends = [0, 900, 2_000, 2_000, 7_000, 16_000, 17_000, 26_000, n_rows]
parts = [table[start:end] for start, end in pairwise(ends)]
rows = dd.from_map(lambda part: part, parts, meta=table)

# %%
# Labels are the name of a column, a Series or an Array. With ``max_rows=12_000``, 12,000 of the
# 30,000 rows are drawn; the default draws at most 1,020,000.

client.get_task_stream()  # from now on, Dask remembers tasks
on_cluster = DaskLiquidEnsembleClassifier(client, max_rows=12_000, random_state=0)
on_cluster.fit(rows, "state")
tasks = client.get_task_stream()

# %%
# The same rows in memory give the same bits:

X, y = table.drop(columns="state"), table["state"]
in_memory = LiquidEnsembleClassifier(max_rows=12_000, random_state=0).fit(X, y)
print((on_cluster.predict_proba(X) == in_memory.predict_proba(X)).all())

# %%
# Predictions are lazy: a Series with the partitions of the rows. ``score`` predicts on the workers.

predicted = on_cluster.predict(rows.drop(columns="state"))
print(predicted.npartitions, "partitions;", f"accuracy {on_cluster.score(rows, 'state'):.3f}")

# %%
# Left: the rows of each partition. Right: what the workers did. Each bar is a partition, whose rows
# are counted and then drawn. The ensemble is trained in this process: trees of so few rows grow
# faster here than they travel.

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
places, bottom = np.arange(len(parts)), np.zeros(len(parts))
for state in ("failed", "works"):
    counts = [int((part["state"] == state).sum()) for part in parts]
    left.bar(places, counts, bottom=bottom, label=state)
    bottom += counts
left.set(xlabel="Partition", ylabel="Rows", xticks=places)
left.legend()
workers = sorted({task["worker"] for task in tasks})
first = min(task["startstops"][0]["start"] for task in tasks)
for label, passed in (("count", tasks[: len(parts)]), ("draw", tasks[len(parts) :])):
    times = [(task["startstops"][-1]["start"], task["startstops"][-1]["stop"]) for task in passed]
    start, stop = 1000 * (np.array(times).T - first)
    row = [workers.index(task["worker"]) for task in passed]
    right.barh(row, stop - start, left=start, edgecolor="white", label=label)
names = [f"worker {number + 1}" for number in range(len(workers))]
right.set(xlabel="Milliseconds", yticks=range(len(workers)), yticklabels=names)
right.legend()
plt.show()

# %%
# The fitted ensemble needs no cluster: ``to_local()`` returns a ``LiquidEnsembleClassifier``, which
# can be saved.

local = on_cluster.to_local()
client.close()
print(type(local).__name__, len(local.estimators_), "representatives")

# %%
# **To take away:** partitions may be of any size, sorted or empty, and the result is that of one
# machine. It stays the same if workers are lost. :doc:`Data larger than memory
# <../larger_than_memory>` has the details.
