"""The site as ``make docs`` leaves it: its links, its API, and every page in a real browser."""

import os
import zlib
from functools import cache, partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import ModuleType
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
from chromium import launched, needs_chromium

import skliquid

SITE = Path(__file__).parent.parent / "out" / "docs"
PAGES = sorted(
    path.relative_to(SITE).as_posix()
    for path in SITE.rglob("*.html")
    if path.parent.name not in ("_downloads", "_static") or path.name == "replay.html"
)
WIDTHS = (1400, 400)
TIMEOUT = 20_000

CUT = """
[...document.querySelectorAll('main :is(p, li, dt, dd, table, pre, img, svg, iframe, math)')]
.filter(element => {
  if (element.getBoundingClientRect().right <= window.innerWidth + 1) return false;
  for (let part = element; part && part.tagName != 'ARTICLE'; part = part.parentElement)
    if (['auto', 'scroll'].includes(getComputedStyle(part).overflowX)) return false;
  return element.checkVisibility();
}).map(element => element.outerHTML.slice(0, 200))
"""
"""What reaches beyond the screen, and cannot be scrolled to."""

pytestmark = [
    pytest.mark.site,
    pytest.mark.skipif(not PAGES, reason="the site is not built: run 'make docs'"),
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning"),
]


class _Parts(HTMLParser):
    """The ids of a page, and what it refers to."""

    def __init__(self):
        super().__init__()
        self.ids, self.targets = {"", "top"}, set()

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("id", "name"):
                self.ids.add(value)
            elif name in ("href", "src") and value is not None:
                self.targets.add(value)


@cache
def parts_of(path):
    parts = _Parts()
    parts.feed(path.read_text(encoding="utf-8"))
    return parts


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_pages_and_headings_that_there_are(page):
    broken = []
    for target in parts_of(SITE / page).targets:
        address, anchor = urldefrag(target)
        if urlsplit(address).scheme or address.startswith("//"):
            continue
        path = (SITE / page).parent / unquote(urlsplit(address).path) if address else SITE / page
        is_there = path.exists() and (path.suffix != ".html" or anchor in parts_of(path).ids)
        # the replay reads its anchor as an option
        if not is_there and not (path.exists() and path.name == "replay.html"):
            broken.append(target)
    assert broken == []


def test_the_api_has_every_public_name():
    *_, packed = (SITE / "objects.inv").read_bytes().split(b"\n", 4)
    documented = {line.split(" ")[0] for line in zlib.decompress(packed).decode().splitlines()}
    for name in skliquid.__all__:
        is_module = isinstance(getattr(skliquid, name), ModuleType)
        prefix = f"skliquid.{name}." if is_module else f"skliquid.{name}"
        assert any(other.startswith(prefix) for other in documented), f"{name} is not in the API"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def address():
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(SITE)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


class _Tab:
    """A tab of the browser that remembers what went wrong, and which other hosts were asked."""

    def __init__(self, page, address):
        self.page, self.address, self.faults = page, address, []
        page.set_default_timeout(TIMEOUT)
        page.on("pageerror", lambda error: self.faults.append(f"script: {error}"))
        page.on("console", self._hear)
        page.on("response", self._check)
        page.on("request", self._note)

    def _hear(self, message):
        if message.type in ("error", "warning"):
            self.faults.append(f"console: {message.text}")

    def _check(self, response):
        if response.status >= 400:
            self.faults.append(f"{response.status}: {response.url}")

    def _note(self, request):
        if not request.url.startswith((self.address, "data:", "blob:", "about:")):
            self.faults.append(f"outside: {request.url}")

    def open(self, path):
        self.faults.clear()
        self.page.goto(f"{self.address}/{path}")
        return self.page


@pytest.fixture(scope="module")
def tab(address):
    with launched("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1") as browser:
        yield _Tab(browser.new_page(), address)


@needs_chromium
@pytest.mark.parametrize("path", PAGES)
def test_a_page_fits_wide_and_narrow_screens_and_asks_nobody_else(path, tab):
    page = tab.open(path)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        overflow = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert overflow <= 0, f"{path} is {overflow} pixels too wide for {width}"
        assert page.evaluate(CUT) == []
        if folder := os.environ.get("SKLIQUID_SCREENSHOTS"):
            page.screenshot(path=f"{folder}/{path.replace('/', '_')}_{width}.png", full_page=True)
    assert tab.faults == []


@needs_chromium
def test_search_finds_concept_drift(tab):
    page = tab.open("index.html")
    page.set_viewport_size({"width": WIDTHS[0], "height": 900})
    page.keyboard.press("Control+k")
    page.keyboard.type("concept drift")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=concept+drift*")
    page.wait_for_selector("#search-results a[href*='drift.html']")
    assert page.locator("#search-results li").count() > 3
    assert tab.faults == []


@needs_chromium
def test_the_first_page_replays_a_training(tab):
    page = tab.open("index.html")
    page.set_viewport_size({"width": WIDTHS[0], "height": 900})
    replay = page.frame_locator(".replay iframe")
    replay.locator("#canvas").wait_for()
    before = replay.locator("#progress").get_attribute("style")
    page.wait_for_timeout(500)
    assert replay.locator("#progress").get_attribute("style") != before
    assert tab.faults == []
