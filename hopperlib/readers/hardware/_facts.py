"""Facts of a machine file as the tools tell them, or as they are assumed."""

from __future__ import annotations

import re
from typing import Any

from hopperlib.errors import InputError
from hopperlib.machine import Quantity
from hopperlib.tables import Value


def told(tool: str, at: str, **values: Value) -> dict[str, Quantity]:
    """Return facts that a tool tells, by key, with the place where they stood."""
    return {name: Quantity(value=value, source=tool, at=at) for name, value in values.items()}


def guessed(why: str, **values: Value) -> dict[str, Quantity]:
    """Return facts that are assumed, by key, with the reason."""
    return {name: Quantity(value=value, assumed=why) for name, value in values.items()}


def counted(where: str, name: str, value: Any, missing: str = "is missing") -> int:
    """Return a count of at least one that a tool must tell; `missing` is what is said where it does not."""
    if value is None:
        raise InputError(f"{where}: '{name}' {missing}")
    if not re.fullmatch(r"\d{1,12}", str(value)) or not int(value):
        raise InputError(f"{where}: '{name}' = {str(value)[:30]!r} must be a whole number of at least 1")
    return int(value)
