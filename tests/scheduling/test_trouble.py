"""A troubled machine: orphans take nodes, the largest jobs wait."""

from hopperlib.scheduling.aging import large_jobs, troubled_machine

DAY = 86_400


def machine(**changes):
    settings = {
        "orphans_a_day": 0,
        "cleared_after_days": 2,
        "debug_share": 0.1,
        "debug_first": True,
        "full_nodes": 6100,
    }
    return troubled_machine(6384, 4, **(settings | changes))


def test_orphans_are_taken_and_cleared():
    assert not any(sample.unavailable_nodes for sample in machine().samples)
    orphaned = machine(orphans_a_day=20)
    most = max(sample.unavailable_nodes for sample in orphaned.samples)
    # No more than two days' blocks of 32 at once, and some of their nodes were busy.
    assert 0 < most <= 3 * 20 * 32


def test_a_job_that_never_starts_waits_until_the_end():
    jobs = large_jobs(machine(orphans_a_day=40, full_nodes=6300), 4 * DAY)
    assert jobs
    for job in jobs:
        assert job.submit_day * 24 + job.wait_h <= 4 * 24
        assert job.started or job.submit_day * 24 + job.wait_h == 4 * 24


def test_the_first_job_of_nearly_the_whole_machine_comes_on_the_second_day():
    """One per day from day 1, counted from 0: the machine has a day to fill."""
    jobs = large_jobs(machine(), 4 * DAY)
    assert jobs
    assert 1 <= jobs[0].submit_day < 2
