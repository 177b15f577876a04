"""Figures of run times and of simulated traces."""

import pytest

from hopperlib.network.scheduling.scheduler import simulate
from hopperlib.network.scheduling.workload import Job, Workload
from hopperlib.questions.network.trace_figures import allocation_table, machine_figure, pieces_figure, width_table
from hopperlib.questions.run_time_figures import group_figure, histogram_figure, quantile_figure

# Four nodes. Job 1 has two of them for long, in the middle once job 2 is gone; job 3 lies on both sides of it.
JOBS = Workload([Job(1, 0, 1, 50, 50), Job(2, 0, 1, 99, 99), Job(3, 60, 3, 20, 20)])


def test_a_histogram_says_where_most_are():
    figure = histogram_figure([10, 20, 30, 40], [2, 5, 1], {"gamma": [3, 4, 1], "normal": [2, 4, 2]})
    assert figure.alt == (
        "8 times from 10 to 40 s; most, 5, lie from 20 to 30 s. Lines: what gamma, normal would give."
    )
    assert [trace["name"] for trace in figure.data] == ["runs", "gamma expects", "normal expects"]
    assert "Lines" not in histogram_figure([10, 20], [2], {}).alt


def test_quantiles_have_a_line_from_end_to_end():
    figure = quantile_figure([2.0, 3.0], [1.0, 3.5], "gamma", unit="h")
    assert figure.data[1]["x"] == figure.data[1]["y"] == [1.0, 3.5]
    assert figure.alt.endswith("Farthest from it: 1 h where 2 h is expected.")


def test_groups_stand_in_the_order_of_their_fastest_run():
    figure = group_figure([12, 10, 11, 5, 6], ["x", "y", "y", "z", "z"], what="job")
    assert figure.data[0]["y"] == [5, 10, 12]
    assert list(zip(figure.data[1]["x"], figure.data[1]["y"], strict=True)) == [(1, 6), (2, 11)]
    assert "3 jobs in order of the fastest run: that goes from 5 to 12 s" in figure.alt
    assert "at most 20.0 % above the fastest" in figure.alt
    assert len(group_figure([1, 2], ["a", "b"]).data) == 1
    with pytest.raises(ValueError, match="there is no time to draw"):
        group_figure([], [])


def test_the_machine_over_time():
    figure = machine_figure(simulate(JOBS, 4, sample_every_s=10))
    busy = dict(zip(figure.data[0]["x"], figure.data[0]["y"], strict=True))
    assert busy[0] == 2
    assert busy[70 / 86_400] == 4
    with pytest.raises(ValueError, match="simulate with sample_every_s"):
        machine_figure(simulate(JOBS, 4))


def test_a_long_trace_is_thinned():
    long = simulate(Workload([Job(i, 100 * i, 1, 50, 50) for i in range(1000)]), 4, sample_every_s=100)
    assert len(machine_figure(long).data[0]["x"]) <= 400


def test_pieces_and_waits_by_width():
    schedule = simulate(JOBS, 4)
    # Job 3 gets node 0, then 2 and 3: two runs.
    assert pieces_figure({"first": schedule}).table.rows == ((1, 1.0), (2, 2.0))
    assert [row[0] for row in width_table(schedule).rows] == ["1", "2 to 3"]
    table = width_table(schedule, hops=[0.0, 0.0, 2.5])
    assert [column.title for column in table.columns][-1] == "Mean distance"
    assert table.rows[1] == ("2 to 3", 1, 0.0, 0, 2.0, 2.5)


def test_whole_jobs_wait_where_first_fit_does_not():
    table = allocation_table({"first": simulate(JOBS, 4), "whole": simulate(JOBS, 4, allocation="contiguous")})
    first, whole = table.rows
    # Kept whole, job 3 waits from 60 until job 2 ends at 99.
    assert (first[3], whole[3]) == (0, 39)
    assert (first[-1], whole[-1]) == (pytest.approx(200 / 3), 100.0)


def test_nothing_that_started_is_refused():
    nothing = simulate(Workload([]), 4)
    with pytest.raises(ValueError, match="schedule 'x': no job started"):
        pieces_figure({"x": nothing})
    with pytest.raises(ValueError, match="schedule 'x': no job started"):
        allocation_table({"x": nothing})
