"""Reading of a file's tables into records; each error names file, key, value, rule and the reason for the rule."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from hopperlib.errors import InputError, did_you_mean
from hopperlib.schema.fields import SOURCED_KEYS, FieldSpec, Quantity, RecordSpec, record_spec, violated_rule

Record = TypeVar("Record")


class TableError(InputError):
    """A file of tables that cannot be used.

    Attributes
    ----------
    problems : tuple of str
        All errors, one sentence each: file, key, value, rule.
    """

    more = ""

    def __init__(self, problems: tuple[str, ...]):
        self.problems = problems
        count = len(problems) - 1
        super().__init__(problems[0] + (f" (and {count} more{self.more})" if count else ""))


def read_toml(text: str, *, name: str, error: type[TableError] = TableError) -> dict[str, Any]:
    """Parse TOML tables; any error of the parser becomes one message.

    Parameters
    ----------
    text : str
        The text.
    name : str
        The name.
    error : type[TableError], default TableError
        Type of the error to raise.

    Raises
    ------
    TableError
        If the text is not TOML, or nested too deeply.

    Examples
    --------
    >>> read_toml("cores = 24", name="node.toml")
    {'cores': 24}
    >>> read_toml("cores = ", name="node.toml")
    Traceback (most recent call last):
    hopperlib.schema.reading.TableError: node.toml: is not TOML: Invalid value (at end of document)
    """
    import tomllib

    try:
        document = tomllib.loads(text)
        # A parsed document may still be nested too deeply to be shown.
        repr(document)
        return document
    except ValueError as wrong:
        raise error((f"{name}: is not TOML: {wrong}",)) from None
    except RecursionError:
        raise error((f"{name}: is not read: its values are nested too deeply",)) from None


def read_record(
    record: type[Record], table: Mapping[str, Any], *, name: str, error: type[TableError] = TableError
) -> Record:
    """Return the record of a table.

    Parameters
    ----------
    record : type
        A frozen dataclass.
    table : mapping
        Output of a TOML parser.
    name : str
        Name of the file in messages; empty omits it.
    error : type
        The error to raise.

    Raises
    ------
    TableError
        If the table is invalid; `problems` lists all errors.

    Examples
    --------
    >>> from dataclasses import dataclass
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
    made = reading.record(record, table, "")
    reading.raise_problems(error)
    return made  # type: ignore[no-any-return]


def read_records(
    record: type[Record], document: Mapping[str, Any], array: str, *, name: str, error: type[TableError] = TableError
) -> tuple[Record, ...]:
    r"""Return the records of a file with one array of tables, such as ``[[rule]]``, and their sources.

    Parameters
    ----------
    record : type
        Its first field names each table.
    document : mapping
        Output of the TOML parser.
    array : str
        Key of the array.
    name, error
        As in `read_record`.

    Raises
    ------
    TableError
        If a table is invalid, or the file has another key; `problems` lists all errors.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Case:
    ...     code: str
    ...     lines: int = 0
    >>> read_records(Case, read_toml('[[case]]\ncode = "OOM"\nlines = 3', name="cases"), "case", name="cases")
    (Case(code='OOM', lines=3),)
    """
    reading = _Reading(name, document)
    known = (array, "sources")
    for each in document:
        if each not in known:
            reading.problem(each, f"is not a key{did_you_mean(each, known)}")
    made = reading.array(record, document.get(array, []), array)
    reading.raise_problems(error)
    return made


def read_rows(
    record: type[Record],
    rows: Iterable[Mapping[str, str]],
    *,
    name: str,
    chosen: Callable[[Mapping[str, str]], bool] = lambda row: True,
) -> tuple[Record, ...]:
    """Return the records of the rows of a CSV file; a column is a key, an empty cell a missing key.

    Parameters
    ----------
    record : type
        As for `read_record`; words of a list are separated by blanks.
    rows : iterable of mapping
        All rows of the file, from `csv.DictReader`.
    name : str
        Name of the file in messages.
    chosen : callable
        Predicate for the rows to read; all rows by default.

    Raises
    ------
    TableError
        If a row is invalid; the message names line and column.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Option:
    ...     names: tuple[str, ...]
    ...     bears: bool = False
    >>> read_rows(Option, [{"names": "-n --ntasks", "bears": "yes"}], name="options.csv")
    (Option(names=('-n', '--ntasks'), bears=True),)
    """
    reading, made = _Reading(name, {}), list[Any]()
    kind: Any = record
    keys = record_spec(kind).keys
    for line, row in enumerate(rows, start=2):
        if not chosen(row):
            continue
        at = f"line {line}"
        # For a row that is too long or too short, csv.DictReader returns None as a column or a cell.
        if None in row or None in row.values():
            than = "more" if None in row else "fewer"
            reading.problem(at, f"has {than} cells than there are columns: look for a comma")
            continue
        table = {column: _cell(text, keys.get(column)) for column, text in row.items() if text or column not in keys}
        for column in [each for each, text in table.items() if text is not True and _is_yes_or_empty(keys.get(each))]:
            reading.problem(f"{at}.{column}", "must be yes, or empty", table.pop(column))
        made.append(reading.record(record, table, at))
    reading.raise_problems(TableError)
    return tuple(made)


