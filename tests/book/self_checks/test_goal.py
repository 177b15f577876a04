"""Goals: the explorer can reach them, and does not start there."""

from __future__ import annotations

from typing import Any

import pytest

from hopperbook.self_checks import Condition, GoalCheck
from hopperkit.questions.question import Question
from hopperlib.errors import InputError

THREE = Condition(fact="numa_nodes_used", operator="==", target=3, feedback="Three are wanted.")
HALF = {"tasks": 12, "numa_nodes_used": 2, "full": False, "share": 0.5, "first": "NUMA node 0"}


def goal_check(**parts: Any) -> GoalCheck:
    texts = {"name": "g", "question": "Reach three.", "explanation": "Reached.", "explorer": "toy"}
    return GoalCheck(**texts | {"conditions": (THREE,), "solution": {"tasks": 13}} | parts)


@pytest.mark.parametrize(
    ("fact", "operator", "target", "holds"),
    [
        ("tasks", "==", 12, True),
        ("tasks", "!=", 12, False),
        ("tasks", "<", 12, False),
        ("tasks", "<=", 12, True),
        ("tasks", ">", 11.5, True),
        ("tasks", ">=", 12.5, False),
        ("share", ">=", 0.5, True),
        ("full", "==", False, True),
        ("full", "!=", True, True),
        ("first", "==", "NUMA node 0", True),
        ("first", "!=", "NUMA node 1", True),
        # Another kind never fits: not even "is not".
        ("full", "==", 0, False),
        ("tasks", "==", "12", False),
        ("first", "!=", 0, False),
        ("missing", "!=", 0, False),
        ("first", "<", 3, False),
    ],
)
def test_conditions(fact: str, operator: Any, target: Any, holds: bool) -> None:
    assert Condition(fact=fact, operator=operator, target=target, feedback="-").holds(HALF) is holds


@pytest.mark.parametrize(
    ("operator", "target", "message"),
    [
        ("~", 1, r"^operator='~' must be one of: ==, !=, <, <=, >, >=$"),
        ("<", "12", r"^share < '12': only numbers can be larger or smaller$"),
        (">=", True, r"^share >= True: only numbers can be larger or smaller$"),
        ("==", 0.5, r"^share == 0.5: give two bounds, as computed decimals are never exact$"),
    ],
)
def test_conditions_that_mean_nothing(operator: Any, target: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Condition(fact="share", operator=operator, target=target, feedback="-")


def test_facts_of_the_explorer_are_marked(toy_explorer: Question) -> None:
    check = goal_check()
    # 12 tasks fill two NUMA nodes of six cores, 13 to 18 need a third, 19 a fourth.
    right = [tasks for tasks in range(1, 25) if check.grade(toy_explorer.run(tasks=tasks).facts).right]
    assert right == [13, 14, 15, 16, 17, 18]


def test_a_solution_that_misses_is_refused(toy_explorer: Question) -> None:
    with pytest.raises(ValueError, match=r"^check 'g': its solution misses the goal: Three are wanted.$"):
        goal_check(solution={"tasks": 19})


def test_a_misspelled_fact_gets_the_nearest(toy_explorer: Question) -> None:
    slip = Condition(fact="numa_nodes_use", operator="==", target=1, feedback="-")
    with pytest.raises(ValueError, match=r"has no fact 'numa_nodes_use'; did you mean 'numa_nodes_used'\?"):
        goal_check(conditions=(slip,))


def test_a_goal_met_at_the_start_is_refused(toy_explorer: Question) -> None:
    two = Condition(fact="numa_nodes_used", operator="<=", target=2, feedback="-")
    with pytest.raises(ValueError, match=r"^check 'g': the explorer starts at the goal$"):
        goal_check(conditions=(two,), solution={"tasks": 6})


def test_explorer_and_controls_must_exist(toy_explorer: Question) -> None:
    with pytest.raises(InputError, match=r"^there is no question 'tyo'; did you mean 'toy'"):
        goal_check(explorer="tyo")
    with pytest.raises(InputError, match=r"^nodes=3 is not a control of 'toy'"):
        goal_check(solution={"nodes": 3})
    with pytest.raises(ValueError, match=r"^check 'g' needs a condition$"):
        goal_check(conditions=())
