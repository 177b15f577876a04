"""Real logs through pydarshan, which has wheels for some versions of Python only.

Where it is not installed, the same calls must say so. The logs are those that
come with pydarshan, and the shared samples where they are present.
"""

import importlib.util
import os
import random
from pathlib import Path
from types import SimpleNamespace

import pytest

from hopperkit.iologs.darshan_findings import findings
from hopperkit.iologs.darshan_summary import summary
from hopperkit.readers.darshan import DarshanMissing, _job, read_darshan, read_darshan_logs
from hopperlib.machine import Machine

ROOT = Path(__file__).parents[3]
SHARED = Path(os.environ.get("HOPPER_SAMPLES", ROOT / ".." / "shared" / "samples")) / "darshan"
SPEC = importlib.util.find_spec("darshan")
BROUGHT = Path(next(iter(SPEC.submodule_search_locations))) / "examples" / "example_logs" if SPEC else None


def test_ci_reads_real_logs():
    """`.ci/run` installs pydarshan where it has wheels, so that what follows is more than a question for it."""
    assert SPEC or not os.environ.get("HOPPER_DARSHAN")


def test_a_head_of_zeros_is_damage():
    """Pydarshan's result if it cannot unpack the head of a log."""
    with pytest.raises(ValueError, match="its header is damaged"):
        _job(SimpleNamespace(metadata={"job": {"nprocs": 0, "run_time": 0.0}, "exe": ""}))


def log_of(name, tmp_path):
    """The log of that name; None if it or pydarshan is missing, and then the message requests pydarshan."""
    places = [folder / name for folder in (BROUGHT, SHARED) if folder and (folder / name).is_file()]
    if SPEC and places:
        return read_darshan(str(places[0]))
    if not SPEC:
        path = tmp_path / "any.darshan"
        path.write_bytes(b"")
        with pytest.raises(DarshanMissing):
            read_darshan(str(path))
    return None


def codes(log):
    return {one.code: one for one in findings(log, Machine.load("hopper"))}


def test_slow_ost(tmp_path):
    """2,048 files of 256 MiB on 24 OSTs: OST 14 has a fiftieth of the others' rate."""
    log = log_of("sample-badost.darshan", tmp_path)
    if log is None:
        return
    found = codes(log)
    # The costliest comes first; that tasks take unequal times follows from it.
    assert next(iter(found)) == "slow-ost"
    assert set(found) <= {"slow-ost", "uneven-time", "stdio"}
    evidence = found["slow-ost"].evidence
    assert (found["slow-ost"].level, evidence["ost"], evidence["files"]) == ("problem", 14, 85)
    assert 40 < evidence["factor"] < 60
    # 85 files of 2**28 bytes.
    assert evidence["bytes"] == 85 * 2**28


def test_healthy_log(tmp_path):
    log = log_of("sample-goodost.darshan", tmp_path)
    if log is None:
        return
    assert codes(log) == {}
    numbers = summary(log)
    # 48 tasks with a file of 1 GiB each, in calls of 8 MiB.
    assert (numbers["files"], numbers["bytes_written"], numbers["write_calls"]) == (48, 48 * 2**30, 48 * 128)
    assert numbers["access_sizes"] == {"read": {}, "write": {"4M_10M": 48 * 128}}
    assert numbers["stripe_settings"] == [{"stripe_count": 1, "stripe_size_bytes": 2**20, "files": 48}]


@pytest.mark.parametrize("name", ["example.darshan"])
def test_one_file_over_all_osts(tmp_path, name):
    log = log_of(name, tmp_path)
    if log is None:
        return
    found = codes(log)
    assert found["slow-ost"].level == "unknown"
    assert "the log cannot separate them" in found["slow-ost"].message
    assert found["misaligned"].evidence["unaligned_calls"] == 16401
    assert summary(log)["shared_files"] == 1


def test_log_without_the_posix_module(tmp_path):
    log = log_of("noposix.darshan", tmp_path)
    if log is None:
        return
    assert "the log has no POSIX module: no access sizes" in log.notes
    assert codes(log)["slow-ost"].level == "unknown"
    assert summary(log)["bytes_read"] == 1812408359


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(2, 6))])
def test_damaged_logs_give_a_message_or_what_is_left(tmp_path, seed):
    """The library below pydarshan crashes on most of these; nothing of that reaches the caller."""
    if not SPEC:
        assert log_of("any", tmp_path) is None
        return
    rng = random.Random(seed)
    data = bytearray((BROUGHT / "noposix.darshan").read_bytes())
    if seed % 2:
        data = data[: rng.randrange(len(data))]
    else:
        for _ in range(20):
            data[rng.randrange(1200)] = rng.randrange(256)
    path = tmp_path / "damaged.darshan"
    path.write_bytes(data)
    try:
        log = read_darshan(str(path))
    except ValueError as error:
        assert "cannot be read as a Darshan log" in str(error)  # noqa: PT017
        return
    findings(log, Machine.load("hopper"))
    summary(log)


@pytest.mark.parametrize("pattern", ["shane*.darshan", pytest.param("*.darshan", marks=pytest.mark.nightly)])
def test_no_number_differs_from_the_counters(pattern):
    """Bytes of every module of logs that come with pydarshan, summed by pandas."""
    if not SPEC:
        return
    import darshan

    prefixes = {"MPI-IO": "MPIIO"}
    logs = dict(read_darshan_logs(sorted(BROUGHT.glob(pattern))))
    assert logs
    for path, log in logs.items():
        report = darshan.DarshanReport(path, read_all=False)
        for module, total in log.totals.items():
            report.mod_read_all_records(module)
            counters = report.records[module].to_df()["counters"]
            for name in ("BYTES_READ", "BYTES_WRITTEN"):
                column = f"{prefixes.get(module, module)}_{name}"
                if column in counters:
                    assert total[name.lower()] == counters[column].clip(lower=0).sum(), (path, column)
        assert summary(log)["bytes_read"] <= sum(total["bytes_read"] for total in log.totals.values())


def test_a_log_with_layouts_after_one_with_a_trace_is_read(tmp_path):
    """One process reads both: the library never finished reading layouts after a trace."""
    if log_of("dxt.darshan", tmp_path) is None:
        return
    names = ["dxt.darshan", "example.darshan"]
    logs = [log for _, log in read_darshan_logs([BROUGHT / name for name in names], timeout_s=60)]
    assert [len({ost for file in log.files for ost in file.osts}) for log in logs] == [0, 24]
    assert "in the log and not used here: DXT_POSIX" in logs[0].notes
