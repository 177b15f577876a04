"""``hopper preflight``: free memory of nodes, from a file or standard input, or on this machine."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hopperkit.cli.common import fail, read_source
from hopperkit.cli.question import question_command, show
from hopperkit.questions.failure.preflight import QUESTION

if TYPE_CHECKING:
    from hopperkit.questions.question import Question

_THIS_MACHINE = "/proc/buddyinfo"


def _run(question: "Question", values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Answer, or print only the nodes to exclude."""
    exclude_list, file = values.pop("exclude_list", None), values.pop("file", None)
    if file is None and not Path(_THIS_MACHINE).exists():
        fail(f"this machine has no {_THIS_MACHINE}; give a file with copies from the nodes", as_json=as_json)
    text = read_source(file or _THIS_MACHINE, what="buddyinfo", as_json=as_json)
    result = question.run(buddyinfo=text, **values)
    if not exclude_list:
        show(question.name, result, as_json, show_all)
        return
    click.echo(result.copyables[0].text if result.copyables else "")
    for finding in result.findings:
        if finding.code == "task-numbers":
            click.echo(f"hopper: {finding.message}", err=True)
    sys.exit(1 if result.copyables else 0)


preflight = question_command(
    QUESTION,
    _run,
    left_out=("buddyinfo",),
    parameters=[
        click.Argument(["file"], required=False),
        click.Option(["--exclude-list"], is_flag=True, help="Print only the nodes short of memory."),
    ],
    lines="""
hopper preflight
srun --label --ntasks-per-node=1 cat /proc/buddyinfo | hopper preflight - --need 29GB
srun --ntasks-per-node=1 sh -c 'sed "s/^/$(hostname -s): /" /proc/buddyinfo' | hopper preflight -
""",
)
