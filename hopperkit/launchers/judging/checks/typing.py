"""Characters that a page, a PDF or a chat program puts in place of those that a shell and a batch system read.

References
----------
The Unicode Standard, "General Punctuation" (U+2010 to U+2015, U+2018 to U+201F, U+202F) and U+00A0, U+2212;
SchedMD, sbatch man page: a directive begins with "#SBATCH" at the start of a line.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from hopperkit.launchers.judging._edits import replace_line
from hopperkit.launchers.judging.remedies import Draft, Remedy
from hopperkit.launchers.scripts import Script
from hopperlib.finding import Finding, Level

_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_BLANKS = "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_NOTHING = "\u200b\u200c\u200d\u2060\ufeff\u00ad"
_QUOTES = dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\uff02", '"') | dict.fromkeys(
    "\u2018\u2019\u201a\u201b\u2032\uff07", "'"
)
_DIRECTIVE = r"#(?:SBATCH|PBS|BSUB|COBALT|flux:)"
# A dash in front of an option, and a batch system's word with a blank in it.
_OPTION_DASH = re.compile(rf"(?<!\S)([{_DASHES}]{{1,2}})(?=[A-Za-z])")
_BLANK_DIRECTIVE = re.compile(
    r"^[ \t]*#[ \t]+(SBATCH|PBS|BSUB|COBALT)(?=[ \t]+-)|^[ \t]+#(SBATCH|PBS|BSUB|COBALT)(?=[ \t]+-)"
)


class _Slip(NamedTuple):
    """A typing error in a line, and the corrected line."""

    what: str
    corrected: str


def check_typing(script: Script) -> Iterator[Draft]:
    r"""Yield the lines of a script with characters that look right and are read as something else.

    Parameters
    ----------
    script : Script

    Examples
    --------
    >>> from hopperkit.launchers.scripts import read_script
    >>> (draft,) = check_typing(read_script("srun \u2013n 64 ./a.out"))
    >>> print(draft.finding.message)
    Line 1: the dash in "–n" (U+2013) begins no option; it comes from a formatted page.
    >>> draft.remedies[0].words
    'Write: srun -n 64 ./a.out'
    """
    real = {directive.system for directive in script.directives}
    for number, line in enumerate(script.text.split("\n"), start=1):
        slip = _slip_of(line)
        if slip:
            found = Finding("characters", f"Line {number}: {slip.what}", "problem", {"line": number}, "Type it again.")
            yield Draft(found, (Remedy(f"Write: {slip.corrected}", replace_line(script, number, slip.corrected)),))
        elif blank := _BLANK_DIRECTIVE.match(line):
            name = blank[1] or blank[2]
            plain = f"#{name}{line[blank.end() :]}"
            what = f'Line {number}: "{line[: blank.end()]}" is a comment: the batch system reads #{name} at the start of a line.'
            level: Level = "advice" if real else "problem"
            found = Finding(
                "directive-blank", what, level, {"line": number}, "Unless it is meant as a comment, mend it."
            )
            words = f"Unless it is meant as a comment, write: {plain}"
            yield Draft(found, (Remedy(words, replace_line(script, number, plain)),))


def _slip_of(line: str) -> _Slip | None:
    """Return the error in the characters of a line that a shell or a batch system reads; None for comments."""
    if line.isascii() or (line.lstrip().startswith("#") and not re.match(_DIRECTIVE, line)):
        return None
    corrected = _corrected(line)
    if dash := _OPTION_DASH.search(_plain_blanks(line)):
        word = _plain_blanks(line)[dash.start() :].split()[0]
        what = f'the dash in "{word}" (U+{ord(dash[1][0]):04X}) begins no option; it comes from a formatted page.'
        return _Slip(what, corrected)
    # Quoted text and comments reach no launcher: a title may contain any character.
    code = re.sub(r"'[^']*'|\"[^\"]*\"|(?<=\s)#.*", "", line)
    if quote := next((each for each in code if each in _QUOTES), None):
        return _Slip(f"the quotation mark {quote} (U+{ord(quote):04X}) quotes nothing in a shell.", corrected)
    if blank := next((each for each in code if each in _BLANKS + _NOTHING), None):
        kind = "the blank" if blank in _BLANKS else "an invisible character"
        return _Slip(f"{kind} U+{ord(blank):04X} parts no words, and stays in the word it stands in.", corrected)
    return None


def _plain_blanks(line: str) -> str:
    """Return a line with only blanks that a shell accepts."""
    return re.sub(f"[{_BLANKS}]", " ", line)


def _corrected(line: str) -> str:
    """Return a line in the characters of a shell."""
    line = re.sub(f"[{_NOTHING}]", "", _plain_blanks(line))
    # A web page that joins two dashes into one long dash leaves a long option name after it.
    line = _OPTION_DASH.sub(lambda dash: _dashes(dash, line), line)
    return " ".join("".join(_QUOTES.get(each, each) for each in line).split())


def _dashes(dash: re.Match[str], line: str) -> str:
    """Return one dash for a letter, two for a long name."""
    name = re.match(r"[A-Za-z][\w-]*", line[dash.end() :])
    return "--" if len(dash[1]) == 2 or (name and len(name[0]) > 3) else "-"
