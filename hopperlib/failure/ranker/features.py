"""Features of a line: its content, form, rarity, position and neighbors.

Lines that differ only in numbers are one candidate. All features lie between 0 and 1. The weights of
`hopperlib.failure.ranker.ranking` are fitted to tables of these numbers only: no text is kept.

=============  =============================================================
word classes   30 classes of words, such as ``memory`` or ``denied``
form           length, capitals, digits, indentation, frame of a stack
frequency      how often the candidate occurs, and whether only once
place          distance from the beginning, the end, and other errors
neighbors      whether the lines above and below are frames, blank, errors
=============  =============================================================
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

# Labels that launchers and loggers put in front of a line.
_LABEL = re.compile(
    r"^(?:\s*(?:\[\d{1,7}(?:,\d{1,7})?\](?:<\w{1,10}>:)?|\d{1,5}:|\[[\w.-]{1,60}:\d{1,8}\]|\(\w{1,40}[^)]{0,60}\)|x\d{1,5}c\w{1,16}[\w.]{0,40}(?: \d{1,6})?:"
    r"|\d{4}-\d\d-\d\d[ T][\d:.,]{1,20}|\[[\d.]{1,20}\]|\w{1,40}:\d{1,8}:\d{1,8} \[\d\])\s*){1,4}"
)
# Classes of words. Their weights are fitted; no class is required of any line.
_CLASSES = {
    "error": r"\berrors?\b|err(?:or)?:|_err_|error_",
    "fatal": r"\bfatal\b|\bsevere\b",
    "exception": r"exception|\w{1,60}error:",
    "failed": r"\bfail(?:ed|ure|s)?\b",
    "abort": r"abort",
    "killed": r"\bkilled\b|sigkill",
    "segfault": r"segmentation|sigsegv|segfault|signal 11",
    "signal": r"\bsignal\b|\bsig[a-z]{3,4}\b",
    "cannot": r"cannot|can't|could not|couldn't|unable|unknown|invalid|illegal|undefined|not defined",
    "missing": r"not found|no such|does not exist|missing",
    "denied": r"denied|not permitted|refused|unreachable",
    "memory": r"out of memory|oom|cannot allocate|bad_alloc|memory limit|exceeded",
    "time": r"time ?limit|timed? ?out|walltime|timeout",
    "assertion": r"assert",
    "warning": r"\bwarn(?:ing)?\b|\[w",
    "note": r"\bnote\b|\binfo\b|\bdebug\b",
    "help": r"see |faq|https?://|please|you may|may or may not|set mca",
    "job": r"job|task|rank|process|step",
    "exit": r"exit(?:ed|ing)? (?:code|status|with)|exit code|non-zero|returned",
    "cleanup": r"clean(?:ing)?up|terminat|remaining|waiting|stopped|aborted",
    "trace_head": r"traceback|stack trace|backtrace|error stack",
    "success": r"success|completed|normal(?:ly)?|done\b|converged|passed|finished|0 errors",
    "number": r"\bnan\b|infinit|overflow|not.a.number|floating|negative|out of bounds|outside",
    "mismatch": r"mismatch|incompatible|unsupported|not supported|expected|must ",
    "network": r"connection|network|transport|socket|ib_|ucx|ofi|nccl",
    "address": r"https?://",
    "reason": r"\breason\b {0,4}[:=(]|\bdue to\b|\bbecause\b",
    "source": r"\b(?:source|file|function)\b.{0,80}\bline:? {0,4}\d|\bline:? {0,4}\d{1,7}\b.{0,20}\b(?:source|file)\b",
    "cancel": r"cancel",
    "input": r"open(?:ing)?\b.{0,40}(?:file|fail|error)|read(?:ing)?\b|input|namelist|parameter",
}
_WORDS = {name: re.compile(text) for name, text in _CLASSES.items()}
_ANY = re.compile("|".join(_CLASSES.values()))
_TROUBLE = re.compile(
    r"error|fatal|exception|fail|abort|killed|signal|cannot|not found|no such|denied|exceed|unable|assert|traceback|terminate|invalid"
)
_FRAME = re.compile(
    r"^\s*(?:#\d|at |File \"|\[ ?\d{1,3}\] |from |in \w|\d{1,6} {1,12}0x|0x[0-9a-f]{6})|\(\+0x|\[0x[0-9a-f]|\bUnknown\s{1,40}Unknown\b|\s[0-9A-F]{16}\s"
)
_RAISED = re.compile(r"^\s*(?:[\w.]{1,80}\.)?[A-Z]\w{0,60}(?:Error|Exception|Warning|Interrupt|Exit)\b(?::|$)")
_WORD = re.compile(r"[A-Za-z]{3,60}")
_PATH = re.compile(r"/\w{1,60}/\w")
_PAIR = re.compile(r"\s*\w{1,60}\s{0,20}[:=]\s{0,20}\S{1,200}\s*$")
_STACK_LINE = re.compile(r"^\w{1,60}\(\d{1,6}\)\.{0,60}:")
# A line that only announces an error: the details are below it.
_HEADER = re.compile(
    r"[\W\d_]{0,12}(?:[A-Za-z]{1,12} ){0,3}(?i:errors?|fatal)(?: [A-Za-z]{1,12}){0,2} {0,3}(?:\(?[\w. -]{1,24}\))?[\W_]{0,4}$"
)
_RULER = re.compile(r"\W{8,400}$")
_NUMBER = re.compile(r"0x[0-9a-f]+|\d+")
# Largest part of a line that is read, and most candidates of an output. [characters; lines]
_READ = 400
_KEY = 160
CANDIDATES = 1500


@dataclass(frozen=True, slots=True)
class Line:
    """A line of an output.

    Parameters
    ----------
    file : int
    number : int
        From 1.
    text : str
    """

    file: int
    number: int
    text: str


@dataclass(slots=True)
class Candidate:
    """Lines that differ only in numbers: the first and the last place in the list of lines, and how many there are."""

    first: int
    last: int
    count: int = 1


def candidates(lines: Sequence[Line]) -> list[Candidate]:
    """Return the candidates of an output in the order of their first line; of very many, those at its beginning and its
    end.

    Parameters
    ----------
    lines : sequence of Line
        Lines of an output, in order.

    Examples
    --------
    >>> lines = [Line(0, number, text) for number, text in enumerate(["step 1", "step 2", "stop: no mesh"], 1)]
    >>> [(one.first, one.last, one.count) for one in candidates(lines)]
    [(0, 1, 2), (2, 2, 1)]
    """
    found: dict[str, Candidate] = {}
    for place, line in enumerate(lines):
        text = line.text
        if not _WORD.search(text):
            continue
        key = _NUMBER.sub("#", _LABEL.sub("", text[:_READ]))[:_KEY]
        if one := found.get(key):
            one.last, one.count = place, one.count + 1
        else:
            found[key] = Candidate(place, place)
    listed = list(found.values())
    if len(listed) > CANDIDATES:
        listed = [*listed[: CANDIDATES // 4], *listed[len(listed) - CANDIDATES * 3 // 4 :]]
    return listed


class Surroundings:
    """Facts about all lines that the features of a candidate use."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines = lines
        self.trouble = [bool(_TROUBLE.search(line.text[:_READ].lower())) for line in lines]
        self.before = [0, *accumulate(self.trouble)]
        places = [place for place, there in enumerate(self.trouble) if there]
        self.first = places[0] if places else len(lines) - 1
        self.last = places[-1] if places else len(lines) - 1
        # Each of several files has a separate end.
        self.bottom: dict[int, int] = {}
        self.top: dict[int, int] = {}
        for place, line in enumerate(lines):
            self.bottom[line.file] = place
            self.top.setdefault(line.file, place)

    def text(self, place: int, file: int) -> str:
        """Return the line at a place, if it is one of a file.

        Parameters
        ----------
        place : int
            Position in the list of lines.
        file : int
            Index of the file, from 0.
        """
        return self.lines[place].text if 0 <= place < len(self.lines) and self.lines[place].file == file else ""


