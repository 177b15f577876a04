"""An explorer of one control, in the catalogue while a test runs, and one check of each kind."""

from __future__ import annotations

import sys
import types

import pytest

from hopperbook.self_checks import (
    Check,
    ChoiceCheck,
    Condition,
    CurveCheck,
    GoalCheck,
    NumberCheck,
    Option,
)
from hopperkit.questions.catalogue import QUESTIONS
from hopperkit.questions.controls import Slider
from hopperkit.questions.question import Question
from hopperkit.questions.result import Result


def _answer(tasks: int) -> Result:
    """Fill NUMA nodes of six cores one after the other."""
    used = -(-tasks // 6)
    facts = {"tasks": tasks, "numa_nodes_used": used, "full": tasks == 24, "share": tasks / 24, "first": "NUMA node 0"}
    return Result(summary=f"{tasks} tasks use {used} NUMA nodes.", facts=facts)


@pytest.fixture
def toy_explorer(monkeypatch: pytest.MonkeyPatch) -> Question:
    """The explorer ``toy``: tasks on a node of four NUMA nodes with six cores each."""
    module = types.ModuleType("toy_explorer_module")
    explorer = Question(
        name="toy",
        title="Toy",
        question="How many NUMA nodes are used?",
        controls=(Slider(name="tasks", label="Tasks", low=1, high=24, step=1, default=12),),
        answer=_answer,
    )
    module.QUESTION = explorer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "toy_explorer_module", module)
    monkeypatch.setitem(QUESTIONS, "toy", "toy_explorer_module")
    return explorer


@pytest.fixture
def checks(toy_explorer: Question) -> dict[str, Check]:
    """One check of each kind, as written out in cases.json."""
    found: tuple[Check, ...] = (
        NumberCheck(
            name="task-memory",
            question="How much memory can each of 24 tasks allocate?",
            answer=31 / 24,
            unit="GB",
            decimals=2,
            spellings=("gigabytes",),
            explanation="31 of the 32 GB are left for 24 tasks.",
            misconceptions={
                32 / 24: "Some of the 32 GB is taken before your tasks start.",
                31 / 6: "That is for each core of one NUMA node: divide by all cores of the node.",
            },
            hints=("How much of the node's memory is usable?", "Divide it by the tasks."),
        ),
        NumberCheck(
            name="tasks-per-numa-node",
            question="How many tasks sit on NUMA node 0?",
            answer=6,
            explanation="Tasks fill it first.",
        ),
        ChoiceCheck(
            name="spread-option",
            question="Which option spreads the tasks?",
            explanation="It limits the tasks of each NUMA node.",
            options=(
                Option(text="`-N 12`", feedback="That sets how many share a node."),
                Option(text="`-S 3`", feedback="Three on each NUMA node.", right=True),
            ),
        ),
        ChoiceCheck(
            name="spread-options",
            question="Which options leave cores idle?",
            explanation="Each of them places fewer tasks than cores.",
            options=(
                Option(text="`-N 12`", feedback="Half of 24.", right=True),
                Option(text="`-N 24`", feedback="That is one task per core.", right=False),
                Option(text="`-S 3`", feedback="Half of 6.", right=True),
                Option(text="`-d 1`", feedback="That is the default depth.", right=False),
            ),
        ),
        CurveCheck(
            name="rate-by-tasks",
            question="What do 1, 8 and 24 tasks write?",
            x=(1, 8, 24),
            x_title="Tasks",
            y_title="Rate [GB/s]",
            unit="GB/s",
            high=4,
            answer=(0.2, 1.7, 1.7),
            documented=((24, 1.7, "level"),),
            explanation="The node is full.",
        ),
        GoalCheck(
            name="use-three",
            question="Make exactly three NUMA nodes busy with as few tasks as possible.",
            explanation="The thirteenth task opens the third one.",
            explorer="toy",
            conditions=(
                Condition(fact="numa_nodes_used", operator="==", target=3, feedback="Three are wanted."),
                Condition(fact="tasks", operator="<=", target=13, feedback="It can be done with fewer."),
            ),
            solution={"tasks": 13},
        ),
    )
    return {check.name: check for check in found}
