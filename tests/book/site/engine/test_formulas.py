"""Formulas are MathML from the build on: on screen, on paper and for screen readers."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from hopperbook.site.engine.formulas import mathml

# Every command that the pages use.
USED = [
    r"S = 1 / ((1 - p) + p / n)",
    r"p \, f \, \ell \, h > \frac{m}{60}.",
    r"T_\text{packed} \times \left\lfloor \frac{a}{b} \right\rfloor \bmod 4",
    r"\binom{N}{k} \big( 1 + \varepsilon \big) \quad \min(a, b) \cdots \log_2 n",
]


@pytest.mark.parametrize("latex", USED)
def test_a_formula_is_converted_whole(latex):
    converted = mathml(latex, display=True)
    assert converted.startswith('<math display="block">')
    assert "\\" not in converted


@pytest.mark.parametrize("latex", [r"x_1_2", r"\nonsense{x}"])
def test_what_cannot_be_converted_is_refused(latex):
    with pytest.raises(ValueError, match="convert"):
        mathml(latex)


def test_every_formula_of_the_book_stands_in_its_page(site_folder):
    formulas = 0
    for path in site_folder.rglob("*.html"):
        html = path.read_text(encoding="utf-8")
        # The class `mathjax_ignore` of a section is no script.
        scripts = re.findall(r"<script\b.*?</script>", html, re.DOTALL)
        assert not any("mathjax" in script.lower() for script in scripts), path
        for formula in re.findall(r'<(?:span|div) class="math[^>]*>(.*?)</(?:span|div)>', html, re.DOTALL):
            formulas += 1
            assert formula.startswith("<math"), (path, formula[:80])
            assert "\\" not in formula, (path, formula[:80])
    assert formulas >= 100


def test_paper_that_nobody_scrolled_to_shows_formulas(workshop):
    """No script has to run for it."""
    page = workshop.go("book/words.html")
    page.emulate_media(media="print")
    formula = page.locator("math").last
    expect(formula).to_be_visible()
    # The fraction is drawn as one, p above n.
    above, below = (part.bounding_box() for part in formula.locator("mfrac > *").all()[:2])
    assert above["y"] + above["height"] <= below["y"] + 1
    expect(page.get_by_role("math")).to_have_count(2)
