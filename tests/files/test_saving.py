import json
import os
import pickle

import joblib
import numpy as np
import pytest
import scipy.sparse
import scipy.stats
from file_mutations import references, written
from sklearn.decomposition import PCA
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

from skliquid import (
    CompetenceMeasure,
    Diversity,
    LiquidEnsembleClassifier,
    Mechanism,
    ModelFileError,
    TableEncoder,
    as_mechanism,
    load,
    prune,
    revocable,
    save,
)
from skliquid.files import container
from skliquid.files.descriptions import json_schema
from skliquid.files.saving import digest
from skliquid.mechanisms import FastestLearners
from skliquid.mechanisms.schedules import FixedCount
from skliquid.mechanisms.selection import least_competent
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 6))
Y = ((X[:, 0] + X[:, 1] ** 2 + RNG.normal(size=240)) > 0.8) + 2 * (X[:, 2] > 1)
MAPS = [
    *("passthrough", RBFSampler(n_components=10), Nystroem(n_components=8), PCA(3)),
    *(StandardScaler(), MinMaxScaler(), MaxAbsScaler(), RobustScaler()),
    SimpleImputer(add_indicator=True),
    make_pipeline(StandardScaler(), RBFSampler(gamma="scale", n_components=10)),
]
DRAWN = {"alpha": scipy.stats.loguniform(1e-6, 1e-2), "eta0": [0.1, 0.5]}
SGD = SGDClassifier(learning_rate="constant", eta0=0.1)

ENSEMBLES = {
    "default": {},
    "classes": {"n_final": "auto"},
    "samples": {"bootstrap": True, "max_samples": 0.7},
    "subspaces": {"estimator": SGD, "max_features": 3},
    "maps": {"estimator": SGD, "n_estimators": 20, "diversity": Diversity(feature_maps=MAPS)},
    "drawn": {"estimator": SGD, "diversity": Diversity(param_distributions=DRAWN)},
    "perceptron": {"estimator": Perceptron(), "voting": "hard", "competence": "training"},
    "averaged": {"estimator": SGDClassifier(loss="modified_huber", average=20)},
    "trees": {"estimator": [("a", RandomizedForestClassifier()), ("b", BoostedTreesClassifier(9))]},
    "revocable": {
        "mechanism": revocable("max"),
        "competence": CompetenceMeasure("prequential", memory=3),
        "delegation_rate": FixedCount(2),
        "final_fit": False,
    },
    "slopes": {
        "mechanism": revocable("max", FastestLearners()),
        "competence": CompetenceMeasure(memory=5),
    },
    "decayed": {
        "competence": CompetenceMeasure(memory=0.9),
        "mechanism": as_mechanism("random_better", vote_weights="log_odds"),
    },
    "weights": {"class_weight": {0: 2.0, 1: 1.0}, "random_state": np.random.RandomState(3)},
}


def ensemble(name="default", **changes):
    params = {"n_estimators": 9, "n_final": 3, "random_state": 0} | ENSEMBLES[name] | changes
    return LiquidEnsembleClassifier(**params)


