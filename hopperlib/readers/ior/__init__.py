"""What IOR prints, from 2.10.3 to 4.x: text, JSON and CSV, whole or torn.

=========  ==================================================================
tokens     numbers, sizes, command lines and error messages as IOR writes them
reader     finds out what a file holds: `read_ior`
=========  ==================================================================
"""

from __future__ import annotations

from typing import Any

__all__ = ["read_ior"]


def __getattr__(name: str) -> Any:
    """Import the reader when it is asked for: it reads mdtest's output too, which needs the tokens here."""
    if name == "read_ior":
        from hopperlib.readers.ior.reader import read_ior

        return read_ior
    raise AttributeError(f"module 'hopperlib.readers.ior' has no attribute {name!r}")
