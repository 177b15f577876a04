"""Description of a record's field as a key in a file: type, bounds, form, source."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cache
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

Value = bool | int | float | str | tuple[int, ...] | tuple[str, ...]
Shape = Literal["value", "list", "table", "tables", "mapping"]

SOURCED_KEYS = ("value", "source", "at", "assumed")
# Suffix of a key -> unit, longest first.
_UNITS = {"_gb_s": "GB/s", "_ghz": "GHz", "_gb": "GB", "_pb": "PB", "_us": "us", "_bytes": "bytes"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """One value of a file with its source.

    Attributes
    ----------
    value : bool, int, float, str or tuple
        The value, in the unit that its key names.
    source : str or None
        Key of the source in the file's ``[sources]``.
    at : str or None
        Location in the source: section, table, page, and the arithmetic, if any.
    assumed : str or None
        Reason for this value, if no source prints it.
    unit : str
        Unit in the key's name; empty for a count or a word.
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
        value = list(self.value) if isinstance(self.value, tuple) else self.value
        address = {name: getattr(self, name) for name in SOURCED_KEYS[1:]}
        return {"value": value} | {name: text for name, text in address.items() if text is not None}


class _Rules(NamedTuple):
    """Options of `key`."""

    name: str = ""
    low: float | None = None
    above: float | None = None
    high: float | None = None
    pattern: str = ""
    form: str = ""
    why: str = ""
    least: int | None = None
    single: bool = False
    short: bool = False
    blank: bool = False
    repeats: bool = False
    required: bool | None = None
    sourced: bool = False
    assumed: str = ""
    follows: Callable[[Mapping[str, Any]], Value] | None = None
    provenance: bool = False


_NO_RULES = _Rules()


def key(default: Any = MISSING, **rules: Any) -> Any:
    """Return a dataclass field with the rules of its key.

    Parameters
    ----------
    default : object
        Default of the field, ``dict`` for an empty one; without it the key is required.
    **rules
        ``name``, the key in the file if it differs from the field's name; ``low``, ``above`` and ``high``, bounds of a
        number; ``pattern``, a regular expression for a text; ``form``, the text in an error instead of the rule;
        ``why``, the origin of the rule; ``least``, minimum number of tables of an array ``[[name]]``; ``single``,
        whether one text is allowed for a list; ``short``, whether a text is allowed for a table, as its first field;
        ``blank``, whether a text may be empty; ``repeats``, whether a list of texts may repeat; ``required``, if a key
        is required although the field has a default.

    Examples
    --------
    >>> from hopperlib.schema import read_record
    >>> @dataclass(frozen=True)
    ... class Node:
    ...     memory_gb: float = key(above=0, high=100_000, why="is this in MB?")
    >>> read_record(Node, {"memory_gb": 32}, name="node.toml")
    Node(memory_gb=32)
    >>> read_record(Node, {"memory_gb": -1}, name="node.toml")
    Traceback (most recent call last):
    hopperlib.schema.reading.TableError: node.toml: memory_gb = -1: must be a number above 0 and at most 100,000 (is this in MB?)
    """
    metadata = {"rules": _Rules(**rules)}
    if default is dict:
        return field(default_factory=dict, hash=False, metadata=metadata)
    return field(default=default, metadata=metadata)


def sourced(default: Any = MISSING, **rules: Any) -> Any:
    """Return a dataclass field whose value comes with its source, or with the reason why it is assumed.

    Parameters
    ----------
    default, **rules
        As for `key`; ``assumed``, the reason for the default, which a file without the key assumes; ``follows``, a
        description of a default that follows from other values of the table.

    Examples
    --------
    >>> from hopperlib.schema import read_record
    >>> @dataclass(frozen=True)
    ... class Node:
    ...     cores: int = sourced(low=1)
    ...     sources: Mapping[str, str] = provenance_field()
    ...     provenance: Mapping[str, Quantity] = provenance_field()
    >>> node = read_record(Node, {"cores": {"value": 24, "assumed": "a guess"}}, name="node.toml")
    >>> node.cores, node.provenance["cores"].badge
    (24, 'assumed')
    """
    return key(default, sourced=True, **rules)


def provenance_field() -> Any:
    """Return a dataclass field without a key in the file: `sources` and `provenance` of a record with sourced values.

    Examples
    --------
    >>> provenance_field().hash
    False
    """
    return field(hash=False, metadata={"rules": _Rules(provenance=True)})


class FieldSpec(NamedTuple):
    """One key of a table, from the type and the rules of its field."""

    name: str
    attribute: str
    rules: _Rules
    shape: Shape
    kind: Any
    length: int = 0
    choices: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    inner: "FieldSpec | None" = None
    required: bool = False
    default: Any = None
    unit: str = ""

    @property
    def part(self) -> "FieldSpec":
        """Type of each entry of a mapping, or each table of a list.

        Raises
        ------
        TypeError
            If the type of the key has no parts.
        """
        if self.inner is None:
            raise TypeError(f"{self.name} has no parts")
        return self.inner


class RecordSpec(NamedTuple):
    """The keys of a record's table by name, the required keys, the keys of tables, and the fields without a key."""

    keys: dict[str, FieldSpec]
    required: tuple[str, ...]
    nested: tuple[FieldSpec, ...]
    provenance: tuple[str, ...]

    @property
    def first(self) -> FieldSpec:
        """The key that names a table of an array."""
        return next(iter(self.keys.values()))


