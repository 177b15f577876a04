"""``hopper place``: where the tasks of a launch line land, what is wrong, which line is better."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hopperlib.cli.common import FiniteRange, fail, print_json, read_source

if TYPE_CHECKING:
    from hopperlib.machine import Machine
    from hopperlib.node.review.review import Review

__all__ = ["command"]

FORMATS = ("text", "ascii", "tasks", "cc", "map_cpu", "mask_cpu", "rank-order", "rankfile")

# Options by the names that the models have for them.
_FLAGS = {"kind": "--kind", "memory_per_task_gb": "--memory-per-task", "core_cap_gb_s": "--core-cap"}

_HELP = """Say where the tasks of a launch line land, what is wrong, and which line is better.

LINE is an aprun or srun line, in quotes or after "--"; FILE a batch script; "-" reads either from
standard input. A script's launch lines are answered one after the other; as data, and as lists, the first
or the one that --launch says. Exit status: 0 fine, 1 a problem was found in any of them, 2 one would be refused.

\b
  hopper place "aprun -n 384 -N 12 vasp"
  hopper place --machine perlmutter -- srun -N 2 -n 16 -c 32 ./a.out
  hopper place --json job.pbs
"""


class _PlaceCommand(click.Command):
    """A command that says how to give a line when its options are taken for the command's own."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse; an option that this command does not have is most often one of an unquoted line."""
        # The parser empties the list.
        words = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if not any(word in ("aprun", "srun") for word in words):
                raise
            hint = 'put the launch line in quotes, or "--" before it'
            raise click.UsageError(f"{error.option_name} is no option of hopper place; {hint}", ctx) from None


def _text_of(words: tuple[str, ...], as_json: bool) -> str:
    """Return the launch text: standard input, a file, or the words themselves."""
    if words == ("-",):
        return read_source("-", what="launch line", as_json=as_json)
    if len(words) == 1:
        # One word that is no launcher is meant as a file, so that a missing one is told as such.
        alone = bool(words[0]) and not any(char.isspace() for char in words[0]) and words[0] not in ("aprun", "srun")
        try:
            is_file = alone or Path(words[0]).is_file()
        except (OSError, ValueError):
            # Too long for a file name, or with a zero byte: it is a line.
            is_file = False
        return read_source(words[0], what="script", as_json=as_json) if is_file else words[0]
    return shlex.join(words)


def _machine(name: str, as_json: bool) -> Machine:
    """Return a machine by name or path, or end with exit status 2."""
    from hopperlib.machine import Machine, MachineError

    try:
        return Machine.load(name)
    except MachineError as error:
        fail(str(error), as_json=as_json, details={"flag": "--machine", "value": name, "rule": str(error)})


def _reviews(text: str, machine: Machine, as_json: bool, **options: Any) -> tuple[Review, ...]:
    """Return the review of each launch line, or end with exit status 2 and the launcher's words."""
    from hopperlib.node.launch.components import LaunchError
    from hopperlib.node.review.review import review_lines

    try:
        return review_lines(text, machine, **options)
    except LaunchError as error:
        from hopperlib.node.review.as_data import error_data

        fail(error.message, as_json=as_json, details=error_data(error)["error"])
    except ValueError as error:
        # A kind of node that the machine does not have, a quantity out of bounds: the message names both.
        name, _, rest = str(error).partition("=")
        value, _, rule = rest.partition(" ")
        flag = _FLAGS.get(name, name)
        fail(str(error), as_json=as_json, details={"flag": flag, "value": value.strip("'"), "rule": rule})


def _write_svg(path: str, review: Review, node: int) -> None:
    """Write the drawing of a node."""
    from hopperlib.node.review.slowdown import memory_need
    from hopperlib.questions.node.drawings import node_drawing, standalone_svg

    placement = review.placement
    placed = placement.nodes[node]
    each = review.cost.memory_per_task_gb[placed.component]
    need = memory_need(placed.pattern, placement.node_kind, each) if each else None
    svg = standalone_svg(node_drawing(placement.node_kind, placed, memory_need_gb=need))
    try:
        Path(path).write_text(svg, encoding="utf-8")
    except OSError as error:
        fail(f"cannot write drawing {path}: {error.strerror or error}")


def _lists(review: Review, form: str) -> str:
    """Return the placement in one of the forms that launchers and MPI libraries take."""
    from hopperlib.node.review import binding_lists as bindings
    from hopperlib.node.review.as_data import task_rows

    placement = review.placement
    if form == "rank-order":
        return bindings.rank_order(placement)
    if form == "rankfile":
        return bindings.rank_file(placement)
    if form == "tasks":
        rows = [("task", "program", "node", "cores", "numa_nodes", "bound"), *task_rows(placement)]
        return "".join("\t".join(str(cell) for cell in row) + "\n" for row in rows)
    makers = {"cc": bindings.cc_list, "map_cpu": bindings.map_cpu, "mask_cpu": bindings.mask_cpu}
    try:
        patterns = [bindings.common_pattern(placement, number) for number in range(len(placement.launch.components))]
        return "".join(makers[form](pattern) + "\n" for pattern in patterns)
    except ValueError as error:
        fail(f"--format {form}: {error}")


