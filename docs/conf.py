"""How the pages are made: ``make docs`` leaves them in ``out/docs``."""

from skliquid import __version__

project = "skliquid"
author = "the skliquid developers"
version = release = __version__

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say it in words
numpydoc_show_class_members = False
suppress_warnings = ["myst.header"]  # tables of the report are third in rank there

html_title = "skliquid"
html_theme = "pydata_sphinx_theme"
html_theme_options = {"show_prev_next": False}
html_sidebars = {"**": []}  # the header has all pages
html_copy_source = False