def features(one: Candidate, around: Surroundings) -> dict[str, float]:
    """Return the features of a candidate.

    Parameters
    ----------
    one : Candidate
        The candidate line.
    around : Surroundings
        Facts about all lines.

    Examples
    --------
    >>> lines = [Line(0, 1, "step 1"), Line(0, 2, "stop: no mesh")]
    >>> features(candidates(lines)[1], Surroundings(lines))["once"]
    1.0
    """
    line = around.lines[one.first]
    text = _LABEL.sub("", line.text[:_READ])
    found = _said(text) | _form(text) | _place(one, around) | _next_to(one, around)
    found["once"] = float(one.count == 1)
    found["often"] = min(1.0, math.log1p(one.count) / 8)
    trouble = found["trouble"]
    found["trouble_first"] = trouble * found["nothing_before"]
    found["trouble_late"] = trouble * found["last_20"]
    found["trouble_once"] = trouble * found["once"]
    found["trouble_warned"] = trouble * found["warning"]
    found["raised_at_end"] = found["raised"] * found["blank_below"]
    return found


def _said(text: str) -> dict[str, float]:
    """Return the classes of words in a line."""
    lowered = text.lower()
    if not _ANY.search(lowered):
        return dict.fromkeys(_WORDS, 0.0)
    return {name: float(bool(pattern.search(lowered))) for name, pattern in _WORDS.items()}


