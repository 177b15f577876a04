"""TOML tables read into records and written from them: a record is the only description of its table.

A frozen dataclass says what may stand in a table. The type of a field and its
default say most of it; `key` adds bounds, forms and names, `fact` a value that
must come with its source. What follows from that:

=======================  ======================================================
`read_toml`              text -> table, whatever the text
`read_record`            table -> record, with every problem named
`read_records`           an array of tables, ``[[rule]]`` -> records
`document_of`            record -> table
`to_toml`                record -> text
=======================  ======================================================

========================  =====================================================
type of a field           what the file holds
========================  =====================================================
bool, int, float, str     one value; ``datetime.date`` a date
Literal["a", "b"]         one of these words
tuple[str, ...]           a list, never empty if it is there
tuple[int, int, int]      a list of just so many
a record                  a table
tuple[record, ...]        an array of tables, ``[[name]]`` if its key has a `least`
Mapping[str, ...]         a table with any keys, or those of `keys`
X | None                  the same; None if the file does not say
========================  =====================================================

A fact is an inline table, ``{ value = 32, source = "antypas2011", at = "sec. 1" }``
or ``{ value = 5.0, assumed = "why" }``. A record with facts has two fields more:
`sources`, its table of citations, and `provenance`, where each fact's address goes.
A record that has rules between its values says which are broken in a method `broken_rules`.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, field, fields, is_dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeVar, get_args, get_origin

from hopperlib.errors import InputError
from hopperlib.records import dataclass

Value = bool | int | float | str | tuple[int, ...] | tuple[str, ...]
Record = TypeVar("Record")

# Longest line that is written, where a list can be broken. [characters]
_WIDTH = 100
_TYPES = {"bool": bool, "int": int, "float": float, "str": str}
_FACT_KEYS = ("value", "source", "at", "assumed")
# Suffix of a key -> unit, longest first.
_UNITS = {"_gb_s": "GB/s", "_ghz": "GHz", "_gb": "GB", "_pb": "PB", "_us": "us", "_bytes": "bytes"}


class TableError(InputError):
    """A file of tables that cannot be used.

    Attributes
    ----------
    problems : tuple of str
        All that is wrong, one sentence each: file, key, value, rule.
    """

    more = ""

    def __init__(self, problems: tuple[str, ...]):
        self.problems = problems
        count = len(problems) - 1
        super().__init__(problems[0] + (f" (and {count} more{self.more})" if count else ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """One value of a file with its address.

    Attributes
    ----------
    value : bool, int, float, str or tuple
        The value, in the unit that its key names.
    source : str or None
        Key of the source in the file's ``[sources]``.
    at : str or None
        Where in the source: section, table, page, and the arithmetic if it takes some.
    assumed : str or None
        Why this value, if no source prints it.
    unit : str
        What the key's name says; empty for a count or a word.
    """

    value: Value
    source: str | None = None
    at: str | None = None
    assumed: str | None = None
    unit: str = ""

    @property
    def badge(self) -> Literal["documented", "assumed"]:
        """``documented`` or ``assumed``.

        Examples
        --------
        >>> Quantity(value=24, source="antypas2011", at="sec. 1").badge
        'documented'
        >>> Quantity(value=5.0, assumed="no source prints it").badge
        'assumed'
        """
        return "assumed" if self.source is None else "documented"

    def to_table(self) -> dict[str, Any]:
        """Return the inline table of a file.

        Examples
        --------
        >>> Quantity(value=(17, 8, 24), assumed="a guess").to_table()
        {'value': [17, 8, 24], 'assumed': 'a guess'}
        """
        entries = {name: getattr(self, name) for name in _FACT_KEYS}
        return {name: _plain(entry) for name, entry in entries.items() if entry is not None}


class _Rules(NamedTuple):
    """What `key` may say of a field."""

    name: str = ""
    low: float | None = None
    above: float | None = None
    high: float | None = None
    pattern: str = ""
    form: str = ""
    why: str = ""
    keys: tuple[str, ...] = ()
    least: int | None = None
    single: bool = False
    short: bool = False
    blank: bool = False
    repeats: bool = False
    required: bool | None = None
    fact: bool = False
    apart: bool = False


_NO_RULES = _Rules()


def key(default: Any = MISSING, **rules: Any) -> Any:
    """Return a dataclass field that says what may stand at a key.

    Parameters
    ----------
    default : object
        What the field is where the file does not say, ``dict`` for an empty one;
        without it the key is required.
    **rules
        ``name``, the key in the file where it is not the field's own name; ``low``,
        ``above`` and ``high``, bounds of a number; ``pattern``, a regular expression
        for a text; ``form``, what an error says instead of the rule; ``why``, where
        the rule comes from; ``keys`` of a mapping; ``least``, how many tables an
        array ``[[name]]`` has; ``single``, whether one text may stand for a list;
        ``short``, whether a text may stand for a table, as its first field;
        ``blank``, whether a text may be empty; ``repeats``, whether a list of texts may; ``required``, where a key is required although the field has a default.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Node:
    ...     memory_gb: float = key(above=0, high=100_000, why="is this in MB?")
    >>> read_record(Node, {"memory_gb": 32}, name="node.toml")
    Node(memory_gb=32)
    >>> read_record(Node, {"memory_gb": -1}, name="node.toml")
    Traceback (most recent call last):
    hopperlib.tables.TableError: node.toml: memory_gb = -1: must be a number above 0 and at most 100,000 (is this in MB?)
    """
    metadata = {"rules": _Rules(**rules)}
    if default is dict:
        return field(default_factory=dict, hash=False, metadata=metadata)
    return field(default=default, metadata=metadata)


def fact(default: Any = MISSING, **rules: Any) -> Any:
    """Return a dataclass field whose value comes with its source, or with the reason why it is assumed.

    Parameters
    ----------
    default, **rules
        As of `key`.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Node:
    ...     cores: int = fact(low=1)
    ...     sources: Mapping[str, str] = apart()
    ...     provenance: Mapping[str, Quantity] = apart()
    >>> node = read_record(Node, {"cores": {"value": 24, "assumed": "a guess"}}, name="node.toml")
    >>> node.cores, node.provenance["cores"].badge
    (24, 'assumed')
    """
    return key(default, fact=True, **rules)


def apart() -> Any:
    """Return a dataclass field that no key of the file fills: `sources` and `provenance` of a record with facts.

    Examples
    --------
    >>> apart().hash
    False
    """
    return field(hash=False, metadata={"rules": _Rules(apart=True)})


class _Slot(NamedTuple):
    """What one key of a table is, out of the type and the rules of its field."""

    name: str
    attribute: str
    rules: _Rules
    kind: Any
    shape: str
    length: int
    choices: tuple[str, ...]
    required: bool
    default: Any
    unit: str
    nested: bool


class _Plan(NamedTuple):
    """The keys of a record's table by name, which of them are required or hold tables, and what no key fills."""

    slots: dict[str, _Slot]
    required: tuple[str, ...]
    nested: tuple[_Slot, ...]
    apart: tuple[str, ...]


