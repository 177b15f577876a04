"""JSON and CSV of IOR, valid or not.

Version 3.2 prints unbalanced braces, and every version mixes plain lines into its JSON in verbose mode. The JSON is
therefore not parsed as JSON: its name-value pairs are read in order, and the names show which part each pair belongs
to.
"""

import csv
import re

from hopperkit.readers.ior._runs import ACCESSES, Statistics, Test, Tests
from hopperkit.readers.ior.tokens import Marks, number, rate_factor, read_command
from hopperlib.units import BYTES_PER_MIB

_PAIR = re.compile(r'"([^"\n]{1,60})"\s{0,20}:\s{0,20}(?:"((?:[^"\\\n]|\\.)*)"|([^\s,{}\[\]"]{1,40}))')
_JSON_NAMES = ("tests", "Results", "bwMiB", "bwMaxMIB", "TestID", "Began")
_JSON = Marks(rf'"(?:{"|".join(_JSON_NAMES)})"\s*:', needs=tuple(f'"{name}"' for name in _JSON_NAMES))
_CSV = Marks(r"^\W*access,(?:bw\(|rank,).*$", needs=("access,bw(", "access,rank,"))
# Columns of the text table, and their names in the JSON.
_COLUMNS = {"total(s)": "totalTime", "block(KiB)": "blockKiB", "xfer(KiB)": "xferKiB"}
# Of the options in a summary, only these are reliable.
_SIZES = ("blockSize", "transferSize")
_PARAMETERS = ("API", "filePerProc", "numTasks", "segmentCount", "tasksPerNode", "repetitions", *_SIZES)


def is_json(text: str) -> bool:
    """Whether a text contains IOR's JSON."""
    return _JSON.search(text) is not None


def read_json(text: str, *, file: str, version: str | None) -> list[Test]:
    """Return the tests of a run printed as JSON, even with warnings or unbalanced braces."""
    reader = _Pairs(file, version)
    for match in _PAIR.finditer(text):
        reader.pair(match[1], match[2] if match[2] is not None else match[3])
    reader.close()
    for line in text.splitlines():
        if '"' not in line[:2000]:
            reader.tests[-1].listen(line)
    return reader.tests


class _Pairs(Tests):
    """State after the pairs read so far."""

    def __init__(self, file: str, version: str | None) -> None:
        super().__init__(file, version)
        # The current record, and its contents.
        self.part = "options"
        self.record: dict[str, str] = {}
        self.numbers: dict[int, Test] = {}

    def pair(self, name: str, value: str) -> None:
        """Process one pair."""
        if name in ("Command line", "Command line used"):
            self.close()
            if not self.test.empty:
                self.begin()
                self.numbers = {}
            self.test.command = read_command(value)
            self.part = "options"
        elif name == "Version":
            self.version = self.test.version = f"IOR-{value}"
        elif name == "TestID" and self.part != "summary":
            self.close()
            if self.test.options or not self.test.empty:
                self.begin(self.test.command)
            self.numbers[int(number(value) or 0)] = self.test
            self.part = "options"
        elif name in ("access", "operation") and value in (*ACCESSES, "remove"):
            self.close()
            self.part = "result" if name == "access" else "summary"
            self.record = {"access": value}
        elif name == "max":
            self.close()
        elif self.part == "options":
            self.test.say(name, value)
        else:
            # The first value counts: later ones belong to the record after a broken one.
            self.record.setdefault(name, value)

    def close(self) -> None:
        """Store the record that ends here."""
        record, access = self.record, self.record.get("access", "")
        self.record = {}
        if access not in ACCESSES:
            return

        def read(name: str) -> float | None:
            return number(record.get(name, ""))

        if self.part == "result":
            row = {column: record.get(name, "") for column, name in _COLUMNS.items()}
            self.test.measure(access, read("bwMiB"), row)
            return
        test = self.numbers.get(int(read("TestID") or 0), self.test)
        highest, lowest, mean = (read(f"bw{name}MIB") or None for name in ("Max", "Min", "Mean"))
        test.summaries.setdefault(access, Statistics(highest, lowest, mean, read("MeanTime")))
        for name in _PARAMETERS:
            test.say(name, record.get(name, ""))


def is_csv(text: str) -> bool:
    """Whether a text contains the CSV of IOR 3.3 and later, or its rank details."""
    return _CSV.search(text) is not None


def read_csv(text: str, *, file: str, version: str | None) -> list[Test]:
    """Return the tests of a CSV file, by the names of its columns."""
    test = Test(file=file, version=version)
    heading: list[str] = []
    for line in text.splitlines():
        cells = next(csv.reader([line[:2000].strip().lstrip("\ufeff")], strict=False), [])
        if len(cells) > 2 and cells[0] == "access":
            heading = cells
        elif heading and cells and cells[0].strip() in ACCESSES and len(cells) >= 3:
            _measure(test, cells[0].strip(), dict(zip(heading, cells, strict=False)))
        elif line.lstrip().startswith("Command line"):
            test.command = read_command(line[:2000].partition(":")[2])
        else:
            test.listen(line)
    return [test]


def _measure(test: Test, access: str, row: dict[str, str]) -> None:
    """Store one row of a CSV file."""
    rank = number(row.get("rank", ""))
    if rank is None:
        heading = next((name for name in row if name.startswith("bw(")), "")
        test.measure(access, (number(row.get(heading, "")) or 0) * rate_factor(heading), row)
        return
    # Rates of rank details are in bytes per second; those including open and close are used, as IOR's rate includes
    # both.
    row["total(s)"] = row.get("runtime-with-openclose", "")
    rate = (number(row.get("throughput-withopenclose", "")) or 0) / BYTES_PER_MIB
    test.measure(access, rate, row, rank=int(rank))


def is_glued(text: str) -> bool:
    """Whether a text is the CSV of version 3.2: values without commas, and without rates."""
    return "summaryFormat=CSV" in text and not is_csv(text) and "bw(" not in text


def read_glued(text: str, *, file: str, version: str | None) -> list[Test]:
    """Return the usable data of a run with CSV that lacks commas: its request, without rates."""
    line = next(line for line in text.splitlines() if "summaryFormat=CSV" in line)
    test = Test(file=file, version=version, command=read_command(line))
    for name in ("file-per-process", "single-shared-file"):
        if name in line:
            test.say("access", name)
    test.no_rates = "this version writes its CSV without commas and without rates; use summaryFormat=JSON"
    for other in text.splitlines():
        test.listen(other)
    return [test]
