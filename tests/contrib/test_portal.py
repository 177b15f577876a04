"""The portal's app as Open OnDemand calls it, with a made-up sacct and squeue."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from wsgiref.util import setup_testing_defaults
from wsgiref.validate import validator

import pytest
import yaml

from tests.contrib.conftest import ROOT

PORTAL = ROOT / "contrib" / "portal"


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """A client of the app; its site has two pages."""
    (tmp_path / "site" / "page").mkdir(parents=True)
    (tmp_path / "site" / "index.html").write_text("<h1>Front</h1>", encoding="utf-8")
    (tmp_path / "site" / "page" / "index.html").write_text("<h1>Page</h1>", encoding="utf-8")
    (tmp_path / "site" / "py.wasm").write_bytes(b"\0asm")
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    monkeypatch.setenv("HOPPER_SITE", str(tmp_path / "site"))
    spec = importlib.util.spec_from_file_location("passenger_wsgi", PORTAL / "passenger_wsgi.py")
    app = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(app)

    def get(path, method="GET"):
        environ = {"PATH_INFO": path, "REQUEST_METHOD": method, "QUERY_STRING": "", "SCRIPT_NAME": ""}
        setup_testing_defaults(environ)
        head = {}
        parts = validator(app.application)(
            environ, lambda status, headers, _=None: head.update(status=status, **dict(headers))
        )
        body = b"".join(parts)
        parts.close()
        return head["status"][:3], head.get("Content-Type"), body

    return get


def test_the_app_serves_the_site_and_nothing_else(ask):
    assert ask("/") == ("200", "text/html", b"<h1>Front</h1>")
    assert ask("/page/") == ("200", "text/html", b"<h1>Page</h1>")
    assert ask("/py.wasm")[:2] == ("200", "application/wasm")
    assert ask("/widget.html")[2] == (PORTAL / "widget.html").read_bytes()
    for path in ("/../secret", "/page/../../secret", "/none", "//etc/passwd"):
        assert ask(path)[0] == "404", path
    assert ask("/", method="POST")[0] == "405"
    assert yaml.safe_load((PORTAL / "manifest.yml").read_text(encoding="utf-8"))["name"] == "Hopper"


def test_failed_and_waiting_jobs_with_their_reasons(ask, tmp_path, monkeypatch):
    programs = {
        "sacct": f"echo '7|FAILED|2026-01-01T00:00:00|out-%j.txt||{tmp_path}|my|name'; echo '8|TIMEOUT|2026-01-02T00:00:00|||{tmp_path}|b'",
        "squeue": "echo '9|Priority|2026-01-03T00:00:00|c'; echo '10|Odd|N/A|<b>'",
        "hopper": f'exec "{sys.executable}" -m hopperkit "$@"',
    }
    for name, commands in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{commands}\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "out-7.txt").write_text("ModuleNotFoundError: No module named 'x'\n", encoding="utf-8")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    status, kind, body = ask("/jobs.json")
    assert (status, kind) == ("200", "application/json")
    jobs = json.loads(body)
    later, first = jobs["failed"]
    assert (first["job"], first["name"], first["state"]) == ("7", "my|name", "FAILED")
    assert first["cause"].startswith("A Python package is missing")
    assert first["steps"]
    assert later["cause"] == "Its output was not found."
    assert [job["why"] for job in jobs["waiting"]] == [
        "Jobs with a higher priority wait before it. Slurm plans its start for 2026-01-03T00:00:00.",
        "Slurm says: Odd.",
    ]


def test_without_slurm_the_lists_are_empty(ask, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert json.loads(ask("/jobs.json")[2]) == {"failed": [], "waiting": []}
