"""Labels and weights as people give them, and as they should not."""

import enum
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse
from odd_rows import N_ROWS, Broken, Duck, Y

WORDS = np.array(["no", "yes"])[Y]


class Side(enum.Enum):
    LEFT = 0
    RIGHT = 1


def _objects(first, second):
    """Return labels that are objects."""

    def make():
        labels = np.empty(N_ROWS, dtype=object)
        for k, is_second in enumerate(Y):
            labels[k] = second if is_second else first
        return labels

    return make


def _one(value, like=Y):
    """Return labels, one of which is ``value``."""

    def make():
        labels = like.astype(object)
        labels[5] = value
        return labels

    return make


LABELS = {
    "plain": lambda: Y,
    "list": Y.tolist,
    "tuple": lambda: tuple(Y.tolist()),
    "words": lambda: WORDS,
    "list of words": WORDS.tolist,
    "objects of words": lambda: WORDS.astype(object),
    "numpy strings": lambda: WORDS.astype(np.dtypes.StringDType()),
    "bytes": lambda: WORDS.astype("S"),
    "objects of bytes": _objects(b"a", b"b"),
    "bool": lambda: Y == 1,
    "list of bool": (Y == 1).tolist,
    "objects of bool": lambda: (Y == 1).astype(object),
    "objects of int": lambda: Y.astype(object),
    "whole floats": lambda: Y * 1.0,
    "float16": lambda: Y.astype(np.float16),
    "longdouble": lambda: Y.astype(np.longdouble),
    "big-endian": lambda: Y.astype(">i8"),
    "uint8": lambda: Y.astype(np.uint8),
    "large uint64": lambda: np.where(Y, np.uint64(2**64 - 1), np.uint64(0)),
    "extreme int64": lambda: np.where(Y, 2**63 - 1, -(2**63)),
    "integers above 64 bits": _objects(0, 2**70),
    "large whole floats": lambda: Y * 1e300,
    "fractions": lambda: Y + 0.5,
    "tenths": lambda: Y / 10,
    "NaN": lambda: np.where(Y == 1, np.nan, 0.0),
    "one NaN": _one(np.nan),
    "infinity": lambda: np.where(Y == 1, np.inf, 0.0),
    "None": lambda: None,
    "one None": _one(None),
    "one None among words": _one(None, WORDS),
    "one NaN among words": _one(np.nan, WORDS),
    "all None": lambda: [None] * N_ROWS,
    "mixed int and str": _objects(0, "one"),
    "mixed bool and str": _objects(True, "one"),
    "mixed int and bytes": _objects(0, b"one"),
    "mixed str and bytes": _objects("zero", b"one"),
    "mixed int and float": _objects(0, 1.0),
    "mixed int and half": _objects(0, 0.5),
    "mixed bool and int": _objects(False, 1),
    "tuples": _objects((0, 0), (0, 1)),
    "lists": _objects([0], [1]),
    "dicts": _objects({}, {1: 1}),
    "functions": _objects(min, max),
    "Decimals": _objects(Decimal(0), Decimal(1)),
    "Fractions": _objects(Fraction(0), Fraction(1)),
    "members of an enum": _objects(Side.LEFT, Side.RIGHT),
    "empty strings": _objects("", "x"),
    "long strings": _objects("a" * 10_000, "b"),
    "strings with null": _objects("a", "a\0"),
    "surrogates": _objects("a", "\ud800"),
    "numbers as text": lambda: Y.astype(str),
    "one class": lambda: np.zeros(N_ROWS, int),
    "one class of words": lambda: ["a"] * N_ROWS,
    "a class each": lambda: np.arange(N_ROWS),
    "a class of one row": lambda: np.arange(N_ROWS) == 3,
    "three classes": lambda: np.arange(N_ROWS) % 3,
    "negative": lambda: -Y,
    "complex": lambda: Y * 1j,
    "datetime64": lambda: Y.astype("datetime64[D]"),
    "timedelta64": lambda: Y.astype("timedelta64[D]"),
    "structured": lambda: np.array([(k,) for k in Y], dtype=[("a", int)]),
    "void": lambda: Y.view("V8"),
    "masked array": lambda: np.ma.array(Y, mask=False),
    "masked values": lambda: np.ma.array(Y, mask=np.arange(N_ROWS) % 5 == 0),
    "read-only": lambda: np.broadcast_to(Y, (N_ROWS,)),
    "strided": lambda: np.repeat(Y, 3)[::3],
    "backwards": lambda: Y[::-1],
    "a column": lambda: Y[:, None],
    "a row": lambda: Y[None],
    "two columns": lambda: np.stack([Y, Y], axis=1),
    "indicators": lambda: np.stack([Y, 1 - Y], axis=1),
    "three dimensions": lambda: Y[:, None, None],
    "0-d": lambda: np.array(1),
    "ragged lists": lambda: [[0], [1, 1]] * (N_ROWS // 2),
    "none": lambda: Y[:0],
    "empty list": list,
    "one": lambda: Y[:1],
    "one less": lambda: Y[:-1],
    "one more": lambda: np.append(Y, 1),
    "number": lambda: 1,
    "text": lambda: "a" * N_ROWS,
    "dict": lambda: dict(enumerate(Y)),
    "set": lambda: set(range(N_ROWS)),
    "generator": lambda: (label for label in Y),
    "range": lambda: range(N_ROWS),
    "class": lambda: dict,
    "duck of two dimensions": Duck,
    "broken duck": Broken,
    "sparse": lambda: scipy.sparse.csr_array(Y[:, None]),
    "1-d sparse": lambda: scipy.sparse.coo_array(Y),
    "series": lambda: pd.Series(Y),
    "series with an odd index": lambda: pd.Series(Y, index=["i"] * N_ROWS),
    "series of words": lambda: pd.Series(WORDS),
    "series of category": lambda: pd.Series(WORDS, dtype="category"),
    "series of unused categories": lambda: pd.Series(pd.Categorical(WORDS, ["no", "yes", "?"])),
    "series of Int64": lambda: pd.Series(Y, dtype="Int64"),
    "series of Int64 with NA": lambda: pd.Series(Y, dtype="Int64").mask(Y == 1),
    "series of Float64 with NA": lambda: pd.Series(Y, dtype="Float64").mask(Y == 1),
    "series of string with NA": lambda: pd.Series(WORDS, dtype="string").mask(Y == 1),
    "series of boolean": lambda: pd.Series(Y == 1, dtype="boolean"),
    "series of boolean with NA": lambda: pd.Series(Y == 1, dtype="boolean").mask(Y == 1),
    "series of category with NA": lambda: pd.Series(WORDS, dtype="category").mask(Y == 1),
    "series of dates": lambda: pd.Series(Y.astype("datetime64[D]")),
    "series of periods": lambda: pd.Series(Y.astype("datetime64[D]")).dt.to_period("D"),
    "frame of one column": lambda: pd.DataFrame({"y": Y}),
    "frame of two columns": lambda: pd.DataFrame({"y": Y, "z": Y}),
    "index": lambda: pd.Index(Y),
    "Categorical": lambda: pd.Categorical(WORDS),
    "polars": lambda: pl.Series(Y),
    "polars of words": lambda: pl.Series(WORDS.tolist()),
    "polars of Categorical": lambda: pl.Series(WORDS.tolist(), dtype=pl.Categorical),
    "polars of Enum": lambda: pl.Series(WORDS.tolist(), dtype=pl.Enum(["yes", "no"])),
    "polars with null": lambda: pl.Series([0, 1, None, 1] * (N_ROWS // 4)),
    "polars of words with null": lambda: pl.Series(["a", "b", None, "b"] * (N_ROWS // 4)),
    "polars of Boolean": lambda: pl.Series((Y == 1).tolist()),
    "polars frame": lambda: pl.DataFrame({"y": Y}),
    "lazy polars": lambda: pl.DataFrame({"y": Y}).lazy(),
}


def _weights(value, like=1.0):
    """Return weights, one of which is ``value``."""

    def make():
        weights = np.full(N_ROWS, like)
        weights[5] = value
        return weights

    return make


ONES = np.ones(N_ROWS)
WEIGHTS = {
    "None": lambda: None,
    "ones": lambda: ONES,
    "list": ONES.tolist,
    "tuple": lambda: tuple(ONES.tolist()),
    "integers": lambda: ONES.astype(int),
    "bool": lambda: Y >= 0,
    "float16": lambda: ONES.astype(np.float16),
    "longdouble": lambda: ONES.astype(np.longdouble),
    "longdouble above float64": lambda: ONES.astype(np.longdouble) * np.longdouble("1e400"),
    "big-endian": lambda: ONES.astype(">f8"),
    "strided": lambda: np.ones(3 * N_ROWS)[::3],
    "read-only": lambda: np.broadcast_to(1.0, (N_ROWS,)),
    "zero": _weights(0.0),
    "all zero": lambda: ONES * 0,
    "zero for a class": lambda: Y * 1.0,
    "zero for all but one row": _weights(1.0, 0.0),
    "negative": _weights(-1.0),
    "all negative": lambda: -ONES,
    "NaN": _weights(np.nan),
    "infinity": _weights(np.inf),
    "minus infinity": _weights(-np.inf),
    "1e308": lambda: ONES * 1e308,
    "one of 1e308": _weights(1e308),
    "1e200": lambda: ONES * 1e200,
    "1e31": lambda: ONES * 1e31,
    "1e25": lambda: ONES * 1e25,
    "1e-300": lambda: ONES * 1e-300,
    "subnormal": lambda: ONES * 5e-324,
    "far apart": lambda: np.where(Y, 1e-300, 1e25),
    "number": lambda: 2.0,
    "number zero": lambda: 0,
    "negative number": lambda: -1.0,
    "number NaN": lambda: np.nan,
    "number as bool": lambda: True,
    "0-d": lambda: np.array(2.0),
    "0-d text": lambda: np.array("a"),
    "one": lambda: ONES[:1],
    "none": lambda: ONES[:0],
    "one less": lambda: ONES[:-1],
    "one more": lambda: np.ones(N_ROWS + 1),
    "a column": lambda: ONES[:, None],
    "a row": lambda: ONES[None],
    "two columns": lambda: np.ones((N_ROWS, 2)),
    "three dimensions": lambda: np.ones((N_ROWS, 1, 1)),
    "ragged lists": lambda: [[0.0], [1.0, 1.0]] * (N_ROWS // 2),
    "words": lambda: ["heavy"] * N_ROWS,
    "numbers as text": lambda: ["1"] * N_ROWS,
    "text": lambda: "balanced",
    "bytes": lambda: [b"1"] * N_ROWS,
    "objects": lambda: ONES.astype(object),
    "objects with None": lambda: [*ONES[1:].tolist(), None],
    "Decimals": lambda: [Decimal(1)] * N_ROWS,
    "integers above floats": lambda: [10**400] * N_ROWS,
    "complex": lambda: ONES * 1j,
    "datetime64": lambda: ONES.astype("datetime64[D]"),
    "timedelta64": lambda: ONES.astype("timedelta64[D]"),
    "structured": lambda: np.array([(1.0,)] * N_ROWS, dtype=[("a", float)]),
    "masked array": lambda: np.ma.array(ONES, mask=False),
    "masked values": lambda: np.ma.array(ONES, mask=Y == 1),
    "dict": lambda: {0: 1.0, 1: 2.0},
    "set": lambda: {1.0},
    "generator": lambda: (weight for weight in ONES),
    "class": lambda: dict,
    "broken duck": Broken,
    "sparse": lambda: scipy.sparse.csr_array(ONES[:, None]),
    "1-d sparse": lambda: scipy.sparse.coo_array(ONES),
    "series": lambda: pd.Series(ONES),
    "series with an odd index": lambda: pd.Series(ONES, index=["i"] * N_ROWS),
    "series of Float64": lambda: pd.Series(ONES, dtype="Float64"),
    "series of Float64 with NA": lambda: pd.Series(ONES, dtype="Float64").mask(Y == 1),
    "series of words": lambda: pd.Series(["a"] * N_ROWS),
    "frame of one column": lambda: pd.DataFrame({"w": ONES}),
    "polars": lambda: pl.Series(ONES),
    "polars with null": lambda: pl.Series([1.0, None] * (N_ROWS // 2)),
    "polars frame": lambda: pl.DataFrame({"w": ONES}),
    "lazy polars": lambda: pl.DataFrame({"w": ONES}).lazy(),
}
