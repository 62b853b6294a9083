import numpy as np
import pytest
import scipy.sparse

from skliquid.delegation.rows import Rows


def numbered(numbers, sample_weight=None):
    X = np.arange(len(numbers) * 2.0).reshape(-1, 2)
    return Rows(X, np.arange(len(numbers)), sample_weight, numbers)


@pytest.mark.parametrize("positions", [slice(1, 3), np.array([3, 0])])
@pytest.mark.parametrize("numbers", [range(10, 14), np.array([7, 1, 5, 3])])
def test_a_part_knows_which_rows_of_the_whole_it_is(numbers, positions):
    part = numbered(numbers, sample_weight=np.arange(4.0)).at(positions)
    assert list(part.numbers) == np.array(numbers)[positions].tolist()
    assert part.y.tolist() == part.sample_weight.tolist() == np.arange(4)[positions].tolist()
    assert part.X[:, 0].tolist() == (2 * np.arange(4.0))[positions].tolist()


def test_rows_of_weight_zero_are_left_out():
    weighted = numbered(range(4), sample_weight=np.array([0, 1.0, 0, 2])).without_zero_weights()
    assert list(weighted.numbers) == [1, 3]
    assert weighted.sample_weight.tolist() == [1, 2]
    plain = numbered(range(4))
    assert plain.without_zero_weights() is plain


def test_sparse_rows_stay_sparse():
    rows = Rows(scipy.sparse.csr_array(np.eye(3)), np.arange(3))
    assert scipy.sparse.issparse(rows.at(np.array([2, 0])).X)


def test_rows_without_numbers_are_all_rows():
    rows = Rows(np.eye(3), np.arange(3))
    assert rows.positions == range(3)
    assert rows.at(np.array([2, 0])).numbers is None
    assert numbered(range(10, 13)).positions == range(10, 13)


@pytest.mark.parametrize(
    "containers", [("dense", "dense"), ("dense", "sparse"), ("sparse", "dense")]
)
def test_rows_may_follow_each_other(containers):
    make = {"dense": np.asarray, "sparse": scipy.sparse.csr_array}
    first, second = (
        Rows(make[container](np.eye(3)), np.full(3, k), None, range(3 * k, 3 * k + 3))
        for k, container in enumerate(containers)
    )
    joined = first.followed_by(second)
    assert scipy.sparse.issparse(joined.X) is ("sparse" in containers)
    X = joined.X.toarray() if scipy.sparse.issparse(joined.X) else joined.X
    assert np.array_equal(X, np.vstack([np.eye(3), np.eye(3)]))
    assert joined.y.tolist() == [0, 0, 0, 1, 1, 1]
    assert joined.numbers.tolist() == list(range(6))
    assert joined.sample_weight is None


def test_rows_have_the_same_data_whatever_their_weights():
    X = np.array([[1.0, np.nan], [0.0, 2.0]])
    rows = Rows(X, np.array([0, 1]), np.ones(2))
    assert rows.has_same_data(Rows(X.copy(), np.array([0, 1])))
    assert not rows.has_same_data(Rows(X, np.array([1, 1])))
    assert not rows.has_same_data(Rows(X[:1], np.array([0])))
    assert not rows.has_same_data(Rows(X[::-1], np.array([0, 1])))
    sparse = Rows(scipy.sparse.csr_array(np.eye(2)), np.array([0, 1]))
    assert sparse.has_same_data(Rows(scipy.sparse.csr_array(np.eye(2)), np.array([0, 1])))
    assert not sparse.has_same_data(Rows(scipy.sparse.csr_array(2 * np.eye(2)), np.array([0, 1])))
    assert not sparse.has_same_data(Rows(np.eye(2), np.array([0, 1])))


def test_rows_without_weights_weigh_one_when_they_join_others():
    plain, weighted = numbered(range(2)), numbered(range(2, 4), np.array([0.5, 3]))
    assert plain.followed_by(weighted).sample_weight.tolist() == [1, 1, 0.5, 3]
    assert weighted.followed_by(plain).sample_weight.tolist() == [0.5, 3, 1, 1]


def test_weights_per_voter_are_those_of_the_voters_asked_for():
    weights = np.arange(12.0).reshape(3, 4)
    rows = numbered(range(4), weights)
    assert rows.has_weights_per_voter
    assert rows.for_voter(1).sample_weight.tolist() == weights[1].tolist()
    assert rows.for_voters(np.array([2, 0])).sample_weight.tolist() == weights[[2, 0]].tolist()
    assert rows.at(np.array([3, 1])).sample_weight.tolist() == weights[:, [3, 1]].tolist()
    for shared in (numbered(range(4)), numbered(range(4), weights[0])):
        assert not shared.has_weights_per_voter
        assert shared.for_voter(1) is shared.for_voters(np.array([2, 0])) is shared


def test_voters_that_take_no_weights_see_rows_as_often_as_these_say():
    rows = numbered(range(4), np.array([0.0, 2, 1, 0]))
    assert rows.repeated().y.tolist() == [1, 1, 2]
    assert rows.repeated().weights_argument == {}
    assert rows.weights_argument["sample_weight"] is rows.sample_weight


def test_copies_do_not_change_with_the_arrays_of_the_caller():
    rows = numbered(range(2), np.ones(2))
    copied = rows.copied()
    rows.X[:], rows.sample_weight[:] = -1, -1
    assert copied.X.min() == 0
    assert copied.sample_weight.tolist() == [1, 1]