def same(one, other, rows=X):
    return all(
        np.array_equal(getattr(one, method)(rows), getattr(other, method)(rows))
        for method in ("predict", "predict_proba", "decision_function")
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ENSEMBLES)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_an_ensemble_survives_with_its_bits(name, n_classes, tmp_path):
    y = Y % 2 if n_classes == 2 else Y
    before = ensemble(name).fit(X, y)
    save(before, tmp_path / "a")
    after = load(tmp_path / "a")
    assert same(before, after)
    if name not in ("drawn", "weights"):  # which show an address in memory
        assert repr(after) == repr(before)
    assert after.record_.to_pandas().equals(before.record_.to_pandas())
    assert after.record_.voters == before.record_.voters
    assert (
        after.delegation_graph_.delegation.tolist() == before.delegation_graph_.delegation.tolist()
    )
    save(after, tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", [*ENSEMBLES, "for_streams"])
def test_training_continues_with_the_same_bits(name, tmp_path):
    streamed = name == "for_streams"
    before = LiquidEnsembleClassifier.for_streams(random_state=0) if streamed else ensemble(name)
    for cut in (slice(0, 80), slice(80, 160)):
        before.partial_fit(X[cut], Y[cut] % 2, classes=[0, 1])
    save(before, tmp_path / "a")
    after = load(tmp_path / "a")
    for model in (before, after):
        model.partial_fit(X[160:], Y[160:] % 2)
    assert same(before, after)
    save(before, tmp_path / "a")
    save(after, tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_new_class_is_discovered_after_loading(tmp_path):
    before = ensemble().partial_fit(X[:100], Y[:100] % 2)
    save(before, tmp_path / "a")
    after = load(tmp_path / "a")
    for model in (before, after):
        model.partial_fit(X[100:], Y[100:])
    assert after.classes_.tolist() == [0, 1, 2, 3]
    assert same(before, after)


@pytest.mark.parametrize("labels", [list("abcd"), [False, True, False, True], [-1, 5, 7, 9]])
def test_labels_keep_their_type(labels, tmp_path):
    y = np.array(labels)[Y]
    before = ensemble().fit(X, y)
    save(before, tmp_path / "a")
    assert load(tmp_path / "a").classes_.dtype == before.classes_.dtype
    assert same(before, load(tmp_path / "a"))


def test_precision_and_sparse_rows_are_kept(tmp_path):
    single, sparse = X.astype(np.float32), scipy.sparse.csr_matrix(np.where(X > 0, X, 0))
    for rows in (single, sparse):
        before = ensemble().partial_fit(rows, Y % 2, classes=[0, 1])
        save(before, tmp_path / "a")
        after = load(tmp_path / "a")
        assert same(before, after, rows)
        assert same(before.partial_fit(rows, Y % 2), after.partial_fit(rows, Y % 2), rows)


def test_an_ensemble_before_training_and_with_one_class_survives(tmp_path):
    save(ensemble(), tmp_path / "a")
    assert repr(load(tmp_path / "a")) == repr(ensemble())
    waiting = ensemble().partial_fit(X[:9], np.zeros(9, dtype=int))
    save(waiting, tmp_path / "a")
    after = load(tmp_path / "a").partial_fit(X, Y)
    assert same(waiting.partial_fit(X, Y), after)


def test_pipelines_and_tables_survive(tmp_path):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(X[:, :2], columns=["a", "b"]).assign(
        town=np.where(X[:, 2] > 0, "Oslo", None),
        many=[f"name {k % 70}" for k in range(240)],
        words=[" ".join(f"w{(k * j) % 11}" for j in range(9)) + f" {k}" for k in range(240)],
        day=pd.date_range("2024-01-01", periods=240),
    )
    table.loc[::5, "a"] = np.nan
    for model, rows in (
        (make_pipeline(StandardScaler(), ensemble("default")), X),
        (ensemble("default"), table),
        (make_pipeline(TableEncoder(), ensemble("default")), table),
    ):
        model.fit(rows, Y)
        save(model, tmp_path / "a")
        after = load(tmp_path / "a")
        assert same(model, after, rows)
        save(after, tmp_path / "b")
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_voter_alone_survives(tmp_path):
    for voter in (
        RandomizedForestClassifier(random_state=0),
        BoostedTreesClassifier(random_state=0),
    ):
        save(voter.fit(X, Y), tmp_path / "a")
        assert np.array_equal(load(tmp_path / "a").predict_proba(X), voter.predict_proba(X))


PRUNED = {
    "forest": RandomForestClassifier(12, random_state=0),
    "extra trees": ExtraTreesClassifier(12, random_state=0),
    "subspaces": BaggingClassifier(n_estimators=12, max_features=0.5, random_state=0),
    "linear": BaggingClassifier(SGD, 12, random_state=0),
    "pipelines": BaggingClassifier(make_pipeline(StandardScaler(), LogisticRegression()), 12),
    "liquid": LiquidEnsembleClassifier(n_estimators=12, n_final=12, random_state=0),
}


@pytest.mark.parametrize("method", ["delegation", "greedy", "l1"])
@pytest.mark.parametrize("name", PRUNED)
def test_a_pruned_ensemble_survives(name, method, tmp_path):
    labels = np.array(list("abcd"))[Y]
    whole = PRUNED[name].fit(X, labels)
    pruned = prune(whole, X, labels, n_final=4, method=method, random_state=0)
    save(pruned, tmp_path / "a")
    again = load(tmp_path / "a")
    for part in ("predict", "predict_proba", "decision_function"):
        assert np.array_equal(getattr(again, part)(X), getattr(pruned, part)(X))
    assert again.get_params() == pruned.get_params()
    for part in ("estimator_weights_", "chosen_", "feature_importances_"):
        assert np.array_equal(getattr(again, part), getattr(pruned, part))
    if method == "delegation":
        assert again.record_.summary() == pruned.record_.summary()
        for ensemble in (again, pruned):
            ensemble.set_params(n_final=2, delegation_rate=0.5).partial_fit(X, labels)
        assert np.array_equal(again.predict_proba(X), pruned.predict_proba(X))
    save(again, tmp_path / "b")
    save(pruned, tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_pruned_forest_with_missing_values_survives_in_a_pipeline(tmp_path):
    rows = np.where(X > 0.5, np.nan, X)
    whole = make_pipeline(SimpleImputer(), StandardScaler(), RandomForestClassifier(9)).fit(rows, Y)
    direct = RandomForestClassifier(9, random_state=0).fit(rows, Y)
    for model in (whole, direct):
        pruned = prune(model, rows, Y, n_final=3, random_state=0)
        save(pruned, tmp_path / "a")
        assert np.array_equal(load(tmp_path / "a").predict_proba(rows), pruned.predict_proba(rows))


@pytest.mark.parametrize("name", ["default", "trees", "maps"])
def test_a_file_is_smaller_than_a_pickle(name, tmp_path):
    model = ensemble(name).fit(X, Y % 2)
    save(model, tmp_path / "a")
    joblib.dump(model, tmp_path / "b")
    assert (tmp_path / "a").stat().st_size < (tmp_path / "b").stat().st_size


def test_other_voters_and_functions_are_refused_and_the_old_file_stays(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    neighbours = ensemble(estimator=KNeighborsClassifier()).fit(X, Y)
    with pytest.raises(ModelFileError, match=r"KNeighborsClassifier.*skops.io.dump.*joblib.dump"):
        save(neighbours, path)
    own = Mechanism(least_competent, lambda gain, weight: np.maximum(gain, 0))
    with pytest.raises(
        ModelFileError, match=r"params.*mechanism.*probability.*the function .*lambda"
    ):
        save(ensemble(mechanism=own).fit(X, Y), path)
    bayes = GaussianNB().fit(X, Y)
    with pytest.raises(ModelFileError, match="GaussianNB"):
        save(prune([bayes, bayes], X, Y, n_final=1), path)
    forest = RandomForestClassifier(4, random_state=0).fit(X, Y)
    with pytest.raises(ModelFileError, match=r"method.*the function .*lambda"):
        save(prune(forest, X, Y, n_final=1, method=lambda p, y, n: np.arange(4) == 0), path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


class Payload:
    def __reduce__(self):
        return os.mkdir, ("executed",)


def test_nothing_in_a_file_is_executed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pickle").write_bytes(pickle.dumps(Payload()))
    joblib.dump(Payload(), tmp_path / "joblib")
    for name in ("pickle", "joblib"):
        with pytest.raises(ModelFileError, match="must be a model file of skliquid"):
            load(tmp_path / name)
    name = {"is": "function", "name": "os.mkdir"}
    for part in (
        {"type": "os.mkdir"},
        {"type": "Mechanism", "selection": name, "probability": name},
        {"type": "FunctionTransformer", "func": name},
        {"type": "rv_continuous_frozen", "distribution": "__loader__", "args": [], "kwds": {}},
    ):
        document = {"parts": [part], "model": {"is": "part", "at": 0}}
        (tmp_path / "crafted").write_bytes(written(document, []))
        with pytest.raises(ModelFileError, match="must hold a valid model"):
            load(tmp_path / "crafted")
    assert not (tmp_path / "executed").exists()


def test_transformers_that_files_do_not_hold_are_refused(tmp_path):
    for step in (PolynomialFeatures(), StandardScaler(copy=True), FunctionTransformer(np.log1p)):
        model = make_pipeline(step, ensemble()).fit(np.abs(X), Y)
        if isinstance(step, StandardScaler):
            model.memory = str(tmp_path / "cache")
        with pytest.raises(ModelFileError, match=r"PolynomialFeatures|memory|log1p"):
            save(model, tmp_path / "a")


@pytest.mark.parametrize(
    "value",
    [None, 3, [ensemble()], StandardScaler(), CompetenceMeasure(), SGDClassifier().fit(X, Y)],
)
def test_only_models_are_saved(value, tmp_path):
    with pytest.raises(ModelFileError, match="pipeline that ends with one, or a voter"):
        save(value, tmp_path / "a")
    assert not (tmp_path / "a").exists()


def test_a_pipeline_must_have_transformers_before_its_classifier(tmp_path):
    for steps in (
        [("a", ensemble()), ("b", ensemble())],
        [("a", StandardScaler()), ("a", ensemble())],
    ):
        with pytest.raises(
            ModelFileError, match=r"must have (steps with different names|transformers before)"
        ):
            save(Pipeline(steps), tmp_path / "a")


def test_a_pipeline_must_end_with_a_model_of_ours(tmp_path):
    with pytest.raises(ModelFileError, match=r"that ends with one.*got a SGDClassifier"):
        save(make_pipeline(StandardScaler(), SGDClassifier()).fit(X, Y), tmp_path / "a")


def test_a_missing_file_is_an_error_of_its_own(tmp_path):
    with pytest.raises(FileNotFoundError, match="path must be an existing file"):
        load(tmp_path / "nothing")


def test_digests_differ_where_values_do():
    assert digest({"a": np.arange(3)}) == digest({"a": np.arange(3)})
    different = [{"a": np.arange(3.0)}, {"a": np.arange(4)}, {"b": np.arange(3)}, [0, 1, 2]]
    assert len({digest(value) for value in different}) == len(different)


def test_what_is_loaded_does_not_change_with_the_file(tmp_path):
    before = ensemble().fit(X, Y % 2)
    save(before, tmp_path / "a")
    after = load(tmp_path / "a")
    with (tmp_path / "a").open("r+b") as file:
        file.write(b"\0" * (tmp_path / "a").stat().st_size)
    assert same(before, after)


def test_documents_follow_the_schema(tmp_path):
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(json_schema())
    for name, reference in references(tmp_path).items():
        document = json.loads(container.read(reference.path).text)
        validator.validate(document)
        document["parts"][0]["type"] = "unheard of"
        assert not validator.is_valid(document), name
