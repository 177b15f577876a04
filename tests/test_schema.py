"""Tables read into records and written from them, for any record."""

from __future__ import annotations

import copy
import datetime
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

import hopperlib
from hopperkit.launchers import options
from hopperlib.failure.builds._link_line import Compilers
from hopperlib.failure.builds.rules import BuildProblems
from hopperlib.failure.diagnosis._fallback import Voices
from hopperlib.failure.diagnosis._schedulers import Schedulers
from hopperlib.failure.messages._expressions import Words
from hopperlib.failure.messages.rules import Groups, rules_of
from hopperlib.machine import Launcher, Machine
from hopperlib.monitoring.simultaneous_changes import Subsystem
from hopperlib.package_data import load_csv_resource
from hopperlib.scheduling.rules import queues_of
from hopperlib.schema import TableError, key, read_record, read_records, read_rows, read_toml
from hopperlib.schema.writing import document_of, to_toml


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


def test_citations_are_written_between_plain_values_and_the_tables_that_cite():
    keys = list(document_of(Machine.load("toy")))
    assert keys.index("title") < keys.index("sources") < keys.index("node")


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
        ("[\"KILLED\", { code = \"ABORT\", lines = 3 }]", "7", "explains = 7: must be a list of texts or tables"),
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
        "rule.A.code = 'A': occurs twice; each [[rule]] needs a different one",
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


def _refused(read, document):
    with pytest.raises(TableError) as error:
        read(document)
    return error.value.problems


def _tables(value, path=()):
    """Yield the path of each table in a document whose keys a record names; those of mappings with any keys are not."""
    if isinstance(value, dict):
        yield path
        for name, entry in value.items():
            yield from _tables(entry, (*path, name))
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        yield from _tables(value[0], (*path, 0))


def _misspelled(document, path):
    """A copy of a document with one key of a table at a path misspelled, and that spelling."""
    changed = copy.deepcopy(document)
    table = changed
    for step in path:
        table = table[step]
    name = max(table, key=len)
    slip = name[0] + name[2:] if len(name) > 2 else name * 2
    entries = dict(table)
    table.clear()
    table.update({slip if each == name else each: entry for each, entry in entries.items()})
    return changed, slip


LIBRARY = Path(hopperlib.__file__).parent
RULE_FILES = sorted((LIBRARY / "failure" / "rules").glob("*.toml"))
# How each file of tables is read; and the keys below which a table may have any.
FILES = {
    **{
        f"machines/{name}.toml": (lambda document: Machine.from_document(document, name="x"), ("sources",))
        for name in Machine.names()
    },
    "machines/general/launchers.toml": (
        lambda table: read_records(Launcher, table, "launcher", name="x"),
        ("sources",),
    ),
    **{f"failure/rules/{file.name}": (lambda table: rules_of([table]), ()) for file in RULE_FILES},
    "failure/builds/problems.toml": (
        lambda table: read_record(BuildProblems, table, name="x"),
        ("versions", "glibcxx"),
    ),
    "failure/builds/compilers.toml": (
        lambda table: read_record(Compilers, table, name="x"),
        ("environments", "modules"),
    ),
    "failure/diagnosis/schedulers.toml": (lambda table: read_record(Schedulers, table, name="x"), ()),
    "failure/diagnosis/speakers.toml": (lambda table: read_record(Voices, table, name="x"), ()),
    "failure/messages/groups.toml": (lambda table: read_record(Groups, table, name="x"), ()),
    "failure/messages/words.toml": (lambda table: read_record(Words, table, name="x"), ()),
    "monitoring/subsystems.toml": (lambda table: read_records(Subsystem, table, "subsystem", name="x"), ()),
    "scheduling/queues.toml": (queues_of, ()),
}


@pytest.mark.parametrize("name", FILES)
def test_a_misspelled_key_of_any_table_is_refused_by_name(name):
    read, free = FILES[name]
    document = tomllib.loads((LIBRARY / name).read_text(encoding="utf-8"))
    read(document)
    paths = [path for path in _tables(document) if not set(path[-1:]) & set(free)]
    for path in paths if name != "scheduling/queues.toml" else filter(None, paths):
        changed, slip = _misspelled(document, path)
        problems = _refused(read, changed)
        assert any(re.search(rf"\b{re.escape(slip)}\b.*: is not a key", problem) for problem in problems), path


def test_every_file_of_tables_is_held_against_a_schema():
    others = (
        "questions",
        "findings.toml",
        "advice.toml",
        "commands.toml",
        "analysis",
        "site",
        "studies",
    )
    files = {str(file.relative_to(LIBRARY)) for file in LIBRARY.rglob("*.toml") if "data" not in file.parts}
    assert {name for name in files if not any(part in name for part in others)} == set(FILES)


@pytest.mark.parametrize("column", ["programs", "names", "value", "bears", "variables", "refused", "field", "most"])
def test_a_misspelled_column_of_the_options_is_refused_by_name(column):
    rows = [
        {column[1:] if name == column else name: cell for name, cell in row.items()}
        for row in load_csv_resource(options.__file__, "options.csv")
    ]
    problems = _refused(lambda rows: read_rows(options.Option, rows, name="options.csv"), rows)
    assert any(f"options.csv: line 2.{column[1:]}" in problem and "is not a key" in problem for problem in problems)


def test_every_row_of_the_options_can_be_read():
    rows = load_csv_resource(options.__file__, "options.csv")
    assert len(read_rows(options.Option, rows, name="options.csv")) == len(rows)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (
            {"value": "requird"},
            "value = 'requird': must be one of none, required, optional, pair; did you mean 'required'?",
        ),
        ({"programs": "srun sbach"}, "which 'sbach' is not; did you mean 'sbatch'?"),
        ({"bears": "no"}, "bears = 'no': must be yes, or empty"),
        ({"field": "task"}, "; did you mean 'tasks'?"),
        ({"names": ""}, "names: is missing"),
        ({None: ["cores"]}, "has more cells than there are columns: look for a comma"),
        ({"most": None}, "has fewer cells than there are columns: look for a comma"),
    ],
)
def test_a_wrong_cell_is_told_with_its_line(row, problem):
    sound = {"programs": "srun", "names": "-n --ntasks", "value": "required"}
    (told,) = _refused(lambda rows: read_rows(options.Option, rows, name="options.csv"), [sound, sound | row])
    assert told.startswith("options.csv: line 3")
    assert problem in told


def test_a_line_is_that_of_the_file_also_where_few_rows_are_read():
    sound = {"programs": "srun", "names": "-n --ntasks", "value": "required"}
    rows = [sound, sound, sound | {"value": "requird"}]
    with pytest.raises(TableError, match=r"line 4\.value = 'requird'"):
        read_rows(options.Option, rows, name="options.csv", chosen=lambda row: row is rows[2])


def test_a_word_that_is_not_one_of_a_few_gets_the_one_that_was_meant():
    (problem,) = _refused(lambda table: read_record(Rule, table, name="x"), {"code": "A", "class": "usr"})
    assert problem == "x: class = 'usr': must be one of user, system; did you mean 'user'?"


def test_a_type_that_no_file_can_hold_is_an_error_of_the_record():
    @dataclass(frozen=True)
    class Strange:
        pieces: set[str]

    with pytest.raises(TypeError, match="pieces: a schema has no"):
        read_record(Strange, {}, name="x")


def test_a_fact_is_written_on_one_line_with_its_source():
    titan = Machine.load("titan")
    text = to_toml(titan)
    assert re.search(r"^count = \{ value = \d+, (source|assumed) = ", text, re.MULTILINE)
    assert tomllib.loads(text) == document_of(titan)
