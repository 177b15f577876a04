"""The browser's answers are those of this Python, and it shows those of the build."""

from __future__ import annotations

import json
import random
import re

import pytest

from hopperbook.questions import QUESTIONS, load
from hopperlib.errors import InputError
from tests.book.site.conftest import Watched

# Settings drawn from anywhere, more at night; examples, of which the build has kept Python's answers; and values at the ends
# of controls, which are all asked for at night, and in every run those that are refused.
SAMPLES, SAMPLES_AT_NIGHT, EXAMPLES = 1, 8, 1
# Each of their answers takes seconds in a browser: at night they are asked for at the start and at the ends of controls, in
# every run over as few days as there may be.
SLOW = ("chunks", "fragmentation", "scheduling")

ASK = """async ([home, name, settings]) => {
  const { python } = await import(home + "python.mjs");
  const answers = [];
  for (const values of settings) answers.push(await python.answer(name, values, true));
  return answers;
}"""

HOME = "new URL('.', document.querySelector('script[src*=\"live.mjs\"]').src).href"


def ends(control):
    """The values at the ends of a control, and those just beyond that it refuses."""
    if control.kind in ("slider", "number"):
        return [control.low, control.high, control.low - control.step, "many"]
    if control.kind == "choice":
        return [*(key for key, _ in control.offered()), "none of them"]
    if control.kind == "switch":
        return [True, False]
    return [""] if control.default else []


def drawn(control, rng, light=False):
    """A random value of a control; a light one is a number no larger than the default."""
    if control.kind in ("slider", "number"):
        steps = int(((control.default if light else control.high) - control.low) / control.step)
        value = control.low + control.step * int(rng.random() * (steps + 1))
        return int(value) if control.whole else min(value, control.high)
    if control.kind == "choice":
        offered = control.offered()
        return offered[int(rng.random() * len(offered))][0]
    return rng.random() < 0.5


def settings_of(explorer, night=False):
    """The start, the examples, the start typed as text, random settings, and corner settings."""
    rng = random.Random(20)
    typed = [{}, *(dict(example.values) for example in explorer.examples)]
    as_text = {one.name: str(one.default) for one in explorer.controls if one.kind in ("slider", "number")}
    free = [control for control in explorer.controls if control.kind not in ("text", "file")]
    samples = [
        typed[number % len(typed)]
        | {control.name: drawn(control, rng, explorer.heavy and not night) for control in free}
        for number in range(SAMPLES_AT_NIGHT if night else SAMPLES)
    ]
    if explorer.name in SLOW and not night:
        samples = [sample | {one.name: one.low for one in free if one.name == "days"} for sample in samples]
    corners = [{control.name: value} for control in explorer.controls for value in ends(control)]
    if explorer.heavy or not night:
        corners = [corner for corner in corners if refused(explorer, corner)]
    asked = [*(typed if night else typed[: 1 + EXAMPLES]), as_text]
    if explorer.heavy:
        asked = [*typed[:2], as_text] if night else typed[: 0 if explorer.name in SLOW else 1]
    return [*asked, *samples, *corners]


def refused(explorer, values):
    """Whether a control refuses a value, before any model runs."""
    try:
        explorer.read(values)
    except InputError:
        return True
    return False


def as_javascript(text):
    """A number as JavaScript passes it: 5.0 is 5."""
    number = float(text)
    return int(number) if number == int(number) else number


NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")

# Mathematical libraries differ in the last bits, and `sum` keeps more of them from Python 3.12 on. What is left when
# two such numbers cancel is no number at all: nothing on a page is as small as this and means something.
LAST_BITS = 1e-10
NOTHING = 1e-11


def same(browser, here, path="answer"):
    """Compare two answers: numbers within the last bits, in texts too; all else exactly."""
    if isinstance(here, dict):
        assert isinstance(browser, dict), path
        assert browser.keys() == here.keys(), path
        for key, value in here.items():
            same(browser[key], value, f"{path}.{key}")
    elif isinstance(here, list):
        assert isinstance(browser, list), path
        assert len(browser) == len(here), path
        for number, (first, second) in enumerate(zip(browser, here, strict=True)):
            same(first, second, f"{path}[{number}]")
    elif isinstance(here, float):
        assert browser == pytest.approx(here, rel=LAST_BITS, abs=NOTHING), path
    elif isinstance(here, str) and browser != here:
        assert NUMBER.sub("#", browser) == NUMBER.sub("#", here), path
        pairs = zip(NUMBER.findall(browser), NUMBER.findall(here), strict=True)
        assert all(float(one) == pytest.approx(float(other), rel=LAST_BITS, abs=NOTHING) for one, other in pairs), (
            path,
            browser,
            here,
        )
    else:
        assert browser == here, path


