"""Contributions and scores, against Shapley values over all coalitions and against predictions."""

import pickle
from itertools import combinations, product
from math import factorial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from scipy.special import expit, softmax
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import skliquid
from skliquid import Diversity, LiquidEnsembleClassifier, explain, load, prune, save
from skliquid.diversity import FourierFeatures
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier


def take(table, column, rows):
    return table.iloc[rows, column] if hasattr(table, "iloc") else table[rows, column]


def mean_of_coalition(function, X, row, background, coalition):
    """Return the mean of ``function`` where all other columns are drawn independently."""
    n_columns, n = X.shape[1], len(background)
    free = [column for column in range(n_columns) if column not in coalition]
    drawn = np.array(list(product(range(n), repeat=len(free))), dtype=int)
    cells = {}
    for column in range(n_columns):
        if column in coalition:
            cells[column] = take(X, column, np.full(len(drawn), row))
        else:
            cells[column] = take(background, column, drawn[:, free.index(column)])
    if hasattr(X, "iloc"):
        columns = {name: cells[k].reset_index(drop=True) for k, name in enumerate(X.columns)}
        mixed = pd.DataFrame(columns)
    else:
        mixed = np.column_stack([cells[k] for k in range(n_columns)])
    return function(mixed).mean(axis=0)


def shapley_values(function, X, background):
    """Return the Shapley values of each row, column and output, over all coalitions."""
    n = X.shape[1]
    found = []
    for row in range(len(X)):
        known = {
            coalition: mean_of_coalition(function, X, row, background, coalition)
            for size in range(n + 1)
            for coalition in combinations(range(n), size)
        }
        values = np.zeros((n, len(known[()])))
        for column in range(n):
            for coalition, before in known.items():
                if column not in coalition:
                    after = known[tuple(sorted((*coalition, column)))]
                    size = len(coalition)
                    share = factorial(size) * factorial(n - size - 1) / factorial(n)
                    values[column] += share * (after - before)
        found.append(values)
    return np.stack(found), known[()]


def scores_of_voter(ensemble, k):
    """Return a function for the scores of a representative, on rows of the table."""
    voter, seen = ensemble.estimators_[k], ensemble.estimators_features_[k]
    last = voter[-1] if hasattr(voter, "steps") else voter

    def scores(table):
        rows = ensemble._check_X(table)[:, seen]
        if hasattr(last, "decision_function"):
            found = voter.decision_function(rows)
            return found[:, None] if found.ndim == 1 else found
        return voter.predict_proba(rows)

    return scores


def check_against_all_coalitions(ensemble, X, background):
    explanation = explain(ensemble, X, background)
    for k, representative in enumerate(explanation.representatives):
        values, base = shapley_values(scores_of_voter(ensemble, k), X, background)
        np.testing.assert_allclose(representative.values, values, atol=1e-6)
        np.testing.assert_allclose(representative.base_values, base, atol=1e-6)


def check_sums(ensemble, X, background=None, atol=1e-6):
    explanation = explain(ensemble, X, background)
    sums = explanation.base_values + explanation.values.sum(axis=1)
    np.testing.assert_allclose(sums, ensemble.predict_proba(X), atol=atol)
    np.testing.assert_allclose(explanation.probabilities, ensemble.predict_proba(X), atol=1e-12)
    np.testing.assert_allclose(explanation.base_values.sum(), 1.0)
    return explanation


def numbers(n_rows=400, n_classes=2, seed=0, n_columns=4):
    X, y = make_classification(
        n_rows, n_columns, n_informative=n_columns, n_redundant=0, n_classes=n_classes,
        n_clusters_per_class=1, random_state=seed,
    )  # fmt: skip
    rng = np.random.default_rng(seed)
    X[:, 1] = np.round(X[:, 1])
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


