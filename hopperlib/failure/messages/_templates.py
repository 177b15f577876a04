"""Lines that no rule knows: which of them are suspicious, and what they have in common.

A new message should stand out, not drown: lines are grouped by their template,
what is left when numbers, names, paths and quoted words are taken out.

========  =====================================================================
fatal     says that something ends, and mostly why
error     reports an error
end       says that a program, a command or a job ended badly, but not why:
          what it has to say stands above it
hint      reads like bad news where something failed, and means nothing elsewhere
========  =====================================================================
"""

import re
from typing import Literal

from hopperlib.failure.messages._expressions import says, words

Suspicion = Literal["fatal", "error", "end", "hint", ""]

# Words that make a line worth a look; those of `INSIDE` are looked for inside of words too.
SUSPICIOUS_WORDS, INSIDE = words("looked_for"), words("inside")
# What is left out of a line to tell what it has in common with others: quoted words, paths, names with digits.
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
    r"|^\s*(?:#\d+ |at |from |File \"|\[[\w.:-]{1,60}\] ?\[ ?\d+\]|0x[0-9a-f]+)"
    r"|\+0x[0-9a-f]{1,16}|\bUnknown {2,}Unknown\b|^\s*Image {3,}PC\b"
)

# Only this much of a line is read for words, and makes its template.
_READ = 400
_TEMPLATE_LENGTH = 240


def suspicion(line: bytes) -> Suspicion:
    """Say whether a line reads as if something went wrong."""
    line = line[:_READ]
    lowered = line.lower()
    if says("never", line, lowered):
        return ""
    if says("end", line, lowered):
        return "end"
    if says("fatal", line, lowered):
        return "fatal"
    error = says("error", line, lowered)
    if error and not says("harmless", line, lowered):
        return "error"
    # A warning that a goal was missed matters at the end of a text that reports success.
    return "hint" if (not error and says("hint", line, lowered)) or says("missed", line, lowered) else ""


def template(line: bytes) -> bytes:
    """Return a line without numbers, names, paths and quoted words."""
    return _SPACES.sub(b" ", _STRIPPED.sub(b"#", line[:_TEMPLATE_LENGTH])).strip()


def words_of(text: str) -> int:
    """Return the words of a line that says something; 0 for frames, stacks and tables of numbers."""
    if _NO_WORDS.search(text):
        return 0
    words = len(_WORD.findall(text))
    return words if 2 * words > len(text.split()) else 0