@cache
def record_spec(record: Any) -> RecordSpec:
    """Return the specification of a record, computed from its type hints once.

    Parameters
    ----------
    record : Any
        A dataclass of the schema.

    Examples
    --------
    >>> from hopperlib.machine.parts import QueueLimit
    >>> record_spec(QueueLimit).required
    ('name', 'chosen_by')
    """
    hints = get_type_hints(record)
    keys, provenance = {}, []
    for each in fields(record):
        rules: _Rules = each.metadata.get("rules", _NO_RULES)
        if rules.provenance:
            provenance.append(each.name)
            continue
        name = rules.name or each.name
        default = each.default if each.default_factory is MISSING else each.default_factory()
        optional = default is not MISSING or rules.least is not None or rules.follows is not None
        required = not optional if rules.required is None else rules.required
        unit = next((unit for suffix, unit in _UNITS.items() if name.endswith(suffix)), "")
        spec = _spec_of(hints[each.name], FieldSpec(name, each.name, rules, "value", str, default=default, unit=unit))
        keys[name] = spec._replace(required=required)
    return RecordSpec(
        keys,
        tuple(name for name, spec in keys.items() if spec.required),
        tuple(spec for spec in keys.values() if spec.shape in ("table", "tables", "mapping")),
        tuple(provenance),
    )


def _spec_of(hint: Any, spec: FieldSpec) -> FieldSpec:
    """Return the specification of a key with its type: shape, kind, length, choices, keys and parts."""
    origin, args = get_origin(hint), get_args(hint)
    if type(None) in args:
        return _spec_of(next(arg for arg in args if arg is not type(None)), spec)
    if origin is Literal:
        return spec._replace(choices=args)
    if origin is Mapping:
        return spec._replace(shape="mapping", keys=get_args(args[0]), inner=_spec_of(args[1], spec))
    if origin is tuple:
        inner = _spec_of(args[0], spec)
        shape: Shape = "tables" if inner.shape == "table" else "list"
        return inner._replace(shape=shape, length=0 if args[-1] is ... else len(args), inner=inner)
    if origin is not None:
        raise TypeError(f"{spec.attribute}: a schema has no {hint}")
    return spec._replace(shape="table" if is_dataclass(hint) else "value", kind=hint)


def violated_rule(value: Any, spec: FieldSpec) -> str:
    """Return the rule that a value, or a list of values, breaks; empty if it is valid.

    Parameters
    ----------
    value : Any
        The value.
    spec : FieldSpec
        Specification of the key.

    Examples
    --------
    >>> from hopperlib.machine.parts import FileSystem
    >>> violated_rule("many", record_spec(FileSystem).keys["osts"])
    'a whole number of at least 1 and at most 100,000'
    """
    if spec.shape == "list":
        return _violated_by_list(value, spec)
    if spec.kind is str:
        return _violated_by_text(value, spec)
    if spec.kind is bool:
        return "" if isinstance(value, bool) else "true or false"
    if spec.kind in (int, float):
        return "" if _is_number(value, spec) else _number_rule(spec)
    return "" if spec.kind is Any or isinstance(value, spec.kind) else f"a {spec.kind.__name__}"


def _violated_by_text(value: Any, spec: FieldSpec) -> str:
    """Return the rule that a text breaks; empty if it is valid."""
    if not isinstance(value, str) or not (value.strip() or spec.rules.blank):
        return "text"
    if spec.choices and value not in spec.choices:
        return "one of " + ", ".join(spec.choices)
    pattern = spec.rules.pattern
    return f"of the form {pattern}" if pattern and not re.fullmatch(pattern, value) else ""


def _is_number(value: Any, spec: FieldSpec) -> bool:
    """Whether a value is a number of the right type within the bounds."""
    rules = spec.rules
    if isinstance(value, bool) or not isinstance(value, int if spec.kind is int else int | float):
        return False
    if isinstance(value, float) and not math.isfinite(value):
        return False
    if (rules.low is not None and value < rules.low) or (rules.above is not None and value <= rules.above):
        return False
    return rules.high is None or value <= rules.high


def _number_rule(spec: FieldSpec) -> str:
    """Return the rule for a number, in words."""
    rules = spec.rules
    bounds = (("above", rules.above), ("of at least", rules.low), ("at most", rules.high))
    within = " and ".join(f"{words} {bound:,.10g}" for words, bound in bounds if bound is not None)
    return f"a {'whole ' if spec.kind is int else ''}number {within}".rstrip()


def _violated_by_list(value: Any, spec: FieldSpec) -> str:
    """Return the rule that a list breaks; empty if it is valid."""
    texts = spec.kind is str
    if not _is_list(value, spec):
        return "a list of texts, at least one" if texts else f"a list of {spec.length or 'at least one'}"
    if texts and not spec.rules.repeats and len(set(value)) < len(value):
        return "a list without repetition"
    for part in value:
        if violated := violated_rule(part, spec.part):
            return f"a list of texts {violated}, which '{part}' is not" if texts else f"a list, each {violated}"
    return ""


def _is_list(value: Any, spec: FieldSpec) -> bool:
    """Whether a value is a list of the right length, and of texts if it must be."""
    if not isinstance(value, list) or not value:
        return False
    sound = spec.kind is not str or all(isinstance(part, str) and part.strip() for part in value)
    return sound and len(value) == (spec.length or len(value))
