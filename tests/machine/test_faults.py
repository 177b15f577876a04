"""Fault tolerance of machines: counts by hand on the toy and on Hopper."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest

from hopperlib.machine import Machine
from hopperlib.machine.faults import affected_files, dead_link, dead_server, faults

HOPPER, TOY = Machine.load("hopper"), Machine.load("toy")


def test_files_on_a_server_by_counting():
    # Toy: 15 OSTs, 3 a server. Pairs of OSTs with one on a given server, by listing them all.
    scratch = TOY.file_systems[0]
    pairs = list(combinations(range(15), 2))
    assert affected_files(scratch, 2) == pytest.approx(sum(min(pair) < 3 for pair in pairs) / len(pairs))
    assert affected_files(scratch, 1) == pytest.approx(3 / 15)
    # over 13 OSTs no file can avoid three of fifteen
    assert affected_files(scratch, 13) == 1
    assert affected_files(scratch) == affected_files(scratch, 4)


@pytest.mark.parametrize("count", [0, 157])
def test_stripes_need_osts(count):
    with pytest.raises(ValueError, match=f"stripe_count={count} must be from 1 to 156, the OSTs of scratch"):
        affected_files(HOPPER.file_systems[0], count)


def test_hopper_goes_on_and_franklin_stops():
    link, server = faults(HOPPER)
    assert (link.continues, link.badge) == (True, "documented")
    assert (server.continues, server.badge) == (True, "documented")
    assert "7.6 % of the files" in server.consequence
    stopped = dead_link(Machine.load("franklin"))
    assert (stopped.continues, stopped.badge) == (False, "documented")
    assert "stops" in stopped.consequence


def test_what_a_file_does_not_say_is_not_answered():
    for fault in faults(Machine.load("perlmutter")):
        assert (fault.continues, fault.badge) == (None, None)
    without = replace(HOPPER, network=None, file_systems=())
    assert [fault.continues for fault in faults(without)] == [None, None]


def test_a_server_without_a_partner():
    assert dead_server(TOY).continues is False
    assert "the file system waits" in dead_server(TOY).consequence
