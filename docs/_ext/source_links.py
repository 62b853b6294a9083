"""Links from the pages of the source back to the API, for names that two modules have.

``sphinx.ext.viewcode`` links to all names of a module as if they were documented in the same
module: ``skliquid.TrainingRecord``, so ``skliquid.IncrementRecord``. Names get such anchors too.
"""

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx


def _add_anchors(_app: Sphinx, page: nodes.document) -> None:
    taken = {
        anchor
        for node in page.findall()
        for anchor in getattr(node, "attributes", {}).get("ids", ())
    }
    for signature in page.findall(addnodes.desc_signature):
        anchor = f"skliquid.{signature.get('fullname')}"
        if signature.get("module", "").startswith("skliquid.") and anchor not in taken:
            signature["ids"].append(anchor)
            taken.add(anchor)


def setup(app: Sphinx) -> dict[str, bool]:
    """Add them when a page is read."""
    app.connect("doctree-read", _add_anchors)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
