"""Collect the request and results of one IOR test from any format, and convert them to rows. A test, in IOR's terms, is
one set of options with its repetitions. A file may hold several, from one run or from many.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from hopperkit.readers.ior.results import IoResult, Status
from hopperkit.readers.ior.tokens import binary_size, count, error_in, number, worst
from hopperlib.units import BYTES_PER_MIB

ACCESSES = ("write", "read")
# Names of each option across versions and formats of IOR, in order of precedence.
_OPTIONS = {
    "api": ("api", "API"),
    "access": ("access",),
    "files": ("filePerProc", "fPP"),
    "aggregate": ("aggregate filesize",),
    "block": ("blocksize", "blockSize", "blksiz"),
    "transfer": ("xfersize", "transferSize", "xsize"),
    "segments": ("segments", "segmentCount", "segcnt"),
    "repetitions": ("repetitions", "reps"),
    "nodes": ("nodes",),
    "tasks": ("tasks", "numTasks", "#Tasks", "participating tasks"),
    "tasks_per_node": ("clients per node", "tasksPerNode", "tPN"),
    "stonewall": ("stonewallingTime", "stoneWallingWearOut"),
}
# Those that are sizes, read in binary units.
_SIZES = ("aggregate", "block", "transfer")
_KNOWN = {name for names in _OPTIONS.values() for name in names}
# Tolerance of a size printed by IOR.
_ROUNDED = 0.01
# Longest line that is parsed: IOR writes no longer ones.
LONGEST_LINE = 2000


class Statistics(NamedTuple):
    """Summary of all repetitions of one access. Rates in MiB/s; `seconds` is the mean."""

    highest_mib_s: float | None
    lowest_mib_s: float | None
    mean_mib_s: float | None
    seconds: float | None


@dataclass(slots=True, kw_only=True)
class Test:
    """A test while it is being read."""

    # Tells pytest that this is not a test class.
    __test__ = False

    file: str
    version: str | None = None
    command: dict[str, Any] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    measured: list[IoResult] = field(default_factory=list)
    summaries: dict[str, Statistics] = field(default_factory=dict)
    maxima: dict[str, float] = field(default_factory=dict)
    errors: list[tuple[bool, str]] = field(default_factory=list)
    no_rates: str = ""
    # Bytes of the next result, if IOR reports that they differ from the plan. [bytes]
    moved_bytes: int | None = None

    def say(self, name: str, value: str) -> bool:
        """Store an option's first value; return whether the name is an option."""
        name = name if name in _KNOWN else name.lower()
        if name in _KNOWN and value.strip():
            self.options.setdefault(name, value.strip())
        return name in _KNOWN

    def measure(
        self,
        access: str,
        rate_mib_s: float | None,
        row: Mapping[str, str],
        rank: int | None = None,
        unit: str | None = None,
    ) -> None:
        """Store one result from a row with the columns of IOR's table; a row without a number is the next repetition."""
        repetition = number(row.get("iter", ""))
        if repetition is None and rank is None:
            repetition = sum(result.access == access for result in self.measured)
        sizes = {"block_bytes": number(row.get("block(KiB)", "")), "transfer_bytes": number(row.get("xfer(KiB)", ""))}
        fields: dict[str, Any] = {name: round(size * 1024) for name, size in sizes.items() if size}
        fields |= {"rate_mib_s": rate_mib_s or None, "seconds": number(row.get("total(s)", ""))}
        place = None if repetition is None else int(repetition)
        fields |= {"repetition": place, "tasks": count(row.get("numTasks", "")), "moved_bytes": self.moved_bytes}
        self.moved_bytes = None
        self.measured.append(IoResult(file=self.file, access=access, rank=rank, unit=unit, **fields))

    def listen(self, line: str) -> None:
        """Store an error reported on a line."""
        error = error_in(line[:LONGEST_LINE]) if len(self.errors) < 50 else None
        if error is not None:
            self.errors.append(error)

    @property
    def empty(self) -> bool:
        """Whether there are no results yet."""
        return not (self.measured or self.summaries or self.maxima)

    def _said(self, option: str) -> list[str]:
        """Return an option's value, under any of its names."""
        return [self.options[name] for name in _OPTIONS[option] if name in self.options]

    def _number(self, option: str) -> int | None:
        """Return an option as a count, or as a size in bytes, from the output or the command line."""
        read = binary_size if option in _SIZES else count
        value = next(filter(None, map(read, self._said(option))), None)
        requested: int | None = self.command.get(option)
        # IOR prints sizes with two decimals; the command line has the exact value.
        return requested if value and requested and abs(requested - value) <= _ROUNDED * value else value or requested

    @property
    def _file_type(self) -> str | None:
        """Whether the tasks share a file."""
        words = self.options.get("access", "")
        flag = number(next(iter(self._said("files")), ""))
        if "file-per-process" in words:
            return "file per process"
        if "single-shared-file" in words or flag == 0:
            return "shared"
        return "file per process" if flag or (flag is None and self.command.get("files")) else None

    @property
    def segments(self) -> int | None:
        """Return the segments of a file, as printed or derived from aggregate size, blocks and tasks."""
        count = self._number("segments")
        if count:
            return count
        whole, block, tasks = map(self._number, ("aggregate", "block", "tasks"))
        if not (whole and block and tasks):
            return None
        exact = whole / (block * tasks)
        # The aggregate size is printed with two decimals, so it is off by at most half a percent.
        nearest = round(exact)
        return nearest if 1 <= nearest < 100 and abs(exact - nearest) <= 0.005 * nearest else None

    def _status(self) -> tuple[Status, str | None]:
        """Return the final status of the test, with the reason."""
        hard, reason = worst(self.errors)
        # Fatal errors take precedence; another error counts if there are no results.
        if hard or (self.errors and self.empty and not self.no_rates):
            return "failed", reason
        if self.no_rates:
            return "no-rates", self.no_rates
        if self.empty:
            return "incomplete", "the output ends before the first result"
        if any(result.rate_mib_s is None for result in self.measured):
            return "incomplete", "a rate is printed as zero or is not a number"
        missing = self._missing()
        return ("incomplete", missing) if missing else ("ok", None)

    def _missing(self) -> str:
        """Return which requested results are missing; empty if none."""
        # Rank details are not repetitions, so no more of them are expected.
        if any(result.rank is not None for result in self.measured):
            return ""
        got = [result.access for result in self.measured if result.access]
        seen = {*got, *self.summaries, *self.maxima}
        for access in self.command.get("accesses") or ():
            if access not in seen:
                return f"no {access} result, although the command line requests one"
        requested = self._number("repetitions") or 0
        for access in sorted(set(got) - set(self.summaries)):
            if got.count(access) < requested:
                return f"{got.count(access)} of {requested} {access} repetitions"
        return ""

    def _results(self) -> list[IoResult]:
        """Return the results: single repetitions, or an access's statistics if it has no repetitions."""
        results = list(self.measured)
        single = {result.access for result in results}
        blank = IoResult(file=self.file)
        for access, summary in self.summaries.items():
            if access in single:
                continue
            highest, lowest, mean = (
                replace(blank, access=access, rate_mib_s=rate, statistic=name)
                for name, rate in zip(("max", "min", "mean"), summary[:3], strict=True)
            )
            if self._number("repetitions") == 1:
                results.append(replace(highest, statistic=None, repetition=0, seconds=summary.seconds))
            else:
                results += [highest, lowest, replace(mean, seconds=summary.seconds)]
        for access, rate in self.maxima.items():
            if access not in single and access not in self.summaries:
                results.append(replace(blank, access=access, rate_mib_s=rate, statistic="max"))
        return results or [blank]

    def rows(self) -> list[IoResult]:
        """Return the test as rows: one per repetition or, if a file has only statistics, one per statistic."""
        status, reason = self._status()
        api = (*self._said("api"), self.command.get("api") or "")[0]
        run: dict[str, Any] = {"status": status, "reason": reason, "version": self.version, "type": self._file_type}
        run["flags"] = self.command.get("flags")
        run |= {"api": api.split()[0].rstrip(",") if api else None, **self._size()}
        rows = [replace(result, **run) for result in self._results()]
        block, tasks = self._number("block"), self._number("tasks")
        if not (block and tasks and self._number("stonewall")):
            return rows
        planned = block * tasks * (self.segments or 1)
        return [
            replace(row, planned_bytes=planned, moved_bytes=row.moved_bytes or _moved(row)) if row.rank is None else row
            for row in rows
        ]

    def _size(self) -> dict[str, int | None]:
        """Return the known sizes of the run."""
        tasks, per_node, nodes = map(self._number, ("tasks", "tasks_per_node", "nodes"))
        sizes = {"tasks": tasks, "block_bytes": self._number("block"), "transfer_bytes": self._number("transfer")}
        nodes = nodes or (-(-tasks // per_node) if tasks and per_node else None)
        known = {name: value for name, value in sizes.items() if value}
        return known | {"nodes": nodes, "tasks_per_node": per_node, "segments": self.segments}


def _moved(result: IoResult) -> int | None:
    """Return the bytes that a result moved, from its rate and time. [bytes]"""
    return round(result.rate_mib_s * result.seconds * BYTES_PER_MIB) if result.rate_mib_s and result.seconds else None


class Tests:
    """The tests of one run while it is being read; the last one is current."""

    # As above.
    __test__ = False

    def __init__(self, file: str, version: str | None) -> None:
        self.file, self.version = file, version
        self.tests = [Test(file=file, version=version)]

    @property
    def test(self) -> Test:
        """The current test."""
        return self.tests[-1]

    def begin(self, command: dict[str, Any] | None = None) -> None:
        """Begin the next test, with the same command line unless another is given."""
        self.tests.append(Test(file=self.file, version=self.version, command=command or {}))
