"""Which voters should be kept? Delegation, classical pruning methods, and chance.

Forests, bagged trees and mixed lists of 100 fitted classifiers are made smaller by ``prune`` with
each of its methods, on half splits of the tables in ``tables.py``. A third of the training half is
for pruning. All methods get the same answers of the voters, which are computed once. ``--choose``
uses the tables for choosing settings. ``--write FILE`` writes the page, ``--figure FILE`` its
figure. Results are kept in a file, so a run that was stopped goes on.
"""

import argparse
import textwrap
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from tables import TABLES, table_halves
from threadpoolctl import threadpool_limits

from skliquid import prune
from skliquid.pruned import fitted_voters
from skliquid.pruning_methods import PRUNING_METHODS

N_VOTERS, SIZES, MOST_ROWS, N_SPLITS = 100, (5, 10, 20, 50), 4000, 3
CLIPPED_AT = 1e-15
DELEGATION, RANDOM, WHOLE = "delegation", "random choice", "all voters"


def first_voters(_probabilities: Any, _y: Any, n_final: int) -> Any:
    """Choose at random: ``prune`` gives voters in random order."""
    return np.arange(N_VOTERS) < n_final


METHODS: dict[str, Any] = {
    DELEGATION: DELEGATION,
    **{name.replace("_", " "): name for name in PRUNING_METHODS},
    RANDOM: first_voters,
}

HEAD = """# Pruning methods compared

Which voters of a fitted ensemble should be kept? This page compares delegation, the default of
[`prune`](../pruning.md), with nine classical methods, whose formulas and references are in the
[API](../api/pruning_methods.rst).

**Protocol.** By `make bench-pruning`. {n_tables} tables on which no setting of this library was
chosen, each split in half at random, number of splits: {n_splits}. They are {tables}. At most
{most_rows:,} rows of each are drawn.
Two thirds of the training half are for fitting {n_voters} voters, one third is for pruning. Three
ensembles: a random forest, bagged decision trees, and a mixed list of decision trees of several
depths, linear voters and naive Bayes, each on a bootstrap sample. All voters have scikit-learn's
defaults otherwise. Votes are soft. Ties go to a random voter.

Two controls: voters chosen at random, and all voters. Greedy selection may choose a voter again, so
it keeps fewer voters than the others; so does L1 where its path jumps.

**Calibration.** All ensembles that `prune` returns have one further vote that is equal for all
classes, and a temperature fitted on the pruning rows. The published methods have neither, so
log-loss is given with and without them. They do not change accuracy. Log-loss is clipped at 1e-15.

Differences are between means by table, over splits and, for trees, over forests and bagged trees.
Standard errors are over the tables, and paired. The best method of each column has the advantage of
having been chosen afterwards.

"""


# Ensembles


def forest(X: Any, y: Any, seed: int) -> Any:
    return RandomForestClassifier(N_VOTERS, random_state=seed).fit(X, y)


def bagging(X: Any, y: Any, seed: int) -> Any:
    return BaggingClassifier(n_estimators=N_VOTERS, random_state=seed).fit(X, y)


def mixed(X: Any, y: Any, seed: int) -> Any:
    rng, voters = np.random.default_rng(seed), []
    for number in range(N_VOTERS):
        rows = rng.integers(0, len(y), len(y))
        tree = DecisionTreeClassifier(
            max_depth=rng.choice([3, 6, 12]), max_features="sqrt", random_state=number
        )
        alpha = 10 ** rng.uniform(-5, -1)
        linear = SGDClassifier(loss="log_loss", alpha=alpha, average=True, random_state=number)
        bayes = GaussianNB(var_smoothing=10 ** rng.uniform(-9, -1))
        voter = (tree, tree, make_pipeline(StandardScaler(), linear), bayes)[number % 4]
        voters.append(voter.fit(X[rows], y[rows]))
    return voters


ENSEMBLES: dict[str, Callable[[Any, Any, int], Any]] = {
    "random forest": forest,
    "bagged trees": bagging,
    "mixed list": mixed,
}


GROUPS = {"Trees": ("random forest", "bagged trees"), "Mixed lists": ("mixed list",)}
LOSSES = ("accuracy", "log_loss", "plain_log_loss")


class Answers(ClassifierMixin, BaseEstimator):
    """A voter whose probabilities for all rows are known: a row is its number."""

    def __init__(self, probabilities: Any = None):
        self.probabilities = probabilities
        self.classes_, self.n_features_in_ = np.arange(probabilities.shape[1]), 1

    def fit(self, _X: Any, _y: Any) -> "Answers":
        return self

    def predict_proba(self, X: Any) -> Any:
        return self.probabilities[X[:, 0]]

    def predict(self, X: Any) -> Any:
        return self.predict_proba(X).argmax(axis=1)


# Results


