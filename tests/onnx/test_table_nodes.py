import numpy as np
import pandas as pd
import pytest
from onnx_runtime import TEXT, assert_same, inputs_of, session_of
from sklearn.compose import make_column_transformer
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from skliquid import LiquidEnsembleClassifier, TableEncoder, prune, to_onnx
from skliquid.streams import train_on
from skliquid.voters import RandomizedForestClassifier

SMALL = {"n_estimators": 6, "n_final": 3, "random_state": 0}


def table(n_rows=300):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.normal(50, 20, n_rows),
            "visits": rng.integers(0, 9, n_rows),
            "town": rng.choice(["Oslo", "Rome", "Cairo"], n_rows),
            "smokes": rng.random(n_rows) < 0.3,
            "zip": pd.Categorical(rng.integers(7000, 7009, n_rows)),
        }
    )
    ill = frame["age"] + 20 * (frame["town"] == "Rome") > 55
    frame.loc[::7, "age"] = None
    frame.loc[::9, "town"] = None
    return frame, np.where(ill, "yes", "no")


def test_a_table_has_an_input_for_each_column():
    frame, y = table()
    model = LiquidEnsembleClassifier(**SMALL).fit(frame.assign(empty=None), y)
    assert_same(model, frame.assign(empty=None))
    inputs = {i.name: i.type for i in session_of(to_onnx(model)).get_inputs()}
    texts = dict.fromkeys(["town", "smokes", "zip"], TEXT)
    assert inputs == {"age": "tensor(double)", "visits": "tensor(double)"} | texts


def test_categories_that_are_not_known_are_encoded_as_ours_are():
    frame, y = table()
    model = LiquidEnsembleClassifier(**SMALL).fit(frame, y)
    assert_same(model, frame.assign(town="Lima", zip=1, smokes=None, age=np.nan))


@pytest.mark.parametrize("has_missing", [False, True])
def test_rare_categories_share_a_column(has_missing):
    rng = np.random.default_rng(0)
    words = [f"word {k}" for k in range(62)]
    text = pd.Series(rng.choice(words, 600), dtype=object)
    if has_missing:
        text[::5] = None
    frame = pd.DataFrame({"text": text, "n": np.arange(600.0)})
    model = LiquidEnsembleClassifier(**SMALL).fit(frame, text.isin(words[:25]))
    assert (model.encoder_.column_types_["text"]) == "category"
    assert_same(model, frame)
    assert_same(model, frame.assign(text="a new word"))


def test_a_table_of_categories_alone_predicts_the_same():
    frame, y = table()
    for columns in (["town"], ["town", "zip"]):
        assert_same(LiquidEnsembleClassifier(**SMALL).fit(frame[columns], y), frame[columns])


def test_an_array_has_one_input():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    X[::3, 1] = X[:, 2] = np.nan
    model = LiquidEnsembleClassifier(**SMALL).fit(X, X[:, 0] > 0)
    assert_same(model, X)


@pytest.mark.parametrize(
    ("column", "what"),
    [
        (pd.date_range("2020-01-01", periods=300).astype(str), "date"),
        ([f"name {k}" for k in range(300)], "category"),
        ([f"{k} long texts with eight words or more" for k in range(300)], "text"),
    ],
)
def test_columns_without_operators_are_refused_by_name(column, what):
    frame, y = table()
    model = LiquidEnsembleClassifier(**SMALL).fit(frame.assign(other=column), y)
    with pytest.raises(
        ValueError, match=f"got a {what} in 'other' that is encoded otherwise. Leave this"
    ):
        to_onnx(model)


@pytest.mark.parametrize("voters", ["default", "linear", "trees"])
def test_all_voters_see_the_same_table(voters):
    estimator = {
        "default": None,
        "linear": SGDClassifier(loss="log_loss"),
        "trees": RandomizedForestClassifier(3),
    }[voters]
    frame, y = table()
    assert_same(LiquidEnsembleClassifier(estimator, **SMALL).fit(frame, y), frame)


def test_an_encoder_may_be_a_step_of_a_pipeline():
    frame, y = table()
    assert_same(
        make_pipeline(TableEncoder(), LiquidEnsembleClassifier(**SMALL)).fit(frame, y), frame
    )


def test_a_pruned_ensemble_has_the_same_inputs():
    frame, y = table()
    ensemble = LiquidEnsembleClassifier(n_estimators=6, mechanism="direct", random_state=0)
    pruned = prune(ensemble.fit(frame, y), frame, y, n_final=2, random_state=0)
    assert_same(pruned, frame)


def test_steps_before_a_table_are_refused():
    rng = np.random.default_rng(0)
    X, y = rng.integers(4, size=(200, 2)).astype(float), rng.integers(2, size=200)
    ensemble = LiquidEnsembleClassifier(categorical_features=[0], **SMALL)
    model = make_pipeline(StandardScaler(), ensemble).fit(X, y)
    with pytest.raises(ValueError, match="got a step before an ensemble with an encoder"):
        to_onnx(model)


def test_other_transformers_of_columns_are_refused_by_name():
    frame, y = table()
    encoder = make_column_transformer((OneHotEncoder(sparse_output=False), ["town"]))
    model = make_pipeline(encoder, LiquidEnsembleClassifier(**SMALL)).fit(frame, y)
    with pytest.raises(ValueError, match="ColumnTransformer"):
        to_onnx(model)


def test_an_empty_text_as_a_category_is_refused():
    frame, y = table()
    model = LiquidEnsembleClassifier(**SMALL).fit(frame.fillna({"town": ""}), y)
    with pytest.raises(ValueError, match=r"empty text, which stands for missing .* column 'town'"):
        to_onnx(model)


def test_columns_with_names_of_outputs_are_refused():
    frame, y = table()
    model = LiquidEnsembleClassifier(**SMALL).fit(frame.rename(columns={"age": "label"}), y)
    with pytest.raises(ValueError, match=r"name of an output, .*: got 'label'\. Rename"):
        to_onnx(model)


# Files larger than memory


@pytest.fixture(scope="module")
def streamed(tmp_path_factory):
    frame, y = table(600)
    path = tmp_path_factory.mktemp("onnx") / "train.parquet"
    frame.assign(zip=frame["zip"].astype(int), ill=y).to_parquet(path, index=False)
    return train_on(
        path,
        target="ill",
        ensemble=LiquidEnsembleClassifier(**SMALL),
        increment_size=200,
        column_types={"zip": "text"},
    )


def test_a_model_of_a_file_is_that_of_its_ensemble(streamed):
    frame, _ = table()
    assert_same(streamed.ensemble, frame)
    assert to_onnx(streamed) == to_onnx(streamed.ensemble)


@pytest.mark.parametrize("spelling", [str, lambda b: str(b).lower(), lambda b: str(int(b))])
def test_booleans_have_several_spellings(streamed, spelling):
    frame, _ = table()
    session = session_of(to_onnx(streamed))
    spelled = frame.assign(smokes=frame["smokes"].map(spelling))
    _, probabilities = session.run(None, inputs_of(session, spelled))
    np.testing.assert_allclose(
        probabilities, streamed.ensemble.predict_proba(frame), rtol=0, atol=1e-12
    )
