"""Words after variables were put in."""

import pytest

from hopperlib.node.launch.shell import split
from hopperlib.node.launch.shell_words import Unknown, Word, assignment, expand, joined

VARIABLES: dict[str, str | Unknown] = {"N": "4", "OPTS": "-n 4  -d 6", "EMPTY": "", "SUM": Unknown("is a sum")}


def expanded(text: str) -> list[str]:
    return [word.text for raw in split(text)[0].words for word in expand(raw, VARIABLES)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-n$N", ["-n4"]),
        ("-n ${N}x", ["-n", "4x"]),
        ("$OPTS", ["-n", "4", "-d", "6"]),
        ('"$OPTS"', ["-n 4  -d 6"]),
        ("'$N'", ["$N"]),
        ("\\$N", ["$N"]),
        ("a$EMPTY b $EMPTY", ["a", "b"]),
        ('""', [""]),
        ("${N:-8} ${M:-8} ${EMPTY:-8} ${M-}x", ["4", "8", "8", "x"]),
        ("pre$OPTS", ["pre-n", "4", "-d", "6"]),
        ("a$ b$", ["a$", "b$"]),
    ],
)
def test_variables(text: str, expected: list[str]) -> None:
    assert expanded(text) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("$((2*3))", "is arithmetic that only the shell works out; write the number"),
        ("$(nproc)", "is the output of a command; write the value"),
        ("`nproc`", "is the output of a command; write the value"),
        ("$NOWHERE", "takes $NOWHERE, which this text does not set; write the value"),
        ("$1", "is an argument or a state of the script; write the value"),
        ("${N%x}", "is a shell expansion that is not read here; write the value"),
        ("$SUM", "is a sum"),
    ],
)
def test_what_only_the_script_knows(text: str, reason: str) -> None:
    raw = split(text)[0].words[0]
    assert expand(raw, VARIABLES) == [Word(text=text, unknown=reason)]


def test_assignments_are_told_from_words() -> None:
    first, second, third = split("A=1 B+=2 ./x=3")[0].words
    assert (assignment(first) or ("",))[0] == "A"
    appended = assignment(second)
    assert appended is not None
    assert appended[:2] == ("B", True)
    assert joined(appended[2], {}) == "2"
    assert assignment(third) is None
