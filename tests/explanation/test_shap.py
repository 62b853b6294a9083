"""What shap takes, and what it refuses."""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_iris

from skliquid import LiquidEnsembleClassifier, explain

shap = pytest.importorskip("shap")


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])
    return LiquidEnsembleClassifier(random_state=0).fit(X, names[y]), X


def test_waterfalls_end_at_the_probability(iris):
    ensemble, X = iris
    given = explain(ensemble, X).to_shap("virginica")
    assert isinstance(given, shap.Explanation)
    assert given.feature_names == X.columns.tolist()
    np.testing.assert_array_equal(given.data, X)
    ends = given.base_values + given.values.sum(axis=1)
    np.testing.assert_allclose(ends, ensemble.predict_proba(X)[:, 2], atol=1e-6)
    shap.plots.waterfall(given[120], show=False)
    ticks = " ".join(text.get_text() for text in plt.gcf().findobj(plt.Text))
    assert f"{ends[120]:.3f}".rstrip("0") in ticks
    plt.close("all")


def test_without_a_label_it_has_all_classes_or_the_second_of_two(iris):
    ensemble, X = iris
    explanation = explain(ensemble, X)
    all_classes = explanation.to_shap()
    np.testing.assert_array_equal(all_classes.values, explanation.values)
    one = all_classes[:, :, 1]
    np.testing.assert_array_equal(one.values, explanation.values[:, :, 1])
    two = LiquidEnsembleClassifier(random_state=0).fit(X[:100], np.arange(100) // 50)
    explanation = explain(two, X)
    np.testing.assert_array_equal(explanation.to_shap().values, explanation.values[:, :, 1])


def test_shap_refuses_ensembles_and_explains_their_functions(iris):
    ensemble, X = iris
    with pytest.raises(Exception, match="Model type not yet supported by TreeExplainer"):
        shap.TreeExplainer(ensemble)
    with pytest.raises(TypeError, match="The passed model is not callable"):
        shap.Explainer(ensemble, X)
    found = shap.Explainer(ensemble.predict_proba, X)(X[:2])
    ends = found.base_values + found.values.sum(axis=1)
    np.testing.assert_allclose(ends, ensemble.predict_proba(X[:2]), atol=1e-6)


def test_the_extra_is_named_where_shap_is_missing(iris, monkeypatch):
    ensemble, X = iris
    monkeypatch.setitem(sys.modules, "shap", None)
    explanation = explain(ensemble, X)
    with pytest.raises(ImportError, match=r"to_shap needs shap, .* \(extra 'explain'\)"):
        explanation.to_shap()
