"""Data that cannot be converted to arrays get a clear error, and sparse matrices are made sound."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from odd_rows import DAMAGED_MATRICES, FORMATS, PLAIN, SPARSE, Y
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import MaxAbsScaler
from small_ensembles import of_four as small

from skliquid import Diversity, prune
from skliquid.diversity import FourierFeatures
from skliquid.validation.data_types import checked_sparse
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier

LONGER = ("csc with rows too many", "coo with rows too many")  # by empty rows
STILL_RIGHT = ("unsorted", "repeated", "denied", "int8", *LONGER)
VOTERS = [RandomizedForestClassifier(2), BoostedTreesClassifier(2)]


@pytest.mark.parametrize("name", DAMAGED_MATRICES)
def test_a_matrix_whose_parts_do_not_fit_is_refused(name):
    if name.endswith(STILL_RIGHT):
        found = checked_sparse(DAMAGED_MATRICES[name]()).toarray()
        assert np.array_equal(found[: len(PLAIN)], expected(name)[: len(PLAIN)])
        return
    with pytest.raises(ValueError, match="X must be a sparse matrix whose indices fit its shape"):
        checked_sparse(DAMAGED_MATRICES[name]())


def expected(name):
    """Return the sums of what is stored for each cell."""
    matrix = DAMAGED_MATRICES[name]()
    if matrix.format == "coo":
        return PLAIN
    cells = np.zeros(matrix.shape)
    for k, (start, stop) in enumerate(zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)):
        lane = cells[k] if matrix.format == "csr" else cells[:, k]
        np.add.at(lane, matrix.indices[start:stop], matrix.data[start:stop])
    return cells


@pytest.mark.parametrize("layout", FORMATS)
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_a_sound_matrix_keeps_its_cells_and_its_kind(layout, kind):
    given = getattr(scipy.sparse, f"{layout}_{kind}")(PLAIN)
    found = checked_sparse(given)
    assert np.array_equal(found.toarray(), PLAIN)
    assert isinstance(found, scipy.sparse.sparray) == (kind == "array")


def test_a_sound_csr_matrix_is_not_copied():
    assert np.shares_memory(checked_sparse(SPARSE).data, SPARSE.data)


def repeated():
    """Return a matrix in which some numbers are stored as two halves."""
    halves = np.repeat(SPARSE.data / 2, 2)
    return scipy.sparse.csr_array(
        (halves, np.repeat(SPARSE.indices, 2), SPARSE.indptr * 2), shape=SPARSE.shape
    )


MODELS = {
    "default": small(),
    "linear": small(SGDClassifier()),
    "maps": small(SGDClassifier(), diversity=Diversity(feature_maps=[MaxAbsScaler()])),
    "forest": RandomizedForestClassifier(2, random_state=0),
    "boosted": BoostedTreesClassifier(2, random_state=0),
}


@pytest.mark.filterwarnings("ignore:A voter took max_iter epochs")
@pytest.mark.parametrize("name", MODELS)
def test_numbers_stored_for_the_same_cell_count_as_their_sum(name):
    given, model = repeated(), clone(MODELS[name])
    plain = model.fit(SPARSE, Y).predict_proba(SPARSE)
    assert np.array_equal(model.predict_proba(given), plain)
    assert np.array_equal(model.fit(given, Y).predict_proba(given), plain)
    assert given.nnz == 2 * SPARSE.nnz  # the caller's matrix stays as it is


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "lil"])
def test_fitted_voters_never_see_wrong_indices(layout):
    small_forest = prune(RandomForestClassifier(3).fit(SPARSE, Y), SPARSE, Y, n_final=2)
    name = "a negative column" if layout == "lil" else "a negative index"
    for method in (small_forest.predict, small_forest.predict_proba):
        with pytest.raises(ValueError, match="X must be a sparse matrix whose indices"):
            method(DAMAGED_MATRICES[f"{layout} with {name}"]())


def test_fourier_features_refuse_wrong_indices():
    damaged = DAMAGED_MATRICES["csr with a negative index"]()
    with pytest.raises(ValueError, match="X must be a sparse matrix whose indices"):
        FourierFeatures().fit(damaged)
    with pytest.raises(ValueError, match="X must be a sparse matrix whose indices"):
        FourierFeatures().fit(SPARSE).transform(damaged)


DAYS = np.full(PLAIN.shape, "2024-01-01", "datetime64[D]")
FRAME = pd.DataFrame(PLAIN, columns=list("abcdef"))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (DAYS, r"X must hold numbers: it has the type datetime64\[D\]"),
        (DAYS - DAYS, r"X must hold numbers: it has the type timedelta64\[D\]"),
        (FRAME.to_records(index=False), "X must hold numbers: it has the type"),
        (FRAME[["a", "b", "a"]], "Columns must have different names: X has 'a' more than once"),
        (FRAME[[]], "X must have columns: got a data frame without any"),
        (np.ma.array(PLAIN, mask=PLAIN > 1), r"X must not have masked values: got \d+. Fill them"),
        (
            np.full(PLAIN.shape, 10**400, dtype=object),
            "X must be an array of numbers.*too large",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_rows_that_are_no_numbers_are_refused(X, message):
    for model in map(clone, (small(), small(SGDClassifier()), *VOTERS)):
        with pytest.raises((ValueError, TypeError), match=message):
            model.fit(X, Y)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (FRAME.assign(b=DAYS[:, 0]), "X must hold numbers: column 'b' has the type datetime64"),
        (FRAME.assign(b=DAYS[0, 0] - DAYS[:, 0]), "column 'b' has the type timedelta64"),
        (FRAME.assign(b=pd.Series(DAYS[:, 0]).dt.to_period("D")), r"the type period\[D\]"),
        (pl.DataFrame({"a": PLAIN[:, 0], "b": DAYS[:, 0]}), "column 'b' has the type Date"),
    ],
    ids=["date", "duration", "period", "polars"],
)
def test_tree_voters_refuse_dates(X, message):
    for model in map(clone, VOTERS):
        with pytest.raises(TypeError, match=f"{message}.* LiquidEnsembleClassifier encodes"):
            model.fit(X, Y)


def test_masked_arrays_without_masked_values_are_taken():
    assert small().fit(np.ma.array(PLAIN), np.ma.array(Y)).score(PLAIN, Y) > 0.5


def test_names_that_come_twice_are_refused_by_all_that_take_frames():
    twice = FRAME[["a", "b", "a"]]
    pruned = prune(RandomForestClassifier(3).fit(PLAIN, Y), PLAIN, Y, n_final=2)
    for refuse in (lambda: small().fit(twice, Y), lambda: pruned.predict(twice)):
        with pytest.raises(ValueError, match="Columns must have different names: X has 'a' more"):
            refuse()


WORDS = np.where(Y, "yes", "no").astype(object)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.where(Y, WORDS, None), r"y must not hold missing values \(NaN\): got None"),
        (pd.Series(WORDS, dtype="string").mask(Y == 1), r"missing values \(NaN\): got <NA>"),
        (pd.Series(WORDS).mask(Y == 1), r"missing values \(NaN\): got nan"),
        (pl.Series([None, "a"] * 20), r"missing values \(NaN\): got None"),
        (np.array([(k,) for k in Y], dtype=[("a", int)]), "y must hold text or numbers: got the"),
        (
            pd.Series(WORDS).where(Y == 1, "no\0"),
            "y must not hold text that ends with a null",
        ),
        (np.ma.array(Y, mask=Y == 1), r"y must not have masked values: got \d+"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_labels_that_are_missing_or_records_are_refused(y, message):
    fitted = small().fit(PLAIN, Y)
    for refuse in (
        lambda: small().fit(PLAIN, y),
        lambda: fitted.partial_fit(PLAIN, y),
        lambda: fitted.fit(PLAIN, Y, eval_set=(PLAIN, y)),
        lambda: RandomizedForestClassifier(2).fit(PLAIN, y),
        lambda: prune(RandomForestClassifier(3).fit(PLAIN, Y), PLAIN, y, n_final=2),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            refuse()


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (DAYS[:, 0], r"sample_weight must hold numbers: it has the type datetime64\[D\]"),
        (np.ma.array(Y + 1.0, mask=Y == 1), "sample_weight must not have masked values"),
        (pl.DataFrame({"w": Y}).lazy(), "sample_weight must hold data: got a LazyFrame"),
        ([10**400] * len(Y), "sample_weight must be an array of numbers"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_weights_that_are_no_numbers_are_refused(weights, message):
    for model in map(clone, (small(), *VOTERS)):
        with pytest.raises((ValueError, TypeError), match=message):
            model.fit(PLAIN, Y, sample_weight=weights)