def results_of(table: str, split: int, kind: str, use: str) -> list[dict[str, Any]]:
    entropy = [split, *map(ord, table + use)]
    seed = int(np.random.SeedSequence(entropy).generate_state(1)[0]) % 2**31
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = table_halves(table, seed, MOST_ROWS)
        X_fit, X_prune, y_fit, y_prune = train_test_split(
            data.X_train, data.y_train, test_size=1 / 3, random_state=seed
        )
        known = np.unique(y_fit)
        X_prune, y_prune = (rows[np.isin(y_prune, known)] for rows in (X_prune, y_prune))
        is_known = np.isin(data.y_test, known)
        X_test, y_test = data.X_test[is_known], np.searchsorted(known, data.y_test[is_known])
        ensemble = ENSEMBLES[kind](X_fit, np.searchsorted(known, y_fit), seed)
        members, _ = fitted_voters(ensemble)
        start = time.process_time()
        X_both = np.concatenate([X_prune, X_test])
        voters = [
            Answers(member.predict("probabilities", member.converter(X_both))) for member in members
        ]
        shares = len(X_prune) / len(X_both)
        same = {"table": table, "split": split, "ensemble": kind}
        answering = (time.process_time() - start) * shares
        numbers = np.arange(len(X_both))[:, None]
        asked, tested = numbers[: len(X_prune)], numbers[len(X_prune) :]
        labels = np.searchsorted(known, y_prune)
        rows = []
        for name, size in [*((m, n) for m in METHODS for n in SIZES), (WHOLE, N_VOTERS)]:
            start = time.process_time()
            small = prune(
                voters,
                asked,
                labels,
                method=METHODS.get(name, first_voters),
                n_final=size,
                random_state=seed,
            )
            seconds = time.process_time() - start
            found = scores(small, tested, y_test) | {"seconds": seconds, "answering": answering}
            rows.append(same | {"method": name, "size": size} | found)
    return rows


def scores(small: Any, X: Any, y: Any) -> dict[str, Any]:
    tempered, votes = small.predict_proba(X), small.vote_weights_
    plain = np.average([v.predict_proba(X) for v in small.estimators_], axis=0, weights=votes)
    return {
        "accuracy": np.mean(small.predict(X) == y),
        "log_loss": _log_loss(tempered, y),
        "plain_log_loss": _log_loss(plain, y),
        "kept": len(small.estimators_),
    }


def _log_loss(probabilities: Any, y: Any) -> float:
    return float(-np.log(probabilities[np.arange(len(y)), y].clip(CLIPPED_AT)).mean())