def _is_yes_or_empty(spec: FieldSpec | None) -> bool:
    """Whether a column contains only yes and empty cells."""
    return spec is not None and spec.shape != "list" and spec.kind is bool


def _cell(text: str, spec: FieldSpec | None) -> Any:
    """Return a cell as its TOML value; a text that is not a number or yes stays a text, to be rejected."""
    if spec is None:
        return text
    if spec.shape == "list":
        return text.split()
    if _is_yes_or_empty(spec):
        return True if text == "yes" else text
    return int(text) if spec.kind is int and text.isdecimal() else text


class _Reading:
    """One pass over a document: its problems, and the sources of its values."""

    def __init__(self, name: str, document: Mapping[str, Any]):
        self.prefix = f"{name}: " if name else ""
        self.problems: list[str] = []
        self.sources: dict[str, str] = {}
        self.provenance: dict[str, Quantity] = {}
        # Keys that hold tables are read after the others.
        self.nested = {"table": self.table, "tables": self.tables, "mapping": self.mapping}
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
        """Record a problem at a path."""
        shown = f" = {_shown(value)}" if value is not None else ""
        self.problems.append(f"{self.prefix}{path[:200]}{shown}: {rule}")

    def raise_problems(self, error: type[TableError]) -> None:
        """Raise all recorded problems, if any."""
        if self.problems:
            raise error(tuple(self.problems))

    def record(self, record: Any, table: Mapping[str, Any], path: str) -> Any:
        """Read one table; None if it is invalid. Values are checked first, then missing keys, then nested tables: the
        order in which a person fixes a file.
        """
        plan, before, where = record_spec(record), len(self.problems), f"{path}." if path else ""
        values = {}
        for name, entry in table.items():
            spec = plan.keys.get(name)
            if spec is None:
                self.unknown_key(where, name, entry, (*plan.keys, *(("sources",) if plan.provenance else ())))
            elif spec.shape not in self.nested:
                values[spec.attribute] = self.entry(where + name, entry, spec)
        self.missing(where, plan.required, table)
        if len(self.problems) == before:
            values |= self.assumed(plan, values, where)
        for spec in plan.nested:
            if spec.name in table or spec.rules.least is not None:
                values[spec.attribute] = self.inner(record, table, where, spec)
        # A record with a broken rule is not constructed: its derived values may depend on that rule.
        if len(self.problems) > before:
            return None
        held: dict[str, Mapping[str, Any]] = {"sources": self.sources, "provenance": self.provenance}
        made = record(**values, **{name: held[name] for name in plan.provenance})
        if hasattr(record, "broken_rules"):
            self.problems += [f"{self.prefix}{where}{problem}" for problem in made.broken_rules()]
        return made

    def assumed(self, plan: RecordSpec, values: Mapping[str, Any], where: str) -> dict[str, Any]:
        """Return the assumptions for keys missing from a table, and record the reasons."""
        left_out = [spec for spec in plan.keys.values() if spec.rules.assumed and spec.attribute not in values]
        assumed = {
            each.attribute: each.rules.follows(values) if each.rules.follows else each.default for each in left_out
        }
        for each in left_out:
            why, value = each.rules.assumed, assumed[each.attribute]
            self.provenance[where + each.name] = Quantity(value=value, assumed=why, unit=each.unit)
        return assumed

    def unknown_key(self, where: str, name: str, entry: Any, known: tuple[str, ...]) -> None:
        """Reject a key that a table does not have, except for the sources of the file."""
        if where or name != "sources" or name not in known:
            self.problem(where + name, f"is not a key{did_you_mean(name, known)}", entry)

    def missing(self, where: str, required: Iterable[str], table: Mapping[str, Any]) -> None:
        """Report the required keys that a table lacks."""
        for name in required:
            if name not in table:
                self.problem(where + name, "is missing")

    def inner(self, record: Any, table: Mapping[str, Any], where: str, spec: FieldSpec) -> Any:
        """Read the keys that hold a table or tables; some arrays need at least one."""
        entry = table.get(spec.name, [])
        if spec.rules.least and entry == []:
            words = " ".join(re.findall("[A-Z][a-z]*", record.__name__)).lower()
            self.problem(where + spec.name, f"is missing: a {words} has at least {spec.rules.least} [[{spec.name}]]")
            return ()
        return self.nested[spec.shape](where + spec.name, entry, spec)

    def table(self, path: str, entry: Any, spec: FieldSpec) -> Any:
        """Read one nested table; a text may replace one with a single field."""
        if spec.rules.short and isinstance(entry, str):
            entry = {record_spec(spec.kind).first.name: entry}
        if isinstance(entry, dict):
            return self.record(spec.kind, entry, path)
        if "." in path or "[" in path:
            keys = ", ".join(record_spec(spec.kind).keys)
            self.problem(path, f"must be {'text, or ' if spec.rules.short else ''}a table of {keys}", entry)
        else:
            self.problem(path, f"must be a table, [{path}]", entry)
        return None

    def tables(self, path: str, entries: Any, spec: FieldSpec) -> tuple[Any, ...]:
        """Read a list of tables."""
        if spec.rules.least is not None:
            return self.array(spec.kind, entries, path)
        if not isinstance(entries, list):
            self.problem(path, f"must be a list of {'texts or ' if spec.part.rules.short else ''}tables", entries)
            return ()
        return tuple(self.table(f"{path}[{index}]", entry, spec.part) for index, entry in enumerate(entries))

    def mapping(self, path: str, table: Any, spec: FieldSpec) -> Any:
        """Read a table with any keys, or with all of certain ones."""
        if not isinstance(table, dict):
            self.problem(path, f"must be a table of {spec.rules.form or 'keys and values'}", table)
            return None
        read = self.nested.get(spec.part.shape, self.entry)
        values = {}
        for name, entry in table.items():
            if spec.keys and name not in spec.keys:
                self.problem(f"{path}.{name}", f"is not a key{did_you_mean(name, spec.keys)}", entry)
            else:
                values[name] = read(f"{path}.{name}", entry, spec.part)
        self.missing(f"{path}.", spec.keys, table)
        return values

    def array(self, record: Any, entries: Any, section: str) -> tuple[Any, ...]:
        """Read an array of tables such as ``[[node]]``, each named by its first field; return the valid ones."""
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            self.problem(section, f"must be an array of tables, [[{section}]]", entries)
            return ()
        made, named = [], record_spec(record).first.name
        seen: set[str] = set()
        for index, entry in enumerate(entries):
            name = entry.get(named)
            # A text that is not a name cannot be part of a path: such a table is identified by its index.
            usable = isinstance(name, str) and re.fullmatch(r"[A-Za-z0-9_-]{1,60}", name)
            path = f"{section}.{name}" if usable else f"{section}[{index}]"
            if path in seen:
                self.problem(f"{path}.{named}", f"occurs twice; each [[{section}]] needs a different one", name)
            seen.add(path)
            made.append(self.record(record, entry, path))
        return tuple(each for each in made if each is not None)

    def entry(self, path: str, entry: Any, spec: FieldSpec) -> Any:
        """Read a value, or one with its source; None if a rule is broken."""
        if not spec.rules.sourced:
            return self.value(path, entry, spec)
        if not isinstance(entry, dict):
            rule = 'needs its source: { value = ..., source = "key", at = "where" } or assumed = "why"'
            self.problem(path, rule, entry)
            return None
        for name, text in entry.items():
            if name not in SOURCED_KEYS:
                self.problem(f"{path}.{name}", f"is not a key of a fact{did_you_mean(name, SOURCED_KEYS)}", text)
            elif name != "value" and (not isinstance(text, str) or not text.strip()):
                self.problem(f"{path}.{name}", "must be text", text)
        if "value" not in entry:
            self.problem(f"{path}.value", "is missing")
            return None
        address = {name: entry.get(name) for name in SOURCED_KEYS[1:]}
        for rule in _violated_by_address(**address):
            self.problem(path, rule, entry["value"])
        source = address["source"]
        if isinstance(source, str) and source not in self.sources:
            self.problem(f"{path}.source", f"is not in [sources]{did_you_mean(source, self.sources)}", source)
        value = self.value(path, entry["value"], spec)
        if value is not None:
            self.provenance[path] = Quantity(value=value, **address, unit=spec.unit)
        return value

    def value(self, path: str, value: Any, spec: FieldSpec) -> Any:
        """Check one value; None if it breaks a rule."""
        if spec.rules.single and isinstance(value, str):
            value = [value]
        if violated := violated_rule(value, spec):
            why = f" ({spec.rules.why})" if spec.rules.why else ""
            self.problem(path, f"must be {spec.rules.form or violated}{why}{_choice_meant(value, spec)}", value)
            return None
        return tuple(value) if isinstance(value, list) else value


def _violated_by_address(source: str | None, at: str | None, assumed: str | None) -> Iterator[str]:
    """Yield problems with a value's source."""
    if source is None and assumed is None:
        yield "needs a source or assumed"
    if source is not None and assumed is not None:
        yield "has both a source and assumed; keep one"
    if source is not None and at is None:
        yield f"needs at = \"where\" in source '{source}'"
    if assumed is not None and at is not None:
        yield "has at = ... without a source"


def _choice_meant(value: Any, spec: FieldSpec) -> str:
    """Return the allowed word that was probably meant; None if unclear."""
    wrong = [word for word in (value if isinstance(value, list) else [value]) if isinstance(word, str)]
    hints = (did_you_mean(word, spec.choices) for word in wrong if word not in spec.choices)
    return next((hint for hint in hints if "did you mean" in hint), "")


def _shown(value: Any) -> str:
    """Return a value in TOML form, shortened."""
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
