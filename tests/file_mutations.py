"""Changes to model files, and what becomes of them: for tests and for ``make stress``."""

import copy
import io
import json
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from skliquid import (
    LiquidEnsembleClassifier,
    ModelFileError,
    TableEncoder,
    load,
    prune,
    save,
    train_on,
)
from skliquid.files import container
from skliquid.files.container import Content

ROOM = 2**22
"""Bytes that Python takes to parse a small file, whatever it says."""

_ZEROS = b"0" * 64
_ODD: list[Any] = [
    *(None, True, False, -1, 0, 1, 2, 3, 7, 63, 64, 255, 2**31 - 1, 2**31, 2**53, -(2**60)),
    *(0.5, -0.5, 1e308, -1e308, 5e-324, "", "x", "x" * 300, "is", "auto", [], [[]], {}, 10**50),
    *({"is": "array", "at": 0}, {"is": "float", "value": "nan"}, {"is": "tuple", "items": [1]}),
    *({"is": "part", "at": 1}, {"is": "function", "name": "better"}, {"is": "dict", "items": []}),
    *({"is": "array", "at": 1, "is_transposed": True}, {"is": "range", "start": 0, "stop": 9}),
]


class Reference(NamedTuple):
    """A model file, rows to predict, and how they are predicted."""

    path: Path
    X: Any
    expected: np.ndarray
    predict: Callable[[Any, Any], np.ndarray]


# Models


