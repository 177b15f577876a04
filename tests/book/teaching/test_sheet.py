"""The instructor's sheet: an answer to every check, each mistake once, questions that need no page."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from hopperbook.self_checks import ChoiceCheck, Condition, CurveCheck, GoalCheck, NumberCheck, Option
from hopperbook.teaching.sheet import answer_of, check_lines, class_screen, mistakes_of, needs_page, sheet

TEXTS = st.text("abcdefgh ", min_size=3, max_size=12).map(str.strip).filter(bool)


def test_a_number_with_its_unit_and_what_counts_as_right():
    check = NumberCheck(
        name="memory", question="How much?", answer=31 / 24, decimals=2, unit="GB", explanation="Shared.",
        misconceptions={32 / 24: "Installed, not usable."},
    ).to_dict()  # fmt: skip
    assert answer_of(check) == "1.29 GB"
    # Slips of writing are no mistakes of thought: a thousand times too large, rounded too far.
    assert mistakes_of(check) == [("1.33 GB", "Installed, not usable.")]
    wide = NumberCheck(name="short", question="How many?", answer=20, tolerance=10, unit="nodes", explanation="Few.")
    assert answer_of(wide.to_dict()) == "20 nodes (10 to 30 counts as right)"


def test_options_and_answers_of_a_choice():
    check = ChoiceCheck(
        name="way", question="Which?", explanation="Because.",
        options=(Option("a", "Not a."), Option("b", "Yes.", right=True), Option("c", "Not a.")),
    ).to_dict()  # fmt: skip
    lines = check_lines(check, on_screen=True)
    assert [line for line in lines if line.startswith("- ")] == ["- a", "- ✓ b", "- c", "- a, c: Not a."]
    assert answer_of(check) == "b"
    assert class_screen(check).startswith("Each option with a bar")


def test_a_choice_in_a_drawing_lists_no_cores():
    check = ChoiceCheck(
        name="core", question="On which core?", explanation="In order.", node=(2, 1),
        options=(Option("core 0", "No."), Option("core 1", "Yes.", right=True)),
    ).to_dict()  # fmt: skip
    assert not any(line.startswith("- core 0") and ":" not in line for line in check_lines(check, on_screen=True))
    assert "2 NUMA nodes of 1 cores" in class_screen(check)


def test_the_heights_of_a_curve():
    check = CurveCheck(
        name="rate", question="Draw it.", explanation="Full.", x=(1, 8), x_title="Tasks", y_title="Rate", unit="GB/s",
        high=5, answer=(0.2, 1.7), documented=((8, 1.7, "printed"),),
    ).to_dict()  # fmt: skip
    assert answer_of(check) == "0.2 GB/s at 1; 1.7 GB/s at 8"
    assert "printed points" in class_screen(check)


def test_a_setting_that_reaches_a_goal_and_what_the_explorer_says():
    check = GoalCheck(
        name="sixteen", question="In the explorer, fit sixteen.", explanation="Four each.", explorer="memory",
        conditions=(
            Condition(fact="plain_tasks_per_node", operator=">=", target=16, feedback="Sixteen are wanted."),
            Condition(fact="plain_tasks_per_node", operator="<=", target=16, feedback="Sixteen are wanted."),
        ),
        solution={"need_gb": 1.9},
    ).to_dict()  # fmt: skip
    assert answer_of(check).startswith(
        "Memory per task `1.9` GB. The explorer then says: “Cheapest on Hopper: 16 tasks"
    )
    assert mistakes_of(check) == [("", "Sixteen are wanted.")]


@given(st.lists(st.tuples(TEXTS, st.booleans(), TEXTS), min_size=2, max_size=6), TEXTS)
def test_every_choice_has_an_answer_and_each_mistake_once(options, question):
    unique = list({text: (text, right, said) for text, right, said in options}.values())
    if len(unique) < 2 or not any(right for _, right, _ in unique):
        unique = [("right one", True, "Yes."), ("other", False, "No.")]
    check = ChoiceCheck(
        name="any", question=question, explanation="So.",
        options=tuple(Option(text, said, right=right) for text, right, said in unique),
    ).to_dict()  # fmt: skip
    said = [one.say for one in mistakes_of(check)]
    assert len(said) == len(set(said))
    assert {one for _, right, one in unique if not right} == set(said)
    made = sheet(minutes=10, outcomes=[], setting="", predictions=[check], checks=[])
    assert re.search(r"^\*Answer:\* \S", made, re.MULTILINE)


def test_words_that_need_the_page():
    assert needs_page("In the explorer above, find a setting.") == ["explorer"]
    assert needs_page("The documented study above has both dates.")
    assert needs_page("Run the next cell. What does it show?")
    assert not needs_page("How much is a value just above the mean, in a cell of six cores?")
