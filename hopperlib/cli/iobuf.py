"""``hopper iobuf``: check a setting of the buffering library, or write one, and say what it may buy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hopperlib.cli.common import FiniteRange, fail, print_json, read_source

if TYPE_CHECKING:
    from hopperlib.machine import Machine
    from hopperlib.storage.iobuf.params import Rule

__all__ = ["command"]

_HELP = """Check IOBUF_PARAMS, or write it for files, and say what buffering may buy.

PARAMS is the value of the variable, or the whole line that sets it; - reads it from standard input. With --files the command writes a setting instead.
The gain is that of the book's model, calibrated on two printed values of Hopper; elsewhere it tells the order of size.
Exit status: 0 fine, 1 a problem was found, 2 bad input.

\b
  hopper iobuf '*.dat:size=2M:count=2' --transfer 10000 --direction read
  hopper iobuf --files 'plt*' --files '%stdout' --transfer 64k --json
"""


def _machine(name: str, as_json: bool) -> Machine:
    """Return the machine, or end with one message."""
    from hopperlib.machine import Machine, MachineError

    try:
        return Machine.load(name)
    except MachineError as error:
        fail(str(error), as_json=as_json, details={"flag": "--machine", "problems": list(error.problems)})


def _size(text: str, as_json: bool) -> int:
    """Return the size of a call. [bytes]"""
    from hopperlib.units import size_bytes

    try:
        size = size_bytes(text, binary=True)
    except ValueError as error:
        fail(f"--transfer: {error}", as_json=as_json, details={"flag": "--transfer"})
    if size < 1:
        fail(f"--transfer={text} must be at least 1 byte", as_json=as_json, details={"flag": "--transfer"})
    return size


def _rules(params: str | None, files: tuple[str, ...], reading: bool, as_json: bool) -> tuple[Rule, ...]:
    """Return the rules given, or those that suit the files."""
    from hopperlib.storage.iobuf.params import Rule, read_params, write_params
    from hopperlib.units import BYTES_PER_MIB

    if (params is None) == (not files):
        fail("give either PARAMS or --files: one setting to check, or files to write one for", as_json=as_json)
    try:
        if params is not None:
            return read_params(params)
        # Two buffers of 2 MB were the better choice for MAESTRO, and take what the default takes.
        rules = tuple(
            Rule(pattern=name, size_bytes=2 * BYTES_PER_MIB, count=2, prefetch=1 if reading else None) for name in files
        )
        write_params(rules)
    except ValueError as error:
        fail(str(error), as_json=as_json, details={"flag": "PARAMS" if params is not None else "--files"})
    return rules


def _gain(machine: Machine, rule: Rule, transfer: int, reading: bool, tasks: int) -> float:
    """Return what a rule buys, with the costs calibrated on Hopper. [fraction]"""
    from dataclasses import replace

    from hopperlib.storage.iobuf.gains import documented_costs, gain
    from hopperlib.storage.lustre.client import file_system_of

    costs = replace(documented_costs(), task_rate_gb_s=file_system_of(machine).peak_gb_s / tasks)
    return gain(
        costs,
        transfer,
        reading=reading,
        buffer_bytes=rule.buffer_size_bytes,
        buffers=rule.buffer_count,
        prefetch=1 if rule.prefetch is None else rule.prefetch,
    )


@click.command(name="iobuf", help=_HELP, short_help="Check or write IOBUF_PARAMS.")
@click.argument("params", required=False, metavar="PARAMS")
@click.option("--files", multiple=True, metavar="PATTERN", help="Write a setting for these files; may be repeated.")
@click.option("--transfer", metavar="SIZE", help="What the program moves in one call: 10000, 64k, 1M.")
@click.option(
    "--direction",
    type=click.Choice(("read", "write")),
    default="write",
    show_default=True,
    help="What the program does.",
)
@click.option(
    "--machine",
    default="hopper",
    show_default=True,
    metavar="M",
    help="A machine's name, or the path of a machine file.",
)
@click.option(
    "--tasks",
    type=click.IntRange(1, 10**9),
    default=1560,
    show_default=True,
    metavar="N",
    help="Tasks that share the file system.",
)
@click.option(
    "--tasks-per-node", type=click.IntRange(1, 10**6), metavar="N", help="Tasks of a node; by default one a core."
)
@click.option(
    "--open-files",
    type=click.IntRange(0, 10**6),
    default=1,
    show_default=True,
    metavar="N",
    help="Files of each pattern that a task has open.",
)
@click.option("--spare-memory", type=FiniteRange(0), metavar="GB", help="Memory of a node that buffers may take.")
@click.option("--json", "as_json", is_flag=True, help="Print data for programs.")
def command(
    *,
    params: str | None,
    files: tuple[str, ...],
    transfer: str | None,
    direction: str,
    machine: str,
    tasks: int,
    tasks_per_node: int | None,
    open_files: int,
    spare_memory: float | None,
    as_json: bool,
) -> None:
    """Run ``hopper iobuf``."""
    from hopperlib.storage.iobuf.params import buffer_bytes, check_params, write_params
    from hopperlib.storage.lustre.client import file_system_of

    if params == "-":
        params = read_source("-", what="IOBUF_PARAMS", as_json=as_json).strip()
    loaded = _machine(machine, as_json)
    reading = direction == "read"
    size = _size(transfer, as_json) if transfer is not None else None
    rules = _rules(params, files, reading, as_json)
    try:
        stripe = file_system_of(loaded).default_stripe_size_bytes
    except ValueError as error:
        fail(str(error), as_json=as_json, details={"flag": "--machine"})
    on_node = loaded.node().cores if tasks_per_node is None else tasks_per_node
    found = check_params(
        rules,
        stripe_size_bytes=stripe,
        transfer_bytes=size,
        files=open_files,
        tasks_per_node=on_node,
        spare_memory_gb=spare_memory,
    )
    data: dict[str, Any] = {
        "params": write_params(rules),
        "machine": loaded.name,
        "transfer_bytes": size,
        "direction": direction,
        "rules": [
            {
                "pattern": rule.pattern,
                "size_bytes": rule.buffer_size_bytes,
                "count": rule.buffer_count,
                "prefetch": rule.prefetch,
                "preflush": rule.preflush,
                "verbose": rule.verbose,
                "memory_per_node_bytes": buffer_bytes(rule, files=open_files, tasks=on_node),
                "gain_fraction": None if size is None else round(_gain(loaded, rule, size, reading, tasks), 6),
            }
            for rule in rules
        ],
        "findings": [{"code": one.code, "level": one.level, "message": one.message} for one in found],
    }
    if as_json:
        print_json(data)
    else:
        _print_text(data)
    if any(one.level == "problem" for one in found):
        raise SystemExit(1)


def _print_text(data: dict[str, Any]) -> None:
    """Print the answer for people."""
    click.secho(f"export IOBUF_PARAMS='{data['params']}'", bold=True)
    for rule in data["rules"]:
        line = f"{rule['pattern']}: {rule['count']} buffers of {rule['size_bytes']:,} bytes a file, {rule['memory_per_node_bytes'] / (1 << 20):,.0f} MiB of a node"
        if rule["gain_fraction"] is not None:
            line += f"; {data['direction']}s in calls of {data['transfer_bytes']:,} bytes about {rule['gain_fraction']:.1%} faster (calibrated on Hopper)"
        click.echo(line)
    for one in data["findings"]:
        click.echo(f"{one['level']}: {one['message']} [{one['code']}]")
