"""Shell text cut into statements, and words after variables were put in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.launchers.scripts import read_script
from hopperkit.launchers.words.shell import Unknown, Word, expand, joined, split


def words(text: str) -> list[list[str]]:
    return [[word.raw for word in statement] for statement in split(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("aprun -n 4 ./a.out", [["aprun", "-n", "4", "./a.out"]]),
        ("a; b && c || d | e & f", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]),
        ("a \\\n  b", [["a", "b"]]),
        ("a # b c\nd", [["a"], ["d"]]),
        ("a#b", [["a#b"]]),
        ("a > out 2>&1 b", [["a", "b"]]),
        ("a >& out", [["a"]]),
        ("a 2> err 3", [["a", "3"]]),
        ("a < in >> out b", [["a", "b"]]),
        ("a &> all &", [["a"]]),
        ("a |& tee log", [["a"], ["tee", "log"]]),
        ("a <<EOF\naprun -n 4 x\nEOF\nb", [["a"], ["b"]]),
        ("a <<'EOF' | c\nx\nEOF\nb", [["a"], ["c"], ["b"]]),
        ("(a; b)", [["a"], ["b"]]),
        ("a 'b c' \"d e\"", [["a", "'b c'", '"d e"']]),
        ("it's here", [["it's", "here"]]),
        ("x=(1 2 3) y", [["x=(1 2 3)", "y"]]),
        ("diff <(a) b", [["diff", "b"]]),
        ("", []),
        ("\n\n  \n", []),
    ],
)
def test_statements_and_words(text: str, expected: list[list[str]]) -> None:
    assert words(text) == expected


def test_a_blank_behind_the_backslash_does_not_continue_the_line() -> None:
    first = split("aprun -n 4 \\ \n ./a.out")[0]
    assert first[-1].parts[0].kind == "opaque"


@given(st.text(max_size=200))
def test_any_text_is_cut(text: str) -> None:
    for statement in split(text):
        assert statement


@given(st.text(alphabet="a'\"\\$`(){}<>|&;# \n=", max_size=60))
def test_any_heap_of_special_signs_is_cut(text: str) -> None:
    for statement in split(text):
        assert statement


VARIABLES: dict[str, str | Unknown] = {"N": "4", "OPTS": "-n 4  -d 6", "EMPTY": "", "SUM": Unknown("is a sum")}


def expanded(text: str) -> list[str]:
    return [word.text for raw in split(text)[0] for word in expand(raw, VARIABLES)]


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
        ("$((2*M))", "takes $M, which this text does not set; write the value"),
        ("$(nproc)", "is the output of a command; write the value"),
        ("`nproc`", "is the output of a command; write the value"),
        ("$NOWHERE", "takes $NOWHERE, which this text does not set; write the value"),
        ("$1", "is an argument or a state of the script; write the value"),
        ("${N%x}", "is a shell expansion that is not read here; write the value"),
        ("$SUM", "is a sum"),
    ],
)
def test_what_only_the_script_knows(text: str, reason: str) -> None:
    raw = split(text)[0][0]
    assert expand(raw, VARIABLES) == [Word(text=text, unknown=reason, typed=text)]


def test_the_value_of_an_assignment_is_one_string() -> None:
    assert joined(split("x$OPTS")[0][0], VARIABLES) == "x-n 4  -d 6"
    assert isinstance(joined(split("x$SUM")[0][0], VARIABLES), Unknown)


def test_what_is_known_of_a_value_is_read() -> None:
    script = read_script('CMD="srun -n 4 ./a.out $1"\nCMD+=" -v"\n$CMD\neval $CMD\n')
    assert [line.text for line in script.lines] == ["srun -n 4 ./a.out $1 -v"] * 2
    assert [word.text for line in script.lines for word in line.words if word.unknown] == ["$1", "$1"]


@pytest.mark.parametrize("sum_of", ["`echo 2*8 | bc`", '$(echo "$TWO*8" | bc)', "$(expr 2 \\* 8)"])
def test_sums_that_a_program_works_out(sum_of: str) -> None:
    assert expand(split(sum_of)[0][0], {"TWO": "2"})[0].text == "16"


def test_quotes_are_kept_as_they_were_typed() -> None:
    (word,) = expand(split('"a\\$b \\"c\\""')[0][0], {})
    assert (word.text, word.shell) == ('a$b "c"', '"a\\$b \\"c\\""')
