"""Explorers in a real JupyterLab in a real browser: they move, and ask no other host."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.timeout(420)]

# A slow machine may take long to start a kernel and import plotly.
WITHIN_MS = 120_000

TOY = """
from hopperkit.questions.controls import Slider, Text
from hopperkit.questions.question import Question
from hopperkit.questions.figures import Axis, Series, chart
from hopperkit.questions.result import Result


def answer(tasks, line):
    if "?" in line:
        raise ValueError(f"line={line} holds a question mark")
    x = list(range(1, tasks + 1))
    figure = chart(
        title="Squares", alt=f"A parabola that ends at {tasks * tasks}.", x=Axis(title="Tasks"), y=Axis(title="Square"),
        series=[Series(name="square", x=x, y=[each * each for each in x])],
    )
    return Result(summary=f"{tasks} tasks by {line}.", figures=(figure,))


Question(
    name="toy", title="Toy", question="How many?", answer=answer,
    controls=(
        Slider(name="tasks", label="Tasks", low=1, high=24, step=1, default=12),
        Text(name="line", label="Line", default="aprun"),
    ),
)
"""


@pytest.fixture
def requests_elsewhere() -> list[str]:
    """Requests to other hosts; filled by `page`."""
    return []


@pytest.fixture(scope="module")
def context(browser: Any) -> Any:
    """Here pages share what they have loaded, and requests to other hosts go to a proxy that does not exist."""
    proxy = {"server": "http://127.0.0.1:9", "bypass": "127.0.0.1"}
    context = browser.new_context(viewport={"width": 1280, "height": 1600}, proxy=proxy)
    context.set_default_timeout(WITHIN_MS)
    yield context
    context.close()


@pytest.fixture
def page(context: Any, requests_elsewhere: list[str]) -> Any:
    """A page whose requests to other hosts are recorded."""

    def note(request: Any) -> None:
        address = urlsplit(request.url)
        if address.scheme not in ("data", "blob") and address.hostname != "127.0.0.1":
            requests_elsewhere.append(request.url)

    page = context.new_page()
    page.on("request", note)
    yield page
    page.close()


def run_cells(page: Any, lab: Any, name: str, *codes: str) -> list[Any]:
    """Open a notebook of some cells, run them, and return the widget that each shows."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    cells = [
        {
            "id": f"cell-{number}",
            "cell_type": "code",
            "source": code.strip(),
            "metadata": {},
            "outputs": [],
            "execution_count": None,
        }
        for number, code in enumerate(codes)
    ]
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": cells}
    (lab.folder / f"{name}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    page.goto(f"{lab.url}/lab/workspaces/{name}/tree/{name}.ipynb?token={lab.token}")
    # The status bar names the kernel once the notebook is connected to it.
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
    page.locator(".jp-Notebook .jp-CodeCell .cm-content").first.click()
    views = []
    for number in range(len(codes)):
        page.keyboard.press("Shift+Enter" if number + 1 < len(codes) else "Control+Enter")
        cell = page.locator(".jp-CodeCell").nth(number)
        cell.locator(".jp-InputPrompt").filter(has_text=re.compile(r"\d")).wait_for()
        views.append(cell.locator(".jp-OutputArea-output .hopper-view").first)
        views[-1].wait_for()
    return views


CHECK = """
from hopperbook.self_checks import NumberCheck

NumberCheck(name='memory', question='How much?', answer=1.29, decimals=2, unit='GB', explanation='31 / 24.')
"""


def test_an_explorer_moves_by_keyboard_and_a_self_check_is_marked(
    page: Any, lab: Any, requests_elsewhere: list[str]
) -> None:
    """In one notebook, as opening JupyterLab and its kernel takes most of the time."""
    view, check = run_cells(page, lab, "toy", TOY, CHECK)
    for typed, said in (
        ("1290", "Not yet. A thousand times too large: look at the unit."),
        ("1,29 GB", "Right. 31 / 24."),
    ):
        check.get_by_label("Answer").fill(typed)
        check.get_by_role("button", name="Check", exact=True).click()
        check.get_by_text(re.compile(re.escape(said))).wait_for()
    _moves_by_keyboard(page, lab, view)
    assert requests_elsewhere == []


def _moves_by_keyboard(page: Any, lab: Any, view: Any) -> None:
    """Move the controls of the toy: its answer follows, and a refusal names its control."""
    summary = view.locator(".hopper-summary")
    assert summary.inner_text() == "12 tasks by aprun."
    points = view.locator(".js-plotly-plot .scatterlayer .point")
    points.nth(11).wait_for(state="attached")
    assert points.count() == 12

    view.locator(".noUi-handle, [role=slider]").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    view.get_by_text("14 tasks by aprun.").wait_for()
    points.nth(13).wait_for(state="attached")
    assert points.count() == 14
    view.get_by_text("A parabola that ends at 196.").wait_for()

    line = view.get_by_label("Line")
    line.fill("srun?")
    alert = view.get_by_role("alert")
    alert.wait_for()
    assert alert.inner_text() == "line=srun? holds a question mark"
    assert summary.inner_text() == "14 tasks by aprun."
    line.fill("srun")
    view.get_by_text("14 tasks by srun.").wait_for()
    alert.wait_for(state="detached")

    view.get_by_role("button", name="Reset", exact=True).click()
    view.get_by_text("12 tasks by aprun.").wait_for()
    points.nth(12).wait_for(state="detached")
    line.fill("mpirun")
    _check_what_stays(page, lab, view, last="12 tasks by mpirun.")


def _check_what_stays(page: Any, lab: Any, view: Any, *, last: str) -> None:
    """Save, end the kernel, reopen: the picture of the last setting is there, with its sentence and its table."""
    view.get_by_text(last).wait_for()
    assert page.locator(".hopper-saved").first.is_hidden()
    form, chart = view.locator(".hopper-form").bounding_box(), view.locator(".js-plotly-plot").first.bounding_box()
    assert form["x"] + form["width"] <= chart["x"], "the controls stand beside the chart"

    page.wait_for_function(
        "said => [...document.querySelectorAll('.hopper-saved')].some(one => one.textContent.includes(said))", arg=last
    )
    page.locator(".jp-Notebook").first.click(position={"x": 5, "y": 5})
    page.keyboard.press("Control+s")
    saved = _saved(page, lab, "toy")
    assert "application/vnd.plotly.v1+json" in saved
    assert "widget-state" not in saved

    for kernel in page.request.get(f"{lab.url}/api/sessions?token={lab.token}").json():
        page.request.delete(f"{lab.url}/api/sessions/{kernel['id']}?token={lab.token}")
    page.goto(f"{lab.url}/lab/workspaces/again/tree/toy.ipynb?token={lab.token}&reset")
    page.locator(".hopper-saved").get_by_text(last).wait_for()
    page.locator(".jp-RenderedPlotly").locator(".plot-container, .plot-img[src]").first.wait_for()
    assert page.get_by_text("model not found").count() == 0 or page.get_by_text("model not found").first.is_hidden()


# The toy above has each part that it has, but for a drawing.
@pytest.mark.nightly
def test_placement_explorer_moves(page: Any, lab: Any, requests_elsewhere: list[str]) -> None:
    (view,) = run_cells(page, lab, "placement", 'from hopperkit.questions.question import load\nload("place")')
    drawing = view.locator(".hopper-drawing svg").first
    # VASP's line fills NUMA nodes 0 and 1; -S 3 puts three tasks on each of the four.
    assert "NUMA node 3: idle" in (drawing.text_content() or "")
    before = view.locator(".hopper-summary").inner_text()
    lines = view.locator(".js-plotly-plot .scatterlayer").first
    lines.wait_for(state="attached")
    chart_before = lines.inner_html()

    line = view.get_by_label("Launch line or batch script")
    line.fill("aprun -n 384 -N 12 -S 3 vasp")
    view.locator(".hopper-drawing text", has_text="NUMA node 3: tasks 9-11").first.wait_for()
    expect(view.locator(".hopper-summary")).not_to_have_text(before)
    page.wait_for_function(
        "before => document.querySelector('.hopper-view .js-plotly-plot .scatterlayer').innerHTML !== before",
        arg=chart_before,
    )

    line.fill("aprun -n 384 -N 25 vasp")
    alert = view.get_by_role("alert")
    alert.wait_for()
    assert "25" in alert.inner_text()
    assert "Traceback" not in page.content()
    line.fill("aprun -n 4 -N 4 -d 6 a.out")
    alert.wait_for(state="detached")
    assert requests_elsewhere == []


def _saved(page: Any, lab: Any, name: str) -> str:
    """Return the text of a notebook once it was saved with its outputs."""
    for _ in range(100):
        text = (lab.folder / f"{name}.ipynb").read_text(encoding="utf-8")
        if "image/svg+xml" in text:
            return text
        page.wait_for_timeout(200)
    raise AssertionError("the notebook was not saved with a picture")
