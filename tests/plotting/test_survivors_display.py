import pytest

from plotting.records import record_of
from skliquid.delegation.record import VoterDescription
from skliquid.plotting import SurvivorsDisplay
from skliquid.plotting.traits import traits_of


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
    assert display.axes_["alpha"].get_xscale() == "log"


def test_it_is_said_that_voters_differ_only_in_their_seeds(alike):
    display = SurvivorsDisplay.from_estimator(alike)
    assert not display.axes_
    assert display.legend_ is None
    assert "same estimator, SGDClassifier, and drew no hyperparameters" in words_of(display.ax_)
    assert display.ax_.get_title() == "What survived: 12 voters, 3 representatives"


def test_it_is_said_that_an_old_record_does_not_describe_its_voters():
    display = SurvivorsDisplay.from_record(record_of([0, 0, 0]))
    assert "does not say what distinguishes" in words_of(display.ax_)


@pytest.mark.parametrize("n_maps", [1, 2, 5])
def test_rows_have_at_most_three_panels(n_maps):
    voters = tuple(
        VoterDescription(f"estimator {k % n_maps}", f"map {k}", {"a": k, "b": k}) for k in range(20)
    )
    display = SurvivorsDisplay.from_record(record_of([0] * 20, voters=voters))
    assert len(display.axes_) == (n_maps > 1) + 3 * n_maps
    columns = {round(ax.get_position().x0, 3) for ax in display.axes_.values()}
    assert len(columns) <= 3
