"""``hopper rank-order``: the question, and the file that it writes."""

from typing import Any

import click

from hopperkit.cli.common import write_lines
from hopperkit.cli.question import question_command, show
from hopperkit.questions.question import Question, load


def _run(question: Question, values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Answer, and write the file; ``-`` prints it in place of the answer."""
    out = values.pop("out", None)
    result = question.run(**values)
    text = result.downloads[0].text
    if out not in (None, "-"):
        write_lines(out, [text], as_json=as_json)
    if out == "-" and not as_json:
        click.echo(text, nl=False)
        return
    show(question.name, result, as_json, show_all)
    if out is not None and not as_json:
        click.echo(f"written to {out}; set MPICH_RANK_REORDER_METHOD=3 in the job")


rank_order = question_command(
    load("rank-order"),
    _run,
    parameters=[click.Option(["--out"], metavar="FILE", help="Write the file here; - prints it.")],
    lines="""
hopper rank-order --grid 16x16x12 --cores-per-node 24 --out MPICH_RANK_ORDER
hopper rank-order --grid 8x8x8x16 --periodic --cores-per-node 24 --out MPICH_RANK_ORDER
export MPICH_RANK_REORDER_METHOD=3
""",
)
