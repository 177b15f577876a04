"""Task, node and time in a line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.failure.messages.locations import facts, strip_label


@pytest.mark.parametrize(
    ("line", "rest", "rank"),
    [
        (b" 3: text", b"text", "3"),
        (b"[1,12]<stderr>:text", b"text", "12"),
        (b"[1,12]<stdout>: text", b"text", "12"),
        (b"[rank9]: text", b"text", "9"),
        (b"[96] ERROR - text", b"ERROR - text", "96"),
        (b"x1921c1s4b0n0.hostmgmt2000.cm.americas.sgi.com 0: text", b"text", "0"),
        (b"12:30:01 lunch", b"12:30:01 lunch", None),
        (b"[12.5] text", b"[12.5] text", None),
        (b"error 3: text", b"error 3: text", None),
        (b"", b"", None),
    ],
)
def test_labels_of_launchers(line, rest, rank):
    assert strip_label(line) == (rest, rank)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"Rank 271 [Mon Oct  1 12:03:56 2018] [c5-0c2s4n0] Fatal", {"rank": "271", "cname": "c5-0c2s4n0", "time": "Mon Oct  1 12:03:56 2018"}),
        (b"[NID 03782] 2011-04-20 18:45:43 Apid 1925046 killed.", {"nid": "3782", "apid": "1925046", "time": "2011-04-20 18:45:43"}),
        (b"Application 23764253 exit signals: Killed", {"apid": "23764253"}),
        (b"srun: error: nid00668: tasks 0-31: Killed", {"rank": "0-31", "node": "nid00668", "nid": "668"}),
        (b"srun: error: nid[001258-001260]: tasks 0-127,130: x", {"rank": "0-127,130", "node": "nid[001258-001260]"}),
        (b"mpirun noticed that process rank 17 with PID 9 on node n12 exited", {"rank": "17", "node": "n12"}),
        (b"slurmstepd: error: *** STEP 7.0 ON x1000c0s0b0n0 CANCELLED AT 2023-09-02T22:00:18", {"node": "x1000c0s0b0n0", "cname": "x1000c0s0b0n0", "time": "2023-09-02T22:00:18"}),
        (b"Mar  5 14:22:33 gpu31 kernel: NVRM", {"time": "Mar  5 14:22:33"}),
        (b"MPI_ABORT was invoked on rank 3 in communicator", {"rank": "3"}),
        (b"HDF5-DIAG: Error detected in HDF5 (1.12.2) MPI-process 3:", {"rank": "3"}),
        (b"the price of rank and file", {}),
    ],
)  # fmt: skip
def test_what_a_line_names(line, expected):
    assert facts(line).named == expected


@pytest.mark.parametrize(
    ("line", "moment"),
    [
        (b"2011-05-01 19:00:18 x", "2011-05-01T19:00:18"),
        (b"at 2024-03-05T14:22:33.120 x", "2024-03-05T14:22:33"),
        (b"Wed May 11 00:55:46 2011", "2011-05-11T00:55:46"),
        (b"Fri Mar  5 14:22:33 PST 2010", "2010-03-05T14:22:33"),
    ],
)
def test_moments(line, moment):
    assert facts(line).moment.isoformat() == moment


@pytest.mark.parametrize(
    "line",
    [b"Mar  5 14:22:33 n1", b"2011-02-31 10:00:00", b"2011-05-01 25:00:00", b"Wed Xyz 11 00:55:46 2011", b"14:22"],
)
def test_no_moment_without_a_complete_date(line):
    assert facts(line).moment is None


@given(st.binary(max_size=3000))
def test_any_bytes_are_read(line):
    strip_label(line)
    facts(line)
