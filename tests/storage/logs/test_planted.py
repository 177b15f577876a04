"""Programs with one known I/O problem: it is named first, healthy programs have no findings, and repairs gain the predicted
time.
"""

import io
import lzma
import tarfile
from functools import cache
from pathlib import Path

import pytest

from hopperkit.iologs.cost import cost_of
from hopperkit.iologs.darshan_findings import findings, looked_for
from hopperkit.readers.darshan import read_darshan_text

FOLDER = Path(__file__).parent / "planted"
RUN_S = 600.0

# The problem of each program, by code.
PLANTED = {
    "allreadsame": "all-read-same",
    "backward": "random-writes",
    "fdatasync": "fsync",
    "fsync": "fsync",
    "h5many": "small-datasets",
    "h5manyshared": "small-datasets",
    "imbalance": "imbalance",
    "imbckpt": "imbalance",
    "imbshared": "imbalance",
    "metastorm": "small-files",
    "mpicoll": "waiting",
    "mpicollsmall": "not-gathered",
    "mpiindep": "independent-writes",
    "mpinogather": "not-gathered",
    "onedir": "small-files",
    "onefileperstep": "small-files",
    "onerank": "one-writer",
    "overwrite": "overwrites",
    "pagecache": "cached-reads",
    "randread": "random-reads",
    "readafterwrite": "cached-reads",
    "reopen": "reopen",
    "reread": "rereads",
    "rmw": "read-modify-write",
    "seekstorm": "seeks",
    "serialtime": "imbalance",
    "sieve": "data-sieving",
    "slowrank": "uneven-time",
    "smallread": "small-reads",
    "smallshared": "small-writes",
    "smallwrite": "small-writes",
    "stdiobig": "stdio",
    "stdioflush": "flush",
    "stdiosmall": "stdio",
    "unaligned": "misaligned",
}
HEALTHY = [
    "healthy",
    "healthyckpt",
    "healthyh5",
    "healthyread",
    "healthyshared",
    "fsync_fixed",
    "imbalance_fixed",
    "reread_fixed",
]
REPAIRED = [
    "fsync",
    "h5many",
    "imbalance",
    "mpiindep",
    "onefileperstep",
    "reopen",
    "reread",
    "smallshared",
    "smallwrite",
    "stdioflush",
]


@cache
def texts():
    data = lzma.decompress((FOLDER / "planted.tar.xz").read_bytes())
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return {member.name[:-4]: tar.extractfile(member).read().decode() for member in tar.getmembers()}


def lines(name, run_s=None):
    """Lines of a log, its times multiplied so that the run has that length."""
    text = texts()[name].splitlines()
    measured = float(next(line for line in text if line.startswith("# run time:")).split(":")[1])
    factor = run_s / measured if run_s else 1.0
    for line in text:
        cells = line.split("\t")
        if line.startswith("# run time:"):
            yield f"# run time: {measured * factor:.4f}\n"
        elif len(cells) > 5 and "_F_" in cells[3]:
            yield "\t".join([*cells[:4], f"{float(cells[4]) * factor:.6f}", *cells[5:]]) + "\n"
        else:
            yield line + "\n"


@cache
def log(name, run_s=None):
    return read_darshan_text(list(lines(name, run_s)))


def raised(name):
    return [each for each in findings(log(name, RUN_S)) if each.level in ("problem", "advice")]


def test_there_are_thirty_and_more():
    assert len(PLANTED) >= 30
    assert set(PLANTED) | set(HEALTHY) | set(REPAIRED) <= set(texts())


@pytest.mark.parametrize("name", PLANTED)
def test_what_was_planted_is_named_first(name):
    found = [each for each in raised(name) if each.code != "incomplete-log"]
    assert found, name
    assert found[0].code == PLANTED[name], [each.code for each in found]
    assert found[0].evidence["cost_share"] >= 0.02
    assert found[0].advice


@pytest.mark.parametrize("name", PLANTED)
def test_it_is_named_first_in_a_log_as_short_as_it_is(name):
    job = log(name)
    found = [each for each in findings(job) if each.code not in ("incomplete-log", "no-posix")]
    assert found[0].code == PLANTED[name] or found[0].level != found[1].level
    if found[0].level == "note":
        assert PLANTED[name] in looked_for(job, found)


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_programs_draw_nothing(name):
    assert raised(name) == []
    assert looked_for(log(name, RUN_S), findings(log(name, RUN_S))).startswith(
        "Looked for, each under 2 % of the run: fsync"
    )


def measured_s(name):
    """Time in I/O calls per task; of imbalance that of the slowest, and of HDF5 that in its calls. [s]"""
    job = log(name)
    if name.startswith("imbalance"):
        return cost_of(job).slowest_s
    if name.startswith("h5"):
        return sum(record.busy_s for record in job.upper if record.interface in ("H5D", "H5F")) / job.tasks
    return cost_of(job).seconds


def predicted_s(name):
    first = next(each for each in findings(log(name)) if "win_expected_task_s" in each.evidence)
    assert first.code == PLANTED[name]
    assert first.evidence["change"]
    return first.evidence["win_expected_task_s"] / log(name).tasks


def test_the_repaired_program_wins_what_is_predicted():
    """Within a factor of 1.5 in 8 of 10 at least: of mpiindep the repaired program waits in the exchange on a crowded
    node.
    """
    factors = {}
    for name in REPAIRED:
        saved, predicted = measured_s(name) - measured_s(f"{name}_fixed"), predicted_s(name)
        assert saved > 0
        factors[name] = max(saved / predicted, predicted / saved)
    good = [name for name, factor in factors.items() if factor <= 1.5]
    assert len(good) >= 8, factors
    assert set(REPAIRED) - set(good) <= {"mpiindep"}, factors


def test_the_wall_time_is_foretold_less_well():
    """Within a factor of 1.5 in 6 of 10 instead of 8, with a reason for each of the four misses."""
    factors = {}
    for name in REPAIRED:
        saved, predicted = log(name).run_time_s - log(f"{name}_fixed").run_time_s, predicted_s(name)
        assert saved > 0
        factors[name] = max(saved / predicted, predicted / saved)
    assert {name for name, factor in factors.items() if factor > 1.5} == {
        # 0.06 s of I/O less, in runs of half a second whose starts differ by as much.
        "h5many",
        # The tasks of a crowded node wait in the exchange of the repaired program.
        "mpiindep",
        # The removed calls also took time between them, which no Darshan counter records.
        "reopen",
        "smallwrite",
    }


def field(name):
    return read_darshan_text(
        lzma.decompress((FOLDER / f"{name}.txt.xz").read_bytes()).decode().splitlines(keepends=True)
    )


def test_an_fsync_after_every_write_is_seen():
    first = findings(field("P2"))[0]
    assert (first.code, first.level) == ("fsync", "problem")
    assert first.evidence["cost_share"] > 0.7
    assert "800 calls of fsync" in first.message


def test_opening_through_mpi_io_is_no_waiting():
    job = field("P4")
    codes = [each.code for each in findings(job)]
    assert codes[0] == "mpi-metadata"
    assert "waiting" not in codes
    assert findings(job)[0].evidence["cost_task_s"] > 160
    assert not any("barrier before each collective call" in each.advice for each in findings(job))
