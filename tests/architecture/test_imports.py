"""Imports go downwards only, and never in a circle, those inside functions and for types included."""

from __future__ import annotations

import graphlib

import pytest

BASE = {"units", "errors", "packed", "package_data", "records", "finding", "frames", "tables", "documented", "machine"}
# Subject packages may use each other along this order.
SUBJECTS = ("node", "network", "storage", "failure", "monitoring")

GROUND = {"units", "errors", "package_data", "records", "finding", "frames", "tables"}
ALLOWED: dict[str, set[str]] = {
    # The front door, which imports when it is asked.
    "": {"frames", "questions", "readers"},
    "errors": set(),
    "finding": {"units", "package_data", "records"},
    "frames": set(),
    "units": {"errors"},
    "packed": set(),
    "package_data": set(),
    "records": set(),
    "tables": {"errors", "records", "units"},
    "documented": GROUND,
    "machine": GROUND | {"documented"},
}
for number, subject in enumerate(SUBJECTS):
    ALLOWED[subject] = BASE | set(SUBJECTS[:number])
ALLOWED["readers"] = BASE | set(SUBJECTS)
ALLOWED["questions"] = ALLOWED["readers"] | {"readers"}
ALLOWED["render"] = ALLOWED["questions"] | {"questions"}
ALLOWED["site"] = ALLOWED["render"] | {"render"}
ALLOWED["analysis"] = ALLOWED["render"]
ALLOWED["studies"] = ALLOWED["analysis"] | {"analysis"}
ALLOWED["scoring"] = ALLOWED["studies"] | {"studies"}
ALLOWED["studies"] |= {"questions", "scoring"}


def test_every_part_has_its_place(sources):
    parts = {source.part for source in sources}
    assert parts <= set(ALLOWED) | {"cli", "__main__"}, "a new part needs a line in the table of imports above"


def test_imports_go_downwards(source):
    if source.part in ("cli", "__main__"):
        return
    for imported in source.imports():
        if imported.name.split(".")[0] != "hopperlib":
            continue
        part = imported.name.split(".")[1]
        # `from hopperlib import __version__` asks for no part.
        assert part in ALLOWED[source.part] | {source.part, "__version__"}, (
            f"{source.name}, line {imported.line}, imports hopperlib.{part}, "
            f"and {source.part or 'hopperlib'} may import: {', '.join(sorted(ALLOWED[source.part])) or 'nothing'}"
        )


def test_no_circles(sources):
    modules = {source.name for source in sources}
    graph = {
        source.name: {
            # `from a import b` may mean the module a.b or a name in a.
            imported.name if imported.name in modules else imported.name.rpartition(".")[0]
            for imported in source.imports()
        }
        & modules - {source.name}
        for source in sources
    }
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        pytest.fail("modules import each other in a circle: " + " -> ".join(error.args[1]))
