"""``hopper machine``: list, show, check and write machine files."""

import itertools
import os
import shutil
import subprocess
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from hopperlib.cli.common import fail, print_json, read_source
from hopperlib.machine import Machine, MachineError
from hopperlib.package_data import rows_beside
from hopperlib.questions.result import Column, Table
from hopperlib.render.text import printable, table_lines


def list_all(_: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """List the machines that come with the library."""
    machines = [_summary(Machine.load(name)) for name in Machine.names()]
    if as_json:
        print_json({"machines": machines})
    else:
        rows = [[_text("-" if cell is None else cell) for cell in machine.values()] for machine in machines]
        _print_table(tuple(machines[0]), rows)


def show(values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Show every value of a machine with its source."""
    machine = Machine.load(values["name"])
    if as_json:
        print_json(_everything(machine))
    else:
        _print_machine(machine)


def check(values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Check a machine file and print all that is wrong in it."""
    file = values["file"]
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
        size = f"{_size(machine)}, {len(machine.provenance)} values, {_assumed(machine)} of them assumed"
        click.echo(f"{printable(file)}: sound; {size}")


def new(values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Write a machine file from what tools say of the nodes."""
    from hopperlib.readers.hardware.reader import Hardware, machine_from, read_hardware

    files, out = values["files"], values["out"]
    texts = [(file, read_source(file, what="file", as_json=as_json)) for file in files] or _run_tools()
    records: list[Hardware] = []
    for origin, text in texts:
        try:
            records += read_hardware(text)
        except ValueError as error:
            if files:
                fail(f"{origin}: {error}", as_json=as_json)
            click.echo(printable(f"hopper: {origin}: {error}"), err=True)
    machine = machine_from(records, name=values["name"])
    tools = ", ".join(machine.sources)
    header = f"# Written by `hopper machine new` from: {tools}.\n# Look at each value that says assumed.\n\n"
    toml = header + machine.to_toml()
    if out is not None:
        _write(out, toml, as_json)
        click.echo(f"{printable(out)}: {_size(machine)}; {_assumed(machine)} values are assumed", err=True)
    if as_json:
        print_json({**_everything(machine), "toml": toml})
    elif out is None:
        click.echo(toml, nl=False)


def _write(out: str, text: str, as_json: bool) -> None:
    """Write a new file; one that exists is left alone."""
    try:
        # It is made and refused in one step: after a look first, another program could still make it.
        with open(out, "x", encoding="utf-8") as file:
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
                # The readers know what these tools print in English.
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


def _derived(machine: Machine) -> list[tuple[str, float, str]]:
    """Return what follows from the values, as `derived.csv` lists it: name, value, unit."""
    parts: list[tuple[str, str, object]] = [
        ("machine", "", machine),
        *(("node", f"node.{node.name}.", node) for node in machine.node_kinds),
        ("network", "network.", machine.network),
        ("rest", "", machine),
        *(("file_system", f"file_system.{each.name}.", each) for each in machine.file_systems),
    ]
    rows = []
    for kind, path, part in parts:
        for row in rows_beside(__file__, "derived.csv"):
            value = getattr(part, row["name"], None) if row["part"] == kind else None
            if value is not None:
                shown = round(value, int(row["decimals"])) if row["decimals"] else value
                rows.append((path + row["name"], shown, row["unit"]))
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
