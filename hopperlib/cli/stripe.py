"""``hopper stripe``: the question, asked for the advised layout where no stripe count is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hopperlib.cli.question import answer, question_command
from hopperlib.errors import refusal
from hopperlib.questions.question import load

if TYPE_CHECKING:
    from hopperlib.questions.question import Question

__all__ = ["command"]

_EXAMPLES = """hopper stripe --size 31TB --writers 20000 --pattern shared
hopper stripe --size 2GB --writers 1 --pattern one-writer --machine perlmutter
hopper stripe --size 500GB --writers 960 --pattern file-per-process --osts 40 --ost-rate 500 --json"""


def _run(question: Question, values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Answer; a stripe size alone would say nothing of the advised layout."""
    if "stripe_mib" in values and "stripe_count" not in values:
        raise refusal("stripe_mib", values["stripe_mib"], "needs --stripe-count: the advised layout has its own size")
    answer(question, values, as_json, show_all)


command = question_command(load("stripe").starting(stripe_count=0), run=_run, examples=_EXAMPLES)
