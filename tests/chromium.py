"""A real browser for tests: Debian's Chromium, driven by playwright."""

import shutil
import subprocess
from contextlib import contextmanager
from functools import cache

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]

needs_chromium = pytest.mark.usefixtures("chromium")


@cache
def why_it_does_not_start():
    """Return why the browser cannot be used, or "" if it can.

    While it is being installed, its name is there before it starts.
    """
    if CHROMIUM is None:
        return "chromium is not installed"
    words = [CHROMIUM, *FLAGS, "--dump-dom", "data:text/html,<p>started"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"chromium does not start: {error}"
    return "" if "started" in done.stdout else f"chromium does not start: {done.stderr[-200:]}"


@pytest.fixture(scope="session")
def chromium():
    """Skip tests where the browser cannot be used; for conftest.py."""
    if reason := why_it_does_not_start():
        pytest.skip(reason)


@contextmanager
def launched(*more_flags):
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, *more_flags])
        yield browser
        browser.close()
