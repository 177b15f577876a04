"""Shell text cut into statements."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.node.launch.shell import split


def words(text: str) -> list[list[str]]:
    return [[word.raw for word in statement.words] for statement in split(text)]


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


def test_background_belongs_to_the_statement_before_the_sign() -> None:
    assert [statement.background for statement in split("a & b && c\nwait")] == [True, False, False, False]


def test_a_blank_behind_the_backslash_does_not_continue_the_line() -> None:
    first = split("aprun -n 4 \\ \n ./a.out")[0]
    assert first.words[-1].parts[0].kind == "opaque"


@given(st.text(max_size=200))
def test_any_text_is_cut(text: str) -> None:
    for statement in split(text):
        assert statement.words


@given(st.text(alphabet="a'\"\\$`(){}<>|&;# \n=", max_size=60))
def test_any_heap_of_special_signs_is_cut(text: str) -> None:
    for statement in split(text):
        assert statement.words
