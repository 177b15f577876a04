"""Who speaks in a line that no rule knows: the scheduler, the launcher, MPI, ..., else the program."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hopperlib.failure.messages.rules import Actor, Fault
from hopperlib.tables import key, read_records, read_toml

__all__ = ["Speaker", "speaker", "speakers"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Speaker:
    """One part of the system that prints messages: how its lines read, and who acts on them."""

    code: str
    name: str
    fault: Fault = key(name="class")
    who: Actor
    regex: tuple[str, ...] = key(single=True)
    advice: tuple[str, ...] = key(single=True)


@cache
def speakers() -> tuple[Speaker, ...]:
    """Return those who speak, in the order in which they are tried."""
    file = Path(__file__).with_name("speakers.toml")
    return read_records(Speaker, read_toml(file.read_text(encoding="utf-8"), name=file.name), "speaker", name="")


def speaker(line: str) -> Speaker:
    """Return who speaks in a line."""
    return next(who for who in speakers() if any(re.search(text, line) for text in who.regex))
