import numpy as np
import pytest

from plotting.records import record_of
from skliquid.delegation.record import VoterDescription
from skliquid.plotting.traits import Trait, traits_of


def trait(*values, weights=None):
    weights = np.ones(len(values), dtype=int) if weights is None else np.array(weights)
    return Trait("", "alpha", values, weights)


def test_estimators_come_first_then_feature_maps_then_hyperparameters(mixed):
    traits = traits_of(mixed.record_)
    titles = [trait.title for trait in traits]
    assert titles[:4] == ["estimator", "linear: feature map", "linear: alpha", "linear: eta0"]
    assert titles[4] == "forest: max_features"
    assert titles[-1] == "boosted: min_child_weight"
    assert "forest: n_estimators" not in titles  # all have the same


def test_shares_are_those_of_voters_and_weight(mixed):
    record = mixed.record_
    estimators = [voter.estimator for voter in record.voters]
    weights = record[-1].graph.weights
    for category in traits_of(record)[0].categories:
        own = np.array(estimators) == category.label
        assert category.drawn == pytest.approx(own.mean())
        assert category.left == pytest.approx(weights[own].sum() / 24)


def test_shares_sum_to_one_if_any_voter_is_left(mixed):
    for one in traits_of(mixed.record_):
        drawn, left = np.sum([[c.drawn, c.left] for c in one.categories], axis=0)
        assert drawn == pytest.approx(1)
        assert left == pytest.approx(1 if one.weights.any() else 0)


def test_weights_are_those_of_the_voters_that_have_drawn_a_value():
    voters = tuple(VoterDescription("a", "", {"c": value}) for value in (1, 1, 2, 3))
    (one,) = traits_of(record_of([2, 2, 2, 3], voters=voters))
    assert one.title == "c"
    assert [(c.label, c.drawn, c.left) for c in one.categories] == [
        ("1", 0.5, 0.0),
        ("2", 0.25, 0.75),
        ("3", 0.25, 0.25),
    ]


def test_only_voters_that_have_drawn_a_hyperparameter_count():
    drawn = ({"penalty": "l1"}, {"penalty": "l2"}, {"loss": "log_loss"}, {"loss": "hinge"})
    voters = tuple(VoterDescription("a", "", params) for params in drawn)
    penalty, loss = traits_of(record_of([0, 0, 2, 2], voters=voters))
    assert penalty.values == ("l1", "l2")
    assert penalty.weights.tolist() == [2, 0]
    assert loss.weights.tolist() == [2, 0]


def test_what_all_voters_share_is_left_out():
    same = tuple(VoterDescription("a", "", {"alpha": 1}) for _ in range(3))
    assert traits_of(record_of([0, 0, 0], voters=same)) == []
    assert traits_of(record_of([0, 0, 0])) == []


def test_numbers_come_in_ascending_order_and_then_others():
    labels = [c.label for c in trait("sqrt", 0.4, None, 0.25, "log2", True).categories]
    assert labels == ["0.25", "0.4", "sqrt", "None", "log2", "True"]


def test_many_numbers_become_four_ranges_with_as_many_voters_each():
    values = (0.011, 0.012, 0.2, 0.3, 1.5, 2.5, 100.0, 300.0)
    categories = trait(*values, weights=[0, 0, 0, 0, 0, 0, 1, 3]).categories
    labels = ["0.011 to 0.012", "0.2 to 0.3", "1.5 to 2.5", "1e+02 to 3e+02"]
    assert [(c.label, c.drawn) for c in categories] == [(label, 0.25) for label in labels]
    assert [c.left for c in categories] == [0, 0, 0, 1]


@pytest.mark.parametrize(
    "values",
    [(0.1, 0.2, 0.5), tuple("abcdefgh"), (1, 2, 3, 4, 5, 6, 7, None), (True, False) * 4],
    ids=["few", "words", "mixed", "booleans"],
)
def test_other_values_are_listed(values):
    assert len(trait(*values).categories) == len(set(values))


def test_of_many_categories_the_rarest_are_one():
    values = [name for k, name in enumerate("abcdefghij") for _ in range(k + 1)]
    categories = trait(*values).categories
    assert [c.label for c in categories] == [*"defghij", "3 others"]
    assert sum(c.drawn for c in categories) == pytest.approx(1)
    assert categories[-1].drawn == pytest.approx(6 / 55)


def test_values_that_cannot_be_hashed_are_shown_by_their_text():
    categories = trait([1, 2], [1, 2], {"a": list(range(30))}).categories
    assert categories[0].label == "[1, 2]"
    assert categories[0].drawn == pytest.approx(2 / 3)
    assert len(categories[1].label) == 22
    assert categories[1].label.endswith("\N{HORIZONTAL ELLIPSIS}")