def _slots(record: Any) -> dict[str, _Slot]:
    """Return the keys of a record's table, by name."""
    return _plan(record).slots


@cache
def _plan(record: type) -> _Plan:
    """Return what there is to know of a record, read from its fields once."""
    slots, apart = {}, []
    for each in fields(record):
        rules: _Rules = each.metadata.get("rules", _NO_RULES)
        if rules.apart:
            apart.append(each.name)
            continue
        shape, words = _annotation(str(each.type))
        kind: Any = str
        choices: tuple[str, ...] = ()
        if shape == "choice":
            shape, choices = "one", tuple(word.strip("\"'") for word in words)
        else:
            kind = _type_of(words[-1 if shape == "mapping" else 0], record)
            if get_origin(kind) is Literal:
                kind, choices = str, get_args(kind)
        length = 0 if shape != "list" or words[-1] == "..." else len(words)
        name = rules.name or each.name
        default = each.default if each.default_factory is MISSING else each.default_factory()
        required = default is MISSING and rules.least is None if rules.required is None else rules.required
        unit = next((unit for suffix, unit in _UNITS.items() if name.endswith(suffix)), "")
        nested = shape == "mapping" or is_dataclass(kind)
        slots[name] = _Slot(name, each.name, rules, kind, shape, length, choices, required, default, unit, nested)
    return _Plan(
        slots,
        tuple(name for name, slot in slots.items() if slot.required),
        tuple(slot for slot in slots.values() if slot.nested),
        tuple(apart),
    )


