"""Lines that no rule knows: which of them are suspicious, and what they have in common.

A new message should stand out, not drown: lines are grouped by their template,
what is left when numbers, names, paths and quoted words are taken out.

========  =====================================================================
fatal     says that something ends, and mostly why
error     speaks of an error
end       says that a program, a command or a job ended badly, but not why:
          what it has to say stands above it
hint      reads like bad news where something failed, and means nothing elsewhere
========  =====================================================================
"""

import re
from typing import Literal

from hopperlib.failure.messages._expressions import expression, words

Suspicion = Literal["fatal", "error", "end", "hint", ""]

# Words that make a line worth a look; those of `INSIDE` are looked for inside of words too.
SUSPICIOUS_WORDS, INSIDE = words("looked_for"), words("inside")
_NEVER, _FATAL, _ERROR, _END, _HINT = map(expression, ("never", "fatal", "error", "end", "hint"))
_HARMLESS, _STRIPPED = expression("harmless"), expression("stripped")
_FATAL_PIECES, _HARMLESS_PIECES = words("fatal_pieces"), words("harmless_pieces")
_SPACES = re.compile(rb"\s{2,200}")
_WORD = re.compile(r"[^\W\d_]{2,40}")
# Lines of a frame, of a table of numbers, of a stack.
_NO_WORDS = re.compile(expression("no_words").pattern.decode())

# Only this much of a line is read for words, and makes its template.
_READ = 400
_TEMPLATE_LENGTH = 240


def suspicion(line: bytes) -> Suspicion:
    """Say whether a line reads as if something went wrong."""
    line = line[:_READ]
    lowered = line.lower()
    if _NEVER.search(line):
        return ""
    if _END.search(line):
        return "end"
    if _holds(lowered, _FATAL_PIECES) and _FATAL.search(line):
        return "fatal"
    if _ERROR.search(line):
        return "" if _holds(lowered, _HARMLESS_PIECES) and _HARMLESS.search(line) else "error"
    return "hint" if _HINT.search(line) else ""


def _holds(lowered: bytes, pieces: tuple[bytes, ...]) -> bool:
    """Whether one of the pieces stands in a line."""
    for piece in pieces:  # noqa: SIM110 - a generator takes twice as long, and this is the inner loop
        if piece in lowered:
            return True
    return False


def template(line: bytes) -> bytes:
    """Return a line without numbers, names, paths and quoted words."""
    return _SPACES.sub(b" ", _STRIPPED.sub(b"#", line[:_TEMPLATE_LENGTH])).strip()


def words_of(text: str) -> int:
    """Return the words of a line that says something; 0 for frames, stacks and tables of numbers."""
    if _NO_WORDS.search(text):
        return 0
    words = len(_WORD.findall(text))
    return words if 2 * words > len(text.split()) else 0
