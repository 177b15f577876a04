"""``hopper memory``: which layouts give each task the memory it needs, and what each is charged."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from hopperlib.cli.common import FiniteRange, fail, print_json

if TYPE_CHECKING:
    from hopperlib.machine import Machine, NodeKind
    from hopperlib.node.layouts import Layout

__all__ = ["command"]

_SHOWN = 12

_HELP = """Say which layouts give each task the memory it needs, and what each is charged.

A job is charged for whole nodes, so idle cores cost too. The cost factor counts the cores charged for each core's
worth of work: 1 with every core at work, 2 on half-packed nodes. Exit status: 0 a layout fits, 1 none does, 2 bad input.

\b
  hopper memory --need 2GB --tasks 384
  hopper memory --machine perlmutter --need 6GB --tasks 1024 --threads 4
  hopper memory --need 1500MB --tasks 960 --files 1 --hours 6 --json
"""


def _machine(name: str, as_json: bool) -> Machine:
    """Return the machine, or end with one message."""
    from hopperlib.machine import Machine, MachineError

    try:
        return Machine.load(name)
    except MachineError as error:
        fail(str(error), as_json=as_json, details={"flag": "--machine", "problems": list(error.problems)})


def _kinds(machine: Machine, name: str | None, as_json: bool) -> tuple[NodeKind, ...]:
    """Return the kinds of node to use."""
    if name is None:
        return machine.node_kinds
    try:
        return (machine.node(name),)
    except ValueError as error:
        fail(str(error), as_json=as_json, details={"flag": "--kind"})


def _need_gb(text: str, as_json: bool) -> float:
    """Return a memory size that names its unit. [GB]"""
    from hopperlib.node.launch.components import LaunchError
    from hopperlib.node.launch.option_values import memory_gb

    size = "".join(text.split())
    if re.fullmatch(r"[0-9.]+", size):
        fail(
            f"--need {text} names no unit; write it behind the number, as in 2GB or 1500MB",
            as_json=as_json,
            details={"flag": "--need"},
        )
    try:
        return memory_gb("--need", size)
    except LaunchError:
        rule = "must be a number with its unit, such as 2GB or 1500MB"
        fail(f"--need {text} {rule}", as_json=as_json, details={"flag": "--need"})


def _data(layout: Layout, best: Layout, hours: float, threads: int) -> dict[str, Any]:
    """Return a layout for programs."""
    return {
        "node_kind": layout.node_kind.name,
        "nodes": layout.nodes,
        "tasks_per_node": layout.tasks_per_node,
        "threads_per_task": layout.threads_per_task,
        "memory_per_task_gb": round(layout.memory_per_task_gb, 6),
        "memory_is_local": layout.memory_is_local,
        "idle_cores_per_node": layout.idle_cores,
        "cost_factor": round(layout.cost_factor, 6),
        "node_hours": round(layout.node_hours(hours, threads), 6),
        "core_hours": round(layout.core_hours(hours, threads), 6),
        "launch_line": layout.launch_line,
        "cheapest": layout is best,
    }


def _print_layouts(found: tuple[Layout, ...], best: Layout, hours: float, threads: int, show_all: bool) -> None:
    """Print layouts as a table; the cheapest is marked, in words and in bold."""
    heads = ("kind", "nodes", "tasks/node", "threads/task", "idle cores", "GB/task", "near", "cost", "node h", "core h")
    shown = found if show_all else found[:_SHOWN]
    rows = [
        (
            one.node_kind.name,
            f"{one.nodes:,}",
            f"{one.tasks_per_node}",
            f"{one.threads_per_task}",
            f"{one.idle_cores}",
            f"{one.memory_per_task_gb:.2f}",
            "yes" if one.memory_is_local else "no",
            f"{one.cost_factor:.3f}",
            f"{one.node_hours(hours, threads):,.1f}",
            f"{one.core_hours(hours, threads):,.0f}",
        )
        for one in shown
    ]
    widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(len(heads))]
    for number, row in enumerate([heads, *rows], start=-1):
        cells = [
            f"{cell:<{w}}" if i == 0 else f"{cell:>{w}}" for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        ]
        marked = number >= 0 and shown[number] is best
        click.secho("  ".join(cells) + ("  <- cheapest" if marked else ""), bold=marked or number < 0)
    if len(found) > len(shown):
        click.echo(f"... and {len(found) - len(shown)} more, none cheaper; --all prints them")


def _print_text(found: tuple[Layout, ...], best: Layout, hours: float, threads: int | None, show_all: bool) -> None:
    """Print the answer for people."""
    from hopperlib.node.layouts import break_even_efficiency, cheapest

    machine = best.machine
    wide = f" of {threads} threads" if threads else ""
    click.echo(
        f"{machine.title}: {best.tasks:,} tasks{wide}, {best.need_gb:g} GB each. {hours:g} h of run time with ",
        nl=False,
    )
    click.echo(f"{threads or 1} thread{'s' if (threads or 1) > 1 else ''} a task.\n")
    _print_layouts(found, best, hours, threads or 1, show_all)
    click.echo(
        "\nnear: every NUMA node's own memory holds what its tasks need. cost: cores charged for each core's worth of work."
    )
    if best.launch_line:
        click.echo(
            f"the cheapest: {best.launch_line}"
            + ("" if best.node_kind is machine.node() else f"   (on {best.node_kind.name} nodes)")
        )
    plain = cheapest(found, threads=1, kind=machine.node())
    if plain is not None and plain is not best:
        click.echo(
            f"on {plain.node_kind.name} nodes with one thread a task: {plain.launch_line or ''} (cost {plain.cost_factor:.3f})"
        )
        threaded = cheapest(tuple(one for one in found if one.threads_per_task > 1), kind=machine.node())
        if threaded is not None and threaded.cost_factor < plain.cost_factor:
            share = break_even_efficiency(plain, threaded)
            click.echo(
                f"a thread counts as {threaded.thread_efficiency:.0%} of a task (assumed); {threaded.tasks_per_node} tasks of "
                f"{threaded.threads_per_task} threads are the cheaper ones from {share:.0%} on"
            )


@click.command(name="memory", help=_HELP, short_help="Which layouts give each task its memory, at what cost.")
@click.option("--need", required=True, metavar="SIZE", help="Memory of each task, with its unit: 2GB, 1500MB.")
@click.option("--tasks", required=True, type=click.IntRange(1, 10**9), metavar="N", help="MPI tasks of the job.")
@click.option(
    "--threads",
    type=click.IntRange(1),
    metavar="T",
    help="Threads of each task; without it both one and more are tried.",
)
@click.option(
    "--machine",
    default="hopper",
    show_default=True,
    metavar="M",
    help="A machine's name, or the path of a machine file.",
)
@click.option(
    "--kind", metavar="KIND", help="Only this kind of node, such as standard; by default every kind by itself."
)
@click.option(
    "--files",
    type=click.IntRange(0, 10**6),
    default=0,
    show_default=True,
    metavar="N",
    help="Files that each task has open through iobuf, 4 MB of buffers each.",
)
@click.option(
    "--hours",
    type=FiniteRange(0, min_open=True),
    default=1.0,
    show_default=True,
    metavar="H",
    help="Run time with one thread a task (or with --threads).",
)
@click.option(
    "--thread-efficiency",
    type=FiniteRange(0, 1),
    default=1.0,
    show_default=True,
    metavar="E",
    help="What each thread beyond the first does, as a share of a task's work (assumed).",
)
@click.option("--all", "show_all", is_flag=True, help="Print every layout.")
@click.option("--json", "as_json", is_flag=True, help="Print data for programs.")
def command(
    *,
    need: str,
    tasks: int,
    threads: int | None,
    machine: str,
    kind: str | None,
    files: int,
    hours: float,
    thread_efficiency: float,
    show_all: bool,
    as_json: bool,
) -> None:
    """Run ``hopper memory``."""
    from hopperlib.node.layouts import cheapest, layouts, obstacle
    from hopperlib.node.memory import buffer_memory

    loaded = _machine(machine, as_json)
    kinds = _kinds(loaded, kind, as_json)
    need_gb = _need_gb(need, as_json) + buffer_memory(files)
    job: dict[str, Any] = {"need_gb": need_gb, "tasks": tasks, "threads": threads, "kinds": kinds}
    try:
        found = layouts(loaded, **job, thread_efficiency=thread_efficiency)
        best = cheapest(found)
        hindered = None if found else obstacle(loaded, **job)
    except ValueError as error:
        fail(str(error), as_json=as_json)
    asked = {"machine": loaded.name, "need_gb": round(need_gb, 6), "tasks": tasks, "threads": threads, "hours": hours}
    asked["thread_efficiency"] = thread_efficiency
    if best is None:
        assert hindered is not None
        if as_json:
            print_json({**asked, "layouts": [], "reason": hindered.reason, "remedy": hindered.remedy})
        else:
            click.echo(f"no layout fits: {hindered.reason}\nwhat would do: {hindered.remedy}")
        raise SystemExit(1)
    if as_json:
        print_json({**asked, "layouts": [_data(one, best, hours, threads or 1) for one in found]})
    else:
        _print_text(found, best, hours, threads, show_all)
