"""Findings: each with its number, its advice and its command; none if nothing needs repair. Logs are synthetic."""

import pytest

from hopperkit.filesystems.stripe_advice import advise
from hopperkit.iologs.darshan_findings import SEVERITIES, finding_data, findings
from hopperkit.iologs.darshan_log import DarshanLog, FileRecord, StripeLayout
from hopperlib.finding import LEVELS
from hopperlib.machine import Machine
from hopperlib.storage.lustre.client import file_system_of

HOPPER = Machine.load("hopper")
GB = 10**9


def layout(*osts, stripe=1 << 20):
    return StripeLayout(stripe_count=len(osts), stripe_size_bytes=stripe, osts=osts)


def sizes(**bins):
    order = ("b100", "k1", "k10", "k100", "m1", "m4", "m10", "m100", "g1", "more")
    return tuple(bins.get(name, 0) for name in order)


def log(*files, tasks=48, run_time_s=100.0):
    return DarshanLog(executable="a.out", job_id=1, tasks=tasks, run_time_s=run_time_s, modules=("POSIX",), files=files)


def healthy(**more):
    """One file per task, each on a separate OST, in large pieces."""
    return [
        FileRecord(path=f"/scratch/run/out.{ost}", bytes_written=GB, writes=120, write_s=10.0, layout=layout(ost),
                   write_sizes=sizes(m10=120), written_by={ost: GB}, **more)
        for ost in range(24)
    ]  # fmt: skip


def found(*files, **job):
    return {one.code: one for one in findings(log(*files, **job), HOPPER)}


def test_healthy_log_has_no_findings():
    assert found(*healthy()) == {}


def test_contract():
    data = finding_data(found(FileRecord(path="/a", layout=layout(3)))["slow-ost"])
    assert list(data) == ["code", "severity", "message", "evidence", "advice"]
    assert data["severity"] == "unknown"


def test_every_level_has_its_severity():
    assert [SEVERITIES[level] for level in LEVELS] == ["fail", "warn", "info", "unknown", "ok"]


def test_slow_ost_names_its_numbers_and_commands():
    files = healthy() + healthy()
    for place in (14, 38):
        files[place].write_s = 400.0
    one = found(*files)["slow-ost"]
    assert one.level == "problem"
    assert one.evidence["ost"] == 14
    assert one.evidence["factor"] == 40.0
    assert (one.evidence["files"], one.evidence["bytes"]) == (2, 2 * GB)
    assert "OST 14 (OST000e) is 40.0 times slower than the others" in one.message
    assert "lfs find /scratch/run --ost 14" in one.advice


def test_one_slow_file_is_said_and_blames_nobody():
    files = healthy()
    files[14].write_s = 400.0
    one = found(*files)["slow-ost"]
    assert one.level == "unknown"
    assert "OST 14 seems 40.0 times slower, but 1 file is too few to be sure" in one.message


def test_cannot_tell_is_not_healthy():
    wide = FileRecord(
        path="/scratch/f", shared=True, tasks=48, bytes_written=GB, write_s=5.0, layout=layout(*range(156))
    )
    one = found(wide)["slow-ost"]
    assert one.level == "unknown"
    assert one.message.startswith("Cannot tell whether an OST is slow: every file is striped over the same 156 OSTs")
    assert "lfs setstripe -c 1 -i" in one.advice


def shared(**more):
    values = {"path": "/scratch/run/all.h5", "shared": True, "tasks": 48, "bytes_written": 100 * GB, "writes": 20_000}
    return FileRecord(
        **(values | {"write_s": 50.0, "layout": layout(*range(8)), "write_sizes": sizes(m10=20_000)} | more)
    )


def test_small_writes_to_a_shared_file():
    one = found(shared(writes=40_000, write_sizes=sizes(k10=20_000, m10=20_000), write_busy_s=480.0))["small-writes"]
    assert (one.level, one.evidence["small_calls"], one.evidence["share"]) == ("advice", 20_000, 0.5)
    assert "20,000 of 40,000 write calls (50 %) are below 1 MiB, with 0.2 % of the bytes at most" in one.message
    # The line is the one that the model of striping gives.
    system = file_system_of(HOPPER)
    line = advise(100 * GB, 48, "shared", system, cores_per_node=HOPPER.node().cores).hints_line
    assert line in one.advice


def test_small_reads_of_a_shared_file():
    one = found(shared(bytes_read=GB, reads=20_000, read_s=9.0, read_sizes=sizes(k1=20_000)))["small-reads"]
    assert "romio_cb_read=enable:cb_nodes=8" in one.advice
    assert "striping_factor" not in one.advice


def test_small_writes_to_files_of_one_task_are_buffered():
    files = [
        FileRecord(path=f"/scratch/run/out{ost}.dat", bytes_written=GB // 10, writes=1000, write_s=10.0, layout=layout(ost),
                   write_sizes=sizes(k100=1000)) for ost in range(24)
    ]  # fmt: skip
    one = found(*files)["small-writes"]
    assert "export IOBUF_PARAMS='*.dat:size=2M:count=2'" in one.advice
    assert one.level == "advice"


