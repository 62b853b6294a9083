import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from skliquid import LiquidEnsembleClassifier

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has none")


class Log:
    """Notes the tasks, and ends delegation after so many increments."""

    def __init__(self, last=None):
        self.begun, self.ended, self.scores, self.last = [], [], [], last

    def setup(self, estimator, context):
        self.begun.append("setup")

    def teardown(self, estimator, context):
        self.ended.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(context.task_name)

    def on_fit_task_end(self, estimator, context, *, X, y, fitted_estimator):
        self.ended.append(context.task_name)
        self.scores.append(fitted_estimator.score(X, y))
        return self.ended.count("increment") == self.last


def small(**options):
    return LiquidEnsembleClassifier(n_estimators=9, n_final=2, random_state=0, **options)


def test_each_increment_and_the_final_fit_are_tasks(binary):
    log = Log()
    ensemble = small().set_callbacks(log).fit(*binary)
    tasks = ["increment"] * 3 + ["final fit"]
    assert log.begun == ["setup", "fit", *tasks]
    assert log.ended == [*tasks, "fit", "teardown"]
    assert log.scores[-1] == ensemble.score(*binary)
    assert log.scores[0] > 0.5


def test_callbacks_do_not_change_the_bits(binary):
    X, y = binary
    watched = small().set_callbacks(Log()).fit(X, y)
    np.testing.assert_array_equal(watched.predict_proba(X), small().fit(X, y).predict_proba(X))


def test_a_callback_can_end_delegation(binary):
    tree = DecisionTreeClassifier(max_depth=3)
    log = Log(last=4)
    ensemble = small(estimator=tree, increment_size=50).set_callbacks(log).fit(*binary)
    assert ensemble.record_.n_increments == 4
    assert log.ended.count("increment") == 4
    assert log.ended[-3:] == ["final fit", "fit", "teardown"]


def test_callbacks_are_torn_down_when_fit_fails(binary):
    class Failing(DecisionTreeClassifier):
        def fit(self, X, y, **options):
            raise RuntimeError("no")

    log = Log()
    with pytest.raises(RuntimeError, match="no"):
        small(estimator=Failing()).set_callbacks(log).fit(*binary)
    assert log.ended == ["teardown"]


def test_a_grid_search_shows_the_progress_of_its_ensembles(binary, capsys):
    search = GridSearchCV(small(), {"n_final": [2, 3]}, cv=2)
    search.set_callbacks(callback.ProgressBar()).fit(*binary)
    assert "LiquidEnsembleClassifier" in capsys.readouterr().out
