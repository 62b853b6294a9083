import builtins
import subprocess
import sys

import matplotlib as mpl
import pytest

from plotting.records import record_of
from skliquid.plotting import (
    DelegationDisplay,
    SurvivorsDisplay,
    TrainingDisplay,
    WeightFlowDisplay,
)
from skliquid.plotting.style import line_style, style

DISPLAYS = [DelegationDisplay, SurvivorsDisplay, TrainingDisplay, WeightFlowDisplay]


def test_the_style_ends_with_its_context():
    before = dict(mpl.rcParams)
    with style():
        assert mpl.rcParams["font.size"] == 8
        assert mpl.rcParams["svg.hashsalt"] == "skliquid"
    assert dict(mpl.rcParams) == before


def test_lines_differ_in_colour_and_in_dashes_or_markers():
    with style():
        looks = [line_style(k) for k in range(7)]
        assert line_style(7) == looks[0]
    assert len({look["color"] for look in looks}) == 7
    assert len({(str(look["linestyle"]), look["marker"]) for look in looks}) == 7


@pytest.mark.parametrize("display", DISPLAYS)
def test_without_matplotlib_the_error_names_the_extra(display, monkeypatch):
    real_import = builtins.__import__

    def no_matplotlib(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", no_matplotlib)
    needs = rf"^{display.__name__} needs matplotlib.* pip install '\.\[plot\]' in a clone"
    with pytest.raises(ImportError, match=needs):
        display.from_record(record_of([0, 0]))


def test_importing_the_displays_does_not_import_matplotlib():
    code = "import sys, skliquid.plotting; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