def run_missing(path: Path, tables: Sequence[str], n_splits: int, use: str) -> pd.DataFrame:
    """Append the results that the file does not have yet, and return all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    tasks = [(t, s, kind) for s in range(n_splits) for t in tables for kind in ENSEMBLES]
    done = set()
    if path.is_file():
        found = pd.read_csv(path).groupby(["table", "split", "ensemble"]).size()
        done = set(found[found == len(METHODS) * len(SIZES) + 1].index)
    for number, task in enumerate(tasks, 1):
        if task not in done:
            rows = pd.DataFrame(results_of(*task, use))
            rows.to_csv(path, mode="a", index=False, header=not path.is_file())
            print(f"[{number}/{len(tasks)}] {', '.join(map(str, task))}", flush=True)
    results = pd.read_csv(path).drop_duplicates(
        ["table", "split", "ensemble", "method", "size"], keep="last"
    )
    return results[results["table"].isin(tables) & (results["split"] < n_splits)]


# The page


def differences(results: pd.DataFrame, column: str, sign: int) -> pd.DataFrame:
    """Return the difference of each method to the best of its size, with standard errors."""
    by_table = results.groupby(["table", "size", "method"])[column].mean().unstack()
    columns = {}
    for size in SIZES:
        wide = by_table.xs(size, level="size")[list(METHODS)]
        best = (sign * wide.mean()).idxmax()
        gap = wide.sub(wide[best], axis=0)
        mean, error = gap.mean(), gap.sem()
        columns[f"{size} of {N_VOTERS}"] = [
            f"**{wide[name].mean():.4f}**"
            if name == best
            else f"{mean[name]:+.4f} ± {error[name]:.4f}"
            for name in METHODS
        ]
    return pd.DataFrame(columns, index=pd.Index(METHODS, name="method"))


def against_delegation(results: pd.DataFrame, column: str, size: int) -> pd.DataFrame:
    """Return the mean difference of each method to delegation, and its standard error."""
    own = results[results["size"] == size]
    wide = own.groupby(["table", "method"])[column].mean().unstack()[list(METHODS)]
    gap = wide.sub(wide[DELEGATION], axis=0).drop(columns=DELEGATION)
    return pd.DataFrame({"mean": gap.mean(), "error": gap.sem()})


def means(results: pd.DataFrame, column: str) -> pd.DataFrame:
    wide = results.groupby(["method", "size", "table"])[column].mean()
    wide = wide.groupby(["method", "size"]).mean().unstack()
    wide = wide.loc[list(METHODS), list(SIZES)]
    return wide.rename(columns=lambda size: f"{size} of {N_VOTERS}").rename_axis(columns=None)


def page(results: pd.DataFrame, figure: str) -> str:
    """Return the page as Markdown."""
    tables = sorted(results["table"].unique())
    head = HEAD.format(
        n_tables=len(tables),
        tables=", ".join(tables),
        most_rows=MOST_ROWS,
        n_splits=results["split"].nunique(),
        n_voters=N_VOTERS,
    )
    parts = [f"![Differences of classical methods to delegation]({figure})"]
    for group, kinds in GROUPS.items():
        own = results[results["ensemble"].isin(kinds)]
        whole = own[own["method"] == WHOLE].groupby("table")[list(LOSSES)].mean().mean()
        parts += [
            f"## {group}: accuracy",
            "In bold the accuracy of the best method, else the difference "
            f"to it. All voters: {whole['accuracy']:.4f}.",
            differences(own, "accuracy", 1).to_markdown(),
            f"## {group}: log-loss",
            f"Calibrated. Lower is better. All voters: {whole['log_loss']:.4f}.",
            differences(own, "log_loss", -1).to_markdown(),
            f"## {group}: log-loss without calibration",
            "Of the mean of probabilities, as the "
            f"methods were published. All voters: {whole['plain_log_loss']:.4f}. Delegation as "
            "`prune` returns it is compared with the others without calibration:",
            _plain(own).to_markdown(),
        ]
    parts.append("## Mean accuracy by ensemble")
    for kind, own in results.groupby("ensemble"):
        whole = own[own["method"] == WHOLE].groupby("table")["accuracy"].mean().mean()
        parts += [
            f"### {kind}",
            f"All voters: {whole:.4f}.",
            means(own, "accuracy").to_markdown(floatfmt=".4f"),
        ]
    parts += [
        "## Time and voters left",
        "Mean CPU seconds of `prune`, once the answers of all voters "
        f"are known; these take {results['answering'].mean():.2f} seconds.",
        means(results, "seconds").to_markdown(floatfmt=".3f"),
        "Voters that are left:",
        means(results, "kept").to_markdown(floatfmt=".1f"),
    ]
    return "\n\n".join(map(_wrapped, [*head.strip().split("\n\n"), *parts])) + "\n"


def _wrapped(part: str) -> str:
    """Return a part of the page, in which lines of text are not too long."""
    if part.startswith(("#", "|", "!")):
        return part
    return textwrap.fill(part, 118, break_long_words=False, break_on_hyphens=False)


def _plain(results: pd.DataFrame) -> pd.DataFrame:
    is_ours = results["method"] == DELEGATION
    return differences(
        results.assign(shown=results["log_loss"].where(is_ours, results["plain_log_loss"])),
        "shown",
        -1,
    )


def draw(results: pd.DataFrame, path: Path) -> None:
    """Draw the differences of all methods to delegation, with standard errors."""
    colours = {5: "#0072B2", 10: "#D55E00", 20: "#009E73"}
    with plt.rc_context({"svg.hashsalt": "skliquid"}):
        figure, grid = plt.subplots(2, 2, figsize=(9, 9), sharey=True, layout="constrained")
        for axes, (group, kinds) in zip(grid, GROUPS.items(), strict=True):
            own = results[results["ensemble"].isin(kinds)]
            _draw_differences(axes[0], own, "accuracy", "accuracy (right is better)", colours)
            _draw_differences(axes[1], own, "log_loss", "log-loss (left is better)", colours)
            axes[0].set_title(group, loc="left")
        names = [name for name in METHODS if name != DELEGATION]
        grid[0, 0].set_yticks(np.arange(len(names)), names)
        grid[0, 0].invert_yaxis()
        handles, labels = grid[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, frameon=False, loc="outside upper right", ncols=3)
        figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def _draw_differences(
    ax: Any, results: pd.DataFrame, column: str, label: str, colours: dict[int, str]
) -> None:
    for shift, (size, colour) in zip((-0.2, 0, 0.2), colours.items(), strict=True):
        gap = against_delegation(results, column, size)
        places, name = np.arange(len(gap)) + shift, f"{size} of {N_VOTERS} voters"
        ax.errorbar(
            gap["mean"], places, xerr=gap["error"], fmt="o", markersize=4, color=colour, label=name
        )
    ax.axvline(0, color="0.5", linewidth=0.8)
    ax.set_xlabel(f"difference to delegation in {label}")
    ax.spines[["top", "right"]].set_visible(False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=N_SPLITS)
    parser.add_argument("--tables", nargs="*", help="some tables, by name")
    parser.add_argument("--choose", action="store_true", help="tables for choosing settings")
    parser.add_argument("--results", type=Path, help="the file of results")
    parser.add_argument("--write", type=Path, help="where to write the page")
    parser.add_argument("--figure", type=Path, help="where to write the figure")
    options = parser.parse_args()
    use = "choose" if options.choose else "report"
    tables = options.tables or [name for name, table in TABLES.items() if table.use == use]
    path = options.results or Path(f"out/pruning-{use}.csv")
    results = run_missing(path, tables, options.splits, use)
    for column, sign in (("accuracy", 1), ("log_loss", -1)):
        print(column, differences(results, column, sign).to_markdown(), sep="\n\n")
    if options.figure:
        draw(results, options.figure)
    if options.write:
        options.write.write_text(page(results, f"../images/{(options.figure or path).name}"))


if __name__ == "__main__":
    main()
