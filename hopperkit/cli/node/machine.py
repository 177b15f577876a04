"""``hopper machine``: list, show, compare, check and write machine files."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from hopperkit.cli.common import complete, fail, json_option, machine_names, print_json, read_source, refusing
from hopperkit.cli.node.here import run_tool
from hopperkit.cli.question import question_command
from hopperkit.questions.question import load
from hopperkit.questions.result import Column, Table
from hopperkit.render.text import printable, table_lines
from hopperlib.machine import Machine, MachineError
from hopperlib.machine.derived import derived
from hopperlib.text import count


@click.group()
def machine() -> None:
    """List, show, compare, check and write machine files.

    A machine file describes a machine's nodes, network, file systems and launchers in TOML, and gives each number's
    source or the reason for assuming it.
    """


# The page and Python use the question's name; on the command line it would be repeated.
machines = question_command(load("machines"), lines="hopper machine compare --first hopper --second perlmutter")
machine.add_command(machines, "compare")


@machine.command("list")
@json_option
@refusing
def list_machines(as_json: bool) -> None:
    """List the machines included in the library."""
    listed = [_summary(Machine.load(name)) for name in Machine.names()]
    if as_json:
        print_json({"machines": listed})
    else:
        _print_table(tuple(listed[0]), [tuple(each.values()) for each in listed])


@machine.command()
@click.argument("name", shell_complete=complete(machine_names))
@json_option
@refusing
def show(name: str, as_json: bool) -> None:
    """Show every value of a machine with its source, as in its file, and derived values.

    NAME is a name from `hopper machine list`, or a path.
    """
    shown = Machine.load(name)
    if as_json:
        print_json(_everything(shown))
    else:
        click.echo(printable(f"{shown.title} ({shown.name}): {shown.model}, {shown.site}\n\n{shown.to_toml()}"))
        figures = [each for each in derived(shown) if each.value is not None]
        rows = [(each.figure.label, each.rounded, each.figure.unit, each.figure.sum) for each in figures]
        _print_table(("derived", "", "unit", "from"), rows)


@machine.command()
@click.argument("file", shell_complete=complete())
@json_option
@refusing
def check(file: str, as_json: bool) -> None:
    """Check a machine file and print all errors in it.

    FILE is a path, or - for standard input. Exit status: 0 if the file is valid, 2 if not.
    """
    text = read_source(file, what="machine file", as_json=as_json)
    try:
        checked = Machine.from_toml(text, name="standard input" if file == "-" else Path(file).name)
    except MachineError as error:
        if as_json:
            print_json({"file": file, "valid": False, "problems": list(error.problems)})
        else:
            for problem in error.problems:
                click.echo(printable(problem), err=True)
            click.echo(f"hopper: {printable(file)}: {count(len(error.problems), 'problem')}", err=True)
        raise SystemExit(2) from None
    if as_json:
        print_json({"file": file, "valid": True, "problems": [], "machine": _summary(checked)})
    else:
        size = f"{_size(checked)}, {len(checked.provenance)} values, {_assumed(checked)} of them assumed"
        click.echo(f"{printable(file)}: sound; {size}")


@machine.command()
@click.argument("files", nargs=-1, shell_complete=complete())
@click.option("--name", default="mine", show_default=True, help="Name of the machine, in lower case.")
@click.option("--out", metavar="PATH", help="File to write; by default standard output.")
@json_option
@refusing
def new(files: tuple[str, ...], name: str, out: str | None, as_json: bool) -> None:
    """Write a machine file from the output of tools on the nodes.

    FILES contain output of lscpu, lstopo --of xml, scontrol show node and scontrol show config (how the site's Slurm
    picks cores and binds), nvidia-smi topo -m, rocm-smi --showtopo, amd-smi static --numa, numactl -H or lfs df; - is
    standard input. Several files complement each other: scontrol counts the nodes, lstopo or lscpu of one node shows
    its NUMA nodes, lfs the file systems. Without FILES, the tools on this computer are run. Values that no tool
    reports are marked as assumed.
    """
    from hopperkit.readers.hardware.reader import Hardware, machine_from, read_hardware

    texts = [(file, read_source(file, what="file", as_json=as_json)) for file in files] or _run_tools()
    records: list[Hardware] = []
    for origin, text in texts:
        try:
            records += read_hardware(text)
        except ValueError as error:
            if files:
                fail(f"{origin}: {error}", as_json=as_json)
            click.echo(printable(f"hopper: {origin}: {error}"), err=True)
    written = machine_from(records, name=name)
    tools = ", ".join(written.sources)
    header = f"# Written by `hopper machine new` from: {tools}.\n# Check each value marked as assumed.\n\n"
    toml = header + written.to_toml()
    if out is not None:
        _write(out, toml, as_json)
        click.echo(f"{printable(out)}: {_size(written)}; {_assumed(written)} values are assumed", err=True)
    if as_json:
        print_json({**_everything(written), "toml": toml})
    elif out is None:
        click.echo(toml, nl=False)


def _write(out: str, text: str, as_json: bool) -> None:
    """Write a new file; an existing one is not overwritten."""
    try:
        # Created atomically: after a separate check, another program could still create it.
        with open(out, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        fail(f"--out {out}: already exists and is not overwritten", as_json=as_json)
    except OSError as error:
        fail(f"--out {out}: cannot be written: {error.strerror or error}", as_json=as_json)


def _run_tools() -> list[tuple[str, str]]:
    """Return the output of the tools on this computer."""
    outputs = []
    lstopo = "lstopo-no-graphics" if shutil.which("lstopo-no-graphics") else "lstopo"
    for line in (
        ("scontrol", "show", "node", "-o"),
        ("scontrol", "show", "config"),
        ("pbsnodes", "-a"),
        (lstopo, "--of", "xml"),
        ("lscpu",),
        ("nvidia-smi", "topo", "-m"),
        ("rocm-smi", "--showtopo"),
        ("amd-smi", "static", "--numa"),
        ("numactl", "-H"),
        ("lfs", "df"),
    ):
        try:
            printed = run_tool(line)
        except (OSError, subprocess.SubprocessError) as error:
            click.echo(f"hopper: {' '.join(line)} failed and is left out: {error}", err=True)
            continue
        if printed is not None:
            outputs.append((line[0], printed))
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        outputs.append((str(meminfo), meminfo.read_text(encoding="utf-8", errors="replace")))
    if not outputs:
        fail("this computer has none of lscpu, lstopo and scontrol; give a file with the output of one")
    return outputs


def _size(machine: Machine) -> str:
    """Describe the size of a machine."""
    return f"{count(machine.nodes, 'node')}, {count(machine.cores, 'core')}"


def _assumed(machine: Machine) -> int:
    """Count the assumed values."""
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


def _everything(machine: Machine) -> dict[str, Any]:
    """Return all values of a machine as data."""
    return {
        **_summary(machine),
        "site": machine.site,
        "notes": list(machine.notes),
        "values": {
            path: {name: getattr(quantity, name) for name in ("value", "unit", "badge", "source", "at", "assumed")}
            for path, quantity in machine.provenance.items()
        },
        "derived": {each.figure.name: {"value": each.value, "unit": each.figure.unit} for each in derived(machine)},
        "sources": dict(machine.sources),
    }


def _print_table(head: tuple[str, ...], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table with aligned columns."""
    table = Table(caption="", columns=tuple(map(Column, head)), rows=rows)
    click.echo("\n".join(table_lines(table, len(rows))[1:]))
