"""The file system used for advice on a log: that of a machine file, or the one in the log."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from hopperkit.filesystems.stripe_advice import Advice, advise
from hopperkit.iologs._judging.access import WAYS, folder_of
from hopperkit.iologs.darshan_log import DarshanLog, FileRecord
from hopperkit.iologs.ost_rates import judge_osts
from hopperlib.machine import FileSystem
from hopperlib.units import BYTES_PER_MIB

# Minimum rate of an OST if the log does not show it.
_OST_GB_S = 0.5
_UNKNOWN_CAPACITY_PB = 10_000.0
_OF_LOG = "log"
_COUNT_THEM = ". The log names only some of the OSTs: lfs df lists all, and hopper stripe --lfs-df uses its output"


def system_of_log(log: DarshanLog) -> FileSystem | None:
    """Return the Lustre file system in a log: its OSTs, the rate of one, the layout of its files; None if there is
    none.

    Logs do not contain the rate of a node: it is not limited here.

    Examples
    --------
    >>> from hopperkit.iologs.darshan_log import StripeLayout
    >>> file = FileRecord(path="/a", layout=StripeLayout(stripe_count=2, stripe_size_bytes=1 << 20, osts=(7, 11)))
    >>> log = DarshanLog(executable=None, job_id=1, tasks=4, run_time_s=9.0, modules=(), files=(file,), osts=48)
    >>> system_of_log(log).osts, system_of_log(log).default_stripe_count
    (48, 2)
    """
    layouts = Counter(file.layout for file in log.files if file.layout)
    if not layouts:
        return None
    known = [ost for file in log.files for ost in file.osts]
    usual = layouts.most_common(1)[0][0]
    osts = log.osts or max([*known, usual.stripe_count - 1]) + 1
    peak = osts * (_best_ost_gb_s(log) or _OST_GB_S)
    # Parameters missing from logs are set to impose no limit: one server per OST, and nodes as fast as all OSTs
    # together.
    return FileSystem(
        name=_OF_LOG,
        kind="lustre",
        osts=osts,
        osts_per_oss=1,
        peak_gb_s=peak,
        capacity_pb=_UNKNOWN_CAPACITY_PB,
        default_stripe_count=min(usual.stripe_count, osts),
        default_stripe_size_bytes=usual.stripe_size_bytes or BYTES_PER_MIB,
        max_stripe_count=min(osts, 2000),
        node_write_ceiling_gb_s=peak,
    )


def _best_ost_gb_s(log: DarshanLog) -> float:
    """Return the best rate of an OST; 0 if the log does not show it. [GB/s]"""
    rates = [rate.delivered_mb_s or rate.rate_mb_s for way in WAYS for rate in judge_osts(log, way).rates]
    if not rates:
        # If the OSTs cannot be separated, each served an equal part of a file's data.
        parts = [(file.moved(way), len(file.osts)) for file in log.files for way in WAYS if file.osts]
        rates = [moved.moved_bytes / moved.time_s / over / 1e6 for moved, over in parts if moved.time_s]
    return max(rates, default=0.0) / 1000


class Site(NamedTuple):
    """A log, and the file system for advice, if known."""

    log: DarshanLog
    system: FileSystem | None
    cores: int

    def striping(self, files: Sequence[FileRecord], pattern: str, size_bytes: int) -> Advice | None:
        """Return the recommended striping for these files; None if striping does not apply."""
        if self.system is None:
            return None
        tasks = self.log.tasks or max((file.tasks for file in files), default=1)
        folder = folder_of(files)
        better = advise(max(size_bytes, 1), tasks, pattern, self.system, cores_per_node=self.cores, directory=folder)
        if not self.some_osts:
            return better
        # -1 would mean all OSTs, but the log names only some.
        layout = replace(better.layout, osts=better.layout.osts + 1)
        return replace(better, commands=(layout.lfs_command(folder),))

    @property
    def some_osts(self) -> bool:
        """Whether the log names the OSTs of its files but not their number in the file system."""
        return self.system is not None and self.system.name == _OF_LOG and not self.log.osts


def commands_of(site: Site, advice: Advice) -> str:
    """Return the commands of an advice on striping."""
    # Hints only affect programs that write through MPI-IO.
    hints = [advice.hints_line] if advice.hints_line and "MPI-IO" in site.log.modules else []
    commands = "; ".join((*advice.commands, *hints))
    return commands + _COUNT_THEM * site.some_osts