def table(n_rows=300, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(n_rows) < 0.1, np.nan, rng.normal(40, 10, n_rows)),
            "town": rng.choice(["Oslo", "Rome", "Bonn", None], n_rows),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, n_rows), "D"),
            "shop": [f"shop {k}" for k in rng.integers(0, 90, n_rows)],
        }
    )
    score = (frame["age"].fillna(45) - 40) / 10 + 2.0 * (frame["town"] == "Rome")
    score += rng.normal(0, 0.4, n_rows)
    return frame, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


def all_kinds(**changes):
    """Return an ensemble in which default voters of all kinds stay."""
    return LiquidEnsembleClassifier(n_estimators=9, n_final=9, random_state=0, **changes)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_have_the_shapley_values_of_all_coalitions(n_classes):
    X, y = numbers(n_classes=n_classes)
    ensemble = all_kinds().fit(X, y)
    check_against_all_coalitions(ensemble, X[:3], X[10:14])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_players_are_the_columns_of_the_table(n_classes):
    X, y = table(n_classes=n_classes)
    ensemble = all_kinds().fit(X, y)
    assert ensemble.encoder_.n_output_columns > 10
    check_against_all_coalitions(ensemble, X[:2], X[10:13])


def test_one_hot_columns_belong_to_their_table_column():
    X, y = table()
    settings = {"estimator": SGDClassifier(loss="log_loss"), "diversity": None}
    ensemble = LiquidEnsembleClassifier(
        **settings, n_estimators=3, n_final=2, max_features=0.6, random_state=0
    ).fit(X, y)
    check_against_all_coalitions(ensemble, X[:2], X[10:13])
    assert explain(ensemble, X).feature_names == ["age", "town", "day", "shop"]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_contributions_sum_to_the_probabilities(n_classes, seed):
    X, y = numbers(n_classes=n_classes, seed=seed, n_columns=6)
    weights = np.random.default_rng(seed).integers(0, 4, len(y))
    ensemble = LiquidEnsembleClassifier(random_state=seed).fit(X, y, weights)
    check_sums(ensemble, X[:50], X)
    X, y = table(n_classes=n_classes, seed=seed)
    check_sums(LiquidEnsembleClassifier(random_state=seed).fit(X, y), X[:50], X)


def test_contributions_sum_to_probabilities_with_a_temperature():
    X, y = numbers(n_classes=3, n_columns=6)
    ensemble = LiquidEnsembleClassifier(SGDClassifier(loss="log_loss"), random_state=0)
    ensemble.fit(np.nan_to_num(X), y)
    assert ensemble.temperature_ != 1
    check_sums(ensemble, np.nan_to_num(X))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_hard_votes_are_explained_by_mean_probabilities(n_classes):
    X, y = numbers(n_classes=n_classes, n_columns=6)
    X = np.nan_to_num(X)
    ensemble = LiquidEnsembleClassifier.as_in_the_paper(n_estimators=20, random_state=0).fit(X, y)
    explanation = explain(ensemble, X)
    votes = np.array([one.vote for one in explanation.representatives])
    np.testing.assert_array_equal(votes, ensemble.vote_weights_ / ensemble.vote_weights_.sum())
    margins = np.stack([voter.decision_function(X[:, seen]) for voter, seen in zip(
        ensemble.estimators_, ensemble.estimators_features_, strict=True)])  # fmt: skip
    each = expit(margins)
    each = np.stack([1 - each, each], -1) if n_classes == 2 else each / each.sum(-1, keepdims=True)
    mean = np.einsum("v,vnc->nc", votes, each)
    np.testing.assert_allclose(explanation.probabilities, mean)
    sums = explanation.base_values + explanation.values.sum(axis=1)
    np.testing.assert_allclose(sums, mean, atol=1e-12)


def test_sparse_rows_are_explained_as_dense_ones():
    rng = np.random.default_rng(0)
    X = scipy.sparse.random_array((300, 12), density=0.3, rng=rng, format="csr")
    y = (np.asarray(X.sum(axis=1)) + rng.normal(0, 0.3, 300) > 1.8).astype(int)
    ensemble = all_kinds().fit(X, y)
    explanation = check_sums(ensemble, X)
    dense = explain(ensemble, X.toarray())
    np.testing.assert_allclose(explanation.values, dense.values, atol=1e-13)
    np.testing.assert_array_equal(explanation.data, X.toarray())


