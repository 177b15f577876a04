"""Tables in the package, TOML and CSV files next to its modules, cached like Python's modules.

A command reads half a dozen of them before it answers, and a parser written in Python would take a tenth of its
start-up time. Parsed contents are cached in ``__pycache__`` like the bytecode of a module, until the file changes.
"""

import os
from binascii import crc32
from functools import cache
from importlib.machinery import SourceFileLoader
from types import CodeType
from typing import Any

# A package in a zip has no folder. Looked up once: files of a folder are opened without importlib.resources, which
# would take a tenth of a command's start-up time.
_IS_FOLDER = os.path.isdir(os.path.dirname(__file__))
# Appended to a file's name, so that the cache of place.toml does not overwrite that of place.py.
_SUFFIX = ".py"


class _Loader(SourceFileLoader):
    """Python's module loader, for a table file."""

    def path_stats(self, path: Any) -> Any:
        """Return a fingerprint of the content: installers give all files the same time."""
        content = self.get_data(path)
        return {"mtime": crc32(content), "size": len(content)}

    def get_data(self, path: Any) -> bytes:
        """Return the bytes of the file or of its cache."""
        return _bytes(path.removesuffix(_SUFFIX))

    def source_to_code(self, data: Any, path: Any, **_: Any) -> CodeType:  # type: ignore[override]
        """Return a code object that only carries the content: compiling it from source takes ten times longer."""
        text = bytes(data).decode()
        if path.endswith(f".csv{_SUFFIX}"):
            import csv
            from io import StringIO

            content: Any = tuple(csv.DictReader(StringIO(text, newline="")))
        else:
            import tomllib

            content = tomllib.loads(text)
        return compile("None", path, "eval").replace(co_consts=(content,))


def _resource(path: str) -> Any:
    """Return a file or a folder of a package in a zip, by the path that it would have if unpacked."""
    from importlib.resources import files
    from sys import modules

    path = os.path.normpath(path)
    for package in ("hopperlib", "hopperkit", "hopperbook"):
        folder = os.path.dirname(getattr(modules.get(package), "__file__", None) or "")
        if folder and path.startswith(folder + os.sep):
            return files(package).joinpath(*path[len(folder) + 1 :].split(os.sep))
    raise FileNotFoundError(f"{path} is in none of the packages")


def _bytes(path: str) -> bytes:
    """Return the bytes of a package file, in a folder or in a zip."""
    if _IS_FOLDER:
        with open(path, "rb") as file:
            return file.read()
    resource = _resource(path)
    # Python looks for bytecode first, which a zip does not store.
    if not resource.is_file():
        raise FileNotFoundError(f"{path} is not there")
    content: bytes = resource.read_bytes()
    return content


def _content(module: str, name: str) -> Any:
    """Return the parsed contents of a file."""
    # Uses os.path: a command without pathlib starts sooner.
    code: Any = _Loader("", os.path.join(os.path.dirname(module), name) + _SUFFIX).get_code("")
    return code.co_consts[0]


def load_toml_resource(module: str, name: str) -> dict[str, Any]:
    """Read a TOML file next to a module; it may contain no dates, which cannot be cached.

    Parameters
    ----------
    module : str
        Its ``__file__``.
    name : str
        Path of the file relative to the module.

    Examples
    --------
    >>> import hopperlib
    >>> sorted(load_toml_resource(hopperlib.__file__, "machines/hopper.toml"))[:2]
    ['file_system', 'launcher']
    """
    tables: dict[str, Any] = _content(module, name)
    return tables


@cache
def load_csv_resource(module: str, name: str) -> tuple[dict[str, str], ...]:
    """Read the rows of a CSV file next to a module.

    Parameters
    ----------
    module : str
        Name of a module in the package, usually ``__name__``.
    name : str
        The name.

    Examples
    --------
    >>> import hopperlib.failure.diagnosis as diagnosis
    >>> sorted(load_csv_resource(diagnosis.__file__, "first_tries.csv")[0])[:1]
    ['holds']
    """
    rows: tuple[dict[str, str], ...] = _content(module, name)
    return rows


def load_text_resource(module: str, name: str) -> str:
    """Read a text file next to a module, such as a sample.

    Parameters
    ----------
    module : str
        Name of a module in the package, usually ``__name__``.
    name : str
        The name.

    Examples
    --------
    >>> import hopperlib
    >>> load_text_resource(hopperlib.__file__, "machines/hopper.toml").splitlines()[0]
    'name = "hopper"'
    """
    # Line ends are converted as in a file opened as text.
    return _bytes(os.path.join(os.path.dirname(module), name)).decode().replace("\r\n", "\n")


def resource_names(module: str, folder: str) -> list[str]:
    """Return the names in a folder next to a module, sorted.

    Parameters
    ----------
    module : str
        Name of a module in the package, usually ``__name__``.
    folder : str
        Path of the folder.

    Examples
    --------
    >>> import hopperlib
    >>> [name for name in resource_names(hopperlib.__file__, "machines") if name.startswith("hop")]
    ['hopper.toml']
    """
    path = os.path.join(os.path.dirname(module), folder)
    return sorted(os.listdir(path) if _IS_FOLDER else (each.name for each in _resource(path).iterdir()))
