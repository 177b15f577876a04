"""A stub for pydarshan, so that the code around it is tested everywhere: intact, damaged, missing."""

from __future__ import annotations

import sys
import textwrap

import pytest

STAND_IN = """
import os, signal

class Array(list):
    def tolist(self):
        return list(self)

class Records(list):
    def to_numpy(self):
        return list(self)

class DarshanReport:
    def __init__(self, path, read_all=True):
        text = open(path).read()
        if "no log" in text:
            raise RuntimeError("Failed to open file.")
        self.text = text
        self.metadata = {
            "job": {"jobid": 7, "nprocs": 24, "start_time_sec": 100, "end_time_sec": 139,
                    "metadata": {"h": "romio_no_indep_rw=true;cb_nodes=4"}},
            "exe": "/home/u/a.out --secret <b>",
        }
        self.modules = {name: {"partial_flag": name in text.split()} for name in ("POSIX", "APXC", "LUSTRE")}
        self.name_records, self.records = {}, {}
        self.counters = {
            "POSIX": {"counters": ["POSIX_BYTES_WRITTEN", "POSIX_WRITES", "POSIX_MODE"], "fcounters": ["POSIX_F_WRITE_TIME"]},
            "LUSTRE": {"counters": ["LUSTRE_STRIPE_WIDTH", "LUSTRE_STRIPE_SIZE"] if "old form" in text
                       else ["LUSTRE_COMP_STRIPE_COUNT", "LUSTRE_COMP_STRIPE_SIZE"]},
        }
    def mod_read_all_records(self, module):
        if "bad " + module in self.text:
            raise ValueError("bad records")
        number = list(range(24))
        self.name_records = {n: f"/scratch/out.{n}" for n in number}
        self.records[module] = Records(
            {"id": n, "rank": n, "counters": Array([10**9, 100, 0]), "fcounters": Array([400.0 if n == 14 else 10.0])}
            for n in number)
    def mod_read_all_lustre_records(self):
        if "crash" in self.text:
            os.kill(os.getpid(), signal.SIGABRT)
        parts = [{"id": n, "rank": n, "counters": Array([1, 1 << 20]), "ost_ids": Array([n])} for n in range(24)]
        if "old form" not in self.text:
            parts = [{"id": part["id"], "rank": part["rank"], "components": [part]} for part in parts]
        self.records["LUSTRE"] = Records(parts)
"""


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Return a function that writes a log for the stub, which reads it instead of pydarshan."""
    package = tmp_path / "packages" / "darshan"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(textwrap.dedent(STAND_IN), encoding="utf-8")
    monkeypatch.syspath_prepend(str(package.parent))

    def write(text="healthy"):
        path = tmp_path / "job.darshan"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


@pytest.fixture
def without_pydarshan(tmp_path, monkeypatch):
    """Make pydarshan as good as not installed."""
    package = tmp_path / "packages" / "darshan"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError('not installed')", encoding="utf-8")
    monkeypatch.syspath_prepend(str(package.parent))
    assert str(package.parent) in sys.path
