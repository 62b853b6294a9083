"""Rows as people give them, and as they should not: types, shapes, values, sparse matrices."""

import array
import os
import tempfile
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cache, partial

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse

N_ROWS, N_COLUMNS = 40, 6
_RNG = np.random.default_rng(0)
PLAIN = _RNG.normal(size=(N_ROWS, N_COLUMNS)) * (_RNG.random((N_ROWS, N_COLUMNS)) < 0.5)
PLAIN.flags.writeable = False
Y = (PLAIN.sum(axis=1) > 0).astype(int)
SPARSE = scipy.sparse.csr_array(PLAIN)
NAMES = list("abcdef")
DAYS = np.datetime64("2024-01-01") + np.arange(N_ROWS)


def is_sparse(X):
    return scipy.sparse.issparse(X)


def _with(value, dtype=np.float64):
    X = PLAIN.astype(dtype)
    X[3, 2] = value
    return X


def _column_of(value):
    X = PLAIN.copy()
    X[:, 2] = value
    return X


def _as(dtype):
    return lambda: PLAIN.astype(dtype)


def _unaligned():
    room = np.zeros(PLAIN.nbytes + 1, np.uint8)[1:]
    X = room.view(np.float64).reshape(PLAIN.shape)
    X[:] = PLAIN
    return X


@cache
def _memmap():
    file = tempfile.TemporaryFile()  # noqa: SIM115 (it lives as long as the map)
    X = np.memmap(file, np.float64, "w+", shape=PLAIN.shape)
    X[:] = PLAIN
    return X


@cache
def _memmap_of_cut_file():
    with tempfile.TemporaryFile() as file:
        X = np.memmap(file, np.float64, "w+", shape=PLAIN.shape)
        X[:] = PLAIN
        if os.name != "nt":  # which does not shorten it
            file.truncate(0)
    return X


def _structured():
    return np.array(list(map(tuple, PLAIN)), dtype=[(name, np.float64) for name in NAMES])


class Duck:
    """What numpy can convert."""

    def __array__(self, dtype=None, copy=None):
        return np.array(PLAIN, dtype=dtype)


class Broken:
    """What numpy cannot convert."""

    def __array__(self, dtype=None, copy=None):
        raise TypeError("no")


