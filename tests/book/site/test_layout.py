"""Every page of the book, checked once per size: it obeys the common rules, a control and its effect are
on screen together, and no page is too long."""

from __future__ import annotations

import pytest

from tests.book.site.conftest import SAVES_DATA
from tests.book.site.test_pages import EACH_KIND, book_pages, examine, in_the_other_theme

# So few pages a test that each fits its limit on a busy machine.
PARTS, PARTS_OF_KINDS = 30, 6

SIZES = {"wide": {"width": 1440, "height": 900}, "phone": {"width": 390, "height": 844}}

# With everything folded. [CSS pixels]
LONGEST = {"wide": 8000, "phone": 10_000}
LONGEST_OWN = 9000
# Pages whose colors, which take half the time, are looked at in every run, in the dark too; those of all are at night.
COLORED = (
    *("book/index.html", "book/scorecard.html", "notebooks/node/placement.html", "notebooks/network/variability.html"),
    "notebooks/failure/diagnosis.html",
)

# Brings each control on screen as little as it takes, as a reader does, and lists those that are then covered, or
# that leave less than this share of the first picture on screen. A question without a picture answers in its sentence.
LEAST_SEEN = 0.8
# Explorers as they start, the controls of a phone folded, that are taller than the screen.
TALL = """() => {
  for (const fold of document.querySelectorAll("details:has(.hopper-explorer)")) fold.open = true;
  const shown = [...document.querySelectorAll(".hopper-explorer")].filter((box) => box.checkVisibility());
  return shown.filter(({ offsetHeight }) => offsetHeight > innerHeight).map((box) => [box.dataset.name, box.offsetHeight]);
}"""
MOVED = """(least) => {
  const part = (rect) => Math.max(0, Math.min(innerHeight, rect.bottom) - Math.max(0, rect.top)) / rect.height;
  const lost = [];
  for (const fold of document.querySelectorAll("details:has(.hopper-explorer)")) fold.open = true;
  for (const box of document.querySelectorAll(".hopper-explorer")) {
    if (!box.parentElement.checkVisibility()) continue; // It waits behind a tab.
    const sentence = box.querySelector(".hopper-summary");
    const stays = getComputedStyle(sentence).bottom === "0px"; // Below a form that comes first.
    const picture = (!stays && box.querySelector(".hopper-drawing svg, .hopper-plot")) || sentence;
    const all = box.querySelector(".hopper-all[aria-expanded=false]");
    if (all?.checkVisibility()) all.click();
    for (const field of box.querySelectorAll("[data-control] [name]")) {
      box.scrollIntoView({ block: "start", behavior: "instant" });
      field.scrollIntoView({ block: "nearest", behavior: "instant" });
      const { x, y, width, height } = field.getBoundingClientRect();
      const on = document.elementFromPoint(x + width / 2, y + Math.min(height, 40) / 2);
      const seen = part(picture.getBoundingClientRect());
      if (seen < least || !field.contains(on)) {
        lost.push(`${box.dataset.name} ${field.name}: ${Math.round(100 * seen)} % of the picture, at ${Math.round(y)} on ${on?.className}`);
      }
    }
  }
  return lost;
}"""


def is_short(page, path, size):
    """A page is not too long with everything folded, no wider than the screen, and shows its subject at once."""
    if path.startswith("notebooks/"):
        longest = LONGEST_OWN if path.startswith("notebooks/own/") else LONGEST[size]
        # A figure that is scrolled through is a page in itself.
        scrolled = page.evaluate("[...document.querySelectorAll('.hopper-story')].map((story) => story.offsetHeight)")
        assert all(height <= 12 * SIZES[size]["height"] for height in scrolled), (path, scrolled)
        assert page.evaluate("document.querySelector('.bd-article').offsetHeight") - sum(scrolled) <= longest, path
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"], path
    # A handout is two pages of paper, whose picture has its place there.
    for picture in page.locator(".hopper-phenomenon").all() if not path.startswith("handouts/") else ():
        box = picture.bounding_box()
        assert box["y"] + box["height"] <= SIZES[size]["height"], path
    assert page.evaluate(TALL) == [], (path, size)


@pytest.mark.parametrize("part", range(PARTS_OF_KINDS))
def test_a_page_of_each_kind(looking, site_folder, axe, part):
    assert set(EACH_KIND) <= set(book_pages(site_folder))
    look_at(looking, axe, EACH_KIND[part::PARTS_OF_KINDS])


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(PARTS))
def test_pages_of_the_book(looking, site_folder, axe, part):
    look_at(looking, axe, [path for path in book_pages(site_folder) if path not in EACH_KIND][part::PARTS])


