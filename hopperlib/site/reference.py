"""The reference of the package: every public name of a part, with its docstring.

Docstrings are shown as they are written. They hold shapes, units, errors, an
example that the tests run, and the source: nothing is lost by showing them
plainly, and nothing in them can break a page.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

__all__ = ["PackageReference", "public_modules"]


def public_modules(package: str) -> Iterator[tuple[str, Any]]:
    """Yield name and module of a package and all below it that state their public names.

    Examples
    --------
    >>> [name for name, _ in public_modules("hopperlib.units")]
    ['hopperlib.units']
    """
    root = importlib.import_module(package)
    yield package, root
    for found in pkgutil.walk_packages(getattr(root, "__path__", ()), f"{package}."):
        if any(part.startswith("_") for part in found.name.split(".")):
            continue
        module = importlib.import_module(found.name)
        if getattr(module, "__all__", None):
            yield found.name, module


def _signature(name: str, thing: Any) -> str:
    """Return a name with its arguments, without defaults that are objects."""
    if inspect.isclass(thing):
        return f"class {name}"
    if not callable(thing):
        return name
    try:
        # Annotations are kept as text, which shows them in quotes.
        return f"{name}{inspect.signature(thing)}".replace("'", "")
    except (TypeError, ValueError):
        return f"{name}(...)"


def _is_own(thing: Any, module: str) -> bool:
    """Whether a name is defined in the module, rather than handed on by it."""
    return getattr(thing, "__module__", module) == module


class PackageReference(SphinxDirective):
    """Lists the public names of a package: ``{package-reference} hopperlib.node``."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return a section for each module."""
        try:
            modules = list(public_modules(self.arguments[0]))
        except ImportError as error:
            raise self.error(str(error)) from error
        out: list[nodes.Node] = []
        for name, module in modules:
            public = [(one, getattr(module, one)) for one in getattr(module, "__all__", ())]
            public = [(one, thing) for one, thing in public if _is_own(thing, name)]
            if not public:
                continue
            section = nodes.section(ids=[nodes.make_id(name)], names=[name])
            section += nodes.title(text=name)
            about = inspect.getdoc(module) or ""
            section += nodes.paragraph(text=about.split("\n\n")[0].replace("\n", " "))
            for one, thing in public:
                documented = callable(thing) or inspect.isclass(thing)
                text = (inspect.getdoc(thing) if documented else "") or ""
                entry = nodes.definition_list_item()
                entry += nodes.term("", "", nodes.literal(text=_signature(one, thing)))
                body = nodes.definition()
                body += (
                    nodes.literal_block(text, text, language="text") if text else nodes.paragraph(text="A constant.")
                )
                entry += body
                section += nodes.definition_list("", entry)
            out.append(section)
        return out
