"""Serving the built book."""

from __future__ import annotations

import subprocess
import sys
import urllib.request

import pytest

from hopperbook.serve import main, server_for


@pytest.fixture
def folder(tmp_path):
    static = tmp_path / "_static" / "live-0123456789ab"
    static.mkdir(parents=True)
    (tmp_path / "index.html").write_text("<p>front</p>", encoding="utf-8")
    for name in ("a.mjs", "a.wasm", "a.woff2", "a.svg"):
        (static / name).write_bytes(b"x")
    return tmp_path


@pytest.fixture
def served(folder):
    """The address that the command prints."""
    command = [sys.executable, "-m", "hopperbook.serve", "--folder", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        line = process.stdout.readline()
        yield line.split()[4]
        process.terminate()


def test_types_and_caching(served):
    types = {
        "a.mjs": "text/javascript",
        "a.wasm": "application/wasm",
        "a.woff2": "font/woff2",
        "a.svg": "image/svg+xml",
    }
    for name, expected in types.items():
        with urllib.request.urlopen(f"{served}_static/live-0123456789ab/{name}") as reply:
            assert reply.headers["Content-Type"] == expected
            assert "immutable" in reply.headers["Cache-Control"]
    with urllib.request.urlopen(served) as reply:
        assert reply.headers["Cache-Control"] == "no-cache"
        assert reply.read() == b"<p>front</p>"


def test_a_taken_port_is_passed_over(folder):
    with server_for(folder, 0) as first:
        taken = first.server_port
        with server_for(folder, taken) as second:
            assert taken < second.server_port < taken + 50


def test_only_this_machine_is_served(folder):
    with server_for(folder, 0) as server:
        assert server.server_address[0] == "127.0.0.1"


def test_no_book_is_one_line(tmp_path, capsys):
    assert main(["--folder", str(tmp_path)]) == 2
    assert "build it first with `make html`" in capsys.readouterr().err
