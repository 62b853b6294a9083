from time import perf_counter

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from small_ensembles import same

from skliquid import Diversity, LiquidEnsembleClassifier, train_on
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier

SGD = SGDClassifier()
PIPELINE = make_pipeline(StandardScaler(), SGDClassifier(max_iter=50, tol=None))


def fitted(binary, estimator=SGD, n_voters=30, **params):
    return LiquidEnsembleClassifier(
        estimator,
        competence="training",
        n_estimators=n_voters,
        n_final=5,
        increment_size=25,
        random_state=0,
        **params,
    ).fit(*binary)


@pytest.fixture
def whole(binary):
    return fitted(binary)


@pytest.mark.parametrize("pool", ["linear", "estimator"])
@pytest.mark.parametrize("share", [0.02, 0.1, 0.3, 0.6, 0.9])
def test_no_more_is_spent_than_allowed(binary, whole, share, pool):
    limit = int(share * whole.training_cost_.total)
    ensemble = fitted(binary, max_cost=limit, pool=pool)
    assert ensemble.training_cost_.total <= limit
    assert f"max_cost={limit}" in ensemble.record_.stopped
    assert ensemble.score(*binary) > 0.8


VOTERS = {
    "default": None,
    "forests": RandomizedForestClassifier(),
    "boosted trees": BoostedTreesClassifier(subsample=0.7),
    "trees of few rows": RandomizedForestClassifier(max_rows=40),
    "forests without partial_fit": make_pipeline(StandardScaler(), RandomizedForestClassifier(5)),
    "linear voters on maps": SGDClassifier(average=True),
    "SGD without partial_fit": PIPELINE,
    "trees": DecisionTreeClassifier(max_depth=3),
    "SVC": SVC(),
    "logistic regression": LogisticRegression(),
    "MLP": MLPClassifier((5,), max_iter=30),
    "bayes": GaussianNB(),
    "neighbors": KNeighborsClassifier(3, algorithm="kd_tree"),
    "mixed": [("svc", SVC()), ("tree", DecisionTreeClassifier()), ("sgd", SGDClassifier())],
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("sampled", [{}, {"bootstrap": True}, {"max_samples": 0.7}], ids=str)
@pytest.mark.parametrize("name", VOTERS)
def test_no_voter_of_any_class_spends_more_than_allowed(binary, name, sampled):
    X, y = binary[0][:200], binary[1][:200]
    if "maps" in name:
        sampled = sampled | {"diversity": Diversity(feature_maps="fourier")}
    for limit in (1000, 9000):
        ensemble = fitted((X, y), VOTERS[name], n_voters=8, max_cost=limit, **sampled)
        assert 0 < ensemble.training_cost_.total <= limit
        assert "exceeded" not in (ensemble.record_.stopped or "")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("estimator", "most"),
    [
        (PIPELINE, 50),
        (SVC(), -1),
        (LogisticRegression(max_iter=80), 80),
    ],
)
def test_passes_are_limited_and_parameters_stay(binary, estimator, most):
    ensemble = fitted(binary, estimator, max_cost=30 * 25 * 2)
    assert ensemble.training_cost_.total == 30 * 25 * 2
    assert "limited fits at increment 1 to 2 passes" in ensemble.record_.stopped
    voter = ensemble.estimators_[0]
    assert getattr(voter, "steps", [("", voter)])[-1][1].max_iter == most


def test_a_final_fit_does_not_leave_a_voter_worse(binary):
    whole = fitted(binary, SVC(), mechanism="direct")  # one increment, and the final fit
    limit = whole.training_cost_.increments + 3 * 569
    ensemble = fitted(binary, SVC(), mechanism="direct", max_cost=limit)
    assert ensemble.training_cost_ == (whole.training_cost_.increments, 0)
    assert "left 0 of" in ensemble.record_.stopped  # three passes are no fit for them


TREES = {
    "default": None,
    "forests": RandomizedForestClassifier(),
    "boosted": BoostedTreesClassifier(20, subsample=1.0),
}


def of_trees(binary, name, **params):
    estimator, options = TREES[name], {"n_estimators": 12, "n_final": 4, "random_state": 0}
    return LiquidEnsembleClassifier(estimator, **options, **params).fit(*binary)


