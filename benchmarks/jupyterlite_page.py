"""A JupyterLite page that asks hopperlib one question: what readers would wait for, were the book made with it.

JupyterLite's smallest page, its console, starts a kernel, installs hopperlib and answers. All is served from this
machine: Pyodide from the book's own npm package, the kernel's wheels from the package index by the versions of Pyodide's
list, hopperlib as the zip that the book's pages load. Needs `jupyter-lite` of benchmarks/requirements-peers.txt.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import quote

from hopperbook.site.assets import ROOT, package_zip

TOOL = shutil.which("jupyter-lite")
QUESTION = "hopperkit.memory(need_gb=2, tasks=384).summary"
CODE = f"import piplite\nawait piplite.install('hopperlib')\nimport hopperkit\nprint({QUESTION})"
# What the kernel loads, and what Pyodide's list does not name.
_LOADED, _UNLISTED = ("micropip", "ipython", "jedi", "packaging"), ("comm",)
_KERNEL = "@jupyterlite/pyodide-kernel-extension:kernel"


def _needed(listed: dict[str, Any]) -> dict[str, Any]:
    """Return the packages of Pyodide's list that the kernel loads, with what these need."""
    needed: dict[str, Any] = {}
    names = list(_LOADED)
    while names:
        name = names.pop().replace("_", "-")
        if name not in needed:
            needed[name] = listed[name]
            names += listed[name]["depends"]
    return needed


def _wheel(path: Path, content: bytes | None = None) -> None:
    """Write a wheel of a zip; without one it installs nothing."""
    name, version = path.name.split("-")[:2]
    if content:
        path.write_bytes(content)
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "a" if content else "w") as archive:
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: benchmark\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")


def build(folder: Path) -> Path:
    """Build the site below a folder and return it."""
    assert TOOL is not None
    site, pyodide = folder / "site", ROOT / "node_modules" / "pyodide"
    settings = {"litePluginSettings": {_KERNEL: {"pyodideUrl": "./static/pyodide/pyodide.js"}}}
    (folder / "jupyter-lite.json").write_text(
        json.dumps({"jupyter-lite-schema-version": 0, "jupyter-config-data": settings})
    )
    command = [TOOL, "build", "--lite-dir", str(folder), "--output-dir", str(site), "--apps", "repl", "--no-sourcemaps"]
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    static = site / "static" / "pyodide"
    shutil.copytree(pyodide, static, dirs_exist_ok=True)
    lock = json.loads((pyodide / "pyodide-lock.json").read_text(encoding="utf-8"))
    listed = _needed(lock["packages"])
    # A part of the standard library that is compiled apart; the kernel does without.
    listed["sqlite3"] |= {"file_name": "sqlite3-1.0.0-py3-none-any.whl", "package_type": "package"}
    _wheel(static / listed["sqlite3"]["file_name"])
    pinned = [f"{name}=={package['version']}" for name, package in listed.items() if name != "sqlite3"]
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "-q",
        "--no-deps",
        "--only-binary=:all:",
        "--python-version",
        "3.13",
    ]
    subprocess.run([*command, "-d", str(static), *pinned, *_UNLISTED], check=True)
    for name in ("hopperlib", *_UNLISTED):
        template = {**listed["packaging"], "name": name, "depends": [], "imports": [name]}
        found = next(static.glob(f"{name}-*.whl"), static / f"{name}-1.0-py3-none-any.whl")
        listed[name] = {**template, "file_name": found.name, "version": found.name.split("-")[1]}
    _wheel(static / listed["hopperlib"]["file_name"], package_zip(ROOT / "data"))
    for package in listed.values():
        package["sha256"] = hashlib.sha256((static / package["file_name"]).read_bytes()).hexdigest()
    (static / "pyodide-lock.json").write_text(json.dumps(lock | {"packages": listed}), encoding="utf-8")
    return site


def first_answer_s(context: Any, address: str, answer: str) -> float:
    """Return the time from opening the page to the answer. [s]"""
    page = context.new_page()
    page.goto(f"{address}/repl/index.html?kernel=python&execute=1&code={quote(CODE)}", wait_until="commit")
    begun = page.evaluate("performance.timeOrigin")
    page.get_by_text(answer[:60]).last.wait_for(timeout=180_000)
    seconds: float = (page.evaluate("Date.now()") - begun) / 1000
    page.close()
    return seconds
