"""Compilers: their commands, and the modules that name them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

from hopperlib.tables import read_toml

__all__ = ["Compilers", "Driver", "compilers"]


class Driver(NamedTuple):
    """What is known of a compiler's command: its kind, its language, and its family where the name says it."""

    kind: str
    language: str
    family: str


class Compilers(NamedTuple):
    """Commands with what is known of them, and modules with the family that they stand for."""

    commands: dict[str, Driver]
    environments: dict[str, str]
    modules: dict[str, str]


@cache
def compilers() -> Compilers:
    """Return the compilers that are known."""
    file = Path(__file__).with_name("compilers.toml")
    table = read_toml(file.read_text(encoding="utf-8"), name=file.name)
    commands = {
        name: Driver(row["kind"], language, row["family"])
        for row in table["commands"]
        for language in ("c", "c++", "fortran")
        for name in row[language]
    }
    return Compilers(commands, table["environments"], table["modules"])
