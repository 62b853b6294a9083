"""Arrays in a file that was cut are refused, since reading them would end the process."""

import mmap
import sys

import numpy as np
import pytest
import scipy.sparse
from odd_rows import PLAIN, SPARSE, Y
from sklearn.linear_model import SGDClassifier
from small_ensembles import of_four as small

from skliquid import TableEncoder, prune
from skliquid.diversity import FourierFeatures
from skliquid.diversity.standardizer import Standardizer
from skliquid.validation.mapped_files import refuse_cut_file
from skliquid.voters import RandomizedForestClassifier

PAGE = mmap.ALLOCATIONGRANULARITY
N_ROWS, N_COLUMNS = 40, PAGE // 160  # of 8 bytes: two pages

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows does not shorten a file that is mapped"
)


@pytest.fixture
def mapped(tmp_path):
    """Return a function that maps an array from a file, behind ``n_before`` other bytes."""

    def map_rows(array, n_before=0):
        path = tmp_path / "rows.dat"
        path.write_bytes(bytes(n_before) + array.tobytes())
        return np.memmap(path, array.dtype, "r", n_before, array.shape), path

    return map_rows


def cut(path, size):
    with path.open("r+b") as file:
        file.truncate(size)


VIEWS = {
    "whole": lambda X: X,
    "plain": np.asarray,
    "columns": lambda X: X[:, ::3],
    "backwards": lambda X: X[::-1, ::-1],
    "transposed": lambda X: X.T,
    "nested": lambda X: np.asarray(X)[1:].view(np.ndarray)[:, 2:][1:],
    "other type": lambda X: X.view(np.uint64),
    "buffer": lambda X: np.frombuffer(memoryview(X).cast("B"), np.float64),
    "masked": np.ma.array,
}


@pytest.mark.parametrize("n_before", [0, 24, PAGE + 8])
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_of_rows_behind_the_end_is_refused(mapped, view, n_before):
    X, path = mapped(np.zeros((N_ROWS, N_COLUMNS)), n_before)
    X = VIEWS[view](X)
    refuse_cut_file("X", X)
    size = path.stat().st_size
    cut(path, size - 1)
    message = f"X must lie within the file that it is mapped from: it ends at byte {size:,}"
    with pytest.raises(ValueError, match=message):
        refuse_cut_file("X", X)
    cut(path, 0)
    with pytest.raises(ValueError, match=r"rows.dat has 0. Write the file again"):
        refuse_cut_file("X", X)


def test_rows_before_the_end_are_accepted(mapped):
    X, path = mapped(np.ones((N_ROWS, N_COLUMNS)))
    cut(path, path.stat().st_size // 2)
    for rows in (X[: N_ROWS // 2], X[: N_ROWS // 2][::-1], X[N_ROWS:]):
        refuse_cut_file("X", rows)
        assert rows.sum() == rows.size
    path.unlink()  # the file lives as long as the map
    refuse_cut_file("X", X[: N_ROWS // 2])


def test_memory_that_is_not_of_a_file_is_accepted():
    memory = mmap.mmap(-1, 800)
    for array in (np.zeros(3)[1:], np.frombuffer(bytes(8)), np.frombuffer(memory), [1.0], None):
        refuse_cut_file("X", array)


@pytest.mark.parametrize("part", ["data", "indices", "indptr"])
def test_sparse_matrices_of_mapped_arrays_are_checked(mapped, part):
    matrix = scipy.sparse.csr_array(SPARSE)
    array, path = mapped(getattr(matrix, part))
    setattr(matrix, part, array)
    cut(path, 8)
    with pytest.raises(ValueError, match="X must lie within the file"):
        RandomizedForestClassifier(2).fit(matrix, Y)


def _begun():
    return small(SGDClassifier()).partial_fit(PLAIN, Y)


def _pruned():
    return prune([SGDClassifier().fit(PLAIN, Y)] * 2, PLAIN, Y, n_final=1)


READERS = {
    "fit": lambda X: small().fit(X, Y),
    "fit with categories": lambda X: small(categorical_features=[0]).fit(X, Y),
    "fit on a sample": lambda X: small(max_rows=20).fit(X, Y),
    "labels": lambda X: small().fit(PLAIN, X[:, 0]),
    "weights": lambda X: small().fit(PLAIN, Y, sample_weight=X[:, 0]),
    "eval_set": lambda X: small().fit(PLAIN, Y, eval_set=(X, Y)),
    "partial_fit": lambda X: small().partial_fit(X, Y),
    "continue": lambda X: _begun().partial_fit(X, Y),
    "predict": lambda X: _begun().predict(X),
    "predict_proba": lambda X: _begun().predict_proba(X),
    "refit": lambda X: _begun().refit(X, Y),
    "prune": lambda X: prune([SGDClassifier().fit(PLAIN, Y)] * 2, X, Y, n_final=1),
    "predict of pruned": lambda X: _pruned().predict(X),
    "voter": lambda X: RandomizedForestClassifier(2).fit(PLAIN, Y).predict(X),
    "encoder": lambda X: TableEncoder().fit(X),
    "standardizer": lambda X: Standardizer().fit(X),
    "Fourier features": lambda X: FourierFeatures().fit(X),
}


@pytest.mark.parametrize("reader", READERS)
def test_every_public_method_refuses_them(mapped, reader):
    rows = np.abs(PLAIN).round()  # labels, too
    X, path = mapped(rows)
    cut(path, 0)
    with pytest.raises(ValueError, match="must lie within the file that it is mapped from"):
        READERS[reader](X)
