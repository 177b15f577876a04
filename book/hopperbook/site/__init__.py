"""The published book: a Sphinx extension, the pages' scripts and style, building and serving.

=============  ================================================================
html           explorers, figures and self-checks as HTML, answered at build time
pictures       the picture in the first screen of a study page
renderers      outputs of notebooks as HTML (a plug-in of myst-nb), the explorer directive
reference      the public names of the package
course         routes, progress, terms: what makes the pages a course
scenes         mechanisms that move
stories/       figures that are scrolled through
machine_view   the machine to watch
centers/       a center's own site, whose tool pages are about its machine
assets         what the pages serve themselves, in a folder named by its hash
finishing      mends of the engine's pages, and the Content-Security-Policy of each
kernels        the kernels of notebooks, forked from one process
editor.mjs     the editor for Python, which bundle.mjs makes one module of
side_by_side   notebooks run, pages read and written several at a time
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
