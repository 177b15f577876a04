"""The Standard Workload Format: jobs read, jobs skipped, refusals, and writing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.readers.jobs.swf import read_swf
from hopperkit.traces.scheduler import simulate
from hopperlib.errors import InputError
from hopperlib.scheduling.workload import Job, Workload
from tests.readers.jobs.swf_writer import write_swf

#      job submit wait run procs cpu mem asked limit mem status user group exe queue part prec think
GOOD = "1 10 5 100 48 -1 -1 72 200 -1 1 3 1 -1 2 -1 -1 -1"


def fields(**changes):
    """The good line with some fields changed, by their number from 1."""
    parts = GOOD.split()
    for name, value in changes.items():
        parts[int(name[1:]) - 1] = str(value)
    return " ".join(parts)


def test_allocated_processors_count_before_requested_ones():
    job = read_swf([GOOD], cores_per_node=24).workload[0]
    assert job[:7] == (1, 10, 2, 100, 200, 3, "2")
    # What was observed: it waited 5 s.
    assert (job.observed_start_s, job.cores, job.account, job.state) == (15, 48, "1", "1")
    assert read_swf([fields(f5=-1)], cores_per_node=24).workload[0].nodes == 3
    assert read_swf([fields(f5=0)], cores_per_node=24).workload[0].nodes == 3
    assert read_swf([fields(f5=49)], cores_per_node=24).workload[0].nodes == 3
    assert read_swf([GOOD]).workload[0].nodes == 48


def test_an_unknown_request_is_the_run_time():
    for limit, code in ((-1, "guessed-limit"), (0, "zero-limit")):
        trace = read_swf([fields(f9=limit)])
        assert trace.workload[0].requested_time_s == 100
        assert [(note.code, note.count) for note in trace.notes] == [(code, 1)]


def test_rows_of_a_job_told_in_parts_count_once():
    # A summary of 100 s, and the two parts of 60 and 40 s; job 2 has parts only.
    rows = [GOOD, fields(f4=60, f11=2), fields(f4=40, f11=3), fields(f1=2, f11=2), fields(f1=2, f2=500, f11=4)]
    trace = read_swf(rows)
    assert [(job.job, job.run_time_s) for job in trace.workload] == [(1, 100), (2, 100), (2, 100)]
    assert [(note.code, note.count) for note in trace.notes] == [("partial-rows", 2)]


def test_the_queue_is_the_partition_where_no_queue_is_told():
    assert read_swf([fields(f15=-1, f16=4)]).workload[0].queue == "4"


@pytest.mark.parametrize(
    ("field", "value"), [("f1", 2**63), ("f2", 2**62), ("f5", 2**31), ("f4", "1e300"), ("f9", 2**70)]
)
def test_numbers_beyond_all_measure_are_left_out(field, value):
    assert "a number is too large" in read_swf([GOOD, fields(**{field: value})]).skips.counts or value == "1e300"
    assert read_swf([fields(f12=2**40)]).workload[0].user == 2**40


def test_over_the_limit_is_counted():
    assert [note.code for note in read_swf([fields(f9=99)]).notes] == ["over-limit"]
    assert read_swf([fields(f9=100)]).notes == ()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (fields(f4=-1), "run time unknown"),
        (fields(f4=0, f11=5), "cancelled before it started"),
        (fields(f4=-1, f11=5), "cancelled before it started"),
        (fields(f2=-1), "submit time unknown"),
        (fields(f5=-1, f8=-1), "processors unknown"),
        (fields(f5=-5, f8=-3), "processors unknown"),
        (fields(f5=0, f8=0), "processors unknown"),
        (fields(f4="x"), "a field is not a number"),
        (fields(f4="nan"), "a field is not a number"),
        (fields(f4="inf"), "a field is not a number"),
        (" ".join(GOOD.split()[:11]), "fewer than 18 fields"),
    ],
)
def test_what_cannot_be_taken_is_counted_with_its_line(line, reason):
    trace = read_swf(["; header", GOOD, "", line, line])
    assert len(trace.workload) == 1
    (message,) = trace.skips.messages()
    assert message.startswith(f"2 jobs skipped, {reason}")
    assert message.endswith("(first at line 4)")
    assert trace.skips.total == 2
    with pytest.raises(InputError, match=reason):
        read_swf([line])


def test_cancelled_while_it_ran_is_a_job():
    assert len(read_swf([fields(f11=5)]).workload) == 1


def test_decimals_tabs_more_columns_and_marks_of_order():
    line = "\ufeff" + GOOD.replace(" ", "\t") + "\t7\t8"
    assert read_swf([line]).workload[0].run_time_s == 100
    # Decimals are rounded, a half upwards.
    assert read_swf([fields(f2="10.5", f4="99.4")]).workload[0][1:4] == (11, 48, 99)


def test_unsorted_submissions_are_sorted_and_said():
    trace = read_swf([fields(f1=1, f2=30), fields(f1=2, f2=5), fields(f1=3, f2=30)])
    assert list(trace.workload.job) == [2, 1, 3]
    assert "submitted out of order" in trace.notes[0].message
    assert read_swf([GOOD]).notes == ()


def test_header():
    trace = read_swf(["; UnixStartTime: 1300000000", ";MaxNodes: 6384 (of 6528)", GOOD])
    assert trace.epoch_s == 1300000000
    assert trace.header["MaxNodes"] == "6384 (of 6528)"


@pytest.mark.parametrize("lines", [[], ["; MaxNodes: 4"], ["\n"]])
def test_nothing_in_it(lines):
    with pytest.raises(InputError, match="it has no job at all"):
        read_swf(lines)
    with pytest.raises(InputError, match="cores_per_node=-1 must be at least 1"):
        read_swf(lines, cores_per_node=-1)


@given(
    st.lists(
        st.tuples(st.integers(0, 99), st.integers(1, 8), st.integers(0, 50), st.integers(0, 50)),
        min_size=1,
        max_size=20,
    )
)
def test_a_schedule_that_is_written_can_be_read(rows):
    schedule = simulate(Workload(Job(number, *row) for number, row in enumerate(rows)), 8)
    again = read_swf(write_swf(schedule, cores_per_node=24), cores_per_node=24)
    assert again.skips.total == 0
    for index, job in enumerate(again.workload):
        assert job[:3] == schedule.workload[index][:3]
        assert job.run_time_s == schedule.end_s[index] - schedule.start_s[index]


def test_jobs_that_never_started_are_written_as_cancelled():
    schedule = simulate(Workload([Job(1, 0, 1, 5, 5), Job(2, 9, 1, 5, 5)]), 4, until_s=7)
    trace = read_swf(write_swf(schedule))
    assert trace.skips.messages() == ["1 job skipped, cancelled before it started (first at line 6)"]


def _of_eight(*widths):
    """Return lines of a machine of 4 nodes with 8 processors each, all jobs at once."""
    jobs = [f"{n} 0 0 60 {width} -1 -1 {width} 90 -1 1 1 -1 -1 -1 -1 -1 -1" for n, width in enumerate(widths, 1)]
    return ["; MaxNodes: 4", "; MaxProcs: 32", *jobs]


def test_processors_become_nodes_as_the_header_says():
    trace = read_swf(_of_eight(8, 16, 8))
    assert list(trace.workload.nodes) == [1, 2, 1]
    assert (trace.nodes, [note.code for note in trace.notes]) == (4, ["processors"])


def test_processors_are_scheduled_where_nodes_are_shared():
    trace = read_swf(_of_eight(8, 3, 5))
    assert list(trace.workload.nodes) == [8, 3, 5]
    assert (trace.nodes, [note.code for note in trace.notes]) == (32, ["shared-processors"])


def test_widths_that_fit_the_nodes_stay():
    # Never more than three at once: these may be nodes.
    assert read_swf(_of_eight(1, 2)).nodes == 4
    assert read_swf(_of_eight(8, 16), cores_per_node=1).nodes == 4
