"""Records from frames: both forms of the Lustre module, counters that are unknown, times that overlap. Frames are synthetic."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.iologs.darshan_log import SIZE_BINS
from hopperkit.readers.darshan._frames import layouts_from_frame, log_from_frames


def posix(lines, **times):
    """Frames of the POSIX module: one line a file and task, as pydarshan gives them."""
    names = {name for line in lines for name in line}
    return {
        "counters": {name: [line.get(name, 0) for line in lines] for name in sorted(names)},
        "fcounters": {
            "id": [line["id"] for line in lines],
            **{f"POSIX_F_{name}": values for name, values in times.items()},
        },
    }


def line(number, rank=0, **counters):
    return {"id": number, "rank": rank} | {f"POSIX_{name}": value for name, value in counters.items()}


def read(frames, names=None, **job):
    return log_from_frames({"tasks": 4, "run_time_s": 10.0, **job}, frames, names or {})


OLD = {
    "id": [1, 2],
    "rank": [-1, 0],
    "LUSTRE_OSTS": [156, 156],
    "LUSTRE_STRIPE_SIZE": [1048576, 4194304],
    "LUSTRE_STRIPE_WIDTH": [3, 1],
    "LUSTRE_OST_IDS": [[10, 11, 0], [7.0, math.nan]],
}
NEW = {
    "id": [1, 2],
    "rank": [-1, 0],
    "LUSTRE_STRIPE_SIZE": [1048576, 4194304],
    "LUSTRE_STRIPE_COUNT": [3, 1],
    "LUSTRE_EXT_START": [0, 0],
    "LUSTRE_OST_IDS": [[10, 11, 0], [7]],
}


@pytest.mark.parametrize("frame", [OLD, NEW])
def test_both_forms_of_the_lustre_module(frame):
    layouts = layouts_from_frame(frame)
    assert [(one.stripe_count, one.stripe_size_bytes, one.osts) for one in layouts.values()] == [
        (3, 1048576, (10, 11, 0)),
        (1, 4194304, (7,)),
    ]


def test_progressive_layout_is_one_layout():
    """The first component is small, the last not made yet: no OSTs, or -1."""
    frame = {
        "id": [1, 1, 1],
        "LUSTRE_STRIPE_SIZE": [1048576, 4194304, 4194304],
        "LUSTRE_STRIPE_COUNT": [1, 4, 24],
        "LUSTRE_OST_IDS": [[5], [1, 2, 3, 5], [-1]],
    }
    (layout,) = layouts_from_frame(frame).values()
    assert (layout.stripe_count, layout.stripe_size_bytes, layout.osts) == (4, 4194304, (5, 1, 2, 3))


@pytest.mark.parametrize("frame", [{}, {"id": []}, {"id": [1]}])
def test_empty_frames(frame):
    assert all(layout.osts == () for layout in layouts_from_frame(frame).values())


def test_one_file_of_one_task():
    frames = {"POSIX": posix([line(1, BYTES_WRITTEN=100, WRITES=4)], WRITE_TIME=[2.0])}
    log = read(frames, {1: "/scratch/a"})
    (file,) = log.files
    assert (file.path, file.bytes_written, file.writes, file.write_s, file.shared) == ("/scratch/a", 100, 4, 2.0, False)
    assert file.written_by == {0: 100}
    assert log.notes == ("the log has no Lustre layouts",)


def test_record_of_all_tasks():
    """Rank -1: the time is the sum over tasks, so the elapsed time is used instead."""
    lines = [line(1, rank=-1, BYTES_WRITTEN=100, WRITES=4, SLOWEST_RANK_BYTES=25, FASTEST_RANK_BYTES=-1)]
    frames = {"POSIX": posix(lines, WRITE_TIME=[40.0], WRITE_START_TIMESTAMP=[1.0], WRITE_END_TIMESTAMP=[11.0])}
    (file,) = read(frames).files
    assert (file.tasks, file.shared, file.write_s, file.write_span) == (4, True, 10.0, (1.0, 11.0))
    assert (file.busiest_bytes, file.written_by) == (25, {})


def test_several_tasks_with_records_of_their_own():
    lines = [line(1, rank=0, BYTES_WRITTEN=100), line(1, rank=3, BYTES_WRITTEN=50)]
    times = {"WRITE_TIME": [2.0, 3.0], "WRITE_START_TIMESTAMP": [1.0, 4.0], "WRITE_END_TIMESTAMP": [3.0, 7.0]}
    (file,) = read({"POSIX": posix(lines, **times)}).files
    # From 1 to 7 s.
    assert (file.tasks, file.bytes_written, file.write_s, file.written_by) == (2, 150, 6.0, {0: 100, 3: 50})


def test_span_that_is_shorter_than_the_time_in_it_is_dropped():
    lines = [line(1, BYTES_WRITTEN=100)]
    frames = {"POSIX": posix(lines, WRITE_TIME=[8.0], WRITE_START_TIMESTAMP=[0.5], WRITE_END_TIMESTAMP=[0.9])}
    (file,) = read(frames).files
    assert (file.write_s, file.write_span) == (8.0, None)


def test_unknown_counters_are_no_numbers():
    lines = [line(1, BYTES_WRITTEN=-1, WRITES=-1, FILE_ALIGNMENT=-1)]
    (file,) = read({"POSIX": posix(lines, WRITE_TIME=[-2662.7])}).files
    assert (file.bytes_written, file.writes, file.alignment_bytes, file.write_s) == (0, 0, None, 0.0)


def test_access_sizes():
    lines = [line(1, SIZE_WRITE_0_100=3, SIZE_WRITE_1G_PLUS=1, SIZE_READ_1M_4M=2)]
    (file,) = read({"POSIX": posix(lines)}).files
    assert file.write_sizes == (3, 0, 0, 0, 0, 0, 0, 0, 0, 1)
    assert file.read_sizes[5] == 2
    assert len(SIZE_BINS) == 10


def test_bytes_of_both_interfaces_of_a_file_count():
    stdio = {"counters": {"id": [1, 2], "rank": [0, 0], "STDIO_BYTES_WRITTEN": [7, 9]}, "fcounters": {}}
    log = read({"POSIX": posix([line(1, BYTES_WRITTEN=100)]), "STDIO": stdio})
    assert [(file.interface, file.bytes_written) for file in log.files] == [("POSIX", 100), ("STDIO", 7), ("STDIO", 9)]


def mpiio(number, rank=-1, **counters):
    return {
        "counters": {"id": [number], "rank": [rank], **{f"MPIIO_{name}": [value] for name, value in counters.items()}}
    }


def test_what_mpi_io_handed_down_counts_below_it():
    above = mpiio(1, BYTES_WRITTEN=40, COLL_WRITES=5, INDEP_WRITES=2)
    log = read({"POSIX": posix([line(1, rank=-1, BYTES_WRITTEN=100)]), "MPI-IO": above})
    assert [(file.interface, file.bytes_written) for file in log.files] == [("POSIX", 100)]
    (record,) = log.upper
    assert (record.writes, record.counts["COLL_WRITES"], record.bytes_written) == (7, 5, 40)
    assert log.totals["MPI-IO"]["bytes_written"] == 40
    # Where nothing below saw it, what MPI-IO saw counts.
    assert [file.interface for file in read({"POSIX": posix([line(2)]), "MPI-IO": above}).files] == ["POSIX", "MPI-IO"]


def test_exact_sizes_are_kept():
    (file,) = read(
        {"POSIX": posix([line(1, ACCESS1_ACCESS=1 << 20, ACCESS1_COUNT=9, ACCESS2_ACCESS=7, ACCESS2_COUNT=1)])}
    ).files
    assert file.common_sizes == {1 << 20: 9, 7: 1}


@pytest.mark.parametrize("number", [14734109647742566553, 15920181672442173319, 7238257241479193519, 5])
def test_terminal_streams_are_no_files(number):
    stdio = {"counters": {"id": [number], "rank": [0], "STDIO_BYTES_WRITTEN": [7]}, "fcounters": {}}
    assert read({"STDIO": stdio}, {5: "<STDOUT>"}).files == ()


def test_large_record_numbers_stay_exact():
    number = 18446744073709551557
    frames = {
        "POSIX": posix([line(number, BYTES_READ=1)]),
        "LUSTRE": {"counters": {"id": [number], "LUSTRE_OST_IDS": [[3]]}},
    }
    (file,) = read(frames, {number: "/a"}).files
    assert (file.path, file.layout.osts) == ("/a", (3,))


def test_job_that_says_nothing():
    log = log_from_frames({}, {}, {})
    assert (log.executable, log.job_id, log.tasks, log.run_time_s, log.files) == (None, None, None, None, ())
    assert log.notes == ("the log has no POSIX module: no access sizes", "the log has no Lustre layouts")


VALUES = st.one_of(
    st.none(), st.integers(-2, 2**64), st.floats(), st.text(max_size=3), st.lists(st.integers(-2, 9), max_size=3)
)
COLUMNS = st.sampled_from(
    ["rank", "POSIX_BYTES_WRITTEN", "POSIX_WRITES", "POSIX_F_WRITE_TIME", "POSIX_F_WRITE_START_TIMESTAMP", "LUSTRE_OST_IDS",
     "POSIX_F_WRITE_END_TIMESTAMP", "LUSTRE_STRIPE_COUNT", "LUSTRE_STRIPE_WIDTH", "LUSTRE_STRIPE_SIZE"]
)  # fmt: skip
FRAME = st.builds(
    lambda ids, columns: {"id": ids, **columns},
    st.lists(st.integers(0, 3), max_size=4),
    st.dictionaries(COLUMNS, st.lists(VALUES, max_size=4), max_size=6),
)


@given(
    st.dictionaries(
        st.sampled_from(["POSIX", "STDIO", "LUSTRE"]),
        st.dictionaries(st.sampled_from(["counters", "fcounters"]), FRAME),
    )
)
def test_any_frames(frames):
    for file in read(frames).files:
        assert file.bytes_written >= 0
        assert file.write_s >= 0


def test_a_start_that_is_no_date_is_left_out_and_said():
    log = log_from_frames({"start_s": 1e15}, {}, {})
    assert log.start is None
    assert "the start time is not a date" in log.notes
