"""The front page: light until it is used, each file requested once, pictures drawn from the models."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from playwright.sync_api import expect

from hopperbook.forecasts.scoring import groups, score
from hopperbook.serve import Handler
from hopperbook.site.teaching import forecasts_said

FRONT = "book/index.html"
# As this server sends it, without compression. [bytes]
LIGHT = 3_000_000
PYTHON = re.compile(r"/pyodide/|\.memory$|/hopperlib-|/worker\.mjs$|/plotly/")
# So long nothing may come that nobody has meant. [ms]
IDLE = 3000


@pytest.fixture
def sent(monkeypatch):
    """Address and bytes of each file that a server has sent since; requests without content count too."""
    files: list[tuple[str, int]] = []

    def copied(self, source, out):
        content = source.read()
        files.append((self.path.partition("?")[0], len(content)))
        out.write(content)

    def head(self):
        files.append((self.path, 0))
        opened = self.send_head()
        if opened:
            opened.close()

    monkeypatch.setattr(Handler, "copyfile", copied)
    monkeypatch.setattr(Handler, "do_HEAD", head)
    return files


def python_in(files):
    return [path for path, _ in files if PYTHON.search(path)]


def test_it_is_light_until_somebody_means_to_use_it_and_asks_for_each_file_once(watch, site_url, sent):
    watched = watch(site_url, viewport={"width": 1440, "height": 900})
    # To unfold the settings would be a sign.
    watched.unfolds = False
    page = watched.go(FRONT)
    page.wait_for_timeout(IDLE)
    # Reading on brings the machine that plays, and no Python.
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    expect(page.locator(".hopper-machine-live")).to_be_visible()
    assert python_in(sent) == []
    assert sum(size for _, size in sent) < LIGHT
    box = page.locator("#explorer-identify")
    box.locator("textarea").first.fill("aprun -n 24 -N 12 ./a.out")
    expect(box.locator(".hopper-summary")).to_contain_text("24 tasks")
    assert python_in(sent) != []
    assert {path: times for path, times in Counter(path for path, _ in sent).items() if times > 1} == {}
    watched.assert_clean()


FILE = """() => {
  const data = new DataTransfer();
  data.items.add(new File(["text"], "job.out"));
  document.body.dispatchEvent(new DragEvent("dragenter", { bubbles: true, dataTransfer: data }));
}"""
SIGNS = {
    "a pointer": lambda page: page.locator("#explorer-identify textarea").first.hover(),
    "the focus": lambda page: page.locator("#explorer-identify textarea").first.focus(),
    "a paste": lambda page: page.evaluate("document.body.dispatchEvent(new Event('paste', { bubbles: true }))"),
    "a file over the page": lambda page: page.evaluate(FILE),
    "a scroll back": lambda page: (
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight)"),
        page.wait_for_timeout(300),
        page.evaluate("scrollTo(0, 0)"),
    ),
}
WARM = "() => performance.getEntriesByType('resource').length"


@pytest.mark.parametrize("sign", SIGNS)
def test_python_comes_at_the_first_sign_of(watch, site_url, sent, sign):
    watched = watch(site_url)
    watched.unfolds = False
    page = watched.go(FRONT)
    page.wait_for_timeout(500)
    assert python_in(sent) == []
    SIGNS[sign](page)
    page.wait_for_timeout(100)
    for _ in range(50):
        if python_in(sent):
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"{sign} starts nothing")


def test_its_pictures_teach_and_say_what_they_show(looking):
    page = looking.go(FRONT)
    pictures = page.locator(".hopper-teaching > figure")
    expect(pictures).to_have_count(3)
    for picture in pictures.all():
        expect(picture.locator("figcaption a")).to_have_count(1)
        for drawn in picture.locator("svg, img").all():
            expect(drawn).to_have_accessible_name(re.compile(r"\w+ \w+ \w+"))
    # Hopper's rule of 12 tasks on a node: packed on two of the four NUMA nodes, spread on all of them.
    first = pictures.first
    expect(first.locator(".hopper-busy")).to_have_count(24)
    expect(first).to_contain_text("2 of 4 memories in use")
    expect(first).to_contain_text("4 of 4 memories in use")


def test_it_says_how_the_forecasts_did(looking):
    done = score(groups()[0].forecasts)
    said = forecasts_said()
    assert [int(number) for number in re.findall(r"\d+", said)] == [
        done.answered,
        80,
        done.holding[1],
        round(100 * done.holding[1] / done.answered),
        done.overlapping[1],
        round(100 * done.overlapping[1] / done.answered),
    ]
    expect(looking.go(FRONT).get_by_role("main")).to_contain_text(said)
