"""Queue tables: read, refused, and jobs put into them."""

import pytest

from hopperlib.errors import InputError
from hopperlib.network.scheduling.queues import put_into_queues, queue_table, read_queues
from hopperlib.network.scheduling.workload import Job, Workload


def test_a_table_of_ones_own():
    text = """
    [ours]
    title = "Ours"
    queue = [
        { name = "short", nodes = [1, 4], max_hours = 0.5, priority = 1, run_limit = 2 },
        { name = "long", nodes = [1, 8], max_hours = 24, priority = 2 },
    ]
    """
    short, long = read_queues(text)["ours"].queues
    assert (short.max_time_s, short.run_limit, long.run_limit, long.charge_factor) == (1800, 2, None, 1.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("queue = [", "queues: is not TOML"),
        ("x = 3", r"x: queue: is missing: a queue table has at least 1 \[\[queue\]\]"),
        ("[x]\nqueue = []", r"x: queue: is missing: a queue table has at least 1 \[\[queue\]\]"),
        (
            "[x]\nqueue = [{ name = 'a', nodes = [1], max_hours = 1, priority = 1 }]",
            r"x: queue.a.nodes = \[1\]: must be \[fewest, most\] nodes, whole numbers",
        ),
        ("[x]\nqueue = [{ nodes = [1, 2], max_hours = 1, priority = 1 }]", r"x: queue\[0\].name: is missing"),
    ],
)
def test_tables_that_are_none(text, message):
    with pytest.raises(ValueError, match=message):
        read_queues(text)


def test_jobs_keep_a_queue_of_the_table_and_else_take_the_first_that_fits():
    table = queue_table("hopper-final")
    jobs = [Job(1, 0, 64, 60, 1800), Job(2, 0, 64, 60, 3600, queue="low"), Job(3, 0, 5000, 60, 3600, queue="3")]
    placed = put_into_queues(Workload(jobs), table)
    # debug takes half an hour on up to 512 nodes; only reg_xbig takes 5,000.
    assert [job.queue for job in placed] == ["debug", "low", "reg_xbig"]
    with pytest.raises(InputError, match="job 4: no queue of 'hopper-final' takes nodes=6200"):
        put_into_queues(Workload([Job(4, 0, 6200, 60, 60)]), table)
