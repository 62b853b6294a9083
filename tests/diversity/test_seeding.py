import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from skliquid.diversity.seeding import copies_of, derived_seeds, seeded


def test_voters_have_the_hyperparameters_and_seeds_they_drew():
    params = [{"alpha": 0.1}, {"alpha": 0.2, "random_state": 9}, {"eta0": 0.3}]
    voters = copies_of([SGDClassifier(alpha=1.0)], [4, 5, 6], params)
    assert [voter.alpha for voter in voters] == [0.1, 0.2, 1.0]
    assert [voter.eta0 for voter in voters] == [*[SGDClassifier().eta0] * 2, 0.3]
    assert [voter.random_state for voter in voters] == [4, 9, 6]


def test_estimators_are_spread_evenly_over_the_voters():
    estimators = [SGDClassifier(), GaussianNB(), DecisionTreeClassifier()]
    params = [{"alpha": 0.5}, {}, {"max_depth": 2}, {}, {}, {}, {"alpha": 0.7}]
    voters = copies_of(estimators, range(7), params)
    assert [type(voter) for voter in voters] == [type(estimators[k % 3]) for k in range(7)]
    assert (voters[0].alpha, voters[2].max_depth, voters[6].alpha) == (0.5, 2, 0.7)
    assert (voters[0].random_state, voters[5].random_state) == (0, 5)


def test_copies_share_nothing_that_a_fit_changes():
    inner = make_pipeline(SGDClassifier())
    first, second = copies_of([inner], [1, 2])
    assert first[-1] is not second[-1]
    assert first[-1].random_state != second[-1].random_state


def test_every_seed_inside_an_estimator_follows_from_one():
    nested = make_pipeline(DecisionTreeClassifier(), SGDClassifier(random_state=3))
    voter, other = seeded(nested, 7), seeded(nested, 7)
    seeds = [step.random_state for _, step in voter.steps]
    assert seeds == [step.random_state for _, step in other.steps]
    assert sorted(seeds) == sorted(derived_seeds(7, 2))
    assert nested[-1].random_state == 3
    assert seeded(SGDClassifier(), 7).random_state == 7
    assert np.array_equal(derived_seeds(7, 2), derived_seeds(7, 3)[:2])
