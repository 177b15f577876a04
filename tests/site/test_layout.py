"""Every page of the book: what a reader moves and what it moves are on screen together, and no page is too long."""

from __future__ import annotations

import pytest

from tests.site.test_pages import book_pages

SIZES = {"wide": {"width": 1440, "height": 900}, "phone": {"width": 390, "height": 844}}

# With everything folded. [CSS pixels at 1440]
LONGEST = 9000

# Brings each control on screen as little as it takes, as a reader does, and lists those that are then covered, or
# that leave less than this share of the first picture on screen. A question without a picture answers in its sentence.
LEAST_SEEN = 0.8
MOVED = """(least) => {
  const part = (rect) => Math.max(0, Math.min(innerHeight, rect.bottom) - Math.max(0, rect.top)) / rect.height;
  const lost = [];
  for (const fold of document.querySelectorAll("details:has(.hopper-explorer)")) fold.open = true;
  for (const box of document.querySelectorAll(".hopper-explorer")) {
    if (!box.parentElement.checkVisibility()) continue; // It waits behind a tab.
    const picture = box.querySelector(".hopper-drawing svg, .hopper-plot") ?? box.querySelector(".hopper-summary");
    for (const fold of box.querySelectorAll(".hopper-more")) fold.open = true;
    const all = box.querySelector(".hopper-all");
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


def pages_with_explorers(folder):
    return [
        path for path in book_pages(folder) if 'class="hopper-explorer"' in (folder / path).read_text(encoding="utf-8")
    ]


def opened(watch, site_url, size):
    watched = watch(site_url, viewport=SIZES[size])
    # Nothing is answered here: Python need not start.
    watched.page.add_init_script("Object.defineProperty(navigator, 'connection', { value: { saveData: true } })")
    return watched


@pytest.mark.parametrize("size", SIZES)
def test_what_a_control_moves_is_on_screen_with_it(watch, site_url, site_folder, size):
    watched = opened(watch, site_url, size)
    pages = pages_with_explorers(site_folder)
    assert len(pages) > 20
    lost = {path: watched.go(path).evaluate(MOVED, LEAST_SEEN) for path in pages}
    assert {path: controls for path, controls in lost.items() if controls} == {}


def test_no_study_is_too_long(watch, site_url, site_folder):
    watched = opened(watch, site_url, "wide")
    heights = {
        path: watched.go(path).evaluate("document.querySelector('.bd-article').offsetHeight")
        for path in book_pages(site_folder)
        # The pages on a reader's own runs show their code, to be changed.
        if path.startswith("notebooks/") and not path.startswith("notebooks/own/")
    }
    print(sorted(heights.items(), key=lambda item: -item[1])[:5])
    assert {path: height for path, height in heights.items() if height > LONGEST} == {}


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
    "path", ["notebooks/network/variability.html", "notebooks/node/hybrid.html", "book/scorecard.html"]
)
def test_no_letter_of_a_chart_is_cut_on_a_phone(watch, site_url, path):
    page = watch(site_url, viewport=SIZES["phone"]).go(path)
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
def test_paper_holds_what_can_be_read_there(watch, site_url, path):
    page = watch(site_url, viewport={"width": 794, "height": 1123}).go(path)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.evaluate(ON_PAPER) == []
