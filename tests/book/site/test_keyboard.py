"""From the skip link to the end of a page by keys alone; and with less motion, nothing that moves by itself."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.book.site.test_pages import scroll_through

SIZES = {"wide": {"width": 1440, "height": 900}, "phone": {"width": 390, "height": 844}}
BOOK = ("notebooks/node/placement.html", "notebooks/storage/striping.html", "notebooks/network/fragmentation.html")

# What has the focus: where it is drawn, whether that can be seen, and whether anything lies over it.
FOCUSED = """(anew) => {
  const element = document.activeElement;
  if (!element || element === document.body) return null;
  window.stops ??= new Set();
  const again = anew && window.stops.has(element);
  window.stops.add(element);
  const box = element.matches("summary[aria-label]") ? element.firstElementChild : element;
  const { left, right, top, bottom, width, height } = box.getBoundingClientRect();
  const marked = [box, ...box.querySelectorAll("rect"), ...(element.parentElement?.querySelectorAll(":scope > label") ?? [])].some((each) => {
    const { outlineStyle, outlineWidth, boxShadow, stroke, strokeWidth } = getComputedStyle(each);
    const ring = (outlineStyle !== "none" && parseFloat(outlineWidth) >= 2) || boxShadow !== "none";
    return ring || (each instanceof SVGElement && stroke !== "none" && parseFloat(strokeWidth) >= 3);
  });
  const [x, y] = [(Math.max(0, left) + Math.min(innerWidth, right)) / 2, (Math.max(0, top) + Math.min(innerHeight, bottom)) / 2];
  const on = document.elementFromPoint(x, y);
  const seen = width > 0 && height > 0 && bottom > 0 && top < innerHeight && right > 0 && left < innerWidth;
  const free = on && (box.contains(on) || on.contains(box) || on.closest("label")?.control === element || on.closest("svg")?.contains(box));
  const name = (element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent ?? element.textContent).trim().slice(0, 60);
  return { again, marked, seen: Boolean(seen && free), what: `${element.tagName.toLowerCase()} ${name || element.className}`, named: Boolean(name || element.title) };
}"""

# What can be used and was never reached. Of a group of radio buttons one is a stop, as of the points of a curve.
MISSED = """() => [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")]
  .filter((each) => each.checkVisibility({ visibilityProperty: true }) && getComputedStyle(each).display !== "none" && !each.disabled && each.tabIndex >= 0 && each.type !== "radio")
  .filter((each) => !window.stops.has(each) && !each.closest("details:not([open])")?.contains(each.closest(":not(summary)")))
  .map((each) => each.outerHTML.slice(0, 120))"""


def walk(page):
    """Press Tab to the end of the page; return the stops."""
    stops = []
    for _ in range(400):
        page.keyboard.press("Tab")
        stop = page.evaluate(FOCUSED, True)
        if stop is None or stop["again"]:
            return stops
        if not stop["seen"]:
            # The skip link comes and goes within a moment.
            page.wait_for_timeout(400)
            stop = page.evaluate(FOCUSED, False)
        stops.append(stop)
    raise AssertionError(f"no end after {len(stops)} stops")


def examine(watched, path):
    page = watched.go(path)
    page.wait_for_load_state("load")
    # What is drawn when it comes near is there.
    scroll_through(page)
    if page.locator(".hopper-machine").count():
        expect(page.locator(".hopper-machine-live")).to_be_visible()
    stops = walk(page)
    assert stops[0]["what"] == "a Skip to main content"
    assert [stop["what"] for stop in stops if not stop["seen"]] == []
    assert [stop["what"] for stop in stops if not stop["marked"]] == []
    assert [stop["what"] for stop in stops if not stop["named"]] == []
    assert page.evaluate(MISSED) == []
    return stops


NIGHTLY = pytest.mark.nightly


@pytest.mark.parametrize(
    ("size", "theme"),
    [
        ("wide", "light"),
        ("phone", "dark"),
        *(pytest.param(*each, marks=NIGHTLY) for each in (("wide", "dark"), ("phone", "light"))),
    ],
)
def test_every_control_of_the_workshop_is_reached(workshop, size, theme):
    workshop.page.set_viewport_size(SIZES[size])
    workshop.page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    stops = examine(workshop, "notebooks/checks.html")
    said = [stop["what"] for stop in stops]
    # Above the explorer stand the predictions: a curve, a core, an option.
    order = [
        "circle Tasks: 1",
        "input core 0, NUMA node 0",
        "input Hopper",
        "g Task 0 on core 0, NUMA node 0. Arrow keys move it.",
    ]
    assert [said.index(each) for each in order] == sorted(said.index(each) for each in order)
    examine(workshop, "book/machine.html")


# Each study once in every night, and one of each kind in every run.
STUDIES = [(path, size) for path in BOOK for size in SIZES]
SHORT = ((BOOK[0], "wide"), (BOOK[2], "phone"))


@pytest.mark.parametrize(
    ("path", "size"), [pytest.param(*each, marks=[] if each in SHORT else NIGHTLY) for each in STUDIES]
)
def test_every_control_of_a_study_is_reached(watch, site_url, path, size):
    examine(watch(site_url, viewport=SIZES[size], reduced_motion="reduce"), path)


# Counts what asks for the next frame, as an animation by script does.
FRAMES = """const ask = requestAnimationFrame.bind(window);
window.frames_asked = 0;
window.requestAnimationFrame = (act) => { window.frames_asked += 1; return ask(act); };"""
MOVING = """async () => {
  const rest = (ms) => new Promise((done) => setTimeout(done, ms));
  for (let y = 0; y < document.documentElement.scrollHeight; y += innerHeight) { scrollTo(0, y); await rest(30); }
  scrollTo(0, 0);
  // What was drawn on the way has settled.
  await rest(1200);
  const before = window.frames_asked;
  await rest(700);
  const running = document.getAnimations().filter(({ playState }) => playState === "running").map(({ animationName, transitionProperty }) => animationName ?? transitionProperty);
  return { asked: window.frames_asked - before, running, smooth: getComputedStyle(document.documentElement).scrollBehavior };
}"""


def test_with_less_motion_nothing_moves_by_itself(watch, workshop_url):
    watched = watch(workshop_url, viewport=SIZES["wide"], reduced_motion="reduce")
    watched.page.add_init_script(FRAMES)
    for path in ("book/machine.html", "notebooks/checks.html", "book/index.html"):
        assert watched.go(path).evaluate(MOVING) == {"asked": 0, "running": [], "smooth": "auto"}, path


def test_a_move_is_told_once(workshop):
    """By the explorer where it was moved, by the mechanism where that was."""
    page = workshop.go("book/machine.html")
    box, explorer = page.locator("#scene-overlap"), page.locator("#explorer-overlap")
    told, summary = box.locator(".hopper-machine-told"), explorer.locator(".hopper-summary")
    explorer.locator("[name=overlap]").press("ArrowRight")
    expect(summary).to_have_attribute("aria-live", "polite")
    expect(told).to_have_attribute("aria-live", "off")
    box.get_by_label("Share that can run beside").press("ArrowRight")
    expect(told).to_have_attribute("aria-live", "polite")
    page.wait_for_timeout(600)
    expect(summary).to_have_attribute("aria-live", "off")
