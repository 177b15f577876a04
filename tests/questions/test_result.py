"""Answers of an explorer: numbers as text, tables, and plain data."""

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.questions.result import (
    Column,
    Download,
    Drawing,
    Figure,
    Listing,
    ListingLine,
    Result,
    Snippet,
    Table,
    Value,
    format_number,
)
from hopperkit.readers.ior.results import csv_cell
from hopperlib.finding import Finding

TABLE = Table(
    caption="Nodes",
    columns=(Column(title="Node"), Column(title="Memory", unit="GB", decimals=1), Column(title="Note")),
    rows=((0, 31.0, "a, b"), (1, None, 'say "so"')),
    marked=(1,),
    marked_label="the cheapest",
)


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (153216, None, "153,216"),
        (5.0, None, "5"),
        (5.0, 2, "5.00"),
        (1234567.891, 1, "1,234,567.9"),
        (None, 2, "-"),
        (True, None, "yes"),
        (False, None, "no"),
        ("text", 3, "text"),
        (7, 2, "7"),
    ],
)
def test_numbers_are_written_in_python(value, decimals, text):
    assert format_number(value, decimals) == text


def test_a_value_with_a_range_shows_the_range():
    value = Value(label="Slowdown", value=1.2, badge="predicted", low=1, high=1.408, decimals=2)
    assert value.text == "1 to 1.41"
    assert value.to_dict()["badge"] == "predicted"


def test_a_badge_out_of_the_four_is_refused():
    with pytest.raises(ValueError, match="badge='guessed' must be one of: documented, assumed, calibrated, predicted"):
        Value(label="x", value=1, badge="guessed")


def test_a_row_of_another_length_is_refused():
    with pytest.raises(ValueError, match="row 0 of table 'T' has 2 cells for 1 columns"):
        Table(caption="T", columns=(Column(title="a"),), rows=((1, 2),))


def test_a_table_as_plain_data():
    data = TABLE.to_dict()
    assert data["rows"] == [["0", "31.0", "a, b"], ["1", "-", 'say "so"']]
    assert data["numeric"] == [True, True, False]
    assert data["columns"][1]["heading"] == "Memory [GB]"
    assert (data["marked"], data["marked_label"]) == ([1], "the cheapest")


cells = st.one_of(st.none(), st.integers(), st.text(st.characters(codec="utf-8", exclude_characters="\r")))


@given(st.lists(st.tuples(cells, cells), max_size=5))
def test_csv_keeps_every_cell(rows):
    table = Table(caption="t", columns=(Column(title="a"), Column(title="b")), rows=rows)
    read = list(csv.reader(io.StringIO(table.to_csv(), newline="")))
    assert read[0] == ["a", "b"]
    assert [row for row in read[1:] if row] == [
        ["" if cell is None else str(csv_cell(cell)) for cell in row] for row in rows
    ]


def test_a_figure_needs_words():
    with pytest.raises(ValueError, match="figure 'F' needs alt text"):
        Figure(title="F", alt="a line", data=[], layout={}, table=TABLE)


def test_a_figure_in_the_book_is_data(monkeypatch):
    monkeypatch.setenv("HOPPERLIB_RENDER", "book")
    figure = Figure(title="F", alt="A line that rises from 0 to 1.", data=[], layout={}, table=TABLE)
    bundle = figure._repr_mimebundle_()
    assert bundle["application/vnd.hopper.figure+json"] == figure.to_dict()
    assert bundle["text/plain"] == figure.alt


def test_a_drawing_must_be_a_titled_svg():
    with pytest.raises(ValueError, match="drawing 'D' must be an <svg> with a <title>"):
        _ = Drawing(title="D", alt="a node", svg="<svg></svg>").svg


def test_a_whole_result_is_json():
    result = Result(
        summary="Done.",
        findings=(Finding(code="idle", message="m", level="problem"),),
        values=(Value(label="v", value=1.5, badge="assumed", unit="s", note="n"),),
        drawings=(Drawing(title="D", alt="a", svg="<svg><title>t</title></svg>"),),
        figures=(Figure(title="F", alt="A line that rises from 0 to 1.", data=[], layout={}, table=TABLE),),
        copyables=(Snippet(title="c", text="aprun"),),
        listings=(Listing(title="l", lines=(ListingLine(number=3, text="x", mark="cause"),)),),
        tables=(TABLE,),
        downloads=(Download(name="a.txt", text="x"),),
        facts={"n": 1},
    )
    data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert data["listings"] == [{"title": "l", "lines": [[3, "x", "cause"]]}]
    assert data["downloads"][0]["media_type"] == "text/plain"
    assert data["facts"] == {"n": 1}
    assert list(data) == [
        "summary",
        "findings",
        "values",
        "drawings",
        "figures",
        "copyables",
        "listings",
        "tables",
        "downloads",
        "facts",
    ]
