"""Thumbnails of the gallery: one panel of the first figure, drawn at the size of a thumbnail."""

import shutil
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from sphinx.application import Sphinx
from sphinx_gallery.scrapers import matplotlib_scraper

_IMAGES = Path("auto_examples", "images")
_INCHES, _DPI = (3.2, 2.1), 200
_PANELS = {"plot_own_mechanism": "Minimum majority", "plot_what_survived": "linear: feature map"}
"""How titles of panels begin, where the largest panel says little."""


def save_figures(
    block: Any, variables: dict[str, Any], gallery: dict[str, Any], **options: Any
) -> str:
    """Save figures as sphinx-gallery does, and the first one of an example as a thumbnail too."""
    numbers, is_first = plt.get_fignums(), not len(variables["image_path_iterator"])
    first = plt.figure(numbers[0]) if numbers else None
    text = str(matplotlib_scraper(block, variables, gallery, **options))
    if first and is_first:
        example = Path(variables["src_file"]).stem
        path = Path(gallery["src_dir"], _IMAGES, "panel", f"sphx_glr_{example}_thumb.png")
        path.parent.mkdir(parents=True, exist_ok=True)
        _draw_panel(first, _PANELS.get(example, ""), path)
    return text


def _draw_panel(figure: Figure, title: str, path: Path) -> None:
    """Draw the largest panel with a title alone, so that its lines and words are large enough."""
    panels = [ax for ax in figure.axes if ax.has_data() and _title(ax).startswith(title)]
    panel = max(panels, key=lambda ax: ax.get_position().width * ax.get_position().height)
    for part in [*figure.axes, *figure.legends, *panel.child_axes]:
        if part is not panel:
            part.remove()
    figure.suptitle("")
    panel.set_title("")
    if len(panel.get_xticks()):
        figure.set_layout_engine("constrained")
        panel.set_subplotspec(GridSpec(1, 1, figure=figure)[0])
        figure.set_size_inches(_INCHES)
        figure.savefig(path, dpi=_DPI)
        return
    if legend := panel.get_legend():  # a graph, whose marks were sized for the figure as it is
        legend.remove()
    panel.set_xlabel("")
    figure.savefig(path, dpi=_DPI, bbox_inches="tight")


def _title(ax: Axes) -> str:
    return ax.get_title() or ax.get_title(loc="left")


def _use_panels(app: Sphinx) -> None:
    images = Path(app.srcdir, _IMAGES)
    for panel in images.glob("panel/*.png"):
        shutil.copy(panel, images / "thumb")


def setup(app: Sphinx) -> dict[str, bool]:
    """Put the panels in the place of the thumbnails, when the gallery is written."""
    app.connect("builder-inited", _use_panels, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
