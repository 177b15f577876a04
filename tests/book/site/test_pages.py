"""Every page: no other host, no complaint, no accessibility problem, nothing wider than the screen."""

from __future__ import annotations

import gzip
import re
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

AXE = """async (colors) => {
  const runOnly = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
  const enabled = colors ?? true;
  const rules = { "color-contrast": { enabled }, "link-in-text-block": { enabled } };
  const found = await axe.run(document, { runOnly, rules, resultTypes: ["violations"] });
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`);
}"""

# The rules that look at colors: all that a change of the theme can break.
COLORS = """async () => {
  const finished = Promise.all(document.getAnimations().map((each) => each.finished.catch(() => null)));
  await Promise.race([finished, new Promise((done) => setTimeout(done, 5000))]);
  const runOnly = { type: "rule", values: ["color-contrast", "link-in-text-block"] };
  const found = await axe.run(document, { runOnly, resultTypes: ["violations"] });
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`);
}"""

# Landmarks, headings, labels: good practice that the theme itself does not keep everywhere.
BEST = """async () => {
  const found = await axe.run(document, { runOnly: ["best-practice"] });
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`);
}"""

WORKSHOP_PAGES = (
    "book/index.html",
    "book/several.html",
    "book/machine.html",
    "book/placement.html",
    "book/words.html",
    "notebooks/checks.html",
    "search.html?q=tasks",
)
SIZES = {"wide": {"width": 1280, "height": 900}, "phone": {"width": 375, "height": 720}}

# Before the first touch a page weighs this at most, compressed. [bytes]
WEIGHT = 750_000
TEXT = (".html", ".css", ".js", ".mjs", ".json", ".svg")


# A chart is drawn when it is within 400 pixels of the screen: a step of a screen and 700 pixels leaves none out.
# A page that a headless browser does not show is given no frames, so that a timer stands beside them.
SCROLL = """async () => {
  const frames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const frame = () => Promise.race([frames(), new Promise((done) => setTimeout(done, 250))]);
  for (let y = 0; y < document.documentElement.scrollHeight; y += innerHeight + 700) {
    scrollTo(0, y);
    await frame();
  }
  scrollTo(0, 0);
}"""


def scroll_through(page):
    """Go down the page and back, and wait until every chart that is not folded away is drawn."""
    if page.locator(".hopper-figure").count():
        page.evaluate(SCROLL)
    expect(page.locator(".hopper-plot-note:visible")).to_have_count(0)


def examine(watched, path, axe="", colors=True):
    """Open a page, scroll through it, and check all that every page keeps to; with `axe` that it keeps nobody out, by its
    colors or otherwise."""
    page = watched.go(path)
    scroll_through(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"], "wider than the screen"
    policy = page.locator('meta[http-equiv="Content-Security-Policy"]').get_attribute("content")
    scripts = re.search(r"script-src ([^;]*)", policy)[1]
    assert "'unsafe-inline'" not in scripts
    assert "'unsafe-eval'" not in scripts
    assert page.locator("html[lang]").count() == 1
    if axe:
        page.evaluate(axe)
        assert page.evaluate(AXE, colors) == [], path
    watched.assert_clean()


def in_the_other_theme(watched, theme):
    """Have a page follow the theme; its colors keep nobody out."""
    watched.page.emulate_media(color_scheme=theme)
    expect(watched.page.locator("html")).to_have_attribute("data-theme", theme)
    assert watched.page.evaluate(COLORS) == []
    watched.assert_clean()


@pytest.mark.parametrize(
    ("size", "theme", "part"),
    [
        *(("wide", "light", part) for part in range(3)),
        *(pytest.param("phone", "dark", part, marks=pytest.mark.nightly) for part in range(3)),
    ],
)
def test_pages_of_the_workshop(workshop, axe, theme, size, part):
    """On a phone the dark colors are enough: those of both themes are looked at on the wide screen. Every run looks at pages
    of the book on a phone, in the dark too (`test_a_page_of_each_kind`)."""
    workshop.page.set_viewport_size(SIZES[size])
    for path in WORKSHOP_PAGES[part::3]:
        workshop.page.emulate_media(color_scheme=theme)
        examine(workshop, path, axe)
        if size == "wide":
            in_the_other_theme(workshop, "dark")


def book_pages(folder: Path):
    """All pages of the built book, except the one that only redirects and the one for missing pages."""
    pages = sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*.html") if "_static" not in path.parts
    )
    return [path for path in pages if path not in ("index.html", "404.html")]


