import pickle

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import FunctionTransformer
from small_ensembles import same
from streams_with_drift import stream

from skliquid import Diversity, LiquidEnsembleClassifier, presets
from skliquid.diversity import DefaultsWithout, VoterSpec
from skliquid.diversity.feature_maps import signed_log
from skliquid.diversity.hyperparameters import distributions_by_name, draw_hyperparameters
from skliquid.presets import (
    ESTIMATORS,
    FIRST_ROUND,
    FOURIER_MAPS,
    MAX_CLASSES,
    MAX_SPARSE_COLUMNS,
    N_ROUNDS,
    SIGNED_LOG,
    default_hyperparameters,
    increments,
    resolve_diversity,
    rounds,
)
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier, TreeVoter

# Voters


def test_wide_sparse_rows_are_left_to_the_linear_voters():
    rng = np.random.default_rng(0)
    first = rng.normal(size=(120, 1))
    others = scipy.sparse.random(120, MAX_SPARSE_COLUMNS - 1, 0.01, random_state=0)
    narrow = scipy.sparse.hstack([first, others], format="csr")
    wide = scipy.sparse.hstack([narrow, scipy.sparse.csr_matrix((120, 1))], format="csr")
    y = first.ravel() > 0
    options = {"n_estimators": 6, "n_final": 4, "random_state": 0}
    ours = LiquidEnsembleClassifier(**options).fit(wide, y)
    assert {type(voter[-1]) for voter in ours.estimators_} == {SGDClassifier}
    assert len({voter[-1].alpha for voter in ours.estimators_}) == 4
    assert [record.n_rows for record in ours.record_] == [30] * 4  # not the rounds of trees
    linear = [pair for pair in ESTIMATORS if pair[0] == "linear"]
    drawn = default_hyperparameters(120, names=["linear"])
    logs = FunctionTransformer(signed_log, accept_sparse=True)  # and no random Fourier features
    diversity = Diversity(param_distributions=drawn, feature_maps={"linear": [logs]})
    theirs = LiquidEnsembleClassifier(linear, diversity=diversity, **options).fit(wide, y)
    assert same(ours, theirs, wide)
    mixed = LiquidEnsembleClassifier(**options, mechanism="direct").fit(narrow, y)
    assert {type(v) for v in mixed.estimators_[1::3]} == {RandomizedForestClassifier}


def test_very_many_classes_are_left_to_the_forests():
    rng = np.random.default_rng(0)
    y = np.arange(2 * (MAX_CLASSES + 1)) % (MAX_CLASSES + 1)
    X = np.stack([y, rng.normal(size=len(y))], axis=1)
    options = {"n_estimators": 4, "n_final": 2, "random_state": 0, "max_cost": 100_000}
    ensemble = LiquidEnsembleClassifier(**options).fit(X, y)
    assert {type(voter) for voter in ensemble.estimators_} == {RandomizedForestClassifier}
    assert ensemble.predict_proba(X[:3]).shape == (3, MAX_CLASSES + 1)
    assert ensemble.score(X[:200], y[:200]) > 0.5
    names = [name for name, _ in ensemble._estimators_for(X, MAX_CLASSES)]
    assert names == ["linear", "forest", "boosted"]
    own = LiquidEnsembleClassifier(SGDClassifier())
    assert len(own._estimators_for(X, MAX_CLASSES + 1)) == 1


# Hyperparameters that the default voters draw


def test_the_default_linear_voters_draw_their_penalty_and_their_step_size():
    defaults = distributions_by_name(default_hyperparameters(1000), ["linear", "forest", "boosted"])
    ours, random_state = (
        draw_hyperparameters(defaults["linear"], 80, np.random.RandomState(0)),
        np.random.RandomState(0),
    )
    expected = {"alpha": loguniform(1e-6, 1e-3), "eta0": loguniform(0.05, 20)}
    assert ours[0].keys() == expected.keys()
    for name, distribution in expected.items():
        values = distribution.rvs(size=80, random_state=random_state)
        np.testing.assert_allclose([drawn[name] for drawn in ours], values)


SIZES = [None, 30, 20_000, 20_001, 50_000, 50_001, 99_999, 100_001, 400_000, 10**7]


