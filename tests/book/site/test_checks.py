"""Self-checks on the page: marking, feedback, and data kept in the browser."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from hopperbook.self_checks import ChoiceCheck, Condition, GoalCheck, NumberCheck, Option

HOME = "new URL('.', document.querySelector('script[src*=\"live.mjs\"]').src).href"


def kept(page):
    return page.evaluate("JSON.parse(localStorage.getItem('hopper.progress'))")


def check(page, name):
    return page.locator(f"#check-workshop-{name}")


def test_a_number_is_marked_wrong_and_right(workshop):
    page = workshop.go("notebooks/checks.html")
    box = check(page, "memory")
    field = box.get_by_label("Your answer")
    box.get_by_role("button", name="Check").click()
    expect(box.get_by_role("status")).to_have_text("Type a number first.")
    assert kept(page)["checks"] == {}
    field.fill("1.33 GB")
    field.press("Enter")
    expect(box.get_by_role("status")).to_have_text("Not yet. Some of the 32 GB is taken before your tasks start.")
    expect(field).to_have_attribute("aria-invalid", "true")
    field.fill("1,29")
    field.press("Enter")
    expect(box.get_by_role("status")).to_have_text("Right. 31 GB are shared by 24 tasks.")
    expect(box.get_by_role("status").locator("code")).to_have_text("24")
    expect(field).not_to_have_attribute("aria-invalid", "true")
    record = kept(page)["checks"]["workshop-memory"]
    assert (record["right"], record["tries"], record["shown"]) == (True, 2, False)
    assert record["page"] == "notebooks/checks"
    page.reload()
    expect(box.locator(".hopper-result")).to_have_text("done in 2 tries")


def test_a_prediction_is_given_once_and_stands_beside_the_answer(workshop):
    page = workshop.go("notebooks/checks.html")
    box = check(page, "prediction")
    expect(page.get_by_text("In one sentence: four.")).to_be_hidden()
    field = box.get_by_label("Your answer")
    field.fill("two")
    box.get_by_role("button", name="Commit").click()
    expect(box.locator("figure")).to_have_count(0)
    field.fill("2")
    box.get_by_role("button", name="Commit").click()
    expect(box.get_by_role("img", name="Your guess: 2; Model: 4; Printed: 4")).to_be_visible()
    expect(box.get_by_role("status")).to_contain_text("Two sockets of two dies each.")
    expect(field).to_be_disabled()
    page.reload()
    expect(box.get_by_role("img", name="Your guess: 2; Model: 4; Printed: 4")).to_be_visible()
    expect(box.locator(".hopper-result")).to_have_text("predicted otherwise, before trying")
    assert (
        kept(page)["checks"]["workshop-prediction"] | {"guess": "2", "answer": "4", "right": False, "tries": 1}
        == (kept(page)["checks"]["workshop-prediction"])
    )


def test_a_curve_is_drawn_before_the_models_shows(workshop):
    page = workshop.go("notebooks/checks.html")
    box = check(page, "curve")
    points = box.get_by_role("slider")
    expect(points).to_have_count(3)
    expect(points.first).to_have_attribute("aria-valuetext", "not drawn yet")
    expect(box.locator("path.model")).to_have_count(0)
    # By keys: a point starts at half of the height, and each press moves it by a fiftieth.
    points.first.focus()
    page.keyboard.press("ArrowUp")
    expect(points.first).to_have_attribute("aria-valuetext", "2.08 GB/s")
    box.get_by_role("button", name="Commit").click()
    expect(box.get_by_role("status")).to_have_text("Draw the curve from end to end first.")
    assert "workshop-curve" not in (kept(page) or {"checks": {}})["checks"]
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("End")
    expect(points.last).to_be_focused()
    # By the pointer, from the first point to the last at once: those between are set too.
    places = [point.bounding_box() for point in points.all()]
    centers = [(at["x"] + at["width"] / 2, at["y"] + at["height"] / 2) for at in places]
    page.mouse.move(*centers[0])
    page.mouse.down()
    page.mouse.move(centers[2][0], centers[0][1], steps=2)
    page.mouse.up()
    expect(points.nth(1)).to_have_attribute("aria-valuetext", "2.08 GB/s")
    box.get_by_role("button", name="Commit").click()
    # Off by 1.88, 0.38 and 0.38 of 4: 22 % on average.
    expect(box.get_by_role("status")).to_contain_text(
        "On average your curve is off by 22 % of the height. The node is full."
    )
    shown = box.get_by_role("img")
    expect(shown).to_have_attribute(
        "aria-label", "Your curve [GB/s]: 2.08 at 1, 2.08 at 8, 2.08 at 24. The model's: 0.2 at 1, 1.7 at 8, 1.7 at 24."
    )
    expect(box.locator("circle.printed")).to_have_count(1)
    page.reload()
    expect(box.get_by_role("img")).to_be_visible()
    assert kept(page)["checks"]["workshop-curve"]["guess"] == "2.08 2.08 2.08"


def test_a_core_is_chosen_in_the_drawing(workshop):
    page = workshop.go("notebooks/checks.html")
    box = check(page, "core")
    # By keys: to the right the next core, down the core below.
    box.get_by_role("radio", name="core 0, NUMA node 0").focus()
    for key in ("ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    expect(box.get_by_role("radio", name="core 4, NUMA node 0")).to_be_checked()
    expect(box.get_by_role("radio", name="core 4, NUMA node 0")).to_be_focused()
    # By the pointer, on what is drawn.
    there = box.locator("svg text", has_text="20").bounding_box()
    page.mouse.click(there["x"] + 5, there["y"] + 5)
    expect(box.get_by_role("radio", name="core 20, NUMA node 3")).to_be_checked()
    commit = box.get_by_role("button", name="Commit")
    commit.press("Enter")
    expect(box.get_by_role("status")).to_have_text("It is otherwise. They leave no gaps. They fill NUMA node 0.")
    expect(box.get_by_role("img", name="your guess: core 20; the model: core 2")).to_be_visible()
    expect(box.locator(".hopper-taken")).to_have_count(3)
    expect(box.get_by_role("radio")).to_have_count(0)
    # The focus stays, and what was committed is not given again.
    expect(box.get_by_role("button", name="Committed")).to_be_focused()
    page.keyboard.press("Enter")
    assert kept(page)["checks"]["workshop-core"]["tries"] == 1
    page.reload()
    expect(box.get_by_role("img", name="your guess: core 20; the model: core 2")).to_be_visible()


def test_a_chosen_option_stands_beside_what_the_model_gives(workshop):
    page = workshop.go("notebooks/checks.html")
    box = check(page, "option")
    box.get_by_label("Franklin").check()
    box.get_by_role("button", name="Commit").click()
    figure = box.get_by_role("figure")
    expect(figure.get_by_role("listitem")).to_have_text(
        ["Hopper · right ✓Model: 24Printed: 24", "Franklin · your guessModel: 4", "Both the same"]
    )
    widths = [bar.bounding_box()["width"] for bar in figure.locator(".hopper-bar-of").all()]
    assert widths[0] == widths[1] == pytest.approx(6 * widths[2], rel=0.02)


PLAYED = ("#explorer-trial .hopper-summary", "#scene-placement svg", ".hopper-fact")


@pytest.mark.parametrize("scripts", [True, False])
def test_nothing_is_covered(watch, workshop_url, scripts):
    page = watch(workshop_url, java_script_enabled=scripts).page
    page.goto(f"{workshop_url}/notebooks/checks.html")
    if scripts:
        page.wait_for_selector("html.hopper-ready", state="attached")
    for part in PLAYED if scripts else PLAYED[:1]:
        expect(page.locator(part)).to_be_visible()


def commit(page, name):
    """Commit to the prediction of a number."""
    box = check(page, name)
    box.get_by_label("Your answer").fill("3")
    box.get_by_role("button", name="Commit").click()
    return box.locator(".hopper-result")


# The ways of a touch: of a field, a button, a number in a sentence, a task in the drawing, by pointer and by key.
TOUCHES = {
    "field": lambda page: page.locator("#explorer-trial [name=tasks]").press("ArrowRight"),
    "example": lambda page: page.locator("#explorer-trial .hopper-examples button").first.click(),
    "sentence": lambda page: page.locator("#explore span[data-explorer]").first.press("ArrowRight"),
    "thing to try": lambda page: page.get_by_role("button", name="Try it").click(),
    "drawing": lambda page: page.locator("#scene-placement [tabindex='0']").first.press("ArrowRight"),
}
# What is looked at, or passed by.
LOOKS = {
    "tab": lambda page: page.locator("#explorer-trial [name=tasks]").press("Tab"),
    "text": lambda page: page.locator("#explorer-trial .hopper-title").click(),
    "notes": lambda page: page.locator("#explorer-trial .hopper-rest > summary").click(),
}


# One touch and one look in every run; the other ways at night.
@pytest.mark.parametrize(
    "how",
    [how if how in ("field", "text") else pytest.param(how, marks=pytest.mark.nightly) for how in (*TOUCHES, *LOOKS)],
)
def test_a_prediction_is_marked_as_made_before_or_after_the_first_touch(watch, workshop_url, how):
    watched = watch(workshop_url)
    page = watched.go("notebooks/checks.html")
    {**TOUCHES, **LOOKS}[how](page)
    when = "after trying" if how in TOUCHES else "before trying"
    # A touch of an earlier visit counts.
    page.reload()
    expect(commit(page, "prediction")).to_have_text(f"predicted otherwise, {when}")
    expect(page.locator("#explore .hopper-yours")).to_contain_text(f"3, {when}")
    record = kept(page)["checks"]["workshop-prediction"]
    assert record["before"] == (how in LOOKS)
    # It is not made again by what comes later.
    page.locator("#explorer-trial [name=tasks]").press("ArrowRight")
    page.reload()
    expect(check(page, "prediction").locator(".hopper-result")).to_have_text(f"predicted otherwise, {when}")
    watched.assert_clean()


def test_a_thing_to_try_is_set_at_one_press(workshop):
    page = workshop.go("notebooks/checks.html")
    box = page.locator("#explorer-trial")
    before = box.locator(".hopper-summary").inner_text()
    share = box.locator("[name=share]").input_value()
    box.locator("[name=share]").press("ArrowLeft")
    # A press stands alone: what was tried before is back at its start, and a fold around the explorer is opened.
    page.evaluate(
        "box => { const fold = document.createElement('details'); box.before(fold); fold.append(box); }",
        box.element_handle(),
    )
    page.get_by_role("button", name="Try it").click()
    expect(box.locator("[name=tasks]")).to_have_value("8")
    expect(box.locator("[name=share]")).to_have_value(share)
    expect(box.locator(".hopper-summary")).not_to_have_text(before)
    expect(box.locator(".hopper-summary")).to_be_in_viewport()
    page.get_by_role("button", name="Go there").click()
    expect(box.locator("[name=tasks]")).to_be_focused()


def test_beside_the_tool_stands_what_is_left_to_predict(workshop):
    page = workshop.go("notebooks/checks.html")
    beside = page.locator("#explore .hopper-yours")
    expect(beside).to_have_text("Your predictions may come first.")
    commit(page, "prediction")
    expect(beside).to_have_text("You predicted 3, before trying. 3 more to predict.")
    beside.get_by_role("link").click()
    assert page.evaluate("location.hash") == "#predict-first"


def test_the_progress_page_tells_before_from_after(workshop):
    page = workshop.go("notebooks/checks.html")
    told = page.evaluate(
        """async (home) => {
          const { noteCheck } = await import(home + "progress.mjs");
          const { startProgress } = await import(home + "progress-page.mjs");
          const guessed = (guess, before) => ({ page: "p", question: "How many?", guess, answer: "4", before });
          noteCheck("a", guessed("3", true), { tried: true });
          noteCheck("b", guessed("4", false), { tried: true, right: true });
          const box = document.createElement("div");
          box.innerHTML = '<script type="application/json" class="hopper-data-block">{"studies":[]}</script>';
          document.body.append(box);
          startProgress(box);
          return box.innerText;
        }""",
        page.evaluate(HOME),
    )
    assert "Predictions made before trying: 0 of 1 right; after trying: 1 of 1 right." in told
    assert "predicted 3, before trying; it is 4" in told
    assert "predicted, after trying" in told


def test_a_folded_section_opens_where_a_link_leads(workshop):
    page = workshop.go("notebooks/checks.html#references")
    expect(page.get_by_text("None.", exact=True)).to_be_visible()
    workshop.go("notebooks/checks.html")
    page.reload()
    expect(page.get_by_text("None.", exact=True)).to_be_hidden()
    page.get_by_role("heading", name="References").click()
    expect(page.get_by_text("None.", exact=True)).to_be_visible()


def test_hints_come_one_by_one(workshop):
    page = workshop.go("notebooks/checks.html")
    box = check(page, "memory")
    box.get_by_role("button", name="Hint").click()
    expect(box.locator(".hopper-hints li")).to_have_text(["Divide."])
    box.get_by_role("button", name="Next hint").click()
    expect(box.locator(".hopper-hints li")).to_have_text(["Divide.", "Divide 31 by 24."])
    expect(box.get_by_role("button", name="hint")).to_be_hidden()
    assert kept(page)["checks"]["workshop-memory"]["hints"] == 2


def test_each_option_has_its_word(workshop):
    page = workshop.go("notebooks/checks.html")
    box = check(page, "choice")
    box.get_by_label("-N 12").check()
    box.get_by_role("button", name="Check").click()
    expect(box.get_by_role("status")).to_have_text("Not yet. That only sets how many share a node.")
    box.get_by_label("-S 3").check()
    box.get_by_role("button", name="Check").click()
    expect(box.get_by_role("status")).to_have_text("Right. Three a NUMA node. It limits each NUMA node.")
    several = check(page, "several")
    several.get_by_label("2").check()
    several.get_by_role("button", name="Check").click()
    expect(several.get_by_role("status")).to_contain_text("Right so far: 1 of 2.")
    several.get_by_label("4").check()
    several.get_by_role("button", name="Check").click()
    expect(several.get_by_role("status")).to_contain_text("Even numbers are multiples of two.")


def test_the_answer_is_shown_only_after_a_try(workshop):
    page = workshop.go("notebooks/checks.html")
    box = check(page, "choice")
    show = box.get_by_role("button", name="Show the answer")
    expect(show).to_be_hidden()
    box.get_by_label("-r 1").check()
    box.get_by_role("button", name="Check").click()
    show.click()
    expect(box.get_by_label("-S 3")).to_be_checked()
    box.get_by_role("button", name="Check").click()
    expect(box.locator(".hopper-result")).to_have_text("done, after the answer was shown")


def test_a_goal_is_reached_with_the_explorer(workshop):
    page = workshop.go("notebooks/checks.html")
    box = check(page, "goal")
    box.get_by_role("button", name="Check").click()
    expect(box.get_by_role("status")).to_contain_text("It is still slower than that.")
    explorer = page.locator("#explorer-trial")
    explorer.get_by_role("slider", name="Tasks").fill("9")
    explorer.get_by_role("slider", name="Parallel share").fill("1")
    expect(explorer.locator(".hopper-summary")).to_contain_text("9.00")
    box.get_by_role("button", name="Check").click()
    expect(box.get_by_role("status")).to_contain_text("Right.")
    page.evaluate("localStorage.clear(); history.replaceState(null, '', location.pathname)")
    page.reload()
    box.get_by_role("button", name="Check").click()
    box.get_by_role("button", name="Show the answer").click()
    expect(explorer.locator(".hopper-summary")).to_contain_text("12.00")


def test_progress_goes_to_another_browser(workshop):
    page = workshop.go("notebooks/checks.html")
    moved = page.evaluate(
        """async (home) => {
          const progress = await import(home + "progress.mjs");
          progress.noteCheck("a", { page: "p" }, { tried: true });
          progress.noteCheck("b", { page: "p" }, { tried: true, right: true });
          progress.notePage("p", true);
          const text = progress.exportText();
          progress.reset();
          progress.noteCheck("a", { page: "p" }, { tried: true, right: true });
          progress.noteCheck("b", { page: "p" }, { tried: true });
          progress.importText(text);
          let refused;
          try { progress.importText("{}"); } catch (error) { refused = error.message; }
          return [progress.load(), refused];
        }""",
        page.evaluate(HOME),
    )
    progress, refused = moved
    # The better of the two results is kept.
    assert progress["checks"]["a"]["right"]
    assert progress["checks"]["b"]["right"]
    assert "p" in progress["read"]
    assert refused == "This is no progress file of this book."


def test_a_browser_that_keeps_nothing_marks_all_the_same(workshop):
    page = workshop.go("notebooks/checks.html")
    page.evaluate("() => { Storage.prototype.setItem = () => { throw new Error('full'); }; }")
    box = check(page, "memory")
    box.get_by_label("Your answer").fill("1.29")
    box.get_by_role("button", name="Check").click()
    expect(box.get_by_role("status")).to_contain_text("Right.")


NUMBERS = [
    "", " ", "1.29", "1,29", "1.29 GB", "1.29gb", "+1.29", "1.29e0", "129e-2", "1 290", "1,290", "1.290", "1290", "1290 MB",
    "1.3", "1.33", "-1.29", "−1.29", "0,129", "1,234,567", "153,216.5", "1 234,5", "1..2", "GB", "1.29 GB.", "1e400",
    "1.29\u00a0GB", ".5", "1.", "1,2,3", "12 34", "1.29 s",
]  # fmt: skip


@pytest.fixture(scope="module")
def cases():
    """Checks and answers to mark."""
    number = NumberCheck(
        name="n",
        question="?",
        answer=31 / 24,
        unit="GB",
        decimals=2,
        explanation="So.",
        misconceptions={32 / 24: "Taken."},
        spellings=("gigabytes",),
    )
    count = NumberCheck(name="c", question="?", answer=1234, explanation="So.")
    choice = ChoiceCheck(
        name="s",
        question="?",
        explanation="So.",
        options=(
            Option(text="a", feedback="A.", right=True),
            Option(text="b", feedback="B."),
            Option(text="c", feedback="C.", right=True),
        ),
    )
    goal = GoalCheck(
        name="g",
        question="?",
        explanation="So.",
        explorer="place",
        conditions=(Condition(fact="idle_numa_nodes", operator="==", target=0, feedback="Idle."),),
        solution={"line": "aprun -n 24 ./a.out"},
    )
    pairs = [(number, text) for text in NUMBERS] + [(count, text) for text in [*NUMBERS, "1234", "1234 nodes"]]
    pairs += [(choice, chosen) for chosen in ([], [0], [1], [2], [0, 2], [0, 1], [0, 1, 2])]
    facts = [
        None,
        {},
        {"idle_numa_nodes": 0},
        {"idle_numa_nodes": 2},
        {"idle_numa_nodes": "0"},
        {"idle_numa_nodes": False},
    ]
    return pairs + [(goal, fact) for fact in facts]


def test_the_page_marks_as_python_does(workshop, cases):
    page = workshop.go("notebooks/checks.html")
    data = [[check.to_dict(), answer] for check, answer in cases]
    marked = page.evaluate(
        """async ([home, cases]) => {
          const { mark } = await import(home + "marking.mjs");
          return cases.map(([check, answer]) => mark(check, answer));
        }""",
        [page.evaluate(HOME), json.loads(json.dumps(data))],
    )
    for (one, answer), verdict in zip(cases, marked, strict=True):
        assert verdict == one.grade(answer)._asdict(), f"{one.name} {answer!r}"
