"""Request and results of one IOR test, collected from any format; then as rows.

IOR calls it a test: one set of options, that many repetitions. A file may hold
several, from one run or from many.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from hopperkit.readers.ior.results import IoResult, Status
from hopperkit.readers.ior.tokens import binary_size, count, error_in, number, worst
from hopperlib.units import BYTES_PER_MIB

ACCESSES = ("write", "read")
# Names of an option in versions and formats of IOR, in order of precedence.
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
# Of these, sizes are read in binary units.
_SIZES = ("aggregate", "block", "transfer")
_KNOWN = {name for names in _OPTIONS.values() for name in names}
# Tolerance of a size printed by IOR.
_ROUNDED = 0.01
# Longest line that is looked at: IOR writes none that is longer.
LONGEST_LINE = 2000


class Statistics(NamedTuple):
    """All repetitions of one access, in a summary. Rates in MiB/s; `seconds` is the mean."""

    highest_mib_s: float | None
    lowest_mib_s: float | None
    mean_mib_s: float | None
    seconds: float | None


@dataclass(slots=True, kw_only=True)
class Test:
    """A test while it is being read."""

    # Not a class of tests, for those who collect them by name.
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
        """Keep one result, from a row with the columns of IOR's table; without a number it is the next repetition."""
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
        """Store an error reported in a line."""
        error = error_in(line[:LONGEST_LINE]) if len(self.errors) < 50 else None
        if error is not None:
            self.errors.append(error)

    @property
    def empty(self) -> bool:
        """Whether there are no results."""
        return not (self.measured or self.summaries or self.maxima)

    def _said(self, option: str) -> list[str]:
        """Return an option's value, under any of its names."""
        return [self.options[name] for name in _OPTIONS[option] if name in self.options]

    def _number(self, option: str) -> int | None:
        """Return an option as a count or a size in bytes, from the output or the command."""
        read = binary_size if option in _SIZES else count
        said = next(filter(None, map(read, self._said(option))), None)
        asked: int | None = self.command.get(option)
        # IOR prints a size with two decimals of a unit; the command line has all of it.
        return asked if said and asked and abs(asked - said) <= _ROUNDED * said else said or asked

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
        """Segments of a file: as printed, or derived from aggregate size, blocks and tasks."""
        said = self._number("segments")
        if said:
            return said
        whole, block, tasks = map(self._number, ("aggregate", "block", "tasks"))
        if not (whole and block and tasks):
            return None
        exact = whole / (block * tasks)
        # The aggregate is printed with two decimals, so it is off by half a percent at most.
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
            return "incomplete", "a rate is printed as zero or as no number"
        missing = self._missing()
        return ("incomplete", missing) if missing else ("ok", None)

    def _missing(self) -> str:
        """Return which requested results are missing; empty if none."""
        # Rank details are not repetitions, of which more would be expected.
        if any(result.rank is not None for result in self.measured):
            return ""
        got = [result.access for result in self.measured if result.access]
        seen = {*got, *self.summaries, *self.maxima}
        for access in self.command.get("accesses") or ():
            if access not in seen:
                return f"no {access} result, and the command line asks for one"
        asked = self._number("repetitions") or 0
        for access in sorted(set(got) - set(self.summaries)):
            if got.count(access) < asked:
                return f"{got.count(access)} of {asked} {access} repetitions"
        return ""

    def _results(self) -> list[IoResult]:
        """Return the results: single repetitions, or statistics of an access without them."""
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
        """Return the test as rows: one a repetition; of a file with statistics only, one a statistic."""
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
        """Return the size of the run, as far as known."""
        tasks, per_node, nodes = map(self._number, ("tasks", "tasks_per_node", "nodes"))
        sizes = {"tasks": tasks, "block_bytes": self._number("block"), "transfer_bytes": self._number("transfer")}
        nodes = nodes or (-(-tasks // per_node) if tasks and per_node else None)
        told = {name: value for name, value in sizes.items() if value}
        return told | {"nodes": nodes, "tasks_per_node": per_node, "segments": self.segments}


def _moved(result: IoResult) -> int | None:
    """Return the bytes moved by a result, from its rate and time. [bytes]"""
    return round(result.rate_mib_s * result.seconds * BYTES_PER_MIB) if result.rate_mib_s and result.seconds else None


class Tests:
    """The tests of one run while they are being read; the last is the one that is read now."""

    # As above.
    __test__ = False

    def __init__(self, file: str, version: str | None) -> None:
        self.file, self.version = file, version
        self.tests = [Test(file=file, version=version)]

    @property
    def test(self) -> Test:
        """The test that is read now."""
        return self.tests[-1]

    def begin(self, command: dict[str, Any] | None = None) -> None:
        """Begin the next test, of the same command where one is given."""
        self.tests.append(Test(file=self.file, version=self.version, command=command or {}))
