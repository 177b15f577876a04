"""The Open OnDemand app: the center's built site, and the widget's data at ``jobs.json``.

Open OnDemand runs it as the user who opens the page. HOPPER_SITE is the folder that `make html` built.
"""

import mimetypes
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SITE = Path(os.environ.get("HOPPER_SITE", "/var/www/hopper")).resolve()
# Browsers start the page's Python only with these types.
mimetypes.add_type("application/wasm", ".wasm")
mimetypes.add_type("text/javascript", ".mjs")


def application(environ, start_response):
    """Answer one request."""
    path = environ.get("PATH_INFO", "").lstrip("/")
    if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
        return _answer(start_response, "405 Method Not Allowed", "text/plain", b"")
    if path == "jobs.json":
        done = subprocess.run([sys.executable, HERE / "hopper_jobs.py"], capture_output=True, timeout=300, check=False)
        status = "500 Internal Server Error" if done.returncode else "200 OK"
        return _answer(start_response, status, "application/json", done.stdout, "no-store")
    if path == "widget.html":
        file = HERE / "widget.html"
    else:
        file = (SITE / path).resolve()
        file = file / "index.html" if file.is_dir() else file
        if not file.is_relative_to(SITE) or not file.is_file():
            return _answer(start_response, "404 Not Found", "text/plain", b"There is no such page.\n")
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    return _answer(start_response, "200 OK", kind, file.read_bytes())


def _answer(start_response, status, kind, body, cache="no-cache"):
    """Send an answer."""
    headers = [("Content-Type", kind), ("Content-Length", str(len(body))), ("Cache-Control", cache)]
    start_response(status, [*headers, ("X-Content-Type-Options", "nosniff")])
    return [body]
