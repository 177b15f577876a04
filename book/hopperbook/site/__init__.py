"""The published book: a Sphinx extension, the pages' scripts and style, building and serving.

=============  ================================================================
html           explorers, figures and self-checks as HTML, answered at build time
renderers      outputs of notebooks as HTML (a plug-in of myst-nb), the explorer directive
pictures       the picture in the first screen of a study page
teaching       three pictures on the front page
course         routes, progress, terms: what makes the pages a course
workshop       handouts and instructors' sheets, made from the studies
study_runs     the parts of the library that each study runs
scenes         interactive mechanisms
stories/       figures that are scrolled through
machine_view   the machine to watch
finder         search entries for messages, options, commands and terms
centers/       the site of another center, whose tool pages are about its machine
assets         files that the pages serve, in a folder named by its hash
engine/        corrections of and additions to Jupyter Book, the engine
editor.mjs     the editor for Python, which bundle.mjs makes one module of
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
