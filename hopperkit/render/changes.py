"""Changes between two texts, as marked lines before and after."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from html import escape


def changes_html(before: str, after: str) -> str:
    r"""Return the lines that changed as HTML: each before and after, with the words that went or came marked.

    Parameters
    ----------
    before, after : str

    Examples
    --------
    >>> print(changes_html("set -e\nsrun -n 8 ./a.out", "set -e\nsrun -n 8 -c 32 ./a.out").replace("<div>", "\n"))
    <dl class="hopper-change">
    <dt>Line 2, before</dt><dd><code>srun -n 8 ./a.out</code></dd></div>
    <dt>after</dt><dd><code>srun -n 8 <ins>-c 32 </ins>./a.out</code></dd></div></dl>
    """
    rows = "".join(
        f"<div><dt>{title}</dt><dd>{'left out' if line is None else f'<code>{line}</code>' if line else 'empty'}</dd></div>"
        for title, line in _rows(before.splitlines(), after.splitlines())
    )
    return f'<dl class="hopper-change">{rows}</dl>'


def _rows(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """Yield title and HTML of each line to show; None for one that is left out."""
    for kind, first, last, other, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        went, came = old[first:last], new[other:end]
        # Inserted lines come before the existing text: a directive, a variable.
        paired = min(len(went), len(came))
        for number in range(len(came) - paired):
            yield f"New, line {other + number + 1}", _text([came[number]], "ins")
        for number, (was, now) in enumerate(zip(went[:paired], came[len(came) - paired :], strict=True)):
            marked = _marked(was, now)
            yield f"Line {first + number + 1}, before", marked[0]
            yield "after", marked[1]
        for number, was in enumerate(went[paired:], paired):
            yield f"Line {first + number + 1}, before", _text([was], "del")
            yield "after", None


def _marked(was: str, now: str) -> tuple[str, str]:
    """Return a line before and after as HTML, the words that differ as deleted and inserted."""
    old, new = (re.findall(r"\S+\s*|\s+", line) for line in (was, now))
    parts: tuple[list[str], list[str]] = ([], [])
    for kind, first, last, other, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        for side, words, tag in ((0, old[first:last], "del"), (1, new[other:end], "ins")):
            parts[side].append(_text(words, "" if kind == "equal" else tag))
    return "".join(parts[0]), "".join(parts[1])


def _text(words: Sequence[str], tag: str) -> str:
    """Return words as HTML, in an element unless there are none."""
    text = escape("".join(words), quote=False)
    return f"<{tag}>{text}</{tag}>" if tag and text else text
