"""Machine files read and checked: every problem named, none a traceback.

A fact is an inline table, ``{ value = 32, source = "antypas2011", at = "sec. 1" }``
or ``{ value = 5.0, assumed = "why" }``; a number on its own is refused.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from hopperlib.machine import rules, schema
from hopperlib.machine.machine import Machine, MachineError, machines_folder
from hopperlib.machine.parts import FileSystem, Launcher, Network, NodeKind, Quantity, Value
from hopperlib.machine.schema import Key

__all__ = ["general_launchers", "read_bundled", "read_document", "read_machine", "read_machine_file"]

FACT_KEYS = ("value", "source", "at", "assumed")


def read_machine_file(path: Path) -> Machine:
    """Read a machine from a file, or raise `MachineError`.

    Examples
    --------
    >>> try:
    ...     read_machine_file(Path("nowhere.toml"))
    ... except MachineError as error:
    ...     print(error)
    nowhere.toml: cannot be read: No such file or directory
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise MachineError((f"{path}: cannot be read: {error.strerror or error}",)) from None
    except UnicodeDecodeError as error:
        raise MachineError((f"{path}: byte {error.start} is not UTF-8, the encoding of TOML",)) from None
    return read_machine(text, name=path.name)


def read_bundled(name: str) -> Machine:
    """Read one of the library's own machines, or raise `MachineError`.

    Examples
    --------
    >>> read_bundled("hopper").model
    'Cray XE6'
    """
    known = Machine.names()
    if name not in known:
        # The names stand in the message already.
        near = _nearest(name, known)
        hint = near if "did you mean" in near else ""
        listed = ", ".join(known)
        raise MachineError(
            (f"machine='{name}' is neither a machine ({listed}) nor a path (which ends in .toml or has a /){hint}",)
        )
    text = (machines_folder() / f"{name}.toml").read_text(encoding="utf-8")
    return read_machine(text, name=f"{name}.toml")


def read_machine(text: str, *, name: str) -> Machine:
    """Read a machine from text, or raise `MachineError` with all that is wrong in it.

    Examples
    --------
    >>> try:
    ...     read_machine("title = 3", name="mine.toml")
    ... except MachineError as error:
    ...     print(error)
    mine.toml: title = 3: must be text (and 4 more; `hopper machine check` lists them all)
    """
    return read_document(_parse(text, name), name=name)


def read_document(document: dict[str, Any], *, name: str) -> Machine:
    """Read a machine from parsed TOML, or raise `MachineError` with all that is wrong in it.

    Examples
    --------
    >>> try:
    ...     read_document({"name": "mine"}, name="mine.toml")
    ... except MachineError as error:
    ...     print(error.problems[0])
    mine.toml: title: is missing
    """
    reading = _Reading(name)
    machine = reading.machine(document)
    if machine is not None:
        reading.problems += [f"{name}: {problem}" for problem in rules.broken_rules(machine)]
    if machine is None or reading.problems:
        raise MachineError(tuple(reading.problems))
    return machine


@lru_cache(maxsize=1)
def general_launchers() -> Mapping[str, Launcher]:
    """Launchers for a machine that has none of that kind, by kind.

    Examples
    --------
    >>> sorted(general_launchers())
    ['aprun', 'srun']
    """
    file = machines_folder() / "general" / "launchers.toml"
    reading = _Reading(file.name)
    document = _parse(file.read_text(encoding="utf-8"), file.name)
    reading.read_sources(document)
    launchers = reading.launchers(document)
    if reading.problems:
        raise MachineError(tuple(reading.problems))
    return MappingProxyType({launcher.kind: launcher for launcher in launchers})


def _parse(text: str, name: str) -> dict[str, Any]:
    """Parse TOML; whatever the parser stumbles over becomes one message."""
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise MachineError((f"{name}: is not TOML: {error}",)) from None
    except RecursionError:
        raise MachineError((f"{name}: is not a machine file: its values are nested too deeply",)) from None


