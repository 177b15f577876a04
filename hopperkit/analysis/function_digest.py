"""Digest of everything that a function's results depend on: its code, its closure, and the globals and helpers it uses.

joblib hashes the data. This module adds what joblib hashes by name only: the code of functions and classes of the user,
followed recursively. Installed code and the standard library count by name and version. Files that a function reads are
not part of the digest: pass their contents as a parameter.
"""

import dis
import pickle
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec, resolve_name
from pathlib import Path
from typing import Any, NamedTuple

from joblib.hashing import NumpyHasher

from hopperlib.errors import InputError

# Attributes that Python adds to a class.
_ADDED = {"__dict__", "__weakref__", "__doc__", "__module__", "__firstlineno__", "__static_attributes__", "_abc_impl"}


def function_digest(function: Callable[..., Any]) -> tuple[str, list[types.ModuleType]]:
    """Return a digest of everything that a function depends on, and the user's modules among it.

    Parameters
    ----------
    function : callable
        A function, or an object that can be called and pickled.

    Returns
    -------
    tuple of str and list of modules
        The digest is the same in every process.

    Parameters
    ----------
    function : callable
        Function to hash, with everything that it uses.

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
    hasher = _CodeHasher(getattr(function, "__qualname__", type(function).__name__))
    try:
        digest = hasher.hash(function)
    except Exception as error:  # each class raises a different exception
        kind = type(hasher.last)
        raise InputError(
            f"the ensemble depends on an object that cannot be hashed: {hasher.place} is of {kind.__module__}."
            f"{kind.__name__}, which cannot be pickled ({error}); pass its contents as a parameter, or create it inside "
            "the function"
        ) from None
    return digest, [sys.modules[name] for name in hasher.modules if name in sys.modules and name != "__main__"]


class _Part(NamedTuple):
    """A value, and where it comes from, for messages."""

    place: str
    value: Any


class _CodeHasher(NumpyHasher):  # type: ignore[misc]
    """joblib's hasher, which follows the user's code instead of its name."""

    def __init__(self, name: str) -> None:
        super().__init__("sha256")
        self.place = name
        self.last: Any = None
        self.modules: dict[str, None] = {}
        # Kept alive, so that no identity is used twice.
        self._seen: dict[int, Any] = {}

    def save(self, thing: Any) -> None:
        """Hash one object: code by its content, everything else as joblib does."""
        if isinstance(thing, _Part):
            self.place, thing = thing
        self.last = thing
        super().save(self._content(thing))

    def _batch_setitems(self, items: Iterable[tuple[Any, Any]], *rest: Any) -> None:
        # In the order of the dict: joblib sorts, and falls back to Python's hash, which differs between processes.
        pickle._Pickler._batch_setitems(self, items, *rest)  # type: ignore[attr-defined]

    def _content(self, thing: Any) -> Any:
        """Return the representation of an object for hashing: itself, unless joblib would hash it by its name or its order."""
        if isinstance(thing, set | frozenset):
            return "set", sorted(map(repr, thing))
        if isinstance(thing, types.MappingProxyType):
            return dict(thing)
        if isinstance(thing, types.CodeType):
            # Without its location: moving a notebook cell does not change the digest.
            names = (thing.co_names, thing.co_varnames, thing.co_freevars, thing.co_cellvars)
            return thing.co_code, *names, thing.co_flags, thing.co_argcount, thing.co_kwonlyargcount, thing.co_consts
        if isinstance(thing, types.ModuleType):
            return self._module(thing.__name__)
        if isinstance(thing, type | types.FunctionType):
            return self._definition(thing)
        if isinstance(thing, property):
            return thing.fget, thing.fset
        if isinstance(thing, staticmethod | classmethod):
            return (thing.__func__,)
        # What functools.cache returns, for example.
        return self._content(thing.__wrapped__) if hasattr(thing, "__wrapped__") else thing

    def _definition(self, thing: Any) -> Any:
        """Return the representation of a function or a class: its content if it is the user's."""
        module, name = thing.__module__ or "__main__", thing.__qualname__
        if not _is_user_code(module):
            # Its version stands for its code, not for what it was made with.
            made_with = [] if isinstance(thing, type) else list(_made_with(thing))
            return name, self._module(module), made_with
        if id(thing) in self._seen:
            return "again", list(self._seen).index(id(thing))
        self._seen[id(thing)] = thing
        self.modules[module] = None
        return name, *(self._class(thing) if isinstance(thing, type) else self._function(thing))

    def _class(self, kind: type) -> Iterator[Any]:
        yield kind.__bases__
        for name, member in vars(kind).items():
            if name not in _ADDED and not isinstance(member, types.MemberDescriptorType | types.GetSetDescriptorType):
                yield name, _Part(f"{kind.__qualname__}.{name}", member)

    def _function(self, function: types.FunctionType) -> Iterator[Any]:
        path = function.__qualname__
        yield function.__code__
        yield from _made_with(function)
        names = set(_names(function.__code__))
        for name in sorted(names & set(function.__globals__)):
            value = function.__globals__[name]
            yield name, _Part(f"{path} uses {name}, which", value)
            if isinstance(value, types.ModuleType) and _is_user_code(value.__name__):
                # The module's current state may differ from its source.
                for inner in sorted(names & set(vars(value))):
                    yield inner, _Part(f"{path} uses {name}.{inner}, which", vars(value)[inner])
        package = function.__globals__.get("__package__") or ""
        yield [self._module(name) for name in sorted(set(_imports(function.__code__, package)))]

    def _module(self, name: str) -> tuple[str, Any]:
        """Return a module's name and its version, or its source text if it is user code."""
        if not _is_user_code(name):
            return name, str(getattr(sys.modules.get(name.partition(".")[0]), "__version__", ""))
        self.modules[name] = None
        file = _file(name)
        return name, Path(file).read_bytes() if file and Path(file).is_file() else ""


def _made_with(function: types.FunctionType) -> Iterator[_Part]:
    """Yield a function's defaults, and the values that it encloses."""
    path = function.__qualname__
    yield _Part(f"a default of {path}", (function.__defaults__, function.__kwdefaults__))
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if _is_filled(cell):
            yield _Part(f"{path} encloses {name}, which", cell.cell_contents)


def _file(module: str) -> str | None:
    """Return the file of a module, which need not be imported yet."""
    if module in sys.modules:
        return getattr(sys.modules[module], "__file__", None)
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        return None
    return spec.origin if spec else None


def _is_user_code(module: str) -> bool:
    """Whether a module is user code: not the standard library, not installed, not this package."""
    # `__main__` may be a file of an installed program, such as one that runs notebooks: its globals are the user's.
    if module == "__main__":
        return True
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names or top in ("hopperlib", "hopperkit", "builtins"):
        return False
    file = _file(module)
    known = module in sys.modules or file is not None
    return known and not {"site-packages", "dist-packages"} & set(Path(file or "").parts)


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
