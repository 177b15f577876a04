"""The book as a course: it leads to the page that answers, marks what was read, and finds what is looked for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hopperlib.site.course import minutes_of

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


def test_minutes_come_from_the_notebook_and_a_missing_page_is_named(root: Path):
    assert minutes_of(root, "notebooks/node/placement") == 35
    with pytest.raises(ValueError, match="there is no page 'book/nowhere'"):
        minutes_of(root, "book/nowhere")


def test_routes_sum_their_minutes(watch, site_url):
    page = watch(site_url).go("book/routes.html")
    for route in page.locator(".hopper-route").all():
        minutes = [
            int(found) for found in re.findall(r"(\d+) minutes", " ".join(route.locator("li").all_inner_texts()))
        ]
        hours, rest = divmod(sum(minutes), 60)
        assert len(minutes) > 3
        assert f"{hours} h {rest:02d} min" in route.inner_text()
