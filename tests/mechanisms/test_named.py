from dataclasses import replace

import pytest

from skliquid import Mechanism
from skliquid.mechanisms import (
    MECHANISMS,
    PAPER_MECHANISMS,
    FastestLearners,
    as_mechanism,
    revocable,
)


def test_the_six_mechanisms_of_the_paper_have_names():
    assert list(PAPER_MECHANISMS) == [
        "direct",
        "random",
        "max",
        "random_better",
        "proportional_better",
        "proportional_weighted",
    ]


def test_names_mechanisms_and_pairs_all_stand_for_a_mechanism():
    named = MECHANISMS["random_better"]
    pair = (named.selection, named.probability)
    assert as_mechanism("random_better") == as_mechanism(named) == as_mechanism(pair)
    assert as_mechanism(pair) == Mechanism(*pair)
    assert as_mechanism(named) is named


@pytest.mark.parametrize(
    ("wrong", "error"), [(("max", "max"), TypeError), ((len,), ValueError), ((), ValueError)]
)
def test_wrong_pairs_are_refused(wrong, error):
    with pytest.raises(error, match=r"a pair \(selection, probability\) .* [Gg]ive both functions"):
        as_mechanism(wrong)


def test_a_mistyped_name_is_refused_with_the_closest():
    with pytest.raises(
        ValueError, match=r"got 'proportional-weighted'. Did you mean 'proportional_w"
    ):
        as_mechanism("proportional-weighted")
    with pytest.raises(ValueError, match=r"got 'xyz'. Choose one of them"):
        as_mechanism("xyz")


@pytest.mark.parametrize("wrong", ["best", None, 3])
def test_unknown_mechanisms_are_refused(wrong):
    message = f"must be one of direct, .*, learning_slopes, .*: got {wrong!r}"
    with pytest.raises(ValueError, match=message):
        as_mechanism(wrong)


def test_fields_of_a_mechanism_can_be_replaced():
    changed = as_mechanism("max", candidates="voters", vote_weights="log_odds")
    assert changed == replace(MECHANISMS["max"], candidates="voters", vote_weights="log_odds")
    returning = as_mechanism(revocable("max", FastestLearners()), candidates="voters")
    assert returning == revocable(as_mechanism("max", candidates="voters"), FastestLearners())
    assert as_mechanism("learning_slopes", vote_weights="log_odds").vote_weights == "log_odds"
    with pytest.raises(TypeError, match="unexpected keyword argument 'revocable'"):
        as_mechanism("max", revocable=True)


def test_only_direct_is_direct():
    assert [name for name, mechanism in MECHANISMS.items() if mechanism.is_direct] == ["direct"]
