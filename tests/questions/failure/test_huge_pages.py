"""The question on huge pages, and the chance that a look before the run gives."""

from __future__ import annotations

import pytest

from hopperkit.questions.failure.huge_pages import QUESTION
from hopperlib.errors import InputError


def test_nearly_every_node_is_good_and_the_job_fails():
    result = QUESTION.run()
    assert result.facts["chance_node"] > 0.99
    assert result.facts["chance"] < 0.5
    assert "one-is-enough" in {finding.code for finding in result.findings}
    assert "--need-huge-pages 12288" in result.copyables[0].text


def test_what_explains_the_documented_rate_gives_it():
    strays = QUESTION.run().facts["explaining_strays"]
    assert QUESTION.run(days=1, strays_per_day=strays).facts["chance"] == pytest.approx(0.35)


def test_a_fresh_machine():
    assert QUESTION.run(days=0).facts["chance"] == 1.0
    assert QUESTION.run(days=3650).findings[0].code == "many-short"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"job_nodes": 7000}, "job_nodes=7000 must be at most 6,384, the nodes of Hopper"),
        ({"need_gb": 40.0}, "need_gb=40.0 must be at most 31, the free memory of a node after a reboot"),
    ],
)
def test_refusals(values, message):
    with pytest.raises(InputError, match=message):
        QUESTION.run(**values)
