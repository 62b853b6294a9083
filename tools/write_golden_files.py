"""Write small model files of the current format version, with rows and their predictions.

``python tools/write_golden_files.py`` adds files to ``tests/files/golden``; files of earlier
versions stay there unchanged, and every later version of skliquid reads them. Run it when the
version of the format is raised.
"""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import RobustScaler, StandardScaler

from skliquid import (
    Diversity,
    LiquidEnsembleClassifier,
    revocable,
    save,
    train_on,
)
from skliquid.files.container import VERSION
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier

GOLDEN = Path(__file__).parents[1] / "tests" / "files" / "golden"
SMALL: dict[str, Any] = {"n_estimators": 6, "n_final": 2, "random_state": 0}
TREES = [("forest", RandomizedForestClassifier(2)), ("boosting", BoostedTreesClassifier(4))]


def models() -> dict[str, tuple[Any, Any]]:
    """Return fitted models by name, each with rows to predict."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4))
    y = (X[:, 0] + rng.normal(size=90) > 0) + 2 * (X[:, 1] > 0.8)
    table = pd.DataFrame({"size": X[:, 0], "town": rng.choice(["Oslo", "Rome", "Turin"], 90)})
    table["day"] = pd.date_range("2024-01-01", periods=90)
    table["price"] = [f"${k},000" if k % 9 else "-" for k in range(90)]
    table["code"] = [f"c{k % 70}" for k in range(90)]
    table.loc[::7, ["size", "town"]] = None
    maps = [RBFSampler(n_components=4), Nystroem(n_components=4), make_pipeline(RobustScaler())]
    mapped = Diversity(feature_maps=["passthrough", *maps])
    stream = LiquidEnsembleClassifier(TREES, mechanism=revocable("max"), final_fit=False, **SMALL)
    for cut in (slice(0, 45), slice(45, 90)):
        stream.partial_fit(X[cut], np.array(list("abcd"))[y[cut]], classes=list("abcd"))
    sgd = SGDClassifier(average=True)
    scaled = make_pipeline(StandardScaler(), LiquidEnsembleClassifier(sgd, **SMALL))
    return {
        "default": (LiquidEnsembleClassifier(**SMALL).fit(X, y > 0), X),
        "trees": (LiquidEnsembleClassifier(TREES, bootstrap=True, **SMALL).fit(X, y), X),
        "maps": (LiquidEnsembleClassifier(sgd, diversity=mapped, **SMALL).fit(X, y), X),
        "stream": (stream, X),
        "pipeline": (scaled.fit(X, y), X),
        "table": (LiquidEnsembleClassifier(TREES, **SMALL).fit(table, y > 0), table.head(20)),
    }


def main() -> None:
    """Write all files of the current version."""
    GOLDEN.mkdir(exist_ok=True)
    for name, (model, rows) in models().items():
        path = GOLDEN / f"{name}-{VERSION}.skliquid"
        save(model, path)
        columns = rows.to_csv(index=False) if isinstance(rows, pd.DataFrame) else ""
        numbers = np.empty((0, 0)) if columns else rows
        expected = model.predict_proba(rows)
        np.savez_compressed(
            path.with_suffix(".npz"), rows=numbers, table=columns, expected=expected
        )
    with tempfile.TemporaryDirectory() as folder:
        table = models()["table"][1].drop(columns="day").assign(ill=["yes", "no"] * 10)
        data = Path(folder) / "people.csv"
        table.to_csv(data, index=False)
        ensemble = LiquidEnsembleClassifier(TREES, **SMALL)
        model = train_on(data, target="ill", ensemble=ensemble, increment_size=5)
        path = GOLDEN / f"streamed-{VERSION}.skliquid"
        model.save(path)
        (found,) = model.predictions(data)
        np.savez_compressed(
            path.with_suffix(".npz"),
            rows=np.empty((0, 0)),
            table=data.read_text(),
            expected=found.probabilities,
        )


if __name__ == "__main__":
    main()
