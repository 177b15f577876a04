"""Writing of records as the text of their files; reading the text returns equal records."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from hopperlib.schema.fields import FieldSpec, Quantity, record_spec


def document_of(record: Any) -> dict[str, Any]:
    """Return the tables of a record's file, as a TOML parser would return them, without default values.

    Parameters
    ----------
    record : Any
        A dataclass of the schema.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Point:
    ...     x: int
    ...     label: str = "here"
    >>> document_of(Point(3)), document_of(Point(3, "there"))
    ({'x': 3}, {'x': 3, 'label': 'there'})
    """
    document = _table_of(record, "", getattr(record, "provenance", {}))
    if hasattr(record, "sources"):
        # Citations come before the tables that cite them.
        plain = {name: entry for name, entry in document.items() if not _is_table(entry)}
        document = plain | {"sources": dict(record.sources)} | document
    return document


def _table_of(record: Any, path: str, provenance: Mapping[str, Quantity]) -> dict[str, Any]:
    """Return one table, without default values."""
    entries = (
        (name, _entry_of(getattr(record, spec.attribute), path + name, spec, provenance))
        for name, spec in record_spec(record.__class__).keys.items()
    )
    return {name: entry for name, entry in entries if entry is not None}


def _entry_of(value: Any, path: str, spec: FieldSpec, provenance: Mapping[str, Quantity]) -> Any:
    """Return the entry of a key; None if there is none."""
    if spec.shape == "mapping":
        part = spec.part._replace(default=None)
        return {name: _entry_of(each, f"{path}.{name}", part, provenance) for name, each in value.items()} or None
    if spec.shape == "tables":
        named = record_spec(spec.kind).first.attribute
        return [_table_of(each, f"{path}.{getattr(each, named)}.", provenance) for each in value] or None
    if spec.rules.sourced:
        return provenance[path].to_table() if path in provenance else None
    if value is None or value == spec.default:
        return None
    if spec.shape == "table":
        return _table_of(value, f"{path}.", provenance)
    return list(value) if isinstance(value, tuple) else value


def to_toml(record: Any) -> str:
    r"""Return the text of a record's file; reading it returns an equal record.

    Parameters
    ----------
    record : Any
        A dataclass of the schema.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Point:
    ...     x: int
    >>> to_toml(Point(3))
    'x = 3\n'
    """
    return "\n".join(_lines(document_of(record), "")) + "\n"


def _is_table(entry: Any) -> bool:
    """Whether an entry gets a header; sourced values are written on one line."""
    # An empty list is written inline: no table could have the header.
    if isinstance(entry, list):
        return bool(entry) and isinstance(entry[0], dict)
    return isinstance(entry, dict) and "value" not in entry


def _lines(table: dict[str, Any], path: str) -> Iterator[str]:
    """Yield the lines of a table, its values before the nested tables."""
    for name, entry in table.items():
        if not _is_table(entry):
            yield f"{_key(name)} = {_value(entry)}"
    for name, entry in table.items():
        if _is_table(entry):
            header = f"[[{path}{_key(name)}]]" if isinstance(entry, list) else f"[{path}{_key(name)}]"
            for inner in entry if isinstance(entry, list) else [entry]:
                yield ""
                yield header
                yield from _lines(inner, f"{path}{_key(name)}.")


def _key(name: str) -> str:
    """Return a key, quoted if it must be."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _value(name)


def _value(value: Any) -> str:
    """Return a value in TOML, which writes texts, numbers and lists of them as JSON does."""
    import json

    if isinstance(value, dict):
        entries = (f"{_key(name)} = {_value(entry)}" for name, entry in value.items())
        return "{ " + ", ".join(entries) + " }"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
