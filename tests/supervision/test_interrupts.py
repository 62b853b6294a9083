import signal
import threading

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from skliquid import LiquidEnsembleClassifier


class Interrupting(DecisionTreeClassifier):
    """A tree that presses Ctrl-C when it sees so many rows, and counts how often."""

    at, presses, pressed = 0, 1, 0

    def fit(self, X, y, **options):
        if len(X) >= Interrupting.at:
            for _ in range(Interrupting.presses - Interrupting.pressed):
                Interrupting.pressed += 1
                signal.raise_signal(signal.SIGINT)
        return super().fit(X, y, **options)


@pytest.fixture
def ctrl_c(monkeypatch):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr(Interrupting, "pressed", 0)

    def at(n_rows, presses=1):
        monkeypatch.setattr(Interrupting, "at", n_rows)
        monkeypatch.setattr(Interrupting, "presses", presses)

    yield at
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def ensemble(**options):
    return LiquidEnsembleClassifier(
        Interrupting(max_depth=3), n_estimators=8, n_final=2, random_state=0, **options
    )


def test_by_default_ctrl_c_raises_and_leaves_no_ensemble(binary, ctrl_c):
    ctrl_c(100)
    interrupted = ensemble(increment_size=50)
    with pytest.raises(KeyboardInterrupt):
        interrupted.fit(*binary)
    assert not hasattr(interrupted, "classes_")


def test_what_was_learned_until_the_increment_is_kept_when_asked_for(binary, ctrl_c, capsys):
    X, y = binary
    ctrl_c(150)
    kept = ensemble(increment_size=50, on_interrupt="keep").fit(X, y)
    assert "interrupt again to stop at once" in capsys.readouterr().out
    assert kept.record_.n_increments == 3
    assert kept.record_.stopped.startswith("Ctrl-C ended delegation after 3 increments with ")
    assert kept.record_.stopped.endswith("; Ctrl-C left no representative with a final fit")
    assert kept.training_cost_.final_fit == 0
    assert kept.score(X, y) > 0.6
    assert kept.predict_proba(X).shape == (len(X), 2)


def test_what_is_kept_is_what_the_same_training_has_at_that_increment(binary, ctrl_c):
    X, y = binary
    ctrl_c(150)
    kept = ensemble(increment_size=50, on_interrupt="keep").fit(X, y)
    ctrl_c(len(X) + 1)
    whole = ensemble(increment_size=50).fit(X, y)
    for mine, theirs in zip(kept.record_, whole.record_, strict=False):
        np.testing.assert_array_equal(mine.graph.delegation, theirs.graph.delegation)
        np.testing.assert_array_equal(mine.accuracy, theirs.accuracy)


def test_an_interrupted_final_fit_leaves_the_voters_as_they_were_before_it(binary, ctrl_c):
    X, y = binary
    ctrl_c(len(X))
    kept = ensemble(increment_size=50, on_interrupt="keep").fit(X, y)
    assert kept.record_.stopped == "Ctrl-C left no representative with a final fit"
    assert kept.training_cost_.final_fit == 0
    assert len(kept.estimators_) == 2
    fitted_rows = {voter.tree_.n_node_samples[0] for voter in kept.estimators_}
    assert max(fitted_rows) < len(X)


def test_a_second_ctrl_c_raises_at_once(binary, ctrl_c):
    ctrl_c(100, presses=2)
    with pytest.raises(KeyboardInterrupt):
        ensemble(increment_size=50, on_interrupt="keep").fit(*binary)


def test_the_bits_are_the_same_without_an_interrupt(binary):
    X, y = binary
    kept = LiquidEnsembleClassifier(on_interrupt="keep", random_state=0).fit(X, y)
    usual = LiquidEnsembleClassifier(random_state=0).fit(X, y)
    np.testing.assert_array_equal(kept.predict_proba(X), usual.predict_proba(X))
    assert kept.record_.stopped is None


def test_another_thread_can_fit(binary):
    fitted = []
    worker = threading.Thread(
        target=lambda: fitted.append(
            LiquidEnsembleClassifier(on_interrupt="keep", random_state=0).fit(*binary)
        )
    )
    worker.start()
    worker.join()
    assert len(fitted[0].estimators_) == 5
