"""Calls of the pages' Python: answers, and the progress of slow ones."""

from __future__ import annotations

import gc
import json

import pytest

from hopperbook import live

LINE = "step {} dt = 2.5e-04 energy = -0.78112E+03 norm = 1.0000000000\n"


@pytest.fixture
def seconds(monkeypatch):
    """A clock that advances by two seconds each time it is read."""
    read = iter(range(0, 10**9, 2))
    monkeypatch.setattr(live.time, "monotonic", lambda: next(read))


def test_a_log_of_megabytes_beats_while_it_is_read(seconds):
    log = "".join(map(LINE.format, range(40_000))) + "srun: error: nid001: task 3: Segmentation fault\n"
    values = json.dumps({"log": log})
    said = []
    text = live.answer_json("diagnose", values, lambda kind, content: said.append((kind, content)))
    beats = [content for kind, content in said if kind == "beat"]
    assert len(beats) >= 3
    assert set(beats) == {""}
    # It changes nothing of the answer, which comes last.
    assert said[-1] == ("answer", text)
    assert json.loads(text) == json.loads(live.answer_json("diagnose", values))


def test_beats_end_with_the_answer_and_with_an_error(seconds):
    before = list(gc.callbacks)
    live.answer_json("memory", "{}", lambda kind, content: None)

    def refuse(kind, content):
        # What a beat raises is lost: Python calls it while it looks for garbage.
        if kind != "beat":
            raise RuntimeError(kind)

    with pytest.raises(RuntimeError):
        live.answer_json("memory", "{}", refuse)
    assert gc.callbacks == before


def test_nothing_beats_within_a_second(monkeypatch):
    monkeypatch.setattr(live.time, "monotonic", lambda: 7.0)
    said = []
    live.answer_json("memory", "{}", lambda kind, content: said.append(kind))
    assert said == ["answer"]