@pytest.mark.parametrize("n_rows", SIZES)
@pytest.mark.parametrize("n_columns", [1, 500, 501, 10_000])
def test_every_default_hyperparameter_is_one_of_a_default_voter(n_rows, n_columns):
    estimators = dict(ESTIMATORS)
    drawn = default_hyperparameters(n_rows, n_columns)
    by_name = distributions_by_name(drawn, list(estimators))
    assert by_name.keys() == estimators.keys()
    X, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2
    for name, distributions in by_name.items():
        for params in draw_hyperparameters(distributions, 12, np.random.RandomState(0)):
            voter = type(estimators[name])().set_params(**params)
            voter.partial_fit(X, y, classes=[0, 1])  # which checks them
    some = default_hyperparameters(n_rows, n_columns, names=["boosted"])
    assert some == {key: drawn[key] for key in drawn if key.startswith("boosted__")}


def only(n_rows, key):
    """Return the value that all default voters have, None if they have the estimator's own."""
    found = default_hyperparameters(n_rows).get(key)
    return found and found.values[0]


def test_default_voters_take_less_work_on_many_rows():
    sizes = SIZES[1:]
    steps = [n_rows * (only(n_rows, "linear__max_iter") or 10) for n_rows in sizes]
    assert max(steps) == sizes[-1]  # a million steps, or one pass
    assert all(n <= max(10**6, n_rows) for n, n_rows in zip(steps, sizes, strict=True))
    for key, most in (("forest__max_rows", 50_000), ("boosted__max_rows", 200_000)):
        limits = [only(n_rows, key) or n_rows for n_rows in sizes]
        assert limits == sorted(limits)
        assert limits[-1] == most
        assert all(n <= n_rows for n, n_rows in zip(limits, sizes, strict=True))


def test_default_voters_have_more_trees_for_more_classes():
    def n_trees(n_classes, n_rows=1000):
        drawn = default_hyperparameters(n_rows, n_classes=n_classes)
        return [drawn[f"{name}__n_estimators"].values[0] for name in ("forest", "boosted")]

    assert n_trees(1) == n_trees(2)
    assert n_trees(8) == [2 * n for n in n_trees(2)]
    assert n_trees(32) == n_trees(1000) == [4 * n for n in n_trees(2)]
    assert n_trees(2, n_rows=10**5) > n_trees(2)


def test_the_default_trees_of_a_stream_keep_a_bounded_number_of_rows():
    assert only(None, "forest__max_rows") == only(None, "boosted__max_rows") == 20_000
    assert default_hyperparameters().keys() == default_hyperparameters(10**6).keys() - {
        "linear__max_iter",
        "linear__tol",
    }


# Diversity


def test_auto_is_resolved_by_whether_the_estimator_is_the_default():
    default = resolve_diversity(Diversity(), has_default_estimator=True, names=["linear"])
    assert default.feature_maps == {"linear": list(FOURIER_MAPS)}
    spec = VoterSpec.draw(
        [SGDClassifier()],
        range(8),
        np.random.default_rng(0).normal(size=(30, 6)),
        diversity=default,
        max_features=1.0,
        sample=None,
        rng=np.random.default_rng(0),
        names=["linear"],
    )
    assert len(spec.maps) == 3
    assert len({params["alpha"] for params in spec.params}) == 8
    sizes = {"n_rows": 10**6, "n_columns": 3, "names": ["linear", "forest"]}
    large = resolve_diversity(Diversity(), has_default_estimator=True, **sizes)
    assert large.param_distributions == default_hyperparameters(**sizes)
    nothing = resolve_diversity(Diversity(), has_default_estimator=False, **sizes)
    assert nothing.param_distributions is nothing.feature_maps is None
    other = resolve_diversity(
        Diversity(param_distributions={"alpha": [1]}), has_default_estimator=False
    )
    assert (other.param_distributions, other.feature_maps) == ({"alpha": [1]}, None)


@pytest.mark.parametrize("value", [np.array(["auto", "auto"]), ["auto"]])
def test_auto_is_a_string_and_nothing_else(value):
    resolved = resolve_diversity(Diversity(feature_maps=value), has_default_estimator=True)
    assert resolved.feature_maps is value


def test_fourier_stands_for_maps_of_all_voters_or_of_some():
    def maps(feature_maps, **options):
        diversity = Diversity(param_distributions=None, feature_maps=feature_maps)
        return resolve_diversity(diversity, has_default_estimator=True, **options).feature_maps

    own = ["passthrough"]
    assert maps("fourier") == list(FOURIER_MAPS)
    assert maps({"a": "fourier", "b": None, "c": own}) == {
        "a": list(FOURIER_MAPS),
        "b": None,
        "c": own,
    }
    assert maps(None, is_wide=True) is None
    assert maps("auto", is_wide=True) == {"linear": [SIGNED_LOG]}


