"""The explorer of IOR outputs: its default, its pictures, failed runs, refusals."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopperlib.errors import InputError
from hopperlib.questions.storage.io_log import QUESTION
from hopperlib.render.answer import answer_json

SAMPLES = Path(__file__).parents[3] / "data" / "samples" / "ior"


def test_default_is_the_sample_of_version_4():
    result = QUESTION.run()
    assert result.summary == "6 rows: write at best 1,682.3 MB/s, read at best 4,046.5 MB/s."
    sample = (SAMPLES / "ior-4.0.0.posix-fpp.txt").read_text(encoding="utf-8")
    assert QUESTION.run(output=sample).tables[0].rows == result.tables[0].rows
    assert result.findings == ()


def test_spread_of_the_repetitions():
    write = QUESTION.run().values[0]
    # 346.55, 1337.12, 1604.32: mean 1095.997, standard deviation (n - 1) 662.63.
    assert write.value == pytest.approx(662.63 / 1095.997, rel=1e-4)
    assert write.note.startswith("3 repetitions")


@pytest.mark.parametrize(("against", "places"), [("repetition", {0, 1, 2}), ("tasks", {4}), ("transfer", {1.0})])
def test_pictures(against, places):
    (figure,) = QUESTION.run(against=against).figures
    assert set(figure.data[0]["x"]) == places


def test_comparison_with_the_ceiling_of_the_nodes():
    table = QUESTION.run().tables[1]
    # 1.604 GiB/s x 1.0486 over 1.7 GB/s.
    assert max(row[-1] for row in table.rows) == pytest.approx(0.98955, abs=1e-4)
    result = QUESTION.run(machine="perlmutter")
    assert len(result.tables) == 1 or result.tables[1].rows


@pytest.mark.parametrize("name", sorted(path.name for path in SAMPLES.iterdir()))
@pytest.mark.parametrize("against", ["repetition", "tasks", "transfer"])
def test_every_sample_has_an_answer(name, against):
    result = QUESTION.run(output=(SAMPLES / name).read_text(encoding="utf-8"), against=against)
    assert result.summary
    assert result.tables[0].rows
    json.dumps(result.to_dict(), allow_nan=False)


def test_failed_run_says_why():
    result = QUESTION.run(output=QUESTION.examples[1].values["output"])
    assert result.summary == "No rate in this output: cannot open file: No such file or directory."
    assert [(one.code, one.level) for one in result.findings] == [("failed", "problem")]


@pytest.mark.parametrize("text", ["", "  \n", "bought milk"])
def test_other_text_is_refused_at_its_field(text):
    with pytest.raises(InputError) as caught:
        QUESTION.run(output=text)
    assert caught.value.name == "output"


@settings(max_examples=50)
@given(st.text(max_size=200))
def test_any_text(text):
    json.loads(answer_json("io-log", json.dumps({"output": text})))
