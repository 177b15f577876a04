"""``hopper machine``: list, show, check and write machine files."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from hopperlib.cli.common import complete, fail, machine_names, print_json, read_source
from hopperlib.machine import Machine, MachineError
from hopperlib.questions.result import Column, Table
from hopperlib.render.text import printable, table_lines

__all__ = ["command"]


@click.group(name="machine")
def command() -> None:
    """List, show, check and write machine files.

    A machine file states a machine's nodes, network, file systems and
    launchers in TOML, each number with its source or the reason it is assumed.
    """


@command.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print data for programs.")
def list_machines(as_json: bool) -> None:
    """List the machines that come with the library."""
    machines = [Machine.load(name) for name in Machine.names()]
    if as_json:
        print_json({"machines": [_summary(machine) for machine in machines]})
        return
    rows = [[_text("-" if cell is None else cell) for cell in _summary(machine).values()] for machine in machines]
    _print_table(tuple(_summary(machines[0])), rows)


@command.command()
@click.argument("name", shell_complete=complete(machine_names))
@click.option("--json", "as_json", is_flag=True, help="Print data for programs.")
def show(name: str, as_json: bool) -> None:
    """Show every value of a machine with its source.

    NAME is a name out of `hopper machine list`, or a path.
    """
    try:
        machine = Machine.load(name)
    except MachineError as error:
        fail(str(error), as_json=as_json, details={"problems": list(error.problems)})
    if as_json:
        print_json(_everything(machine))
    else:
        _print_machine(machine)


@command.command()
@click.argument("file", shell_complete=complete())
@click.option("--json", "as_json", is_flag=True, help="Print data for programs.")
def check(file: str, as_json: bool) -> None:
    """Check a machine file and print all that is wrong in it.

    FILE is a path, or - for standard input. Exit status 0 if the file is
    sound, 2 if not.
    """
    text = read_source(file, what="machine file", as_json=as_json)
    try:
        machine = Machine.from_toml(text, name="standard input" if file == "-" else Path(file).name)
    except MachineError as error:
        if as_json:
            print_json({"file": file, "valid": False, "problems": list(error.problems)})
        else:
            for problem in error.problems:
                click.echo(printable(problem), err=True)
            count = len(error.problems)
            click.echo(f"hopper: {printable(file)}: {count} problem{'s' if count > 1 else ''}", err=True)
        raise SystemExit(2) from None
    if as_json:
        print_json({"file": file, "valid": True, "problems": [], "machine": _summary(machine)})
    else:
        click.echo(
            f"{printable(file)}: sound; {_size(machine)}, {len(machine.provenance)} values, {_assumed(machine)} of them assumed"
        )


@command.command()
@click.argument("files", nargs=-1, shell_complete=complete())
@click.option("--name", default="mine", show_default=True, help="Name of the machine, in lower case.")
@click.option("--out", type=click.Path(path_type=Path), help="File to write; by default standard output.")
@click.option("--json", "as_json", is_flag=True, help="Print data for programs, the file's text in it.")
def new(files: tuple[str, ...], name: str, out: Path | None, as_json: bool) -> None:
    """Write a machine file from what tools say of the nodes.

    FILES hold the output of lscpu, lscpu -J, lstopo --of xml, scontrol show node,
    nvidia-smi topo -m, rocm-smi --showtopo or lfs df; - is standard input.
    Several files complete each other: scontrol counts the nodes, lstopo or lscpu
    of one node knows its NUMA nodes, lfs the file systems. Without
    FILES the tools that this computer has are run. What no tool tells is
    written as assumed.
    """
    from hopperlib.readers.hardware import Hardware, machine_from, read_hardware

    texts = [(file, read_source(file, what="file", as_json=as_json)) for file in files] or _run_tools()
    records: list[Hardware] = []
    for origin, text in texts:
        try:
            records += read_hardware(text)
        except ValueError as error:
            if files:
                fail(f"{origin}: {error}", as_json=as_json)
            click.echo(printable(f"hopper: {origin}: {error}"), err=True)
    try:
        machine = machine_from(records, name=name)
    except ValueError as error:
        fail(str(error), as_json=as_json)
    tools = ", ".join(machine.sources)
    header = f"# Written by `hopper machine new` from: {tools}.\n# Look at each value that says assumed.\n\n"
    toml = header + machine.to_toml()
    if out is not None:
        _write(out, toml, as_json)
        click.echo(f"{printable(str(out))}: {_size(machine)}; {_assumed(machine)} values are assumed", err=True)
    if as_json:
        print_json({**_everything(machine), "toml": toml})
    elif out is None:
        click.echo(toml, nl=False)


def _write(out: Path, text: str, as_json: bool) -> None:
    """Write a new file; one that exists is left alone."""
    try:
        with out.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        fail(f"--out {out}: exists already and is not overwritten", as_json=as_json)
    except OSError as error:
        fail(f"--out {out}: cannot be written: {error.strerror or error}", as_json=as_json)


def _run_tools() -> list[tuple[str, str]]:
    """Return the output of the tools that this computer has."""
    outputs = []
    lstopo = "lstopo-no-graphics" if shutil.which("lstopo-no-graphics") else "lstopo"
    for line in (
        ("scontrol", "show", "node", "-o"),
        (lstopo, "--of", "xml"),
        ("lscpu",),
        ("nvidia-smi", "topo", "-m"),
        ("rocm-smi", "--showtopo"),
        ("lfs", "df"),
    ):
        path = shutil.which(line[0])
        if path is None:
            continue
        try:
            done = subprocess.run(
                [path, *line[1:]],
                capture_output=True,
                check=True,
                timeout=60,
                stdin=subprocess.DEVNULL,
                env={**os.environ, "LC_ALL": "C"},
            )
        except (OSError, subprocess.SubprocessError) as error:
            click.echo(f"hopper: {' '.join(line)} failed and is left out: {error}", err=True)
            continue
        outputs.append((line[0], done.stdout.decode("utf-8", errors="replace")))
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        outputs.append((str(meminfo), meminfo.read_text(encoding="utf-8", errors="replace")))
    if not outputs:
        fail("this computer has none of lscpu, lstopo and scontrol; give a file with the output of one")
    return outputs


def _size(machine: Machine) -> str:
    """Say how large a machine is."""
    return f"{machine.nodes:,} nodes, {machine.cores:,} cores"


def _assumed(machine: Machine) -> int:
    """Count the values that no source prints."""
    return sum(quantity.badge == "assumed" for quantity in machine.provenance.values())


def _summary(machine: Machine) -> dict[str, Any]:
    """Return the line of a machine in the list."""
    return {
        "name": machine.name,
        "title": machine.title,
        "model": machine.model,
        "nodes": machine.nodes,
        "cores": machine.cores,
        "launcher": machine.launchers[0].kind if machine.launchers else None,
    }


# What follows from the values of a machine, of a kind of node and of a file system: name -> unit, decimals shown.
_OF_MACHINE = {
    "nodes": ("", 0),
    "cores": ("", 0),
    "peak_tflops": ("Tflop/s", 3),
    "memory_tb": ("TB (GB / 1,000)", 0),
    "memory_tib": ("TiB (GB / 1,024)", 0),
    "core_hours_per_day": ("core h", 0),
}
_OF_NODE = {
    "numa_nodes": ("", 0),
    "cores": ("", 0),
    "hardware_threads": ("", 0),
    "core_peak_gflops": ("Gflop/s", 3),
    "peak_gflops": ("Gflop/s", 3),
    "memory_per_numa_node_gb": ("GB", 3),
    "bandwidth_gb_s": ("GB/s", 3),
}
_OF_FILE_SYSTEM = {"servers": ("", 0), "ost_peak_gb_s": ("GB/s", 4)}


def _derived(machine: Machine) -> list[tuple[str, float, str]]:
    """Return what follows from the values: name, value, unit."""

    def named(part: object, path: str, names: dict[str, tuple[str, int]]) -> list[tuple[str, float, str]]:
        values = {name: getattr(part, name) for name in names}
        return [
            (path + name, round(value, names[name][1]) if names[name][1] else value, names[name][0])
            for name, value in values.items()
        ]

    rows = named(machine, "", _OF_MACHINE)
    for node in machine.node_kinds:
        rows += named(node, f"node.{node.name}.", _OF_NODE)
    network = machine.network
    if network and network.routers and network.node_positions and machine.service_nodes is not None:
        rows += named(network, "network.", {"routers": ("", 0), "node_positions": ("", 0)})
        rows.append(("service_nodes", machine.service_nodes, ""))
    if network and network.cabinets:
        rows.append(("network.cabinets", network.cabinets, ""))
    for each in machine.file_systems:
        rows += named(each, f"file_system.{each.name}.", _OF_FILE_SYSTEM)
    return rows


def _everything(machine: Machine) -> dict[str, Any]:
    """Return a machine with all its values, as data."""
    return {
        **_summary(machine),
        "site": machine.site,
        "notes": list(machine.notes),
        "values": {
            path: {name: getattr(quantity, name) for name in ("value", "unit", "badge", "source", "at", "assumed")}
            for path, quantity in machine.provenance.items()
        },
        "derived": {path: {"value": value, "unit": unit} for path, value, unit in _derived(machine)},
        "sources": dict(machine.sources),
    }


def _print_machine(machine: Machine) -> None:
    """Print a machine as text: values, what follows from them, sources."""
    click.echo(printable(f"{machine.title} ({machine.name}): {machine.model}, {machine.site}"))
    for note in machine.notes:
        click.echo(printable(f"  {note}"))
    click.echo()
    rows = []
    for path, quantity in machine.provenance.items():
        address = f"assumed: {quantity.assumed}" if quantity.source is None else f"{quantity.source}, {quantity.at}"
        rows.append((path, _text(quantity.value), quantity.unit, address))
    _print_table(("value", "", "unit", "source"), rows)
    click.echo()
    _print_table(("derived", "", "unit"), [(path, _text(value), unit) for path, value, unit in _derived(machine)])
    if machine.sources:
        click.echo()
        _print_table(("source", "citation"), list(machine.sources.items()))


def _text(value: Any) -> str:
    """Return a value as people read it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:,}"
    if isinstance(value, tuple):
        return (" x " if all(isinstance(each, int) for each in value) else " ").join(map(str, value))
    return str(value)


def _print_table(head: tuple[str, ...], rows: Iterable[Iterable[str]]) -> None:
    """Print a table with aligned columns; long cells but the last of a row are folded."""
    folded: list[tuple[str, ...]] = []
    for row in rows:
        *cells, last = map(printable, row)
        folded += itertools.zip_longest(*(textwrap.wrap(cell, 60) or [""] for cell in cells), [last], fillvalue="")
    table = Table(caption="", columns=tuple(map(Column, head)), rows=folded)
    click.echo("\n".join(table_lines(table, len(folded))[1:]))
