"""The HTML of explorers, figures and self-checks before any script runs."""

from __future__ import annotations

import json
import re

import pytest
from bs4 import BeautifulSoup

from hopperbook.self_checks import NumberCheck
from hopperbook.site.html import check_html, explorer_html, figure_html, tables
from hopperbook.site.pictures import picture
from hopperkit.questions.controls import Text
from hopperkit.questions.question import Question
from hopperkit.questions.result import Result, Snippet
from hopperkit.render.html import prose_html
from hopperlib.errors import InputError

LINE = "Better: `aprun -n 24 -N 12 a.out`, or srun --cpu-bind=cores -x"


@pytest.fixture(scope="module")
def page(trials):
    return BeautifulSoup(explorer_html(trials["trial"], key="trial"), "html.parser")


def test_each_study_has_a_picture(root):
    studies = {
        path.relative_to(root / "notebooks").with_suffix("").as_posix()
        for path in (root / "notebooks").glob("*/*.ipynb")
        if "*Study ·" in path.read_text(encoding="utf-8")
    }
    assert studies == tables()["pictures"].keys()
    for study in studies - {"network/fragmentation"}:
        assert "<figcaption>" in picture(f"notebooks/{study}", {})


def test_no_line_breaks_between_an_option_and_its_value():
    whole = [part.text for part in BeautifulSoup(prose_html(LINE), "html.parser").select(".hopper-unbroken")]
    assert whole == ["-n 24", "-N 12", "--cpu-bind=cores", "-x"]


def test_no_line_breaks_between_a_number_and_its_unit():
    text = "Over 12.5 GB/s, 80 % of 1,024 MiB, within 3 s: 6 h of 4 sockets and 2 Bassi nodes."
    whole = [part.text for part in BeautifulSoup(prose_html(text), "html.parser").select(".hopper-quantity")]
    assert whole == ["12.5 GB/s", "80 %", "1,024 MiB", "3 s", "6 h"]


def test_every_control_has_a_label(page, trials):
    fields = page.select("form [name]")
    assert [field["name"] for field in fields] == [control.name for control in trials["trial"].controls]
    for field in fields:
        assert page.find("label", attrs={"for": field["id"]}).text.strip()
    for field in page.select("form input[type=file]"):
        assert page.find("label", attrs={"for": field["id"]}).text.strip()


def test_help_is_tied_to_its_control(page):
    slider = page.find("input", attrs={"name": "tasks"})
    assert page.find(id=slider["aria-describedby"]).text.strip() == "One to a core."
    # An assumption wears its badge at the control.
    number = page.find("input", attrs={"name": "need"})
    assert page.find(id=number["aria-describedby"]).find(class_="hopper-badge").text == "assumed"


def test_ids_are_unique(trials):
    html = explorer_html(trials["trial"], key="trial") + explorer_html(trials["trial"], key="trial-2")
    ids = [element["id"] for element in BeautifulSoup(html, "html.parser").select("[id]")]
    assert len(ids) == len(set(ids))


def test_the_answer_is_there(page):
    assert (
        page.find(class_="hopper-summary").text
        == "With 6 tasks the work is 4.00 times as fast, & that is <less> than 6."
    )
    badges = [badge.text for badge in page.select('[data-part="numbers"] .hopper-badge')]
    assert badges == ["predicted", "assumed", "documented", "calibrated"]
    assert [term.text for term in page.select(".hopper-legend dt")] == [
        "documented",
        "assumed",
        "calibrated",
        "predicted",
    ]
    assert page.select_one(".hopper-listing li.hopper-marked .hopper-mark").text == "cause"
    assert page.select_one("tr.hopper-marked em").text == "(the middle)"
    assert page.select_one(".hopper-plot")["aria-label"].startswith("A curve that rises")


def test_advanced_controls_stand_behind_the_others(page):
    names = [control["data-control"] for control in page.select(".hopper-control")]
    assert names.index("seed") > max(map(names.index, ("tasks", "line", "order", "log")))


def test_values_to_start_with(trials):
    page = BeautifulSoup(explorer_html(trials["trial"], key="trial", values={"tasks": "3"}), "html.parser")
    assert page.find("input", attrs={"name": "tasks"})["value"] == "3"
    assert "With 3 tasks" in page.find(class_="hopper-summary").text
    block = json.loads(page.select_one("script.hopper-data-block").string)
    assert block["start"]["tasks"] == 3
    with pytest.raises(InputError, match="tasks=0"):
        explorer_html(trials["trial"], key="trial", values={"tasks": 0})


def test_text_cannot_leave_its_place():
    hostile = "</script><img src=x>\u2028&<b>'\""
    explorer = Question(
        name="hostile",
        title=hostile,
        question=hostile,
        controls=(Text(name="line", label=hostile, default=hostile, placeholder=hostile, help=hostile),),
        answer=lambda line: Result(summary=line, copyables=(Snippet(title=line, text=line, note=line),)),
    )
    html = explorer_html(explorer, key="hostile")
    page = BeautifulSoup(html, "html.parser")
    assert page.find("img") is None
    assert len(re.findall("</script>", html)) == 1
    assert json.loads(page.select_one("script").string)["answer"]["summary"] == hostile
    assert page.find("input")["value"] == hostile


def test_a_figure_alone(trials):
    figure = trials["trial"].run().figures[0].to_dict()
    page = BeautifulSoup(figure_html(figure, key="figure"), "html.parser")
    assert page.select_one("[role=img]")["aria-label"] == figure["alt"]
    assert len(page.select("tbody tr")) == 12
    assert json.loads(page.select_one("script").string) == json.loads(json.dumps(figure))


def test_a_check_hides_its_answer_where_it_can_be_marked():
    check = NumberCheck(
        name="cores", question="How many `cores`?", answer=24, explanation="Four times six.", unit="cores"
    )
    page = BeautifulSoup(check_html(check.to_dict()), "html.parser")
    assert page.select_one(".hopper-check-question code").text == "cores"
    assert "24 cores. Four times six." in page.select_one("details.hopper-static-only").text
    assert page.find("label", attrs={"for": "check-cores-answer"})
