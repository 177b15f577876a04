"""The Markdown of a notebook as its rules need it: headings, lists, links, directives, pictures, bare prose.

Bare prose is text that a reader takes as a sentence of the author. Code, roles
(``{glue:text}`` among them), formulas, the text of links, comments and the
markup of directives are not bare prose.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from markdown_it import MarkdownIt
from mdit_py_plugins.colon_fence import colon_fence_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.myst_role import myst_role_plugin

_MARKDOWN = (
    MarkdownIt("commonmark").enable("table").use(colon_fence_plugin).use(dollarmath_plugin).use(myst_role_plugin)
)
_CODE_DIRECTIVES = (
    "code",
    "code-block",
    "code-cell",
    "literalinclude",
    "math",
    "mermaid",
    "parsed-literal",
    "bibliography",
)


class Directive(NamedTuple):
    """A directive of a Markdown text: its name, the text after it, its options."""

    name: str
    argument: str
    options: dict[str, str]


class Markdown:
    """The parts of a Markdown text to which the rules apply: its headings, items, links, directives, pictures, and its bare prose."""

    def __init__(self, text: str) -> None:
        self.headings: list[tuple[str, str]] = []
        self.items = 0
        self.links = 0
        self.directives: list[Directive] = []
        self.pictures: list[str] = []
        self.prose: list[str] = []
        self._read(text)

    def _read(self, text: str) -> None:
        heading = ""
        for token in _MARKDOWN.parse(text):
            if token.type == "heading_open":
                heading = token.markup
            elif token.type == "list_item_open" and token.level == 1:
                self.items += 1
            elif token.type in ("fence", "colon_fence"):
                self._fence(token.info.strip(), token.content)
            elif token.type == "html_block":
                self._html(token.content)
                self.prose.append(re.sub(r"<!--.*?-->|<[^>]*>", " ", token.content, flags=re.DOTALL))
            elif token.type == "inline":
                if heading:
                    self.headings.append((heading, token.content.strip()))
                    heading = ""
                self._inline(token.children or [])

    def _fence(self, info: str, content: str) -> None:
        named = re.fullmatch(r"\{([^}]+)\}\s*(.*)", info)
        if named is None:
            return
        lines = content.splitlines()
        options = {}
        while lines and (option := re.fullmatch(r"\s*:([\w-]+):\s*(.*)", lines[0])):
            options[option[1]] = option[2]
            lines.pop(0)
        self.directives.append(Directive(named[1], named[2], options))
        if named[1] in ("image", "figure"):
            self.pictures.append(options.get("alt", ""))
        elif named[1] not in _CODE_DIRECTIVES:
            self._read("\n".join([named[2], "", *lines]))

    def _inline(self, tokens: Sequence[Any]) -> None:
        words, in_link = [], 0
        for token in tokens:
            in_link += token.nesting if token.type in ("link_open", "link_close") else 0
            self.links += token.type == "link_open"
            if token.type == "myst_role":
                self.links += bool(re.match(r"doc|ref|numref|cite", token.meta["name"]))
            elif token.type == "image":
                self.pictures.append(token.content)
            elif token.type == "html_inline":
                self._html(token.content)
            elif token.type == "text" and not in_link:
                words.append(token.content)
            # Emphasis does not part a number from its unit; code and line ends do.
            words.append("" if token.type in ("text", "strong_open", "strong_close", "em_open", "em_close") else " ")
        self.prose.append("".join(words))

    def _html(self, html: str) -> None:
        for tag in re.findall(r"<img\b[^>]*>", html):
            alt = re.search(r'\balt="([^"]*)"', tag)
            self.pictures.append(alt[1] if alt else "")


_UNITS = (
    r"[kKMGTPE]i?B(?:/s)?|[kMGT]?bit/s|bytes?|[kMG]Hz|[kMGTPE]?[Ff]lops?(?:/s)?|[GTP]F|[kM]?W|%|percent|ms|us|µs|ns|"
    r"sec(?:onds?)?|min(?:utes?)?|hours?|days?|weeks?|months?|years?|(?:core|node)-hours?"
)
# One-letter units need their space: "the 2010s" is no time in seconds.
_BARE = re.compile(rf"(?<![\w.,-])[-+]?\d[\d.,]*(?:[ \u00a0\u202f-]?(?:{_UNITS})|[ \u00a0\u202f][sh])(?!\w)")


def bare_numbers(markdown: Markdown) -> list[str]:
    """Return the numbers with a unit that are typed into a text's prose."""
    return [match.group() for part in markdown.prose for match in _BARE.finditer(part)]
