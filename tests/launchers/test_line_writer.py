"""Launch lines written from options."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.launchers.line_writer import Program, changed, write_line
from hopperlib.machine import Machine
from hopperlib.placement.components import Component

HOPPER = Machine.load("hopper")
WORDS = st.text(st.characters(codec="ascii", exclude_categories=("Cc",)), min_size=1)


@pytest.mark.parametrize(
    ("launcher", "programs", "line"),
    [
        ("aprun", [Program((("-n", "4"), ("-ss", "")), ("a.out", "-x"))], "aprun -n 4 -ss a.out -x"),
        (
            "srun",
            [Program((("-n", "4"), ("--exact", ""), ("--cpu-bind", "cores")), ())],
            "srun -n 4 --exact --cpu-bind=cores",
        ),
        ("aprun", [Program((("-n", "4"),), ("a",)), Program((("-n", "2"),), ("b",))], "aprun -n 4 a : -n 2 b"),
        ("aprun", [Program((), ("a b", "$HOME"))], "aprun 'a b' '$HOME'"),
    ],
)
def test_lines(launcher, programs, line):
    assert write_line(launcher, programs) == line


@given(st.lists(WORDS, min_size=1))
def test_a_shell_reads_the_command_as_it_was(words):
    assert shlex.split(write_line("aprun", [Program((), tuple(words))]))[1:] == words


def test_options_are_set_left_out_and_added():
    was = Component(command=("a",), tasks=8, options=(("-n", "8"), ("-cc", "none"), ("-N", "4")))
    assert changed(was, {"-cc": None, "-N": "2", "-S": "1"}).options == (("-n", "8"), ("-N", "2"), ("-S", "1"))
    assert changed(was, {}).options == was.options


@pytest.mark.parametrize(
    ("text", "command"),
    [
        # A loop's variable, a pattern and a home stay open to the shell; a lone apostrophe is a letter and needs quotes.
        ("./x $i \"$HOME/a b\" *.dat ~/q 'a b'", "./x $i \"$HOME/a b\" *.dat ~/q 'a b'"),
        ("./x o'clock", "./x 'o'\"'\"'clock'"),
        ("./x $(date +%F) > out.$i 2>&1", "./x $(date +%F) > out.$i 2>&1"),
        ("./x 'a\nb'", "./x 'a\nb'"),
    ],
)
def test_a_command_is_written_as_it_was_typed(text, command):
    from hopperkit.launchers.review import review_line

    review = review_line(f"aprun -n 384 -N 12 {text}", HOPPER)
    assert review.better.line == f"aprun -n 384 -N 12 -S 3 {command}"


def test_an_option_keeps_its_variable():
    options = (("-o", "out.$ID"), ("--comment", "of $USER today"), ("-J", "it's $5"))
    line = write_line("srun", [Program(options, ("a.out",))])
    assert line == """srun -o out.$ID --comment="of $USER today" -J 'it'"'"'s $5' a.out"""