def _annotation(text: str) -> tuple[str, list[str]]:
    """Return the shape of a field's type, and the names in it.

    A reader of the few forms that there are takes a tenth of the time of
    `typing.get_type_hints`, and a machine file is read whenever a command starts.
    """
    text = text.removesuffix(" | None")
    outer, bracket, inner = text.removesuffix("]").partition("[")
    if not bracket:
        return "one", [text]
    return {"tuple": "list", "Mapping": "mapping", "Literal": "choice"}[outer], inner.split(", ")


def _type_of(name: str, record: type) -> Any:
    """Return the type that a name stands for in the module of a record."""
    if name in _TYPES:
        return _TYPES[name]
    first, *rest = name.split(".")
    kind = vars(sys.modules[record.__module__])[first]
    for part in rest:
        kind = getattr(kind, part)
    return kind


def read_toml(text: str, *, name: str, error: type[TableError] = TableError) -> dict[str, Any]:
    """Return the tables of a TOML text; whatever the parser stumbles over becomes one message.

    Raises
    ------
    TableError
        If the text is no TOML, or nested too deeply.

    Examples
    --------
    >>> read_toml("cores = 24", name="node.toml")
    {'cores': 24}
    >>> read_toml("cores = ", name="node.toml")
    Traceback (most recent call last):
    hopperlib.tables.TableError: node.toml: is not TOML: Invalid value (at end of document)
    """
    import tomllib

    try:
        document = tomllib.loads(text)
        # What is read without trouble may still be too deep to be shown.
        repr(document)
        return document
    except ValueError as wrong:
        raise error((f"{name}: is not TOML: {wrong}",)) from None
    except RecursionError:
        raise error((f"{name}: is not read: its values are nested too deeply",)) from None


def read_record(
    record: type[Record], table: dict[str, Any], *, name: str, error: type[TableError] = TableError
) -> Record:
    """Return the record of a table.

    Parameters
    ----------
    record : type
        A frozen dataclass.
    table : dict
        As a TOML parser gives it.
    name : str
        What messages call the file; empty leaves it out.
    error : type
        The error to raise.

    Raises
    ------
    TableError
        If anything is wrong; `problems` has all of it.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Point:
    ...     x: int
    ...     label: str = "here"
    >>> read_record(Point, {"x": 3}, name="point.toml")
    Point(x=3, label='here')
    >>> try:
    ...     read_record(Point, {"x": "three", "lable": "there"}, name="point.toml")
    ... except TableError as error:
    ...     for problem in error.problems: print(problem)
    point.toml: x = 'three': must be a whole number
    point.toml: lable = 'there': is not a key; did you mean 'label'?
    """
    reading = _Reading(name, table)
    return reading.sound(reading.record(record, table, ""), error)  # type: ignore[no-any-return]


def read_records(
    record: type[Record], document: dict[str, Any], array: str, *, name: str, error: type[TableError] = TableError
) -> tuple[Record, ...]:
    r"""Return the records of an array of tables, such as ``[[rule]]``; each has its own first field.

    Parameters
    ----------
    record : type
    document : dict
        What the TOML parser gave.
    array : str
        Key of the array.
    name, error
        As of `read_record`.

    Raises
    ------
    TableError
        If anything is wrong; `problems` has all of it.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Case:
    ...     code: str
    ...     lines: int = 0
    >>> read_records(Case, read_toml('[[case]]\ncode = "OOM"\nlines = 3', name="cases"), "case", name="cases")
    (Case(code='OOM', lines=3),)
    """
    reading = _Reading(name, document)
    return reading.sound(reading.array(record, document.get(array, []), array), error)  # type: ignore[no-any-return]


