"""Imports go downwards only, at every level, none by string, those inside functions and for types included."""

from __future__ import annotations

import ast
import graphlib
from collections import defaultdict

from tests.architecture.conftest import PACKAGES, PARTS

# Who may import a module by a name that only the run tells.
BY_NAME = {
    "hopperkit": "the widgets, in a notebook",
    "hopperkit.questions.question": "the catalogue of questions",
    "hopperkit.cli": "the commands, one at a time",
    "hopperkit.cli.network.simulate": "a policy of the user's own",
    "hopperkit.readers.darshan": "what pydarshan asks for, later",
    "hopperbook.forecasts": "the functions that the settings of forecasts name",
    "hopperbook.questions": "the questions of the book",
    "hopperbook.studies": "the list of studies",
    "hopperbook.site.engine.reference": "the modules that the reference lists",
}
# What a model would compute with; a question asks models, and may hand one a seed, round and take means.
OF_MODELS = {"math", "statistics", "bisect", "heapq", "fractions"}
HARMLESS = {
    "math.ceil",
    "math.floor",
    "math.inf",
    "math.prod",
    "statistics.fmean",
    "statistics.mean",
    "statistics.median",
}


def _imported(source, modules):
    """Yield the modules of the packages that a module imports, with the line: `from a import b` may mean a.b or a name in a."""
    for name, line in source.imports():
        module = name if name in modules else name.rpartition(".")[0]
        if module in modules and module != source.name:
            yield module, line


def test_every_part_has_its_place(library):
    for package, parts in PARTS.items():
        there = {source.part for source in library if source.part and source.package == package}
        assert there == set(parts), "PARTS in conftest.py lists the parts"


def test_packages_import_downwards(sources):
    upwards = [
        f"{source.name}, line {line}, imports {name}"
        for source in sources
        for name, line in source.imports()
        if name.split(".")[0] in PACKAGES and PACKAGES.index(name.split(".")[0]) > PACKAGES.index(source.package)
    ]
    assert not upwards, "\n".join(upwards)


def test_parts_import_downwards(library, sources):
    modules = {source.name for source in sources}
    upwards = [
        f"{source.name}, line {line}, imports {name}"
        for source in library
        if source.part
        for name, line in _imported(source, modules)
        if name.split(".")[0] == source.package
        and name != source.package
        and PARTS[source.package].index(name.split(".")[1]) > PARTS[source.package].index(source.part)
    ]
    assert not upwards, "\n".join(upwards)


def test_no_circle_at_any_level(sources):
    """Neither between modules, nor between the subfolders of a folder."""
    modules = {source.name for source in sources}
    levels = defaultdict(lambda: defaultdict(set))
    for source in sources:
        for name, _ in _imported(source, modules):
            ours, theirs = source.name.split("."), name.split(".")
            levels["modules"][source.name].add(name)
            depth = next((at for at, pair in enumerate(zip(ours, theirs, strict=False)) if pair[0] != pair[1]), None)
            if depth:
                levels[".".join(ours[:depth])][ours[depth]].add(theirs[depth])
    circles = []
    for level, graph in levels.items():
        try:
            graphlib.TopologicalSorter(graph).prepare()
        except graphlib.CycleError as error:
            circles.append(f"{level}: {' -> '.join(error.args[1])}")
    assert not circles, "\n".join(circles)


def test_no_import_by_string(sources):
    found = {
        source.name
        for source in sources
        for node in ast.walk(source.tree)
        if getattr(node, "attr", getattr(node, "id", getattr(node, "name", ""))) in ("import_module", "__import__")
    }
    assert found == set(BY_NAME)


def test_no_question_computes(library):
    """Models compute the results of questions."""
    questions = [source for source in library if source.is_question]
    assert len(questions) > 20
    computing = [
        f"{source.name}, line {line}, imports {name}"
        for source in questions
        for name, line in source.imports()
        if name.split(".")[0] in OF_MODELS and name not in HARMLESS
    ]
    assert not computing, "\n".join(computing)
