"""The question of chunks: a command's lines, two ways at once, refusals."""

from __future__ import annotations

import pytest

from hopperkit.questions.storage.chunks import QUESTION
from hopperlib.errors import InputError


def test_time_series_of_maps():
    result = QUESTION.run(shape="365x100x100", chunk="1x100x100", block="365x1x1", dataset="t2m")
    # Each of 10,000 series reads all 365 maps; the chunks told in the example of the model read each once.
    assert result.facts["excess"] == 10_000
    assert result.facts["chunk"] == [365, 7, 100]
    assert result.facts["commands"][:2] == [
        "h5repack -l t2m:CHUNK=365x7x100 IN.h5 OUT.h5",
        "nccopy -c DIM1/365,DIM2/7,DIM3/100 IN.nc OUT.nc",
    ]
    assert result.facts["commands"][2].startswith("h5py.File(NAME, rdcc_nbytes=16777216")
    assert [finding.code for finding in result.findings] == ["chunks-read-again", "followed-in-part"]


def test_good_chunks_stay():
    result = QUESTION.run(shape="365, 500, 500", chunk="(1, 500, 500)", block="1x500x500")
    assert result.summary.startswith("Keep chunks of 1x500x500")
    assert result.facts["commands"] == []


@pytest.mark.parametrize(
    ("values", "name", "message"),
    [
        ({"shape": "10x0x3"}, "shape", "must be whole numbers from 1 on, as in 365x721x1440"),
        ({"block": "all"}, "block", "must be whole numbers from 1 on"),
        ({"chunk": "1x2"}, "chunk", "has 2 dimensions, and the array has 3"),
        ({"also": "1"}, "block", "has 1 dimensions, and the array has 3"),
        ({"shape": "x".join("2" * 9)}, "shape", "must not have more than 8 dimensions"),
    ],
)
def test_refusals(values, name, message):
    with pytest.raises(InputError) as error:
        QUESTION.run(**({"block": "8760x1x1"} | values))
    assert error.value.name == name
    assert message in str(error.value)
