from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from skliquid.delegation.arrays import Floats, Voters
from skliquid.delegation.storable import Array
from skliquid.files.arrays import check_array

LABELS = NDArray[Any]
SORTED = Array("n", is_sorted=True)
GOOD = [
    (Floats, Array("n"), np.ones(2)),
    (Floats, Array("n", may_be_nan=True), np.array([np.nan, 1.0])),
    (Floats, None, np.ones((2, 2))),
    (Voters, Array("n", high=3), np.arange(4)),
    (Voters, Array("n", low=-1), np.array([-1])),
    (NDArray[np.bool_], Array("n"), np.array([True])),
    (LABELS, SORTED, np.array(["a", "b"])),
    (LABELS, Array("n"), np.array([2, 1, 1])),
]
BAD = [
    (Floats, Array("n"), np.array([np.nan]), "finite numbers"),
    (Floats, Array("n"), np.array([np.inf]), "finite numbers"),
    (Floats, Array("n"), np.array([1e200]), "finite numbers"),
    (Floats, Array("n"), np.float32([1e20]), "finite numbers"),
    (Floats, Array("n"), np.ones((1, 1)), "1 dimensions: got 2"),
    (Floats, Array("n"), np.arange(2), "a type of f"),
    (Floats, Array(2), np.ones(3), "the length 2: got 3"),
    (Voters, Array("n", high=3), np.arange(5), "from 0 to 3"),
    (Voters, Array("n"), np.array([-1]), "from 0"),
    (NDArray[np.bool_], Array("n"), np.array([1]), "a type of b"),
    (LABELS, SORTED, np.array(["b", "a"]), "sorted"),
    (LABELS, SORTED, np.array(["a", "a"]), "none of them twice"),
    (LABELS, SORTED, np.array(["a", 1], dtype=object), "sorted"),
    (LABELS, SORTED, [1, 2], "an array"),
]


@pytest.mark.parametrize(("hint", "rule", "array"), GOOD)
def test_arrays_that_follow_their_rule_pass(hint, rule, array):
    check_array(array, hint, rule, {})


@pytest.mark.parametrize(("hint", "rule", "array", "problem"), BAD)
def test_arrays_that_break_their_rule_are_refused(hint, rule, array, problem):
    with pytest.raises(ValueError, match=problem):
        check_array(array, hint, rule, {})


def test_arrays_agree_in_the_lengths_of_their_axes():
    lengths = {}
    check_array(np.ones((2, 3)), Floats, Array("n", "m"), lengths)
    check_array(np.ones(2), Floats, Array("n"), lengths)
    check_array(np.ones(5), Floats, Array(""), lengths)
    with pytest.raises(ValueError, match="the length 2, the n: got 3"):
        check_array(np.ones(3), Floats, Array("n"), lengths)
