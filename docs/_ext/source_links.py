"""Links for names that two modules have, such as ``Mechanism``.

Docstrings refer to a name where the source has it, and the API documents it where users import it:
such references are resolved by the name alone. The other way round, ``sphinx.ext.viewcode`` links
from the source to all names of a module as if they were documented in one module, so names get an
anchor for that.
"""

from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.nodes import make_refnode


def _resolve(
    app: Sphinx, env: BuildEnvironment, reference: addnodes.pending_xref, text: nodes.Element
) -> Any:
    """Return a link to the only documented name that ends like the reference, if there is one."""
    if reference.get("refdomain") != "py" or reference["reftarget"].startswith("sklearn."):
        return None
    name = reference["reftarget"].rpartition(".")[2]
    documented = env.get_domain("py").objects
    found = [full for full in documented if full.rpartition(".")[2] == name]
    if len(found) != 1:
        return None
    target = documented[found[0]]
    page, anchor = target.docname, target.node_id
    return make_refnode(app.builder, reference["refdoc"], page, anchor, text, found[0])


def _add_anchors(_app: Sphinx, page: nodes.document) -> None:
    elements = page.findall(nodes.Element)
    taken = {anchor for element in elements for anchor in element.get("ids", ())}
    for signature in page.findall(addnodes.desc_signature):
        anchor = f"skliquid.{signature.get('fullname')}"
        if signature.get("module", "").startswith("skliquid.") and anchor not in taken:
            signature["ids"].append(anchor)
            taken.add(anchor)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect both to the build."""
    app.connect("missing-reference", _resolve)
    app.connect("doctree-read", _add_anchors)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
