"""Data frames in the ensemble: training, predictions, and tools of scikit-learn."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from small_tables import TYPES, ArrowStream, in_libraries, small_table

from skliquid import LiquidEnsembleClassifier, load, prune, save
from skliquid.datasets import load_dataset
from skliquid.voters import BoostedTreesClassifier, RandomizedForestClassifier

COLUMNS, Y = small_table()
FRAMES = in_libraries(COLUMNS)
FRAME = FRAMES["pandas"]
SMALL = {"n_estimators": 9, "n_final": 3, "random_state": 0}
LINEAR = SGDClassifier(loss="log_loss")
VOTERS = {
    "default": None,
    "linear": LINEAR,
    "forest": RandomizedForestClassifier(),
    "boosted": BoostedTreesClassifier(),
    "others": LogisticRegression(C=0.1),
    "two": [("linear", LINEAR), ("forest", RandomizedForestClassifier())],
}


def small(estimator=None, **params):
    return LiquidEnsembleClassifier(estimator, **SMALL | params)


def same(first, second):
    return np.array_equal(first, second, equal_nan=True)


@pytest.fixture(scope="module")
def fitted():
    return small().fit(FRAME, Y)


# Training


@pytest.mark.parametrize("library", FRAMES)
def test_all_libraries_give_the_same_bits(fitted, library):
    ensemble = small().fit(FRAMES[library], Y)
    expected = fitted.predict_proba(FRAME)
    assert same(ensemble.predict_proba(FRAMES[library]), expected)
    assert same(ensemble.predict_proba(FRAME), expected)
    assert same(fitted.predict_proba(FRAMES[library]), expected)
    assert ensemble.encoder_.column_types_ == TYPES


def test_attributes_describe_the_frame(fitted):
    assert fitted.feature_names_in_.tolist() == list(TYPES)
    assert fitted.n_features_in_ == len(TYPES)
    assert fitted.score(FRAME, Y) > 0.9
    assert set(fitted.predict(FRAME)) == {0, 1}


@pytest.mark.parametrize("name", VOTERS)
def test_all_voters_learn_from_frames(name):
    columns = ["number", "town"]
    ensemble = small(VOTERS[name]).fit(FRAME[columns], Y)
    assert ensemble.score(FRAME[columns], Y) > 0.8


@pytest.mark.parametrize("name", ["default", "linear", "forest", "two"])
@pytest.mark.parametrize("params", [{"n_jobs": 2}, {"pool": "estimator"}], ids=str)
def test_threads_and_pools_give_the_same_bits(name, params):
    expected = small(VOTERS[name]).fit(FRAME, Y).predict_proba(FRAME)
    assert same(small(VOTERS[name], **params).fit(FRAME, Y).predict_proba(FRAME), expected)


def test_seeds_decide_about_the_bits(fitted):
    again, other = (small(random_state=seed).fit(FRAME, Y) for seed in (0, 1))
    assert same(again.predict_proba(FRAME), fitted.predict_proba(FRAME))
    assert not same(other.predict_proba(FRAME), fitted.predict_proba(FRAME))


NUMBERS = {name: COLUMNS[name] for name in ("number", "integer", "flag")}


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(NUMBERS).astype({"flag": "boolean"}),
        pd.DataFrame({name: pd.Series(v, dtype=object) for name, v in NUMBERS.items()})[
            ["number", "integer"]
        ],
        pl.DataFrame(NUMBERS),
        pa.table(NUMBERS),
        ArrowStream(pa.table(NUMBERS)),
    ],
    ids=["pandas", "objects", "polars", "pyarrow", "stream"],
)
def test_frames_of_numbers_have_the_bits_of_arrays(frame):
    array = np.array(list(NUMBERS.values()), dtype=float).T
    array = array[:, :2] if isinstance(frame, pd.DataFrame) and len(frame.columns) == 2 else array
    ensemble = small().fit(frame, Y)
    assert ensemble.encoder_ is None
    assert same(ensemble.predict_proba(frame), small().fit(array, Y).predict_proba(array))


def test_streams_that_can_be_read_once_are_read_once():
    table = FRAMES["pyarrow"]
    ensemble = small().fit(table.to_reader(), Y, eval_set=(table.to_reader(), Y))
    assert ensemble.score(table.to_reader(), Y) == ensemble.record_.final_eval_accuracy


def test_a_fit_forgets_the_encoder_of_another_frame():
    ensemble = small().fit(FRAME, Y)
    array = np.random.default_rng(0).normal(size=(300, 3))
    ensemble.fit(array, Y)
    assert ensemble.encoder_ is None
    assert not hasattr(ensemble, "feature_names_in_")
    assert same(ensemble.predict_proba(array), small().fit(array, Y).predict_proba(array))


# Increments


def test_partial_fit_continues_with_frames_of_any_library():
    halves = [(FRAME[:150], Y[:150]), (FRAME[150:], Y[150:])]
    first, second = (small(final_fit=False) for _ in range(2))
    for X, y in halves:
        first.partial_fit(X, y, classes=[0, 1])
    for k, (_, y) in enumerate(halves):
        second.partial_fit(FRAMES["polars"][150 * k : 150 * (k + 1)], y, classes=[0, 1])
    assert first.n_samples_seen_ == 300
    assert same(first.predict_proba(FRAME), second.predict_proba(FRAMES["pyarrow"]))
    assert first.score(FRAME, Y) > 0.8


def test_partial_fit_learns_new_categories_and_classes():
    ensemble = small().partial_fit(FRAME, Y)
    new = FRAME.assign(town="Lima", street="street 1000")
    ensemble.partial_fit(new, np.full(300, 2)).partial_fit(FRAME, Y).partial_fit(new, [2] * 300)
    assert ensemble.classes_.tolist() == [0, 1, 2]
    assert np.mean(ensemble.predict(new) == 2) > 0.9


def test_training_starts_with_the_second_class():
    is_first = Y == 0
    ensemble = small().partial_fit(FRAME[is_first], Y[is_first]).partial_fit(FRAME, Y)
    assert ensemble.score(FRAME, Y) > 0.8


def test_refit_uses_the_encoder_as_it_is():
    ensemble = small().fit(FRAME, Y)
    before = ensemble.encoder_.encode(FRAME)
    ensemble.refit(FRAMES["polars"], Y)
    assert same(ensemble.encoder_.encode(FRAME), before)
    assert ensemble.score(FRAME, Y) > 0.9


def test_the_accuracy_on_an_evaluation_set_is_recorded():
    ensemble = small().fit(FRAME[:200], Y[:200], eval_set=(FRAMES["polars"][200:], Y[200:]))
    assert ensemble.record_.final_eval_accuracy == ensemble.score(FRAME[200:], Y[200:])
    assert ensemble.record_[0].eval_accuracy is not None


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "Arrow stream"])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_rows_of_weight_zero_are_like_rows_left_out(library, method):
    weights = np.where(np.arange(300) % 4 == 0, 0, 1.5)
    is_used = weights > 0
    odd = FRAME.assign(town=FRAME["town"].mask(~is_used, "Nowhere"))
    frame = odd if library == "pandas" else FRAMES[library]
    first, second = small(), small()
    getattr(first, method)(frame, Y, sample_weight=weights)
    getattr(second, method)(FRAME[is_used], Y[is_used], sample_weight=weights[is_used])
    assert same(first.predict_proba(FRAME), second.predict_proba(FRAME))


def test_weights_that_are_all_zero_are_refused():
    with pytest.raises(ValueError, match="above zero for some rows: all are zero"):
        small().fit(FRAME, Y, sample_weight=np.zeros(300))
    ensemble = small().partial_fit(FRAME, Y)
    before = ensemble.predict_proba(FRAME)
    ensemble.partial_fit(FRAME, Y, sample_weight=np.zeros(300))
    assert same(ensemble.predict_proba(FRAME), before)


def test_classes_may_be_balanced():
    y = Y * (np.arange(300) % 3 == 0)
    plain, balanced = (small(class_weight=w).fit(FRAME, y) for w in (None, "balanced"))
    assert balanced.predict_proba(FRAME)[:, 1].mean() > plain.predict_proba(FRAME)[:, 1].mean()


@pytest.mark.parametrize(
    "ensemble",
    [
        LiquidEnsembleClassifier.as_in_the_paper(random_state=0, n_estimators=20),
        LiquidEnsembleClassifier.for_streams(random_state=0),
        small(max_features=0.5),
        small(max_samples=0.7, bootstrap=True),
        small(voting="hard"),
        small(n_final="auto"),
        small(max_cost=100_000),
    ],
    ids=["paper", "streams", "subspaces", "bootstrap", "hard", "auto", "budget"],
)
def test_other_settings_take_frames(ensemble):
    assert ensemble.fit(FRAME, Y).score(FRAME, Y) > 0.6


# Categorical features


@pytest.mark.parametrize(
    "chosen",
    [["integer", "town"], [1, 4], [name in ("integer", "town") for name in TYPES]],
    ids=str,
)
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_categorical_features_are_by_name_position_or_mask(chosen, library):
    ensemble = small(categorical_features=chosen).fit(FRAMES[library], Y)
    types = ensemble.encoder_.column_types_
    assert [name for name, found in types.items() if found == "category"] == ["integer", "town"]
    assert (types["street"], types["date"], types["number"]) == ("text", "date", "number")


def test_columns_of_arrays_may_be_categories():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(6, size=400), rng.normal(size=400)])
    y = np.isin(X[:, 0], [0, 3, 5]).astype(int)
    ensemble = small(categorical_features=[0]).fit(X, y)
    assert ensemble.encoder_.column_types_ == {0: "category", 1: "number"}
    assert ensemble.score(X, y) == 1
    expected = ensemble.predict_proba(X)
    for rows in (X.tolist(), X.astype(np.float32).astype(float), X.astype(object)):
        assert same(ensemble.predict_proba(rows), expected)
    frame = pd.DataFrame(X).astype({0: int})
    assert same(small(categorical_features=[0]).fit(frame, y).predict_proba(frame), expected)
    assert small(categorical_features=[]).fit(X, y).encoder_ is None


@pytest.mark.parametrize("chosen", [["twon"], [8], [-1], [True], [[1]]], ids=str)
def test_other_categorical_features_are_refused(chosen):
    with pytest.raises(ValueError, match="categorical_features must be"):
        small(categorical_features=chosen).fit(FRAME, Y)
    with pytest.raises(ValueError, match="categorical_features"):
        small(categorical_features="town").fit(FRAME, Y)


def test_arrays_of_text_are_refused_with_the_way_out():
    for X in (FRAME[["town"]].to_numpy(), [["a"]] * 300, np.full((300, 1), "a")):
        with pytest.raises(ValueError, match=r"X must hold numbers, .* give a data frame, such as"):
            small().fit(X, Y)


# Rows to predict


def test_columns_are_found_by_name(fitted):
    expected = fitted.predict_proba(FRAME)
    for frame in (FRAME[FRAME.columns[::-1]], FRAME.assign(other="x")):
        assert same(fitted.predict_proba(frame), expected)
    with pytest.raises(ValueError, match=r"'town' is missing\. Add it"):
        fitted.predict(FRAME.drop(columns="town"))


def test_missing_and_unseen_values_are_predicted(fitted):
    gone = FRAME.astype({"town": object, "flag": object})
    gone.loc[:, :] = None
    unseen = FRAME.assign(town="Lima", street="street 1000", flag=None, number=1e9)
    for frame in (gone, unseen, FRAME[:1], gone[:1]):
        assert np.isfinite(fitted.predict_proba(frame)).all()


def test_rows_are_predicted_independently_of_each_other(fitted):
    expected = fitted.predict_proba(FRAME)
    for frame in (FRAME, FRAMES["polars"], FRAMES["pandas with objects"]):
        for rows in (slice(0, 1), slice(3, 19), slice(30, 50)):
            found = fitted.predict_proba(frame[rows])
            np.testing.assert_allclose(found, expected[rows], rtol=0, atol=1e-15)


@pytest.mark.parametrize("name", ["number", "date"])
def test_values_of_another_type_are_refused(fitted, name):
    with pytest.raises(ValueError, match=f"in the column '{name}', as in training: got 'x'"):
        fitted.predict(FRAME.assign(**{name: "x"}))


def test_odd_tables_are_refused(fitted):
    with pytest.raises(ValueError, match="X must have rows"):
        fitted.predict(FRAME[:0])
    with pytest.raises(ValueError, match="more than once"):
        fitted.predict(pd.concat([FRAME, FRAME], axis=1))
    with pytest.raises(TypeError, match="LazyFrame"):
        fitted.predict(FRAMES["polars"].lazy())
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        small().fit(FRAME, Y[:-1])
    with pytest.raises(ValueError, match="X must have a column"):
        small().fit(pd.DataFrame({"a": [None] * 300}), Y)


def test_one_column_or_one_category_is_enough():
    for name in TYPES:
        ensemble = small().fit(FRAMES["polars"][[name]], Y)
        assert ensemble.feature_names_in_.tolist() == [name]
    constant = pd.DataFrame({"c": ["a"] * 300})
    assert len(set(small().fit(constant, Y).predict(constant))) == 1


# Noise


def test_a_column_of_noise_with_many_categories_does_little_harm():
    columns, y = small_table(1500)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"number": columns["number"], "town": columns["town"]})
    noisy = frame.assign(key=[f"key {k}" for k in rng.integers(400, size=1500)])
    plain, with_noise = (
        small(n_estimators=24).fit(X[:1000], y[:1000]).score(X[1000:], y[1000:])
        for X in (frame, noisy)
    )
    assert with_noise > plain - 0.03


# Importances


@pytest.mark.parametrize("name", ["default", "linear", "forest", "two"])
def test_importances_are_per_column(name):
    columns, y = small_table(900)
    frame = pd.DataFrame(columns)[["number", "flag", "town", "integer"]]
    y = np.isin(frame["town"].to_numpy(dtype=object), ["Rome", "Oslo"]).astype(int)
    found = small(VOTERS[name]).fit(frame, y).feature_importances_
    assert found.shape == (4,)
    assert found.sum() == pytest.approx(1)
    assert found.argmax() == 2


# Tools


def test_an_ensemble_of_frames_can_be_cloned_and_pickled(fitted):
    expected = fitted.predict_proba(FRAME)
    assert same(pickle.loads(pickle.dumps(fitted)).predict_proba(FRAME), expected)
    copy = clone(fitted)
    assert copy.encoder_ is None
    assert same(copy.fit(FRAME, Y).predict_proba(FRAME), expected)


@pytest.mark.parametrize("name", ["default", "linear", "forest", "two"])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_an_ensemble_of_frames_can_be_saved(tmp_path, name, method):
    ensemble = getattr(small(VOTERS[name]), method)(FRAME, Y)
    save(ensemble, tmp_path / "model.skliquid")
    loaded = load(tmp_path / "model.skliquid")
    assert same(loaded.predict_proba(FRAMES["polars"]), ensemble.predict_proba(FRAME))
    assert same(loaded.feature_importances_, ensemble.feature_importances_)
    assert loaded.encoder_.column_types_ == TYPES
    for one in (loaded, ensemble):
        one.partial_fit(FRAME.assign(town="Lima"), Y)
    assert same(loaded.predict_proba(FRAME), ensemble.predict_proba(FRAME))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_scikit_learn_validates_and_searches(library):
    assert cross_val_score(small(), FRAMES[library], Y, cv=2).mean() > 0.8
    search = GridSearchCV(small(), {"categorical_features": ["from_dtype", None]}, cv=2)
    assert search.fit(FRAMES[library], Y).score(FRAMES[library], Y) > 0.9


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_steps_before_the_ensemble_may_give_frames(container):
    columns = ["number", "integer", "town"]
    scaler = ColumnTransformer(
        [("scale", StandardScaler(), ["number", "integer"])],
        remainder="passthrough",
        verbose_feature_names_out=False,
    ).set_output(transform=container)
    frame = FRAME[columns].astype({"number": float, "integer": float})
    model = make_pipeline(scaler, small()).fit(frame, Y)
    assert model[-1].encoder_.column_types_["town"] == "category"
    assert model.score(frame, Y) > 0.9


def test_an_ensemble_of_frames_can_be_pruned():
    ensemble = small(mechanism="direct", n_final=9).fit(FRAME, Y)
    pruned = prune(ensemble, FRAMES["polars"], Y, n_final=3, random_state=0)
    assert len(pruned.estimators_) == 3
    assert pruned.score(FRAME, Y) > 0.9
    assert same(pruned.predict_proba(FRAME), pruned.predict_proba(FRAMES["pyarrow"]))
    assert pruned.feature_importances_.shape == (len(TYPES),)
    assert pruned.feature_names_in_.tolist() == list(TYPES)
    again = prune(pruned.partial_fit(FRAME, Y), FRAME, Y, n_final=2, random_state=0)
    assert len(again.estimators_) == 2
    assert again.score(FRAMES["Arrow stream"], Y) > 0.9
    with pytest.raises(ValueError, match="'town' is missing"):
        pruned.predict(FRAME.drop(columns="town"))


def test_a_dataset_with_missing_values_is_learned():
    data = load_dataset("credit-approval", as_frame=True)
    assert small().fit(data.X, data.y).score(data.X, data.y) > 0.8


# Warnings


def test_assumptions_about_columns_are_named():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "income": np.where(rng.random(300) < 0.1, "unknown", rng.integers(900, size=300)),
            "town": rng.choice(["Oslo", "oslo"], 300),
        }
    )
    with pytest.warns(
        UserWarning, match="Assumptions about columns of X: 'income'.*'town'"
    ) as found:
        ensemble = small().fit(frame, Y)
    assert found[0].filename == __file__
    assert ensemble.encoder_.column_types_ == {"income": "number", "town": "category"}


def test_announced_classes_have_target_statistics_though_they_come_later():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 300, 1200)
    table = pd.DataFrame({"code": [f"c{k}" for k in codes]})
    labels = (codes % 2).astype(int)
    order = np.argsort(labels, kind="stable")
    ensemble = LiquidEnsembleClassifier(random_state=0)
    for part in np.array_split(order, 4):
        ensemble.partial_fit(table.iloc[part], labels[part], classes=[0, 1])
    assert "code_share_0" in ensemble.encoder_.get_feature_names_out()


def test_a_stream_learns_a_third_category_as_a_category():
    table = pd.DataFrame({"town": ["a", "b"] * 50, "size": np.arange(100.0)})
    labels = [0, 1] * 50
    ensemble = LiquidEnsembleClassifier(random_state=0).partial_fit(table, labels)
    later = table.assign(town=["a", "c"] * 50)
    assert ensemble.partial_fit(later, labels).encoder_.columns_[0].encoders[0].values == [
        "a",
        "b",
        "c",
    ]
    assert ensemble.encoder_.is_categorical_.tolist() == [True, False]


def test_columns_with_numbers_as_names_must_keep_their_order():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 2)))
    ensemble = LiquidEnsembleClassifier(random_state=0).fit(X, X[0] > 0)
    with pytest.raises(ValueError, match=r"in their order: got \[1, 0\] instead of \[0, 1\]"):
        ensemble.predict(X[[1, 0]])
    assert ensemble.score(X.to_numpy(), X[0] > 0) > 0.9


@pytest.mark.parametrize(
    ("cell", "message"), [("hello", "numbers in the column 'b'"), (np.inf, "the column 'b' holds")]
)
def test_errors_name_the_column_of_a_frame_of_numbers(cell, message):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 2)), columns=["a", "b"])
    ensemble = LiquidEnsembleClassifier(random_state=0).fit(X, X["a"] > 0)
    with pytest.raises(ValueError, match=message):
        ensemble.predict(X.assign(b=cell))


@pytest.mark.parametrize("index_type", [pa.uint8(), pa.uint32(), pa.int64()])
def test_dictionaries_of_arrow_may_have_unsigned_indices(index_type):
    indices = pa.array([0, 1, None, 2] * 50, index_type)
    column = pa.DictionaryArray.from_arrays(indices, pa.array(["a", "b", "c"]))
    y = [0, 1, 0, 1] * 50
    ensemble = LiquidEnsembleClassifier(random_state=0).fit(pa.table({"c": column}), y)
    assert ensemble.score(pd.DataFrame({"c": ["a", "b", None, "c"] * 50}), y) == 1.0


def test_labels_that_differ_only_in_case_are_named():
    X = pd.DataFrame({"a": np.arange(90.0)})
    with pytest.warns(UserWarning, match="Labels of y differ only in case or spaces: 'Ja', 'ja'"):
        LiquidEnsembleClassifier(random_state=0).fit(X, ["ja", "nein", "Ja"] * 30)


def test_text_with_fractions_is_numbers_and_text_of_digits_is_not():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"size": [f"{x:.2f}" for x in rng.normal(size=99)], "code": ["7", "8", "9"] * 33}
    )
    ensemble = LiquidEnsembleClassifier(random_state=0).fit(X, [0, 1, 0] * 33)
    assert ensemble.encoder_.column_types_ == {"size": "number", "code": "category"}