def test_linear_voters_have_coefficients_times_changes():
    X, y = load_iris(return_X_y=True)
    voter = LogisticRegression(max_iter=1000).fit(X, y)
    ensemble = prune([voter], X, y, n_final=1)
    explanation = check_sums(ensemble, X)
    changes = (X - X.mean(axis=0))[:, :, None] * voter.coef_.T
    np.testing.assert_allclose(explanation.representatives[0].values, changes)


def test_two_classes_share_one_factor_for_all_columns():
    X, y = load_breast_cancer(return_X_y=True)
    ensemble = LiquidEnsembleClassifier(BoostedTreesClassifier(), n_estimators=2, n_final=1)
    ensemble.fit(X, y)
    explanation = explain(ensemble, X[:20], X)
    own = explanation.representatives[0].values[:, :, 0]
    moves = own.sum(axis=1), explanation.values[:, :, 1].sum(axis=1)
    np.testing.assert_allclose(
        explanation.values[:, :, 1], own * (moves[1] / moves[0])[:, None], atol=1e-12
    )
    np.testing.assert_allclose(explanation.values.sum(axis=2), 0, atol=1e-12)


PRUNABLE = [
    RandomForestClassifier(20, random_state=0),
    ExtraTreesClassifier(20, random_state=0),
    BaggingClassifier(DecisionTreeClassifier(max_depth=5), 12, max_features=0.7, random_state=0),
    BaggingClassifier(RandomForestClassifier(3), 8, random_state=0),
    BaggingClassifier(make_pipeline(StandardScaler(), LinearSVC()), 12, random_state=0),
    BaggingClassifier(make_pipeline(RBFSampler(), LogisticRegression()), 8, random_state=0),
    BaggingClassifier(BoostedTreesClassifier(10), 8, random_state=0),
]


@pytest.mark.parametrize("forest", PRUNABLE, ids=repr)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_pruned_ensembles_are_explained(forest, n_classes):
    X, y = numbers(n_classes=n_classes, n_columns=5)
    X = np.nan_to_num(X)
    small = prune(forest.fit(X[:200], y[:200]), X[200:], y[200:], n_final=3, random_state=0)
    check_sums(small, X[:40], X)


def test_trees_of_scikit_learn_have_the_shapley_values_of_all_coalitions():
    X, y = numbers(n_classes=3)
    forest = RandomForestClassifier(6, random_state=0).fit(X, y)  # with missing values
    small = prune(forest, X, y, n_final=2, random_state=0)
    explanation = explain(small, X[:3], X[10:14])
    for representative, tree in zip(explanation.representatives, small.estimators_, strict=True):
        values, base = shapley_values(tree.predict_proba, X[:3], X[10:14])
        np.testing.assert_allclose(representative.values, values, atol=1e-6)
        np.testing.assert_allclose(representative.base_values, base, atol=1e-6)


def test_pruned_voters_on_data_frames_are_explained():
    X, y = table()
    X = X.astype({"town": "category"})[["age", "town"]]
    voters = [RandomizedForestClassifier(3, random_state=k).fit(X, y) for k in range(6)]
    explanation = check_sums(prune(voters, X, y, n_final=2, random_state=0), X)
    assert explanation.feature_names == ["age", "town"]
    numeric = pd.DataFrame(np.random.default_rng(0).normal(size=(300, 3)), columns=list("abc"))
    linear = [SGDClassifier(loss="log_loss", random_state=k).fit(numeric, y) for k in range(4)]
    check_sums(prune(linear, numeric, y, n_final=2, random_state=0), numeric)
    X, y = table()
    ensemble = LiquidEnsembleClassifier(random_state=0).fit(X, y)
    assert check_sums(prune(ensemble, X, y, n_final=2), X).values.shape == (300, 4, 2)


