"""``hopper stripe``: the stripe count and size that suit a file, with the commands and the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hopperlib.cli.common import FiniteRange, fail, print_json

if TYPE_CHECKING:
    from hopperlib.machine import FileSystem, Machine

__all__ = ["command"]

_HELP = """Recommend how to stripe a file, with the commands to type and the reason.

Exit status: 0 fine, 1 there is something to look out for that can break the run, 2 bad input.

\b
  hopper stripe --size 31TB --writers 20000 --pattern shared
  hopper stripe --size 2GB --writers 1 --pattern one-writer --machine perlmutter
  hopper stripe --size 500GB --writers 960 --pattern file-per-process --osts 40 --ost-rate 500 --json
"""

# OSTs of a server where only the number of OSTs is known.
_OSTS_OF_A_SERVER = 1


def _machine(name: str, as_json: bool) -> Machine:
    """Return the machine, or end with one message."""
    from hopperlib.machine import Machine, MachineError

    try:
        return Machine.load(name)
    except MachineError as error:
        fail(str(error), as_json=as_json, details={"flag": "--machine", "problems": list(error.problems)})


def _system(machine: Machine, osts: int | None, ost_rate_mb_s: float | None, as_json: bool) -> FileSystem:
    """Return the machine's file system, or one of so many OSTs."""
    from dataclasses import replace

    from hopperlib.storage.lustre.client import file_system_of

    try:
        system = file_system_of(machine)
    except ValueError as error:
        fail(str(error), as_json=as_json, details={"flag": "--machine"})
    rate = system.ost_peak_gb_s if ost_rate_mb_s is None else ost_rate_mb_s / 1000
    if osts is None:
        return system if ost_rate_mb_s is None else replace(system, peak_gb_s=rate * system.osts)
    return replace(
        system,
        name="own",
        osts=osts,
        osts_per_oss=_OSTS_OF_A_SERVER,
        osts_per_controller=None,
        peak_gb_s=rate * osts,
        max_stripe_count=osts,
        default_stripe_count=min(system.default_stripe_count, osts),
    )


def _size(text: str, as_json: bool) -> int:
    """Return the size of the data. [bytes]"""
    from hopperlib.units import size_bytes

    try:
        size = size_bytes(text)
    except ValueError as error:
        fail(f"--size: {error}", as_json=as_json, details={"flag": "--size"})
    if size < 1:
        fail(f"--size={text} must be at least 1 byte", as_json=as_json, details={"flag": "--size"})
    return size


@click.command(name="stripe", help=_HELP, short_help="How to stripe a file: count, size, commands, reason.")
@click.option("--size", required=True, metavar="SIZE", help="All data of a dump together: 31TB, 500GB, 64M.")
@click.option("--writers", required=True, type=click.IntRange(1, 10**9), metavar="N", help="Tasks that hold the data.")
@click.option(
    "--pattern",
    required=True,
    type=click.Choice(("shared", "file-per-process", "one-writer")),
    help="One file for all, one file a task, or one task that writes all.",
)
@click.option("--nodes", type=click.IntRange(1, 10**7), metavar="N", help="Nodes of the writers; by default packed.")
@click.option(
    "--machine",
    default="hopper",
    show_default=True,
    metavar="M",
    help="A machine's name, or the path of a machine file.",
)
@click.option(
    "--osts", type=click.IntRange(1, 100_000), metavar="N", help="OSTs of another file system (lfs df counts them)."
)
@click.option(
    "--ost-rate",
    type=FiniteRange(0, min_open=True),
    metavar="MB/s",
    help="What one OST takes; by default the machine's.",
)
@click.option("--directory", default="DIRECTORY", show_default=True, metavar="DIR", help="Where the files will be.")
@click.option("--json", "as_json", is_flag=True, help="Print data for programs.")
def command(
    *,
    size: str,
    writers: int,
    pattern: str,
    nodes: int | None,
    machine: str,
    osts: int | None,
    ost_rate: float | None,
    directory: str,
    as_json: bool,
) -> None:
    """Run ``hopper stripe``."""
    from hopperlib.storage.lustre.rates import Writing, estimate
    from hopperlib.storage.lustre.stripe_advice import advise

    loaded = _machine(machine, as_json)
    system = _system(loaded, osts, ost_rate, as_json)
    total = _size(size, as_json)
    if nodes is not None and nodes > writers:
        fail(f"--nodes={nodes} must not be more than --writers={writers}", as_json=as_json, details={"flag": "--nodes"})
    advice = advise(
        total, writers, pattern, system, nodes=nodes, cores_per_node=loaded.node().cores, directory=directory
    )
    callers = 1 if pattern == "one-writer" else writers
    used = -(-callers // loaded.node().cores) if nodes is None else min(nodes, callers)
    writing = Writing(
        size_bytes=total,
        writers=callers,
        nodes=used,
        pattern={"shared": "collective", "one-writer": "shared"}.get(pattern, pattern),
    )
    expected = estimate(writing, advice.layout, system)
    too_large = total > system.capacity_pb * 1e15
    data: dict[str, Any] = {
        "machine": loaded.name,
        "file_system": {"name": system.name, "osts": system.osts, "ost_rate_gb_s": round(system.ost_peak_gb_s, 6)},
        "size_bytes": total,
        "writers": writers,
        "nodes": used,
        "pattern": pattern,
        "stripe_count": advice.layout.stripe_count,
        "stripe_size_bytes": advice.layout.stripe_size_bytes,
        "commands": list(advice.commands),
        "hints": dict(advice.hints),
        "hints_line": advice.hints_line,
        "reasons": list(advice.reasons),
        "cautions": list(advice.cautions),
        "estimate": {
            "rate_gb_s": round(expected.rate_gb_s, 6),
            "time_s": round(expected.time_s, 3),
            "limit": expected.limit,
        },
    }
    if as_json:
        print_json(data)
    else:
        _print_text(data, osts is not None and ost_rate is None)
    if too_large:
        raise SystemExit(1)


def _print_text(data: dict[str, Any], rate_assumed: bool) -> None:
    """Print the answer for people."""
    for line in data["commands"]:
        click.secho(line, bold=True)
    if data["hints_line"]:
        click.secho(data["hints_line"], bold=True)
    click.echo()
    for reason in data["reasons"]:
        click.echo(f"because: {reason}")
    for caution in data["cautions"]:
        click.echo(f"mind: {caution}")
    expected = data["estimate"]
    click.echo(
        f"at best about {expected['rate_gb_s']:,.1f} GB/s, {expected['time_s']:,.1f} s; limited by the {expected['limit']}"
        " (healthy OSTs, nobody else writing)"
    )
    if rate_assumed:
        rate = 1000 * data["file_system"]["ost_rate_gb_s"]
        click.echo(
            f"an OST is taken to be as fast as on {data['machine']}, {rate:,.0f} MB/s; say yours with --ost-rate"
        )
