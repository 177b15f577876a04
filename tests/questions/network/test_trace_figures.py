"""Figures of simulated traces."""

import pytest

from hopperkit.questions.network.traces.figures import machine_figure, width_table
from hopperkit.traces.scheduler import simulate
from hopperlib.scheduling.workload import Job, Workload

# Four nodes. Job 1 has two of them for long, in the middle once job 2 is gone; job 3 lies on both sides of it.
JOBS = Workload([Job(1, 0, 1, 50, 50), Job(2, 0, 1, 99, 99), Job(3, 60, 3, 20, 20)])


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
    assert [row[0] for row in width_table(schedule).rows] == ["1", "2 to 3"]
    table = width_table(schedule, hops=[0.0, 0.0, 2.5])
    assert [column.title for column in table.columns][-1] == "Mean distance"
    assert table.rows[1] == ("2 to 3", 1, 0.0, 0, 2.0, 2.5)
