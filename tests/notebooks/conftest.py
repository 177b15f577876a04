"""A separate JupyterLab for the tests: separate folders, a free port, ended afterwards."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

START_WITHIN_S = 120


class Lab(NamedTuple):
    """A running JupyterLab: the folder of its notebooks, its address, its token."""

    folder: Path
    url: str
    token: str


def _environment(home: Path, root: Path) -> dict[str, str]:
    """Return an environment in which nothing of the user's Jupyter is read or written."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("JUPYTER", "IPYTHON", "XDG_"))}
    kept.pop("HOPPERLIB_RENDER", None)
    return kept | {
        "HOME": str(home),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "IPYTHONDIR": str(home / "ipython"),
        # The kernels of this environment, not those of the user.
        "JUPYTER_PREFER_ENV_PATH": "1",
        "PYTHONPATH": str(root),
    }


def _end(server: subprocess.Popen[str]) -> None:
    """End the server, which ends its kernels. It would wait for one that has not started yet; without a server that ends
    by itself."""
    server.terminate()
    try:
        server.wait(timeout=3)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Iterator[Lab]:
    """A JupyterLab over an empty folder, for the tests of one module."""
    home, folder = tmp_path_factory.mktemp("jupyter"), tmp_path_factory.mktemp("lab")
    # JupyterLab would ask whether it may fetch news, in a box over the page.
    notification = home / "settings" / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
    notification.parent.mkdir(parents=True)
    notification.write_text('{"fetchNews": "false", "checkForUpdates": false}', encoding="utf-8")
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--ServerApp.ip=127.0.0.1", "--ServerApp.port=0"]
    command += [f"--ServerApp.root_dir={folder}", "--LabApp.extension_manager=readonly", "--ServerApp.allow_root=True"]
    server = subprocess.Popen(
        command, cwd=folder, env=_environment(home, root), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    assert server.stderr is not None
    # Reading waits for the next line; a server that says nothing more is ended.
    watch = threading.Timer(START_WITHIN_S, server.kill)
    watch.start()
    said = []
    for line in server.stderr:
        said.append(line)
        address = re.search(r"(http://127\.0\.0\.1:\d+)/lab\?token=(\w+)", line)
        if address:
            break
    else:
        pytest.fail("JupyterLab did not start:\n" + "".join(said[-40:]))
    watch.cancel()
    # Read on, or the server would stop when the pipe is full.
    reader = threading.Thread(target=server.stderr.read, daemon=True)
    reader.start()
    try:
        yield Lab(folder, address[1], address[2])
    finally:
        _end(server)
        reader.join()
        server.stderr.close()
