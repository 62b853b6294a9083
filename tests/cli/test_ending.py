"""Signals at chosen moments: while modules are imported, and outside of the work of a command."""

import signal
import subprocess
import sys

import pytest

from skliquid.cli.ending import Stopped, handled, raise_stopped

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
WHEN_IMPORTED = """
import os, sys

class Signalling:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), {number})

sys.meta_path.insert(0, Signalling())
sys.argv = ["skliquid", "predict", "model", "rows.csv"]
from skliquid.cli import main
main()
"""


@pytest.mark.parametrize(
    ("module", "number"),
    [
        *(("typer", number) for number in SIGNALS),
        *(("numpy", number) for number in SIGNALS),
        ("sklearn.utils._openmp_helpers", signal.SIGINT),
    ],
)
def test_a_signal_during_import_ends_without_a_traceback(module, number):
    code = WHEN_IMPORTED.format(module=module, number=int(number))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (128 + number, "", "Stopped.\n")


@pytest.mark.parametrize("number", SIGNALS)
def test_signals_are_handled_in_a_context_and_as_before_after_it(number):
    before = [signal.getsignal(number) for number in SIGNALS]
    with pytest.raises(Stopped) as caught, handled(raise_stopped):
        signal.raise_signal(number)
    assert caught.value.exit_code == 128 + number
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_signals_that_are_ignored_stay_so_as_under_nohup():
    before, heard = signal.signal(signal.SIGHUP, signal.SIG_IGN), []
    try:
        with handled(lambda number, _: heard.append(number)):
            signal.raise_signal(signal.SIGHUP)
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert heard == [signal.SIGTERM]
