"""A night's logs together: a slow OST that no job tells alone is found, and healthy nights are left alone. Synthetic."""

import math
import random

from hopperlib.storage.logs.darshan_log import DarshanLog, FileRecord, StripeLayout
from hopperlib.storage.logs.ost_health import _chance, health_findings, ost_health, sightings
from hopperlib.storage.logs.ost_rates import judge_osts


def job(rng, osts, slow=None, factor=2.5, sigma=0.4):
    """A file a task, on OSTs drawn from a hundred: times scatter, and one file in fifty is 7.4 times slower."""
    files = []
    for ost in rng.sample(range(100), osts):
        seconds = 10.0 * math.exp(rng.gauss(0, sigma)) * (7.4 if rng.random() < 0.02 else 1)
        layout = StripeLayout(stripe_count=1, stripe_size_bytes=1 << 20, osts=(ost,))
        seconds *= factor if ost == slow else 1
        files.append(FileRecord(path=f"/s/{ost}", bytes_written=10**9, write_s=seconds, layout=layout))
    return DarshanLog(
        executable="a", job_id=1, tasks=osts, run_time_s=99.0, modules=(), files=tuple(files), mounts=(("/s", "lustre"),)
    )  # fmt: skip


def night(rng, jobs, **more):
    return ost_health(each for _ in range(jobs) for each in sightings(job(rng, 60, **more)))


def test_chance_of_one_job_is_its_fraction_and_of_two_by_hand():
    assert math.isclose(_chance([0.01]), 0.01)
    # P(product of two even numbers <= c) = c (1 - ln c), with c = 0.01.
    assert math.isclose(_chance([0.1, 0.1]), 0.01 * (1 - math.log(0.01)))


def test_many_jobs_find_what_none_tells_alone():
    rng = random.Random(3)
    assert not judge_osts(job(rng, 60, slow=14), "write").slow
    slow = [each for each in night(rng, 40, slow=14) if each.slow]
    assert [(each.ost, each.file_system, each.way) for each in slow] == [(14, "/s", "write")]
    (finding,) = health_findings(slow)
    assert "OST 14 (OST000e) of /s is slow for" in finding.message


def test_healthy_nights_are_left_alone():
    rng = random.Random(4)
    # At one in a thousand nights 0.02 are expected.
    assert not any(each.slow for _ in range(20) for each in night(rng, 20))


def test_osts_of_two_file_systems_are_not_one():
    rng = random.Random(5)
    seen = [*sightings(job(rng, 60))]
    other = [each._replace(file_system="/t") for each in seen]
    assert len(ost_health(seen + other)) == 120
    assert {each.jobs for each in ost_health(seen + other)} == {1}
