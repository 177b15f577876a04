"""The reference of the package: autodoc's entries for the public names of every module of a part.

Autodoc handles modules one by one. This lists them, and the definitions of each: a package that re-exports a name of
one of its modules would otherwise document it a second time.
"""

import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from pybtex.plugin import register_plugin
from pybtex.style.formatting.unsrt import Style as Unsorted
from pybtex.style.labels import BaseLabelStyle
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def public_modules(package: str) -> Iterator[tuple[str, Any]]:
    """Yield name and module of a package and all below it that have public names.

    Examples
    --------
    >>> [name for name, _ in public_modules("hopperlib.units")]
    ['hopperlib.units']
    """
    root = importlib.import_module(package)
    yield package, root
    for listed in pkgutil.walk_packages(getattr(root, "__path__", ()), f"{package}."):
        if any(part.startswith("_") for part in listed.name.split(".")):
            continue
        module = importlib.import_module(listed.name)
        if user_names(listed.name, module):
            yield listed.name, module


def user_names(name: str, module: Any) -> list[str]:
    """Return the public functions and classes that a module defines, rather than hands on: those without an underscore.

    Examples
    --------
    >>> from hopperlib import errors
    >>> user_names("hopperlib.errors", errors)
    ['InputError', 'above', 'at_least', 'attributed_to', 'did_you_mean', 'refusal', 'within']
    """
    public = getattr(
        module, "__all__", [public_name for public_name in vars(module) if not public_name.startswith("_")]
    )
    return sorted(
        public_name for public_name in public if getattr(getattr(module, public_name), "__module__", "") == name
    )


class PackageReference(SphinxDirective):
    """Lists the public names of a package. Docstrings are reStructuredText, and so must be the text around them.

    ::

        ```{eval-rst}
        .. package-reference:: hopperlib.placement
        ```
    """

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return a section for each module."""
        try:
            modules = list(public_modules(self.arguments[0]))
        except ImportError as error:
            raise self.error(str(error)) from error
        sections: list[nodes.Node] = []
        for name, module in modules:
            names = user_names(name, module)
            if names:
                section = nodes.section(ids=[nodes.make_id(name)], names=[name])
                section += nodes.title(text=name)
                lines = [f".. automodule:: {name}", f"   :members: {', '.join(names)}", ""]
                self.state.nested_parse(StringList(lines, source=name), self.content_offset, section)
                sections.append(section)
        return sections


def _number_by_docstring(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Format the numbered sources of a docstring as a separate list: as footnotes they would form one set for the page."""
    lines[:] = [re.sub(r"\[(\d+)\]_", r"[\1]", re.sub(r"^\.\. \[(\d+)\]", r":[\1]:", line)) for line in lines]


class KeyLabels(BaseLabelStyle):  # type: ignore[misc]
    """Labels an entry with its key.

    Examples
    --------
    >>> from pybtex.database import Entry
    >>> entry = Entry("misc")
    >>> entry.key = "he2012"
    >>> list(KeyLabels().format_labels([entry]))
    ['he2012']
    """

    def format_labels(self, sorted_entries: Iterable[Any]) -> Iterator[str]:
        """Yield the label of each entry."""
        for entry in sorted_entries:
            yield entry.key


class KeyStyle(Unsorted):  # type: ignore[misc]
    """The order of the file, which begins with the five documents, and keys as labels."""

    default_label_style = KeyLabels


def setup(app: Sphinx) -> None:
    """Add the directive, and what autodoc's entries need."""
    app.add_directive("package-reference", PackageReference)
    register_plugin("pybtex.style.formatting", "keys", KeyStyle, force=True)
    app.connect("autodoc-process-docstring", _number_by_docstring)
