"""Lines that match no rule: which are suspicious, and their templates.

A new message should stand out: lines are grouped by template, the text without numbers, names, paths and quoted words.

========  =====================================================================
fatal     reports an end, usually with the reason
error     reports an error
end       reports that a program, a command or a job failed, but not why:
          the reason is printed above it
hint      looks like an error where something failed, and means nothing elsewhere
========  =====================================================================
"""

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Literal

from hopperlib.failure.messages._expressions import matches_words, words
from hopperlib.package_data import load_csv_resource

Suspicion = Literal["fatal", "error", "end", "hint", ""]

# Words that make a line suspicious; those of `INSIDE` also match within words.
SUSPICIOUS_WORDS, INSIDE = words("looked_for"), words("inside")
# Variable parts of a line that its template leaves out: quoted words, paths, names with digits.
_STRIPPED = re.compile(
    rb"\"[^\"\n]{0,120}\""
    rb"|'[^'\n]{0,120}'"
    rb"|`[^'`\n]{0,120}['`]"
    rb"|(?<![\w.~-])(?:[\w.~-]{0,60}/){1,30}[\w.~-]{0,120}"
    rb"|(?<![\w.+-])[\w.+-]{0,60}\d[\w.+%-]{0,80}"
)
_SPACES = re.compile(rb"\s{2,200}")
_WORD = re.compile(r"[^\W\d_]{2,40}")
# Lines of a frame, of a table of numbers, of a stack.
_NO_WORDS = re.compile(
    r"^[\W\d_]*$"
    r"|^\s*(?:#\d+ |at |from |File \"|\[[\w.:-]{1,60}\] ?\[ ?\d+\]|@? *0x[0-9a-f]+)"
    r"|\+0x[0-9a-f]{1,16}|\bUnknown {2,}Unknown\b|^\s*Image {3,}PC\b"
)

# In addition to quoted words, paths and names with digits: a word in brackets, a value after its key, a dotted name.
_NAMED = re.compile(
    rb"\([^)\s]{0,80}\)|\[[^\]\s]{0,80}\]|[\w-]{1,40}=[^\s;,]{0,200}|\b\w{1,60}(?:\.\w{1,60}){1,12}|`[^`\n]{0,400}`|'[^'\n]{0,400}'"
)
_WORDS = re.compile(rb"[a-z_]{2,40}")
_ENDINGS, _NAMED_PARTS = frozenset(words("endings")), frozenset(words("named"))
_EMPTY = _ENDINGS.union(words("parts"), words("grammar"), _NAMED_PARTS)
# Words that are not names of components, such as "memory" after "node".
_NO_NAMES = frozenset((*SUSPICIOUS_WORDS, *words("frequent")))

# A line whose message is on the next line.
_LEADS_ON = re.compile(rb"(?::|\bIn [\w./-]{1,120}, line \d{1,6})\s{0,20}$")

# The line of an exception, whatever its text.
_RAISED = re.compile(rb"[\w.]{0,80}[a-z](?:Error|Exception)\b.{0,3}: ")

# The program says in the line how it goes on without what is missing.
_CARRIED_ON = re.compile(
    rb"[,;:] (?:starting from scratch|(?:falling|fell) back (?:to|on)|using (?:the )?defaults?\b|continuing (?:without|anyway|with))"
)

# A source line that an error is in.
_SOURCE = re.compile(rb"\berror in \S{1,80}\.[a-z]\w{0,3} at line \d")
# The name of an exception with its package.
_CLASS = re.compile(rb"\b[a-z]\w{0,40}\.(?:\w{1,40}\.){1,6}([A-Z]\w{1,60}(?:Exception|Error))\b")

# Program data as one line of JSON: keys of counts are not a message.
_OBJECT = re.compile(rb"\s{0,20}\{\"\w{1,60}\": ?[{\[\d]")

# Only this much of a line is searched for words and forms its template. [characters]
_READ = 400
_TEMPLATE_LENGTH = 240


