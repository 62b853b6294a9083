import copy
import pickle

import numpy as np
import pytest

from skliquid import native
from skliquid.voters.grown_trees import GrownTrees


def stump(*values):
    """Return a tree that splits the second column at 0.5."""
    nodes = np.zeros(3, native.NODE)
    nodes[0] = (np.float64(0.5).view(np.uint64), 1, 1)
    nodes[1], nodes[2] = (0, 2**31, 0), (0, 2**31, 1)
    return nodes.tobytes(), np.array(values, np.float32).tobytes()


TREES = GrownTrees([stump(1, 2), stump(10, 20), stump(100, 200)], 1, 2)


def sums(trees):
    X, found = np.array([[9.0, 0.5], [9.0, 0.6]]), np.zeros((1, 2, trees.n_outputs))
    native.add_up_trees([trees.handle], X, found, 1)
    return found[0].ravel().tolist()


def test_trees_add_up():
    assert len(TREES) == 3
    assert sums(TREES) == [111, 222]


def test_the_last_trees_are_kept():
    assert [len(TREES.keep_last(n)) for n in (0, 1, 2, 3, 9)] == [0, 1, 2, 3, 3]
    assert sums(TREES.keep_last(2)) == [110, 220]
    assert sums(TREES.keep_last(0)) == [0, 0]


def test_trees_follow_others():
    assert sums(TREES.keep_last(1, [stump(3, 4)])) == [103, 204]
    assert sums(TREES) == [111, 222]


def test_leaves_get_other_values():
    wider = TREES.with_values(lambda values: np.hstack([values, -values]), 2)
    assert wider.n_outputs == 2
    assert sums(wider) == [111, -111, 222, -222]


def test_leaves_that_list_outputs_know_more_of_them_later():
    dense = GrownTrees([stump(0.75, 0.25, 0.5, 0.5)], 2, 2)
    listed = dense.with_outputs(np.array([0, 2]), 4)
    assert listed.is_sparse
    assert sums(listed) == [0.75, 0, 0.25, 0, 0.5, 0, 0.5, 0]
    nodes = np.frombuffer(listed.trees[0][0], native.NODE).copy()
    nodes[1:] = [(2, 2**31, 0), (1, 2**31, 2)]
    pairs = np.array([[1, 0.5], [4, 0.25], [3, 0.125]], np.float32)  # 4 is for all
    rest = GrownTrees([(nodes.tobytes(), pairs.tobytes())], 4, 2, is_sparse=True)
    assert sums(rest) == [0.25, 0.75, 0.25, 0.25, 0, 0, 0, 0.125]
    wider = rest.with_outputs(np.array([0, 1, 2, 4]), 8)
    assert sums(wider) == [0.125, 0.625, *6 * [0.125], *4 * [0], 0.125, *3 * [0]]
    for same in (
        pickle.loads(pickle.dumps(wider)),
        wider.keep_last(1),
        wider.keep_last(0, wider.trees),
    ):
        assert sums(same) == sums(wider)


def test_copies_share_trees_and_pickles_make_them_again():
    assert copy.copy(TREES) is TREES
    assert copy.deepcopy(TREES) is TREES
    again = pickle.loads(pickle.dumps(TREES))
    assert again.trees == TREES.trees
    assert sums(again) == [111, 222]


def test_trees_that_are_none_are_an_error():
    with pytest.raises(ValueError, match="nodes must be whole"):
        GrownTrees([(b"x", b"1234")], 1, 2)
