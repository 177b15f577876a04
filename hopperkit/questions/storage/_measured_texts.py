"""Measurements of a file system in benchmark outputs and in Darshan logs in text form."""

import re
from collections.abc import Iterable, Iterator, Mapping

from hopperkit.filesystems.measured import Measurement, lock_cost_s
from hopperkit.iologs.darshan_log import DarshanLog
from hopperkit.questions.storage.io_log import read_texts
from hopperkit.readers.ior.io500 import Io500
from hopperkit.readers.ior.results import IoResult
from hopperlib.units import BYTES_PER_MIB

_GIB_PER_GB = 2**30 / 1e9
# How IO500 scripts stripe the shared file of small blocks.
_OBJECTS = re.compile(
    r"^[^#\n]*setstripe\b(?:(?!mdt)[^\n])*?(?:-C|-c|--stripe-count)[ =](\d+)\b[^\n]*hard", re.MULTILINE
)
# Measurements, in the form of `written`.
_WRITTEN = re.compile(r"^hopper measured (ost) (\S+) GB/s$", re.MULTILINE)
# A shorter time of a file is lost in rounding and caches. [s]
_LEAST_S = 1.0


def measurements(texts: Mapping[str, str]) -> Iterator[Measurement]:
    """Yield the measurements in texts: IO500, IOR, mdtest, and Darshan logs as darshan-parser prints them.

    Examples
    --------
    >>> summary = '''[RESULT]       ior-easy-write        4.0 GiB/s : time 300.5 seconds
    ... [RESULT]    mdtest-hard-write       50.0 kIOPS : time 300.5 seconds'''
    >>> [(each.quantity, round(each.value, 3)) for each in measurements({"result_summary.txt": summary})]
    [('write', 4.295), ('creates', 50000.0)]
    """
    for text in texts.values():
        yield from (Measurement(found[1], float(found[2])) for found in _WRITTEN.finditer(text))
    runs, rows, logs, _ = read_texts(texts)
    nodes = {row.nodes for row in rows if row.nodes}
    for run in runs:
        yield from _of_io500(run, texts, nodes.pop() if len(nodes) == 1 else None)
    if not runs:
        for row in rows:
            yield from _of_row(row)
    for _, log in logs:
        yield from of_log(log)


def _of_row(row: IoResult) -> Iterator[Measurement]:
    """Yield the rate of a row of IOR, or of mdtest."""
    if row.status != "ok" or row.rank is not None:
        return
    if row.access == "write" and row.rate_mib_s:
        yield Measurement("write", row.rate_mib_s * BYTES_PER_MIB / 1e9, row.nodes)
    if row.operations_s and "creation" in (row.access or "").lower():
        yield Measurement("creates", row.operations_s)


def _of_io500(run: Io500, texts: Mapping[str, str], nodes: int | None) -> Iterator[Measurement]:
    """Yield the rates of an IO500 run; of lock costs if an accompanying script sets the objects."""
    rates = {phase.name.replace("_", "-"): phase.value for phase in run.phases}
    easy, hard = rates.get("ior-easy-write"), rates.get("ior-hard-write")
    if easy:
        yield Measurement("write", easy * _GIB_PER_GB, nodes)
    if creates := rates.get("mdtest-hard-write"):
        yield Measurement("creates", 1000 * creates)
    stated = [int(match[1]) for text in texts.values() for match in _OBJECTS.finditer(text)]
    if easy and hard and hard < easy and stated and stated[-1] > 1:
        yield Measurement("lock", lock_cost_s(easy, hard, stated[-1]))


def of_log(log: DarshanLog) -> Iterator[Measurement]:
    """Yield a lower bound of the write rate per OST for each striped file in a Darshan log."""
    for file in log.files:
        seconds = file.slowest_s or file.write_s
        if file.layout and file.layout.stripe_count > 0 and file.bytes_written and seconds >= _LEAST_S:
            yield Measurement("ost", file.bytes_written / 1e9 / seconds / file.layout.stripe_count)


def written(measured: Iterable[Measurement]) -> str:
    """Return a log's measurements of OSTs as a text that `measurements` reads.

    Examples
    --------
    >>> list(measurements({"a": written([Measurement("ost", 0.5)])}))
    [Measurement(quantity='ost', value=0.5, nodes=None)]
    """
    return "".join(f"hopper measured {each.quantity} {each.value!r} GB/s\n" for each in measured)
