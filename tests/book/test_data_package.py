"""The tables obey their description, and point at things that exist."""

from __future__ import annotations

import csv
import json
import re

import pytest

from hopperbook import studies
from hopperlib.data_files import data_folder

PACKAGE = json.loads((data_folder() / "datapackage.json").read_text(encoding="utf-8"))
TABLES = {resource["name"]: resource for resource in PACKAGE["resources"] if "schema" in resource}


def _rows(name):
    with (data_folder() / TABLES[name]["path"]).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def _column(name, column):
    header, *rows = _rows(name)
    return [row[header.index(column)] for row in rows]


@pytest.mark.parametrize("name", TABLES)
def test_table_obeys_its_schema(name):
    fields = TABLES[name]["schema"]["fields"]
    header, *rows = _rows(name)
    assert header == [field["name"] for field in fields]
    for line, row in enumerate(rows, start=2):
        assert len(row) == len(fields), f"{name}.csv, row {line}"
        for field, text in zip(fields, row, strict=True):
            place = f"{name}.csv, row {line}, {field['name']}={text!r}"
            rules = field.get("constraints", {})
            assert field["type"] == "string"
            assert text == text.strip(), place
            assert text or not rules.get("required"), place
            assert not text or text in rules.get("enum", [text]), place
            assert not text or re.fullmatch(rules.get("pattern", ".*"), text), place
    for field in fields:
        if field.get("constraints", {}).get("unique"):
            column = _column(name, field["name"])
            assert sorted(set(column)) == sorted(column)


def test_described_files_are_there():
    assert all((data_folder() / resource["path"]).is_file() for resource in PACKAGE["resources"])


def test_ids_begin_with_their_study():
    assert [id.partition(".")[0] for id in _column("documented", "id")] == _column("documented", "study")


def test_studies_are_those_of_the_book():
    assert set(_column("documented", "study")) == {*studies.built(), "context"}


def test_every_value_of_a_built_study_has_a_check():
    """In the order of the values, so that both files can be read side by side."""
    studied = zip(_column("documented", "id"), _column("documented", "study"), strict=True)
    assert _column("checks", "id") == [id for id, study in studied if study in studies.built()]


def test_links_to_errata_resolve_both_ways():
    linked, known = set(_column("documented", "errata")) - {""}, _column("errata", "id")
    assert linked <= set(known)
    # The ticks of charts stand among the errata alone.
    locators = _column("errata", "locator")
    assert all("axis ticks" in place for id, place in zip(known, locators, strict=True) if id not in linked)


def test_linked_rows_come_from_a_source_of_the_erratum():
    sources = dict(zip(_column("errata", "id"), _column("errata", "source"), strict=True))
    linked = zip(_column("documented", "errata"), _column("documented", "source"), strict=True)
    assert all(source in sources[slip].split("; ") for slip, source in linked if slip)


def test_sources_are_in_the_bibliography():
    keys = set(re.findall(r"@\w+\{([^,\s]+),", (data_folder() / "sources.bib").read_text(encoding="utf-8")))
    used = {key for text in _column("errata", "source") for key in text.split("; ")}
    assert used | set(_column("documented", "source")) <= keys
