import pytest

from skliquid import Mechanism
from skliquid.mechanisms import MECHANISMS, OF_THE_PAPER, as_mechanism


def test_the_six_mechanisms_of_the_paper_have_names():
    assert list(OF_THE_PAPER) == [
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


@pytest.mark.parametrize(
    ("wrong", "error"), [(("max", "max"), TypeError), ((len,), ValueError), ((), ValueError)]
)
def test_what_is_no_pair_of_functions_is_refused(wrong, error):
    with pytest.raises(error, match=r"mechanism must be a pair .* Give both functions"):
        as_mechanism(wrong)


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match=r"one of direct, random, .*'best' is not known"):
        as_mechanism("best")


def test_only_direct_is_direct():
    assert [name for name, mechanism in MECHANISMS.items() if mechanism.is_direct] == ["direct"]