class _Reading:
    """One pass over a document: what is wrong with it, and where its facts come from."""

    def __init__(self, name: str, document: dict[str, Any]):
        self.prefix = f"{name}: " if name else ""
        self.problems: list[str] = []
        self.sources: dict[str, str] = {}
        self.provenance: dict[str, Quantity] = {}
        cited = document.get("sources", {})
        if not isinstance(cited, dict):
            self.problem("sources", 'must be a table of key = "citation"', cited)
            return
        for key, citation in cited.items():
            if not key.strip():
                self.problem(f"sources.{key!r}", "is blank: a source needs a key that facts can name")
            if not isinstance(citation, str) or not citation.strip():
                self.problem(f"sources.{key}", "must be a citation, as text", citation)
            self.sources[key] = str(citation)

    def problem(self, path: str, rule: str, value: Any = None) -> None:
        """Note what is wrong at a path."""
        shown = f" = {_shown(value)}" if value is not None else ""
        self.problems.append(f"{self.prefix}{path[:200]}{shown}: {rule}")

    def sound(self, made: Any, error: type[TableError]) -> Any:
        """Return what was made, or raise all that is wrong."""
        if self.problems:
            raise error(tuple(self.problems))
        return made

    def record(self, record: type, table: dict[str, Any], path: str) -> Any:
        """Read one table; None if anything in it is wrong.

        Values come first, then what is missing, then the tables inside: in this
        order a person mends a file.
        """
        plan, before, values = _plan(record), len(self.problems), {}
        where = f"{path}." if path else ""
        for name, entry in table.items():
            slot = plan.slots.get(name)
            if slot is None and not (name == "sources" and name in plan.apart):
                known = (*plan.slots, *(("sources",) if plan.apart else ()))
                self.problem(where + name, f"is not a key{nearest(name, known)}", entry)
            elif slot and not slot.nested:
                values[slot.attribute] = self.entry(where + name, entry, slot)
        for name in plan.required:
            if name not in table:
                self.problem(where + name, "is missing")
        for slot in plan.nested:
            entry, least = table.get(slot.name), slot.rules.least
            if least and entry in (None, []):
                words = " ".join(re.findall("[A-Z][a-z]*", record.__name__)).lower()
                rule = f"is missing: a {words} has at least {least} [[{slot.name}]]"
                self.problem(where + slot.name, rule)
            elif entry is not None or least is not None:
                values[slot.attribute] = self.table(where + slot.name, [] if entry is None else entry, slot)
        # A record with a broken rule is not made: what it derives from its values may rest on that rule.
        if len(self.problems) > before:
            return None
        held: dict[str, Mapping[str, Any]] = {"sources": self.sources, "provenance": self.provenance}
        made = record(**values, **{name: MappingProxyType(held[name]) for name in plan.apart})
        if hasattr(made, "broken_rules"):
            self.problems += [f"{self.prefix}{where}{problem}" for problem in made.broken_rules()]
        return made

    def table(self, path: str, entry: Any, slot: _Slot) -> Any:
        """Read what stands at a key that holds a table, or tables."""
        if slot.shape == "mapping":
            return self.mapping(path, entry, slot)
        if slot.shape == "list" and slot.rules.least is not None:
            return self.array(slot.kind, entry, path)
        if slot.shape == "list":
            if not isinstance(entry, list):
                self.problem(path, "must be a list of tables", entry)
                return ()
            return tuple(self.inner(f"{path}[{index}]", part, slot) for index, part in enumerate(entry))
        return self.inner(path, entry, slot)

    def inner(self, path: str, entry: Any, slot: _Slot) -> Any:
        """Read one table inside another; a text may stand for its first field."""
        if slot.rules.short and isinstance(entry, str):
            entry = {next(iter(_slots(slot.kind))): entry}
        if isinstance(entry, dict):
            return self.record(slot.kind, entry, path)
        if slot.shape == "one" and "." not in path:
            rule = f"must be a table, [{path}]"
        else:
            rule = f"must be {'text, or ' * slot.rules.short}a table of {', '.join(_slots(slot.kind))}"
        self.problem(path, rule, entry)
        return None

    def mapping(self, path: str, table: Any, slot: _Slot) -> Any:
        """Read a table with any keys, or with those of `keys`."""
        if not isinstance(table, dict):
            self.problem(path, f"must be a table of {slot.rules.form or 'keys and values'}", table)
            return None
        keys = slot.rules.keys
        entry_slot = slot._replace(shape="one", nested=is_dataclass(slot.kind))
        values = {}
        for name, entry in table.items():
            if keys and name not in keys:
                self.problem(f"{path}.{name}", f"is not a key{nearest(name, keys)}", entry)
            else:
                values[name] = (self.inner if entry_slot.nested else self.entry)(f"{path}.{name}", entry, entry_slot)
        for name in keys:
            if name not in table:
                self.problem(f"{path}.{name}", "is missing")
        return MappingProxyType(values)

    def array(self, record: Any, entries: Any, section: str) -> tuple[Any, ...]:
        """Read an array of tables such as ``[[node]]``, each named by its first field; the sound ones come back."""
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            self.problem(section, f"must be an array of tables, [[{section}]]", entries)
            return ()
        sound = []
        named = next(iter(_slots(record)))
        seen: set[str] = set()
        for index, entry in enumerate(entries):
            name = entry.get(named)
            # What is no name cannot be a part of a path: such a table is told by its place.
            usable = isinstance(name, str) and re.fullmatch(r"[A-Za-z0-9_-]{1,60}", name)
            path = f"{section}.{name}" if usable else f"{section}[{index}]"
            if path in seen:
                self.problem(f"{path}.{named}", f"stands twice; each [[{section}]] needs its own", name)
            seen.add(path)
            sound.append(self.record(record, entry, path))
        return tuple(made for made in sound if made is not None)

    def entry(self, path: str, entry: Any, slot: _Slot) -> Any:
        """Read a value, or a fact and its address; None if a rule is broken."""
        if not slot.rules.fact:
            return self.value(path, entry, slot)
        if not isinstance(entry, dict):
            self.problem(
                path, 'needs its source: { value = ..., source = "key", at = "where" } or assumed = "why"', entry
            )
            return None
        for name, text in entry.items():
            if name not in _FACT_KEYS:
                self.problem(f"{path}.{name}", f"is not a key of a fact{nearest(name, _FACT_KEYS)}", text)
            elif name != "value" and (not isinstance(text, str) or not text.strip()):
                self.problem(f"{path}.{name}", "must be text", text)
        if "value" not in entry:
            self.problem(f"{path}.value", "is missing")
            return None
        source, at, assumed = (entry.get(name) for name in _FACT_KEYS[1:])
        if (source is None) == (assumed is None):
            rule = "needs a source or assumed" if source is None else "has both a source and assumed; keep one"
            self.problem(path, rule, entry["value"])
        if source is not None and at is None:
            self.problem(path, f"needs at = \"where\" in source '{source}'", entry["value"])
        if assumed is not None and at is not None:
            self.problem(path, "has at = ... without a source", entry["value"])
        if isinstance(source, str) and source not in self.sources:
            self.problem(f"{path}.source", f"is not in [sources]{nearest(source, tuple(self.sources))}", source)
        value = self.value(path, entry["value"], slot)
        if value is not None and (source is None or isinstance(source, str)):
            self.provenance[path] = Quantity(value=value, source=source, at=at, assumed=assumed, unit=slot.unit)
        return value

    def value(self, path: str, value: Any, slot: _Slot) -> Any:
        """Check one value; None if it breaks a rule."""
        if slot.rules.single and isinstance(value, str):
            value = [value]
        broken = _broken_list(value, slot) if slot.shape == "list" else _broken(value, slot)
        if broken:
            rule = slot.rules.form or broken
            self.problem(path, f"must be {rule}" + (f" ({slot.rules.why})" if slot.rules.why else ""), value)
            return None
        return tuple(value) if isinstance(value, list) else value


