"""Networks as a reader sees them: groups around a circle, a tree as levels, wide and on a phone, light and dark."""

import pytest

from hopperkit.questions.question import load
from hopperkit.render.page import page_html

# What is not whole inside the drawing, writing below seven pixels, and words that lie on each other.
FAULTS = """svg => {
  const box = svg.getBoundingClientRect(), faults = [];
  const inside = at => at.left >= box.left - 1 && at.right <= box.right + 1 && at.top >= box.top - 1 && at.bottom <= box.bottom + 1;
  const words = [...svg.querySelectorAll("text")].map(text => [text, text.getBoundingClientRect()]);
  for (const shape of svg.querySelectorAll("circle, rect, line, text"))
    if (!inside(shape.getBoundingClientRect())) faults.push(shape.outerHTML);
  for (const [text, at] of words) {
    if (at.height < 7) faults.push(`small: ${text.textContent} ${at.height}`);
    for (const [other, there] of words)
      if (other !== text && at.left < there.right && there.left < at.right && at.top < there.bottom && there.top < at.bottom)
        faults.push(`on each other: ${text.textContent}, ${other.textContent}`);
  }
  return faults;
}"""
# Brightness of what is filled with the color of a switch that the job has, over that of what it lies on.
CONTRAST = """svg => {
  const luminance = color => {
    const [r, g, b] = color.match(/\\d+/g).map(part => (part /= 255) <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const circles = [...svg.querySelectorAll("circle")], groups = circles.filter(circle => circle.querySelector("title"));
  const dots = circles.filter(circle => !circle.querySelector("title") && circle.getAttribute("fill") !== "none");
  const [dark, light] = [dots[0], groups[0]].map(circle => luminance(getComputedStyle(circle).fill));
  return (light + 0.05) / (dark + 0.05);
}"""


@pytest.fixture(scope="module")
def pages():
    question = load("interconnect")
    return {
        name: page_html(question.run(machine=name, pattern="shift"), name) for name in ("lumi-c", "frontera", "aurora")
    }


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_drawings_are_whole_and_can_be_read(browser, pages, width, scheme):
    context = browser.new_context(viewport={"width": width, "height": 850}, color_scheme=scheme)
    page = context.new_page()
    for name, shapes in (("lumi-c", 8), ("aurora", 166), ("frontera", 61)):
        page.set_content(pages[name])
        svg = page.locator("svg").first
        assert svg.evaluate(FAULTS) == []
        # Each group or switch says what it is, each link how full; the whole says itself to who does not see it.
        titled = "circle:has(title), rect:has(title)"
        assert svg.locator(titled).count() == shapes
        assert all("% full" in words for words in svg.locator("line > title").all_text_contents())
        assert svg.get_attribute("role") == "img"
        # The job lies where the answer says.
        held = [
            text
            for text in svg.locator(f":is({titled}) > title").all_text_contents()
            if not text.split(": ")[1].startswith("0 ")
        ]
        assert 0 < len(held) < shapes
    page.set_content(pages["lumi-c"])
    assert page.locator("svg").first.evaluate(CONTRAST) > 4.5
    context.close()
