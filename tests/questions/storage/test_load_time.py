"""The question on loading: its sentence and facts agree with the model."""

from __future__ import annotations

import inspect

from hopperkit.questions.storage.load_time import QUESTION
from hopperlib.storage.loading import load_time


def test_the_default_job():
    facts = QUESTION.run().facts
    given = QUESTION.defaults
    # A control need not be one of the model.
    known = set(inspect.signature(load_time).parameters)
    assert facts["serial_s"] == load_time("serial", **{name: given[name] for name in known & set(given)}).total_s
    assert facts["tasks"] == given["nodes"] * given["tasks_per_node"]
    assert facts["best"] == "broadcast"


def test_what_to_do_first():
    codes = [QUESTION.run(**values).findings[0].code for values in ({}, {"nodes": 1}, {"tries": 1, "size_mb": 1e5})]
    assert codes == ["lookups", "short", "reads"]


def test_times_in_the_unit_that_suits():
    assert "for 46.4 min if requests are" in QUESTION.run().summary
    assert " h if requests are" in QUESTION.run(nodes=6384).summary