def _broken(value: Any, slot: _Slot) -> str:
    """Return the rule that one value breaks, empty if it holds."""
    kind, rules = slot.kind, slot.rules
    if kind is str:
        if not isinstance(value, str) or not (value.strip() or rules.blank):
            return "text"
        if slot.choices and value not in slot.choices:
            return "one of " + ", ".join(slot.choices)
        return f"of the form {rules.pattern}" if rules.pattern and not re.fullmatch(rules.pattern, value) else ""
    if kind in (int, float):
        return _broken_number(value, kind, rules)
    if kind is bool:
        return "" if isinstance(value, bool) else "true or false"
    return "" if isinstance(value, kind) else f"a {kind.__name__}"


def _broken_number(value: Any, kind: type, rules: _Rules) -> str:
    """Return the rule that a number breaks, empty if it holds."""
    bounds = [
        f"above {rules.above:,.10g}" if rules.above is not None else "",
        f"of at least {rules.low:,.10g}" if rules.low is not None else "",
        f"at most {rules.high:,.10g}" if rules.high is not None else "",
    ]
    rule = f"a {'whole ' if kind is int else ''}number {' and '.join(filter(None, bounds))}".rstrip()
    right_type = isinstance(value, kind if kind is int else (int, float)) and not isinstance(value, bool)
    if not right_type or (isinstance(value, float) and not math.isfinite(value)):
        return rule
    too_low = (rules.low is not None and value < rules.low) or (rules.above is not None and value <= rules.above)
    return rule if too_low or (rules.high is not None and value > rules.high) else ""