ARRAYS = {
    "plain": lambda: PLAIN,
    "lists": PLAIN.tolist,
    "tuples": lambda: tuple(map(tuple, PLAIN.tolist())),
    "list of arrays": lambda: list(PLAIN),
    "ragged lists": lambda: [*PLAIN[:-1].tolist(), [1.0]],
    "nested lists": lambda: [PLAIN.tolist()],
    "lists of text": lambda: [["a", "b"]] * N_ROWS,
    "lists of None": lambda: [[None] * N_COLUMNS] * N_ROWS,
    "list of dicts": lambda: [{"a": 1.0}] * N_ROWS,
    "array.array": lambda: array.array("d", range(N_ROWS)),
    "memoryview": lambda: memoryview(PLAIN),
    "range": lambda: range(N_ROWS),
    "generator": lambda: (row for row in PLAIN),
    "None": lambda: None,
    "number": lambda: 3.5,
    "text": lambda: "rows",
    "bytes": lambda: b"rows",
    "dict": lambda: {"a": PLAIN[:, 0]},
    "set": lambda: {1, 2},
    "class": lambda: dict,
    "duck": Duck,
    "broken duck": Broken,
    "matrix": lambda: np.asmatrix(PLAIN),
    "masked array": lambda: np.ma.array(PLAIN, mask=False),
    "masked values": lambda: np.ma.array(PLAIN, mask=PLAIN > 1),
    "structured": _structured,
    "records": lambda: _structured().view(np.recarray),
    "memmap": _memmap,
    "memmap of a cut file": _memmap_of_cut_file,
    "writable": PLAIN.copy,
    "strided": lambda: np.repeat(np.repeat(PLAIN, 2, axis=0), 2, axis=1)[::2, ::2],
    "backwards": lambda: PLAIN[::-1, ::-1],
    "Fortran order": lambda: np.asfortranarray(PLAIN),
    "broadcast": lambda: np.broadcast_to(PLAIN[:1], PLAIN.shape),
    "unaligned": _unaligned,
}
TYPES = {
    **{
        f"{name}": _as(name)
        for name in ("float16", "float32", ">f8", ">f4", "longdouble", "int8", "uint64", "bool")
    },
    **{name: _as(name) for name in ("complex64", "complex128", "object", "U", "S", "V8")},
    "datetime64": lambda: PLAIN.astype("datetime64[s]"),
    "NaT": lambda: np.full(PLAIN.shape, "NaT", "datetime64[s]"),
    "timedelta64": lambda: PLAIN.astype("timedelta64[s]"),
    "words": lambda: np.full(PLAIN.shape, "word"),
    "objects with None": lambda: _with(None, object),
    "objects with text": lambda: _with("word", object),
    "objects with a list": lambda: _with([1], object),
    "objects with a date": lambda: _with(datetime(2024, 1, 1), object),
    "Decimals": lambda: np.vectorize(lambda x: Decimal(str(x)), otypes=[object])(PLAIN),
    "large integers": lambda: _with(2**70, object),
    "larger than floats": lambda: _with(10**400, object),
    "int64 extremes": lambda: np.where(PLAIN > 0, 2**63 - 1, -(2**63)),
    "uint64 extremes": lambda: np.where(PLAIN > 0, np.uint64(2**64 - 1), np.uint64(0)),
}
SHAPES = {
    "0-d": lambda: np.array(1.0),
    "1-d": lambda: PLAIN[:, 0],
    "3-d": lambda: PLAIN[None],
    "no rows": lambda: PLAIN[:0],
    "no columns": lambda: PLAIN[:, :0],
    "nothing": lambda: np.empty((0, 0)),
    "empty list": list,
    "list of empty lists": lambda: [[]],
    "one row": lambda: PLAIN[:1],
    "one row as 1-d": lambda: PLAIN[0],
    "one column": lambda: PLAIN[:, :1],
    "wider": lambda: np.hstack([PLAIN, PLAIN]),
    "one column more": lambda: np.hstack([PLAIN, PLAIN[:, :1]]),
    "one column less": lambda: PLAIN[:, :-1],
    "transposed": lambda: PLAIN.T,
    "one row less": lambda: PLAIN[:-1],
}
VALUES = {
    "NaN": lambda: _with(np.nan),
    "infinity": lambda: _with(np.inf),
    "minus infinity": lambda: _with(-np.inf),
    "a column of NaN": lambda: _column_of(np.nan),
    "all NaN": lambda: np.full(PLAIN.shape, np.nan),
    "float32 infinity": lambda: _with(np.inf, np.float32),
    "float16 infinity": lambda: _with(np.inf, np.float16),
    "longdouble above float64": lambda: _with(np.longdouble("1e400"), np.longdouble),
    "1e308": lambda: PLAIN * 1e307,
    "1e308 once": lambda: _with(1e308),
    "1e200": lambda: PLAIN * 1e200,
    "float32 maximum": lambda: _with(3e38, np.float32),
    "1e30 float32": lambda: (PLAIN * 1e30).astype(np.float32),
    "subnormal": lambda: PLAIN * 1e-310,
    "smallest": lambda: _with(5e-324),
    "zeros": lambda: np.zeros(PLAIN.shape),
    "negative zeros": lambda: np.full(PLAIN.shape, -0.0),
    "constant": lambda: np.full(PLAIN.shape, 7.0),
    "large constant column": lambda: _column_of(1e300),
}


def _frame(**columns):
    return lambda: pd.DataFrame(PLAIN, columns=NAMES).assign(
        **{name: make() for name, make in columns.items()}
    )


def _renamed(names):
    return lambda: pd.DataFrame(PLAIN, columns=names)


