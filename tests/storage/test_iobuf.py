"""Gain from buffering: a hand-derived case, the calibration, laws."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.storage.iobuf import (
    MEASURED_SMALL_CALLS,
    Buffers,
    Costs,
    calibrate,
    documented_costs,
    gain,
    gain_findings,
    gain_range,
    transfer_for_gain_bytes,
    unaligned_fraction,
)

sizes = st.integers(min_value=1, max_value=1 << 24)
costs = st.builds(
    Costs,
    task_rate_gb_s=st.floats(min_value=1e-4, max_value=10),
    call_cost_s=st.floats(min_value=0, max_value=1e-2),
    unaligned_extra=st.floats(min_value=0, max_value=5),
    wait_fraction=st.floats(min_value=0, max_value=3),
    library_s=st.floats(min_value=0, max_value=1e-6),
)


def test_time_of_a_gb_by_hand():
    # 1 GB/s: 1 s to move. 1e9/4096 calls of 10 us are 2.4414 s; each ends with a page.
    one = Costs(task_rate_gb_s=1, call_cost_s=1e-5, unaligned_extra=1, wait_fraction=0.5)
    assert one.seconds_per_gb(4096) == pytest.approx(1 + 2.44140625)
    # Calls of 2048: twice as many, every second one costs one call more.
    assert one.seconds_per_gb(2048) == pytest.approx(1 + 2 * 2.44140625 * 1.5)
    # Reads wait half as long as moving, unless data are read ahead.
    assert one.seconds_per_gb(4096, reading=True) == pytest.approx(1.5 + 2.44140625)
    assert one.seconds_per_gb(4096, reading=True, ahead=True) == pytest.approx(1 + 2.44140625)


def test_time_of_a_gb_in_buffers_by_hand():
    # 1e9 calls of a byte take the library 1e-8 s each; 1e9/4096 of a buffer 1e-5 s.
    one = Costs(task_rate_gb_s=1, call_cost_s=1e-5, library_s=1e-8)
    assert one.buffered_seconds_per_gb(1, Buffers(4096)) == pytest.approx(1 + 2.44140625 + 10)
    # A call as large as a buffer bypasses the library.
    assert one.buffered_seconds_per_gb(4096, Buffers(4096)) == pytest.approx(1 + 2.44140625)


# Public programs: size of a call, buffer, cost of a call without buffers, gain as a factor (see the module's
# references).
@pytest.mark.parametrize(("call", "cost_s", "factor"), [(1, 6.29e-6, 100), (8, 1.1e-6, 31), (16, 1.1e-6, 30)])
def test_small_calls_gain_what_public_programs_gained(call, cost_s, factor):
    """A task alone, with data in the page cache (2 GB/s): within a factor of two and a half."""
    one = Costs(task_rate_gb_s=2.0, call_cost_s=cost_s, unaligned_extra=0)
    assert factor / 2.5 < 1 + gain(one, call, Buffers(8192), reading=False) < 2.5 * factor


@pytest.mark.parametrize("tasks", [1, 24, 1560])
@pytest.mark.parametrize("call", [1, 4, 16])
def test_the_range_of_small_calls_holds_what_was_measured(call, tasks):
    low, usual, high = gain_range(documented_costs(task_rate_gb_s=35 / tasks), call, Buffers(1024), reading=False)
    assert low <= usual <= high
    assert 1 + low <= MEASURED_SMALL_CALLS[1]
    assert 1 + high >= MEASURED_SMALL_CALLS[0]


def test_measured_sizes_have_no_range():
    two = Buffers(2 << 20, 2)
    assert len(set(gain_range(documented_costs(), 10_000, two, reading=False))) == 1
    assert gain_range(documented_costs(), 9_999, two, reading=False).low < 0.01


def test_pages():
    # gcd(10,000, 4096) = 16: one call of 256 ends with a page; gcd(1,000,000, 4096) = 64: one of 64
    assert unaligned_fraction(10_000) == 1 - 1 / 256
    assert unaligned_fraction(1_000_000) == 1 - 1 / 64
    assert unaligned_fraction(8192) == 0


@given(
    st.floats(min_value=0.01, max_value=0.5),
    st.floats(min_value=0.2, max_value=2),
    st.floats(min_value=0.001, max_value=1),
    st.floats(min_value=0, max_value=5),
)
def test_calibration_gives_back_what_it_was_fitted_to(write, read, rate, extra):
    fitted = calibrate(
        task_rate_gb_s=rate,
        write_gain=write,
        write_transfer_bytes=10_000,
        read_gain=read,
        read_transfer_bytes=1 << 20,
        buffer_bytes=2 << 20,
        unaligned_extra=extra,
    )
    assert gain(fitted, 10_000, Buffers(2 << 20), reading=False) == pytest.approx(write)
    assert gain(fitted, 1 << 20, Buffers(2 << 20), reading=True) == pytest.approx(read)


@given(costs, sizes, st.integers(min_value=12, max_value=24))
def test_reads_gain_at_least_as_much_as_writes(one, size, power):
    buffers = Buffers(1 << power)
    read, written = (gain(one, size, buffers, reading=reading) for reading in (True, False))
    assert read >= written - 1e-9 or size > buffers.size_bytes


@given(costs, st.integers(min_value=1, max_value=(1 << 12) - 1))
def test_of_calls_that_are_buffered_smaller_ones_gain_more(one, pages):
    """If a library call costs no more than a file-system call. A call as large as the buffer bypasses it: see below."""
    one = replace(one, call_cost_s=max(one.call_cost_s, one.library_s))
    small, large = 4096 * pages, 8192 * pages
    gains = [gain(one, size, Buffers(1 << 25), reading=False) for size in (small, large)]
    assert gains[0] >= gains[1] - 1e-12 * (1 + abs(gains[1]))


@pytest.mark.parametrize(("library_calls", "gains"), [(1, False), (1.9, False), (2.1, True)])
def test_two_calls_to_a_buffer_gain_if_a_call_costs_two_of_the_library(library_calls, gains):
    """Without buffers, two calls; with them, one call and two of the library: 2 c > c + 2 l if c > 2 l. A call as large
    as the buffer gains nothing, so that calls of half its size may gain less than those."""
    one = Costs(task_rate_gb_s=1.0, call_cost_s=1e-6 * library_calls, library_s=1e-6)
    assert (gain(one, 1 << 24, Buffers(1 << 25), reading=False) > 0) == gains


@given(costs, sizes)
def test_a_buffer_as_large_as_an_aligned_call_buys_a_write_nothing(one, size):
    size = size // 4096 * 4096 or 4096
    assert gain(one, size, Buffers(size), reading=False) == pytest.approx(0, abs=1e-12)


def test_reading_ahead_takes_two_buffers():
    one = Costs(task_rate_gb_s=1, call_cost_s=0, wait_fraction=0.3, library_s=0)
    assert gain(one, 4096, Buffers(number=2), reading=True) == pytest.approx(0.3)
    assert gain(one, 4096, Buffers(number=1), reading=True) == 0
    assert Buffers(number=1).setting(reading=True) == "*:size=1M:count=1"


def test_the_size_that_gains_so_much_does():
    one = Costs(task_rate_gb_s=0.02, call_cost_s=2e-5)
    size = transfer_for_gain_bytes(one, 0.05, buffer_bytes=1 << 20)
    assert gain(one, round(size) | 1, Buffers(), reading=False) == pytest.approx(0.05, rel=1e-3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Costs(task_rate_gb_s=0, call_cost_s=0), "task_rate_gb_s=0 must be above 0"),
        (lambda: Costs(task_rate_gb_s=1, call_cost_s=-1), "call_cost_s=-1 must not be negative"),
        (lambda: unaligned_fraction(0), "transfer_bytes=0 must be at least 1"),
        (lambda: Costs(task_rate_gb_s=1, call_cost_s=0).seconds_per_gb(0), "transfer_bytes=0 must be at least 1"),
        (lambda: gain(Costs(task_rate_gb_s=1, call_cost_s=0), 1, Buffers(number=0), reading=True), "buffers=0"),
        (lambda: Buffers().memory_bytes(files=-1), "files=-1 must not be negative"),
        (lambda: transfer_for_gain_bytes(Costs(task_rate_gb_s=1, call_cost_s=0), 0, buffer_bytes=1), "wanted=0"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def _calibrate(**changes):
    values = {"write_gain": 0.1, "write_transfer_bytes": 10_000, "read_gain": 0.3, "read_transfer_bytes": 1 << 20}
    return calibrate(task_rate_gb_s=1, buffer_bytes=2 << 20, **values | changes)


def test_what_no_cost_explains_is_refused():
    with pytest.raises(ValueError, match="cannot be explained by fewer calls"):
        _calibrate(write_transfer_bytes=4 << 20)
    with pytest.raises(ValueError, match="negative waiting"):
        _calibrate(read_gain=0.0, read_transfer_bytes=10_000)


def test_a_share_of_another_file_system_leaves_the_cost_of_a_call():
    own = documented_costs(2.0, task_rate_gb_s=0.5)
    assert own.task_rate_gb_s == 0.5
    assert own.call_cost_s == documented_costs(2.0).call_cost_s


def test_large_writes_have_little_to_gain():
    (finding,) = gain_findings(0.0049)
    assert (finding.code, finding.level) == ("little-to-gain", "note")
    assert gain_findings(0.005) == ()
