r"""Signs of progress: lines showing that a program continued after a message that should have ended it.

A line that counts (a step, an epoch, a bar, a row of a table) followed by a line of the same kind with a higher number
can only come from a running program; so can an explicit line ("resuming from step 200") and one that counts. A single
line may come from another task that was not stopped yet. Error lines are no evidence: tasks and frames have numbers
too.
"""

import re
from bisect import bisect_left

from hopperlib.failure.messages._templates import suspicion

# A counting word with its number, a bar, a row of numbers that begins with a whole number, a word for continuing; all
# in lower case.
_COUNTER = re.compile(
    rb"\b(?:step|timestep|iter|iteration|epoch|cycle|generation|sweep|batch|episode|frame|image|img no|round|sample|trial|time|it|scf|it/s)s?\b[^\w\n]{0,8}"
    rb"(\d{1,18}(?:\.\d{1,12})?)"
)
_BAR = re.compile(rb"\b(\d{1,12})(?:/\d{1,12}|it) \[\d{1,3}:\d\d")
_ROW = re.compile(
    rb"^[ \t]{0,20}(?:[a-z]{1,12}[ \t]{1,20})?(\d{1,18})(?:[ \t]{1,20}[-+]?\d{1,18}\.\d{0,18}(?:e[-+]?\d{1,3}|d[-+]?\d{1,3})?){2,20}(?:[ \t]{1,20}\d{1,9}){0,3}[ \t]{0,20}$",
    re.MULTILINE,
)
_GOES_ON = re.compile(
    rb"\b(?:resum(?:ing|ed)|restart(?:ing|ed)|retrying|continu(?:ing|ed)|recovered)\b[^\n]{0,12}\b(?:from|with|at|after|training)\b"
)
# Bytes of a line before such a word, and in total.
_BEFORE = {_COUNTER: 48, _BAR: 120, _ROW: 16, _GOES_ON: 60}
_LINE = 260
_DIGITS = b"0123456789.+-"
# Number of signs that show progress together, and the most bytes of a file searched for them.
_ENOUGH = 2
_BUDGET = 2_000_000


class ProgressWatch:
    """Watches a file for signs of progress after each line that reports a failure.

    Attributes
    ----------
    marks : list of int
        For each failure that was superseded, the line that shows it.
    """

    def __init__(self) -> None:
        self.marks: list[int] = []
        self._failures: list[int] = []
        self._budget = _BUDGET
        self._forget()

    def _forget(self) -> None:
        """Reset after a failure."""
        self._signs = 0
        self._counters: dict[bytes, float] = {}

    def failed(self, line: int) -> None:
        """Record that a line reports a failure."""
        self._failures.append(line)

    def look(self, first_line: int, data: bytes) -> None:
        """Check the lines of a block after the failures noted so far."""
        if not self._failures or self._budget < 0:
            return
        self._failures.sort()
        if self.marks and self._failures[-1] <= self.marks[-1]:
            return
        # Text before the first failure is irrelevant.
        before = max(self._failures[0] - first_line, 0)
        data = data.split(b"\n", before)[-1]
        number, counted, behind = first_line + before, 0, -1
        self._budget -= len(data)
        # A progress bar prints one line of many pieces.
        for start, line, count in _signs(data.replace(b"\r", b"\n")):
            number += data.count(b"\n", counted, start)
            counted = start
            place = bisect_left(self._failures, number)
            if not place or self._failures[place - 1] <= (self.marks[-1] if self.marks else 0):
                continue
            if behind not in (-1, place):
                self._forget()
            behind = place
            self._signs += self._goes_on(line, count)
            if self._signs >= _ENOUGH:
                self.marks.append(number)
                self._forget()
        # Only the last failure may be superseded by later lines.
        if self._failures[-1] >= first_line and behind != len(self._failures):
            self._forget()
        self._failures = self._failures[-1:]

    def _goes_on(self, line: bytes, count: float | None) -> bool:
        """Whether a line reports that the program continues, or counts higher than an earlier line of its kind."""
        if suspicion(line) not in ("", "hint"):
            return False
        if count is None:
            return True
        kind = line.translate(None, _DIGITS)[:80]
        before = self._counters.get(kind)
        self._counters[kind] = count
        return before is None or count > before


def _signs(data: bytes) -> list[tuple[int, bytes, float | None]]:
    """Return start, text and number of the lines that may show progress, in order."""
    lowered = data.lower()
    found: dict[int, tuple[int, bytes, float | None]] = {}
    for pattern, before in _BEFORE.items():
        for match in pattern.finditer(lowered):
            start = data.rfind(b"\n", 0, match.start()) + 1
            end = data.find(b"\n", match.end())
            line = data[start : end if end >= 0 else len(data)]
            if match.start() - start <= before and len(line) <= _LINE:
                found.setdefault(start, (start, line, float(match[1]) if match.groups() else None))
    return [found[start] for start in sorted(found)]
