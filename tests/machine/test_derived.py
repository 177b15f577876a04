"""Derived figures of machines, compared with hand calculations and with figures in the sources."""

from __future__ import annotations

import pytest

from hopperbook.documented import documented
from hopperlib.machine import Machine
from hopperlib.machine.derived import FIGURES, derived, mpi_bandwidth_per_core_mb_s


def _figures(name):
    return {one.figure.name: one for one in derived(Machine.load(name))}


@pytest.mark.parametrize("name", Machine.names())
def test_every_machine_has_every_figure(name):
    found = _figures(name)
    assert list(found) == list(FIGURES)
    for one in found.values():
        assert one.value is None or one.value > 0
        assert one.figure.label
        assert one.figure.sum


def test_hopper_by_hand():
    found = _figures("hopper")
    # 6,384 nodes x 24 cores; x 8.4 Gflop/s
    assert found["cores"].value == 6_384 * 24
    assert found["peak_tflops"].value == pytest.approx(6_384 * 24 * 8.4 / 1_000)
    # 6.0 GB/s for 24 cores
    assert found["mpi_bandwidth_per_core_mb_s"].value == 250
    # 216,576 GB of 2**30 bytes at 35 GB/s of 10**9
    assert found["memory_dump_min"].value == pytest.approx(216_576 * 2**30 / 35e9 / 60)


def test_core_hours_a_day_as_printed():
    printed = documented("scheduling-trouble.core-hours-per-day")
    assert printed.agrees(Machine.load("hopper").core_hours_per_day / 1e6)


def test_franklin_had_more_of_the_network_for_each_core():
    assert _figures("franklin")["mpi_bandwidth_per_core_mb_s"].value == 400


def test_a_figure_is_assumed_if_a_part_of_it_is():
    assert {one.badge for one in _figures("toy").values()} == {"assumed"}
    bassi = _figures("bassi")
    assert bassi["peak_tflops"].badge == "assumed"
    hopper = _figures("hopper")
    assert {one.badge for one in hopper.values()} == {"documented"}
    # The bandwidth of ARCHER2's memory of memory is a guess, its installed memory is not
    archer2 = _figures("archer2")
    assert (archer2["node_bandwidth_gb_s"].badge, archer2["memory_per_core_gb"].badge) == ("assumed", "documented")


def test_what_a_file_does_not_tell_is_none():
    bassi = Machine.load("bassi")
    assert _figures("bassi")["memory_dump_min"].value is None
    assert mpi_bandwidth_per_core_mb_s(bassi) == 375


def test_figures_are_shown_to_the_place_that_their_sources_print():
    """Whole nodes, GB/s of a file system and minutes; a tenth where the page has one; 1.33 GB of memory per core."""
    shown = {one.figure.name: f"{one.value:.{one.figure.decimals}f}" for one in _figures("hopper").values()}
    assert shown == {
        "nodes": "6384",
        "cores": "153216",
        "peak_tflops": "1287.0",
        "memory_tb": "216.6",
        "memory_per_core_gb": "1.33",
        "node_bandwidth_gb_s": "50.0",
        "mpi_latency_us": "1.6",
        "mpi_bandwidth_gb_s": "6.0",
        "mpi_bandwidth_per_core_mb_s": "250",
        "scratch_peak_gb_s": "35",
        "memory_dump_min": "111",
    }