class _Reading:
    """One pass over a document: what it found, and what is wrong."""

    def __init__(self, name: str):
        self.name = name
        self.problems: list[str] = []
        self.sources: dict[str, str] = {}
        self.provenance: dict[str, Quantity] = {}

    def problem(self, path: str, rule: str, value: Any = None) -> None:
        """Note a problem at a key."""
        shown = f" = {_shown(value)}" if value is not None else ""
        self.problems.append(f"{self.name}: {path}{shown}: {rule}")

    def machine(self, document: dict[str, Any]) -> Machine | None:
        """Build the machine, or return None after noting why not."""
        sections = ("sources", "node", "network", "file_system", "launcher")
        self.read_sources(document)
        top = {key: value for key, value in document.items() if key not in sections}
        labels, facts = self.section(top, "", "machine", schema.MACHINE, also=sections)
        nodes = [
            NodeKind(**labels_of, **facts_of)
            for labels_of, facts_of in self.tables(document, "node", schema.NODE, least=1)
        ]
        network = self.network(document)
        file_systems = [
            FileSystem(**labels_of, **facts_of)
            for labels_of, facts_of in self.tables(document, "file_system", schema.FILE_SYSTEM)
        ]
        launchers = self.launchers(document)
        if self.problems:
            return None
        return Machine(
            **{"notes": (), **labels},
            in_service=facts.get("in_service"),
            node_kinds=tuple(nodes),
            network=network,
            file_systems=tuple(file_systems),
            launchers=tuple(launchers),
            provenance=MappingProxyType(self.provenance),
            sources=MappingProxyType(self.sources),
        )

    def read_sources(self, document: dict[str, Any]) -> None:
        """Read ``[sources]``: key = "citation"."""
        table = document.get("sources", {})
        if not isinstance(table, dict):
            self.problem("sources", 'must be a table of key = "citation"', table)
            return
        for key, citation in table.items():
            if not key.strip():
                self.problem(f"sources.{key!r}", "is blank: a source needs a key that facts can name")
            if not isinstance(citation, str) or not citation.strip():
                self.problem(f"sources.{key}", "must be a citation, as text", citation)
            self.sources[key] = str(citation)

    def launchers(self, document: dict[str, Any]) -> list[Launcher]:
        """Read ``[[launcher]]``."""
        return [Launcher(**labels, **facts) for labels, facts in self.tables(document, "launcher", schema.LAUNCHER)]

    def network(self, document: dict[str, Any]) -> Network | None:
        """Read ``[network]`` and its table of links."""
        if "network" not in document:
            return None
        table = document["network"]
        if not isinstance(table, dict):
            self.problem("network", "must be a table, [network]", table)
            return None
        before = len(self.problems)
        links_name = "link_bandwidth_gb_s"
        rest = {key: value for key, value in table.items() if key != links_name}
        labels, facts = self.section(rest, "network", "network", schema.NETWORK, also=(links_name,))
        links: dict[str, Any] = {}
        if links_name in table:
            if isinstance(table[links_name], dict):
                _, links = self.section(table[links_name], f"network.{links_name}", "", schema.LINKS)
            else:
                self.problem(f"network.{links_name}", "must be a table of directions", table[links_name])
        if len(self.problems) > before:
            return None
        return Network(**labels, **facts, link_bandwidth_gb_s=MappingProxyType(links))

    def tables(
        self, document: dict[str, Any], section: str, keys: dict[str, Key], *, least: int = 0
    ) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Read an array of tables such as ``[[node]]``; only the sound ones come back."""
        entries = document.get(section, [])
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            self.problem(section, f"must be an array of tables, [[{section}]]", entries)
            return []
        if len(entries) < least:
            self.problem(section, f"is missing: a machine has at least {least} [[{section}]]")
        sound = []
        named = "name" if "name" in schema.LABELS[section] else "kind"
        seen: set[str] = set()
        for index, entry in enumerate(entries):
            name = entry.get(named)
            usable = isinstance(name, str) and re.fullmatch(r"[A-Za-z0-9_-]{1,40}", name)
            path = f"{section}.{name}" if usable else f"{section}[{index}]"
            if path in seen:
                self.problem(f"{path}.{named}", f"stands twice; each [[{section}]] needs its own", name)
            seen.add(path)
            before = len(self.problems)
            labels, facts = self.section(entry, path, section, keys)
            if len(self.problems) == before:
                sound.append((labels, facts))
        return sound

    def section(
        self,
        table: dict[str, Any],
        path: str,
        section: str,
        keys: dict[str, Key],
        *,
        also: tuple[str, ...] = (),
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Read one table: its labels and the values of its facts."""
        labels_of = schema.LABELS.get(section, {})
        prefix = f"{path}." if path else ""
        labels: dict[str, Any] = {}
        facts: dict[str, Any] = {}
        for name, entry in table.items():
            where = f"{prefix}{name}"
            if name in labels_of:
                labels[name] = self.value(where, entry, labels_of[name])
            elif name in keys:
                facts[name] = self.fact(where, entry, keys[name])
            else:
                self.problem(where, f"is not a key{_nearest(name, (*labels_of, *keys, *also))}", entry)
        for name, key in (labels_of | keys).items():
            if key.required and name not in table:
                self.problem(f"{prefix}{name}", "is missing")
        return labels, facts

    def fact(self, path: str, entry: Any, key: Key) -> Value | None:
        """Read a fact and note its provenance."""
        if not isinstance(entry, dict):
            self.problem(
                path, 'needs its source: { value = ..., source = "key", at = "where" } or assumed = "why"', entry
            )
            return None
        for name, text in entry.items():
            if name not in FACT_KEYS:
                self.problem(f"{path}.{name}", f"is not a key of a fact{_nearest(name, FACT_KEYS)}", text)
            elif name != "value" and (not isinstance(text, str) or not text.strip()):
                self.problem(f"{path}.{name}", "must be text", text)
        if "value" not in entry:
            self.problem(f"{path}.value", "is missing")
            return None
        source, at, assumed = (entry.get(name) for name in FACT_KEYS[1:])
        if (source is None) == (assumed is None):
            rule = "needs a source or assumed" if source is None else "has both a source and assumed; keep one"
            self.problem(path, rule, entry["value"])
        if source is not None and at is None:
            self.problem(path, f"needs at = \"where\" in source '{source}'", entry["value"])
        if assumed is not None and at is not None:
            self.problem(path, "has at = ... without a source", entry["value"])
        if isinstance(source, str) and source not in self.sources:
            self.problem(f"{path}.source", f"is not in [sources]{_nearest(source, tuple(self.sources))}", source)
        value = self.value(path, entry["value"], key)
        if value is not None and (source is None or isinstance(source, str)):
            self.provenance[path] = Quantity(value=value, source=source, at=at, assumed=assumed)
        return value

    def value(self, path: str, value: Any, key: Key) -> Value | None:
        """Check one value against its key; None if it breaks a rule."""
        rule = _broken(value, key)
        if rule:
            self.problem(path, f"must be {rule}" + (f" ({key.why})" if key.why else ""), value)
            return None
        return tuple(value) if isinstance(value, list) else value


