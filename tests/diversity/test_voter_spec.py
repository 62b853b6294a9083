import numpy as np
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from skliquid.diversity import Diversity, Sample, Spread, VoterSpec

X = np.random.default_rng(0).normal(size=(30, 6))


def drawn(diversity, *estimators, max_features=1.0, sample=None, names=()):
    return VoterSpec.draw(
        estimators or [SGDClassifier()],
        range(8),
        X,
        diversity=diversity,
        max_features=max_features,
        sample=sample,
        rng=np.random.default_rng(0),
        names=names,
    )


NOTHING = Diversity(param_distributions=None, feature_maps=None)


def test_voters_without_diversity_differ_in_their_seeds_only():
    spec = drawn(NOTHING)
    assert (len(spec.params), spec.subspaces, len(spec.maps), spec.sample) == (0, None, 0, None)
    assert [voter.random_state for voter in spec.voters()] == list(range(8))
    assert spec.maps_of([3]) == [None]
    assert spec.features_of([3]) == [slice(None)]


def test_everything_is_drawn_from_one_generator():
    diversity = Diversity(param_distributions={"alpha": [1, 2, 3]}, feature_maps=[RBFSampler()])
    one, other = (drawn(diversity, max_features=2, sample=Sample(0.5, True)) for _ in range(2))
    assert one.params == other.params
    assert np.array_equal(one.subspaces, other.subspaces)
    assert np.array_equal(one.maps[0].random_weights_, other.maps[0].random_weights_)
    assert one.sample == Sample(0.5, True)
    assert {voter.alpha for voter in one.voters()} == {1, 2, 3}


def test_maps_are_spread_evenly_over_the_voters_of_each_estimator():
    maps = ["passthrough", RBFSampler(gamma=2.0), RBFSampler(gamma=0.5)]
    diversity = Diversity(param_distributions=None, feature_maps=maps)
    spec = drawn(diversity, SGDClassifier(), GaussianNB())
    assert spec.maps_of(range(8)) == [None, None, 1, 1, 2, 2, None, None]
    assert [fitted and fitted.gamma for fitted in spec.maps] == [None, 2.0, 0.5]


def test_maps_by_name_are_spread_over_the_voters_of_that_estimator_alone():
    maps = {"bayes": [RBFSampler(gamma=2.0), "passthrough"], "sgd": [RBFSampler(gamma=0.5)]}
    diversity = Diversity(param_distributions=None, feature_maps=maps)
    names = ["tree", "sgd", "bayes"]
    spec = drawn(diversity, DecisionTreeClassifier(), SGDClassifier(), GaussianNB(), names=names)
    assert [fitted and fitted.gamma for fitted in spec.maps] == [0.5, 2.0, None]
    assert spec.maps_of(range(8)) == [None, 0, 1, None, 0, None, None, 0]
    assert spec.maps_of([5, 2]) == [None, 1]


def test_hyperparameters_by_name_are_drawn_by_the_voters_of_that_estimator_alone():
    distributions = {"tree__max_depth": Spread((1, 2, 3)), "sgd__alpha": [0.1, 0.2]}
    diversity = Diversity(param_distributions=distributions, feature_maps=None)
    names = ["sgd", "bayes", "tree"]
    spec = drawn(diversity, SGDClassifier(), GaussianNB(), DecisionTreeClassifier(), names=names)
    voters = spec.voters()
    assert sorted(voter.alpha for voter in voters[0::3]) == [0.1, 0.1, 0.2]
    assert len({voter.max_depth for voter in voters[2::3]}) == 2
    assert all(voter.get_params() == GaussianNB().get_params() for voter in voters[1::3])
    assert spec.params_of(1) == [{}] * 3
    assert [list(params) for params in spec.params_of(2)] == [["max_depth"]] * 2
    assert list(map(spec.estimator_of, range(8))) == [0, 1, 2, 0, 1, 2, 0, 1]
    again = drawn(diversity, SGDClassifier(), GaussianNB(), DecisionTreeClassifier(), names=names)
    assert again.params == spec.params


def test_voters_with_a_map_see_all_that_comes_out_of_it():
    maps = Diversity(param_distributions=None, feature_maps=["passthrough", RBFSampler()])
    spec = drawn(maps, max_features=2)
    features = spec.features_of([0, 1])
    assert features[0].tolist() == spec.subspaces[0].tolist()
    assert features[1] == slice(None)


def test_a_voter_is_described_by_its_estimator_map_and_hyperparameters():
    diversity = Diversity(
        param_distributions={"linear__alpha": Spread((1.0, 2.0))},
        feature_maps={"linear": ["passthrough", RBFSampler()]},
    )
    spec = drawn(diversity, SGDClassifier(), GaussianNB(), names=["linear", "bayes"])
    linear, bayes, mapped = spec.descriptions()[:3]
    assert (linear.estimator, linear.feature_map) == ("linear", "")
    assert linear.hyperparameters == spec.params[0]
    assert (bayes.estimator, bayes.feature_map, bayes.hyperparameters) == ("bayes", "", {})
    assert (mapped.estimator, mapped.feature_map) == ("linear", "RBFSampler")


def test_an_estimator_without_a_name_is_described_by_its_class():
    spec = drawn(NOTHING, make_pipeline(RBFSampler(), GaussianNB()))
    assert {one.estimator for one in spec.descriptions()} == {"GaussianNB"}
