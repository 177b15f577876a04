"""What one test of IOR was asked for and what came out, gathered from any format; then as rows.

IOR calls it a test: one set of options, so many repetitions. A file may hold
several, from one run or from many.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hopperlib.readers.io_results import IoResult, Status
from hopperlib.readers.ior.tokens import Command, binary_size, count, error_in, number

__all__ = ["Measured", "Statistics", "Test"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One repetition of one access."""

    access: str
    rate_mib_s: float | None
    seconds: float | None
    repetition: int | None = None
    block_bytes: int | None = None
    transfer_bytes: int | None = None
    tasks: int | None = None
    rank: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """All repetitions of one access, in a summary. Rates in MiB/s; `seconds` is the mean."""

    access: str
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
    command: Command = field(default_factory=Command)
    options: dict[str, str] = field(default_factory=dict)
    measured: list[Measured] = field(default_factory=list)
    summaries: dict[str, Statistics] = field(default_factory=dict)
    maxima: dict[str, float] = field(default_factory=dict)
    errors: list[tuple[bool, str]] = field(default_factory=list)
    no_rates: str = ""

    def say(self, key: str, value: str) -> None:
        """Keep what an option is, as the first place says it."""
        if value.strip():
            self.options.setdefault(key, value.strip())

    def listen(self, line: str) -> None:
        """Keep what a line says of an error."""
        error = error_in(line) if len(self.errors) < 50 else None
        if error is not None:
            self.errors.append(error)

    @property
    def empty(self) -> bool:
        """Whether nothing came out so far."""
        return not (self.measured or self.summaries or self.maxima)

    def _count(self, *keys: str) -> int | None:
        return next((found for key in keys if (found := count(self.options.get(key, "")))), None)

    def _size(self, *keys: str) -> int | None:
        return next((found for key in keys if (found := binary_size(self.options.get(key, "")))), None)

    @property
    def repetitions(self) -> int | None:
        """How often each access was to be repeated."""
        return self._count("repetitions", "reps") or self.command.repetitions

    @property
    def file_type(self) -> str | None:
        """Whether the tasks share a file."""
        words = self.options.get("access", "")
        for mark, name in (("file-per-process", "file per process"), ("single-shared-file", "shared")):
            if mark in words:
                return name
        flag = number(self.options.get("filePerProc", self.options.get("fPP", "")))
        if flag is not None:
            return "file per process" if flag else "shared"
        return "file per process" if self.command.file_per_process else None

    @property
    def segments(self) -> int | None:
        """Segments of a file: said, or what makes the aggregate size out of blocks and tasks."""
        said = self._count("segments", "segmentCount", "segcnt") or self.command.segments
        if said:
            return said
        whole, block, tasks = self._size("aggregate filesize"), self._block, self._count("tasks", "numTasks", "#Tasks")
        if not (whole and block and tasks):
            return None
        exact = whole / (block * tasks)
        # The aggregate is printed with two decimals, so it is off by half a percent at most.
        nearest = round(exact)
        return nearest if 1 <= nearest < 100 and abs(exact - nearest) <= 0.005 * nearest else None

    @property
    def _block(self) -> int | None:
        return self._size("blocksize", "blockSize", "blksiz") or self.command.block_bytes

    def _status(self) -> tuple[Status, str | None]:
        """Return how the test ended, and why."""
        said = list(dict.fromkeys(words for _, words in self.errors if words))
        reason = ": ".join(said[:2]) or "an error without a message"
        if any(hard for hard, _ in self.errors):
            return "failed", reason
        if self.no_rates:
            return "no-rates", self.no_rates
        if self.empty:
            return ("failed", reason) if self.errors else ("incomplete", "the output ends before the first result")
        if any(one.rate_mib_s is None for one in self.measured):
            return "incomplete", "a rate is printed as zero or as no number"
        missing = self._missing()
        return ("incomplete", missing) if missing else ("ok", None)

    def _missing(self) -> str:
        """Say what was asked for and is not there; empty if nothing."""
        if any(one.rank is not None for one in self.measured):
            return ""
        seen = {one.access for one in self.measured} | set(self.summaries) | set(self.maxima)
        for access in self.command.accesses or ():
            if access not in seen:
                return f"no {access} result, and the command line asks for one"
        for access in sorted(seen - set(self.summaries)):
            got, asked = sum(one.access == access for one in self.measured), self.repetitions
            if asked and got and got < asked:
                return f"{got} of {asked} {access} repetitions"
        return ""

    def rows(self) -> list[IoResult]:
        """Return the test as rows: one a repetition; of a file with statistics only, one a statistic."""
        status, reason = self._status()
        tasks = self._count("tasks", "numTasks", "#Tasks", "clients", "participating tasks")
        per_node = self._count("clients per node", "tasksPerNode", "tPN")
        nodes = self._count("nodes") or (-(-tasks // per_node) if tasks and per_node else None)
        api = self.options.get("api") or self.options.get("API") or self.command.api
        block, transfer = self._block, self._size("xfersize", "transferSize", "xsize") or self.command.transfer_bytes

        def row(
            access: str | None,
            rate_mib_s: float | None,
            seconds: float | None,
            repetition: int | None,
            statistic: str | None = None,
            one: Measured | None = None,
        ) -> IoResult:
            return IoResult(
                file=self.file,
                status=status,
                version=self.version,
                api=api.split()[0].rstrip(",") if api else None,
                access=access,
                type=self.file_type,
                tasks=tasks or (one.tasks if one else None),
                nodes=nodes,
                tasks_per_node=per_node,
                block_bytes=block or (one.block_bytes if one else None),
                transfer_bytes=transfer or (one.transfer_bytes if one else None),
                segments=self.segments,
                repetition=repetition,
                rate_mib_s=rate_mib_s,
                seconds=seconds,
                statistic=statistic,
                rank=one.rank if one else None,
                reason=reason,
            )

        rows = [row(one.access, one.rate_mib_s, one.seconds, one.repetition, None, one) for one in self.measured]
        single = {one.access for one in self.measured}
        for access, summary in self.summaries.items():
            if access in single:
                continue
            if self.repetitions == 1:
                rows.append(row(access, summary.highest_mib_s, summary.seconds, 0))
                continue
            rows.append(row(access, summary.highest_mib_s, None, None, "max"))
            rows.append(row(access, summary.lowest_mib_s, None, None, "min"))
            rows.append(row(access, summary.mean_mib_s, summary.seconds, None, "mean"))
        for access, rate in self.maxima.items():
            if access not in single and access not in self.summaries:
                rows.append(row(access, rate, None, None, "max"))
        return rows or [row(None, None, None, None)]
