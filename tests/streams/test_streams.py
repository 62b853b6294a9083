import sys

import pytest

import skliquid


@pytest.mark.parametrize("missing", ["pyarrow", "duckdb"])
def test_without_the_extra_the_error_names_it(monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.delitem(sys.modules, "skliquid.streams", raising=False)
    with pytest.raises(ImportError, match=rf"needs {missing}, .* '\.\[stream\]'"):
        skliquid.train_on  # noqa: B018 (it is imported when asked for)


def test_unknown_names_raise_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'increments_form'"):
        skliquid.increments_form  # noqa: B018 (asking is the test)
