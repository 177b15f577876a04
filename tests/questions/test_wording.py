"""The words of answers: how they are filled in, and that none stands in a table in vain."""

import ast
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

import hopperlib
from hopperlib.finding import Words
from hopperlib.questions.wording import Said

PACKAGE = Path(hopperlib.__file__).parent
WORDED = sorted(
    path
    for path in PACKAGE.rglob("*.py")
    if path.with_suffix(".toml").exists()
    and any(name in path.read_text(encoding="utf-8") for name in ("questions.wording import", "(Asked)"))
)
KINDS = {"text": "texts", "chart": "charts", "heat": "charts", "table": "tables", "finding": "findings"}


def said(record, **words):
    """The words of a record without a case."""
    return Said(record, None, words)


@pytest.mark.parametrize("path", WORDED, ids=lambda path: path.stem)
def test_every_word_of_a_table_is_said_and_none_is_missing(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    record = tomllib.loads(path.with_suffix(".toml").read_text(encoding="utf-8"))
    constants = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    asked, computed = set(), set()
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in KINDS
            and node.args
        ):
            kind, speaker = KINDS[node.func.attr], ast.unparse(node.func.value)
            if "said" in speaker or "_WORDING" in speaker:
                parts = [part for part in ast.walk(node.args[0]) if isinstance(part, ast.Constant | ast.JoinedStr)]
                plain = all(isinstance(part, ast.Constant) for part in parts)
                asked |= {(kind, part.value) for part in parts if plain and isinstance(part.value, str)}
                # The code of a model is the name of its text, or a part of it.
                computed |= set() if parts and plain else {kind}
    whole = {"texts": {"summary"}, "findings": set(), "charts": set(), "tables": set()}
    for kind, part in (("findings", "when"), ("charts", "series"), ("tables", "rows")):
        whole[kind] = {name for name, entry in record.get(kind, {}).items() if {part, "each"} & entry.keys()}
    for kind, without in whole.items():
        stated = set(record.get(kind, {}))
        assert kind in computed or not stated - without - constants, f"{kind} of {path.stem}.toml that nothing says"
        missing = {name for of, name in asked if of == kind} - stated
        assert not missing, f"{kind} that {path.name} asks for and its table lacks"


def test_a_text_in_parts_says_what_holds():
    parts = {
        "texts": {"jobs": ["{jobs:n job}", {"when": "lost", "text": ", {lost} lost"}, {"unless": "lost", "text": "."}]}
    }
    assert said(parts, jobs=1, lost=0).text("jobs") == "1 job."
    assert said(parts, jobs=1200, lost=3).text("jobs") == "1,200 jobs, 3 lost"


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("{share:.1 %}", "12.5 %"),
        ("{runs:,|no number}", "no number"),
        ("{times[-1]:.2f} to {times[0]}", "2.50 to 1"),
        ("{by_name.first}", "7"),
        ("{machine.nodes:n node}", "1 node"),
        ("{machine.nodes:n node lies/nodes lie}", "1 node lies"),
        ("{size:size}", "2.1 MB"),
    ],
)
def test_names_and_formats(text, filled):
    words = {"share": 0.125, "runs": None, "times": (1, 2.5), "by_name": {"first": 7}, "size": 2 * 1024**2}
    assert said({}, machine=SimpleNamespace(nodes=1), **words).fill(text) == filled


def test_a_name_that_the_case_lacks_is_an_error():
    with pytest.raises(AttributeError, match="nodes"):
        said({}).fill("{nodes}")


def test_a_share_is_shown_in_percent_with_its_range():
    entry = {
        "label": "Used",
        "value": "used",
        "low": "least",
        "high": "most",
        "factor": 100,
        "unit": "%",
        "decimals": 0,
    }
    (value,) = said({"values": [entry]}, used=0.5, least=0.25, most=0.75).values
    assert (value.value, value.text) == (50.0, "25 to 75")
    assert said({"values": [entry]}, used=None).values == ()


def test_a_result_holds_what_is_stated_in_full():
    record = {
        "texts": {"summary": "{nodes:n node}."},
        "tables": {"whole": {"caption": "Nodes", "columns": ["Node", {"title": "Memory", "when": "known"}], "rows": "rows"}},
        "charts": {"line": {"title": "Line", "alt": "A line that rises from 0 to 1.", "x": {"title": "x"}, "y": {"title": "y"},
                            "series": [{"name": "line", "x": "x", "y": "x"}], "unless": "known"}},
        "facts": {"nodes": "nodes"},
    }  # fmt: skip
    result = said(record, nodes=2, known=False, rows=[(0,)], x=[0, 1]).result()
    assert (result.summary, result.facts, result.tables[0].rows) == ("2 nodes.", {"nodes": 2}, [(0,)])
    assert result.figures[0].data[0]["y"] == [0, 1]
    assert not said(record, nodes=2, known=True, rows=[(0, 1)], x=[0, 1]).result(summary="Two.").figures


def test_an_entry_of_each_stands_once_for_each_item_and_a_contract_is_plain() -> None:
    record = {
        "texts": {"names": [{"each": "rates", "when": "each.short", "text": "{each.name}", "between": ", "}]},
        "values": [{"each": "rates", "label": "{each.name}", "value": "each.share", "factor": 100}],
        "findings": {"slow": {"each": "rates", "when": "each.short", "message": "{each.name} {each.share:.0%}"}},
        "tables": {
            "rates": {
                "caption": "Rates",
                "columns": ["Name", "Share"],
                "rows": [{"each": "rates", "cells": ["=each.name", "=each.share %"], "mark": "each.short"}],
            }
        },
        "contract": {
            "most": "rates.share.most:1",
            "none": "rates[7].share:1",
            "rates": [{"each": "rates", "name": "each.name"}],
        },
    }
    rates = [
        {"name": "a", "share": 0.25, "short": True},
        {"name": "b", "share": 0.125, "short": False},
        {"name": "c", "share": 0.75, "short": True},
    ]
    said = Said(record, None, {"rates": tuple(rates)})
    assert said.text("names") == "a, c"
    assert [(value.label, value.text) for value in said.values] == [("a", "25"), ("b", "12.5"), ("c", "75")]
    assert [finding.message for finding in said.findings] == ["a 25 %", "c 75 %"]
    table = said.table("rates")
    assert (list(table.rows), table.marked) == ([("a", 25.0), ("b", 12.5), ("c", 75.0)], (0, 2))
    assert said.contract == {"most": 0.8, "none": None, "rates": [{"name": name} for name in "abc"]}
    assert [said.look_up(f"rates.{path}") for path in ("count", "several", "share.least")] == [3, True, 0.125]


@pytest.mark.parametrize(
    ("share", "form", "shown"),
    [
        (0.05, ".0%", "5 %"),
        (0.0, ".1%", "0.0 %"),
        (1.0, ".0%", "100 %"),
        # Nearly nothing and nearly all are not told as nothing and all.
        (0.0004, ".1%", "0.04 %"),
        (0.9996, ".0%", "99.96 %"),
        (1e-9, ".1%", "less than 0.001 %"),
        (1 - 1e-9, ".1%", "more than 99.999 %"),
        (-0.021, "+.1%", "-2.1 %"),
    ],
)
def test_a_share_is_worded_with_as_many_digits_as_it_needs(share: float, form: str, shown: str) -> None:
    assert Words().format(f"{{0:{form}}}", share) == shown
