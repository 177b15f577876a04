"""Digest of everything that a function's results depend on: its code, the globals and helpers that it uses, its
closure.

Installed code and the standard library count by name and version; user code counts by content and is followed
recursively. An object counts by what pickle would keep of it. Objects that cannot be pickled cannot be hashed; the
error names them. Files that a function reads are not part of the digest: pass their contents as a parameter.
"""

import dis
import hashlib
import sys
import types
from collections.abc import Callable, Iterator
from functools import partial
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, resolve_name
from pathlib import Path
from typing import Any

from hopperlib.errors import InputError

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...), type(NotImplemented), range, slice)
# Of a class, what Python adds by itself.
_ADDED = {"__dict__", "__weakref__", "__doc__", "__module__", "__firstlineno__", "__static_attributes__"}


def function_digest(function: Callable[..., Any]) -> tuple[str, list[types.ModuleType]]:
    """Return a digest of everything that a function depends on, and the user modules among it.

    Raises
    ------
    InputError
        If it depends on something that cannot be pickled, such as an open file; the message names it.

    Examples
    --------
    >>> def times(factor):
    ...     return lambda seed: factor * seed
    >>> once, again, other = (function_digest(times(factor))[0] for factor in (1, 1, 100))
    >>> once == again, once == other
    (True, False)
    """
    reached = _Reached()
    reached.add(function, getattr(function, "__qualname__", type(function).__name__))
    own = [sys.modules[name] for name in reached.modules if name in sys.modules and name != "__main__"]
    return reached.digest.hexdigest(), own


def _is_own(module: str) -> bool:
    """Whether a module is user code: not the standard library, not installed, not this package."""
    # `__main__` may be a file of an installed program, such as one that runs notebooks: its globals are the user's.
    if module == "__main__":
        return True
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names or top in ("hopperlib", "hopperkit", "builtins"):
        return False
    known = sys.modules.get(module)
    file = getattr(known, "__file__", None) or ""
    return known is not None and not {"site-packages", "dist-packages"} & set(Path(file).parts)


def _spec(name: str) -> ModuleSpec | None:
    """Return the module's spec; None if it cannot be found."""
    try:
        return find_spec(name)
    except (ImportError, ValueError):
        return None