def test_few_small_writes_are_no_finding():
    # A header of a few hundred bytes in each of many large files.
    assert "small-writes" not in found(shared(writes=20_999, write_sizes=sizes(k1=999, m10=20_000)))
    assert "small-writes" not in found(shared(writes=120_000, write_sizes=sizes(k1=2_000, m10=118_000)))


def test_misaligned_writes_to_a_shared_file():
    one = found(shared(unaligned=19_000, alignment_bytes=1 << 20))["misaligned"]
    assert (one.level, one.evidence["unaligned_calls"], one.evidence["share"]) == ("advice", 19_000, 0.95)
    assert one.evidence["boundary_bytes"] == 1 << 20
    assert "H5Pset_alignment(fapl, 1, 1048576)" in one.advice
    assert "MPICH_MPIIO_HINTS" in one.advice


def test_misaligned_reads_and_other_file_systems_are_only_told():
    reads = shared(bytes_written=0, writes=0, write_sizes=(), bytes_read=GB, reads=20_000, unaligned=20_000)
    assert found(reads)["misaligned"].level == "note"
    assert found(shared(unaligned=20_000, layout=None))["misaligned"].level == "note"
    # Where the log has times, calls of 5 MB that start anywhere cost what they take, on any file system.
    timed = shared(unaligned=20_000, layout=None, busy_s=960.0)
    assert found(timed)["misaligned"].level == "advice"


def test_misaligned_files_of_one_task_are_no_finding():
    assert "misaligned" not in found(*healthy(unaligned=100_000))


def test_all_on_one_ost():
    one = found(shared(layout=layout(7)))["one-ost"]
    assert (one.level, one.evidence["ost"], one.evidence["share"], one.evidence["stripe_count"]) == (
        "advice",
        7,
        1.0,
        1,
    )
    assert "OST 7 holds 100 % of the data of 48 tasks (100 GB in 1 file)" in one.message
    assert f"lfs setstripe -c {one.evidence['recommended_stripe_count']} " in one.advice
    assert one.evidence["recommended_stripe_count"] > 1


def test_one_ost_for_a_moment_is_only_told():
    assert found(shared(layout=layout(7), write_s=0.5))["one-ost"].level == "note"


@pytest.mark.parametrize("job", [{"tasks": 1}, {"tasks": None}])
def test_one_task_alone_is_no_finding(job):
    one = FileRecord(path="/a", bytes_written=100 * GB, write_s=50.0, layout=layout(7), written_by={0: 100 * GB})
    assert {"one-ost", "one-writer"}.isdisjoint(found(one, **job))


def test_one_writer():
    one = FileRecord(
        path="/scratch/a", bytes_written=9 * GB, write_s=50.0, layout=layout(1, 2, 3), written_by={5: 9 * GB}
    )
    other = FileRecord(path="/scratch/b", bytes_written=GB // 2, write_s=5.0, written_by={1: GB // 2})
    finding = found(one, other)["one-writer"]
    # 9 of 9.5 GB.
    assert (finding.evidence["task"], finding.evidence["share"]) == (5, 0.9474)
    # 55 s of 48 tasks with 100 s each; if the 47 others wait 50 s for it, 2,350 s are lost: 49 s of each task.
    assert finding.message == (
        "Task 5 writes 95 % of the 9.5 GB; the other 47 wait. This costs 40.1 task-minutes, 50 % of the run; "
        "the change saves about 49 of 100 s (if all other tasks wait for this one)."
    )
    assert "lfs setstripe" in finding.advice


def test_one_writer_in_a_record_of_all_tasks():
    assert found(shared(busiest_bytes=100 * GB))["one-writer"].evidence["task"] is None
    assert "one-writer" not in found(shared(busiest_bytes=GB))


def test_little_data_is_no_finding():
    one = FileRecord(path="/a", bytes_written=10**6, writes=2, write_s=1.0, layout=layout(7), written_by={0: 10**6})
    assert {"one-ost", "one-writer"}.isdisjoint(found(one))


def test_worst_comes_first():
    files = [shared(layout=layout(7), unaligned=19_000), *healthy(), *healthy()]
    files[15].write_s = files[39].write_s = 900.0
    order = [one.level for one in findings(log(*files), HOPPER)]
    assert order == sorted(order, key=LEVELS.index)


def test_names_of_files_are_quoted_for_the_shell():
    files = healthy() + healthy()
    for one in files:
        one.path = "/scratch/my run;rm -rf x/" + one.path.rpartition("/")[2]
    files[14].write_s = files[38].write_s = 400.0
    assert "lfs find '/scratch/my run;rm -rf x' --ost 14" in found(*files)["slow-ost"].advice