@pytest.mark.parametrize("name", TREES)
def test_trees_are_limited_and_what_was_cut_short_is_recorded(binary, name):
    whole = of_trees(binary, name)
    for share in (0.1, 0.3, 0.6, 0.9):
        limit = int(share * whole.training_cost_.total)
        ensemble = of_trees(binary, name, max_cost=limit)
        assert ensemble.training_cost_.total <= limit
        assert f"max_cost={limit}" in ensemble.record_.stopped
        assert ensemble.score(*binary) > 0.9
        for voter in ensemble.estimators_:
            assert not hasattr(voter, "trees_") or 0 < len(voter.trees_) <= voter.n_estimators
    # passes of linear voters are not known before, so that those of trees may be limited for them
    enough = whole.training_cost_.total * (100 if name == "default" else 1)
    exact = of_trees(binary, name, max_cost=enough)
    assert exact.record_.stopped is None
    assert same(exact, whole, binary[0])


def test_increments_with_fewer_trees_than_are_due_are_recorded(binary):
    forest = RandomizedForestClassifier(n_estimators=16)  # of which four are due at once
    options = {"n_estimators": 6, "n_final": 3, "increment_size": 200, "random_state": 0}
    limit = 3 * 6 * 200  # three trees of each voter at the first increment
    ensemble = LiquidEnsembleClassifier(forest, max_cost=limit, **options).fit(*binary)
    assert ensemble.training_cost_ == (limit, 0)
    assert "limited fits at increment 1 to 3 passes" in ensemble.record_.stopped
    assert [len(voter.trees_) for voter in ensemble.estimators_] == [3] * 6


@pytest.mark.parametrize(("name", "n_before"), [("forests", 2), ("boosted", 5)])
def test_a_final_fit_leaves_no_voter_with_fewer_trees(binary, name, n_before):
    cost = of_trees(binary, name, mechanism="direct").training_cost_  # one increment
    n_after = []
    for extra in (0, 569, 1300, 3000, 10_000, 40_000):
        limit = cost.increments + extra
        ensemble = of_trees(binary, name, mechanism="direct", max_cost=limit)
        n_after.append([len(voter.trees_) for voter in ensemble.estimators_])
        assert f"max_cost={limit}" in ensemble.record_.stopped
    assert n_after[0] == [n_before] * 12
    assert min(map(min, n_after)) == n_before
    assert max(n_after[-1]) > n_before


def test_voters_behind_maps_are_not_taken_for_refitted_ones(binary):
    mixed = [("linear", SGDClassifier(average=True)), ("tree", DecisionTreeClassifier(max_depth=2))]
    diversity = Diversity(feature_maps={"linear": "fourier"})
    options = {"n_voters": 6, "diversity": diversity, "mechanism": "random"}
    whole = fitted(binary, mixed, **options)
    limit = whole.training_cost_.increments
    ensemble = fitted(binary, mixed, max_cost=limit, **options)
    assert ensemble.training_cost_.increments == limit  # one pass of each linear voter over 25 rows
    assert "left 0 of 5 representatives with a final fit" in ensemble.record_.stopped
    assert "ended delegation" not in ensemble.record_.stopped


class _Stubborn(DummyClassifier):
    """Takes three passes, whatever the limit."""

    n_iter_ = 3


def test_a_limit_that_could_not_be_kept_is_recorded(binary):
    ensemble = fitted(binary, _Stubborn(), max_cost=30 * 25)
    assert ensemble.training_cost_ == (3 * 30 * 25, 0)
    assert "max_cost=750 was exceeded by 1500: passes" in ensemble.record_.stopped


def test_voters_that_have_seen_one_class_may_take_more_later(multiclass):
    X, y = multiclass
    order = np.argsort(y == 2, kind="stable")  # shuffled by fit; so few rows often lack a class
    ensemble = LiquidEnsembleClassifier(
        LogisticRegression(),
        n_estimators=4,
        n_final=2,
        increment_size=1,
        max_cost=300,
        random_state=0,
    ).fit(X[order], y[order])
    assert ensemble.training_cost_.total <= 300


