"""The `{explorer}` directive: an explorer on a page that is no notebook."""

from __future__ import annotations

from typing import Any, ClassVar

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from hopperlib.errors import InputError
from hopperlib.site.renderers import explorer_nodes

__all__ = ["ExplorerDirective"]


class _AnyOption(dict[str, Any]):
    """Options named as the explorer's controls are, which differ from one explorer to the next."""

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, name: str) -> Any:
        return str

    def __contains__(self, name: object) -> bool:
        return True


class ExplorerDirective(SphinxDirective):
    """Shows an explorer of the catalogue; its options set the values it starts with.

    ::

        ```{explorer} place
        :line: aprun -n 384 -N 12 vasp
        ```
    """

    required_arguments = 1
    option_spec: ClassVar[Any] = _AnyOption()

    def run(self) -> list[nodes.Node]:
        """Return the explorer's HTML, or an error that names what is wrong."""
        try:
            return [*explorer_nodes(self.state.document, self.arguments[0], self.options)]
        except InputError as error:
            raise self.error(error.message) from error
