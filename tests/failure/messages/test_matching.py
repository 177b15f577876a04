"""Matching and quoting one line."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hopperlib.failure.messages._matching import WINDOW, match, quote
from hopperlib.failure.messages.rules import load_rules, rule

RULES = load_rules()


def test_the_first_rule_in_order_wins():
    line = b"forrtl: severe (174): SIGSEGV, segmentation fault occurred"
    assert match(line, RULES)[0].code == "SEGV"
    assert match(line, ()) is None


def test_a_label_is_no_part_of_the_line_but_may_be():
    # PGI prints the task before ALLOCATE in the same form as srun's labels.
    assert match(b"0: ALLOCATE: 17179869200 bytes requested; not enough memory", (rule("GFORTRAN-MEMORY"),))
    assert match(b"[rank3]: ValueError: bad", (rule("PY-EXCEPTION"),))[1]["exception"] == "ValueError"


def test_a_message_far_in_a_long_line_is_found():
    line = b"z" * 30_000 + b" Disk quota exceeded " + b"z" * 30_000
    assert match(line, (rule("IO-QUOTA"),))[2] == 30_001


def test_a_message_behind_many_of_its_own_words_in_a_long_line():
    line = b"exit signal " * 20 + b"x" * WINDOW + b" PE RANK 3 exit signal Segmentation fault"
    assert match(line, (rule("SEGV"),))[1]["rank"] == "3"


def test_quotes_are_short_and_whole_when_they_can_be():
    assert quote(b"short line  \n") == "short line"
    assert quote(b"a" * 1000, 900).startswith("...aaa")
    assert quote(b"a" * 1000).endswith("aaa...")
    assert len(quote(b"a" * 100_000, 50_000)) <= 406


@given(st.binary(max_size=5000), st.integers(0, 5000))
def test_any_bytes_are_quoted_without_control_characters(text, start):
    shown = quote(text, start)
    assert all(char.isprintable() or ord(char) > 127 for char in shown)
