"""The display of one prediction."""

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier

from skliquid import LiquidEnsembleClassifier, explain, prune
from skliquid.plotting import DecisionDisplay


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = y.map({0: "malignant", 1: "benign"})
    return LiquidEnsembleClassifier(random_state=0).fit(X, y), X


def widths(ax):
    return [bar.get_width() for bar in ax.patches]


def test_bars_are_probabilities_and_the_largest_contributions(cancer):
    ensemble, X = cancer
    explanation = explain(ensemble, X)
    display = DecisionDisplay.from_estimator(ensemble, X, row=-3, label="malignant")
    of_voters = [one.probabilities[-3, 1] for one in explanation.representatives]
    np.testing.assert_allclose(widths(display.axes_["votes"]), of_voters)
    drawn, own = widths(display.axes_["columns"]), explanation.values[-3, :, 1]
    np.testing.assert_allclose(np.abs(drawn[:8]), np.sort(np.abs(own))[:-9:-1], atol=1e-9)
    np.testing.assert_allclose(sum(drawn), own.sum(), atol=1e-9)
    labels = [text.get_text() for text in display.axes_["columns"].get_yticklabels()]
    first = X.columns[np.abs(own).argmax()]
    assert labels[0].startswith(f"{first} = "[:27])
    assert labels[-1] == "22 other columns"
    title = display.figure_.axes[1].get_title()
    assert title.startswith("Who decided: malignant with probability")


def test_every_voter_is_drawn_on_the_line_of_its_representative(cancer):
    ensemble, X = cancer
    display = DecisionDisplay.from_estimator(ensemble, X)
    path, graph = display.axes_["path"], ensemble.delegation_graph_
    marks = [each for each in path.collections if isinstance(each, PathCollection)]
    places = np.concatenate([np.asarray(each.get_offsets()) for each in marks])
    assert len(places) == graph.n_voters
    assert len(path.lines) == (graph.distances > 0).sum()
    lanes, counts = np.unique(np.round(places[:, 1]), return_counts=True)
    np.testing.assert_array_equal(lanes, np.arange(5))
    np.testing.assert_array_equal(counts, ensemble.estimator_weights_)
    np.testing.assert_array_equal(np.sort(-places[:, 0]), np.sort(graph.distances))


def test_the_most_probable_class_is_drawn_without_a_label():
    X, y = load_iris(return_X_y=True)
    small = prune(RandomForestClassifier(12, random_state=0).fit(X, y), X, y, n_final=2)
    display = DecisionDisplay.from_estimator(small, X, row=149)
    assert display.axes_["votes"].get_xlabel() == "probability of 2"
    assert display.axes_["path"].get_xlabel() == "delegators and representatives"
    assert len(widths(display.axes_["columns"])) == 4


def test_it_draws_into_given_axes(cancer):
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(14, 4))
    display = DecisionDisplay.from_estimator(*cancer, ax=right)
    assert display.figure_ is figure
    assert display.ax_ is right
    assert left.axison


def test_rows_and_labels_must_exist(cancer):
    ensemble, X = cancer
    with pytest.raises(ValueError, match=r"row must be from -569 to 568, .*: got 569\. Give one"):
        DecisionDisplay.from_estimator(ensemble, X, row=569)
    with pytest.raises(ValueError, match=r"label must be one of .*: got 'ill'\. Choose"):
        DecisionDisplay.from_estimator(ensemble, X, label="ill")
