"""Python on a page: an exercise and a model to change, by hand, by keyboard and on a phone; and actions that its guard blocks."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from hopperbook.exercises import exercise
from hopperbook.exercises.boxes import model_box

CHECK = exercise("memory")
RULES = "async () => (await axe.run('.hopper-check[data-kind=code]', { resultTypes: ['violations'] })).violations.map(({ id }) => id)"


def opened(watched):
    """Return the page and the exercise, with its editor open."""
    page = watched.go("notebooks/checks.html")
    box = page.locator("#check-memory-code")
    box.get_by_role("button", name="Open the editor").click()
    expect(box.get_by_role("textbox")).to_be_focused()
    return page, box


def write(page, box, text):
    """Replace the editor's text."""
    box.get_by_role("textbox").focus()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(text)


def run(page, box, text):
    write(page, box, text)
    box.get_by_role("button", name="Run").click()


def test_an_exercise_is_run_and_compared_with_the_model(watch, workshop_url):
    watched = watch(workshop_url)
    page = watched.go("notebooks/checks.html")
    box = page.locator("#check-memory-code")
    expect(box.locator(".hopper-code > pre")).to_have_text(CHECK.start)
    assert not [url for url in watched.requests if "editor.mjs" in url]
    box.get_by_role("button", name="Open the editor").press("Enter")
    field = box.get_by_role("textbox", name="Python:")
    expect(field).to_be_focused()
    # Nothing more is loaded than the editor, and Python, which an explorer loads too.
    assert [url for url in watched.requests if "editor.mjs" in url]
    page.keyboard.press("Control+Enter")
    verdict = box.locator(".hopper-feedback")
    expect(verdict).to_have_text("Not yet. most_tasks(0.5) gives 64; the model gives 24.")
    expect(box.get_by_role("status", name="What the code prints")).to_have_text("16")
    run(page, box, CHECK.solution)
    expect(verdict).to_have_text(f"Right. {CHECK.explanation}")
    expect(box.locator(".hopper-result")).to_have_text("done in 2 tries")
    record = json.loads(page.evaluate("localStorage.getItem('hopper.progress')"))["checks"]["memory-code"]
    assert (record["right"], record["tries"], record["page"]) == (True, 2, "notebooks/checks")
    run(page, box, "print(1)\nx = y")
    expect(box.get_by_role("status", name="What the code prints")).to_have_text(
        "1\nLine 2: NameError: name 'y' is not defined"
    )
    box.get_by_role("button", name="Begin again").click()
    expect(box.locator(".cm-content")).to_contain_text("return node.memory_gb / need_gb")
    watched.assert_clean()


def test_an_endless_loop_ends_in_a_message(watch, workshop_url):
    watched = watch(workshop_url)
    watched.page.clock.install()
    page, box = opened(watched)
    run(page, box, "4")
    expect(box.locator(".hopper-printed")).to_have_text("4")
    run(page, box, "while True:\n    pass")
    page.clock.run_for(6_000)
    expect(box.locator(".hopper-printed")).to_have_text("Running …")
    page.clock.run_for(2_000)
    expect(box.locator(".hopper-feedback")).to_contain_text("Stopped after 8 seconds")
    expect(box.locator(".hopper-result")).to_have_text("not yet: 1 try")
    # It can be stopped before, and Python restarts.
    run(page, box, "while True:\n    pass")
    box.get_by_role("button", name="Stop").click()
    expect(box.locator(".hopper-feedback")).to_have_text("Not marked. Stopped.")
    run(page, box, "2 + 4")
    expect(box.locator(".hopper-printed")).to_have_text("6")
    watched.assert_clean()


# Ways out of the page, of which none may arrive: not even this site's own server is asked.
WAYS = (
    "from urllib.request import urlopen\nurlopen('{}')",
    "import js\njs.fetch('{}')",
    "import js\njs.XMLHttpRequest.new()",
    "import js\njs.WebSocket.new('{}')",
    "from pyodide.code import run_js\nrun_js('import(\"{}\")')",
    "from pyodide.http import open_url\nopen_url('{}')",
)


def test_no_request_leaves_the_page(watch, workshop_url, served):
    watched = watch(workshop_url)
    page, box = opened(watched)
    for way in WAYS:
        run(page, box, way.format(f"{workshop_url}/leak"))
        expect(box.locator(".hopper-printed strong")).to_have_text(re.compile("Line|Stopped"))
        run(page, box, "6")
        expect(box.locator(".hopper-printed")).to_have_text("6")
    assert [path for path in served if "leak" in path] == []
    assert watched.strangers == []


@pytest.mark.nightly
def test_too_much_memory_is_a_message(watch, workshop_url):
    page, box = opened(watch(workshop_url))
    run(page, box, "kept = [bytearray(10**9) for _ in range(8)]")
    expect(box.locator(".hopper-check-form, .hopper-printed strong").last).to_contain_text("memory", timeout=15_000)
    run(page, box, "6 * 4")
    expect(box.locator(".hopper-printed")).to_have_text("24")


def test_keys_indent_and_leave(watch, workshop_url):
    page, box = opened(watch(workshop_url))
    write(page, box, "x = 1\n")
    page.keyboard.press("Tab")
    page.keyboard.type("y")
    expect(box.locator(".cm-content")).to_contain_text("    y")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(box.get_by_role("button", name="Run")).to_be_focused()


def test_without_the_editor_a_text_field_takes_its_place(watch, workshop_url):
    watched = watch(workshop_url)
    watched.page.route("**/editor.mjs", lambda route: route.abort())
    page, box = opened(watched)
    field = box.get_by_role("textbox", name="Python:")
    expect(field).to_have_value(CHECK.start)
    field.fill("")
    page.keyboard.press("Tab")
    expect(field).to_have_value("    ")
    field.fill(CHECK.solution)
    page.keyboard.press("Control+Enter")
    expect(box.locator(".hopper-feedback")).to_have_text(f"Right. {CHECK.explanation}")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(box.get_by_role("button", name="Run")).to_be_focused()


def test_a_model_is_changed_beside_its_formula(watch, workshop_url):
    watched = watch(workshop_url)
    page = watched.go("notebooks/checks.html")
    box = page.locator("#trillion-model")
    expect(box.locator(".hopper-code > pre")).to_have_text(model_box("trillion").start)
    box.get_by_role("button", name="Open the editor").click()
    box.get_by_role("button", name="Run").click()
    printed = box.get_by_role("status", name="What the code prints")
    expect(printed).to_contain_text(" 0 barriers: 35.0 GB/s")
    run(page, box, "print(30_000 / (30_000 / 35 + 8 * 20))")
    expect(printed).to_contain_text("29.49")
    watched.assert_clean()


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.nightly)])
def test_it_is_accessible_and_fits_a_phone(watch, workshop_url, axe, scheme):
    watched = watch(workshop_url, viewport={"width": 390, "height": 800}, color_scheme=scheme)
    page, box = opened(watched)
    run(page, box, CHECK.solution)
    expect(box.locator(".hopper-feedback")).to_contain_text("Right.")
    page.evaluate(axe)
    assert page.evaluate(RULES) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate("parseFloat(getComputedStyle(document.querySelector('.cm-content')).fontSize)") >= 16
    for button in box.get_by_role("button").all():
        if button.is_visible():
            assert button.bounding_box()["height"] >= 24