def look_at(looking, axe, pages):
    """Look at pages, light on a wide screen, then as on a phone; those of the workshop are opened on both."""
    page = looking.page
    for path in pages:
        page.set_viewport_size(SIZES["wide"])
        examine(looking, path, axe, colors=path in COLORED)
        is_short(page, path, "wide")
        assert page.evaluate(MOVED, LEAST_SEEN) == [], (path, "wide")
        page.set_viewport_size(SIZES["phone"])
        # Reopened if there are explorers or questions, because folding happens there at the start.
        if page.locator(".hopper-explorer, .hopper-check").count():
            looking.go(path)
        is_short(page, path, "phone")
        assert page.evaluate(MOVED, LEAST_SEEN) == [], (path, "phone")
        if path in COLORED:
            page.evaluate(axe)
            in_the_other_theme(looking, "dark")
            page.emulate_media(color_scheme="light")


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(PARTS))
def test_pages_of_the_book_opened_on_a_phone(watch, site_url, site_folder, axe, part):
    watched = watch(site_url, viewport=SIZES["phone"], color_scheme="dark")
    watched.page.add_init_script(SAVES_DATA)
    watched.unfolds = False
    for path in book_pages(site_folder)[part::PARTS]:
        examine(watched, path, axe)
        is_short(watched.page, path, "phone")
        assert watched.page.evaluate(MOVED, LEAST_SEEN) == [], path


def test_on_a_phone_the_box_for_anything_stands_above_its_answer(reader):
    reader.page.set_viewport_size(SIZES["phone"])
    page = reader.go("book/index.html")
    box = page.locator("#explorer-identify")
    text, sentence, picture = (box.locator(part).first for part in ("textarea", ".hopper-summary", ".hopper-drawing"))
    assert text.bounding_box()["y"] < sentence.bounding_box()["y"] < picture.bounding_box()["y"]
    assert text.bounding_box()["y"] < SIZES["phone"]["height"]


def test_explorers_are_on_many_pages(site_folder):
    holding = [
        path for path in book_pages(site_folder) if 'class="hopper-explorer"' in (site_folder / path).read_text("utf-8")
    ]
    assert len(holding) > 20


# Names of axes and rows that a chart cuts off, and rows without a name.
CUT = """() => [...document.querySelectorAll(".js-plotly-plot")].filter((plot) => plot.checkVisibility()).flatMap((plot) => {
  const box = plot.getBoundingClientRect();
  const out = [...plot.querySelectorAll(".xtitle, .ytitle, .xtick, .ytick")].filter((text) => {
    const { left, right, top, bottom } = text.getBoundingClientRect();
    return left < box.left - 1 || right > box.right + 1 || top < box.top - 1 || bottom > box.bottom + 1;
  });
  const rows = new Set((plot.data ?? []).filter(({ orientation, y }) => typeof y?.[0] === "string").flatMap(({ y }) => y));
  const names = plot.querySelectorAll(".ytick").length;
  return [...out.map((text) => text.textContent), ...(names < rows.size ? [`${rows.size - names} rows without a name`] : [])];
})"""


@pytest.mark.parametrize(
    "path",
    ["notebooks/network/variability.html", pytest.param("notebooks/node/hybrid.html", marks=pytest.mark.nightly)],
)
def test_no_letter_of_a_chart_is_cut_on_a_phone(reader, path):
    reader.page.set_viewport_size(SIZES["phone"])
    page = reader.go(path)
    charts = page.locator(".hopper-alone .hopper-plot, .hopper-stage .hopper-plot").filter(visible=True)
    assert charts.count() > 0
    for chart in charts.all():
        chart.scroll_into_view_if_needed()
        chart.locator(".xtitle").wait_for()
    assert page.evaluate(CUT) == []


# On paper: what could only be pressed or unfolded, what lies on something else, and what is wider than the sheet.
ON_PAPER = """() => {
  const shown = (selector) => [...document.querySelectorAll(`.bd-article ${selector}`)].filter((element) => element.checkVisibility());
  const pressed = shown(":is(.hopper-explorer, .hopper-figure) details:not([open]), .hopper-button, .hopper-player");
  const wide = shown(":is(table, svg, pre)").filter((element) => element.getBoundingClientRect().right > innerWidth + 1);
  const below = (chart) => chart.closest(".hopper-part").nextElementSibling?.getBoundingClientRect();
  const over = shown(".hopper-stage .hopper-part .hopper-plot > svg").filter((svg) => below(svg)?.height && below(svg).top < svg.getBoundingClientRect().bottom - 1);
  return [...pressed, ...wide, ...over].map((element) => element.outerHTML.slice(0, 120));
}"""


@pytest.mark.parametrize(
    "path", ["book/index.html", "notebooks/node/placement.html", "notebooks/network/variability.html"]
)
def test_paper_holds_what_can_be_read_there(reader, path):
    reader.page.set_viewport_size({"width": 794, "height": 1123})
    page = reader.go(path)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.evaluate(ON_PAPER) == []
