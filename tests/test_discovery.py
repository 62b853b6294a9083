import numpy as np
import pytest
import scipy.sparse

from skliquid.discovery import Discovery
from skliquid.increments import Rows


def rows(y, start=0, weights=None, container=np.asarray):
    X = container(np.arange(start, start + len(y), dtype=float)[:, None])
    return Rows(range(start, start + len(y)), X, np.array(y), weights)


def test_classes_are_those_found_so_far():
    empty = Discovery()
    assert empty.classes(np.array(["b", "a", "b"])).tolist() == ["a", "b"]
    updated = empty.update(rows(["b", "a"]))
    assert updated.classes(np.array(["c"])).tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="Mix of label input types"):
        updated.classes(np.array([0, 1]))


@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_array])
def test_the_last_rows_of_each_class_are_kept_in_order_and_balanced(container):
    discovery = Discovery()
    for start in range(0, 9000, 1000):
        y = np.where(np.arange(1000) < 100, 1, 0) if start < 8000 else np.full(1000, 2)
        discovery = discovery.update(rows(y, start, container=container))
    kept = discovery.rows
    assert np.bincount(kept.y).tolist() == [666, 666, 666]
    numbers = kept.rows.tolist()
    assert numbers == sorted(numbers)
    assert numbers[-1] == 8999
    assert min(n for n, label in zip(numbers, kept.y, strict=True) if label == 0) == 7334
    X = kept.X.toarray() if container is not np.asarray else kept.X
    assert X[:, 0].tolist() == numbers


def test_weights_are_kept_along():
    discovery = Discovery().update(rows([0, 1])).update(rows([1], 2, np.array([0.5])))
    assert discovery.rows.sample_weight.tolist() == [1, 1, 0.5]
    assert Discovery().update(rows([0, 1])).rows.sample_weight is None


def test_no_rows_leave_an_empty_discovery():
    assert len(Discovery().update(rows([])).rows.y) == 0
