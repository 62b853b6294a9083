"""Tests of pages are skipped unless the browser starts, whatever its name says."""

import chromium
import pytest


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (None, "chromium is not installed"),
        ("/nowhere/chromium", "chromium does not start: [Errno 2]"),
        ("false", "chromium does not start: "),
    ],
)
def test_a_browser_that_does_not_start_is_not_used(monkeypatch, command, reason):
    monkeypatch.setattr(chromium, "CHROMIUM", command)
    assert chromium.why_it_does_not_start.__wrapped__().startswith(reason)
