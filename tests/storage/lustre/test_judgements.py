"""Findings about a setting: each one where it applies, with its text, and not elsewhere."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hopperkit.filesystems.stripe_advice import advise, writing_findings
from hopperlib.machine import Machine
from hopperlib.storage.lustre.client import client_findings, file_system_of, level_from, user_file_system
from hopperlib.storage.lustre.dumps import (
    barrier_steps,
    barriered_dump,
    exclude_slow,
    ost_activity,
    slow_ost_findings,
)
from hopperlib.storage.lustre.osts import affordable_repetitions, central_range
from hopperlib.storage.lustre.rates import Costs, Pace, Writing, estimate
from hopperlib.storage.lustre.striping import Layout

SCRATCH = file_system_of(Machine.load("hopper"))
SHARED = Writing(size_bytes=10**12, writers=2400, nodes=100)


def layout(count, mib=1):
    return Layout(stripe_count=count, stripe_size_bytes=mib << 20, osts=SCRATCH.osts)


def said(writing, striped, size_bytes=10**9, **costs):
    """Findings by code, without the cautions of the advice."""
    expected = estimate(writing, striped, SCRATCH, costs=Costs(**costs))
    advice = advise(size_bytes, 1, "one-writer", SCRATCH)
    return {one.code: one for one in writing_findings(writing, striped, SCRATCH, expected, advice)}


def test_locks_are_a_problem_from_a_fifth_of_the_time():
    (finding,) = said(SHARED, layout(2)).values()
    assert (finding.code, finding.level) == ("lock-contention", "problem")
    assert finding.message.startswith("Much of the time is spent on lock transfers.")
    assert said(SHARED, layout(2), lock_s=0.0) == {}
    # n locks of t s each beside m s of the rest: a fifth of the time is n * t = m / 4.
    free, one = (estimate(SHARED, layout(2), SCRATCH, costs=Costs(lock_s=lock)) for lock in (0.0, 1.0))
    fifth = free.time_s / 4 / one.locks_s
    assert "lock-contention" not in said(SHARED, layout(2), lock_s=0.99 * fifth)
    assert "lock-contention" in said(SHARED, layout(2), lock_s=1.01 * fifth)


@pytest.mark.parametrize(
    ("block_bytes", "cut"), [(1 << 20, False), (3 << 20, False), (1 << 19, False), (3 << 19, True)]
)
def test_blocks_that_do_not_line_up_are_cut(block_bytes, cut):
    found = said(replace(SHARED, block_bytes=block_bytes), layout(2), lock_s=0.0)
    assert ("unaligned" in found) is cut
    assert "unaligned" not in said(replace(SHARED, block_bytes=block_bytes, pattern="collective"), layout(2))


def test_a_file_over_all_osts_is_as_slow_as_the_slowest():
    assert said(SHARED, layout(156), lock_s=0.0)["all-osts"].level == "note"
    assert "all-osts" not in said(SHARED, layout(155), lock_s=0.0)
    assert "all-osts" not in said(replace(SHARED, pattern="file-per-process"), layout(156), lock_s=0.0)


def test_cautions_are_notes_and_too_much_data_a_problem():
    advice = advise(10**12, 2400, "shared", SCRATCH, cores_per_node=24)
    assert [(one.code, one.level, one.message) for one in advice.findings] == [
        ("mind", "note", "One slow or nearly full OST slows every write to the file: probe them first.")
    ]
    capacity = round(SCRATCH.capacity_pb * 1e15)
    fits, overflows = (
        advise(size, 2400, "shared", SCRATCH, cores_per_node=24) for size in (capacity, capacity + 10**9)
    )
    assert [one.level for one in fits.findings] == ["note", "note"]
    assert [one.level for one in overflows.findings] == ["note", "problem"]


def test_the_advice_of_a_shared_file_goes_through_aggregators():
    for pattern, kind, writers in (("shared", "collective", 100), ("one-writer", "shared", 1)):
        writing = advise(10**9, 100, pattern, SCRATCH, cores_per_node=24).writing
        assert (writing.pattern, writing.writers) == (kind, writers)
    assert advise(10**9, 100, "shared", SCRATCH, nodes=300).writing.nodes == 100


def test_a_curve_holds_the_estimates_and_the_chosen_count():
    curve = Pace(SHARED, SCRATCH).curve(layout(7), (1, 144, 1024))
    assert list(curve) == [1, 7, 144, SCRATCH.max_stripe_count]
    assert curve[7] == estimate(SHARED, layout(7), SCRATCH)
    assert sum(curve[7].parts_s.values()) == pytest.approx(curve[7].time_s)


def test_own_osts_and_own_rate():
    assert user_file_system(SCRATCH) == SCRATCH
    assert user_file_system(SCRATCH, ost_rate_gb_s=0.5).peak_gb_s == 78
    own = user_file_system(SCRATCH, osts=1)
    assert (own.osts, own.max_stripe_count, own.default_stripe_count) == (1, 1, 1)
    # Measurements on other OSTs do not apply to these.
    assert (own.useful_stripe_count, user_file_system(SCRATCH, client_rate_gb_s=9.0).node_write_ceiling_gb_s) == (
        None,
        9,
    )
    assert own.ost_peak_gb_s == pytest.approx(SCRATCH.ost_peak_gb_s)


def test_a_level_curve_is_told():
    assert level_from([1.0]) is None
    (finding,) = client_findings("Toy", [1.0, 2.0, 2.0])
    assert finding.message.startswith(
        "From 2 tasks on the nodes of Toy are full: all additional tasks add less than 5 %."
    )


OUT = exclude_slow(36_000, 144, 0.243, slow=12, slow_rate_gb_s=0.119, variables=8)


@pytest.mark.parametrize(
    ("explaining", "slow", "slow_gb_s", "power", "codes"),
    [
        ((0.1, 0.14), 1, 0.119, 0.95, ["exclude"]),
        ((0.1, 0.14), 1, 0.24, 0.5, ["probe-too-short"]),
        ((0.25, 0.3), 0, 0.119, 0.5, ["faster-than-healthy"]),
        ((0.2, 0.243), 0, 0.119, 0.5, ["no-slow-ost-needed"]),
    ],
)
def test_what_a_measured_dump_means(explaining, slow, slow_gb_s, power, codes):
    found = slow_ost_findings(explaining, 0.243, slow=slow, slow_gb_s=slow_gb_s, exclusion=OUT, power=power)
    assert [one.code for one in found] == codes


def test_leaving_out_names_what_the_others_take():
    (finding,) = slow_ost_findings((0.1, 0.14), 0.243, slow=12, slow_gb_s=0.119, exclusion=OUT, power=1.0)
    # 36,000 / 132 - 36,000 / 144
    assert finding.message == "It pays to leave out the 12 slow OSTs: each of the others then takes 22.7 GB more."


def test_a_shared_file_stands_still_at_each_barrier():
    # 8 GB in two variables at 2 GB/s: 2 s each, and a second lost after each.
    corners = barrier_steps(8.0, peak_gb_s=2.0, variables=2, spread_s=1.0)
    assert corners == [(0, 2), (2, 2), (2, 0), (3, 0), (3, 2), (5, 2), (5, 0), (6, 0)]


def test_a_good_ost_writes_and_waits_in_each_variable():
    dump = barriered_dump(8.0, [2.0, 1.0], variables=2)
    good = ost_activity(dump, 2.0)
    assert good == [(0, 2), (1, 2), (1, 0), (2, 0), (2, 2), (3, 2), (3, 0), (4, 0)]
    assert ost_activity(dump, 1.0, slowest=True) == [(0, 1), (2, 1), (2, 1), (4, 1)]


def test_deals_that_take_long_are_made_less_often():
    assert affordable_repetitions(50, 20_000, 1, "weighted") == 50
    assert affordable_repetitions(50, 20_000, 4, "weighted") == 7
    assert affordable_repetitions(50, 50_000, 16, "weighted") == 1
    assert central_range([1.0, 2.0]) == (1.05, 1.95)
