"""The book as a course: it leads to the page that answers, marks what was read, and finds what is looked for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hopperbook.site.course import minutes_of

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


def test_minutes_come_from_the_notebook(root: Path):
    assert minutes_of(root, "notebooks/node/placement") == 35
    assert minutes_of(root, "book/errata") == 5


def test_routes_sum_their_minutes(watch, site_url):
    page = watch(site_url).go("book/routes.html")
    for route in page.locator(".hopper-route").all():
        minutes = [
            int(found) for found in re.findall(r"(\d+) minutes", " ".join(route.locator("li").all_inner_texts()))
        ]
        hours, rest = divmod(sum(minutes), 60)
        assert len(minutes) > 3
        assert f"{hours} h {rest:02d} min" in route.inner_text()


def test_the_slides_turn_by_keys_and_end_where_they_were(watch, site_url):
    watched = watch(site_url, viewport={"width": 1440, "height": 900})
    page = watched.go("book/slides.html")
    page.get_by_role("button", name="Show as slides").click()
    number = page.locator(".hopper-slide-number")
    shown = page.locator("[data-shown] > h2")
    count = page.locator("article section > section").count()
    assert number.text_content() == f"1 of {count}"
    assert count > 12
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert number.text_content() == f"4 of {count}"
    assert page.locator("article section > section:visible").count() == 1
    assert page.url.endswith("#memory-channels-of-a-numa-node")
    page.keyboard.press("Home")
    assert shown.text_content().startswith("A machine at work")
    page.keyboard.press("Escape")
    assert page.locator("article section > section:visible").count() == count
    watched.assert_clean()
