"""The published book: a Sphinx extension, the pages' own scripts and style, building and serving.

=============  ================================================================
html           explorers, figures and self-checks as HTML, answered at build time
renderers      outputs of notebooks as HTML (a plug-in of myst-nb)
pictures       the picture in the first screen of each study page
scenes         mechanisms that move, and what they ask the models
machine_view   the machine to watch
reference      the public names of the package
course         routes, progress, terms: what makes the pages a course
own            a center's own site
side_by_side   notebooks and pages, several at a time
assets         what the pages serve themselves, in a folder named by its hash
finishing      what is mended in the engine's pages, and their security policy
extension      the Sphinx extension that joins them
pages.toml     what the pages are made of, and what is done to them
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