def test_a_voter_that_knows_some_classes_only_moves_these():
    X, y = load_iris(return_X_y=True)
    voters = [LogisticRegression().fit(X[y != k], y[y != k]) for k in range(3)]
    small = prune(voters, X, y, n_final=1, random_state=0)
    explanation = check_sums(small, X)
    unknown = ({0, 1, 2} - set(small.estimators_[0].classes_.tolist())).pop()
    (voter,) = explanation.representatives
    assert not voter.probabilities[:, unknown].any()
    moved = np.abs(explanation.values).max(axis=(0, 1))
    assert moved[unknown] < 0.001 * moved.max()  # by the temperature alone


def test_delegators_are_the_voters_behind_a_representative():
    X, y = load_breast_cancer(return_X_y=True)
    ensemble = LiquidEnsembleClassifier(random_state=0).fit(X, y)
    explanation = explain(ensemble, X[:2], X)
    graph, representatives = ensemble.delegation_graph_, explanation.representatives
    assert [one.voter for one in representatives] == graph.representatives.tolist()
    weights = [len(one.delegators) + 1 for one in representatives]
    np.testing.assert_array_equal(weights, ensemble.estimator_weights_)
    behind = {int(k): one.voter for one in representatives for k in one.delegators}
    assert behind == {k: int(g) for k, g in enumerate(graph.gurus) if k != g}
    for one, voter in zip(representatives, ensemble.estimators_, strict=True):
        np.testing.assert_allclose(one.probabilities, voter.predict_proba(X[:2]))
        assert one.estimator in {"linear", "forest", "boosted"}


def test_results_do_not_depend_on_n_jobs_or_on_other_rows():
    X, y = numbers(n_columns=6)
    ensemble = all_kinds().fit(X, y)
    values = explain(ensemble, X).values
    np.testing.assert_array_equal(explain(ensemble.set_params(n_jobs=2), X).values, values)
    some = explain(ensemble, X[100:143], X)
    np.testing.assert_allclose(some.values, values[100:143], atol=1e-13)


def test_saved_and_pickled_ensembles_are_explained_alike(tmp_path):
    X, y = table()
    ensemble = LiquidEnsembleClassifier(random_state=0).fit(X, y)
    save(ensemble, tmp_path / "model.skliquid")
    values = explain(ensemble, X).values
    for copy in (load(tmp_path / "model.skliquid"), pickle.loads(pickle.dumps(ensemble))):
        np.testing.assert_array_equal(explain(copy, X).values, values)


def test_large_backgrounds_are_sampled_at_equal_distances():
    X, y = numbers(n_rows=2_500)
    ensemble = LiquidEnsembleClassifier(random_state=0, n_final=2).fit(X, y)
    values = explain(ensemble, X[:5], X).values
    np.testing.assert_array_equal(explain(ensemble, X[:5], X[::3]).values, values)


def test_long_paths_and_many_columns_are_explained():
    X, y = make_classification(600, 300, n_informative=100, random_state=0)
    waves = Diversity(feature_maps=[FourierFeatures(gamma=0.01)])
    linear = LiquidEnsembleClassifier(SGDClassifier(loss="log_loss"), diversity=waves, n_final=1)
    check_sums(linear.fit(X, y), X[:40], X)
    rng = np.random.default_rng(0)
    X = np.eye(150)[rng.integers(0, 150, 3000)]
    y = (X @ rng.normal(size=150) > 0).astype(int)
    forest = RandomForestClassifier(2, max_features=3, random_state=0).fit(X, y)
    assert max(tree.get_depth() for tree in forest.estimators_) > 64
    check_sums(prune(forest, X, y, n_final=1), X[:40], X)


def test_more_classes_than_outputs_at_once_and_sparse_leaves():
    X, y = make_classification(900, 8, n_informative=8, n_redundant=0, n_classes=7, random_state=0)
    check_sums(all_kinds().fit(X, y), X[:40], X)
    y = np.arange(900) % 300
    forest = RandomizedForestClassifier(2, random_state=0).fit(X, y)
    assert forest.trees_.is_sparse
    check_sums(prune([forest], X, y, n_final=1), X[:10], X)