def suspicion(line: bytes) -> Suspicion:
    """Return the kind of an error-like line; empty for an ordinary line."""
    line = line[:_READ]
    lowered = line.lower()
    if _is_ordinary(line, lowered):
        return ""
    # An error word within a warning does not report an error; a missed goal matters only at the end of a text.
    if matches_words("warned", line, lowered):
        return "hint" if matches_words("missed", line, lowered) else ""
    if matches_words("end", line, lowered):
        return "end"
    if _CARRIED_ON.search(lowered):
        return "hint"
    if matches_words("fatal", line, lowered):
        return "fatal"
    error = matches_words("error", line, lowered)
    if error and (_RAISED.match(line) or not matches_words("harmless", line, lowered)):
        return "error"
    return (
        "hint" if (not error and matches_words("hint", line, lowered)) or matches_words("missed", line, lowered) else ""
    )


def _is_ordinary(line: bytes, lowered: bytes) -> bool:
    """Whether a line is data, is printed by successful runs, or only contains or announces words of an error."""
    return bool(
        _OBJECT.match(line)
        or printed_by_successful_runs(line)
        or matches_words("never", line, lowered)
        or matches_words("announces", line, lowered)
    )


@cache
def _seen() -> re.Pattern[bytes]:
    """Return an expression for the messages of ``seen_in_good_runs.csv``."""
    messages = (re.escape(row["message"].encode()) for row in load_csv_resource(__file__, "seen_in_good_runs.csv"))
    # The width of a table's columns varies.
    return re.compile(b"|".join(message.replace(rb"\ ", b" {1,60}") for message in messages))


def printed_by_successful_runs(line: bytes) -> bool:
    """Whether successful runs print this line too, so that it is not evidence of a failure.

    Examples
    --------
    >>> printed_by_successful_runs(b"libibverbs: Warning: couldn't load driver 'libsiw-rdmav34.so': libsiw-rdmav34.so: cannot open")
    True
    """
    return bool(_seen().search(line))


def is_exit_report(line: bytes, below: Sequence[bytes] | None = None) -> bool:
    """Whether a line reports only an end: it is a known report, or all its words are endings, parts of a job or
    grammar.

    A line that ends in a colon, or a source line that prints it, is completed by the lines below it, if given.

    Examples
    --------
    >>> is_exit_report(b"Error: process `align` (chr1) on node n12 terminated with exit status 137"), is_exit_report(b"node memory failed")
    (True, False)
    """
    lowered = line.lower()
    if matches_words("is_exit_report", line, lowered):
        return True
    if _SOURCE.search(lowered):
        return False
    if len(line) > _READ or b"node fail" in lowered or not _EMPTY.issuperset(map(bytes.lower, _CLASS.findall(line))):
        return False
    said = _said(lowered)
    named = {word for part, word in pairwise(said) if part in _NAMED_PARTS and word not in _NO_NAMES}
    if _ENDINGS.isdisjoint(said) or not _EMPTY.union(named).issuperset(said):
        return False
    return not _LEADS_ON.search(line) or (below is not None and _add_nothing(below))


def _add_nothing(below: Sequence[bytes]) -> bool:
    """Whether the lines that should complete this one add nothing: a warning, another such line, or no words."""
    rest = [text for text in below if text.strip() and not matches_words("warned", text, text.lower())]
    return not rest or not _said(rest[0].lower()) or is_exit_report(rest[0], rest[1:])


def _said(lowered: bytes) -> list[bytes]:
    """Return the words of a line without names, values and quotations."""
    return _WORDS.findall(_STRIPPED.sub(b" ", _NAMED.sub(b" ", lowered)))


def template(line: bytes) -> bytes:
    """Return a line without numbers, names, paths and quoted words."""
    return _SPACES.sub(b" ", _STRIPPED.sub(b"#", line[:_TEMPLATE_LENGTH])).strip()


def words_of(text: str) -> int:
    """Return the number of words of an informative line; 0 for frames, stacks and tables of numbers."""
    if _NO_WORDS.search(text):
        return 0
    words = len(_WORD.findall(text))
    return words if 2 * words > len(text.split()) else 0
