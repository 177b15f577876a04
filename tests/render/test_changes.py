"""Changes of a text: every line of both appears once, and the differences are marked."""

from __future__ import annotations

import difflib
import re
from html import unescape

from hypothesis import given
from hypothesis import strategies as st

from hopperkit.render.changes import changes_html

LINES = st.lists(st.sampled_from(["#SBATCH -N 2", "srun -n 8 ./a.out", "srun -n 8 -c 4 ./a.out", "export A=<1>", ""]))


def shown(html):
    """Title and text of each row."""
    rows = re.findall(r"<div><dt>(.*?)</dt><dd>(.*?)</dd></div>", html)
    return [(title, unescape(re.sub(r"<[^>]*>", "", line))) for title, line in rows]


def test_a_changed_line_stands_before_and_after_with_its_option_marked():
    html = changes_html("#SBATCH -N 1\nsrun -n 8 ./a.out\n", "#SBATCH -N 1\nsrun -n 8 -c 32 ./a.out\n")
    assert shown(html) == [("Line 2, before", "srun -n 8 ./a.out"), ("after", "srun -n 8 -c 32 ./a.out")]
    assert re.findall(r"<(ins|del)>(.*?)</\1>", html) == [("ins", "-c 32 ")]


def test_a_line_that_is_put_in_and_one_that_is_left_out():
    html = changes_html("srun -n 8 ./a.out", "export OMP_PLACES=cores\nsrun -n 8 ./a.out")
    assert shown(html) == [("New, line 1", "export OMP_PLACES=cores")]
    assert shown(changes_html("a\nb", "b")) == [("Line 1, before", "a"), ("after", "left out")]


def test_what_a_reader_typed_is_no_markup():
    assert "<script>" not in changes_html("a <script>", "b <script>x")


@given(before=LINES, after=LINES)
def test_the_rows_say_all_that_changed(before, after):
    """Those lines of either text that the other does not have at that place, each once and in order."""
    rows = shown(changes_html("\n".join(before), "\n".join(after)))
    matcher = difflib.SequenceMatcher(
        None, "\n".join(before).splitlines(), "\n".join(after).splitlines(), autojunk=False
    )
    went = [line for tag, a, b, _, _ in matcher.get_opcodes() if tag != "equal" for line in matcher.a[a:b]]
    came = [line for tag, _, _, c, d in matcher.get_opcodes() if tag != "equal" for line in matcher.b[c:d]]
    assert [line for title, line in rows if title.endswith("before")] == [line or "empty" for line in went]
    put = [line for title, line in rows if title.startswith("New") or (title == "after" and line != "left out")]
    assert put == [line or "empty" for line in came]
