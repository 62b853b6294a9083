"""Pages without leftovers: of examples as doctest needs them, and of sources that are gone."""

import re
import shutil
from pathlib import Path

from sphinx.application import Sphinx

_LINE_THAT_ENDS_AN_OUTPUT = re.compile(r"\n\n(?=[ ]*```[ ]*(?:\n|$))")
"""Doctest reads an output until the next empty line, so examples end with one."""


def _close_examples(_app: Sphinx, _name: str, source: list[str]) -> None:
    source[0] = _LINE_THAT_ENDS_AN_OUTPUT.sub("\n", source[0])


def _forget_pages_of_the_source(app: Sphinx) -> None:
    """Have the pages of the source written again, whose links depend on other pages."""
    shutil.rmtree(Path(app.outdir, "_modules"), ignore_errors=True)


def _remove_stale_pages(app: Sphinx, exception: Exception | None) -> None:
    """Remove pages of an earlier build whose source was renamed or removed."""
    if exception or app.builder.name != "html":
        return
    made_by_sphinx = {"genindex", "py-modindex", "search"}
    for page in Path(app.outdir).rglob("*.html"):
        name = page.relative_to(app.outdir).with_suffix("").as_posix()
        is_ours = (
            name.startswith(("_static/", "_modules/", "_downloads/")) or name in made_by_sphinx
        )
        if not is_ours and name not in app.env.found_docs:
            page.unlink()


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect them to the build."""
    app.connect("builder-inited", _forget_pages_of_the_source)
    app.connect("source-read", _close_examples)
    app.connect("build-finished", _remove_stale_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
