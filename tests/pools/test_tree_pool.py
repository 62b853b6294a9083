"""The tree pool: the bits of voters that are alone, on rows and bins that are shared."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import SGDClassifier
from small_ensembles import parts, same
from streams_with_drift import stream

from skliquid import CompetenceMeasure, Diversity, LiquidEnsembleClassifier, prune, revocable
from skliquid.delegation.rows import Rows
from skliquid.diversity import Spread
from skliquid.pools import EstimatorPool, LinearPool, TreePool
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier

FOREST, BOOSTED = RandomizedForestClassifier(4), BoostedTreesClassifier(8, max_depth=3)
BOTH = [("forest", FOREST), ("boosted", BOOSTED)]
OF_FEW_ROWS = [(name, clone(voter).set_params(max_rows=90)) for name, voter in BOTH]
KINDS = {"forest": FOREST, "boosted": BOOSTED, "both": BOTH, "of few rows": OF_FEW_ROWS}


def with_gaps(X):
    return np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)


def mostly_zeros(X):
    return scipy.sparse.csr_matrix(np.where(np.median(X, axis=0) < X, X, 0))


CONTAINERS = {
    "as they are": np.asarray,
    "with missing values": with_gaps,
    "sparse": mostly_zeros,
    "float32": np.float32,
}


def trees_of(voter):
    return voter.trees_.trees, voter.n_grown_, voter.n_seen_, voter.n_visits_


# Voters in a pool, and alone

N_VOTERS, CLASSES = 6, np.array(["a", "b", "c"])


def two_pools(estimators=(FOREST, BOOSTED), classes=CLASSES, **options):
    """Return the same voters in a tree pool, and one by one."""
    voters = [
        clone(estimators[k % len(estimators)]).set_params(random_state=k) for k in range(N_VOTERS)
    ]
    return [
        kind(list(map(clone, voters)), classes, **options) for kind in (TreePool, EstimatorPool)
    ]


def assert_same_bits(pools, voters, X):
    ours, theirs = pools
    for method in ("vote", "probabilities", "margins"):
        assert np.array_equal(*(getattr(pool, method)(voters, X) for pool in pools)), method
    for one, other in zip(ours.estimators(voters), theirs.estimators(voters), strict=True):
        assert trees_of(one) == trees_of(other)


@st.composite
def histories(draw):
    """Which voters train at each increment: all at the first, then any."""
    some = st.sets(st.integers(0, N_VOTERS - 1), min_size=1)
    return [set(range(N_VOTERS)), *draw(st.lists(some, min_size=1, max_size=5))]


@given(
    histories(),
    st.sampled_from([None, "rows", "voters"]),
    st.booleans(),
    st.sampled_from([1000, 40]),
)
@settings(max_examples=25)
def test_voters_that_train_now_and_then_have_their_own_bits(
    multiclass, history, weighted, has_subspaces, max_rows
):
    X, y = multiclass
    rng = np.random.default_rng(0)
    subspaces = np.sort(rng.permuted(np.tile(np.arange(4), (6, 1)), axis=1)[:, :2], axis=1)
    estimators = [clone(voter).set_params(max_rows=max_rows) for voter in (FOREST, BOOSTED)]
    pools = two_pools(estimators, subspaces=subspaces if has_subspaces else None)
    everyone = np.arange(N_VOTERS)
    for t, chosen in enumerate(history):
        voters, cut = np.array(sorted(chosen)), slice(25 * t, 25 * t + 25)
        shape = {None: None, "rows": (25,), "voters": (len(voters), 25)}[weighted]
        weights = None if shape is None else rng.choice([0.5, 1.0, 3.0], size=shape)
        costs = [pool.train(voters, Rows(X[cut], y[cut], weights)) for pool in pools]
        assert costs[0] == costs[1]
        assert costs[0] == sum(voter.n_visits_ for voter in pools[0].estimators(voters))
    assert_same_bits(pools, everyone, X)
    costs = [pool.finish(everyone[1:], Rows(X, y)) for pool in pools]
    assert costs[0] == costs[1] == sum(v.n_visits_ for v in pools[0].estimators(everyone[1:]))
    assert_same_bits(pools, everyone, X)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_of_any_type_give_the_bits_of_voters_that_are_alone(multiclass, container, n_classes):
    X, y = CONTAINERS[container](multiclass[0]), multiclass[1] % n_classes
    pools, everyone = two_pools(classes=CLASSES[:n_classes]), np.arange(N_VOTERS)
    for pool in pools:
        for cut in (slice(60), slice(60, 110), slice(110, 111), slice(111, 150)):
            pool.train(everyone, Rows(X[cut], y[cut]))
    assert_same_bits(pools, everyone, X)
    for pool in pools:
        pool.finish(everyone, Rows(X, y))
    assert_same_bits(pools, everyone, X)


def test_a_voter_of_a_pool_is_what_it_would_be_alone(multiclass):
    X, y = multiclass
    ours, everyone = two_pools()[0], np.arange(N_VOTERS)
    alone = [clone(voter) for voter in ours._unfitted.values()]
    for cut in (slice(50), slice(50, 100)):
        ours.train(everyone, Rows(X[cut], y[cut]))
        for voter in alone:
            voter.partial_fit(X[cut], CLASSES[y[cut]], classes=CLASSES)
    for one, other in zip(ours.estimators(everyone), alone, strict=True):
        assert trees_of(one) == trees_of(other)
        assert one.get_params() == other.get_params()
    ours.finish(everyone, Rows(X, y))
    for one, other in zip(ours.estimators(everyone), alone, strict=True):
        assert trees_of(one) == trees_of(other.fit(X, CLASSES[y]))
        assert np.array_equal(one.predict(X), other.predict(X))
        assert one.classes_.tolist() == list("abc")


def test_rows_are_kept_once_until_the_histories_of_voters_differ(multiclass):
    X, y = multiclass
    pool, everyone = two_pools()[0], np.arange(N_VOTERS)

    def train(voters, at):
        pool.train(np.array(voters), Rows(X[at : at + 20], y[at : at + 20]))
        groups = {}
        for voter, recent in pool._recent.items():
            groups.setdefault(id(recent), []).append(voter)
        return list(groups.values())

    assert train(everyone, 0) == [[0, 1, 2, 3, 4, 5]]
    assert train(everyone, 20) == [[0, 1, 2, 3, 4, 5]]
    assert train([0, 2, 3], 40) == [[0, 2, 3], [1, 4, 5]]
    assert train([0, 1, 2, 3], 60) == [[0, 2, 3], [1], [4, 5]]
    assert train(everyone, 80) == [[0, 2, 3], [1], [4, 5]]
    assert [pool._recent[voter].n_seen for voter in everyone] == [100, 80, 100, 100, 60, 60]
    pool.keep(np.array([1, 4]), training_is_over=False)
    assert train([1, 4], 100) == [[1], [4]]
    pool.finish(np.array([1, 4]), Rows(X, y))
    assert train([1, 4], 120) == [[1, 4]]  # a fit leaves no history


def test_the_rows_of_the_user_may_be_used_again(multiclass):
    X, y = multiclass
    (again, _), (apart, _), everyone = two_pools(), two_pools(), np.arange(N_VOTERS)
    buffer, labels, weights = np.empty((30, 4)), np.empty(30, int), np.empty(30)
    for start in range(0, 150, 30):
        cut = slice(start, start + 30)
        buffer[:], labels[:], weights[:] = X[cut], y[cut], np.linspace(0.1, 3, 30)
        again.train(everyone, Rows(buffer, labels, weights))
        apart.train(everyone, Rows(X[cut], y[cut], np.linspace(0.1, 3, 30)))
    assert_same_bits([again, apart], everyone, X)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda pool: pickle.loads(pickle.dumps(pool))])
def test_a_copy_continues_with_the_same_bits_and_leaves_the_original_alone(multiclass, copied):
    X, y = multiclass
    (ours, theirs), everyone = two_pools(), np.arange(N_VOTERS)
    for pool in (ours, theirs):
        pool.train(everyone, Rows(X[:50], y[:50]))
        pool.train(everyone[:4], Rows(X[50:80], y[50:80]))
    before = ours.probabilities(everyone, X)
    twin = copied(ours)
    n_kept = [len(set(map(id, pool._recent.values()))) for pool in (ours, twin)]
    assert n_kept == [2, 2]  # those that train on, and those that pause
    for pool in (twin, theirs):
        pool.train(everyone[2:], Rows(X[80:120], y[80:120]))
    assert_same_bits([twin, theirs], everyone, X)
    assert np.array_equal(ours.probabilities(everyone, X), before)
    ours.train(everyone[2:], Rows(X[80:120], y[80:120]))
    assert_same_bits([ours, theirs], everyone, X)
    kept = np.array([1, 4])
    for pool in (ours, twin, theirs):
        pool.keep(kept, training_is_over=False)
        pool.train(kept, Rows(X[120:], y[120:]))
    assert_same_bits([ours, theirs], kept, X)
    assert_same_bits([twin, theirs], kept, X)


# What it accepts


def test_a_pool_holds_voters_that_keep_equally_many_rows():
    assert TreePool.unsupported_parameter(FOREST) is TreePool.unsupported_parameter(BOOSTED) is None
    assert TreePool.unsupported_parameter(SGDClassifier()) == "SGDClassifier"
    assert TreePool.unsupported_parameter(ExtraTreesClassifier()) == "ExtraTreesClassifier"
    balanced = RandomizedForestClassifier(class_weight="balanced")
    assert TreePool.unsupported_parameter(balanced) == "class_weight='balanced'"
    categorical = BoostedTreesClassifier(categorical_features=[0])
    assert TreePool.unsupported_parameter(categorical) == "categorical_features=[0]"
    assert (
        TreePool.unsupported_parameter(RandomizedForestClassifier(categorical_features=None))
        is None
    )
    assert TreePool.sharing_key(FOREST) == TreePool.sharing_key(BOOSTED)
    assert TreePool.can_share([{"max_features": 0.5}, {}])
    assert not TreePool.can_share([{"max_features": 0.5}, {"max_rows": 5}])


@pytest.mark.parametrize("others", [[], [("sgd", SGDClassifier())]], ids=["alone", "mixed"])
def test_all_tree_voters_of_an_ensemble_share_a_pool(binary, others):
    ensemble = LiquidEnsembleClassifier(BOTH + others, n_estimators=6, n_final=6).fit(*binary)
    pool = ensemble._fitted.training.pool
    types = [type(part) for part in pool.pools or [pool]]
    assert types == [TreePool] + [LinearPool] * len(others)


def test_voters_that_keep_different_numbers_of_rows_have_a_pool_for_each_number(binary):
    drawn = {"forest__max_rows": Spread((50, 100)), "boosted__max_rows": Spread((100, 200))}
    diversity = Diversity(param_distributions=drawn)
    ours, theirs = (
        LiquidEnsembleClassifier(
            BOTH, n_estimators=8, n_final=4, diversity=diversity, pool=pool, random_state=0
        ).fit(*binary)
        for pool in ("auto", "estimator")
    )
    assert same(ours, theirs, binary[0])
    assert len(ours._fitted.training.pool.pools) == 3


def test_a_pool_named_trees_takes_nothing_else(binary):
    message = r"pool='trees' must support all voters: it does not support SGDClassifier"
    with pytest.raises(ValueError, match=message):
        LiquidEnsembleClassifier(pool="trees").fit(*binary)
    ensemble = LiquidEnsembleClassifier(BOTH, pool="trees", n_estimators=4, n_final=2)
    assert ensemble.fit(*binary).score(*binary) > 0.9
    weighing = RandomizedForestClassifier(class_weight={0: 2.0})
    with pytest.raises(ValueError, match=r"it does not support class_weight=\{0: 2.0\}. Choose"):
        ensemble.set_params(estimator=weighing).fit(*binary)
    ensemble.set_params(pool="auto").fit(*binary)
    assert isinstance(ensemble._fitted.training.pool, EstimatorPool)


@pytest.mark.parametrize(
    ("voter", "message"),
    [
        (BoostedTreesClassifier(max_depth=17), "max_depth must be at most 16: got 17"),
        (BoostedTreesClassifier(subsample=0.0), "subsample must be above 0 and up to 1: got 0.0"),
        (BoostedTreesClassifier(n_estimators=0), "n_estimators must be a whole number"),
        (RandomizedForestClassifier(max_rows=0), "max_rows must be a whole number of 1 or more"),
        (RandomizedForestClassifier(splitter="worst"), "splitter must be one of random, best"),
        (RandomizedForestClassifier(max_features=1.5), "max_features must be 'sqrt', .* got 1.5"),
    ],
)
@pytest.mark.parametrize("pool", ["trees", "estimator"])
def test_wrong_parameters_are_refused_as_by_the_voters(binary, voter, message, pool):
    ensemble = LiquidEnsembleClassifier(voter, n_estimators=3, n_final=2, pool=pool)
    with pytest.raises(ValueError, match=message):
        ensemble.fit(*binary)


# Ensembles


def two_ensembles(kind, **options):
    defaults = {"n_estimators": 9, "n_final": 3, "random_state": 0}
    return [
        LiquidEnsembleClassifier(KINDS[kind], pool=pool, **defaults | options)
        for pool in ("auto", "estimator")
    ]


OPTIONS = {
    "plain": {},
    "bootstrap": {"bootstrap": True},
    "half of the rows": {"max_samples": 0.5},
    "half of the features": {"max_features": 0.5},
    "revocable": {"mechanism": revocable("proportional_weighted"), "delegation_rate": 0.3},
    "balanced": {"class_weight": "balanced"},
    "hard votes": {"voting": "hard", "competence": "prequential"},
    "as in the paper": {"competence": "training", "increment_size": 40},
    "no final fit": {"final_fit": False},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", OPTIONS)
def test_ensembles_have_the_same_bits_through_both_pools(multiclass, kind, name):
    X, y = multiclass
    ensembles = two_ensembles(kind, **OPTIONS[name])
    for ensemble in ensembles:
        ensemble.fit(X, y)
    assert same(*ensembles, X)
    assert ensembles[0].score(X, y) > 0.85
    for ensemble in ensembles:
        ensemble.partial_fit(X[:40], y[:40])
        ensemble.refit(X[:120], y[:120], sample_weight=np.linspace(0, 2, 120))
        ensemble.partial_fit(X[40:], y[40:])
    assert same(*ensembles, X)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["plain", "bootstrap", "half of the features", "revocable"])
def test_streams_have_the_same_bits_through_both_pools_and_when_saved(multiclass, kind, name):
    X, y = multiclass
    ours, theirs = two_ensembles(kind, **OPTIONS[name])
    weights = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 3.0], size=150)
    for number, cut in enumerate(np.split(np.arange(150), 6)):
        for ensemble in (ours, theirs):
            ensemble.partial_fit(X[cut], y[cut], classes=[0, 1, 2], sample_weight=weights[cut])
        ours = copy.deepcopy(ours) if number % 2 else pickle.loads(pickle.dumps(ours))
    assert same(ours, theirs, X)
    for one, other in zip(ours.estimators_, theirs.estimators_, strict=True):
        assert trees_of(one) == trees_of(other)


@pytest.mark.parametrize("mechanism", [revocable("proportional_weighted"), "learning_slopes"])
@pytest.mark.parametrize("bootstrap", [False, True])
def test_voters_that_pause_and_come_back_have_the_same_bits_through_both_pools(
    mechanism, bootstrap
):
    ensembles = two_ensembles(
        "of few rows",
        mechanism=mechanism,
        competence=CompetenceMeasure("contribution", memory=3),
        delegation_rate=0.3,
        bootstrap=bootstrap,
    )
    batches = stream(24, batch=60, turn=12)
    for X, y in batches:
        for ensemble in ensembles:
            ensemble.partial_fit(X, y, classes=[0, 1])
    assert any(len(step.returned) for step in ensembles[0].record_)
    assert same(*ensembles, batches[0][0])


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("name", ["plain", "bootstrap", "half of the features"])
def test_ensembles_of_rows_of_any_type_have_the_same_bits_through_both_pools(
    multiclass, container, name
):
    X, y = CONTAINERS[container](multiclass[0]), multiclass[1]
    for method in ("fit", "partial_fit"):
        ensembles = two_ensembles("both", **OPTIONS[name])
        for ensemble in ensembles:
            getattr(ensemble, method)(X, y)
        assert same(*ensembles, X)


@pytest.mark.parametrize("kind", KINDS)
def test_classes_that_come_later_have_the_same_bits_through_both_pools(multiclass, kind):
    X, y = multiclass
    order = np.argsort(y == 2, kind="stable")
    ensembles = two_ensembles(kind)
    for ensemble in ensembles:
        for X_part, y_part in parts(X[order], y[order], 30):
            ensemble.partial_fit(X_part, y_part)
    assert ensembles[0].classes_.tolist() == [0, 1, 2]
    assert same(*ensembles, X)
    assert ensembles[0].score(X, y) > 0.85


@pytest.mark.parametrize("kind", ["both", "of few rows"])
def test_the_number_of_threads_changes_no_bit(binary, kind):
    X, y = binary
    one, *others = (two_ensembles(kind, n_jobs=n_jobs)[0].fit(X, y) for n_jobs in (1, 2, 4))
    for other in others:
        assert same(one, other, X)
    stream, threads = two_ensembles(kind)[0], two_ensembles(kind, n_jobs=4)[0]
    for X_part, y_part in parts(X, y, 150):
        stream.partial_fit(X_part, y_part)
        threads.partial_fit(X_part, y_part)
    assert same(stream, threads, X)


def test_an_evaluation_set_is_scored_alike_and_changes_nothing(binary):
    X, y = binary
    ours, theirs = two_ensembles("both", final_fit=False)
    plain = two_ensembles("both", final_fit=False)[0].fit(X[:300], y[:300])
    for ensemble in (ours, theirs):
        ensemble.fit(X[:300], y[:300], eval_set=(X[300:], y[300:]))
    assert same(ours, plain, X)
    scores = [[record.eval_accuracy for record in one.record_] for one in (ours, theirs)]
    assert scores[0] == scores[1]
    assert scores[0][-1] == ours.score(X[300:], y[300:])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("max_features", [1.0, 0.5])
def test_estimators_are_fitted_voters_whose_mean_is_the_ensemble(binary, kind, max_features):
    X, y = binary
    ensemble = two_ensembles(kind, max_features=max_features)[0].fit(X, y)
    assert ensemble.temperature_ == 1
    voters = zip(
        ensemble.estimators_,
        ensemble.estimators_features_,
        ensemble.vote_weights_ / ensemble.vote_weights_.sum(),
        strict=True,
    )
    mean = sum(share * voter.predict_proba(X[:, seen]) for voter, seen, share in voters)
    np.testing.assert_allclose(ensemble.predict_proba(X), mean, rtol=0, atol=1e-12)
    for voter, seen in zip(ensemble.estimators_, ensemble.estimators_features_, strict=True):
        alone = clone(voter).fit(X[:, seen], y)
        assert trees_of(alone) == trees_of(voter)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["plain", "bootstrap"])
def test_the_cost_is_the_sum_of_the_sample_visits_of_the_voters(binary, kind, name):
    X, y = binary
    ensemble = two_ensembles(kind, **OPTIONS[name])[0].fit(X, y)
    visits = [voter.n_visits_ for voter in ensemble.estimators_]
    assert ensemble.training_cost_.final_fit == sum(visits)
    if name == "plain":
        n_rows = {"of few rows": 90}.get(kind, len(y))
        for voter, own in zip(ensemble.estimators_, visits, strict=True):
            n_drawn = int(getattr(voter, "subsample", 1.0) * n_rows)
            assert own == voter.n_estimators * n_drawn


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_budgets_are_kept_to(binary, kind, share):
    whole = two_ensembles(kind)[0].fit(*binary)
    limit = int(share * whole.training_cost_.total)
    ensemble = two_ensembles(kind, max_cost=limit)[0].fit(*binary)
    assert 0 < ensemble.training_cost_.total <= limit
    assert f"max_cost={limit}" in ensemble.record_.stopped
    assert ensemble.score(*binary) > 0.85


def test_an_ensemble_of_trees_can_be_pruned(binary):
    X, y = binary
    for kind in KINDS:
        whole = two_ensembles(kind, mechanism="direct", max_features=0.3)[0].fit(X[:300], y[:300])
        pruned = prune(whole, X[300:450], y[300:450], n_final=3, random_state=0)
        assert len(pruned.estimators_) == 3
        assert pruned.estimator_weights_.sum() == 9
        assert pruned.score(X[450:], y[450:]) > 0.85