def _pandas(values, dtype):
    return lambda: pd.array([*values] * (N_ROWS // len(values)), dtype=dtype)


FRAMES = {
    "frame": _frame(),
    "frame of Int64": _frame(b=_pandas([1, 2], "Int64")),
    "frame of Int64 with NA": _frame(b=_pandas([1, None], "Int64")),
    "frame of Float64 with NA": _frame(b=_pandas([1.5, None], "Float64")),
    "frame of boolean with NA": _frame(b=_pandas([True, None], "boolean")),
    "frame of bool": _frame(b=lambda: PLAIN[:, 0] > 0),
    "frame of string": _frame(b=_pandas(["x", "y"], "string")),
    "frame of string with NA": _frame(b=_pandas(["x", None], "string")),
    "frame of numbers as text": _frame(b=_pandas(["1", "2"], "string")),
    "frame of category": _frame(b=lambda: pd.Categorical(["x", "y"] * (N_ROWS // 2))),
    "frame of category with NA": _frame(b=lambda: pd.Categorical(["x", None] * (N_ROWS // 2))),
    "frame of numbers as category": _frame(b=lambda: pd.Categorical([1, 2] * (N_ROWS // 2))),
    "frame of datetime64": _frame(b=lambda: DAYS),
    "frame of NaT": _frame(b=lambda: pd.NaT),
    "frame of time zones": _frame(b=lambda: pd.Series(DAYS).dt.tz_localize("Asia/Tokyo")),
    "frame of timedelta64": _frame(b=lambda: DAYS - DAYS[0]),
    "frame of periods": _frame(b=lambda: pd.Series(DAYS).dt.to_period("D")),
    "frame of intervals": _frame(b=lambda: pd.cut(PLAIN[:, 0], 3)),
    "frame of complex": _frame(b=lambda: PLAIN[:, 0] * 1j),
    "frame of objects": _frame(b=lambda: [object()] * N_ROWS),
    "frame of lists": _frame(b=lambda: [[1]] * N_ROWS),
    "frame of mixed objects": _frame(b=lambda: [1, "x"] * (N_ROWS // 2)),
    "frame of None": _frame(b=lambda: None),
    "frame of sparse": _frame(b=lambda: pd.arrays.SparseArray(PLAIN[:, 1])),
    "frame all sparse": lambda: pd.DataFrame.sparse.from_spmatrix(scipy.sparse.csr_matrix(PLAIN)),
    "frame of float16": lambda: pd.DataFrame(PLAIN.astype(np.float16), columns=NAMES),
    "frame of infinity": _frame(b=lambda: np.inf),
    "frame with duplicate names": _renamed(list("abcdea")),
    "frame with integer names": _renamed(range(N_COLUMNS)),
    "frame with mixed names": _renamed([1, *NAMES[1:]]),
    "frame with None as a name": _renamed([None, *NAMES[1:]]),
    "frame with levels of names": _renamed(pd.MultiIndex.from_product([["x"], NAMES])),
    "frame with other names": _renamed(list("uvwxyz")),
    "frame with names in another order": lambda: pd.DataFrame(PLAIN, columns=NAMES[::-1]),
    "frame with a column less": lambda: pd.DataFrame(PLAIN[:, 1:], columns=NAMES[1:]),
    "frame with an odd index": lambda: pd.DataFrame(PLAIN, index=["i"] * N_ROWS, columns=NAMES),
    "frame without rows": lambda: pd.DataFrame(PLAIN[:0], columns=NAMES),
    "frame without columns": lambda: pd.DataFrame(index=range(N_ROWS)),
    "series": lambda: pd.Series(PLAIN[:, 0]),
    "index": lambda: pd.Index(PLAIN[:, 0]),
}


def _polars(make):
    return lambda: pl.DataFrame(PLAIN, schema=NAMES, orient="row").with_columns(b=make())


POLARS = {
    "polars": lambda: pl.DataFrame(PLAIN, schema=NAMES, orient="row"),
    "polars with null": _polars(lambda: pl.Series([1, None] * (N_ROWS // 2))),
    "polars of null": _polars(lambda: pl.lit(None)),
    "polars of Boolean": _polars(lambda: pl.Series([True, False] * (N_ROWS // 2))),
    "polars of String": _polars(lambda: pl.lit("x")),
    "polars of Categorical": _polars(
        lambda: pl.Series(["x", "y"] * (N_ROWS // 2), dtype=pl.Categorical)
    ),
    "polars of Date": _polars(lambda: pl.Series(DAYS)),
    "polars of Datetime": _polars(lambda: pl.lit(datetime(2024, 1, 1))),
    "polars of Duration": _polars(lambda: pl.lit(timedelta(1))),
    "polars of lists": _polars(lambda: pl.Series([[1]] * N_ROWS)),
    "polars of structs": _polars(lambda: pl.Series([{"u": 1}] * N_ROWS)),
    "polars of Decimal": _polars(lambda: pl.Series([Decimal("1.5")] * N_ROWS)),
    "polars of objects": _polars(lambda: pl.Series([object()] * N_ROWS, dtype=pl.Object)),
    "polars without rows": lambda: pl.DataFrame(PLAIN, schema=NAMES, orient="row").head(0),
    "polars series": lambda: pl.Series(PLAIN[:, 0]),
    "lazy polars": lambda: pl.DataFrame(PLAIN, schema=NAMES, orient="row").lazy(),
}

# Sparse matrices

FORMATS = ("csr", "csc", "bsr", "coo", "lil", "dok", "dia")


def _sparse(layout, values=PLAIN):
    return lambda: scipy.sparse.csr_array(values).asformat(layout)


def _stored(change):
    """Return a CSR matrix whose stored numbers are changed."""

    def make():
        matrix = SPARSE.copy()
        matrix.data = change(matrix.data)
        return matrix

    return make


def _with_index_type(dtype):
    matrix = SPARSE.copy()
    matrix.indices, matrix.indptr = matrix.indices.astype(dtype), matrix.indptr.astype(dtype)
    return matrix


VALID_MATRICES = {
    **{f"{layout} array": _sparse(layout) for layout in FORMATS},
    "csr matrix": lambda: scipy.sparse.csr_matrix(PLAIN),
    "1-d coo": lambda: scipy.sparse.coo_array(PLAIN[:, 0]),
    "sparse without numbers": lambda: scipy.sparse.csr_array(PLAIN.shape),
    "sparse without rows": lambda: scipy.sparse.csr_array((0, N_COLUMNS)),
    "sparse without columns": lambda: scipy.sparse.csr_array((N_ROWS, 0)),
    "wider sparse": _sparse("csr", np.hstack([PLAIN, PLAIN])),
    "narrower sparse": _sparse("csr", PLAIN[:, :-1]),
    "sparse of one row": _sparse("csr", PLAIN[:1]),
    "sparse of bool": _stored(lambda data: data > 0),
    "sparse of int8": _stored(lambda data: data.astype(np.int8)),
    "sparse of float32": _stored(lambda data: data.astype(np.float32)),
    "sparse of longdouble": _stored(lambda data: data.astype(np.longdouble)),
    "sparse of complex": _stored(lambda data: data * 1j),
    "sparse of objects": _stored(lambda data: data.astype(object)),
    "sparse of big-endian": _stored(lambda data: data.astype(">f8")),
    "sparse of zeros": _stored(lambda data: data * 0),
    "sparse of NaN": _stored(lambda data: data * np.nan),
    "sparse of infinity": _stored(lambda data: np.where(data > 1, np.inf, data)),
    "sparse of 1e308": _stored(lambda data: data * 1e307),
    "sparse with int64 indices": partial(_with_index_type, np.int64),
}


def _damaged(layout, damage):
    """Return a sparse matrix whose parts do not fit, which scipy does not notice."""

    def make():
        matrix = SPARSE.copy().asformat(layout).copy()
        damage(matrix)
        return matrix

    return make


def _index(value):
    def damage(matrix):
        indices = matrix.coords[0] if matrix.format == "coo" else matrix.indices
        indices[5] = value

    return damage


def _column(value):
    def damage(matrix):
        matrix.coords[1][5] = value

    return damage


def _pointer(position, value):
    def damage(matrix):
        matrix.indptr[position] = value

    return damage


def _replaced(name, change):
    def damage(matrix):
        setattr(matrix, name, change(getattr(matrix, name)))

    return damage


def _shape(matrix):
    matrix._shape = (matrix.shape[0], 2)


def _rows_too_many(matrix):
    matrix._shape = (10**6, matrix.shape[1])


def _unsorted(matrix):
    start, stop = matrix.indptr[np.diff(matrix.indptr).argmax()], matrix.indptr[-1]
    matrix.indices[start : start + 2] = matrix.indices[start : start + 2][::-1]
    matrix.data[start : start + 2] = matrix.data[start : start + 2][::-1]
    matrix.has_sorted_indices = False
    assert start + 2 <= stop


def _repeated(matrix):
    start = matrix.indptr[np.diff(matrix.indptr).argmax()]
    matrix.indices[start + 1] = matrix.indices[start]


def _repeated_and_denied(matrix):
    _repeated(matrix)
    matrix.has_canonical_format = True


_DAMAGES = {
    "a negative index": _index(-1),
    "an index behind the last": _index(N_ROWS),
    "an index far away": _index(2**31 - 1),
    "an index far below": _index(-(2**31)),
    "a column less": _shape,
    "rows too many": _rows_too_many,
    "data too short": _replaced("data", lambda data: data[:-9]),
    "no data": _replaced("data", lambda data: data[:0]),
}
_DAMAGES_OF_COMPRESSED = {
    "a pointer that falls": _pointer(3, 0),
    "a pointer that is negative": _pointer(3, -5),
    "a pointer far away": _pointer(3, 2**31 - 1),
    "a first pointer above zero": _pointer(0, 3),
    "a first pointer below zero": _pointer(0, -3),
    "a last pointer too large": _pointer(-1, 10**6),
    "a last pointer too small": _pointer(-1, 1),
    "pointers backwards": _replaced("indptr", lambda indptr: indptr[::-1].copy()),
    "pointers too short": _replaced("indptr", lambda indptr: indptr[:-1]),
    "pointers too long": _replaced("indptr", lambda indptr: np.append(indptr, indptr[-1])),
    "no pointers": _replaced("indptr", lambda indptr: indptr[:0]),
    "indices too short": _replaced("indices", lambda indices: indices[:-9]),
    "no indices": _replaced("indices", lambda indices: indices[:0]),
    "indices that are floats": _replaced("indices", lambda indices: indices * 1.0),
    "indices that are int8": _replaced("indices", lambda indices: indices.astype(np.int8)),
    "indices in two dimensions": _replaced("indices", lambda indices: indices[None]),
    "pointers that are floats": _replaced("indptr", lambda indptr: indptr * 1.0),
    "indices that are a list": _replaced("indices", lambda indices: indices.tolist()),
    "indices that are None": _replaced("indices", lambda _: None),
    "indices unsorted": _unsorted,
    "indices repeated": _repeated,
    "indices repeated and denied": _repeated_and_denied,
}


def _lil(value):
    def damage(matrix):
        row = max(range(N_ROWS), key=lambda i: len(matrix.rows[i]))
        matrix.rows[row] = [*matrix.rows[row][:-1], value]

    return damage


def _short_lil(matrix):
    matrix.data[0] = matrix.data[0][:-1]


def _dok(matrix):
    matrix._dict[(3, 10**6)] = 1.0


def _dia(matrix):
    matrix.offsets = matrix.offsets[:-1]


DAMAGED_MATRICES = {
    **{
        f"{layout} with {name}": _damaged(layout, damage)
        for layout in ("csr", "csc", "bsr", "coo")
        for name, damage in _DAMAGES.items()
    },
    **{
        f"{layout} with {name}": _damaged(layout, damage)
        for layout in ("csr", "csc")
        for name, damage in _DAMAGES_OF_COMPRESSED.items()
    },
    "coo with a negative column": _damaged("coo", _column(-1)),
    "coo with a column behind the last": _damaged("coo", _column(N_COLUMNS)),
    "coo with a column far away": _damaged("coo", _column(2**31 - 1)),
    "lil with a negative column": _damaged("lil", _lil(-1)),
    "lil with a column far away": _damaged("lil", _lil(50_000_000)),
    "lil with text as a column": _damaged("lil", _lil("x")),
    "lil with data too short": _damaged("lil", _short_lil),
    "dok with a column far away": _damaged("dok", _dok),
    "dia with offsets too short": _damaged("dia", _dia),
}

ROWS = ARRAYS | TYPES | SHAPES | VALUES | FRAMES | POLARS | VALID_MATRICES | DAMAGED_MATRICES
