"""Parse IOR's text tables. Rows may be interleaved with MPI warnings, prefixed with launcher labels, or truncated.
Therefore, every line is parsed separately: a heading defines the next rows, an option is recognized by its name, a row
by its first word and the numbers after it, and the rest is noise.
"""

import re
from collections.abc import Sequence

from hopperkit.readers.ior._runs import LONGEST_LINE, Statistics, Test, Tests
from hopperkit.readers.ior.tokens import number, rate_factor, read_command

_LABEL = re.compile(r"^\s*(?:\d+:\s|\[\d+(?:,\d+)*\](?:<std\w+>)?:?\s?|[>#|]\s)")
_OPTION = re.compile(r"\s*([A-Za-z][A-Za-z ]{0,24}?)\s*[:=]\s*(.*?)\s*$")
_ROW = re.compile(r"(?:^|\s)(write|read)\s+(?=[-\d.nNiI])", re.IGNORECASE)
_MOVED = re.compile(r"\bUsing actual aggregate bytes moved\s*=\s*(\d{1,20})\b")
_MAXIMUM = re.compile(r"\bMax (Write|Read):\s+([\d.]+)\s*([KMGT]i?B)/s")
# Formats of tables without a heading, by the number of words in a row.
_TIMES = "block(KiB) xfer(KiB) open(s) wr/rd(s) close(s) total(s) iter"
_HEADINGS = {9: f"access bw(MiB/s) {_TIMES}".split(), 11: f"access bw(MiB/s) IOPS Latency(s) {_TIMES}".split()}
_ENDINGS = {"EXCEL", "XXCEL"}


def read_text(text: str, *, file: str, version: str | None) -> list[Test]:
    """Return the tests in the text of one run, from its banner to the next one."""
    reader = _Reader(file, version)
    for line in text.splitlines():
        reader.line(line)
    return reader.tests


class _Reader(Tests):
    """State after the lines read so far."""

    heading: Sequence[str] = ()
    is_summary = False

    def line(self, line: str) -> None:
        """Parse one line; the rest of an overlong line is ignored."""
        line = line[:LONGEST_LINE]
        bare = _LABEL.sub("", line, count=1)
        if self._heading(bare) or self._row(bare) or self._option(bare):
            return
        if moved := _MOVED.search(bare):
            self.test.moved_bytes = int(moved[1])
        for match in _MAXIMUM.finditer(bare):
            rate = (number(match[2]) or 0) * rate_factor(f"({match[3]}/s)")
            if rate > 0:
                self.test.maxima[match[1].lower()] = rate
        self.test.listen(line)

    def _heading(self, line: str) -> bool:
        """Whether the line is the heading of a table."""
        words = line.replace(" (", "(").replace("Std Dev", "StdDev").split()
        if len(words) < 4 or words[0] not in ("access", "Operation"):
            return False
        results = words[0] == "access" and any(word.startswith("bw(") for word in words)
        if results or any(word.startswith("Max(") for word in words):
            self.heading, self.is_summary = words, not results
            return True
        return False

    def _option(self, line: str) -> bool:
        """Store the option set by the line; return whether there is one."""
        match = _OPTION.match(line)
        if match is None:
            return False
        key, value = match[1].lower(), match[2]
        if key in ("command line", "command line used"):
            if not self.test.empty or self.test.options:
                self.begin()
            self.test.command = read_command(value)
        elif key == "clients":
            tasks, _, per_node = value.partition("(")
            self.test.say("tasks", tasks)
            self.test.say("clients per node", per_node.partition(" ")[0])
        elif key == "pattern":
            inside = re.search(r"\((\d+) segments?\)", value)
            self.test.say("segments", inside[1] if inside else "")
        else:
            if key == "api" and "api" in self.test.options:
                self.begin(self.test.command)
            return self.test.say(key, value)
        return True

    def _row(self, line: str) -> bool:
        """Store the table row on the line; return whether there is one."""
        match = _ROW.search(line)
        if match is None:
            return False
        words = [word for word in line[match.start(1) :].split() if word not in _ENDINGS]
        numbers = [number(word) for word in words[1:]]
        leading = next((place for place, value in enumerate(numbers) if value is None), len(numbers))
        heading = self.heading or _HEADINGS.get(len(words), ())
        # A truncated row still has its rate, in the first columns.
        if leading < 3 or not heading:
            return False
        row = dict(zip(heading, words, strict=False))
        access = words[0].lower()
        if self.is_summary:
            self._summary(access, row)
        else:
            unit = heading[1].partition("(")[2].rstrip(")") or None
            self.test.measure(access, (numbers[0] or 0) * rate_factor(heading[1]), row, unit=unit)
        return True

    def _summary(self, access: str, row: dict[str, str]) -> None:
        """Store a row of the summary under its test number."""
        place = number(row.get("Test#", ""))
        test = self.tests[int(place)] if place is not None and place < len(self.tests) else self.test
        # The first Max, Min and Mean are rates; the next ones count operations.
        named = {heading.partition("(")[0]: heading for heading in reversed(row)}

        def rate(name: str) -> float | None:
            heading = named.get(name, "")
            value = number(row.get(heading, ""))
            return value * rate_factor(heading) if value and "Op" not in heading else None

        statistics = Statistics(rate("Max"), rate("Min"), rate("Mean"), number(row.get("Mean(s)", "")))
        test.summaries.setdefault(access, statistics)
        for key in ("#Tasks", "tPN", "reps", "fPP", "segcnt", "blksiz", "xsize", "API"):
            test.say(key, row.get(key, ""))
