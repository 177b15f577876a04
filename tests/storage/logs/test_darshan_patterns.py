"""Access patterns: each one is found where the counters show it, and not elsewhere. Logs are synthetic."""

import dataclasses

import pytest

from hopperkit.iologs._judging.access import hints_for
from hopperkit.iologs.darshan_findings import findings
from hopperkit.iologs.darshan_log import DarshanLog, FileRecord, StripeLayout

GB = 10**9


def log(*files, upper=(), tasks=48, run_time_s=100.0, **more):
    modules = tuple(dict.fromkeys(file.interface for file in (*files, *upper)))
    totals = {name: {"files": 1} for name in modules}
    return DarshanLog(
        executable="a.out", job_id=1, tasks=tasks, run_time_s=run_time_s, modules=modules, files=files, upper=upper, totals=totals, **more
    )  # fmt: skip


def found(*files, **job):
    return {one.code: one for one in findings(log(*files, **job))}


def shared(**more):
    return FileRecord(**({"path": "/s/all.h5", "shared": True, "tasks": 48} | more))


def mpi(**counts):
    record = shared(interface="MPI-IO", bytes_written=GB)
    record.counts = counts
    record.reads = sum(value for name, value in counts.items() if name.endswith("READS"))
    record.writes = sum(value for name, value in counts.items() if name.endswith("WRITES"))
    return record


def test_calls_of_exactly_a_mebibyte_are_not_small():
    # Darshan's bin of 100 KiB to 1 MiB holds them; its list of common sizes tells how many they are.
    sizes = (0, 0, 0, 0, 20_000, 0, 0, 0, 0, 0)
    exact = shared(bytes_written=20_000 << 20, writes=20_000, write_sizes=sizes, common_sizes={1 << 20: 20_000})
    assert "small-writes" not in found(exact)
    half = dataclasses.replace(exact, common_sizes={1 << 20: 8_000})
    assert found(half)["small-writes"].evidence["small_calls"] == 12_000


def test_collective_calls_in_the_log_are_not_asked_for():
    sizes = (0, 0, 0, 20_000, 0, 0, 0, 0, 0, 0)
    small = shared(bytes_written=GB, writes=20_000, write_sizes=sizes)
    with_it = found(small, upper=(mpi(COLL_WRITES=1_114_112),))
    assert "The log has 1,114,112 collective writes of this file already" in with_it["small-writes"].advice
    assert with_it["collective-writes"].level == "ok"
    # Hints reach neither POSIX calls nor independent ones of MPI-IO.
    assert "Only MPI-IO and its collective calls gather" in found(small)["small-writes"].advice
    alone = found(small, upper=(mpi(INDEP_WRITES=9_000),))["small-writes"].advice
    assert alone.startswith("Only collective calls gather: MPI_File_write_all")


def test_an_ost_far_below_its_rate_is_not_what_a_job_waits_for():
    """268 MB in calls of 1 KiB that take 592 s: any OST takes them in 3 s."""
    layout = StripeLayout(stripe_count=1, stripe_size_bytes=1 << 20, osts=(7,))
    slow = shared(
        bytes_written=262_144 << 10, writes=262_144, write_sizes=(0, 0, 262_144, 0, 0, 0, 0, 0, 0, 0), write_s=592.0,
        write_span=(0.0, 592.0), busy_s=28_000.0, slowest_s=590.0, layout=layout,
    )  # fmt: skip
    small, one = (found(slow, run_time_s=600.0)[code] for code in ("small-writes", "one-ost"))
    assert small.level == "advice"
    assert one.level == "note"
    assert "MPICH_MPIIO_HINTS" not in one.advice
    # 0.268 GB at 0.1 GB/s of 592 s.
    assert one.evidence["cost_task_s"] == pytest.approx(28_000 * 2.684 / 592, rel=0.01)


def test_calls_that_mpi_io_did_not_make_are_not_its_own():
    below = shared(bytes_read=9 * GB, reads=9_000, read_busy_s=5.0, busy_s=5.0)
    above = shared(interface="MPI-IO", bytes_read=5_000, reads=16, busy_s=6.0)
    assert "amplified-reads" in found(below, upper=(above,))
    assert "amplified-reads" not in found(below, upper=(dataclasses.replace(above, busy_s=1.0),))
    # Larger than the log's counters.
    assert "amplified-reads" not in found(below, upper=(dataclasses.replace(above, bytes_read=0),))
    filled = found(below, upper=(dataclasses.replace(above, bytes_read=0, reads=0, writes=16, bytes_written=GB),))
    assert "romio_ds_write=disable" in filled["amplified-reads"].advice


def test_commands_are_for_the_folder_of_the_data():
    layout = StripeLayout(stripe_count=1, stripe_size_bytes=1 << 20, osts=(7,))
    many = [FileRecord(path=f"/s/logs/{number}", bytes_written=10, layout=layout) for number in range(9)]
    data = shared(path="/s/data/a", bytes_written=20 * GB, write_s=80.0, busy_s=800.0, layout=layout)
    assert " /s/data" in found(*many, data)["one-ost"].advice


