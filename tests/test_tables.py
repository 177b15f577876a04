"""Tables read into records and written from them, whatever the record."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import pytest

from hopperlib.machine import Machine
from hopperlib.tables import TableError, document_of, key, read_record, read_records, read_toml, to_toml


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    code: str
    lines: int | None = key(None, low=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranges:
    known: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    code: str = key(pattern="[A-Z]+")
    fault: Literal["user", "system"] = key(name="class")
    hours: float | None = key(None, above=0)
    certain: bool = False
    reported: datetime.date | None = None
    anchors: tuple[str, ...] = key((), single=True)
    sizes: tuple[int, int] | None = None
    explains: tuple[Link, ...] = key((), short=True)
    versions: Mapping[str, Ranges] = key(dict)
    first: Link | None = None

    def broken_rules(self) -> Iterator[str]:
        if self.certain and not self.anchors:
            yield "certain = true: needs an anchor"


TEXT = """
code = "OOM"
class = "user"
hours = 2
reported = 2011-02-14
anchors = "out of memory"
sizes = [1, 2]
explains = ["KILLED", { code = "ABORT", lines = 3 }]
versions = { libsci = { known = ["1.0"] } }
first = { code = "SEGV" }
"""


def test_every_kind_of_field():
    rule = read_record(Rule, read_toml(TEXT, name="x"), name="x")
    assert rule == Rule(
        code="OOM",
        fault="user",
        hours=2,
        reported=datetime.date(2011, 2, 14),
        anchors=("out of memory",),
        sizes=(1, 2),
        explains=(Link(code="KILLED"), Link(code="ABORT", lines=3)),
        versions={"libsci": Ranges(known=("1.0",))},
        first=Link(code="SEGV"),
    )
    assert read_record(Rule, document_of(rule), name="x") == rule


def test_what_is_as_by_default_is_not_written():
    rule = Rule(code="OOM", fault="user", explains=(Link(code="KILLED"),), versions={"a b": Ranges(known=("1",))})
    text = 'code = "OOM"\nclass = "user"\n\n[[explains]]\ncode = "KILLED"\n\n[versions]\n\n[versions."a b"]\nknown = ["1"]\n'
    assert to_toml(rule) == text
    assert read_record(Rule, read_toml(text, name="x"), name="x") == rule


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('"OOM"', '"oom"', "code = 'oom': must be of the form [A-Z]+"),
        ('class = "user"', 'fault = "user"', "class: is missing"),
        ('class = "user"', 'fault = "user"', "fault = 'user': is not a key; there are: code, class, hours, certain, reported, anchors, sizes, explains, versions, first"),
        ('"user"', '"nobody"', "class = 'nobody': must be one of user, system"),
        ("hours = 2", "hours = 0", "hours = 0: must be a number above 0"),
        ("hours = 2", "hours = inf", "hours = inf: must be a number above 0"),
        ("hours = 2", "certain = 1", "certain = 1: must be true or false"),
        ("2011-02-14", '"2011-02-14"', "reported = '2011-02-14': must be a date"),
        ('"out of memory"', "[]", "anchors = []: must be a list of texts, at least one"),
        ('"out of memory"', "7", "anchors = 7: must be a list of texts, at least one"),
        ("[1, 2]", "[1, 2, 3]", "sizes = [1, 2, 3]: must be a list of 2"),
        ("[1, 2]", '[1, "2"]', "sizes = [1, '2']: must be a list, each a whole number"),
        ("lines = 3", "lines = 0", "explains[1].lines = 0: must be a whole number of at least 1"),
        ('"KILLED", {', "7, {", "explains[0] = 7: must be text, or a table of code, lines"),
        ("[\"KILLED\", { code = \"ABORT\", lines = 3 }]", "7", "explains = 7: must be a list of tables"),
        ('{ known = ["1.0"] }', "7", "versions.libsci = 7: must be a table of known"),
        ('["1.0"]', "7", "versions.libsci.known = 7: must be a list of texts, at least one"),
        ("{ libsci", "7 #", "versions = 7: must be a table of keys and values"),
        ('{ code = "SEGV" }', "{ lines = 3 }", "first.code: is missing"),
        ('{ code = "SEGV" }', "3", "first = 3: must be a table, [first]"),
        ('anchors = "out of memory"', "certain = true", "certain = true: needs an anchor"),
    ],
)  # fmt: skip
def test_every_problem_is_named_with_its_key(old, new, problem):
    assert old in TEXT
    with pytest.raises(TableError) as error:
        read_record(Rule, read_toml(TEXT.replace(old, new, 1), name="x"), name="x")
    assert f"x: {problem}" in error.value.problems


def test_a_number_too_large_for_a_float_is_no_traceback():
    with pytest.raises(TableError, match=r"lines = 1000.*: must be a date|reported"):
        read_record(Rule, {"code": "A", "class": "user", "reported": 10**400}, name="x")
    assert read_record(Rule, {"code": "A", "class": "user", "hours": 10**400}, name="x").hours == 10**400


def test_an_array_is_named_by_its_first_field_which_stands_once():
    document = read_toml('[[rule]]\ncode = "A"\nclass = "x"\n[[rule]]\ncode = "A"\nclass = "user"', name="")
    with pytest.raises(TableError) as error:
        read_records(Rule, document, "rule", name="")
    assert error.value.problems == (
        "rule.A.class = 'x': must be one of user, system",
        "rule.A.code = 'A': stands twice; each [[rule]] needs its own",
    )
    assert str(error.value) == "rule.A.class = 'x': must be one of user, system (and 1 more)"


@pytest.mark.parametrize(
    ("path", "unit"),
    [
        ("node.small.clock_ghz", "GHz"),
        ("node.small.memory_gb", "GB"),
        ("node.small.numa_bandwidth_gb_s", "GB/s"),
        ("node.small.remote_bandwidth_fraction", ""),
        ("network.latency_us", "us"),
        ("network.link_bandwidth_gb_s.y_between_blades", "GB/s"),
        ("file_system.work.capacity_pb", "PB"),
        ("file_system.work.default_stripe_size_bytes", "bytes"),
        ("node.small.count", ""),
    ],
)
def test_a_fact_has_the_unit_that_its_key_names(path, unit):
    assert Machine.load("toy").provenance[path].unit == unit
