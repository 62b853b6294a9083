"""The parameter estimator, its own parameters, and those of the default."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags
from small_ensembles import same, small

from skliquid import Diversity, LiquidEnsembleClassifier
from skliquid.diversity import FourierFeatures
from skliquid.presets import ESTIMATORS, default_hyperparameters, resolve_diversity
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier


def test_the_default_estimators_have_parameters_too(binary):
    default = LiquidEnsembleClassifier(n_estimators=12, mechanism="direct", random_state=0)
    grid = {"linear__alpha": [1e-3], "forest__n_estimators": [3], "boosted__max_depth": [2]}
    search = GridSearchCV(default, grid, cv=2).fit(*binary)
    linear, forest, boosted = (search.best_estimator_.estimators_[kind::3] for kind in range(3))
    assert {voter[-1].alpha for voter in linear} == {1e-3}
    assert len({voter[-1].eta0 for voter in linear}) == 4  # it is still drawn
    assert {voter.n_estimators for voter in forest} == {len(v.trees_) for v in forest} == {3}
    assert len({voter.min_samples_leaf for voter in forest}) == 3
    assert {voter.max_depth for voter in boosted} == {2}
    assert any(isinstance(voter[0][-1], FourierFeatures) for voter in linear)


@pytest.mark.parametrize("parameter", ["linear__average", "forest__class_weight"])
def test_setting_the_default_explicitly_changes_nothing(binary, parameter):
    X, y = binary
    default = LiquidEnsembleClassifier(n_estimators=12, random_state=0)
    value = {"linear__average": True}.get(parameter)
    explicit = clone(default).set_params(**{parameter: value})
    assert [name for name, _ in explicit.estimator] == ["linear", "forest", "boosted"]
    assert same(default.fit(X, y), explicit.fit(X, y), X)
    ours, theirs = (
        clone(one).partial_fit(X[:200], y[:200]).partial_fit(X[200:], y[200:])
        for one in (default, explicit)
    )
    assert same(ours, theirs, X)


@pytest.mark.parametrize("n_rows", [1000, 30_000, 400_000])
def test_explicit_defaults_suit_the_number_of_rows_too(monkeypatch, n_rows):
    X, y = np.zeros((n_rows, 1), dtype=np.float32), np.arange(n_rows) % 2
    seen = []

    def stop(_, spec, *__):
        seen.append([voter.get_params() for voter in spec.voters()])
        raise InterruptedError

    monkeypatch.setattr("skliquid.ensemble.pool_for", stop)
    default = LiquidEnsembleClassifier(random_state=0)
    for ensemble in (default, clone(default).set_params(linear__penalty="l2")):
        with pytest.raises(InterruptedError):
            ensemble.fit(X, y)
    assert seen[0] == seen[1]


def test_a_fixed_alpha_of_the_default_estimator_replaces_the_drawn_ones():
    def drawn(ensemble):
        diversity = resolve_diversity(ensemble.diversity, has_default_estimator=False)
        return diversity.param_distributions

    everything = default_hyperparameters().keys()
    fixed = LiquidEnsembleClassifier().set_params(linear__alpha=0.1)
    assert dict(fixed.estimator)["linear"].alpha == 0.1
    assert drawn(fixed).keys() == everything - {"linear__alpha"}
    assert fixed.diversity.feature_maps == {"linear": "fourier"}
    fixed.set_params(diversity="auto", estimator=None)
    fixed.set_params(linear__alpha=0.1, linear__eta0=1.0)
    assert drawn(fixed).keys() == everything - {"linear__alpha", "linear__eta0"}
    own = Diversity(param_distributions={"linear__alpha": [1, 2]})
    kept = LiquidEnsembleClassifier(diversity=own).set_params(linear__alpha=0.1)
    assert kept.diversity.param_distributions == {"linear__alpha": [1, 2]}
    unmapped = LiquidEnsembleClassifier(diversity=Diversity(feature_maps=None))
    unmapped.set_params(linear__alpha=0.1)
    assert drawn(unmapped).keys() == everything - {"linear__alpha"}
    assert unmapped.diversity.feature_maps is None
    without = LiquidEnsembleClassifier(diversity=None).set_params(linear__average=False)
    assert without.diversity.feature_maps is without.diversity.param_distributions is None


def test_a_default_estimator_that_is_replaced_draws_nothing(binary):
    ensemble = LiquidEnsembleClassifier(n_estimators=12, mechanism="direct", random_state=0)
    ensemble.set_params(forest=GaussianNB()).fit(*binary)
    assert {type(voter) for voter in ensemble.estimators_[1::3]} == {GaussianNB}
    assert len({voter.max_depth for voter in ensemble.estimators_[2::3]}) > 1
    assert [type(voter) for _, voter in ESTIMATORS][1] is RandomizedForestClassifier


def test_setting_other_parameters_leaves_the_default_as_it_is():
    ensemble = LiquidEnsembleClassifier().set_params(n_final=3, n_estimators=9)
    assert ensemble.estimator is None
    assert ensemble.diversity == "auto"


def test_the_default_is_one_of_three_kinds_spread_evenly(binary):
    ensemble = LiquidEnsembleClassifier(mechanism="direct", random_state=0).fit(*binary)
    linear, forest, boosted = (ensemble.estimators_[kind::3] for kind in range(3))
    assert [type(voter[-1]) for voter in linear] == [SGDClassifier] * 8
    assert [type(voter) for voter in forest] == [RandomizedForestClassifier] * 8
    assert [type(voter) for voter in boosted] == [BoostedTreesClassifier] * 8
    assert not any(hasattr(voter, "classes_") for _, voter in ESTIMATORS)


@pytest.mark.parametrize("diversity", ["auto", None, Diversity(feature_maps=None)])
def test_the_parameters_of_diversity_are_set_by_name(binary, diversity):
    ensemble = LiquidEnsembleClassifier(SGDClassifier(), n_estimators=12, diversity=diversity)
    drawn = {"diversity__param_distributions": [{"alpha": [1e-3]}]}
    search = GridSearchCV(ensemble, drawn, cv=2).fit(*binary)
    assert {voter.alpha for voter in search.best_estimator_.estimators_} == {1e-3}
    assert ensemble.diversity is diversity
    with pytest.raises(ValueError, match="Invalid parameter 'feature_map'"):
        ensemble.set_params(diversity__feature_map=None)


def test_a_wrong_parameter_of_the_default_estimator_leaves_it_as_it_was():
    ensemble = LiquidEnsembleClassifier()
    with pytest.raises(ValueError, match="Invalid parameter 'alfa'"):
        ensemble.set_params(linear__alfa=1, n_final=3)
    assert ensemble.get_params() == LiquidEnsembleClassifier().get_params()
    with pytest.raises(ValueError, match="Invalid parameter 'lineal'"):
        ensemble.set_params(lineal__alpha=1)
    with pytest.raises(ValueError, match=r"estimator__alpha must not be .* Set linear__alpha, for"):
        ensemble.set_params(estimator__alpha=1)
    assert ensemble.get_params() == LiquidEnsembleClassifier().get_params()


def test_estimators_in_a_list_are_set_by_their_names(binary):
    ensemble = small([("sgd", SGDClassifier()), ("tree", DecisionTreeClassifier())])
    search = GridSearchCV(
        ensemble, {"sgd__alpha": [1e-3], "tree": [GaussianNB()], "n_final": [4]}, cv=2
    ).fit(*binary)
    chosen = dict(search.best_estimator_.estimator)
    assert chosen["sgd"].alpha == 1e-3
    assert isinstance(chosen["tree"], GaussianNB)
    assert ensemble.get_params()["tree__max_depth"] is None
    assert isinstance(dict(ensemble.estimator)["tree"], DecisionTreeClassifier)


def test_parameters_of_ensembles_of_ensembles_are_got_and_set(binary):
    forests = small(RandomForestClassifier(n_estimators=2), n_estimators=3, n_final=2)
    assert forests.get_params()["estimator__n_estimators"] == 2
    search = GridSearchCV(forests, {"n_final": [1], "estimator__max_depth": [2]}, cv=2)
    assert search.fit(*binary).best_estimator_.estimators_[0].max_depth == 2
    nested = make_pipeline(make_pipeline(StandardScaler(), StandardScaler()), SGDClassifier())
    assert all(isinstance(name, str) for name in small(nested).get_params())
    replaced = small().set_params(estimator=[("a", SGDClassifier())], a__alpha=0.5)
    assert replaced.estimator[0][1].alpha == 0.5
    assert small([("a", SGDClassifier())]).set_params(estimator=GaussianNB()).get_params(deep=False)


def test_a_wrong_estimator_can_still_be_shown():
    for wrong in ([SGDClassifier()], SGDClassifier, [("a", None)], 3):
        assert "LiquidEnsembleClassifier" in small(wrong)._repr_html_()


def test_an_ensemble_accepts_the_data_that_all_its_voters_accept():
    def tags(*voters):
        named = [(str(k), voter) for k, voter in enumerate(voters)]
        tags = get_tags(LiquidEnsembleClassifier(named)).input_tags
        return tags.sparse, tags.allow_nan

    assert tags(SGDClassifier()) == (True, False)
    assert tags(DecisionTreeClassifier()) == (True, True)
    assert tags(DecisionTreeClassifier(), SGDClassifier()) == (True, False)
    assert tags(DecisionTreeClassifier(), GaussianNB()) == (False, False)
    assert tags(RandomizedForestClassifier(), BoostedTreesClassifier()) == (True, True)


@pytest.mark.parametrize(
    ("options", "accepts"),
    [
        ({}, True),
        ({"diversity": None}, False),
        ({"diversity": Diversity(feature_maps=None)}, False),
        ({"diversity": Diversity(feature_maps="fourier")}, True),
        ({"diversity": Diversity(feature_maps={"forest": "fourier"})}, False),
        ({"diversity": Diversity(param_distributions=None)}, True),
        ({"estimator": SGDClassifier(), "diversity": Diversity(feature_maps="fourier")}, True),
        ({"estimator": SGDClassifier()}, False),
        ({"diversity": "wrong"}, False),
    ],
)
def test_missing_values_are_accepted_where_no_voter_sees_them_that_cannot(options, accepts):
    ensemble = LiquidEnsembleClassifier(n_estimators=6, random_state=0, **options)
    assert get_tags(ensemble).input_tags.allow_nan is accepts
    X = np.random.default_rng(0).normal(size=(90, 3))
    X[::4, 1], y = np.nan, X[:, 0] > 0
    if accepts:
        fitted = ensemble.fit(X, y)
        assert np.isfinite(fitted.predict_proba(X)).all()
        assert fitted.score(X, y) > 0.85
        return
    with pytest.raises(ValueError, match=r"contains NaN|The 'diversity' parameter"):
        ensemble.fit(X, y)


def test_missing_values_are_accepted_when_a_parameter_of_the_default_is_set():
    explicit = LiquidEnsembleClassifier().set_params(linear__alpha=1e-4)
    assert get_tags(explicit).input_tags.allow_nan
    assert get_tags(explicit).input_tags.sparse


# Tags are computed once, and again when parameters change


def accepts(ensemble):
    tags = get_tags(ensemble).input_tags
    return tags.sparse, tags.allow_nan


def test_tags_follow_changes_of_parameters():
    ensemble = LiquidEnsembleClassifier()
    assert accepts(ensemble) == (True, True)
    assert accepts(ensemble.set_params(diversity=None)) == (True, False)
    assert accepts(ensemble.set_params(estimator=GaussianNB())) == (False, False)
    ensemble.estimator = DecisionTreeClassifier()
    assert accepts(ensemble) == (True, True)
    ensemble.set_params(estimator=[("tree", DecisionTreeClassifier()), ("line", SGDClassifier())])
    assert accepts(ensemble) == (True, False)
    assert accepts(ensemble.set_params(line=GaussianNB())) == (False, False)
    assert accepts(ensemble.set_params(line=DecisionTreeClassifier())) == (True, True)


def test_tags_follow_changes_of_parameters_inside_of_parameters():
    ensemble = LiquidEnsembleClassifier(diversity=Diversity())
    assert accepts(ensemble) == (True, True)
    assert accepts(ensemble.set_params(diversity__feature_maps=None)) == (True, False)
    pipeline = make_pipeline(StandardScaler(with_mean=False), GaussianNB())
    ensemble.set_params(estimator=pipeline, diversity=None)
    assert accepts(ensemble) == (False, True)
    step = DecisionTreeClassifier()
    assert accepts(ensemble.set_params(estimator__gaussiannb=step)) == (True, True)


def test_an_estimator_that_changed_in_place_is_noticed_by_the_next_fit():
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[::4, 1], y = np.nan, X[:, 0] > 0
    tree = RandomForestClassifier(n_estimators=2, criterion="gini")
    ensemble = small(make_pipeline(StandardScaler(), tree), n_estimators=3, n_final=2)
    ensemble.fit(X, y)
    ensemble.estimator.steps[0] = ("scaler", FourierFeatures(n_components=2))
    with pytest.raises(ValueError, match="contains NaN"):
        ensemble.fit(X, y)
    ensemble.estimator.steps.pop(0)
    assert ensemble.fit(X, y).score(X, y) > 0.85


def test_an_estimator_that_changed_in_place_is_noticed_by_the_first_partial_fit():
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[::4, 1], y = np.nan, X[:, 0] > 0
    ensemble = small(make_pipeline(StandardScaler(), GaussianNB()), n_estimators=3, n_final=2)
    assert accepts(ensemble)[1]  # missing values
    ensemble.estimator.steps[0] = ("scaler", FourierFeatures(n_components=2))
    with pytest.raises(ValueError, match="contains NaN"):
        ensemble.partial_fit(X, y, classes=[False, True])


def test_tags_belong_to_one_ensemble_and_copies_of_them_may_be_changed():
    first, second = (LiquidEnsembleClassifier(one) for one in (SGDClassifier(), GaussianNB()))
    assert (accepts(first), accepts(second)) == ((True, False), (False, False))
    tags = get_tags(first)
    tags.input_tags.sparse = tags.classifier_tags.multi_class = False
    assert accepts(first) == (True, False)
    assert get_tags(first).classifier_tags.multi_class
    assert accepts(clone(first)) == (True, False)
