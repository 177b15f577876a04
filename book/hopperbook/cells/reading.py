"""Gives Sphinx the notebooks as their pages have them; `hopperbook.site.engine.parallel` runs the same."""

import json
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from hopperbook.cells.plain import for_page


def _read(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put exercises, terms and citations into the text of a notebook."""
    if app.env.doc2path(docname).endswith(".ipynb"):
        try:
            source[0] = json.dumps(for_page(json.loads(source[0])))
        except ValueError as error:
            raise ExtensionError(f"{docname}: {error}") from error


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the event.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> events = {}
    >>> setup(SimpleNamespace(connect=events.__setitem__))["parallel_read_safe"], list(events)
    (True, ['source-read'])
    """
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