def test_defaults_that_are_set_and_voters_that_are_not_used_draw_nothing():
    def drawn(distributions, **options):
        diversity = Diversity(param_distributions=distributions, feature_maps=None)
        return resolve_diversity(diversity, **options).param_distributions

    sizes = {"n_rows": 1000, "n_columns": 3}
    some = drawn(DefaultsWithout(("linear__alpha",)), has_default_estimator=False, **sizes)
    assert some.keys() == default_hyperparameters(**sizes).keys() - {"linear__alpha"}
    given = {"linear__alpha": [1], "forest__max_features": [2]}
    assert drawn(given, has_default_estimator=False, names=["linear"]) == given
    assert drawn(given, has_default_estimator=True) == given
    only_linear = drawn(given, has_default_estimator=True, names=["linear"])
    assert only_linear == {"linear__alpha": [1]}


# Increments


@given(st.integers(1, 10**8))
def test_auto_increments_are_few_enough_large_enough_and_equal(n_rows):
    sizes = [cut.stop - cut.start for cut in increments(n_rows, "auto")]
    assert sum(sizes) == n_rows
    assert len(sizes) == min(max(n_rows // 25, 1), 50)
    assert min(sizes) >= min(25, n_rows)
    assert max(sizes) - min(sizes) <= 1


def test_the_first_round_has_rows_of_most_classes():
    assert [rounds(10**6, all_rows=False, n_classes=n)[0].stop for n in (2, 500, 501)] == [
        FIRST_ROUND,
        FIRST_ROUND,
        2004,
    ]


@given(st.integers(1, 10**8), st.booleans())
def test_each_round_is_as_long_as_all_before_it(n_rows, all_rows):
    cuts = rounds(n_rows, all_rows=all_rows)
    starts, stops = [cut.start for cut in cuts], [cut.stop for cut in cuts]
    assert starts == [0, *stops[:-1]]
    assert stops[0] == min(-(-n_rows // 4), FIRST_ROUND)
    assert stops[1:-1] == [2 * start for start in starts[1:-1]]
    assert stops[-1] == min(max(2 * starts[-1], stops[0]), n_rows)


@given(st.integers(1, 10**8))
def test_there_are_three_rounds_where_a_final_fit_follows_and_else_enough_for_all_rows(n_rows):
    few, enough = rounds(n_rows, all_rows=False), rounds(n_rows, all_rows=True)
    assert few == enough[:N_ROUNDS]
    assert len(few) == min(n_rows, 3)
    assert few[-1].stop == min(n_rows, 4 * FIRST_ROUND)
    assert enough[-1].stop == n_rows
    assert len(enough) <= 17  # doubling reaches a hundred million rows


def test_the_increments_of_an_ensemble_are_rounds_where_some_voters_are_made_of_trees(binary):
    def sizes(estimator, **options):
        ensemble = LiquidEnsembleClassifier(
            estimator, n_estimators=6, n_final=3, mechanism="random", random_state=0, **options
        )
        return [record.n_rows for record in ensemble.fit(*binary).record_]

    forest, linear = RandomizedForestClassifier(2), SGDClassifier()
    for estimator in (None, forest, [("linear", linear), ("forest", forest)]):
        assert sizes(estimator) == [143, 143, 283]
        assert sizes(estimator, increment_size=200) == [200, 200, 169]
    assert len(sizes(linear)) == 22
    assert sizes(forest, final_fit=False) == [143, 143, 283]


def test_delegation_of_trees_ends_after_a_few_thousand_rows():
    X = np.random.default_rng(0).normal(size=(9_999, 2))
    options = {"n_estimators": 4, "n_final": 2, "random_state": 0}
    stump = BoostedTreesClassifier(4, max_depth=1)
    ensemble = LiquidEnsembleClassifier(stump, **options).fit(X, X[:, 0] > 0)
    assert [record.n_rows for record in ensemble.record_] == [2000, 2000, 4000]
    assert ensemble.training_cost_.final_fit == 2 * 4 * 7_999
    through = LiquidEnsembleClassifier(stump, final_fit=False, **options).fit(X, X[:, 0] > 0)
    assert [record.n_rows for record in through.record_] == [2000, 2000, 4000, 1999]


# Whole presets


def test_the_papers_ensemble_sees_twenty_features_and_lets_delegators_choose_anyone(binary):
    X, y = binary
    ensemble = LiquidEnsembleClassifier.as_in_the_paper(n_estimators=20, random_state=0)
    seen = ensemble.fit(X, y).estimators_features_
    assert {len(set(features.tolist())) for features in seen} == {20}
    assert len({tuple(features) for features in seen}) > 1
    assert ensemble.mechanism.candidates == "voters"
    narrow = ensemble.fit(X[:, :7], y).estimators_features_
    assert {len(features) for features in narrow} == {7}


def test_the_preset_for_streams_follows_concept_drift():
    batches = stream(60, batch=100, turn=30)
    ensemble, n_right = LiquidEnsembleClassifier.for_streams(random_state=0), 0
    for number, (X, y) in enumerate(batches):
        if number in range(50, 60):
            n_right += int((ensemble.predict(X) == y).sum())
        ensemble.partial_fit(X, y, classes=[0, 1])
    assert n_right / 1000 > 0.85
    assert len(ensemble.estimators_) == ensemble.n_final
    assert LiquidEnsembleClassifier.for_streams(n_final=5).n_final == 5


def test_the_preset_for_streams_has_all_kinds_of_voters_that_forget():
    settings = presets.for_streams()
    kinds = dict(settings["estimator"])
    assert kinds.keys() == {"linear", "forest", "boosted"}
    assert not kinds["linear"].average
    assert kinds["linear"].learning_rate == "constant"
    drawn = settings["diversity"].param_distributions
    for name in ("forest", "boosted"):
        assert isinstance(kinds[name], TreeVoter)
        assert max(drawn[f"{name}__max_rows"].values) < 10_000
    assert settings["mechanism"].is_revocable


@pytest.mark.parametrize("pool", ["auto", "estimator"])
def test_the_preset_for_streams_continues_from_a_copy_through_every_pool(pool):
    batches = stream(30, batch=60, turn=15)
    straight, saved = (
        LiquidEnsembleClassifier.for_streams(random_state=0, pool=pool),
        LiquidEnsembleClassifier.for_streams(random_state=0),
    )
    for X, y in batches:
        straight.partial_fit(X, y, classes=[0, 1])
        saved = pickle.loads(pickle.dumps(saved)).partial_fit(X, y, classes=[0, 1])
    assert same(straight, saved, batches[0][0])


@pytest.mark.parametrize("name", ["as_in_the_paper", "for_streams"])
def test_a_preset_is_a_set_of_parameters_that_can_be_changed(binary, name):
    X, y = binary
    settings = getattr(presets, name)()
    assert settings.keys() <= LiquidEnsembleClassifier().get_params().keys()
    few = {"n_estimators": 15, "random_state": 0}
    preset = getattr(LiquidEnsembleClassifier, name)(**few)
    assert (preset.n_estimators, preset.n_final) == (15, settings["n_final"])
    explicit = LiquidEnsembleClassifier(**settings | few)
    assert same(preset.fit(X, y), explicit.fit(X, y), X)
    assert same(preset, clone(preset).fit(X, y), X)


def test_rows_to_grow_on_and_held_out_rows_share_none_and_leave_none_out():
    order = np.random.default_rng(0).permutation(12_000)
    y = np.zeros(12_000, dtype=int)
    y[order[-1]] = 1  # a class of one row is never held out
    grown, held = presets.split_for_growth(order, y, 8_000)
    assert len(held) == 1_199
    assert order[-1] in grown
    assert np.array_equal(np.sort(np.concatenate([grown, held])), np.arange(12_000))
    assert not np.isin(held, order[:8_000]).any()


@pytest.mark.parametrize(
    ("n_rows", "n_chosen", "n_classes"),
    [(9_999, 8_000, 2), (10_000, 9_001, 2), (10_000, 10_000, 2), (10_000, 8_000, 9_700)],
)
def test_nothing_is_held_out_of_few_rows(n_rows, n_chosen, n_classes):
    y = np.arange(n_rows) % n_classes
    assert presets.split_for_growth(np.arange(n_rows), y, n_chosen) is None


def test_voters_grow_on_a_million_rows_at_most():
    n_rows = 1_300_000
    order = np.arange(n_rows)
    grown, held = presets.split_for_growth(order, order % 2, 8_000)
    assert (len(grown), len(held)) == (1_000_000, 20_000)
