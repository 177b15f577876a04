"""File systems that are not Lustre: whether there is anything to stripe, and what to set instead.

No rates: there is no model of them here. What carries over from Lustre is how
to write: few large accesses that begin at a multiple of the block, by few tasks
of each node. The answers stand in ``elsewhere.toml``.
"""

import tomllib
from importlib.resources import files
from typing import NamedTuple


class Elsewhere(NamedTuple):
    """What to know about one kind of file system: its name, an answer, and lines by what they do."""

    title: str
    answer: str
    commands: dict[str, str]


def elsewhere(kind: str) -> Elsewhere:
    """Return what to know about a kind of file system.

    Raises
    ------
    KeyError
        If the kind is not known.

    Examples
    --------
    >>> elsewhere("weka").answer
    'Nothing to stripe here: the data of every file are dealt in small pieces over all servers.'
    """
    known = tomllib.loads((files("hopperlib.storage") / "elsewhere.toml").read_text(encoding="utf-8"))
    return Elsewhere(**({"commands": {}} | known[kind]))
