"""Formulas as MathML, made while the book is built: nothing typesets them on the page, and screen readers read them."""

import re
from html import escape
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging

_LOG = logging.getLogger(__name__)


def mathml(latex: str, *, display: bool = False) -> str:
    r"""Return a formula as MathML.

    Parameters
    ----------
    latex : str
        The formula as LaTeX, without the dollar signs.
    display : bool
        Whether it is a display formula.

    Raises
    ------
    ValueError
        If the converter does not support a command, or cannot parse the formula.

    Examples
    --------
    >>> mathml(r"T_\text{packed}")
    '<math><mrow><msub><mi>T</mi><mtext>packed</mtext></msub></mrow></math>'
    >>> mathml(r"\vec{a} \nonsense")
    Traceback (most recent call last):
    ValueError: the formula '\\vec{a} \\nonsense' has commands that cannot be converted: \nonsense
    """
    try:
        converted = convert(latex, display="block" if display else "inline")
    except Exception as error:  # The converter has many exception types without a common base.
        raise ValueError(f"the formula {latex!r} cannot be converted: {error or type(error).__name__}") from error
    # The converter passes unknown commands through.
    if unknown := re.findall(r">(\\[A-Za-z]+)<", converted):
        raise ValueError(f"the formula {latex!r} has commands that cannot be converted: {', '.join(unknown)}")
    return converted.replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "").replace(' display="inline"', "")


def _converted(node: nodes.Element, *, display: bool) -> str:
    """Return the MathML of a node; a formula that cannot be converted causes a warning at its location, and is left
    unchanged.
    """
    try:
        return mathml(node.astext(), display=display)
    except ValueError as error:
        _LOG.warning(str(error), location=node)
        return f"<code>{escape(node.astext())}</code>"


def _visit_math(translator: Any, node: nodes.math) -> None:
    """Write a formula in a line."""
    translator.body.append(f'<span class="math notranslate nohighlight">{_converted(node, display=False)}</span>')
    raise nodes.SkipNode


def _visit_math_block(translator: Any, node: nodes.math_block) -> None:
    """Write a display formula, in a box that scrolls if it is too wide."""
    place = f' id="{node["ids"][0]}"' if node["ids"] else ""
    number = f'<span class="eqno">({node["number"]})</span>' if node["number"] else ""
    box = f'<div class="math notranslate nohighlight"{place}>'
    translator.body.append(f"{box}{number}{_converted(node, display=True)}</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Have all formulas written as MathML."""
    app.add_html_math_renderer("mathml", (_visit_math, None), (_visit_math_block, None))