def test_the_first_increment_must_be_allowed(binary):
    with pytest.raises(
        ValueError, match=r"may take 750 visits of 30 voters: got 749. Raise max_cost"
    ):
        fitted(binary, max_cost=749)
    ensemble = fitted(binary, max_cost=750)
    assert ensemble.training_cost_ == (30 * 25, 0)
    assert len(ensemble.record_) == 1
    n_left = len(ensemble.estimators_)
    assert f"ended delegation after 1 increments with {n_left}" in ensemble.record_.stopped
    assert f"left 0 of {n_left} representatives with a final fit" in ensemble.record_.stopped


def test_a_budget_that_is_not_reached_changes_nothing(binary, whole):
    ensemble = fitted(binary, max_cost=10**12, max_seconds=10**6)
    assert ensemble.record_.stopped is None
    assert ensemble.training_cost_ == whole.training_cost_
    for ours, theirs in zip(ensemble.estimators_, whole.estimators_, strict=True):
        assert np.array_equal(ours.coef_, theirs.coef_)


def test_a_budget_leaves_voters_the_samples_they_learned_from(binary):
    X, y = binary
    both = [
        fitted((X[:400], y[:400]), DecisionTreeClassifier(), n_voters=8, bootstrap=True, **limit)
        for limit in ({}, {"max_cost": 10**9})  # which finishes a few voters at a time
    ]
    for ensemble in both:
        ensemble.set_params(max_cost=None).partial_fit(X[400:430], y[400:430])
    for one, other in zip(*(ensemble.estimators_ for ensemble in both), strict=True):
        assert np.array_equal(one.tree_.threshold, other.tree_.threshold)


def test_the_heaviest_are_refitted_first(binary, whole):
    increments_only = fitted(binary, max_cost=whole.training_cost_.increments)
    ensemble = fitted(binary, max_cost=whole.training_cost_.increments + 4 * 569)
    assert "left 4 of 5 representatives with a final fit" in ensemble.record_.stopped
    pairs = zip(ensemble.estimators_, increments_only.estimators_, strict=True)
    is_fitted = np.array([not np.array_equal(one.coef_, other.coef_) for one, other in pairs])
    weights = ensemble.estimator_weights_
    assert is_fitted.sum() == 4
    assert weights[is_fitted].min() >= weights[~is_fitted].max()


def test_voters_that_count_no_passes_keep_within_the_budget_too(binary):
    tree = DecisionTreeClassifier(max_depth=2)
    whole = fitted(binary, estimator=tree)
    limit = whole.training_cost_.total // 2
    ensemble = fitted(binary, estimator=tree, max_cost=limit)
    assert "ended delegation" in ensemble.record_.stopped
    assert "limited" not in ensemble.record_.stopped  # a tree takes one pass, or none
    assert limit / 2 < ensemble.training_cost_.total <= limit


@pytest.mark.parametrize("limit", [{"max_cost": 10**6}, {"max_seconds": 60.0}], ids=str)
def test_a_stream_has_no_budget(binary, limit):
    (name,) = limit
    ensemble = LiquidEnsembleClassifier(SGD, n_estimators=5, n_final=2, random_state=0)
    with pytest.raises(ValueError, match=f"{name} must be None in partial_fit"):
        ensemble.set_params(**limit).partial_fit(*binary)
    ensemble.fit(*binary)
    with pytest.raises(ValueError, match=f"{name} must be None in partial_fit"):
        ensemble.partial_fit(*binary)
    cost = ensemble.training_cost_.total
    ensemble.set_params(**{name: None}).partial_fit(*binary)
    assert ensemble.training_cost_.total > cost


def test_a_budget_for_online_training_is_refused_before_the_file_is_read():
    ensemble = LiquidEnsembleClassifier(max_cost=10**6)
    with pytest.raises(ValueError, match="max_cost must be None in partial_fit"):
        train_on("nowhere.csv", target="y", ensemble=ensemble, online=True)


def test_training_ends_in_time(binary):
    X, y = np.tile(binary[0], (20, 1)), np.tile(binary[1], 20)
    slow = SGDClassifier(max_iter=10_000, tol=None)
    started = perf_counter()
    ensemble = LiquidEnsembleClassifier(
        slow, n_estimators=40, max_seconds=0.5, pool="estimator", random_state=0
    ).fit(X, y)
    assert "max_seconds=0.5" in ensemble.record_.stopped
    assert perf_counter() - started < 60  # it would take many minutes without a limit
    assert ensemble.score(X, y) > 0.9
