"""
How do I train slow voters of other libraries on a Dask cluster?
================================================================

Voters of scikit-learn and other libraries are trained one by one, in this process. joblib's Dask
backend sends them to the workers of a cluster instead. It pays if a voter takes seconds to train.
"""

import time

import joblib
import matplotlib.pyplot as plt
import pandas as pd
from dask.distributed import Client, get_worker
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import GradientBoostingClassifier

from skliquid import LiquidEnsembleClassifier

plt.style.use("skliquid.plotting.skliquid")

# %%
# A voter that tells Dask where and when it was trained. Without it,
# ``GradientBoostingClassifier(...)`` would do.


class ObservedBoosting(GradientBoostingClassifier):
    """Gradient boosting whose training on a worker is an event of that worker."""

    def fit(self, X, y, sample_weight=None):
        """Fit, and log it."""
        start = time.time()
        super().fit(X, y, sample_weight)
        worker = get_worker()
        times = {"start": start, "end": time.time()}
        worker.log_event("fits", {"worker": str(worker.name), "rows": len(y)} | times)
        return self


# %%
# Two workers, as threads of this process. For a cluster, give the address of its scheduler:
# ``Client("tcp://192.168.0.1:8786")``.

client = Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0")
X, y = load_breast_cancer(return_X_y=True)
settings = {
    "n_estimators": 8,
    "n_final": 3,
    "increment_size": 150,
    "pool": "estimator",  # one object per voter
}
voter = ObservedBoosting(n_estimators=20, max_features=0.4, subsample=0.7)
ensemble = LiquidEnsembleClassifier(voter, random_state=0, **settings)
with joblib.parallel_config(backend="dask"):
    ensemble.fit(X, y)

# %%
# The bits are the same without a cluster:

voter = GradientBoostingClassifier(n_estimators=20, max_features=0.4, subsample=0.7)
local = LiquidEnsembleClassifier(voter, random_state=0, **settings).fit(X, y)
print((ensemble.predict_proba(X) == local.predict_proba(X)).all())

# %%
# Each bar is the training of a voter. With each increment, some voters delegate and are trained no
# more. Those without ``partial_fit``, as here, are refitted on all rows so far.

fits = pd.DataFrame([fit for _, fit in client.get_events("fits")])
fits[["start", "end"]] -= fits["start"].min()
figure, ax = plt.subplots(figsize=(7, 2.6), layout="constrained")
workers = sorted(fits["worker"].unique())
for rows, part in fits.groupby("rows"):
    places = [workers.index(name) for name in part["worker"]]
    label = f"{rows} rows, {len(part)} voters"
    ax.barh(places, part["end"] - part["start"], left=part["start"], edgecolor="white", label=label)
ax.set(xlabel="Seconds", yticks=range(len(workers)), ylim=(-0.6, len(workers) - 0.4))
ax.set_yticklabels([f"worker {number + 1}" for number in range(len(workers))])
ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
plt.show()
client.close()

# %%
# **To take away:** ``joblib.parallel_config(backend="dask")`` around ``fit`` is all that is needed.
# The rows of each increment and the voters travel to the workers, so voters that train in
# milliseconds are faster here. For data larger than memory, there is
# :class:`~skliquid.DaskLiquidEnsembleClassifier`, with trees that grow on the workers.