def test_voters_of_other_kinds_are_refused():
    X, y = load_iris(return_X_y=True)
    mixed = make_pipeline(KNeighborsClassifier())
    for estimator in (GaussianNB(), mixed, SGDClassifier(loss="modified_huber")):
        ensemble = LiquidEnsembleClassifier(estimator, n_estimators=3, n_final=1).fit(X, y)
        with pytest.raises(TypeError, match=r"must have .* got .* as voter \d\. Call shap"):
            explain(ensemble, X)


def test_perceptrons_are_explained():
    X, y = load_iris(return_X_y=True)
    ensemble = LiquidEnsembleClassifier(Perceptron(), n_estimators=3, n_final=2).fit(X, y)
    check_sums(ensemble, X)


def test_bad_input_gets_clear_errors(monkeypatch):
    X, y = load_iris(return_X_y=True)
    ensemble = LiquidEnsembleClassifier(random_state=0).fit(X, y)
    with pytest.raises(TypeError, match="ensemble must be a LiquidEnsembleClassifier or"):
        explain(LogisticRegression(), X)
    with pytest.raises(ValueError, match=r"background must be given unless .* got 1\. Give rows"):
        explain(ensemble, X[:1])
    with pytest.raises(ValueError, match="X has 3 features"):
        explain(ensemble, X[:, :3])
    with pytest.raises(ValueError, match="X has 3 features"):
        explain(ensemble, X, X[:, :3])
    with pytest.raises(ValueError, match="not fitted yet"):
        explain(LiquidEnsembleClassifier(), X)
    monkeypatch.setattr("skliquid.explanation.explaining.MAX_CELLS", 1000)
    with pytest.raises(ValueError, match=r"X must have at most 1000 contributions.* 150 rows, 4"):
        explain(ensemble, X)


def test_voters_of_texts_are_refused():
    from sklearn.feature_extraction.text import CountVectorizer

    texts, y = ["good", "bad", "good good", "bad bad"] * 5, [1, 0, 1, 0] * 5
    voters = [make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, y)] * 3
    small = prune(voters, texts, y, n_final=1)
    with pytest.raises(ValueError, match="X must have columns whose contributions can be found"):
        explain(small, texts)


def test_contributions_as_a_data_frame():
    X, y = load_iris(return_X_y=True, as_frame=True)
    y = y.map({0: "setosa", 1: "versicolor", 2: "virginica"})
    ensemble = LiquidEnsembleClassifier(random_state=0).fit(X, y)
    explanation = explain(ensemble, X)
    found = explanation.to_pandas("virginica")
    assert found.columns.tolist() == X.columns.tolist()
    np.testing.assert_array_equal(found, explanation.values[:, :, 2])
    with pytest.raises(ValueError, match="label must be one of the classes"):
        explanation.to_pandas("iris")


def test_the_softmax_of_scores_is_explained_by_log_means():
    rng = np.random.default_rng(0)
    from skliquid.explanation.shares import logs_from_shares, shares_from_logs

    values, base = rng.normal(0, 30, (50, 4, 3)), rng.normal(size=3)
    logs = base + values.sum(axis=1)
    shares = shares_from_logs(values, logs, base)
    np.testing.assert_allclose(
        shares.sum(axis=1), softmax(logs, axis=1) - softmax(base), atol=1e-13
    )
    values = values / 10  # at the temperature 1 nothing changes
    logs = base + values.sum(axis=1)
    shares, found = shares_from_logs(values, logs, base), softmax(logs, axis=1)
    back = logs_from_shares(shares, found, softmax(base))
    again = shares_from_logs(back, np.log(found), np.log(softmax(base)))
    np.testing.assert_allclose(again, shares, atol=1e-12)


def test_explain_is_a_public_name():
    assert "explain" in skliquid.__all__
