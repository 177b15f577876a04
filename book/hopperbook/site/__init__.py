"""The published book: a Sphinx extension, the pages' own scripts and style, building and serving.

=============  ================================================================
html           explorers, figures and self-checks as HTML, answered at build time
renderers      outputs of notebooks as HTML (a plug-in of myst-nb)
directives     the explorer directive, for pages that are no notebooks
reference      the public names of the package
course         routes, progress, terms: what makes the pages a course
assets         what the pages serve themselves, in a folder named by its hash
policy         the Content-Security-Policy of every page
mending        faults of the engine's pages, put right
extension      the Sphinx extension that joins them
browser/       scripts and style of the pages
templates/     HTML of explorers, figures and self-checks
theme/         the theme's parts that differ from sphinx-book-theme
=============  ================================================================
"""

from typing import Any

__all__ = ["setup"]


def setup(app: Any) -> dict[str, Any]:
    """Set up the Sphinx extension; see `hopperbook.site.extension`."""
    from hopperbook.site.extension import setup as set_up_extension

    return set_up_extension(app)
