"""Small texts that would grow without end: each gets one short answer, quickly and in little memory."""

import time

import pytest

from hopperkit.launchers.review import review_lines
from hopperkit.launchers.scripts import read_script
from hopperkit.launchers.words.shell import MAX_VALUE, Unknown
from hopperlib.errors import InputError
from hopperlib.machine import Machine

DOUBLE = "A=x\n" + "A=$A$A\n" * 60
BOMBS = {
    "doubling": DOUBLE + "srun -n 4 $A ./a",
    "adding": "A=x\n" + "A+=$A\n" * 60 + "srun -n 4 $A ./a",
    "csh": "set A=x\n" + "set A = $A$A\n" * 60 + "srun -n 4 $A ./a",
    "setenv": "setenv A x\n" + "setenv A $A$A\n" * 50 + "srun -n 4 $A ./a",
    "exported": "export A=x\n" + "export A=$A$A\n" * 60 + "srun -n 4 $A ./a",
    "blanks": 'A="x "\n' + 'A="$A$A"\n' * 14 + "srun -n 4 " + "$A " * 200 + "./a",
    "of what is not known": "A=$X\n" + "A=$A$A\n" * 60 + "srun -n $A ./a",
    "a list": "A=x\n" + "A=($A$A $A$A)\nB=${A[0]}\nA=$B\n" * 30 + "srun -n 4 $A ./a",
    "arithmetic": "A=9\n" + "A=$((A*A*A*A))\n" * 50 + "srun -n $A ./a",
    "eval": 'A="eval "\n' + 'A="$A$A"\n' * 14 + "$A srun -n 4 $A ./a",
    "loops": "for i in {1..999999}; do\n" * 30 + "srun -n 4 ./a &\n" + "done\n" * 30 + "wait",
    "nodes": "srun -n 4 -w n[0-999999999] ./a",
    "tasks": "srun -n 999999999999 ./a",
    "a map": "srun -n 4 --cpu-bind=map_cpu:0*999999999 ./a",
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_gets_one_line(name):
    text = BOMBS[name]
    assert len(text) < 1024
    began = time.process_time()
    try:
        reviews = review_lines(text, Machine.load("cluster"))
        said = reviews[0].placement.launch.text
    except InputError as error:
        said = str(error)
    assert time.process_time() - began < 1
    assert "\n" not in said
    assert len(said) < 1000


def test_a_value_that_grows_is_bounded_wherever_it_is_kept():
    for text in BOMBS.values():
        for line in read_script(text).lines[:3]:
            for values in (line.environment, line.unexported):
                kept = [value.text if isinstance(value, Unknown) else value for value in values.values()]
                assert all(len(value) <= MAX_VALUE for value in kept)


def test_a_long_script_cannot_keep_many_long_values():
    text = "A=x\n" + "A=$A$A\n" * 14 + "".join(f"B{number}=$A\n" for number in range(1000)) + "srun -n 4 ./a"
    with pytest.raises(InputError, match="grows past 2,000,000 characters"):
        read_script(text)


def test_a_long_literal_is_no_bomb():
    text = f"A='{'x' * (MAX_VALUE + 1)}'\nsrun -n 4 ./a"
    assert len(read_script(text).lines[0].unexported["A"]) == MAX_VALUE + 1


def test_a_line_that_does_not_use_the_value_is_read():
    assert read_script(DOUBLE + "srun -n 4 ./a").lines[0].text == "srun -n 4 ./a"
