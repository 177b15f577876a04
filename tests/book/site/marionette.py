"""Firefox without a driver program: the few commands of its Marionette protocol that the tests need."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")

# No other host can be reached, and Firefox itself asks none.
PREFERENCES = {
    "marionette.port": 0,
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
    "network.proxy.no_proxies_on": "127.0.0.1",
    "network.proxy.allow_hijacking_localhost": False,
    "app.update.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.page": 0,
}
PATIENCE_S = 60


class Firefox:
    """A Firefox with an empty profile in a folder; a context manager."""

    def __init__(self, profile: Path) -> None:
        lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in PREFERENCES.items())
        (profile / "user.js").write_text("\n".join(lines), encoding="utf-8")
        command = [str(FIREFOX), "--headless", "--marionette", "--no-remote", "--profile", str(profile)]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._connection = self._connected(profile / "MarionetteActivePort")
        self._number = 0
        self._read()  # what it says of itself
        self.ask("WebDriver:NewSession", {"capabilities": {"alwaysMatch": {"pageLoadStrategy": "normal"}}})
        self.ask("WebDriver:SetTimeouts", {"script": 1000 * PATIENCE_S, "pageLoad": 1000 * PATIENCE_S})

    def _connected(self, port_file: Path) -> socket.socket:
        """Return a connection, once Firefox has written which port it listens on."""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            if port_file.is_file() and (port := port_file.read_text(encoding="ascii").strip()):
                return socket.create_connection(("127.0.0.1", int(port)), timeout=2 * PATIENCE_S)
            assert self._process.poll() is None, f"{FIREFOX} ended with status {self._process.returncode}"
            time.sleep(0.1)
        raise TimeoutError(f"{FIREFOX} wrote no {port_file.name} within {PATIENCE_S} s")

    def _read(self) -> Any:
        """Return one message: its length, a colon, and JSON."""
        length = b""
        while (byte := self._connection.recv(1)) != b":":
            assert byte, "Firefox closed the connection"
            length += byte
        text = b""
        while len(text) < int(length):
            text += self._connection.recv(int(length) - len(text))
        return json.loads(text)

    def ask(self, command: str, parameters: dict[str, Any]) -> Any:
        """Return what a command gives."""
        self._number += 1
        message = json.dumps([0, self._number, command, parameters]).encode()
        self._connection.sendall(b"%d:%s" % (len(message), message))
        _, number, error, result = self._read()
        assert number == self._number
        assert error is None, f"{command}: {error}"
        return result

    def open(self, address: str) -> None:
        """Open a page and wait until its scripts are alive."""
        self.ask("WebDriver:Navigate", {"url": address})
        self.wait("document.documentElement.classList.contains('hopper-ready')")

    def evaluate(self, script: str, *values: Any) -> Any:
        """Return the result of an asynchronous function body in the page."""
        body = f"const done = arguments[arguments.length - 1]; (async (...values) => {{ {script} }})(...arguments).then(done)"
        parameters = {"script": body, "args": list(values), "newSandbox": False, "sandbox": None}
        return self.ask("WebDriver:ExecuteAsyncScript", parameters)["value"]

    def wait(self, condition: str) -> None:
        """Wait until a condition holds in the page."""
        script = f"while (!({condition})) await new Promise((then) => setTimeout(then, 50)); return true;"
        assert self.evaluate(script)

    def __enter__(self) -> Firefox:
        return self

    def __exit__(self, *error: object) -> None:
        self._connection.close()
        self._process.terminate()
        self._process.wait(PATIENCE_S)
