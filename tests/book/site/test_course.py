"""The book as a course: it leads to the page that answers, marks pages as read, and its search works."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from playwright.sync_api import expect

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


TALLER = "all => all.filter((slide) => slide.scrollHeight > slide.clientHeight + 1).map(({ id }) => id)"


def test_the_slides_turn_by_keys_and_end_where_they_were(watch, site_url):
    watched = watch(site_url, viewport={"width": 1440, "height": 900})
    page = watched.go("book/slides.html")
    # What the machine plays comes while its slide is not shown.
    page.route("**/*.json.gz", lambda route: (time.sleep(0.3), route.continue_()))
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
    expect(page).to_have_url(re.compile(r"#memory-channels-of-a-numa-node$"))
    page.keyboard.press("Home")
    assert shown.text_content().startswith("A machine at work")
    page.keyboard.press("Escape")
    assert page.locator("article section > section:visible").count() == count
    # On paper, A4 across within its margins, each fills a sheet and no more.
    page.set_viewport_size({"width": 1024, "height": 710})
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("article section > section").evaluate_all(TALLER) == []
    page.wait_for_selector(".hopper-machine-live", state="attached")
    watched.assert_clean()


def test_the_predictions_of_a_room_are_laid_over_each_other(watch, site_url, tmp_path):
    watched = watch(
        site_url, viewport={"width": 1280, "height": 900}, permissions=["clipboard-read", "clipboard-write"]
    )
    page = watched.go("notebooks/network/variability.html?class=monday")
    # The name holds for the pages of the visit.
    page.goto(f"{site_url}/notebooks/network/variability.html")
    check = page.locator("#check-variability-predict-alone")
    check.get_by_role("textbox").fill("2.5")
    check.get_by_role("button", name="Commit").click()
    check.get_by_role("button", name="Copy my predictions for monday").click()
    text = page.evaluate("navigator.clipboard.readText()")
    assert json.loads(text) == {
        "class": "monday",
        "predictions": {
            "variability-predict-alone": {"page": "notebooks/network/variability", "guess": "2.5", "before": True}
        },
    }
    page = watched.go("book/course.html")
    room = page.locator(".hopper-room")
    other = tmp_path / "progress.json"
    other.write_text(text.replace("2.5", "1.5").replace('"predictions"', '"checks"'), encoding="utf-8")
    broken = tmp_path / "notes.json"
    broken.write_text("by hand", encoding="utf-8")
    room.get_by_label("Files of the participants").set_input_files([other, broken])
    expect(room.get_by_role("status")).to_have_text(
        "1 participant. notes.json holds no predictions: it cannot be read as JSON."
    )
    drawn = json.dumps(
        {
            "predictions": {
                "io-node-predict-curve": {"page": "notebooks/storage/io-node", "guess": "1 2 3 4 5 6 7"},
                "iobuf-predict": {"page": "notebooks/storage/iobuf", "guess": "large writes"},
            }
        }
    )
    room.get_by_label("Or their short texts").fill(f"{text}\n{text}\n{drawn}")
    room.get_by_role("button", name="Add these texts").click()
    expect(room.get_by_role("status")).to_have_text("4 participants.")
    expect(room).to_contain_text("3 guesses, from 1.5 to 2.5")
    assert room.locator(".hopper-prediction svg path").count() == 3
    expect(room.get_by_role("img", name="1 drawn curves, and the model's")).to_be_visible()
    expect(room.locator(".hopper-room-options")).to_contain_text("1 of 1 large writes")
    watched.assert_clean()