def references(folder: Path) -> dict[str, Reference]:
    """Return files of several models."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    y = (X[:, 0] + rng.normal(size=300) > 0) + 2 * (X[:, 1] > 0.8)
    table = pd.DataFrame(X[:, :2], columns=["a", "b"]).assign(
        town=rng.choice(["Oslo", "Rome", None], 300),
        name=[f"name{k % 90}" for k in range(300)],
        day=pd.date_range("2024-01-01", periods=300),
    )
    table.loc[::7, "a"] = np.nan
    small = {"n_estimators": 9, "n_final": 3, "random_state": 0}
    stream = LiquidEnsembleClassifier.for_streams(random_state=0)
    for cut in (slice(0, 100), slice(100, 200), slice(200, 300)):
        stream.partial_fit(X[cut], y[cut], classes=[0, 1, 2, 3])
    wide = scipy.sparse.random(200, 5_100, density=0.01, random_state=0, format="csr")
    paper = LiquidEnsembleClassifier.as_in_the_paper(n_estimators=20, n_final=4, random_state=0)
    scaled = make_pipeline(StandardScaler(), LiquidEnsembleClassifier(SGDClassifier(), **small))
    trees = [DecisionTreeClassifier(max_depth=4, random_state=k) for k in range(4)]
    linear = [make_pipeline(StandardScaler(), LogisticRegression(C=c)) for c in (0.1, 1.0)]
    voters = [one.fit(X[k::6], y[k::6] > 0) for k, one in enumerate([*trees, *linear])]
    subspaces = BaggingClassifier(n_estimators=9, max_features=0.5, random_state=0)
    bagging = subspaces.fit(np.where(X > 2, np.nan, X), y)
    models = {
        "pruned list": (prune(voters, X, y > 0, n_final=5, random_state=0), X),
        "pruned bagging": (prune(bagging, X, y, n_final=3, method="l1", random_state=0), X),
        "default": (LiquidEnsembleClassifier(**small).fit(X, y > 0), X),
        "classes": (LiquidEnsembleClassifier(**small, bootstrap=True).fit(X, y), X),
        "stream": (stream, X),
        "paper": (paper.fit(X, y > 1), X),
        "pipeline": (scaled.fit(X, np.array(list("abcd"))[y]), X),
        "sparse": (LiquidEnsembleClassifier(**small).fit(wide, np.arange(200) % 2), wide),
        "table": (LiquidEnsembleClassifier(**small).fit(table, y > 0), table),
        "encoder": (make_pipeline(TableEncoder(), clone(scaled[-1])).fit(table, y > 0), table),
    }
    found = {}
    for name, (model, rows) in models.items():
        path = folder / f"{name}.skliquid"
        save(model, path)
        found[name] = Reference(path, rows, model.predict_proba(rows), _predict_proba)
    file = folder / "people.csv"
    table.drop(columns="day").assign(ill=np.where(y > 0, "yes", "no")).to_csv(file, index=False)
    trained = train_on(
        file, target="ill", increment_size=50, ensemble=LiquidEnsembleClassifier(**small)
    )
    trained.save(folder / "streamed.skliquid")
    expected = _predict_file(trained, file)
    found["streamed"] = Reference(folder / "streamed.skliquid", file, expected, _predict_file)
    return found


def _predict_proba(model: Any, X: Any) -> np.ndarray:
    found: np.ndarray = model.predict_proba(X)
    return found


def _predict_file(model: Any, path: Any) -> np.ndarray:
    return np.concatenate([part.probabilities for part in model.predictions(path)])


# Mutations


def mutations(path: Path, n: int, rng: np.random.Generator) -> Iterator[tuple[str, bytes]]:
    """Yield ``n`` changed files, each with the kind of its change."""
    whole, content = path.read_bytes(), container.read(path)
    kinds = list(_MUTATIONS)
    for k in range(n):
        kind = kinds[k % len(kinds)]
        yield kind, _MUTATIONS[kind](whole, content, rng)


def sealed(whole: bytes) -> bytes:
    """Return a file with the digest that it should have."""
    at = whole[:4096].find(b'"skliquid":"')
    at = whole.find(b" ", at) + 1 if at >= 0 else -1
    if at <= 0 or len(whole) < at + 64:
        return whole
    empty = whole[:at] + _ZEROS + whole[at + 64 :]
    return whole[:at] + sha256(empty).hexdigest().encode() + whole[at + 64 :]


def _flipped(whole: bytes, _: Content, rng: np.random.Generator) -> bytes:
    changed = np.frombuffer(whole, dtype=np.uint8).copy()
    for _ in range(rng.integers(1, 5)):
        changed[rng.integers(len(changed))] ^= np.uint8(1 << rng.integers(8))
    return changed.tobytes()


def _in_header(whole: bytes, _: Content, rng: np.random.Generator) -> bytes:
    n_header = 8 + int.from_bytes(whole[:8], "little")
    changed = np.frombuffer(whole, dtype=np.uint8).copy()
    for _ in range(rng.integers(1, 4)):
        changed[rng.integers(n_header)] = rng.choice(list(b'0123456789"{}[],:ABFIU-eE \x00\xff'))
    return sealed(changed.tobytes())


def _truncated(whole: bytes, _: Content, rng: np.random.Generator) -> bytes:
    return sealed(whole[: rng.integers(len(whole))])


def _spliced(whole: bytes, _: Content, rng: np.random.Generator) -> bytes:
    length = int(rng.integers(1, max(len(whole) // 4, 2)))
    source, target = rng.integers(len(whole) - length, size=2).tolist()
    piece = whole[source : source + length]
    if rng.random() < 0.5:
        return sealed(whole[:target] + piece + whole[target + length :])
    return sealed(whole[:target] + piece + whole[target:])


def written(document: Any, arrays: list[np.ndarray]) -> bytes:
    """Return the bytes of a file."""
    file = io.BytesIO()
    container.write(Content(json.dumps(document).encode(), arrays), file)
    return file.getvalue()


def _in_document(_: bytes, content: Content, rng: np.random.Generator) -> bytes:
    document = json.loads(content.text)
    for _ in range(rng.integers(1, 3)):
        places = list(_places(document))
        holder, key = places[rng.integers(len(places))]
        change = rng.integers(5)
        if change == 0 and isinstance(holder, dict):
            del holder[key]
        elif change == 1 and isinstance(holder, list):
            holder.insert(key, copy.deepcopy(holder[key]))
        elif change == 2:
            other, other_key = places[rng.integers(len(places))]
            holder[key] = copy.deepcopy(other[other_key])
        elif change == 3 and isinstance(holder[key], int | float):
            holder[key] = holder[key] * int(rng.choice([-1, 2, 1000])) + int(rng.integers(-2, 3))
        else:
            holder[key] = copy.deepcopy(_ODD[rng.integers(len(_ODD))])
    try:
        return written(document, content.arrays)
    except ValueError:  # it has become larger than JSON can be
        return written(None, content.arrays)


def _places(document: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(document, dict | list):
        for key in list(document) if isinstance(document, dict) else range(len(document)):
            yield document, key
            yield from _places(document[key])


def _in_array(_: bytes, content: Content, rng: np.random.Generator) -> bytes:
    arrays = [np.array(array) for array in content.arrays]
    k = rng.integers(len(arrays))
    array, change = arrays[k], rng.integers(6)
    if change == 0:
        with np.errstate(invalid="ignore"):
            arrays[k] = array.astype(rng.choice(["<f8", "<f4", "<i8", "<u4", "|u1", "|b1"]))
    elif change == 1:
        arrays[k] = array[..., :-1] if array.ndim else np.zeros(3)
    elif change == 2:
        arrays[k] = array.reshape(-1)
    elif change == 3:
        arrays[k] = np.concatenate([array, array]) if array.ndim else array[None]
    elif array.size and array.dtype.kind in "iuf":
        odd = [np.nan, np.inf, -1.0, 1e300] if array.dtype.kind == "f" else [0, 1, 200, -1]
        with np.errstate(all="ignore"):
            value = np.array(rng.choice(odd)).astype(array.dtype)
        array.reshape(-1)[rng.integers(array.size)] = value
    return written(json.loads(content.text), arrays)


_MUTATIONS: dict[str, Callable[[bytes, Content, np.random.Generator], bytes]] = {
    "bytes": _flipped,
    "bytes, sealed": lambda *mutated: sealed(_flipped(*mutated)),
    "header, sealed": _in_header,
    "truncated, sealed": _truncated,
    "spliced, sealed": _spliced,
    "document, sealed": _in_document,
    "array, sealed": _in_array,
}


# Outcomes


def outcome(content: bytes, reference: Reference) -> str:
    """Return what becomes of a changed file.

    "refused": :class:`ModelFileError`. "same": the same predictions. "other model": numbers within
    their rules were changed, and the digest fits: it is a valid file of another model, with valid
    probabilities. Anything else is a "FAULT".
    """
    path = reference.path.with_suffix(".changed")
    path.write_bytes(content)
    tracemalloc.start()
    try:
        model = load(path)
    except ModelFileError:
        return _within(content, "refused")
    except BaseException as error:
        return f"FAULT: load raised {type(error).__name__}: {error}"
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    if peak > 2 * len(content) + ROOM:
        return f"FAULT: load took {peak} bytes for a file of {len(content)}"
    return _predictions(model, reference)


def _within(content: bytes, found: str) -> str:
    peak = tracemalloc.get_traced_memory()[1]
    too_much = peak > 2 * len(content) + ROOM
    return f"FAULT: a refused file of {len(content)} took {peak}" if too_much else found


def _predictions(model: Any, reference: Reference) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = reference.predict(model, reference.X)
    except Exception as error:
        return f"FAULT: predict raised {type(error).__name__}: {error}"
    if np.array_equal(found, reference.expected):
        return "same"
    is_valid = len(found) == len(reference.expected) and bool(
        np.isfinite(found).all() and (found >= 0).all() and np.allclose(found.sum(axis=1), 1)
    )
    return "other model" if is_valid else "FAULT: invalid probabilities"