class _Reached:
    """Recursive walk over a function's dependencies."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self.modules: dict[str, None] = {}
        # Visited objects are kept alive so that their ids are not reused.
        self._seen: dict[int, tuple[int, Any]] = {}

    def _write(self, *words: object) -> None:
        self.digest.update(repr(words).encode())

    def add(self, thing: Any, path: str) -> None:
        """Take a thing into the digest; `path` is what messages call it."""
        if isinstance(thing, _PLAIN):
            return self._write(type(thing).__name__, thing)
        if id(thing) in self._seen:
            return self._write("again", self._seen[id(thing)][0])
        self._seen[id(thing)] = len(self._seen), thing
        if isinstance(thing, types.CodeType):
            return self._code(thing, path)
        if isinstance(thing, types.ModuleType):
            return self._module(thing.__name__)
        if isinstance(thing, types.MethodType):
            return self._all((thing.__func__, thing.__self__), path)
        if isinstance(thing, types.FunctionType):
            return self._function(thing, path)
        if isinstance(thing, type):
            return self._class(thing, path)
        if hasattr(thing, "__wrapped__"):
            return self.add(thing.__wrapped__, path)
        return self._data(thing, path)

    def _all(self, things: Any, path: str) -> None:
        for thing in things:
            self.add(thing, path)

    def _data(self, thing: Any, path: str) -> None:
        """Add a container or, for any other object, its pickled state."""
        self._write(type(thing).__name__)
        if type(thing) in (tuple, list):
            self._all(thing, path)
        elif type(thing) is dict:
            self._all((part for pair in thing.items() for part in pair), path)
        elif isinstance(thing, set | frozenset):
            self._write(*sorted(map(repr, thing)))
        elif isinstance(thing, partial):
            self._all((thing.func, thing.args, thing.keywords), path)
        elif isinstance(thing, types.BuiltinFunctionType):
            self._write(thing.__module__, thing.__qualname__)
            self.add(None if isinstance(thing.__self__, types.ModuleType) else thing.__self__, path)
        else:
            self._object(thing, path)

    def _object(self, thing: Any, path: str) -> None:
        try:
            kept = thing.__reduce_ex__(4)
        except Exception as error:  # each class raises a different exception
            what = f"{path} is of {type(thing).__module__}.{type(thing).__name__}"
            raise InputError(
                f"what the ensemble hangs on cannot be keyed: {what}, which cannot be kept ({error}); "
                "give what it holds as a parameter, or make it inside the function"
            ) from None
        if isinstance(kept, str):
            return self._write(type(thing).__module__, kept)
        make, arguments, state, *items = (*kept, None, None, None)[:5]
        self._all((make, arguments, state), path)
        for more in items:
            self._all(more or (), path)
        return None

    def _module(self, name: str) -> None:
        """Add a module by version, or by source text if it is user code."""
        self._write("module", name)
        if not _is_own(name):
            top = sys.modules.get(name.partition(".")[0])
            return self._write(str(getattr(top, "__version__", "")))
        self.modules[name] = None
        file = getattr(sys.modules[name], "__file__", None)
        if file and Path(file).is_file():
            self.digest.update(Path(file).read_bytes())
        return None

    def _class(self, kind: type, path: str) -> None:
        self._write(kind.__module__, kind.__qualname__)
        if not _is_own(kind.__module__):
            return self._module(kind.__module__)
        self.modules[kind.__module__] = None
        for name, member in vars(kind).items():
            if name not in _ADDED and not isinstance(member, types.MemberDescriptorType):
                inner = (
                    (member.fget, member.fset) if isinstance(member, property) else getattr(member, "__func__", member)
                )
                self._write(name)
                self.add(inner, f"{path}.{name}")
        return self._all(kind.__bases__, path)

    def _function(self, function: types.FunctionType, path: str) -> None:
        cells = [cell for cell in function.__closure__ or () if _is_filled(cell)]
        for name, cell in zip(function.__code__.co_freevars, cells, strict=False):
            self.add(cell.cell_contents, f"{path} encloses {name}, which")
        self._all((function.__defaults__, function.__kwdefaults__), f"a default of {path}")
        if not _is_own(function.__module__ or "__main__"):
            self._write(function.__module__, function.__qualname__)
            return self._module(function.__module__)
        self.modules[function.__module__] = None
        self.add(function.__code__, path)
        names = set(_names(function.__code__))
        for name in sorted(names & set(function.__globals__)):
            value = function.__globals__[name]
            self._write(name)
            self.add(value, f"{path} uses {name}, which")
            if isinstance(value, types.ModuleType) and _is_own(value.__name__):
                # The module's current state may differ from its source.
                for inner in sorted(names & set(vars(value))):
                    self.add(vars(value)[inner], f"{path} uses {name}.{inner}, which")
        package = function.__globals__.get("__package__") or ""
        for name in sorted(set(_imports(function.__code__, package))):
            self._import(name)
        return None

    def _import(self, name: str) -> None:
        """Add modules imported inside the function: user files by their text."""
        spec = _spec(name)
        if spec is None or spec.origin is None or name.partition(".")[0] in sys.stdlib_module_names:
            return self._write(name)
        if name in sys.modules or "site-packages" in Path(spec.origin).parts:
            return self._module(name)
        self._write(name)
        return self.digest.update(Path(spec.origin).read_bytes())

    def _code(self, code: types.CodeType, path: str) -> None:
        # Without its location: moving a notebook cell does not change the digest.
        self._write(code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_flags)
        self._write(code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
        self._all(code.co_consts, path)


def _is_filled(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def _names(code: types.CodeType) -> Iterator[str]:
    """Yield the names that code and the functions in it look up."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _names(inner)


def _imports(code: types.CodeType, package: str) -> Iterator[str]:
    """Yield the modules that code, and the functions in it, import."""
    before: list[Any] = []
    for step in dis.get_instructions(code):
        if step.opname == "IMPORT_NAME":
            level = next((value for value in reversed(before[:-1]) if isinstance(value, int)), 0)
            yield resolve_name("." * level + step.argval, package) if level else step.argval
        before = [*before[-3:], step.argval]
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _imports(inner, package)
