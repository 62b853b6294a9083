"""Accuracy against latency and bytes: our ensemble with five limits, beside other ensembles.

Every model is fitted to one half of a table, with one thread. Latency is the CPU time of
``predict_proba`` for 1,000 rows, the fastest of many calls; bytes are those of the saved file, and
of others of a pickle.

    python benchmarks/limits.py --write docs/results/limits.md --figure docs/images/limits.svg
"""

import argparse
import pickle
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from data import load
from lightgbm import LGBMClassifier
from matplotlib.ticker import FuncFormatter, NullFormatter
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.metrics import log_loss
from threadpoolctl import threadpool_limits

from skliquid import LiquidEnsembleClassifier
from skliquid.files.saving import n_bytes

DATASETS = ("spambase", "letor", "trees-40000")
SECONDS = (0.0005, 0.001, 0.002, 0.004, 0.008)
BYTES = (100_000, 200_000, 400_000, 800_000, 1_600_000)
OURS, BY_TIME, BY_BYTES = "skliquid", "max_predict_seconds", "max_bytes"
OTHERS = {
    "random forest": lambda: RandomForestClassifier(random_state=0),
    "LightGBM": lambda: LGBMClassifier(random_state=0, n_jobs=1, verbose=-1),
    "AdaBoost": lambda: AdaBoostClassifier(random_state=0),
}
MARKS = {
    OURS: ("#0072B2", "o"),
    "random forest": ("#009E73", "^"),
    "LightGBM": ("#D55E00", "s"),
    "AdaBoost": ("#CC79A7", "v"),
}
N_CALLS = 100

HEAD = """# Limits: results

Made by `make bench-limits`: a default ensemble with limits of the seconds of prediction and of the
bytes of its file ([budgets and limits](../budgets.md#limit-bytes-and-seconds-of-prediction)),
beside a random forest, LightGBM and AdaBoost with their defaults. One half of each table trains,
the other tests; `trees-40000` is synthetic, with 40,000 training rows. *ms* is the CPU time of
`predict_proba` for 1,000 rows with one thread, the fastest of 100 calls. The limits are of seconds
as `fit` measures them, by the clock: where other work slows the machine, as in this run, they bind
earlier. *kB* is the size of the saved file, or of a pickle."""


def models() -> Iterator[tuple[str, str, Any]]:
    """Yield methods, their limits, and models to fit."""
    yield OURS, "", LiquidEnsembleClassifier(random_state=0)
    for name, limits in ((BY_TIME, SECONDS), (BY_BYTES, BYTES)):
        for limit in limits:
            model = LiquidEnsembleClassifier(random_state=0, **{name: limit})
            yield OURS, f"{name}={limit:g}" if name == BY_TIME else f"{name}={limit:_}", model
    for name, make in OTHERS.items():
        yield name, "", make()


def milliseconds(model: Any, X: Any) -> float:
    """Return the CPU time for 1,000 rows, at its best."""
    rows, times = X[:1000], []
    for _ in range(N_CALLS):
        start = time.process_time()
        model.predict_proba(rows)
        times.append(time.process_time() - start)
    return 1000 * min(times)


def measured(model: Any, data: Any) -> dict[str, Any]:
    """Return the figures of one model, or why there are none."""
    start = time.process_time()
    try:
        model.fit(data.X_train, data.y_train)
    except ValueError as error:
        return {"what bound": str(error).split(", got")[0]}
    fit = time.process_time() - start
    is_ours = isinstance(model, LiquidEnsembleClassifier)
    return {
        "accuracy": model.score(data.X_test, data.y_test),
        "log-loss": log_loss(data.y_test, model.predict_proba(data.X_test)),
        "ms": milliseconds(model, data.X_test),
        "kB": (n_bytes(model) if is_ours else len(pickle.dumps(model))) / 1000,
        "representatives": len(model.estimators_) if is_ours else "",
        "fit, s": fit,
        "what bound": (model.record_.stopped or "") if is_ours else "",
    }


def draw(results: pd.DataFrame, path: Path) -> None:
    """Draw accuracy against latency, one panel per table."""
    names = results["data"].unique()
    style = {"svg.hashsalt": "skliquid", "svg.fonttype": "path", "font.size": 9}
    with plt.rc_context(style):
        figure, panels = plt.subplots(1, len(names), figsize=(9.2, 3.4), layout="constrained")
        for name, axes in zip(names, panels, strict=True):
            own = results[(results["data"] == name) & results["accuracy"].notna()]
            limited = own[own["limit"].str.startswith(BY_TIME) | own["limit"].eq("")]
            for method, (colour, mark) in MARKS.items():
                one = limited[limited["method"] == method].sort_values("ms")
                line = "-" if method == OURS else "none"
                axes.plot(
                    one["ms"], one["accuracy"], color=colour, marker=mark, ls=line, label=method
                )
            axes.set(title=name, xlabel="ms per 1,000 rows", xscale="log")
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axes.xaxis.set_minor_formatter(NullFormatter())
            axes.spines[["top", "right"]].set_visible(False)
            axes.grid(color="0.93")
        panels[0].set_ylabel("accuracy")
        figure.legend(
            *panels[0].get_legend_handles_labels(),
            loc="outside upper center",
            ncols=len(MARKS),
            frameon=False,
        )
        figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def page(results: pd.DataFrame) -> str:
    """Return the page with one table per dataset."""
    parts = [HEAD, "![Accuracy against latency, with five limits](../images/limits.svg)"]
    formats = {"accuracy": "{:.4f}", "log-loss": "{:.4f}", "ms": "{:.2f}", "kB": "{:,.0f}"}
    for name, own in results.groupby("data", sort=False):
        table = own.drop(columns="data").copy()
        for column, form in (formats | {"fit, s": "{:.1f}"}).items():
            table[column] = [("" if np.isnan(x) else form.format(x)) for x in table[column]]
        table = table.fillna("").astype(str)
        text = table.to_markdown(index=False, disable_numparse=True)
        parts.append(f"## {name}\n\n{text}")
    return "\n\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", nargs="+", default=DATASETS, metavar="NAME")
    parser.add_argument("--write", type=Path, help="where to write the page")
    parser.add_argument("--figure", type=Path, help="where to draw")
    options = parser.parse_args()
    rows = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in options.datasets:
            data = load(name, 0)
            for method, limit, model in models():
                row = {"data": name, "method": method, "limit": limit} | measured(model, data)
                rows.append(row)
                print(row, flush=True)
    results = pd.DataFrame(rows)
    if options.figure:
        draw(results, options.figure)
    if options.write:
        options.write.write_text(page(results), encoding="utf-8")


if __name__ == "__main__":
    main()
