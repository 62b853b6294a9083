"""The door checks what explanations pass to the kernels."""

import numpy as np
import pytest

from skliquid import native
from skliquid.explanation.scores import _quadratures


def node(cut, feature, next_):
    return np.array((np.float64(cut).view(np.uint64), feature, next_), dtype=native.NODE).tobytes()


LEAF = 1 << 31
VALUES = np.array([0.0, 1.0, 3.0], dtype=np.float32).tobytes()
TREE = node(0.5, 0, 1) + node(0.5, 1, 3) + b"".join(node(0, LEAF, k) for k in (2, 0, 1))


def arguments(**changes):
    return {
        "trees": native.Trees([(TREE, VALUES)], 1, 2),
        "X": np.array([[0.0, 1.0]]),
        "columns": np.array([[0.0, 1.0], [0.0, 0.0]]),
        "players": np.arange(2, dtype=np.int32),
        "n_players": 2,
        "quadratures": _quadratures(),
        "values": np.zeros((1, 2, 1)),
        "expected": np.zeros(1),
        "n_threads": 1,
    } | changes


def test_a_tree_is_explained():
    given = arguments()
    native.explain_trees(**given)
    # f = 3 if x0 else x1, and both columns are one in half, or in none, of the background
    np.testing.assert_allclose(given["expected"], [1.5])
    np.testing.assert_allclose(given["values"].ravel(), [-1.25, 0.75])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"trees": object()}, "trees must be"),
        ({"X": np.zeros((1, 3))}, "players must have 3 numbers"),
        ({"X": np.zeros((1, 2), dtype=np.float32)}, "X must hold float64"),
        ({"columns": np.zeros((3, 2))}, "background must have 2 rows"),
        ({"columns": np.zeros((2, 0))}, "background must have a row"),
        ({"players": np.array([0, 2], dtype=np.int32)}, "players must be from 0 to 1"),
        ({"players": np.array([0, -1], dtype=np.int32)}, "players must be from 0 to 1"),
        ({"n_players": 0}, "n_players must be from 1"),
        ({"quadratures": np.zeros((31, 2, 32))}, "quadratures must have 32 rules"),
        ({"values": np.zeros((1, 3, 1))}, "values must have 2 players"),
        ({"values": np.zeros((1, 2, 2))}, "values must have 1 outputs"),
        ({"expected": np.zeros(2)}, "expected must have 1 numbers"),
        ({"n_threads": 0}, "n_threads must be from 1"),
    ],
)
def test_wrong_arrays_are_refused(changes, message):
    with pytest.raises((TypeError, ValueError), match=message):
        native.explain_trees(**arguments(**changes))


def test_nodes_with_several_parents_are_refused():
    shared = node(0.5, 0, 1) + node(0.5, 1, 3) * 2 + node(0, LEAF, 0) + node(0, LEAF, 1)
    with pytest.raises(ValueError, match="trees must not share nodes"):
        native.explain_trees(**arguments(trees=native.Trees([(shared, VALUES)], 1, 2)))


def test_wrong_waves_are_refused():
    given = {
        "directions": np.ones((3, 2)),
        "offsets": np.zeros(3),
        "X": np.zeros((1, 2)),
        "background": np.zeros((4, 2)),
        "players": np.arange(2, dtype=np.int32),
        "n_players": 2,
        "quadratures": _quadratures(),
        "values": np.zeros((1, 2, 3)),
        "expected": np.zeros(3),
        "n_threads": 1,
    }
    native.explain_waves(**given)
    np.testing.assert_array_equal(given["expected"], np.ones(3))
    for name, value, message in [
        ("directions", np.ones((2, 2)), "directions must have 3 rows"),
        ("background", np.zeros((4, 3)), "background must have 2 columns"),
        ("background", np.zeros((0, 2)), "background must have a row"),
        ("values", np.zeros((1, 2, 2)), "values must have 3 waves"),
    ]:
        with pytest.raises(ValueError, match=message):
            native.explain_waves(**given | {name: value})
