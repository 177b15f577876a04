"""JSON and CSV of IOR, valid or not.

Version 3.2 prints braces that do not match, and every version prints plain
lines into its JSON when it is told to be verbose. So the JSON is not parsed as
JSON: its pairs of name and value are taken in the order in which they stand,
and the names say which part they belong to.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from typing import Any

from hopperlib.readers.ior.runs import Measured, Statistics, Test
from hopperlib.readers.ior.tokens import Command, number, rate_factor, read_command

__all__ = ["is_csv", "is_glued", "is_json", "read_csv", "read_glued", "read_json"]

_PAIR = re.compile(r'"([^"\n]{1,60})"\s{0,20}:\s{0,20}(?:"((?:[^"\\\n]|\\.)*)"|([^\s,{}\[\]"]{1,40}))')
_JSON = re.compile(r'"(?:tests|Results|bwMiB|bwMaxMIB|TestID|Began)"\s*:')
_CSV = re.compile(r"^\W*access,(?:bw\(|rank,).*$", re.MULTILINE)
_OPTIONS = {
    "access",
    "aggregate filesize",
    "api",
    "blocksize",
    "clients per node",
    "nodes",
    "repetitions",
    "segments",
    "tasks",
    "xfersize",
}
_PARAMETERS = {
    "API",
    "blockSize",
    "filePerProc",
    "numTasks",
    "segmentCount",
    "tasksPerNode",
    "transferSize",
}
_ACCESSES = {"write", "read"}


def is_json(text: str) -> bool:
    """Whether a text holds what IOR prints as JSON.

    Examples
    --------
    >>> is_json('{"tests": []}'), is_json("access    bw(MiB/s)")
    (True, False)
    """
    return _JSON.search(text) is not None


def read_json(text: str, *, file: str, version: str | None) -> list[Test]:
    """Return the tests of a run that was printed as JSON.

    Parameters
    ----------
    text : str
        With or without a banner, warnings and matching braces.
    file, version : str
        What the rows are to say; the JSON of version 4 says its own version.

    Examples
    --------
    >>> tests = read_json('"TestID": 0, "api": "POSIX" ] "access": "read", "bwMiB": 10.5', file="a", version=None)
    >>> tests[0].measured[0].rate_mib_s
    10.5
    """
    reader = _Pairs(file, version)
    for match in _PAIR.finditer(text):
        reader.pair(match[1], match[2] if match[2] is not None else match[3])
    reader.close()
    for line in text.splitlines():
        if '"' not in line[:2000]:
            reader.tests[-1].listen(line[:2000])
    return reader.tests


class _Pairs:
    """What is known from the pairs so far."""

    def __init__(self, file: str, version: str | None) -> None:
        self.file, self.version, self.command = file, version, Command()
        self.tests = [Test(file=file, version=version)]
        # Which record the pairs belong to, and what it holds so far.
        self.part = "options"
        self.record: dict[str, str] = {}
        self.numbers: dict[int, Test] = {}

    @property
    def test(self) -> Test:
        return self.tests[-1]

    def pair(self, name: str, value: str) -> None:
        """Take one pair."""
        if name in ("Command line", "Command line used"):
            self.close()
            if not self.test.empty:
                self.tests.append(Test(file=self.file, version=self.version))
                self.numbers = {}
            self.command = self.test.command = read_command(value)
            self.part = "options"
        elif name == "Version":
            self.version = self.test.version = f"IOR-{value}"
        elif name == "TestID" and self.part != "summary":
            self.close()
            if self.test.options or not self.test.empty:
                self.tests.append(Test(file=self.file, version=self.version, command=self.command))
            self.numbers[int(number(value) or 0)] = self.test
            self.part = "options"
        elif name in ("access", "operation") and (value in _ACCESSES or value == "remove"):
            self.close()
            self.part = "result" if name == "access" else "summary"
            self.record = {"access": value}
        elif name == "max":
            self.close()
        elif self.part == "options":
            self._option(name, value)
        else:
            # The first value counts: what follows a broken record is of the next one.
            self.record.setdefault(name, value)

    def _option(self, name: str, value: str) -> None:
        key = name if name in _PARAMETERS else name.lower()
        if key in _OPTIONS or key in _PARAMETERS:
            self.test.say(key, value)

    def close(self) -> None:
        """Keep the record that ends here."""
        record, access = self.record, self.record.get("access", "")
        self.record = {}
        if access not in _ACCESSES:
            return
        values: dict[str, float | None] = {name: number(word) for name, word in record.items()}
        if self.part == "result":
            done = sum(one.access == access for one in self.test.measured)
            rate = values.get("bwMiB")
            self.test.measured.append(
                Measured(
                    access=access,
                    rate_mib_s=rate if rate and rate > 0 else None,
                    seconds=values.get("totalTime"),
                    repetition=done,
                    block_bytes=_kib(values.get("blockKiB")),
                    transfer_bytes=_kib(values.get("xferKiB")),
                )
            )
            return
        test = self.numbers.get(int(values.get("TestID") or 0), self.test)
        rates = [rate if (rate := values.get(f"bw{name}MIB")) and rate > 0 else None for name in ("Max", "Min", "Mean")]
        test.summaries.setdefault(
            access,
            Statistics(
                access=access,
                highest_mib_s=rates[0],
                lowest_mib_s=rates[1],
                mean_mib_s=rates[2],
                seconds=values.get("MeanTime"),
            ),
        )
        for name in (*_PARAMETERS, "repetitions"):
            test.say(name, record.get(name, ""))


def is_csv(text: str) -> bool:
    """Whether a text holds the CSV of IOR 3.3 and later, or its rank details.

    Examples
    --------
    >>> is_csv("access,bw(MiB/s),IOPS"), is_csv("access    bw(MiB/s)")
    (True, False)
    """
    return _CSV.search(text) is not None


def read_csv(text: str, *, file: str, version: str | None) -> list[Test]:
    r"""Return the tests of a CSV file, by the names of its columns.

    Rates of rank details are in bytes a second, and those with opening and
    closing are taken: IOR's own rate counts both.

    Examples
    --------
    >>> text = "access,rank,runtime-with-openclose,runtime,throughput-withopenclose,throughput\nwrite,0,1,1,1048576,2097152"
    >>> read_csv(text, file="a", version=None)[0].measured[0].rate_mib_s
    1.0
    """
    test = Test(file=file, version=version)
    heading: list[str] = []
    for line in text.splitlines():
        cells = next(csv.reader([line[:2000].strip().lstrip("\ufeff")], strict=False), [])
        if len(cells) > 2 and cells[0] == "access":
            heading = cells
        elif heading and cells and cells[0].strip() in _ACCESSES and len(cells) >= 3:
            test.measured.append(_measured(dict(zip(heading, cells, strict=False)), test.measured))
        elif line.lstrip().startswith("Command line"):
            test.command = read_command(line[:2000].partition(":")[2])
        else:
            test.listen(line[:2000])
    return [test]


def _measured(row: dict[str, Any], before: Sequence[Measured]) -> Measured:
    """Return one row of a CSV file."""
    access = row["access"].strip()
    rank, repetition, tasks = (number(row.get(name, "")) for name in ("rank", "iter", "numTasks"))
    if rank is None:
        heading = next((name for name in row if name.startswith("bw(")), "")
        rate, seconds = number(row.get(heading, "")), number(row.get("total(s)", ""))
        rate = rate * rate_factor(heading) if rate else None
    else:
        rate, seconds = number(row.get("throughput-withopenclose", "")), number(row.get("runtime-with-openclose", ""))
        rate = rate / (1 << 20) if rate else None
    if rank is None and repetition is None:
        repetition = sum(one.access == access for one in before)
    return Measured(
        access=access,
        rate_mib_s=rate if rate and rate > 0 else None,
        seconds=seconds,
        repetition=None if repetition is None else int(repetition),
        block_bytes=_kib(number(row.get("block(KiB)", ""))),
        transfer_bytes=_kib(number(row.get("xfer(KiB)", ""))),
        tasks=int(tasks) if tasks and tasks > 0 else None,
        rank=None if rank is None else int(rank),
    )


def is_glued(text: str) -> bool:
    """Whether a text is the CSV of version 3.2: values without commas, and no rate among them.

    Examples
    --------
    >>> is_glued("Sat Nov 21 20263.2.1/src/ior -O summaryFormat=CSV -o xLinux vm0POSIXx")
    True
    """
    return "summaryFormat=CSV" in text and not is_csv(text) and "bw(" not in text


def read_glued(text: str, *, file: str, version: str | None) -> list[Test]:
    """Return what can be told of a run whose CSV has no commas: what was asked, and that there are no rates.

    Examples
    --------
    >>> text = "3.2.1/src/ior -a POSIX -F -b 4m -O summaryFormat=CSV -o xLinux vm0POSIXxfile-per-process4421 MiB"
    >>> read_glued(text, file="a", version="IOR-3.2.1")[0].rows()[0].status
    'no-rates'
    """
    line = next(line for line in text.splitlines() if "summaryFormat=CSV" in line)
    test = Test(file=file, version=version, command=read_command(line))
    for name in ("file-per-process", "single-shared-file"):
        if name in line:
            test.say("access", name)
    test.no_rates = "this version writes its CSV without commas and without rates; ask for summaryFormat=JSON"
    for other in text.splitlines():
        test.listen(other[:2000])
    return [test]


def _kib(size: float | None) -> int | None:
    """Return a size in KiB as bytes; None for none."""
    return round(size * 1024) if size else None
