"""Lines are found by whole words."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.failure.messages._whole_words import WordIndex, search_words
from hopperlib.failure.messages.rules import load_rules

RULES = load_rules()
INDEX = WordIndex(RULES)


@pytest.mark.parametrize(
    ("anchor", "of_lines", "in_lines"),
    [
        (b"Disk quota exceeded", b"exceeded", b"quota"),
        (b"DUE TO NODE FAILURE", b"fail", b"node"),
        (b"error writing checkpoint", b"error", b"writing"),
        (b"ChildFailedError", b"error", b"error"),
        (b"oom-kill event", b"oom", b"kill"),
        (b"out of memory", b"memory", b"memory"),
    ],
)
def test_the_words_of_an_anchor(anchor, of_lines, in_lines):
    assert search_words(anchor) == (of_lines, in_lines)


def test_every_anchor_has_a_word_that_tells():
    """Short words occur in every text: they would pass all lines to the rules."""
    short = {anchor for made in RULES for anchor in made.anchors if len(search_words(anchor.encode())[0]) < 3}
    assert not short


def test_finds_whole_words_only():
    assert [line.start for line in INDEX.lines(b"quotas are many\na quota exceeded here\nstop\nnonstop")] == [16, 38]


@pytest.mark.parametrize("line", [b"RuntimeError", b"java.lang.NullPointerException"])
def test_error_and_exception_are_found_inside_of_words(line):
    assert len(INDEX.lines(b"x\n" + line + b"\ny")) == 1


def test_edges_of_the_text_count_as_edges_of_words():
    assert [(line.start, line.end) for line in INDEX.lines(b"Killed")] == [(0, 6)]
    assert INDEX.lines(b"") == []


@given(
    st.lists(
        st.sampled_from(
            [
                "Killed",
                "all well",
                "Disk quota exceeded",
                "RuntimeError: x",
                "NullPointerException",
                "stop",
                "a",
                "",
                "signal 9",
                "12",
            ]
        ),
        max_size=30,
    )
)
def test_a_line_is_found_whatever_stands_around_it(parts):
    """Law: each line gives the same result within a text and alone, at its position."""
    starts = [sum(len(part) + 1 for part in parts[:place]) for place in range(len(parts))]
    alone = [
        (start + line.start, start + line.end, line.rules, line.suspicious)
        for start, part in zip(starts, parts, strict=True)
        for line in INDEX.lines(part.encode())
    ]
    found = INDEX.lines("\n".join(parts).encode())
    assert [(line.start, line.end, line.rules, line.suspicious) for line in found] == alone


def test_ordinary_output_is_left_alone():
    """No line of ordinary solver output is passed on."""
    rng = random.Random(3)
    lines = [
        f" iter {n} t={n * 1e-4:.4E} res={rng.random():.3E} max velocity {rng.random():.5e} wall {n * 3} s"
        for n in range(500)
    ]
    assert INDEX.lines("\n".join(lines).encode()) == []
