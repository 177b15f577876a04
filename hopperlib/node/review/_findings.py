"""What can be said of a placement: the table of codes, levels and texts, and a finding out of it."""

from __future__ import annotations

import os.path
import tomllib
from typing import Any

from hopperlib.finding import Finding, Level

with open(os.path.join(os.path.dirname(__file__), "findings.toml"), "rb") as _file:
    FINDINGS: dict[str, dict[str, Any]] = tomllib.load(_file)


def finding(code: str, *, level: Level | None = None, **values: Any) -> Finding:
    """Return a finding with its text filled in, of the level that its code has or of another one."""
    return Finding(code=code, message=FINDINGS[code]["text"].format_map(values), level=level or FINDINGS[code]["level"])