def _broken_list(value: Any, slot: _Slot) -> str:
    """Return the rule that a list breaks, empty if it holds."""
    rule = f"a list of {slot.length or 'at least one'}"
    if slot.kind is str:
        rule = "a list of texts, at least one"
        if isinstance(value, list) and not all(isinstance(part, str) and part.strip() for part in value):
            return rule
    if not isinstance(value, list) or not value or (slot.length and len(value) != slot.length):
        return rule
    if slot.kind is str and not slot.rules.repeats and len(set(value)) < len(value):
        return "a list without repetition"
    broken, wrong = next(((broken, part) for part in value if (broken := _broken(part, slot))), ("", None))
    if not broken:
        return ""
    return f"a list of texts {broken}, which '{wrong}' is not" if slot.kind is str else f"a list, each {broken}"


def nearest(name: str, known: tuple[str, ...]) -> str:
    """Return what to say after a name that is not known.

    Examples
    --------
    >>> nearest("hoper", ("hopper", "franklin")), nearest("x", ("hopper", "franklin")), nearest("x", ())
    ("; did you mean 'hopper'?", '; there are: hopper, franklin', '; there are none')
    """
    import difflib

    close = difflib.get_close_matches(name, known, n=1)
    if close:
        return f"; did you mean '{close[0]}'?"
    return f"; there are: {', '.join(known)}" if known else "; there are none"


def _shown(value: Any) -> str:
    """Show a value as it might stand in the file, cut short."""
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def document_of(record: Any) -> dict[str, Any]:
    """Return the tables of a record's file, as a TOML parser would give them; what is as by default is left out.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Point:
    ...     x: int
    ...     label: str = "here"
    >>> document_of(Point(3)), document_of(Point(3, "there"))
    ({'x': 3}, {'x': 3, 'label': 'there'})
    """
    document = _table_of(record, "", getattr(record, "provenance", {}))
    if hasattr(record, "sources"):
        # Citations stand before the tables that cite.
        plain = {name: entry for name, entry in document.items() if not _is_table(entry)}
        document = plain | {"sources": dict(record.sources)} | document
    return document


