"""Queue tables: reading, errors, and assignment of jobs."""

import random

import pytest

from hopperlib.scheduling.generator import draw_workload
from hopperlib.scheduling.rules import put_into_queues, queue_table, read_queues
from hopperlib.scheduling.workload import Job, Workload


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
        ("x = 3", "x: is empty: a table has queues"),
        ("[x]\nqueue = []", "x: is empty: a table has queues"),
        ("[x]\nlike = 'hopper-2011'", "there is no queue table 'hopper-2011'"),
        ("[x]\nordr = 'size'", "x: ordr = 'size': is not a key; did you mean 'order'"),
        ("[x]\norder = 'widest'", "x: order = .*size"),
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


def test_a_table_holds_order_and_limits_too():
    text = '[mine]\nlike = "hopper-final"\n[mine.rules]\nage = 1000\n[[mine.rules.limit]]\nper = "user"\njobs = 3'
    mine = read_queues(text)["mine"]
    assert mine.queues == queue_table("hopper-final").queues
    assert (mine.rules.age, mine.rules.limits[0].jobs) == (1000, 3)
    assert (queue_table("widest-first").order, queue_table("widest-first").queues) == ("size", ())


def test_jobs_keep_a_queue_of_the_table_and_else_take_the_first_regular_one_that_fits():
    table = queue_table("hopper-final")
    jobs = [
        Job(1, 0, 64, 60, 1800), Job(2, 0, 64, 60, 3600, queue="low"), Job(3, 0, 5000, 60, 3600, queue="3"),
        Job(4, 0, 6200, 60, 60), Job(5, 0, 600, 60, 60, queue="debug"),
    ]  # fmt: skip
    placed, given, refused = put_into_queues(Workload(jobs), table)
    # debug would allow the first too, but only on request; only reg_xbig takes 5,000, nothing 6,200, debug not 600.
    assert [job.queue for job in placed] == ["reg_small", "low", "reg_xbig", "", "debug"]
    assert (given, refused) == (2, [3, 4])


def test_hopper_like_jobs_do_not_go_into_premium():
    workload = draw_workload("production", nodes=6384, days=1, load=0.9, rng=random.Random(1))
    placed, given, _ = put_into_queues(workload, queue_table("hopper-final"))
    assert given == len(workload)
    assert {job.queue for job in placed} <= {"reg_small", "reg_med", "reg_big", "reg_xbig", "reg_long"}
