import numpy as np
import pandas as pd
import pytest
from onnx_runtime import TEXT, assert_same, inputs_of, session_of
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from skliquid import LiquidEnsembleClassifier, tabular_pipeline, to_onnx
from skliquid.streams import train_on

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
    model = tabular_pipeline(**SMALL).fit(frame.assign(empty=None), y)
    assert_same(model, frame.assign(empty=None))
    inputs = {i.name: i.type for i in session_of(to_onnx(model)).get_inputs()}
    texts = dict.fromkeys(["town", "smokes", "zip"], TEXT)
    assert inputs == {"age": "tensor(double)", "visits": "tensor(double)"} | texts


def test_categories_that_are_not_known_are_encoded_as_ours_are():
    frame, y = table()
    model = tabular_pipeline(**SMALL).fit(frame, y)
    assert_same(model, frame.assign(town="Lima", zip=1, smokes=None, age=np.nan))


@pytest.mark.parametrize("has_missing", [False, True])
def test_rare_categories_share_a_column(has_missing):
    rng = np.random.default_rng(0)
    words = [f"word {k}" for k in range(50)]
    text = pd.Series(rng.choice(words, 600), dtype=object)
    if has_missing:  # a fifty-first category
        text[::5] = None
    frame = pd.DataFrame({"text": text, "n": np.arange(600.0)})
    model = tabular_pipeline(**SMALL).fit(frame, text.isin(words[:25]))
    assert (model["encoder"].column_types_["text"]) == "category"
    assert_same(model, frame)
    assert_same(model, frame.assign(text="a new word"))


def test_a_table_of_numbers_or_of_categories_alone_predicts_the_same():
    frame, y = table()
    for columns in (["age", "visits"], ["town"]):
        assert_same(tabular_pipeline(**SMALL).fit(frame[columns], y), frame[columns])


def test_an_array_has_one_input():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    X[::3, 1] = X[:, 2] = np.nan
    model = tabular_pipeline(**SMALL).fit(X, X[:, 0] > 0)
    assert_same(model, X)


@pytest.mark.parametrize(
    ("column", "what"),
    [
        (pd.date_range("2020-01-01", periods=300).astype(str), "dates"),
        ([f"name {k}" for k in range(300)], "more than 50 categories"),
        ([f"{k} long texts with eight words or more" for k in range(300)], "texts"),
    ],
)
def test_columns_without_operators_are_refused_by_name(column, what):
    frame, y = table()
    model = tabular_pipeline(**SMALL).fit(frame.assign(other=column), y)
    with pytest.raises(ValueError, match=f"got {what} in 'other'. Leave these columns out"):
        to_onnx(model)


def test_other_transformers_of_columns_are_refused_by_name():
    frame, y = table()
    encoder = make_column_transformer((OneHotEncoder(), ["town"]))
    model = make_pipeline(encoder, LiquidEnsembleClassifier(**SMALL)).fit(frame, y)
    with pytest.raises(ValueError, match="got the transformer 'onehotencoder', OneHotEncoder, in"):
        to_onnx(model)


def test_an_empty_text_as_a_category_is_refused():
    frame, y = table()
    model = tabular_pipeline(**SMALL).fit(frame.fillna({"town": ""}), y)
    with pytest.raises(ValueError, match=r"empty text, which stands for missing .* column 'town'"):
        to_onnx(model)


def test_columns_with_names_of_outputs_are_refused():
    frame, y = table()
    model = tabular_pipeline(**SMALL).fit(frame.rename(columns={"age": "label"}), y)
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


def test_a_model_of_a_file_is_that_of_its_pipeline(streamed):
    frame, _ = table()
    assert_same(streamed.pipeline, frame)
    assert to_onnx(streamed) == to_onnx(streamed.pipeline)


@pytest.mark.parametrize("spelling", [str, lambda b: str(b).lower(), lambda b: str(int(b))])
def test_booleans_have_several_spellings(streamed, spelling):
    frame, _ = table()
    session = session_of(to_onnx(streamed))
    spelled = frame.assign(smokes=frame["smokes"].map(spelling))
    _, probabilities = session.run(None, inputs_of(session, spelled))
    np.testing.assert_allclose(
        probabilities, streamed.pipeline.predict_proba(frame), rtol=0, atol=1e-12
    )
