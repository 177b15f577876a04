"""A machine written as the TOML file it could have come from."""

from __future__ import annotations

import re
from typing import Any

from hopperlib.machine import schema
from hopperlib.machine.machine import Machine
from hopperlib.machine.parts import Quantity
from hopperlib.machine.schema import Key

__all__ = ["document_of", "to_toml"]

WIDTH = 100


def document_of(machine: Machine) -> dict[str, Any]:
    """Return the tables of a machine's file, as a TOML parser would give them.

    Examples
    --------
    >>> document_of(Machine.load("hopper"))["node"][1]["count"]["value"]
    384
    """
    document: dict[str, Any] = _table(machine, "", "machine", schema.MACHINE, machine)
    document["sources"] = dict(machine.sources)
    document["node"] = [_table(machine, f"node.{node.name}", "node", schema.NODE, node) for node in machine.node_kinds]
    if machine.network:
        document["network"] = _table(machine, "network", "network", schema.NETWORK, machine.network)
        if machine.network.link_bandwidth_gb_s:
            name = "link_bandwidth_gb_s"
            document["network"][name] = _table(machine, f"network.{name}", "", schema.LINKS, None)
    if machine.file_systems:
        document["file_system"] = [
            _table(machine, f"file_system.{each.name}", "file_system", schema.FILE_SYSTEM, each)
            for each in machine.file_systems
        ]
    if machine.launchers:
        document["launcher"] = [
            _table(machine, f"launcher.{each.kind}", "launcher", schema.LAUNCHER, each) for each in machine.launchers
        ]
    return document


def to_toml(machine: Machine) -> str:
    """Return the text of a machine's file; reading it gives the machine back.

    Examples
    --------
    >>> hopper = Machine.load("hopper")
    >>> Machine.from_toml(to_toml(hopper)) == hopper
    True
    """
    document = document_of(machine)
    lines: list[str] = []
    tables = []
    for name, entry in document.items():
        if name in ("sources", "node", "network", "file_system", "launcher"):
            tables.append((name, entry))
        else:
            lines.append(_line(name, entry))
    for name, entry in tables:
        for table in entry if isinstance(entry, list) else [entry]:
            header = f"[[{name}]]" if isinstance(entry, list) else f"[{name}]"
            links = table.get("link_bandwidth_gb_s")
            lines += ["", header, *(_line(key, value) for key, value in table.items() if value is not links)]
            if links is not None:
                lines += ["", f"[{name}.link_bandwidth_gb_s]", *(_line(key, value) for key, value in links.items())]
    return "\n".join(lines) + "\n"


def _table(machine: Machine, path: str, section: str, keys: dict[str, Key], part: Any) -> dict[str, Any]:
    """Return one table: labels from the part, facts from the provenance."""
    table: dict[str, Any] = {}
    for name in schema.LABELS.get(section, {}):
        value = getattr(part, name)
        if value is not None and value != ():
            table[name] = list(value) if isinstance(value, tuple) else value
    for name in keys:
        quantity = machine.provenance.get(f"{path}.{name}" if path else name)
        if quantity is not None:
            table[name] = _fact(quantity)
    return table


def _fact(quantity: Quantity) -> dict[str, Any]:
    """Return a fact as an inline table."""
    value = list(quantity.value) if isinstance(quantity.value, tuple) else quantity.value
    fact = {"value": value, "source": quantity.source, "at": quantity.at, "assumed": quantity.assumed}
    return {name: entry for name, entry in fact.items() if entry is not None}


def _line(name: str, value: Any) -> str:
    """Return ``name = value``; a list inside breaks over lines if it is long."""
    key = name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)
    line = f"{key} = {_value(value)}"
    return line if len(line) <= WIDTH else f"{key} = {_value(value, broken=True)}"


def _value(value: Any, *, broken: bool = False) -> str:
    """Return a value in TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        entries = [_value(entry) for entry in value]
        return _filled_lines(entries) if broken else "[" + ", ".join(entries) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_value(entry, broken=broken)}" for key, entry in value.items()) + " }"
    return repr(value)


def _filled_lines(entries: list[str]) -> str:
    """Return a list over several lines, each filled as far as it goes."""
    lines = [""]
    for entry in entries:
        if lines[-1] and len(lines[-1]) + len(entry) + 6 > WIDTH:
            lines.append("")
        lines[-1] += f" {entry}," if lines[-1] else f"{entry},"
    return "[\n" + "".join(f"    {line}\n" for line in lines) + "]"


def _text(text: str) -> str:
    """Return a TOML basic string."""
    special = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return (
        '"' + "".join(special.get(c) or (f"\\u{ord(c):04x}" if ord(c) < 32 or ord(c) == 127 else c) for c in text) + '"'
    )
