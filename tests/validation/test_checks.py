import numpy as np
import pytest

from skliquid.validation.checks import (
    check_count,
    check_n_final,
    check_number,
    missing_extra,
    printable,
    suggestion,
)


@pytest.mark.parametrize("wrong", [0, -1, 1.5, 2.0, None, "3"])
def test_counts_are_whole_numbers(wrong):
    assert check_count("n", np.int64(7)) == 7
    assert check_count("n", 0, least=0) == 0
    with pytest.raises(
        ValueError, match=r"^n must be a whole number of 1 or more: got .* like 6\.$"
    ):
        check_count("n", wrong)


@pytest.mark.parametrize("wrong", [-0.1, 1, np.nan, None, "0.5"])
def test_numbers_obey_the_rule(wrong):
    def is_allowed(rate):
        return 0 <= rate < 1

    check_number("rate", np.float32(0.5), "below 1", is_allowed, like=0.1)
    with pytest.raises(
        ValueError, match=r"^rate must be below 1: got .*Give a number like 0\.1\.$"
    ):
        check_number("rate", wrong, "below 1", is_allowed, like=0.1)


def test_no_more_than_all_voters_can_remain():
    check_n_final(5, 5, limit="n_estimators")
    with pytest.raises(ValueError, match=r"must not exceed n_estimators: 6 .* remain of 5 voters"):
        check_n_final(6, 5, limit="n_estimators")
    with pytest.raises(ValueError, match="n_final must be a whole number of 1 or more: got 0"):
        check_n_final(0, 5, limit="n_estimators")


def test_the_closest_name_is_suggested_whatever_its_case():
    assert suggestion("maxx", ["max", "random"]) == "Did you mean 'max'?"
    assert suggestion("zzz", ["max", "random"]) == "Choose one of them."
    assert suggestion(" CLASS", ["age", "Class"]) == "Did you mean 'Class'?"
    assert suggestion("clas", ["age", " class "]) == "Did you mean ' class '?"
    assert suggestion("age", ["AGE", "TOWN"]) == "Did you mean 'AGE'?"
    assert suggestion(5, ["max"]) == "Choose one of them."


def test_a_missing_package_is_an_error_that_says_how_to_install_it():
    error = missing_extra("A cluster", "distributed", "dask")
    assert error.name == "distributed"
    assert str(error) == (
        "A cluster needs distributed, which is not installed (extra 'dask'): pip install "
        "distributed, or pip install '.[dask]' in a clone of skliquid."
    )


def test_what_a_terminal_would_obey_is_escaped_as_repr_does():
    odd = "\x1b[31m\r\b\x9b\u202e\u200b\ud800\n"
    assert printable(odd) == repr(odd)[1:-1]
    assert printable(f"a{odd}b", keep="\n") == f"a{repr(odd)[1:-3]}\nb"
    plain = "Köln, 東京 \\ '\""
    assert printable(plain) == plain
    assert printable(3.5) == "3.5"