def _one_of(reviews: tuple[Review, ...], launch: int | None, as_json: bool) -> tuple[Review, ...]:
    """Return the review that was asked for, or all."""
    if launch is None:
        return reviews
    if launch > len(reviews):
        rule = f"must be from 1 to {len(reviews)}, the launch lines of this text"
        details = {"flag": "--launch", "value": str(launch), "rule": rule}
        fail(f"--launch {launch} {rule}", as_json=as_json, details=details)
    return (reviews[launch - 1],)


def _check_node(review: Review, node: int, as_json: bool) -> None:
    """Refuse a node that the job does not have."""
    nodes = len(review.placement.nodes)
    if node >= nodes:
        rule = f"must be from 0 to {nodes - 1}, the nodes of this job"
        fail(f"--node {node} {rule}", as_json=as_json, details={"flag": "--node", "value": str(node), "rule": rule})


def _say_others(reviews: tuple[Review, ...]) -> None:
    """Name the launch lines that are not printed and have a problem."""
    for number, other in enumerate(reviews[1:], start=2):
        if other.problems:
            codes = ", ".join(dict.fromkeys(one.code for one in other.problems))
            click.echo(f"hopper: launch line {number} has a problem too: {codes}; --launch {number} tells", err=True)


def _print_text(review: Review, *, node: int, low: float, high: float, ascii_only: bool) -> None:
    """Print the answer for people."""
    from hopperlib.cli.placement_text import print_review

    print_review(review, node=node, low=low, high=high, ascii_only=ascii_only)


@click.command(name="place", cls=_PlaceCommand, help=_HELP, short_help="Where the tasks of a launch line land.")
@click.argument("line", nargs=-1, required=True, metavar="LINE|FILE|-")
@click.option(
    "--machine",
    default="hopper",
    show_default=True,
    metavar="M",
    help="A machine's name, or the path of a machine file.",
)
@click.option("--kind", metavar="KIND", help="Kind of node, such as large-memory; by default the ordinary one.")
@click.option(
    "--threads",
    type=click.IntRange(1, 1024),
    metavar="N",
    help="OpenMP threads of a task, in place of OMP_NUM_THREADS.",
)
@click.option("--memory-per-task", type=FiniteRange(0, min_open=True), metavar="GB", help="Memory of a task.")
@click.option(
    "--memory-bound",
    type=(FiniteRange(0, 1), FiniteRange(0, 1)),
    default=(0.0, 1.0),
    show_default=True,
    metavar="LOW HIGH",
    help="Share of the run time, spread evenly, that waits for memory.",
)
@click.option(
    "--core-cap", type=FiniteRange(0, min_open=True), metavar="GB/S", help="What one core can draw from memory."
)
@click.option("--node", type=click.IntRange(0), default=0, show_default=True, help="Node of the job to draw, from 0.")
@click.option("--launch", type=click.IntRange(1), metavar="N", help="Only launch line N of a script, from 1.")
@click.option("--svg", metavar="FILE", help="Write the drawing of that node.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="What to print.")
@click.option("--json", "as_json", is_flag=True, help="Print data for programs.")
def command(
    *,
    line: tuple[str, ...],
    machine: str,
    kind: str | None,
    threads: int | None,
    memory_per_task: float | None,
    memory_bound: tuple[float, float],
    core_cap: float | None,
    node: int,
    launch: int | None,
    svg: str | None,
    form: str,
    as_json: bool,
) -> None:
    """Run ``hopper place``."""
    low, high = memory_bound
    if low > high:
        rule = "the first must not be above the second"
        details = {"flag": "--memory-bound", "value": f"{low:g} {high:g}", "rule": rule}
        fail(f"--memory-bound {low:g} {high:g}: {rule}", as_json=as_json, details=details)
    reviews = _reviews(
        _text_of(line, as_json),
        _machine(machine, as_json),
        as_json,
        threads=threads,
        kind=kind,
        core_cap_gb_s=core_cap,
        memory_per_task_gb=memory_per_task,
    )
    reviews = _one_of(reviews, launch, as_json)
    review = reviews[0]
    _check_node(review, node, as_json)
    if svg:
        _write_svg(svg, review, node)
    if as_json:
        from hopperlib.node.review.as_data import placement_data

        print_json(placement_data(review, memory_bound_fraction=(low, high)))
    elif form in ("text", "ascii"):
        # One that is repeated is told once.
        for number, shown in enumerate({id(one): one for one in reviews}.values()):
            if number:
                click.echo()
            if len(reviews) > 1:
                click.secho(f"== {shown.placement.launch.text}", bold=True)
            _print_text(
                shown,
                node=min(node, len(shown.placement.nodes) - 1),
                low=low,
                high=high,
                ascii_only=form == "ascii",
            )
    else:
        click.echo(_lists(review, form), nl=False)
    if as_json or form not in ("text", "ascii"):
        _say_others(reviews)
    if any(one.problems for one in reviews):
        raise SystemExit(1)
