"""Docstrings on the pages of the reference: markup that docutils complains about stops the build, and fails here first."""

from __future__ import annotations

import inspect
import re

import pytest
from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.parsers.rst import Directive, Parser, directives, roles
from docutils.utils import new_document
from sphinx.ext.napoleon import Config, NumpyDocstring

from hopperbook.site.engine.reference import _number_by_docstring, public_modules, user_names

# As in book/_config.yml.
CONFIG = Config(napoleon_google_docstring=False, napoleon_use_param=False, napoleon_use_rtype=False)
# Of Sphinx; whether they lead somewhere is checked when the book is built.
ROLES = ("class", "func", "meth", "mod", "attr", "data", "exc", "obj", "term", "doc", "ref", "cite", "cite:p")


def complaints(docstring, what="function", name="f", thing=None):
    """Return docutils' messages on a docstring in the form of autodoc."""
    settings = get_default_settings(Parser)
    settings.report_level, settings.halt_level, settings.warning_stream = 5, 5, False
    document = new_document(name, settings)
    converted = NumpyDocstring(inspect.cleandoc(docstring), CONFIG, what=what, name=name, obj=thing).lines()
    _number_by_docstring(None, what, name, thing, None, converted)
    Parser().parse("\n".join(converted), document)
    return [message.astext() for message in document.findall(nodes.system_message) if message["level"] >= 2]


def documented(packages):
    """Yield name, kind, object and docstring of all that autodoc shows of packages."""
    for module_name, module in (pair for package in packages for pair in public_modules(package)):
        yield module_name, "module", module, module.__doc__
        for name in user_names(module_name, module):
            thing = getattr(module, name)
            kind = "class" if inspect.isclass(thing) else "function"
            yield f"{module_name}.{name}", kind, thing, thing.__doc__
            for part, member in vars(thing).items() if kind == "class" else ():
                if not part.startswith("_") and isinstance(getattr(member, "__doc__", None), str):
                    yield f"{module_name}.{name}.{part}", "method", member, member.__doc__


class Attribute(Directive):
    """Napoleon's output for each row of a table of attributes."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True

    def run(self):
        part = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, part)
        return [part]


@pytest.fixture(autouse=True)
def _sphinx_words(monkeypatch):
    """The roles of Sphinx, as plain words, and the one directive of it that docstrings become."""
    monkeypatch.setattr(directives, "_directives", directives._directives | {"attribute": Attribute})
    monkeypatch.setattr(roles, "_roles", dict(roles._roles))
    for name in ROLES:
        roles.register_local_role(name, roles.GenericRole(name, nodes.emphasis))


@pytest.mark.parametrize(
    ("docstring", "complaint"),
    [
        ("Return.\n\nParameters\n----------\nname : str\n    A *name.\n", "Inline emphasis start-string"),
        ("Return.\n\n- one\n- two\nmore\n", "Bullet list ends without a blank line"),
        ("Return.\n\n=====  ===\na      one\nlonger than its column\n=====  ===\n", "Malformed table"),
        ("Return.\n\n    One.\n  Two.\n", "unindent"),
        ("Return ``name.\n", "Inline literal start-string"),
    ],
)
def test_a_broken_docstring_is_found(docstring, complaint):
    assert any(complaint in each for each in complaints(docstring))


def test_every_docstring_of_the_reference_is_well_formed(root):
    pages = sorted((root / "book").glob("api*.md"))
    packages = [name for page in pages for name in re.findall(r"package-reference:: (\S+)", page.read_text("utf-8"))]
    assert len(packages) > 15
    wrong, shown = {}, 0
    for name, kind, thing, docstring in documented(packages):
        shown += docstring is not None
        if found := complaints(docstring or "", kind, name, thing):
            wrong[name] = found
    assert wrong == {}
    assert shown > 2000
