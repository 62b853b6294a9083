"""How the site is made: ``make docs`` leaves it in ``out/docs``."""

import os
import sys
import tempfile
from pathlib import Path

from skliquid import __version__

_written = Path(tempfile.gettempdir(), "skliquid-docs")  # files of examples
_written.mkdir(exist_ok=True)
sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "skliquid"
author = copyright = "the skliquid developers"  # noqa: A001, Sphinx's name for it
version = release = __version__

extensions = [
    "gallery_thumbnails",
    "live_replay",
    "mathml",
    "source_links",
    "tidy_pages",
    "matplotlib.sphinxext.plot_directive",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["**/sg_execution_times.rst", "sg_execution_times.rst", "**/*.ipynb"]
suppress_warnings = ["myst.header"]  # tables of the report are third in rank there

myst_enable_extensions = ["attrs_block", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say it in words
toc_object_entries_show_parents = "hide"
autosummary_generate = False  # its tables link to the pages of api/
numpydoc_show_class_members = False
plot_html_show_formats = plot_html_show_source_link = False
plot_formats = [("png", 180)]
plot_rcparams = {"figure.figsize": (6.4, 4.0), "figure.constrained_layout.use": True}
plot_apply_rcparams = True
plot_working_directory = str(_written)
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_title = "skliquid"
html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["skliquid.css"]
html_favicon = "_static/logo.svg"
html_math_renderer = "mathml"
html_baseurl = os.environ.get("SKLIQUID_SITE", "")  # its address, where it is published
html_copy_source = False
html_show_sourcelink = False
html_context = {"default_mode": "auto"}
html_sidebars = {"index": [], "search": [], "genindex": []}
html_theme_options = {
    "logo": {
        "image_light": "_static/logo.svg",
        "image_dark": "_static/logo.svg",
        "text": "skliquid",
    },
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "show_toc_level": 2,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
if repository := os.environ.get("GITHUB_REPOSITORY"):  # known where the site is published
    html_theme_options["github_url"] = f"https://github.com/{repository}"

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": "/plot_",
    "ignore_pattern": "^(?!plot_)",  # scripts that take minutes
    "within_subsection_order": "gallery_order.InTheOrderOfReading",
    "abort_on_example_error": True,
    "thumbnail_size": (640, 420),
    "default_thumb_file": str(Path(__file__).parent / "_static" / "replay.png"),
    "ignore_repr_types": r"matplotlib|Display",
    "image_scrapers": ("gallery_thumbnails.save_figures",),
    "image_srcset": ["2x"],
    "doc_module": ("skliquid",),
    "backreferences_dir": "auto_examples/backreferences",
    "remove_config_comments": True,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 1e9,  # what an example takes on another machine says nothing
}
