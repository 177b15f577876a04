"""Serve the built book on this machine: ``python -m hopperbook.serve``."""

import argparse
import http.server
import sys
import webbrowser
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent.parent / "_build" / "html"

# How many ports to try from the first one on.
PORTS_TRIED = 50


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves files: scripts and WebAssembly under the types that browsers insist on."""

    extensions_map = http.server.SimpleHTTPRequestHandler.extensions_map | {
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
        ".woff": "font/woff",
        ".woff2": "font/woff2",
        ".svg": "image/svg+xml",
        ".ipynb": "application/x-ipynb+json",
    }

    _found = False

    def send_response(self, code: int, message: str | None = None) -> None:
        """Remember whether there is something to keep."""
        self._found = code in (200, 304)
        super().send_response(code, message)

    def end_headers(self) -> None:
        """Cache the content-addressed folder; revalidate everything else each time."""
        # A missing file may exist after the next build.
        kept = self._found and "/_static/live-" in self.path
        self.send_header("Cache-Control", "public, max-age=31536000, immutable" if kept else "no-cache")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing about each file."""


def server_for(folder: Path, port: int) -> http.server.ThreadingHTTPServer:
    """Return a server of a folder, on this port or the next one that is free.

    Parameters
    ----------
    folder : Path
    port : int
        First port to try; 0 takes any.

    Raises
    ------
    OSError
        If none of fifty ports is free.

    Examples
    --------
    >>> with server_for(Path("."), 0) as first, server_for(Path("."), first.server_port) as second:
    ...     second.server_port > first.server_port
    True
    """
    handler = partial(Handler, directory=str(folder))
    for candidate in range(port, port + (PORTS_TRIED if port else 1)):
        try:
            return _Server(("127.0.0.1", candidate), handler)
        except (OSError, OverflowError):
            continue
    raise OSError(f"no port from {port} to {port + PORTS_TRIED - 1} is free on this machine: name one with --port")


class _Server(http.server.ThreadingHTTPServer):
    """A server that never shares its port with another one."""

    daemon_threads = True
    allow_reuse_address = sys.platform != "win32"
    # Two servers on one port would alternate, each with a different book.
    allow_reuse_port = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a browser that has heard enough."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve from the command line until interrupted; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m hopperbook.serve", description="Serve the built book on this machine."
    )
    parser.add_argument("--port", type=int, default=8000, help="first port to try (8000)")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="folder of the built site")
    parser.add_argument("--open", action="store_true", help="open it in a browser")
    given = parser.parse_args(arguments)
    if not (given.folder / "index.html").exists():
        print(f"hopper: {given.folder} holds no book: build it first with `make html`", file=sys.stderr)
        return 2
    try:
        server = server_for(given.folder, given.port)
    except OSError as error:
        print(f"hopper: {error}", file=sys.stderr)
        return 2
    with server:
        address = f"http://localhost:{server.server_port}/"
        print(f"The book is at {address}  (stop with Ctrl+C)", flush=True)
        if given.open:
            webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
