"""Crafted files with fitting digests: each is refused before memory or time is spent."""

import json
import threading
import time
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from file_mutations import sealed, written
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skliquid import Diversity, LiquidEnsembleClassifier, ModelFileError, load, save
from skliquid.files import container
from skliquid.files.saving import serialize
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(100, 4))
Y = X[:, 0] > 0
MODEL = {"is": "part", "at": 0}


@pytest.fixture
def refused(tmp_path):
    """Return a function that checks that a file is refused, in little memory and time."""

    def check(document, arrays, match):
        path = tmp_path / "crafted.skliquid"
        path.write_bytes(written(document, arrays))
        start = time.process_time()
        tracemalloc.start()
        with pytest.raises(ModelFileError, match=match):
            load(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 2 * path.stat().st_size + 2**22
        assert time.process_time() - start < 10

    return check


@pytest.fixture
def content(tmp_path):
    """Return a function that gives the document and the arrays of a model."""

    def of(model):
        save(model, tmp_path / "model.skliquid")
        text, arrays = container.read(tmp_path / "model.skliquid")
        return json.loads(text), arrays

    return of


def parts_of(document, name):
    return [part for part in document["parts"] if part["type"] == name]


def small(**params):
    params = {"n_estimators": 4, "n_final": 2, "random_state": 0} | params
    return LiquidEnsembleClassifier(SGDClassifier(), **params)


@pytest.mark.parametrize("width", [2**18, 2**26])
def test_a_feature_map_of_many_columns(width, content, refused):
    maps = Diversity(feature_maps=[make_pipeline(StandardScaler())])
    document, arrays = content(small(diversity=maps).fit(X, Y))
    for part in document["parts"]:
        part.update({k: width for k in ("n_features_in_", "n_features") if k in part})
    refused(document, arrays, "valid model")
    for part in parts_of(document, "StandardScaler"):
        part.clear()
        part.update(type="FunctionTransformer", func={"is": "function", "name": "signed_log"})
        part["n_features_in_"] = width
    refused(document, arrays, "valid model")


@pytest.mark.parametrize("name", ["PolynomialFeatures", "HashingVectorizer", "ColumnTransformer"])
def test_transformers_that_could_take_any_memory_time_or_processes(name, refused):
    refused({"parts": [{"type": name, "n_jobs": 12}], "model": MODEL}, [], "Invalid value")


@pytest.mark.parametrize("field", ["memory", "verbose", "transform_input"])
def test_a_pipeline_with_a_cache(field, content, refused):
    document, arrays = content(make_pipeline(StandardScaler(), small()).fit(X, Y))
    parts_of(document, "Pipeline")[-1][field] = "cache"
    refused(document, arrays, f"unknown field `{field}`")


def test_many_parts_that_name_the_same_arrays(content, refused):
    document, arrays = content(small().fit(X, Y))
    state = parts_of(document, "LinearState")[0]
    document["parts"][-1:-1] = [state] * 400
    refused(document, [*arrays, np.zeros(100_000)], "must be used once")


def test_steps_that_do_not_fit_each_other(content, refused):
    document, arrays = content(make_pipeline(StandardScaler(), small()).fit(X, Y))
    narrow, others = content(make_pipeline(StandardScaler(), small()).fit(X[:, :3], Y))
    scaler = parts_of(narrow, "StandardScaler")[0]
    for name in ("mean_", "var_", "scale_"):
        arrays = [*arrays, others[scaler[name]["at"]]]
        scaler[name]["at"] = len(arrays) - 1
    document["parts"] = [
        scaler if part["type"] == "StandardScaler" else part for part in document["parts"]
    ]
    refused(document, arrays, "features")


@pytest.mark.parametrize("n", [300_000])
def test_documents_of_many_values(n, refused):
    for model in (
        {str(k): k for k in range(n)},
        {"is": "dict", "items": [[k, k] for k in range(n)]},
        list(range(5 * n)),
        ["a"] * 5 * n,
        [[]] * n,
    ):
        refused({"parts": [], "model": model}, [], "too many values")
    refused({"parts": [], "model": "x" * 30 * n}, [], "too many values")
    graph = {"type": "DelegationGraph", "delegation": {"is": "array", "at": 0}}
    refused({"parts": [graph] * n, "model": MODEL}, [np.zeros(1)], "too many values")


def test_many_texts(refused):
    lengths = np.full(3_000_000, 1, dtype=np.int8)
    model = {"is": "texts", "at": 0, "lengths": 1}
    refused({"parts": [], "model": model}, [lengths.view(np.uint8), lengths], "too many texts")


def test_numbers_of_many_digits(tmp_path):
    text = b'{"parts":[],"model":' + b"9" * 1_000_000 + b"}"
    with (tmp_path / "a").open("wb") as file:
        container.write(container.Content(text, []), file)
    with pytest.raises(ModelFileError):
        load(tmp_path / "a")


@pytest.mark.parametrize("change", ["loop", "far", "column"])
def test_trees_cannot_loop_or_read_out_of_bounds(change, content, refused):
    model = LiquidEnsembleClassifier(n_estimators=6, n_final=6, random_state=0).fit(X, Y)
    document, arrays = content(model)
    for trees in parts_of(document, "GrownTrees"):
        place = trees["next" if change != "column" else "feature"]["at"]
        changed = np.array(arrays[place]).astype(np.uint32)
        changed[0] = {"loop": 0, "far": 2**20, "column": 4}[change]
        arrays = [changed if k == place else array for k, array in enumerate(arrays)]
    refused(document, arrays, "GrownTrees")


def test_a_generator_outside_of_its_state(content, refused):
    document, arrays = content(small(random_state=np.random.RandomState(0)).fit(X, Y))
    parts_of(document, "RandomState")[0]["position"] = 10_000
    refused(document, arrays, r"position")


@pytest.mark.parametrize(("depth", "width"), [(9, 10), (30, 2), (200, 1), (1, 101)])
def test_pipelines_in_pipelines(depth, width, refused):
    parts = [{"type": "FunctionTransformer", "n_features_in_": 3}]
    for k in range(depth):
        steps = [[str(place), {"is": "part", "at": k}] for place in range(width)]
        parts.append({"type": "Pipeline", "steps": steps})
    refused({"parts": parts, "model": {"is": "part", "at": depth}}, [], "1 to 100 steps")


def test_a_long_cycle_of_delegations(refused):
    graph = {"type": "DelegationGraph", "delegation": {"is": "array", "at": 0}}
    refused({"parts": [graph], "model": MODEL}, [np.roll(np.arange(200_000), -1)], "is a cycle")


def test_distributions_of_arrays(refused):
    arrays = [np.full((9000, 1), 5.0), np.full((1, 9000), 3.0), np.ones((1, 1))]
    args = [{"is": "array", "at": k} for k in range(3)]
    frozen = {"type": "rv_discrete_frozen", "distribution": "hypergeom", "args": args, "kwds": {}}
    refused({"parts": [frozen], "model": MODEL}, arrays, r"args\[0\]")


def test_an_imputer_that_is_slow_to_fit(refused):
    imputer = {"type": "SimpleImputer", "strategy": "most_frequent"}
    imputer |= {"statistics_": {"is": "array", "at": 0}, "has_missing": {"is": "array", "at": 1}}
    arrays = [np.zeros(100_000), np.zeros(100_000, dtype=bool)]
    refused({"parts": [imputer], "model": MODEL}, arrays, "must be an ensemble")


def test_many_parts(refused):
    parts = [{"type": "SGDClassifier"}] * 9_000
    refused({"parts": parts, "model": MODEL}, [], "too many values")


def test_many_labels(refused):
    counts = {"type": "ClassCounts", "labels": {"is": "texts", "at": 0, "lengths": 1}}
    arrays = [np.full(400_000, 65, dtype=np.uint8), np.ones(400_000, dtype=np.int8)]
    padding = np.zeros(4_000_000)  # twice the file is more than the texts take
    refused({"parts": [counts], "model": MODEL}, [*arrays, padding], "sorted")


def test_a_scaler_wider_than_its_arrays(content, refused):
    document, arrays = content(make_pipeline(StandardScaler(), small()).fit(X, Y))
    parts_of(document, "StandardScaler")[0]["n_features_in_"] = 2**18 + 1
    refused(document, arrays, "n_features_in_ must be 4")


def test_scales_whose_product_overflows(content, refused):
    scalers = [StandardScaler() for _ in range(3)]
    document, arrays = content(make_pipeline(*scalers, small()).fit(X, Y))
    for scaler in parts_of(document, "StandardScaler"):
        for name, value in (("mean_", 0.0), ("scale_", 1e-150)):
            arrays[scaler[name]["at"]] = np.full(4, value)
    refused(document, arrays, "infinity")


@pytest.mark.parametrize("model", [BoostedTreesClassifier, RandomizedForestClassifier])
@pytest.mark.parametrize("change", ["labels", "columns", "categories"])
def test_rows_and_categories_of_other_trees(model, change, content, refused):
    document, arrays = content(model(n_estimators=4, random_state=0).partial_fit(X, Y))
    recent = parts_of(document, "RecentRows")[0]
    if change == "categories":
        coder = {"type": "CategoryCoder", "is_categorical": {"is": "array", "at": len(arrays)}}
        document["parts"].insert(-1, coder | {"categories": [[]] * 9})
        document["parts"][-1]["_coder"] = {"is": "part", "at": len(document["parts"]) - 2}
        document["model"]["at"] += 1
        arrays = [*arrays, np.ones(9, dtype=bool)]
    elif change == "labels":
        arrays[recent["y"]["at"]] = np.full(100, 2**31 - 1)
    else:
        arrays[recent["X"]["at"]] = X[:, :2]
    refused(document, arrays, "its (classes and )?columns")


def test_a_forest_without_trees(content, refused):
    document, arrays = content(RandomizedForestClassifier(n_estimators=4).fit(X, Y))
    trees = parts_of(document, "GrownTrees")[0]
    for name in ("cut", "feature", "next", "n_nodes", "values", "n_values"):
        arrays[trees[name]["at"]] = arrays[trees[name]["at"]][:0]
    refused(document, arrays, "leaves with shares")


def test_voters_of_many_threads(content, tmp_path):
    model = small().fit(X, np.arange(100) % 3)
    document, arrays = content(model)
    parts_of(document, "VoterSpec")[0]["params"] = [{"n_jobs": 500}] * 4
    (tmp_path / "a").write_bytes(written(document, arrays))
    n_before = threading.active_count()
    loaded = load(tmp_path / "a")
    assert threading.active_count() == n_before
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_voters_that_are_the_same_part(content, refused):
    model = LiquidEnsembleClassifier(RandomizedForestClassifier(), n_estimators=4, n_final=2)
    document, arrays = content(model.fit(X, Y))
    state = parts_of(document, "TreeState")[0]
    state["fitted"] = state["fitted"][:1] * len(state["fitted"])
    refused(document, arrays, "different voters")


@pytest.mark.parametrize("shape", [[0, 2**63], [2**40, 0, 2**40], [0] * 70])
def test_shapes_that_numpy_refuses(shape, tmp_path):
    with (tmp_path / "a").open("wb") as file:
        container.write(container.Content(b"{}", [np.zeros((0, 1), dtype=np.uint8)]), file)
    whole = (tmp_path / "a").read_bytes()
    header = json.loads(whole[8 : 8 + int.from_bytes(whole[:8], "little")])
    header["0"]["shape"] = shape
    text = json.dumps(header, separators=(",", ":")).encode()
    (tmp_path / "a").write_bytes(sealed(len(text).to_bytes(8, "little") + text + b"{}"))
    with pytest.raises(ModelFileError, match="invalid shape"):
        load(tmp_path / "a")


def test_many_empty_arrays(refused):
    arrays = [np.zeros(0)] * 20_000
    refused({"parts": [], "model": 1}, arrays, "too many arrays")


# Encoders of tables


@pytest.fixture(scope="module")
def encoded():
    """Return the document and the arrays of an ensemble that was fitted to a table."""
    frame = pd.DataFrame(
        {
            "size": X[:, 0],
            "town": RNG.choice(["Oslo", "Rome", "Turin"], 100),
            "name": [f"name {k % 70}" for k in range(100)],
            "day": pd.date_range("2024-01-01", periods=100),
        }
    )
    text, arrays = serialize(small().fit(frame, Y))
    return text, arrays


def changed(part, arrays, **changes):
    """Change fields of a part; functions change arrays."""
    for name, value in changes.items():
        if callable(value):
            at = part[name]["at"]
            arrays[at] = value(arrays[at].copy())
        else:
            part[name] = value


def put(place, value):
    def change(array):
        array[place] = value
        return array

    return change


ATTACKS = {
    "categories twice": ("Codes", {"values": ["Oslo", "Oslo", "Rome"]}, "different categories"),
    "63 categories": ("Codes", {"values": [str(k) for k in range(63)]}, "different categories"),
    "numbers as categories": ("Codes", {"values": [1, 2, 3]}, ""),
    "more values than shares": ("TargetShares", {"values": ["a", "b"]}, "a share of each category"),
    "values twice": ("TargetShares", {"values": ["a"] * 70}, "a share of each category"),
    "shares of other classes": ("TargetShares", {"shares": lambda a: a[:, [0, 0]]}, ""),
    "a share that is missing": ("TargetShares", {"shares": put((0, 0), np.nan)}, ""),
    "a prior that is missing": ("TargetShares", {"prior": put(0, np.nan)}, ""),
    "negative counts": ("TargetShares", {"counts": put((0, 0), -1)}, ""),
    "counts of other classes": (
        "TargetShares",
        {"counts": lambda a: np.hstack([a] * 2)},
        "counts of its classes",
    ),
    "no classes": ("TableEncoder", {"classes": None}, "counts of its classes"),
    "too many components": (
        "TextComponents",
        {"components": lambda a: np.hstack([a] * 4)},
        "at most 30 components",
    ),
    "components of other hashes": ("TextComponents", {"components": lambda a: a[:100]}, ""),
    "weights of other hashes": ("TextComponents", {"idf": lambda a: a[:100]}, ""),
    "weights that are missing": ("TextComponents", {"idf": put(0, np.nan)}, ""),
    "components by letters": ("TextComponents", {"by": "letters"}, "words or spelling"),
    "parts that do not exist": ("Calendar", {"parts": ["days", "decade"]}, "parts of dates"),
    "fewer parts": ("Calendar", {"parts": ["days"]}, ""),
    "columns that do not exist": ("NumericView", {"sources_": put(0, 2**20)}, "columns that exist"),
    "negative columns": ("NumericView", {"sources_": put(0, -1)}, ""),
    "codes that do not exist": ("NumericView", {"contents_": put(0, 64)}, ""),
    "codes of numbers": ("NumericView", {"contents_": put(0, 5)}, "one-hot columns"),
    "numbers of codes": ("NumericView", {"contents_": put(1, -1)}, "one-hot columns"),
    "scales of zero": ("NumericView", {"scale_": put(0, 0.0)}, "scales other than zero"),
    "scales that are missing": ("NumericView", {"scale_": put(0, np.nan)}, ""),
    "means that are infinite": ("NumericView", {"mean_": put(0, np.inf)}, ""),
    "a shorter view": ("NumericView", {"mean_": lambda a: a[1:]}, ""),
    "a wider view": ("NumericView", {"n_features_in_": 2**30}, ""),
    "a column that is left out": ("EncodedColumn", {"column_type": "left out"}, "encoders, or a"),
    "a column of another type": ("EncodedColumn", {"column_type": "picture"}, "a type of columns"),
    "a column of another name": ("EncodedColumn", {"name": "weight"}, "the names of its columns"),
    "a column without a name": ("EncodedColumn", {"name": []}, "a name"),
    "a column without encoders": ("EncodedColumn", {"encoders": []}, "encoders, or a reason"),
    "names twice": ("TableEncoder", {"names": ["size"] * 4}, "the names of its columns"),
    "fewer names": ("TableEncoder", {"names": ["size"]}, "the names of its columns"),
    "fewer columns": ("TableEncoder", {"columns": []}, "the names of its columns"),
    "no view": ("TableEncoder", {"view": None}, ""),
    "one-hot columns for trees": ("TableEncoder", {"gives_codes": True}, ""),
    "an encoder of another width": ("LiquidEnsembleClassifier", {"n_features": 3}, ""),
    "no encoder": ("LiquidEnsembleClassifier", {"encoder": None}, ""),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_encoders_of_tables(name, encoded, refused):
    part, changes, match = ATTACKS[name]
    document, arrays = json.loads(encoded[0]), list(encoded[1])
    changed(parts_of(document, part)[0], arrays, **changes)
    refused(document, arrays, f"valid model.*{match}")
