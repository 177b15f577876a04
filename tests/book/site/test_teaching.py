"""Sheets with every answer, handouts of two pages, the test of the workshop, and choices drawn for a room."""

from __future__ import annotations

import json
import re

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import expect

from hopperbook.teaching.built_page import read_page
from hopperbook.teaching.exam import AIMS, exam
from hopperbook.teaching.sheet import answer_of, mistakes_of, needs_page


@pytest.fixture(scope="module")
def pages(site_folder):
    """The parts of every notebook's page, by part and name."""
    folder = site_folder / "notebooks"
    return {
        path.relative_to(folder).with_suffix("").as_posix(): read_page(path.read_text(encoding="utf-8"))
        for path in sorted(folder.rglob("*.html"))
    }


def test_every_sheet_has_each_answer_and_each_mistake_once(pages, site_folder):
    checks = 0
    for name, page in pages.items():
        asked = [*page.predictions, *page.checks]
        if not asked:
            continue
        html = (site_folder / "sheets" / f"{name}.html").read_text(encoding="utf-8")
        article = BeautifulSoup(html, "html.parser").find("article")
        text = " ".join(article.get_text().split())
        assert text.count("Answer: ") == len(asked), name
        assert not re.search(r"Answer: (Why|If nobody|Usual|Class screen)", text), name
        for check in asked:
            checks += 1
            assert answer_of(check), check["name"]
            said = [one.say for one in mistakes_of(check)]
            assert len(said) == len(set(said)), check["name"]
        items = [item.get_text() for item in article.find_all("li")]
        assert len(items) == len(set(items)) or {item for item in items if items.count(item) > 1} == set(), name
    assert checks > 70


def test_what_is_asked_before_anybody_runs_a_cell_needs_none(pages):
    for name, page in pages.items():
        questions = [check["question"] for check in page.predictions]
        assert not [question for question in [page.setting, *questions] if needs_page(question)], name


def test_the_sheet_of_memory_has_the_numbers_of_its_page(site_folder):
    text = (site_folder / "sheets/node/memory.html").read_text(encoding="utf-8")
    for words in (
        "1.29 GB",
        "11,520 core-hours",
        "✓ Fewer tasks on each node, spread evenly",
        "A diamond for each guess",
    ):
        assert words in text


@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.nightly)])
def test_a_handout_fills_two_pages_of_paper(watch, site_url, site_folder, every):
    watched = watch(site_url, viewport={"width": 1024, "height": 1300})
    names = sorted(path.relative_to(site_folder).as_posix() for path in (site_folder / "handouts").rglob("*.html"))
    assert len(names) == 22
    counts = {}
    for name in names[::every]:
        page = watched.go(name)
        counts[name] = len(
            re.findall(rb"/Type\s*/Page[^s]", page.pdf(format="A4", margin={"top": "12mm", "bottom": "12mm"}))
        )
    assert {name: count for name, count in counts.items() if count != 2} == {}
    watched.assert_clean()


def _hand_in(page, check, right):
    """Answer a question correctly or not at all."""
    section = page.locator(f"#check-{check.name}")
    data = check.to_dict()
    if not right:
        section.get_by_role("button", name="I do not know").click()
    elif data["kind"] == "number":
        section.get_by_role("textbox").fill(f"{data['answer']:.{data['decimals'] + 2}f}")
        section.get_by_role("button", name="Hand in").click()
    else:
        for number, option in enumerate(data["options"]):
            if option["right"]:
                section.locator(f'input[value="{number}"]').check(force=True)
        section.get_by_role("button", name="Hand in").click()
    expect(section.get_by_role("button")).to_have_text("Handed in")


def test_the_test_is_handed_in_once_and_tells_no_answer_before(watch, site_url):
    watched = watch(
        site_url, viewport={"width": 1280, "height": 900}, permissions=["clipboard-read", "clipboard-write"]
    )
    page = watched.go("book/test-before.html?class=monday")
    result = page.locator(".hopper-exam-result")
    expect(result).to_have_text("0 of 12 questions handed in.")
    for aim, check in exam("before").items():
        _hand_in(page, check, right=aim not in ("share", "fill"))
    expect(result).to_contain_text("10 of 12 right.")
    expect(result.locator("li")).to_have_text(
        ["The node: say how much memory each task has", "The node: say where a launch line puts its tasks"]
    )
    assert "1.94 GB" not in page.locator("article").inner_text()
    result.get_by_role("button", name="Copy my answers for monday").click()
    before = page.evaluate("navigator.clipboard.readText()")
    assert len(json.loads(before)["predictions"]) == len(AIMS)
    # The second test shows its answers.
    page = watched.go("book/test-after.html")
    for aim, check in exam("after").items():
        _hand_in(page, check, right=aim != "hops")
    expect(page.locator("#check-test-after-hops .hopper-feedback")).to_contain_text(
        "Answer: 6. Messages take the shorter way"
    )
    page.reload()
    page.wait_for_selector("html.hopper-ready", state="attached")
    expect(page.locator(".hopper-exam-result")).to_contain_text("11 of 12 right.")
    page.locator(".hopper-exam-result").get_by_role("button", name="Copy my answers for monday").click()
    both = page.evaluate("navigator.clipboard.readText()")
    # The room: by aim, before and after; the choice in the drawing is drawn.
    page = watched.go("book/workshop.html")
    room = page.locator(".hopper-room")
    room.get_by_label("Or their short texts").fill(both)
    room.get_by_role("button", name="Add these texts").click()
    table = room.get_by_role("table")
    expect(table).to_contain_text("All questions10 of 1211 of 12")
    expect(table.get_by_role("row", name="The node: say how much memory each task has")).to_contain_text("0 of 11 of 1")
    watched.assert_clean()


def test_a_rooms_choices_are_drawn_in_the_node(watch, site_url):
    watched = watch(site_url, viewport={"width": 1280, "height": 900})
    page = watched.go("book/course.html")
    room = page.locator(".hopper-room")

    def told(name, page, guess):
        return json.dumps({"predictions": {name: {"page": page, "guess": guess}}})

    texts = [told("placement-predict-fill", "notebooks/node/placement", f"core {core}") for core in (11, 11, 20)]
    texts.append(told("hybrid-predict-touch", "notebooks/node/hybrid", "NUMA node 0, NUMA node 1"))
    room.get_by_label("Or their short texts").fill("\n".join(texts))
    room.get_by_role("button", name="Add these texts").click()
    drawing = room.get_by_role(
        "img", name=re.compile(r"2 of 3 chose core 11; 1 of 3 chose core 20; the model: core 11")
    )
    expect(drawing).to_be_visible()
    assert drawing.locator(".hopper-room-share").count() == 2
    assert drawing.locator("text.number").all_text_contents() == ["2", "1"]
    expect(
        room.get_by_role("img", name=re.compile("1 of 1 chose NUMA node 0; 1 of 1 chose NUMA node 1"))
    ).to_be_visible()
    watched.assert_clean()


def test_the_slides_of_two_days_fit_their_sheets(watch, site_url):
    watched = watch(site_url, viewport={"width": 1024, "height": 710})
    page = watched.go("book/slides-workshop.html")
    slides = page.locator("article section > section")
    assert slides.count() > 20
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    tall = "all => all.filter((slide) => slide.scrollHeight > slide.clientHeight + 1).map(({ id }) => id)"
    assert slides.evaluate_all(tall) == []
    watched.assert_clean()