def _broken(value: Any, key: Key) -> str:
    """Return the rule that a value breaks, empty if it holds."""
    if key.kind == "flag":
        return "" if isinstance(value, bool) else "true or false"
    if key.kind == "date":
        return "" if _is_date(value) else "a day as text, YYYY-MM-DD (or YYYY-MM, or YYYY)"
    if key.kind == "dimensions":
        right = isinstance(value, list) and len(value) == 3 and not any(_broken_number(v, key) for v in value)
        return "" if right else f"three whole numbers [x, y, z] from {key.low:g} to {key.high:g}"
    if key.kind == "texts":
        if not isinstance(value, list) or not value or not all(isinstance(v, str) and v.strip() for v in value):
            return "a list of texts, at least one"
        if len(set(value)) < len(value):
            return "a list without repetition"
        wrong = [v for v in value if key.pattern and not re.fullmatch(key.pattern, v)]
        return f"a list of texts of the form {key.pattern}, which '{wrong[0]}' is not" if wrong else ""
    if key.kind == "text":
        if not isinstance(value, str) or not value.strip():
            return "text"
        if key.choices and value not in key.choices:
            return "one of " + ", ".join(key.choices)
        return f"of the form {key.pattern}" if key.pattern and not re.fullmatch(key.pattern, value) else ""
    return _broken_number(value, key)


def _broken_number(value: Any, key: Key) -> str:
    """Return the rule that a number breaks, empty if it holds."""
    whole = key.kind in ("count", "dimensions")
    right_type = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
    above = f"above {key.low:,.10g}" if key.above_low else f"of at least {key.low:,.10g}"
    most = f" and at most {key.high:,.10g}" if key.high is not None else ""
    rule = f"a {'whole ' if whole else ''}number {above}{most}"
    if not right_type or not math.isfinite(value):
        return rule
    too_low = value <= key.low if key.above_low else value < key.low
    return rule if too_low or (key.high is not None and value > key.high) else ""


def _is_date(value: Any) -> bool:
    """Whether a text is a day, month or year."""
    match = re.fullmatch(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?", value) if isinstance(value, str) else None
    return bool(match) and 1 <= int(match[2] or 1) <= 12 and 1 <= int(match[3] or 1) <= 31 if match else False


def _nearest(name: str, known: tuple[str, ...]) -> str:
    """Return what to say after a name that is not known."""
    import difflib

    close = difflib.get_close_matches(name, known, n=1)
    if close:
        return f"; did you mean '{close[0]}'?"
    return f"; there are: {', '.join(known)}" if known else "; there are none"


def _shown(value: Any) -> str:
    """Show a value as it might stand in the file, cut short."""
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
