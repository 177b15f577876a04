"""Heat maps made of every access: nothing is lost, each byte where its access was; real traces against their counters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.readers.darshan import read_darshan
from hopperlib.readers.darshan._segments import MOST_COLUMNS, MOST_ROWS, heat_map_of

from .test_pydarshan import BROUGHT, log_of

MOMENTS = st.floats(-1, 200, allow_nan=False)
ACCESSES = st.lists(
    st.tuples(st.integers(0, 300), st.sampled_from(("read", "write")), st.integers(0, 10**10), MOMENTS, MOMENTS),
    max_size=20,
)


def test_an_access_lies_where_and_when_it_was():
    accesses = [(0, "read", 100, 1.5, 3.5), (3, "write", 7, 127.9, 500.0), (2, "write", 5, 10.0, 10.0)]
    made = heat_map_of("POSIX", accesses, tasks=4, run_time_s=128.0)
    assert (made["bin_s"], made["ranks"]) == (1.0, [0, 1, 2, 3])
    # Half a bin, a whole one, half a one.
    assert made["read_bytes"][0][:5] == [0, 25, 50, 25, 0]
    # What ends after the run is in its last bin.
    assert made["written_bytes"][3][-1] == 7
    assert made["written_bytes"][2][10] == 5


def test_many_tasks_share_rows():
    accesses = [(task, "write", 1, 0.0, 0.0) for task in range(1000)]
    made = heat_map_of("POSIX", accesses, tasks=1000, run_time_s=1.0)
    assert len(made["ranks"]) <= MOST_ROWS
    assert {row[0] for row in made["written_bytes"][:-1]} == {made["ranks"][1]}
    assert sum(map(sum, made["written_bytes"])) == 1000


@given(ACCESSES, st.integers(1, 300), st.floats(0.001, 1e6))
def test_no_byte_is_lost_or_made(accesses, tasks, run_time_s):
    made = heat_map_of("POSIX", accesses, tasks, run_time_s)
    for way, past in (("read", "read"), ("write", "written")):
        rows = made[f"{past}_bytes"]
        assert sum(map(sum, rows)) == sum(access[2] for access in accesses if access[1] == way)
        assert min(map(min, rows)) >= 0
        assert {len(row) for row in rows} == {MOST_COLUMNS}


@pytest.mark.parametrize("name", ["dxt.darshan", "ior_hdf5_example.darshan"])
def test_a_real_trace_adds_up_to_the_counters(tmp_path, name):
    log = log_of(name, tmp_path)
    if log is None:
        return
    assert log.heat_maps
    for made in log.heat_maps:
        total = log.totals[made.interface]
        assert sum(map(sum, made.read_bytes)) == total["bytes_read"]
        assert sum(map(sum, made.written_bytes)) == total["bytes_written"]
    assert any("every access (DXT)" in note for note in log.notes)


def test_a_trace_that_is_cut_off_is_said_to_be_damaged(tmp_path):
    if log_of("dxt.darshan", tmp_path) is None:
        return
    whole = (BROUGHT / "dxt.darshan").read_bytes()
    path = tmp_path / "cut.darshan"
    path.write_bytes(whole[: 3 * len(whole) // 4])
    log = read_darshan(str(path))
    assert log.missing == ("module DXT_POSIX could not be read: it is damaged",)
    assert log.totals["POSIX"]["bytes_read"] == 22_517_726
