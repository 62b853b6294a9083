"""The parameter estimator, its own parameters, and those of the default."""

import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags
from small_ensembles import same, small

from skliquid import Diversity, LiquidEnsembleClassifier
from skliquid.diversity import FourierFeatures


def test_the_default_estimator_has_parameters_too(binary):
    default = LiquidEnsembleClassifier(n_estimators=20, random_state=0)
    search = GridSearchCV(default, {"estimator__alpha": [1e-3]}, cv=2).fit(*binary)
    voters = search.best_estimator_.estimators_
    assert {voter[-1].alpha for voter in voters} == {1e-3}
    mapped = [voter[0] for voter in voters if isinstance(voter[0], Pipeline)]
    assert any(isinstance(pipeline[-1], FourierFeatures) for pipeline in mapped)


def test_setting_the_default_explicitly_changes_nothing(binary):
    X, y = binary
    default = LiquidEnsembleClassifier(n_estimators=20, random_state=0)
    explicit = clone(default).set_params(estimator__average=True)
    assert same(default.fit(X, y), explicit.fit(X, y), X)


def test_a_fixed_alpha_of_the_default_estimator_replaces_the_drawn_ones():
    fixed = LiquidEnsembleClassifier().set_params(estimator__alpha=0.1)
    assert list(fixed.diversity.param_distributions) == ["eta0"]
    fixed.set_params(diversity="auto", estimator=None)
    fixed.set_params(estimator__alpha=0.1, estimator__eta0=1.0)
    assert fixed.diversity.param_distributions is None
    assert fixed.diversity.feature_maps == "fourier"
    drawn = Diversity(param_distributions={"alpha": [1, 2]})
    kept = LiquidEnsembleClassifier(diversity=drawn).set_params(estimator__alpha=0.1)
    assert kept.diversity.param_distributions == {"alpha": [1, 2]}
    unmapped = LiquidEnsembleClassifier(diversity=Diversity(feature_maps=None))
    unmapped.set_params(estimator__alpha=0.1)
    assert list(unmapped.diversity.param_distributions) == ["eta0"]
    assert unmapped.diversity.feature_maps is None
    without = LiquidEnsembleClassifier(diversity=None).set_params(estimator__average=False)
    assert without.diversity.feature_maps is without.diversity.param_distributions is None


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
        ensemble.set_params(estimator__alfa=1, n_final=3)
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
