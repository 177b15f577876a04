"""A candidate for the cause of a failure, and how sure it is, in words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from hopperlib.failure.messages.evidence import Hit
from hopperlib.failure.messages.rules import Actor, Fault, Rule
from hopperlib.package_data import read_beside

Confidence = Literal["certain", "likely", "possible", "guess"]

CONFIDENCE: Mapping[str, str] = read_beside(__file__, "causes.toml")["confidence"]


@dataclass(slots=True, kw_only=True)
class Cause:
    """One candidate for the cause.

    Parameters
    ----------
    code, title : str
    fault : {"user", "system", "either"}
    who : {"user", "staff", "vendor"}
        Who acts.
    confidence : str
        A key of `CONFIDENCE`.
    rule : Rule or None
        None for the program's own message.
    count : int
        Lines that say so.
    hits : list of Hit
        Lines to quote, the one that counts first.
    explains : list of str
        Codes of other messages in the text that it explains.
    fields : dict
        What is known: rank, node, nid, cname, time, exit code, file, ...
    advice : list of str
    confirm : str
    fatal_words : bool
        For the program's own message: whether it says that the program ends.
    """

    code: str
    title: str
    fault: Fault
    who: Actor
    confidence: Confidence
    rule: Rule | None
    count: int
    hits: list[Hit]
    explains: list[str] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)
    advice: list[str] = field(default_factory=list)
    confirm: str = ""
    fatal_words: bool = False
