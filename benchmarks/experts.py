"""Who learns and who predicts on streams: one delegation graph, or two.

After "Liquid Ensemble Selection for Continual Learning" (Blair, Armstrong and Larson, 2024): the
students, the k voters whose accuracy rises fastest, learn; the experts, the k voters that were most
accurate in the window, predict. All voters predict every increment, so all can be compared. They
are linear classifiers, each with half of the columns and a learning rate of its own, and have one
vote each; streams are those of ``streams.py``.
"""

import argparse
import warnings
from itertools import product

import numpy as np
import pandas as pd
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler
from streams import INCREMENT, STREAMS, as_arrays
from threadpoolctl import threadpool_limits

N_VOTERS, K, WINDOW = 20, 5, 10
RULES = [  # who learns, who predicts
    ("all", "all"),
    ("all", "most accurate"),
    ("fastest", "fastest"),
    ("fastest", "most accurate"),
    ("most accurate", "most accurate"),
    ("random", "most accurate"),
]


def chosen(choice: str, scores: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the voters that a rule chooses by the scores in the window, one row per increment."""
    n = scores.shape[1]
    if choice == "all" or len(scores) < 2:
        return np.arange(n)
    ties = rng.random(n)
    if choice == "random":
        return np.argsort(ties)[:K]
    steps = np.arange(len(scores)) - (len(scores) - 1) / 2
    value = steps @ scores if choice == "fastest" else scores.mean(axis=0)
    return np.lexsort((ties, -value))[:K]


def run(stream: str, seed: int, n_rows: int, learn: str, predict: str) -> float:
    """Return the prequential accuracy after the first increment."""
    X, y = STREAMS[stream](seed, n_rows)
    numbers, indicators = as_arrays(X)
    classes, labels = np.unique(y, return_inverse=True)
    rng, scaler = np.random.default_rng(seed), StandardScaler()
    rates = 10 ** rng.uniform(-2, 0.3, N_VOTERS)
    n_columns = numbers.shape[1] + indicators.shape[1]
    views = [np.sort(rng.permutation(n_columns)[: max(2, n_columns // 2)]) for _ in rates]
    voters = [
        SGDClassifier(
            loss="log_loss",
            learning_rate="constant",
            eta0=rate,
            random_state=int(rng.integers(1 << 31)),
        )
        for rate in rates
    ]
    scores, n_right = np.empty((0, N_VOTERS)), 0
    for start in range(0, len(y), INCREMENT):
        part = slice(start, start + INCREMENT)
        scaled = scaler.partial_fit(numbers[part]).transform(numbers[part])
        rows, truth = np.hstack([scaled, indicators[part]]), labels[part]
        if start:
            experts = chosen(predict, scores, rng)
            votes = np.array(
                [voter.predict(rows[:, view]) for voter, view in zip(voters, views, strict=True)]
            )
            counts = np.stack([(votes[experts] == c).sum(axis=0) for c in range(len(classes))])
            n_right += int((counts.argmax(axis=0) == truth).sum())
            scores = np.vstack([scores, (votes == truth).mean(axis=1)])[-WINDOW:]
        for i in chosen(learn, scores, rng):
            voters[i].partial_fit(rows[:, views[i]], truth, classes=np.arange(len(classes)))
    return n_right / (len(y) - INCREMENT)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000, help="of each stream, at most")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--streams", nargs="+", choices=STREAMS, default=STREAMS)
    options = parser.parse_args()
    found = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for stream, (learn, predict), seed in product(options.streams, RULES, options.seeds):
            accuracy = 100 * run(stream, seed, options.rows, learn, predict)
            found.append((f"{learn} learn, {predict} predict", stream, accuracy))
    results = pd.DataFrame(found, columns=["rule", "stream", "accuracy"])
    by = results.groupby(["rule", "stream"], sort=False)["accuracy"]
    table = by.mean().map("{:.1f}".format) + " ± " + by.sem().fillna(0).map("{:.1f}".format)
    print(table.unstack().to_markdown())


if __name__ == "__main__":
    main()
