"""The replay on the first page: a training of today's library, as one page of its own."""

from pathlib import Path

from sphinx.application import Sphinx

import skliquid

_SOURCES = Path(skliquid.__file__).parent


def _write_replay(app: Sphinx, exception: Exception | None) -> None:
    """Train and write the replay, unless the one that is there is newer than the library."""
    page = Path(app.outdir, "_static", "replay.html")
    if exception or app.builder.name != "html" or _is_current(page):
        return
    page.parent.mkdir(parents=True, exist_ok=True)
    skliquid.replay(_trained(), page)


def _is_current(page: Path) -> bool:
    sources = [path for path in _SOURCES.rglob("*") if path.suffix in (".py", ".html", ".js")]
    newest = max(path.stat().st_mtime for path in sources)
    return page.exists() and page.stat().st_mtime > newest


def _trained() -> skliquid.LiquidEnsembleClassifier:
    """Return an ensemble of many voters of all kinds, trained in eight increments."""
    heart = skliquid.datasets.load_dataset("heart", as_frame=True)
    settings = {"n_estimators": 60, "n_final": 6, "increment_size": 36, "random_state": 0}
    return skliquid.LiquidEnsembleClassifier(**settings).fit(heart.X, heart.y)


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the replay when all pages are written."""
    app.connect("build-finished", _write_replay)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
