"""Layouts of Lustre as options of ``lfs setstripe``: plain, or progressive with a component for each part of a file.

The first bytes of a file may be on the metadata server (``-L mdt``, Data on MDT), the next on one OST of a fast pool,
the rest on many. A component begins where the one before it ends [1]_.

References
----------
.. [1] Lustre Operations Manual, Managing File Layout, Progressive File Layout (PFL) and Data on MDT (DoM).
"""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from hopperlib.errors import InputError
from hopperlib.units import binary_size_text, size_bytes

_VALUES = ("-E", "-c", "-S", "-L", "-p", "-z", "-i", "-C")
_LONG = {
    "--component-end": "-E",
    "--stripe-count": "-c",
    "--stripe-size": "-S",
    "--layout": "-L",
    "--pool": "-p",
    "--extension-size": "-z",
    "--stripe-index": "-i",
    "--overstripe-count": "-C",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """One part of a file's layout.

    Parameters
    ----------
    end_bytes : int or None
        Where it ends; None for the end of the file. [bytes]
    stripe_count : int or None
        OSTs, -1 for all; None if not set in the options.
    stripe_size_bytes : int or None
        [bytes]
    pool : str
        Pool of OSTs; empty for none.
    on_mdt : bool
        Whether it is on the metadata server.
    extension_bytes : int or None
        Size by which the component grows (``-z``). [bytes]

    Examples
    --------
    >>> Component(end_bytes=1 << 30, stripe_count=4, stripe_size_bytes=1 << 20, pool="flash").options
    '-E 1G -c 4 -S 1M -p flash'
    """

    end_bytes: int | None = None
    stripe_count: int | None = None
    stripe_size_bytes: int | None = None
    pool: str = ""
    on_mdt: bool = False
    extension_bytes: int | None = None

    @property
    def options(self) -> str:
        """The options that create it as a component of a progressive layout."""
        return f"-E {'-1' if self.end_bytes is None else binary_size_text(self.end_bytes)} {self.plain_options}"

    @property
    def plain_options(self) -> str:
        """The options that create it as the layout of a whole file."""
        return " ".join(self._words())

    def _words(self) -> Iterator[str]:
        """Yield count, size and pool."""
        if self.on_mdt:
            yield "-L mdt"
        if self.extension_bytes:
            yield f"-z {binary_size_text(self.extension_bytes)}"
        if self.stripe_count is not None:
            yield f"-c {self.stripe_count}"
        if self.stripe_size_bytes:
            yield f"-S {binary_size_text(self.stripe_size_bytes)}"
        if self.pool:
            yield f"-p {self.pool}"


def parse_layout(options: str) -> tuple[Component, ...]:
    """Return the components that options of ``lfs setstripe`` create.

    Parameters
    ----------
    options : str
        Options of ``lfs setstripe``.

    Raises
    ------
    InputError
        If an option is not known here, has no value, or the ends do not grow.

    Examples
    --------
    >>> [each.options for each in parse_layout("-E 256K -L mdt -E -1 -c 8 -S 1M -p capacity")]
    ['-E 256k -L mdt', '-E -1 -c 8 -S 1M -p capacity']
    >>> parse_layout("-c -1 -S 4M")[0].plain_options
    '-c -1 -S 4M'
    """
    words = shlex.split(options)
    if len(words) % 2:
        raise InputError(f"{words[-1]!r} of {options!r} has no value", name="layout")
    parts: list[Component] = []
    for given, value in zip(words[::2], words[1::2], strict=True):
        option = _LONG.get(given, given)
        if option not in _VALUES:
            rule = f"{given!r} of {options!r} is not an option of a layout; supported are {' '.join(_VALUES)}"
            raise InputError(rule, name="layout")
        if option == "-E":
            parts.append(Component(end_bytes=None if value in ("-1", "eof", "EOF") else _bytes(value)))
        else:
            # Options before the first end belong to a plain layout.
            parts = parts or [Component()]
            parts[-1] = _with(parts[-1], option, value)
    ends = [part.end_bytes for part in parts[:-1]]
    if not parts or None in ends or any(a >= b for a, b in pairwise(ends) if a and b):
        raise InputError(f"{options!r}: the ends of its components (-E) must grow, and the last be -1", name="layout")
    return tuple(parts)


def _with(part: Component, option: str, value: str) -> Component:
    """Return a component with one more option."""
    if option in ("-c", "-C"):
        if not value.removeprefix("-").isdigit():
            raise InputError(f"{option} {value} must be followed by a whole number", name="layout")
        return replace(part, stripe_count=int(value))
    if option == "-S":
        return replace(part, stripe_size_bytes=_bytes(value))
    if option == "-z":
        return replace(part, extension_bytes=_bytes(value))
    if option == "-L":
        return replace(part, on_mdt=value == "mdt")
    return replace(part, pool=value) if option == "-p" else part


def _bytes(value: str) -> int:
    """Return a size as lfs takes it. [bytes]"""
    return size_bytes(value, binary=True, any_case=True)


def setstripe(components: Sequence[Component], path: str = "DIRECTORY") -> str:
    """Return the command that sets the layout of new files in a folder.

    Parameters
    ----------
    components : sequence of Component
        Components of the layout, in file order.
    path : str, default 'DIRECTORY'
        Path of the value or file.

    Examples
    --------
    >>> setstripe(parse_layout("--stripe-count 4 --pool flash"), "run 1")
    "lfs setstripe -c 4 -p flash 'run 1'"
    """
    several = len(components) > 1
    options = " ".join(part.options if several else part.plain_options for part in components)
    return f"lfs setstripe {options} {shlex.quote(path)}"


def split(components: Sequence[Component], file_bytes: int) -> list[tuple[Component, int]]:
    """Return the components that a file of a given size uses, each with its share of the file. [bytes]

    Parameters
    ----------
    components : sequence of Component
        Components of the layout, in file order.
    file_bytes : int
        Size of the file. [bytes]

    Examples
    --------
    >>> progressive = parse_layout("-E 1M -c 1 -E 1G -c 4 -E -1 -c 8")
    >>> [(part.stripe_count, size) for part, size in split(progressive, 3 << 20)]
    [(1, 1048576), (4, 2097152)]
    """
    reached, start = [], 0
    for part in components:
        end = file_bytes if part.end_bytes is None else min(part.end_bytes, file_bytes)
        if end > start:
            reached.append((part, end - start))
            start = end
    return reached