def _form(text: str) -> dict[str, float]:
    """Return the form features of a line."""
    letters = sum(map(str.isalpha, text)) or 1
    return {
        "frame": float(bool(_FRAME.search(text))),
        "raised": float(bool(_RAISED.search(text))),
        "stack_line": float(bool(_STACK_LINE.search(text))),
        "stack_says": float(bool(_STACK_LINE.search(text)) and not text.rstrip().endswith((":", "failed"))),
        "indent": min(len(text) - len(text.lstrip()), 12) / 12,
        "length": len(text) / _READ,
        "short": float(len(text) < 12),
        "capitals": sum(map(str.isupper, text)) / letters,
        "digits": sum(map(str.isdigit, text)) / (len(text) or 1),
        "words": min(len(_WORD.findall(text)), 30) / 30,
        "colon": float(": " in text),
        "ends_in_colon": float(text.rstrip().endswith(":")),
        "header": float(bool(_HEADER.match(text))),
        "path": float(bool(_PATH.search(text))),
        "quotes": float(any(mark in text for mark in "'\"`")),
        "traced_by_shell": float(text.startswith("+")),
        "key_and_value": float(bool(_PAIR.match(text))),
        "stars": float(text.lstrip().startswith(("***", "!!!", ">>>", "###"))),
    }


def _place(one: Candidate, around: Surroundings) -> dict[str, float]:
    """Return a candidate's position in its file, and the number of error lines before and after it."""
    file = around.lines[one.first].file
    top, bottom = around.top[file], around.bottom[around.lines[one.last].file]
    left = bottom - one.last
    after = around.before[-1] - around.before[one.last + 1]
    return {
        "depth": (one.first - top) / max(around.bottom[file] - top, 1),
        "to_end": min(1.0, math.log1p(left) / 10),
        "from_top": min(1.0, math.log1p(one.first - top) / 10),
        "last_5": float(left < 5),
        "last_20": float(left < 20),
        "trouble": float(around.trouble[one.first]),
        "trouble_before": min(1.0, math.log1p(around.before[one.first]) / 6),
        "trouble_after": min(1.0, math.log1p(after) / 6),
        "nothing_before": float(around.before[one.first] == 0),
        "nothing_after": float(after == 0),
        "first_trouble": float(one.first == around.first),
        "last_trouble": float(one.last == around.last),
    }


def _next_to(one: Candidate, around: Surroundings) -> dict[str, float]:
    """Return the kinds of the lines before and after a candidate."""
    file = around.lines[one.first].file
    above, below = around.text(one.first - 1, file), around.text(one.first + 1, file)
    high = around.before[one.first] == 0
    near = around.before[min(one.first + 3, len(around.lines))] - around.before[one.first + 1]
    return {
        "frame_above": float(bool(_FRAME.search(above[:_READ]))),
        "frame_below": float(bool(_FRAME.search(below[:_READ]))),
        "blank_above": float(not _WORD.search(above)),
        "blank_below": float(not _WORD.search(below)),
        "trouble_above": float(one.first > 0 and around.trouble[one.first - 1]),
        "trouble_below": float(one.first + 1 < len(around.lines) and around.trouble[one.first + 1]),
        "led_to": float("raceback" in above or "FATAL" in above or above.rstrip().endswith(":")),
        "below_header": float(bool(_HEADER.match(above))),
        "ignored": float("ignored in" in above),
        "below_ruler": float(bool(_RULER.match(above.strip()))),
        "above_first_trouble": float(high and not around.trouble[one.first] and near > 0),
        "innermost": float(
            bool(_STACK_LINE.search(above[:_READ])) and not _STACK_LINE.search(_LABEL.sub("", below[:_READ]))
        ),
    }


def numbers(lines: Iterable[Line]) -> Iterator[tuple[Candidate, dict[str, float]]]:
    """Yield the candidates of an output with their features.

    Parameters
    ----------
    lines : iterable of Line
        Lines of an output, in order.

    Examples
    --------
    >>> table = list(numbers([Line(0, 1, "reading mesh"), Line(0, 2, "FATAL: no mesh")]))
    >>> [(one.first, found["fatal"], found["nothing_before"]) for one, found in table]
    [(0, 0.0, 1.0), (1, 1.0, 1.0)]
    """
    listed = list(lines)
    if listed:
        around = Surroundings(listed)
        for one in candidates(listed):
            yield one, features(one, around)
