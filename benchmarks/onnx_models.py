"""How fast and how large are ONNX models, beside ours and scikit-learn's?

Every model is fitted to half of the rows, and asked for the probabilities of one row at a time, and
of 10,000 rows at once, with one thread. Each time is the best of several in the same process. The
name of this file is not ``onnx.py``, which would hide the package.
"""

import argparse
import pickle
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from skliquid import LiquidEnsembleClassifier, prune, to_onnx
from skliquid.datasets import load_dataset

MANY = 10_000
HEAD = """# ONNX

Made by `make bench-onnx`: rows per second of `predict_proba` and of the same model in onnxruntime,
one row at a time and 10,000 rows at once, with one thread; kilobytes of the pickle and of the ONNX
file; the largest difference of probabilities."""


def spambase() -> tuple[Any, Any]:
    data = load_dataset("spambase")
    return np.asarray(data.X, dtype=np.float64), data.y


def digits() -> tuple[Any, Any]:
    return load_digits(return_X_y=True)


def default(X: Any, y: Any) -> Any:
    return LiquidEnsembleClassifier(random_state=0).fit(X, y)


def linear(X: Any, y: Any) -> Any:
    voters = LiquidEnsembleClassifier(SGDClassifier(loss="log_loss"), random_state=0)
    return make_pipeline(StandardScaler(), voters).fit(X, y)


def pruned(X: Any, y: Any) -> Any:
    return prune(forest(X[::2], y[::2]), X[1::2], y[1::2], n_final=10, random_state=0)


def forest(X: Any, y: Any) -> Any:
    return RandomForestClassifier(random_state=0).fit(X, y)


def boosting(X: Any, y: Any) -> Any:
    return HistGradientBoostingClassifier(random_state=0).fit(X, y)


DATA: dict[str, Callable[[], tuple[Any, Any]]] = {"spambase": spambase, "digits": digits}
OURS: dict[str, Callable[[Any, Any], Any]] = {
    "LiquidEnsembleClassifier()": default,
    "linear voters alone": linear,
    "random forest, pruned to 10 trees": pruned,
}
OTHERS: dict[str, Callable[[Any, Any], Any]] = {
    "RandomForestClassifier()": forest,
    "HistGradientBoostingClassifier()": boosting,
}


def rows_per_second(predict: Callable[[Any], Any], X: Any, *, repeats: int) -> float:
    """Return the speed at its best."""
    predict(X)
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        predict(X)
        times.append(time.perf_counter() - start)
    return len(X) / min(times)


def speeds(predict: Callable[[Any], Any], X: Any) -> tuple[float, float]:
    """Return rows per second one at a time, and many at once."""
    one = rows_per_second(predict, X[:1], repeats=300)
    return one, rows_per_second(predict, np.resize(X, (MANY, X.shape[1])), repeats=7)


def in_onnxruntime(content: bytes) -> Callable[[Any], Any]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    return lambda X: session.run(["probabilities"], {"X": X})[0]


def measured(data: str, name: str, model: Any, X: Any) -> dict[str, Any]:
    """Return the figures of one model."""
    one, many = speeds(model.predict_proba, X)
    row = {"data": data, "model": name, "1 row": f"{one:,.0f}", "10,000 rows": f"{many:,.0f}"}
    row["pickle, kB"] = f"{len(pickle.dumps(model)) / 1e3:,.0f}"
    if name in OURS:
        content = to_onnx(model).SerializeToString()
        predict = in_onnxruntime(content)
        one, many = speeds(predict, X)
        row |= {"1 row, ONNX": f"{one:,.0f}", "10,000 rows, ONNX": f"{many:,.0f}"}
        row["ONNX, kB"] = f"{len(content) / 1e3:,.0f}"
        row["difference"] = f"{np.abs(predict(X) - model.predict_proba(X)).max():.0e}"
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", type=Path, help="where to write the table as Markdown")
    options = parser.parse_args()
    rows = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for data, load in DATA.items():
            X, y = load()
            for name, fitted in (OURS | OTHERS).items():
                rows.append(measured(data, name, fitted(X[::2], y[::2]), X[1::2]))
                print(rows[-1], flush=True)
    table = pd.DataFrame(rows).fillna("")
    first = ["data", "model", "1 row", "1 row, ONNX", "10,000 rows", "10,000 rows, ONNX"]
    columns = [*first, "pickle, kB", "ONNX, kB", "difference"]
    text = f"{HEAD}\n\n{table[columns].to_markdown(index=False, disable_numparse=True)}\n"
    print(text)
    if options.write:
        options.write.write_text(text)


if __name__ == "__main__":
    main()
