"""A reader by docs/model_files.md alone, without skliquid, for voters without feature maps."""

import json
import struct
from hashlib import sha256

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

from skliquid import LiquidEnsembleClassifier, save
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier

TYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "U64": "<u8", "U32": "<u4", "U16": "<u2"}
TYPES |= {"U8": "|u1", "BOOL": "|b1", "I32": "<i4"}


def opened(path):
    whole = path.read_bytes()
    (n_header,) = struct.unpack("<Q", whole[:8])
    header = json.loads(whole[8 : 8 + n_header])
    version, digest = header.pop("__metadata__")["skliquid"].split()
    assert version == "5"
    assert sha256(whole.replace(digest.encode(), b"0" * 64, 1)).hexdigest() == digest
    data = whole[8 + n_header :]
    tensors = {}
    for name, one in header.items():
        start, end = one["data_offsets"]
        tensors[name] = np.frombuffer(data[start:end], TYPES[one["dtype"]]).reshape(one["shape"])
    document, parts = json.loads(tensors["document"].tobytes()), []
    for part in document["parts"]:
        parts.append({name: resolved(value, tensors, parts) for name, value in part.items()})
    return resolved(document["model"], tensors, parts)


def resolved(value, tensors, parts):
    if isinstance(value, list):
        return [resolved(item, tensors, parts) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("is") == "array":
        array = tensors[str(value["at"])]
        return array.T if value.get("is_transposed") else array
    if value.get("is") == "part":
        return parts[value["at"]]
    return {name: resolved(item, tensors, parts) for name, item in value.items()}


def logistic(x):
    return 1 / (1 + np.exp(-x))


def of_two(second):
    return np.stack([1 - second, second], axis=-1)


def linear(own, k, X):
    shows = own["shows_average"][k][:, None] == 1
    coef = np.where(shows, own["average"][k], own["coef"][k])
    intercept = np.where(shows[:, 0], own["average_intercept"][k], own["intercept"][k])
    chances = logistic(X @ coef.T + intercept)
    return of_two(chances[:, 0]) if len(coef) == 1 else chances / chances.sum(1, keepdims=True)


def trees(own, k, X):
    voter = own["fitted"][k]
    grown, base = voter["trees_"], voter.get("base_scores_")
    sums = np.zeros((len(X), grown["n_outputs"])) + (0 if base is None else base)
    cuts, node, leaf = grown["cut"].view("<f8"), 0, 0
    for n_nodes, n_values in zip(grown["n_nodes"], grown["n_values"], strict=True):
        for k_row, row in enumerate(X):
            at = 0
            while not grown["feature"][node + at] >> 31:
                above = row[grown["feature"][node + at] & (2**29 - 1)] > cuts[node + at]
                at = int(grown["next"][node + at]) + above
            sums[k_row] += grown["values"][leaf + int(grown["next"][node + at])]
        node, leaf = node + int(n_nodes), leaf + int(n_values)
    if base is None:
        return sums / sums.sum(1, keepdims=True)
    chances = np.exp(sums - sums.max(1, keepdims=True))
    return (
        of_two(logistic(sums[:, 0])) if len(base) == 1 else chances / chances.sum(1, keepdims=True)
    )


def predicted(model, X):
    training = model["training"]
    delegation = training["graph"]["delegation"].astype(int)
    gurus = delegation
    for _ in delegation:
        gurus = delegation[gurus]
    shares = 0
    for state in training["voters"]:
        for k, voter in enumerate(state["voters"].tolist()):
            answer = linear if state["type"] == "LinearState" else trees
            shares = shares + np.any(gurus == voter) * answer(state, k, X)
    return shares / len(np.unique(gurus))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_page_of_the_format_is_enough_to_predict(n_classes, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = np.digitize(X[:, 0] * X[:, 1] + rng.normal(size=300), [0] if n_classes == 2 else [-1, 1])
    estimators = [
        ("linear", SGDClassifier(loss="log_loss", average=True)),
        ("forest", RandomizedForestClassifier()),
        ("boosted", BoostedTreesClassifier(10)),
    ]
    ensemble = LiquidEnsembleClassifier(estimators, n_estimators=9, n_final=6, random_state=0)
    ensemble.fit(X, y)
    save(ensemble, tmp_path / "a")
    power = 1 / ensemble.temperature_
    shares = predicted(opened(tmp_path / "a"), X) ** power
    expected = ensemble.predict_proba(X)
    assert np.abs(shares / shares.sum(1, keepdims=True) - expected).max() < 1e-9
