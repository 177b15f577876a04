"""Records with many rows: columns by name, and a short representation."""

import reprlib
from collections.abc import Iterable, Mapping
from dataclasses import fields
from textwrap import fill
from typing import Any

_SHORT = reprlib.Repr()
_SHORT.maxtuple = _SHORT.maxlist = _SHORT.maxdict = 3
_SHORT.maxlevel, _SHORT.maxstring, _SHORT.maxother = 2, 60, 80


class Columns:
    """Base of records that are tables: `frame_data` returns columns or records, from which `hopperkit.to_frame` makes a
    frame.
    """

    __slots__ = ()

    def frame_data(self) -> Mapping[str, Iterable[Any]] | Iterable[Any]:
        """Return columns by name, or records."""
        return [self]

    def __repr__(self) -> str:
        parts = ", ".join(f"{field.name}={_SHORT.repr(getattr(self, field.name))}" for field in fields(self))  # type: ignore[arg-type]
        return fill(f"{type(self).__name__}({parts})", 79, subsequent_indent="    ")