def _table_of(record: Any, path: str, provenance: Mapping[str, Quantity]) -> dict[str, Any]:
    """Return one table: facts from the provenance, the rest from the record."""
    table: dict[str, Any] = {}
    kind: Any = type(record)
    for name, slot in _slots(kind).items():
        value, where = getattr(record, slot.attribute), path + name
        if slot.shape == "mapping":
            entries = {each: _entry_of(value[each], f"{where}.{each}", slot, provenance) for each in value}
            if entries:
                table[name] = entries
        elif slot.shape == "list" and slot.nested:
            named = next(iter(_slots(slot.kind).values()))
            entries_of = [_table_of(each, f"{where}.{getattr(each, named.attribute)}.", provenance) for each in value]
            if entries_of:
                table[name] = entries_of
        elif slot.rules.fact:
            if where in provenance:
                table[name] = _entry_of(value, where, slot, provenance)
        elif value is not None and value != slot.default:
            table[name] = _entry_of(value, where, slot, provenance)
    return table


def _entry_of(value: Any, path: str, slot: _Slot, provenance: Mapping[str, Quantity]) -> Any:
    """Return one entry of a table."""
    if is_dataclass(slot.kind):
        return _table_of(value, f"{path}.", provenance)
    if slot.rules.fact:
        return provenance[path].to_table()
    return _plain(value)


def _plain(value: Any) -> Any:
    """Return a value as a TOML parser gives it."""
    return list(value) if isinstance(value, tuple) else value


def to_toml(record: Any) -> str:
    r"""Return the text of a record's file; reading it gives the record back.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Point:
    ...     x: int
    >>> to_toml(Point(3))
    'x = 3\n'
    """
    return "\n".join(_lines(document_of(record), "")) + "\n"


def _is_table(entry: Any) -> bool:
    """Whether an entry gets a header; facts stand on one line."""
    # An empty list stands on its line: there is no table that could have the header.
    if isinstance(entry, list):
        return bool(entry) and isinstance(entry[0], dict)
    return isinstance(entry, dict) and "value" not in entry


def _lines(table: dict[str, Any], path: str) -> Iterator[str]:
    """Yield the lines of a table, its own values before the tables inside."""
    for name, entry in table.items():
        if not _is_table(entry):
            yield _line(name, entry)
    for name, entry in table.items():
        if _is_table(entry):
            header = f"[[{path}{_key(name)}]]" if isinstance(entry, list) else f"[{path}{_key(name)}]"
            for inner in entry if isinstance(entry, list) else [entry]:
                yield ""
                yield header
                yield from _lines(inner, f"{path}{_key(name)}.")


def _line(name: str, value: Any) -> str:
    """Return ``name = value``; a list inside breaks over lines if it is long."""
    line = f"{_key(name)} = {_value(value)}"
    return line if len(line) <= _WIDTH else f"{_key(name)} = {_value(value, broken=True)}"


def _key(name: str) -> str:
    """Return a key, quoted if it must be."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _value(name)


def _value(value: Any, *, broken: bool = False) -> str:
    """Return a value in TOML, where texts, numbers and lists of them stand as in JSON."""
    import json

    if isinstance(value, dict):
        entries = (f"{_key(name)} = {_value(entry, broken=broken)}" for name, entry in value.items())
        return "{ " + ", ".join(entries) + " }"
    if broken and isinstance(value, list):
        return _filled_lines([_value(entry) for entry in value])
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _filled_lines(entries: list[str]) -> str:
    """Return a list over several lines, each filled as far as it goes."""
    lines = [""]
    for entry in entries:
        if lines[-1] and len(lines[-1]) + len(entry) + 6 > _WIDTH:
            lines.append("")
        lines[-1] += f" {entry}," if lines[-1] else f"{entry},"
    return "[\n" + "".join(f"    {line}\n" for line in lines) + "]"
