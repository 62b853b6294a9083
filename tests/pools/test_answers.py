import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import RadiusNeighborsClassifier

from skliquid import LiquidEnsembleClassifier, prune
from skliquid.pools.answers import votes_of


class Says:
    def __init__(self, labels):
        self.labels = labels

    def predict(self, X):
        return self.labels


def votes(labels, classes, n_rows=3):
    return votes_of(Says(labels), np.zeros((n_rows, 1)), classes).tolist()


@pytest.mark.parametrize(
    ("classes", "labels"),
    [
        (np.array([3, 5]), np.array([5, 3, 5])),
        (np.array([3, 5]), np.array([5.0, 3.0, 5.0])),
        (np.array([3, 5]), np.array([5, 3, 5], dtype=object)),
        (np.array([3, 5]), pd.Series([5, 3, 5], dtype="Int64")),
        (np.array([3.0, 5.0]), np.array([5, 3, 5], dtype=np.uint8)),
        (np.array([False, True]), np.array([True, False, True])),
        (np.array([False, True]), np.array([1, 0, 1])),
        (np.array(["ja", "nein"]), np.array(["nein", "ja", "nein"], dtype="<U9")),
        (np.array(["ja", "nein"]), np.array(["nein", "ja", "nein"], dtype=object)),
        (np.array(["ja", "nein"], dtype=object), np.array(["nein", "ja", "nein"])),
        (np.array(["ja", "nein"]), pd.Categorical(["nein", "ja", "nein"])),
        (np.array([3, 5]), [[5], [3], [5]]),
        (np.array(["ja", "nein"]), pd.DataFrame({"y": ["nein", "ja", "nein"]})),
    ],
)
def test_labels_are_found_among_the_classes(classes, labels):
    assert votes(labels, classes) == [1, 0, 1]


@pytest.mark.parametrize(
    ("classes", "label"),
    [
        (np.array([3, 5]), 4),
        (np.array([3, 5]), 2),
        (np.array([3, 5]), 6),
        (np.array([3, 5]), np.nan),
        (np.array([3, 5]), "5"),
        (np.array([3, 5]), None),
        (np.array([False, True]), 2),
        (np.array([False, True]), "True"),
        (np.array(["ja", "nein"]), "nei"),
        (np.array(["ja", "nein"]), "neins"),
        (np.array(["ja", "nein"], dtype=object), np.nan),
        (np.array(["ja", "nein"], dtype=object), pd.NA),
    ],
)
def test_labels_that_are_no_class_are_refused(classes, label):
    with pytest.raises(ValueError, match=r"known classes only: Says predicts .* is not among \["):
        votes([label], classes, n_rows=1)


@pytest.mark.parametrize("shape", [(), (2,), (1, 3), (3, 2), (3, 1, 1)])
def test_there_is_one_label_for_each_row(shape):
    with pytest.raises(ValueError, match="one label for each row: Says gives an array of shape"):
        votes(np.ones(shape), np.array([0, 1]))


@pytest.mark.parametrize("outlier", [-1, 99])
@pytest.mark.filterwarnings("ignore:Outlier label")
def test_outliers_are_no_class_of_an_ensemble(multiclass, outlier):
    X, y = multiclass
    voter = RadiusNeighborsClassifier(radius=20.0, outlier_label=outlier)
    options = {"voting": "hard", "competence": "prequential"}
    trained = LiquidEnsembleClassifier(voter, n_estimators=3, n_final=2, **options).fit(X, y)
    pruned = prune([voter.fit(X, y)], X, y, n_final=1, **options)
    for ensemble in (trained, pruned):
        with pytest.raises(ValueError, match=f"RadiusNeighborsClassifier predicts {outlier}, "):
            ensemble.predict_proba(100 * X)
