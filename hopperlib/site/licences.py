"""The licence texts of what the site serves: its own, and those of the parts that it bundles."""

from __future__ import annotations

import json
import sysconfig
from pathlib import Path

from hopperlib.site.assets import NPM_FILES

__all__ = ["licence_texts", "write_licences"]

_MOZILLA = "Mozilla Public License Version 2.0"


def licence_texts(root: Path, node_modules: Path) -> dict[str, str]:
    """Return the texts by name of the file, from what is installed: own, npm's parts, Python's library.

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
        If a part is installed without a text that says its licence.

    Examples
    --------
    >>> from hopperlib.site.assets import PACKAGE
    >>> licence_texts(PACKAGE.parent, PACKAGE.parent / "node_modules")["hopperlib.txt"][:20]
    'BSD 3-Clause License'
    """
    python = Path(sysconfig.get_path("stdlib")) / "LICENSE.txt"
    files = {"hopperlib.txt": root / "LICENSE", "book.txt": root / "LICENSE-CC-BY", "python-library.txt": python}
    texts = {name: file.read_text(encoding="utf-8") for name, file in files.items() if file.is_file()}
    # Some systems leave the text out of Python's library.
    texts.setdefault(
        "python-library.txt", "Python Software Foundation License: https://docs.python.org/3/license.html\n"
    )
    packages = {"/".join(name.split("/")[: 1 + name.startswith("@")]) for name in NPM_FILES}
    for package in sorted(packages):
        folder = node_modules / package
        kind = json.loads((folder / "package.json").read_text(encoding="utf-8"))["license"]
        own = next(iter(sorted(folder.glob("LICEN[CS]E*"))), None)
        text = own.read_text(encoding="utf-8") if own else _mozilla() if kind == "MPL-2.0" else ""
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
    items = "".join(f'<li><a href="{name}">{name.removesuffix(".txt")}</a></li>' for name in sorted(texts))
    (folder / "index.html").write_text(
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Licences</title></head>'
        f"<body><main><h1>Licences of what these pages serve</h1><ul>{items}</ul></main></body></html>\n",
        encoding="utf-8",
    )