def test_independent_calls():
    one = found(shared(), upper=(mpi(INDEP_WRITES=9_000, COLL_WRITES=1_000),))["independent-writes"]
    assert one.evidence["independent_calls"] == 9_000
    assert "MPI_File_write_all" in one.advice


def test_random_reads_count_what_is_not_sequential():
    # 4,000 of 10,000 are not next to the last one, of which 48 are first ones; 3,000 of them go back.
    file = shared(bytes_read=GB, reads=10_000, counts={"SEQ_READS": 7_000, "CONSEC_READS": 6_000})
    assert found(file)["random-reads"].evidence["random_calls"] == 3_952
    file.counts["SEQ_READS"] = 9_000
    assert "random-reads" not in found(file)


def test_amplified_writes():
    above = mpi(COLL_WRITES=10)
    one = found(shared(bytes_written=4 * GB, writes=10), upper=(above,))["amplified-writes"]
    assert one.evidence["factor"] == 4.0
    assert "amplified-writes" not in found(shared(bytes_written=GB, writes=10), upper=(above,))


def test_metadata_and_times_that_disagree():
    file = shared(bytes_written=10, meta_s=480.0, busy_s=500.0, opens=1_000)
    # 10 s per task of 100; each of 48 tasks opens the file 21 times.
    assert found(file)["reopen"].level == "advice"
    assert found(dataclasses.replace(file, opens=48))["metadata"].level == "advice"
    assert found(file, run_time_s=5.0)["metadata"].level == "unknown"
    assert "metadata" not in found(dataclasses.replace(file, opens=48, meta_s=20.0, busy_s=21.0))


def test_uneven_time_but_not_of_aggregators():
    file = shared(bytes_written=GB, writes=10, busy_s=48.0, slowest_s=20.0)
    assert "uneven-time" in found(file)
    assert "uneven-time" not in found(file, upper=(mpi(COLL_WRITES=10),))


def test_stdio_and_small_files():
    assert found(shared(interface="STDIO", bytes_read=GB, reads=100))["stdio"].evidence["share"] == 1.0
    many = [FileRecord(path=f"/s/{n}", bytes_written=100) for n in range(2_000)]
    assert found(*many)["small-files"].evidence["files"] == 2_000


def test_advice_for_the_file_system_in_the_log():
    layout = StripeLayout(stripe_count=1, stripe_size_bytes=1 << 20, osts=(3,))
    one = found(shared(bytes_written=100 * GB, writes=100, write_s=50.0, layout=layout), osts=40)["one-ost"]
    # 100 GB in 50 s make 2 GB/s per OST; where 32 of 40 take 64 GB/s, what the nodes write to one file counts as much.
    assert "lfs setstripe -c 32" in one.advice
    # If a log names some OSTs without their number, no command may use all OSTs.
    some = found(shared(bytes_written=100 * GB, writes=100, write_s=50.0, layout=layout))["one-ost"]
    assert "-c -1" not in some.advice
    assert "lfs df lists all" in some.advice


def test_a_log_that_lost_something_is_no_healthy_log():
    one = found(
        shared(bytes_written=GB), missing=("module POSIX ran out of memory while the job ran: part of it is missing",)
    )
    assert one["incomplete-log"].level == "advice"
    assert "DARSHAN_MODMEM" in one["incomplete-log"].advice


def test_without_lustre_there_is_no_word_of_osts_or_stripes():
    file = shared(
        bytes_written=100 * GB, writes=20_000, write_sizes=(0, 0, 0, 20_000, 0, 0, 0, 0, 0, 0), written_by={0: 100 * GB}
    )
    codes = found(file)
    assert "slow-ost" not in codes
    assert "one-ost" not in codes
    assert not any("lfs" in one.advice or "striping" in one.advice for one in codes.values())


@pytest.mark.parametrize(
    ("mounts", "line"),
    [
        ((), "export MPICH_MPIIO_HINTS='*:romio_cb_read=enable:cb_nodes=4'"),
        ((("/s", "lustre"),), "export MPICH_MPIIO_HINTS='*:romio_cb_read=enable:cb_nodes=4'"),
        (
            (("/", "lustre"), ("/s", "gpfs")),
            r"printf 'romio_cb_read enable\ncb_nodes 4\n' > romio-hints; export ROMIO_HINTS",
        ),
    ],
)
def test_hints_are_in_the_form_that_the_file_system_suggests(mounts, line):
    job = log(shared(bytes_read=GB), mounts=mounts)
    assert hints_for(job, {"romio_cb_read": "enable", "cb_nodes": 4}).startswith(line)


def test_what_sieving_reads_for_nothing_has_no_factor():
    job = found(shared(bytes_read=GB, reads=9), upper=[mpi(INDEP_WRITES=9)])["amplified-reads"]
    assert (
        "1 GB are read for the 0 bytes that the program requests from MPI-IO, all of them added by MPI-IO"
        in job.message
    )


def test_an_incomplete_log_is_said_before_what_costs():
    job = found(shared(bytes_read=GB, busy_s=10.0), upper=[shared(interface="MPI-IO", busy_s=4000.0)], missing=("cut",))
    assert list(job)[:2] == ["incomplete-log", "waiting"]
