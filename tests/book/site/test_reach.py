"""Readers with a keyboard, with custom colors, on 320 pixels, with a page twice as large, or on paper."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from tests.book.site.test_pages import EACH_KIND, book_pages

LIVE = (
    "book/index.html",
    "notebooks/node/placement.html",
    "notebooks/failure/diagnosis.html",
    "notebooks/own/your-io.html",
)
# Past the examples of an explorer and what is copied, to its first field.
MOST_TABS = 12
WITHIN = "(part) => Boolean(document.activeElement?.closest(part))"


@pytest.mark.parametrize(
    "path", [LIVE[0], LIVE[1], *(pytest.param(path, marks=pytest.mark.nightly) for path in LIVE[2:])]
)
def test_few_keys_lead_to_the_first_control(watch, site_url, path):
    page = watch(site_url, viewport={"width": 1440, "height": 900}).go(path)
    pressed = 0
    for _ in range(2):
        page.keyboard.press("Tab")
        pressed += 1
    link = page.get_by_role("link", name="Skip to the explorer")
    expect(link).to_be_focused()
    expect(link).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator(".hopper-explorer").first).to_be_in_viewport()
    while not page.evaluate(WITHIN, ".hopper-explorer .hopper-form"):
        page.keyboard.press("Tab")
        pressed += 1
        assert pressed <= MOST_TABS, page.evaluate("document.activeElement.outerHTML.slice(0, 200)")


def test_arrow_keys_move_between_the_examples(watch, site_url):
    page = watch(site_url, viewport={"width": 1440, "height": 900}).go("notebooks/failure/diagnosis.html")
    examples = page.get_by_role("toolbar", name="Settings to try").first.get_by_role("button")
    last = examples.count() - 1
    examples.first.focus()
    for key, at in (
        ("ArrowRight", 1),
        ("ArrowLeft", 0),
        ("ArrowLeft", last),
        ("ArrowRight", 0),
        ("End", last),
        ("Home", 0),
    ):
        page.keyboard.press(key)
        expect(examples.nth(at)).to_be_focused()
    # Only the one that was last in use is reached with Tab.
    page.keyboard.press("ArrowRight")
    assert examples.evaluate_all("buttons => buttons.map((button) => button.tabIndex)") == [-1, 0, *[-1] * (last - 1)]


def test_a_page_without_an_explorer_has_one_skip_link(looking):
    page = looking.go("book/cite.html")
    expect(page.locator(".skip-link a")).to_have_count(1)


# Icons without a color of their own, and what is drawn with a background that the browser takes away.
LOST = """() => {
  const clear = (color) => color === "transparent" || color === "rgba(0, 0, 0, 0)";
  const under = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const { backgroundColor } = getComputedStyle(each);
      if (!clear(backgroundColor)) return backgroundColor;
    }
    return "rgb(255, 255, 255)";
  };
  return [...document.querySelectorAll(".hopper-icon, i.fa-list, i.fa-chevron-down, .hopper-bar-of")]
    .filter((each) => each.checkVisibility())
    .filter((each) => clear(getComputedStyle(each).backgroundColor) || getComputedStyle(each).backgroundColor === under(each.parentElement))
    .map((each) => each.outerHTML.slice(0, 100));
}"""
# Text of a picture in the color of what it stands on.
UNREADABLE = """() => [...document.querySelectorAll(".hopper-drawing svg text, .hopper-plot svg text, .hopper-teaching svg text")]
  .filter((each) => each.checkVisibility())
  .filter((each) => getComputedStyle(each).fill === getComputedStyle(each.closest("svg, .hopper-plot")).backgroundColor)
  .map((each) => each.textContent)"""


# Two pages in every run, in one theme each; all of them in both at night.
FORCED = [(path, theme) for path in (*LIVE[:3], "notebooks/node/memory.html") for theme in ("light", "dark")]
FEW = ((LIVE[0], "light"), (LIVE[1], "dark"))


@pytest.mark.parametrize(
    ("path", "theme"), [pytest.param(*each, marks=() if each in FEW else pytest.mark.nightly) for each in FORCED]
)
def test_nothing_is_lost_in_the_colors_of_the_reader(watch, site_url, path, theme):
    watched = watch(site_url, forced_colors="active", color_scheme=theme, viewport={"width": 1440, "height": 900})
    page = watched.go(path)
    assert page.locator(".hopper-icon").filter(visible=True).count() >= 3
    assert page.evaluate(LOST) == []
    assert page.evaluate(UNREADABLE) == []


PARTS = 4


@pytest.mark.parametrize(
    "part", ["each kind", *(pytest.param(part, marks=pytest.mark.nightly) for part in range(PARTS))]
)
def test_no_page_scrolls_sideways(looking, site_folder, part):
    """320 pixels, and a screen of 1,280 with the page twice as large; a page of each kind, and at night all."""
    wide = {}
    for path in EACH_KIND if part == "each kind" else book_pages(site_folder)[part::PARTS]:
        looking.page.set_viewport_size({"width": 640, "height": 640})
        page = looking.go(path)
        for width in (640, 320):
            page.set_viewport_size({"width": width, "height": 640})
            shown = page.evaluate("document.documentElement.scrollWidth")
            if shown > width:
                wide[path, width] = shown
    assert wide == {}


def test_examples_can_all_be_seen(looking):
    page = looking.page
    page.set_viewport_size({"width": 1440, "height": 900})
    for path in LIVE:
        looking.go(path)
        hidden = page.locator(".hopper-explorer .hopper-examples").evaluate_all(
            """boxes => boxes.filter((box) => box.checkVisibility()).flatMap((box) => [...box.querySelectorAll("button")]
              .filter((each) => each.getBoundingClientRect().right > box.getBoundingClientRect().right + 1)
              .map((each) => each.textContent))"""
        )
        assert hidden == [], path


# The smallest letter of the drawings of nodes that match, as they are shown. [CSS pixels]
LETTERS = """(drawings) => Math.min(...[...document.querySelectorAll(`.hopper-explorer ${drawings}`)]
  .filter((svg) => svg.checkVisibility() && svg.getBoundingClientRect().width > 0)
  .flatMap((svg) => [...svg.querySelectorAll("text")].map((text) =>
    parseFloat(getComputedStyle(text).fontSize) * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width)))"""


@pytest.mark.parametrize("size", [{"width": 1440, "height": 900}, {"width": 390, "height": 844}])
def test_the_drawing_of_eight_numa_nodes_can_be_read(reader, size):
    reader.page.set_viewport_size(size)
    page = reader.go("book/index.html")
    assert page.evaluate(LETTERS, "svg.hopper-banded") >= 8.95
    box = page.locator("#explorer-identify")
    box.evaluate("(box, text) => box.hopperSet({ text })", "#SBATCH -C cpu -N 2 -q regular\nsrun -n 64 -c 2 ./vasp_std")
    expect(box.locator(".hopper-summary")).to_contain_text("4 on each of 8 NUMA nodes")
    assert box.locator("svg.hopper-banded .hopper-node-numa rect").count() == 16
    assert page.evaluate(LETTERS, "svg.hopper-banded") >= 8.95


def test_the_drawing_of_a_node_can_be_read_on_a_phone(reader):
    reader.page.set_viewport_size({"width": 390, "height": 844})
    assert reader.go("notebooks/node/placement.html").evaluate(LETTERS, "svg.hopper-node:not(.hopper-banded)") >= 8.95


def test_numbers_stand_under_each_other(looking, site_folder):
    """In every table of the book columns of numbers are right-aligned."""
    for path in ("book/scorecard.html", "notebooks/network/variability.html", "notebooks/node/memory.html"):
        left = looking.go(path).evaluate(
            """() => [...document.querySelectorAll(".bd-article table")].filter((table) => table.checkVisibility()).flatMap((table) => {
              const rows = [...table.tBodies].flatMap(({ rows }) => [...rows]);
              const columns = Math.max(0, ...rows.map(({ cells }) => cells.length));
              return Array.from({ length: columns }, (_, i) => rows.map(({ cells }) => cells[i]).filter((cell) => cell?.textContent.trim()))
                .filter((cells) => cells.length > 1 && cells.every((cell) => /^[−-]?[\\d,.]+( ?%)?$/.test(cell.textContent.trim())))
                .filter((cells) => cells.some((cell) => getComputedStyle(cell).textAlign !== "right" && getComputedStyle(cell).textAlign !== "end"))
                .map((cells) => `${table.textContent.trim().slice(0, 40)}: ${cells[0].textContent.trim()}`);
            })"""
        )
        assert left == [], path


def test_axes_are_named_in_words(site_folder):
    """No chart of a study shows the name of a column at its axis."""
    charts = 0
    for path in sorted((site_folder / "notebooks").glob("*/*.html")):
        for block in re.findall(
            r'<div class="hopper-alone".*?<script[^>]*>(.*?)</script>', path.read_text(encoding="utf-8"), re.DOTALL
        ):
            layout = json.loads(block)["figure"]["layout"]
            titles = [axis.get("title", {}) for name, axis in layout.items() if re.match("[xy]axis", name)]
            charts += 1
            words = [title["text"] for title in titles if isinstance(title, dict) and "text" in title]
            assert [each for each in words if re.fullmatch(r"[a-z]\w*", each)] == [], path
    assert charts > 60