# A page of each kind, which every run looks at; all of them are at night. Routes, parts and sheets are text and tables as on
# these, forecasts a table as the scorecard.
EACH_KIND = (
    # The front page, a study with its story, one with long charts, one that reads a log, and one for files of one's own.
    *("book/index.html", "notebooks/node/placement.html", "notebooks/network/variability.html"),
    *("notebooks/failure/diagnosis.html", "notebooks/own/your-jobs.html"),
    # Tables, terms, slides, the course with its room, an exam, progress, the reference.
    *("book/scorecard.html", "book/glossary.html", "book/slides.html", "book/workshop.html"),
    *("book/test-before.html", "book/progress.html", "book/api-monitoring.html"),
    # For paper, and the search.
    *("handouts/node/memory.html", "search.html"),
)


def test_a_living_explorer_keeps_nobody_out(workshop, axe):
    """After an answer, a refusal and with everything unfolded."""
    page = workshop.go("book/index.html")
    box = page.locator("#explorer-trial")
    box.get_by_role("button", name="All cores").click()
    page.wait_for_function("() => document.querySelector('.hopper-notices')")
    page.evaluate("document.querySelectorAll('#explorer-trial details').forEach((one) => (one.open = true))")
    box.get_by_role("textbox", name="Memory").fill("lots")
    page.wait_for_function("() => document.querySelector('.hopper-problem').textContent")
    page.evaluate(axe)
    assert page.evaluate(AXE) == []
    assert page.evaluate(BEST) == []


def test_good_practice_on_a_page_of_text(workshop, axe):
    page = workshop.go("book/words.html")
    page.evaluate(axe)
    for size in SIZES.values():
        page.set_viewport_size(size)
        assert page.evaluate(BEST) == []


def test_the_front_page_sends_on(watch, workshop_url):
    watched = watch(workshop_url)
    watched.page.goto(f"{workshop_url}/", wait_until="commit")
    watched.page.wait_for_url("**/book/index.html")
    watched.assert_clean()


def test_a_missing_page_has_a_page(watch, site_url, site_folder):
    """At any depth: its links start at the root of the site."""
    watched = watch(site_url)
    html = (site_folder / "404.html").read_text(encoding="utf-8")
    assert 'href="/_static/' in html
    watched.page.goto(f"{site_url}/404.html")
    assert watched.strangers == []


@cache
def compressed(folder: Path, url: str) -> int:
    """Bytes of a file as a server that compresses text would send it."""
    path = folder / urlsplit(url).path.lstrip("/")
    content = path.read_bytes()
    return len(gzip.compress(content, 6)) if path.suffix in TEXT else len(content)


def test_a_page_is_light(watch, workshop_url, workshop_folder):
    watched = watch(workshop_url, viewport=SIZES["wide"])
    later = re.compile(r"/plotly/|/pyodide/|\.memory|/hopperlib-")
    for path in ("book/index.html", "book/placement.html", "book/words.html", "notebooks/checks.html"):
        watched.requests.clear()
        watched.go(path).wait_for_timeout(500)
        # What an earlier page has brought is asked for again, and comes from the browser's memory.
        asked = {url for url in watched.requests if not url.startswith(("data:", "blob:")) and not later.search(url)}
        sizes = {url: compressed(workshop_folder, url) for url in asked}
        before_charts = sum(sizes.values())
        print(f"{path}: {before_charts / 1000:.0f} kB compressed before the first touch, {len(sizes)} files")
        for url, size in sorted(sizes.items(), key=lambda item: -item[1])[:5]:
            print(f"  {size / 1000:7.0f} kB  {urlsplit(url).path}")
        assert before_charts <= WEIGHT, path