@pytest.fixture(scope="module")
def asked(workshop_visit):
    """A separate page, loaded once, on which one question after the other is answered."""
    watched = Watched(workshop_visit[0].page.context.new_page(), workshop_visit[0].address)
    watched.go("book/words.html")
    yield watched
    watched.page.close()


def compare(asked, question, answer_here, settings):
    """Ask page and Python for the same settings."""
    page = asked.page
    page.bring_to_front()
    settings = json.loads(json.dumps(settings), parse_float=as_javascript)
    answers = page.evaluate(ASK, [page.evaluate(HOME), question.name, settings])
    answered = 0
    for values, answer in zip(settings, answers, strict=True):
        same(answer, answer_here(question.name, values), f"{question.name} {values}")
        answered += answer["ok"]
    assert answered, "every setting was refused: nothing was compared"
    asked.assert_clean()


@pytest.mark.parametrize("name", [*QUESTIONS, "trial"])
def test_the_browser_answers_as_python_does(asked, trials, answer_here, name):
    question = trials.get(name) or load(name)
    compare(asked, question, answer_here, settings_of(question))


@pytest.mark.nightly
@pytest.mark.parametrize("name", QUESTIONS)
def test_the_browser_answers_as_python_does_at_many_settings(asked, answer_here, name):
    compare(asked, load(name), answer_here, settings_of(load(name), night=True))


NORMAL = """async (home) => {
  const { showAnswer } = await import(home + "answer.mjs");
  const { python } = await import(home + "python.mjs");
  const page = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html");
  const skipped = (node) => node.nodeType === Node.TEXT_NODE && !node.data.trim();
  const normal = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return node.data.replace(/\\s+/g, " ");
    if (node.nodeType !== Node.ELEMENT_NODE) return "";
    const names = [...node.attributes].filter(({ name }) => name !== "xmlns").map(({ name, value }) => `${name}="${value.replace(/\\s+/g, " ").trim()}"`).sort();
    const children = [...node.childNodes].filter((child) => !skipped(child)).map(normal).filter(Boolean);
    return [node.localName, ...names, children];
  };
  const results = [];
  for (const section of page.querySelectorAll(".hopper-explorer")) {
    const { spec, start } = JSON.parse(section.querySelector("script.hopper-data-block").textContent);
    const box = document.importNode(section, true);
    box.querySelector(".hopper-summary").replaceChildren();
    box.querySelectorAll(".hopper-part").forEach((part) => part.replaceChildren());
    const answer = await python.answer(spec.name, start, true);
    showAnswer(box, answer, { result: { summary: "", figures: [] } });
    box.normalize();
    // The build's picture of a chart stands until plotly.js draws it.
    for (const part of [section, box]) part.querySelectorAll(".hopper-plot").forEach((plot) => plot.replaceChildren());
    results.push([JSON.stringify(normal(section)), JSON.stringify(normal(box))]);
  }
  return results;
}"""


@pytest.mark.parametrize("path", ["book/index.html", "book/placement.html"])
def test_scripts_show_what_the_build_built(workshop, path):
    page = workshop.go(path)
    pairs = page.evaluate(NORMAL, page.evaluate(HOME))
    assert pairs
    for built, shown in pairs:
        assert json.loads(shown) == json.loads(built)


def test_a_pasted_line_is_placed(workshop):
    """VASP's line: 6 tasks on each of NUMA nodes 0 and 1; with -S 3 three on each of four."""
    page = workshop.go("book/placement.html")
    box = page.locator("#explorer-place")
    for line in ("aprun -n 384 -N 12 -S 3 vasp", "aprun -n 384 -N 12 vasp"):
        expected = load("place").run(line=line)
        box.get_by_label("Launch line or batch script").fill(line)
        page.wait_for_function(
            "(text) => document.querySelector('#explorer-place .hopper-summary').textContent === text",
            arg=expected.summary.replace("`", ""),
        )
        drawing = box.locator(".hopper-drawing svg").first
        assert drawing.locator("desc").text_content() == expected.drawings[0].alt
        assert drawing.locator(".hopper-node-number text").all_text_contents() == [str(task) for task in range(12)]
