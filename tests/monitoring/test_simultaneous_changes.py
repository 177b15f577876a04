"""Simultaneous changes, and the part of the machine that explains them."""

from __future__ import annotations

from random import Random

import pytest

from hopperlib.monitoring.delays import synthetic_history
from hopperlib.monitoring.history import History, judge
from hopperlib.monitoring.simultaneous_changes import KINDS, moved_together, read, subsystems


def _names(reading):
    return [part.name for part in reading.explained_by]


@pytest.mark.parametrize(
    ("moved", "steady", "expected"),
    [
        # S3, slide 5.3 Migration Continued (1): parallel slow, network and single node good.
        (["parallel", "parallel"], ["network", "memory", "serial", "file system"], ["noise", "placement", "library"]),
        # S0 on figure 10: the upgrade slowed aggregate I/O.
        (["file system"], ["parallel", "memory", "network", "serial"], ["file system"]),
        # S0 on figure 12: MILC, MAESTRO, GAMESS lost, five other codes and STREAM did not.
        (["parallel"], ["parallel", "memory", "serial", "network", "file system"], ["placement", "library"]),
        # S3: the firmware of 10 February slowed the network.
        (["network", "parallel"], ["memory", "serial", "file system"], ["network", "placement", "library"]),
        # S3: every other node of a frame, by a memory benchmark alone.
        (["memory"], ["network", "file system"], ["memory"]),
        (["launch"], ["parallel", "memory", "network", "serial", "file system"], ["launch"]),
        # Bandwidth and allreduce of a network, and HPL as the one code, which the network may spare.
        (["network", "network"], ["memory", "parallel", "file system"], ["network"]),
        # Three codes that it spares exclude it.
        (["network", "network"], ["memory", "parallel", "parallel", "parallel", "file system"], []),
    ],
)
def test_incidents_of_the_sources(moved, steady, expected):
    assert _names(read(moved, steady)) == expected


def test_what_would_tell_them_apart():
    reading = read(["parallel"], [])
    assert {"noise", "network"} <= set(_names(reading))
    assert "network" in reading.missing


def test_nothing_known_explains_nothing():
    assert _names(read(["", ""], ["serial"])) == []


def test_every_part_says_what_it_does_to_every_kind():
    for part in subsystems():
        assert set(part.effect) == set(KINDS)
        assert set(part.effect.values()) <= {"all", "some", "none", "any"}


def _report(name, kind, change, seed):
    values = synthetic_history(Random(seed), runs=50, loss=0.3, change=change, spread=0.02, contended=0)
    times = tuple(f"2026-01-{day + 1:02d}" if day < 31 else f"2026-02-{day - 30:02d}" for day in range(50))
    return judge(History(name=name, values=tuple(values), times=times, kind=kind))


def test_series_that_changed_at_one_time():
    reports = [_report("a", "parallel", 30, 1), _report("b", "parallel", 30, 2), _report("c", "network", None, 3)]
    (group,) = moved_together([*reports, _report("d", "serial", None, 4), _report("e", "memory", 12, 5)])
    assert set(group.shifts) == {"a", "b"}
    assert group.time == "2026-01-31"
    assert group.steady == ("c", "d", "e")
