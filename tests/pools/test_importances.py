import numpy as np
import pytest
import scipy.sparse
from scipy.stats import spearmanr
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.inspection import permutation_importance
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from skliquid import Diversity, LiquidEnsembleClassifier, prune
from skliquid.pools.importances import importances_of, mean_importances
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier


@pytest.fixture(scope="module")
def informative():
    """Four features that count, and eight that do not."""
    X, y = make_classification(
        2000, 12, n_informative=4, n_redundant=0, shuffle=False, random_state=0
    )
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order]


@pytest.mark.parametrize("voter", [RandomizedForestClassifier, BoostedTreesClassifier])
def test_trees_split_on_features_that_count(voter, informative):
    importances = voter(random_state=0).fit(*informative).feature_importances_
    assert importances.sum() == pytest.approx(1)
    assert importances[:4].min() > importances[4:].max()


def test_a_split_counts_half_of_one_above_it():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 50)
    y = np.array([0, 1, 2, 2] * 50)  # the first feature, and then at the left the second
    voter = RandomizedForestClassifier(
        n_estimators=1, splitter="best", max_features=1.0, min_samples_leaf=1, random_state=0
    ).fit(X, y)
    assert len(voter.trees_.trees[0][0]) // 16 == 5  # nodes
    np.testing.assert_allclose(voter.feature_importances_, [2 / 3, 1 / 3])


def test_a_voter_without_a_split_has_no_importances():
    X = np.zeros((20, 3))
    voter = BoostedTreesClassifier(random_state=0).fit(X, [0, 1] * 10)
    assert voter.feature_importances_.tolist() == [0, 0, 0]


def test_the_default_ensemble_has_importances_that_rank_features_by_worth(informative):
    X, y = informative
    ensemble = LiquidEnsembleClassifier(random_state=0).fit(X[:1000], y[:1000])
    importances = ensemble.feature_importances_
    assert importances.sum() == pytest.approx(1)
    assert set(np.argsort(importances)[-4:]) == {0, 1, 2, 3}
    worth = permutation_importance(
        ensemble, X[1000:], y[1000:], scoring="neg_log_loss", n_repeats=2, random_state=0
    )
    assert spearmanr(importances, worth.importances_mean).statistic > 0.4


def test_voters_count_by_the_votes_they_carry():
    class Voter:
        def __init__(self, importances):
            self.feature_importances_ = importances

    voters = [Voter(np.array([2.0, 0.0])), Voter(np.array([5.0]))]
    seen = [np.array([0, 1]), np.array([1])]
    assert mean_importances(voters, seen, [3, 1], 2).tolist() == [0.75, 0.25]


def test_coefficients_count_by_their_size_over_all_classes():
    X, y = make_classification(300, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
    voter = SGDClassifier(random_state=0).fit(X, y)
    np.testing.assert_allclose(importances_of(voter), np.abs(voter.coef_).mean(axis=0))
    dense = importances_of(voter).copy()
    voter.sparsify()
    assert scipy.sparse.issparse(voter.coef_)
    np.testing.assert_allclose(importances_of(voter), dense)


def test_random_fourier_features_count_by_their_root_mean_square_derivative():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    voter = make_pipeline(
        StandardScaler(), RBFSampler(gamma=0.3, random_state=0), SGDClassifier(random_state=0)
    ).fit(X, X[:, 0] * X[:, 1] > 0)
    points = rng.normal(size=(20_000, 3)) * 50  # phases are then uniform
    scale = voter[0].scale_
    measured = []
    for j in range(3):
        step = np.zeros(3)
        step[j] = 1e-5 * scale[j]
        rises = voter.decision_function(points + step) - voter.decision_function(points - step)
        measured.append(np.sqrt(np.mean((rises / 2e-5) ** 2)))
    np.testing.assert_allclose(importances_of(voter), measured, rtol=0.05)


@pytest.mark.parametrize(
    "voter", [SVC(), make_pipeline(PCA(), SGDClassifier())], ids=["no_coef", "mixing_map"]
)
def test_a_voter_without_importances_is_named_with_the_way_out(voter, binary):
    ensemble = LiquidEnsembleClassifier(voter, n_estimators=4, n_final=2, random_state=0)
    ensemble.fit(*binary)
    assert not hasattr(ensemble, "feature_importances_")
    with pytest.raises(AttributeError, match="permutation_importance"):
        _ = ensemble.feature_importances_


def test_features_that_voters_do_not_see_have_none(binary):
    X, y = binary
    ensemble = LiquidEnsembleClassifier(
        DecisionTreeClassifier(max_depth=3),
        n_estimators=2,
        n_final=1,
        max_features=2,
        diversity=Diversity(),
        random_state=0,
    ).fit(X, y)
    seen = ensemble.estimators_features_[0]
    assert ensemble.feature_importances_[seen].sum() == pytest.approx(1)


def test_a_pruned_forest_has_importances(binary):
    forest = RandomForestClassifier(20, random_state=0).fit(*binary)
    pruned = prune(forest, *binary, n_final=4, random_state=0)
    assert pruned.feature_importances_.sum() == pytest.approx(1)
