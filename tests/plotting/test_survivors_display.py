import matplotlib.pyplot as plt
import numpy as np
import pytest

from plotting.records import record_of
from skliquid.delegation.record import VoterDescription
from skliquid.plotting import SurvivorsDisplay
from skliquid.plotting.survivors_display import draw_trait
from skliquid.plotting.traits import Trait, traits_of


def words_of(ax):
    return " ".join(text.get_text() for text in ax.texts)


def test_there_is_a_panel_per_trait(mixed):
    display = SurvivorsDisplay.from_estimator(mixed)
    assert list(display.axes_) == [trait.title for trait in traits_of(mixed.record_)]
    assert len(set(display.axes_.values())) == len(display.axes_)
    assert len(display.legend_.get_texts()) == 2


def test_each_estimator_begins_at_the_left(mixed):
    display = SurvivorsDisplay.from_estimator(mixed)
    firsts = ["estimator", "linear: alpha", "forest: max_features", "boosted: max_depth"]
    assert len({round(display.axes_[name].get_position().x0, 3) for name in firsts}) == 1


def test_a_hyperparameter_may_be_called_estimator():
    voters = tuple(
        VoterDescription("ab"[k % 2], "", {"estimator": "xyz"[k % 3]}) for k in range(12)
    )
    display = SurvivorsDisplay.from_record(record_of([0] * 12, voters=voters))
    assert list(display.axes_) == ["estimator", "a: estimator", "b: estimator"]
    assert len({round(ax.get_position().y0, 3) for ax in display.axes_.values()}) == 3


def test_one_estimator_with_one_hyperparameter_has_one_panel():
    voters = tuple(VoterDescription("SGDClassifier", "", {"alpha": 0.1**k}) for k in range(9))
    display = SurvivorsDisplay.from_record(record_of([8] * 9, voters=voters))
    assert list(display.axes_) == ["alpha"]


def test_it_is_said_that_voters_differ_only_in_their_seeds(alike):
    display = SurvivorsDisplay.from_estimator(alike)
    assert not display.axes_
    assert display.legend_ is None
    assert display.estimator == "SGDClassifier"
    title, *words = display.ax_.get_title().splitlines()
    assert title == "What survived: 12 voters, 3 representatives"
    note = "All are SGDClassifier, and differ in seeds, rows or features only."
    assert " ".join(words) == note


def test_it_is_said_that_an_old_record_does_not_describe_its_voters():
    display = SurvivorsDisplay.from_record(record_of([0, 0, 0]))
    assert "does not say what distinguishes" in display.ax_.get_title()


@pytest.fixture
def ax():
    _, ax = plt.subplots()
    return ax


def test_bars_are_the_shares_of_voters_and_of_weight(ax):
    trait = Trait("svm", "kernel", ("rbf", "rbf", "poly", "poly"), np.array([3, 0, 0, 1]))
    draw_trait(ax, trait, 2)
    drawn, left = ([bar.get_width() for bar in bars] for bars in ax.containers)
    assert drawn == [0.5, 0.5]
    assert left == [0.75, 0.25]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["rbf", "poly"]
    assert [text.get_text().strip() for text in ax.texts] == ["75%", "25%"]
    assert ax.get_title("left") == "svm: kernel"


def test_it_is_said_if_no_voter_with_an_estimator_is_left(ax):
    draw_trait(ax, Trait("forest", "p", ("a", "b"), np.zeros(2, dtype=int)), 2)
    assert "none left" in words_of(ax)


def test_bars_of_a_row_are_equally_wide(ax):
    draw_trait(ax, Trait("", "p", ("a", "b"), np.ones(2, dtype=int)), 5)
    assert ax.get_ylim() == (4.6, -0.6)


@pytest.mark.parametrize("n_maps", [1, 2, 5])
def test_rows_have_at_most_three_panels(n_maps):
    voters = tuple(
        VoterDescription(f"estimator {k % n_maps}", f"map {k}", {"a": k, "b": k}) for k in range(20)
    )
    display = SurvivorsDisplay.from_record(record_of([0] * 20, voters=voters))
    assert len(display.axes_) == (n_maps > 1) + 3 * n_maps
    columns = {round(ax.get_position().x0, 3) for ax in display.axes_.values()}
    assert len(columns) <= 3
