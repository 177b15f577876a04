"""``hopper preflight``: the question for this machine or for copies of many nodes, and the list for a launcher."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hopperlib.cli.common import fail, read_source
from hopperlib.cli.question import question_command, show
from hopperlib.questions.question import load

if TYPE_CHECKING:
    from hopperlib.questions.question import Question

__all__ = ["command"]

_EXAMPLES = """hopper preflight
srun --label --ntasks-per-node=1 cat /proc/buddyinfo | hopper preflight - --need 29GB
srun --ntasks-per-node=1 sh -c 'sed "s/^/$(hostname -s): /" /proc/buddyinfo' | hopper preflight -"""


def _run(question: Question, values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Answer for a file, for standard input, or for this machine; print only the list if asked."""
    exclude_list, file = values.pop("exclude_list", None), values.pop("file", None)
    if file is None and not Path("/proc/buddyinfo").exists():
        fail("this machine has no /proc/buddyinfo; give a file with the copies of the nodes", as_json=as_json)
    text = read_source(file or "/proc/buddyinfo", what="buddyinfo", as_json=as_json)
    result = question.run(buddyinfo=text, **values)
    if not exclude_list:
        show(question, result, as_json, show_all)
        return
    click.echo(result.copyables[0].text if result.copyables else "")
    for finding in result.findings:
        if finding.code == "task-numbers":
            click.echo(f"hopper: {finding.message}", err=True)
    sys.exit(1 if result.copyables else 0)


command = question_command(
    load("preflight"),
    extra=(
        click.Argument(["file"], required=False),
        click.Option(["--exclude-list"], is_flag=True, default=None, help="Print only the nodes that are short."),
    ),
    run=_run,
    left_out=("buddyinfo",),
    examples=_EXAMPLES,
)
