"""The tables that IOR prints for people.

Rows come interleaved with warnings of MPI, with labels of the launcher in front,
or torn. So every line is judged by itself: a heading says what the next rows
mean, an option is known by its name, a row by its first word and the numbers
after it, and all else is noise.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hopperlib.readers.ior.runs import Measured, Statistics, Test
from hopperlib.readers.ior.tokens import number, rate_factor, read_command

__all__ = ["read_text"]

_LONGEST_LINE = 2000
_LABEL = re.compile(r"^\s*(?:\d+:\s|\[\d+(?:,\d+)*\](?:<std\w+>)?:?\s?|[>#|]\s)")
_OPTION = re.compile(r"\s*([A-Za-z][A-Za-z ]{0,24}?)\s*[:=]\s*(.*?)\s*$")
_OPTIONS = {
    "api",
    "access",
    "aggregate filesize",
    "blocksize",
    "clients",
    "clients per node",
    "nodes",
    "participating tasks",
    "pattern",
    "repetitions",
    "segments",
    "tasks",
    "xfersize",
}
_ROW = re.compile(r"(?:^|\s)(write|read)\s+(?=[-\d.nNiI])", re.IGNORECASE)
_MAXIMUM = re.compile(r"\bMax (Write|Read):\s+([\d.]+)\s*([KMGT]i?B)/s")
# What the tables look like whose heading is lost, by the number of words in a row.
_HEADINGS = {
    9: ["access", "bw(MiB/s)", "block(KiB)", "xfer(KiB)", "open(s)", "wr/rd(s)", "close(s)", "total(s)", "iter"],
    11: [
        "access",
        "bw(MiB/s)",
        "IOPS",
        "Latency(s)",
        "block(KiB)",
        "xfer(KiB)",
        "open(s)",
        "wr/rd(s)",
        "close(s)",
        "total(s)",
        "iter",
    ],
}
_ENDINGS = {"EXCEL", "XXCEL"}


def read_text(text: str, *, file: str, version: str | None) -> list[Test]:
    """Return the tests in the text of one run.

    Parameters
    ----------
    text : str
        From the banner of one run to the next.
    file, version : str
        What the rows are to say.

    Examples
    --------
    >>> tests = read_text('''access bw(MiB/s) block(KiB) xfer(KiB) open(s) wr/rd(s) close(s) total(s) iter
    ... write 115.02 16384 1024.00 0.324555 141.74 0.215958 142.45 0''', file="a", version=None)
    >>> tests[0].measured[0].rate_mib_s
    115.02
    """
    reader = _Reader(file, version)
    for line in text.splitlines():
        reader.line(line)
    return reader.tests


class _Reader:
    """What is known from the lines so far."""

    def __init__(self, file: str, version: str | None) -> None:
        self.file, self.version = file, version
        self.tests = [Test(file=file, version=version)]
        self.heading: Sequence[str] = ()
        self.is_summary = False

    @property
    def test(self) -> Test:
        return self.tests[-1]

    def line(self, line: str) -> None:
        """Judge one line; what is longer than any line of IOR is noise from there on."""
        line = line[:_LONGEST_LINE]
        bare = _LABEL.sub("", line, count=1)
        if self._heading(bare) or self._row(bare) or self._option(bare):
            return
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
        if words[0] == "access" and any(word.startswith("bw(") for word in words):
            self.heading, self.is_summary = words, False
            return True
        if any(word.startswith("Max(") for word in words):
            self.heading, self.is_summary = words, True
            return True
        return False

    def _option(self, line: str) -> bool:
        """Whether the line says an option, which is then kept."""
        match = _OPTION.match(line)
        if match is None:
            return False
        key, value = match[1].lower(), match[2]
        if key in ("command line", "command line used"):
            if not self.test.empty or self.test.options:
                self._next()
            self.test.command = read_command(value)
            return True
        if key not in _OPTIONS:
            return False
        if key == "api" and "api" in self.test.options:
            self._next(command=True)
        if key == "clients":
            tasks, _, per_node = value.partition("(")
            self.test.say("tasks", tasks)
            self.test.say("clients per node", per_node.partition(" ")[0])
        elif key == "pattern":
            inside = re.search(r"\((\d+) segments?\)", value)
            self.test.say("segments", inside[1] if inside else "")
        else:
            self.test.say(key, value)
        return True

    def _next(self, *, command: bool = False) -> None:
        """Start the next test, of the same command or of another."""
        following = Test(file=self.file, version=self.version)
        if command:
            following.command = self.test.command
        self.tests.append(following)

    def _row(self, line: str) -> bool:
        """Whether the line holds a row of the table, which is then kept."""
        match = _ROW.search(line)
        if match is None:
            return False
        words = [word for word in line[match.start(1) :].split() if word not in _ENDINGS]
        numbers = [number(word) for word in words[1:]]
        leading = next((place for place, value in enumerate(numbers) if value is None), len(numbers))
        if self.is_summary:
            return self._summary(words, leading)
        heading = self.heading or _HEADINGS.get(len(words), ())
        if not heading or leading < 3 or numbers[0] is None:
            return False
        # A torn row still says its rate: the first columns are there.
        row = dict(zip(heading, words, strict=False))
        rate = numbers[0] * rate_factor(heading[1])
        access = words[0].lower()
        repetition = number(row.get("iter", ""))
        sizes = {key: number(row.get(key, "")) for key in ("block(KiB)", "xfer(KiB)")}
        self.test.measured.append(
            Measured(
                access=access,
                rate_mib_s=rate if rate > 0 else None,
                seconds=number(row.get("total(s)", "")),
                repetition=int(repetition)
                if repetition is not None and repetition >= 0
                else sum(one.access == access for one in self.test.measured),
                block_bytes=_kib(sizes["block(KiB)"]),
                transfer_bytes=_kib(sizes["xfer(KiB)"]),
            )
        )
        return True

    def _summary(self, words: Sequence[str], leading: int) -> bool:
        """Keep a row of the summary; it belongs to the test whose number it says."""
        if leading < 3:
            return False
        row = dict(zip(self.heading, words, strict=False))
        place = number(row.get("Test#", ""))
        test = self.tests[int(place)] if place is not None and 0 <= place < len(self.tests) else self.test
        named = {heading.partition("(")[0]: (heading, word) for heading, word in reversed(list(row.items()))}
        rates = {}
        # The first Max, Min and Mean are those of the rates; the next ones count operations.
        for name in ("Max", "Min", "Mean"):
            heading, word = named.get(name, ("", ""))
            value = number(word) if heading else None
            rates[name] = value * rate_factor(heading) if value and "Op" not in heading else None
        test.summaries.setdefault(
            words[0].lower(),
            Statistics(
                access=words[0].lower(),
                highest_mib_s=rates["Max"],
                lowest_mib_s=rates["Min"],
                mean_mib_s=rates["Mean"],
                seconds=number(row.get("Mean(s)", "")),
            ),
        )
        for key in ("#Tasks", "tPN", "reps", "fPP", "segcnt", "blksiz", "xsize", "API"):
            test.say(key, row.get(key, ""))
        return True


def _kib(size: float | None) -> int | None:
    """Return a size in KiB as bytes; None for none."""
    return round(size * 1024) if size else None
