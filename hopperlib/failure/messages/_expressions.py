"""Words and expressions that lines are read by: what ``words.toml`` holds of them."""

import re
from functools import cache
from typing import Any

from hopperlib.tables import read_beside


@cache
def _tables() -> dict[str, Any]:
    return read_beside(__file__, "words.toml")


def words(name: str) -> tuple[bytes, ...]:
    """Return a list of words, or of pieces that may hold spaces."""
    listed = _tables()[name]
    return tuple(word.encode() for word in (listed.split() if isinstance(listed, str) else listed))


def expression(name: str) -> re.Pattern[bytes]:
    """Return the expression of a table: any of its alternatives."""
    table = _tables()[name]
    any_case = "|".join(table.get("any_case", ()))
    cased = "|".join(table.get("cased", ()))
    return re.compile("|".join(part for part in (any_case and f"(?i:{any_case})", cased) if part).encode())
