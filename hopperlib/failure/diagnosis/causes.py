"""A candidate for the cause of a failure, and how sure it is, in words.

The reliability of each word was measured: ``first_tries.csv`` holds outputs of public threads and logs, labeled and
tried before any rule or mechanism had seen them, with the answer's confidence word and whether it was right.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, NamedTuple

from hopperlib.failure.messages.evidence import Hit
from hopperlib.failure.messages.rules import Actor, Fault, Rule
from hopperlib.package_data import load_csv_resource

Confidence = Literal["certain", "likely", "possible", "guess"]

# Levels of confidence in a cause, and their meaning.
CONFIDENCE: Mapping[Confidence, str] = {
    "certain": "the message is a complete explanation, and nothing in the text contradicts it",
    "likely": "the message names a cause, and there is no competing cause",
    "possible": "the message is generic and the text agrees with it, or there is a competing cause",
    "guess": "no rule matches the message, or nothing else in the text shows that it ended the run",
}


# 95 % of a normal distribution lies within this many standard deviations.
_Z = 1.959964


class Share(NamedTuple):
    """Share of answers with one confidence word that were right, and its 95 % confidence interval. [fractions]"""

    right: int
    answers: int
    low: float
    high: float


@cache
def measured() -> Mapping[str, Share]:
    """Return the accuracy of each confidence word on outputs for which no rule was written, highest first.

    The keys are the words of `CONFIDENCE`, and "failed", "no-cause" and "succeeded" for answers without a cause. The
    words that the ranker can change, and "failed", are counted in the two held-out sets that were tried with it; the
    others in all sets. Files of one repository are not independent: those with the same word count at most once as
    right and once as wrong. The range is Wilson's [1]_.

    Examples
    --------
    >>> list(measured())[:4] == list(CONFIDENCE)
    True

    References
    ----------
    .. [1] E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927) 209.
    """
    # A file of a repository is named after it.
    rows = {
        (row["output"].split()[0], row["word"], row["right"])
        for row in load_csv_resource(__file__, "first_tries.csv")
        if row["voice"] != "rules" or row["word"] in ("certain", "no-cause", "succeeded")
    }
    words = (*CONFIDENCE, "failed", "no-cause", "succeeded")
    return {word: _share([right == "yes" for _, tried_word, right in rows if tried_word == word]) for word in words}


@cache
def accuracy_by_agreement() -> Mapping[str, Share]:
    """Return the share of answers whose first lines contained the cause, by agreement of the two methods, in the
    held-out sets.

    Keys: "both" if the ranker's line is the first one quoted, "block" if it is another quoted line, "or" if it is shown
    as a second line; "or, either line" counts that line as well. "a cause in the text" and "that, or the second line"
    count all outputs whose text contains a cause, "no cause in the text" those without one for which no cause was
    reported. "sure and wrong" counts the wrong ones among answers that are surer than a guess. Each output counts.

    Examples
    --------
    >>> shares = accuracy_by_agreement()
    >>> shares["or"].right <= shares["or, either line"].right
    True
    """
    held_out = [row for row in load_csv_resource(__file__, "first_tries.csv") if row["voice"] != "rules"]
    with_cause = [row for row in held_out if row["holds"] == "cause"]
    by_voice = {
        name: [row for row in with_cause if row["voice"].removesuffix("-right") == name]
        for name in ("both", "block", "or")
    }
    sure = [row for row in held_out if row["word"] in ("certain", "likely", "possible")]
    return {name: _share(list(map(_is_right, rows))) for name, rows in by_voice.items()} | {
        "or, either line": _share(list(map(_is_right_by_either, by_voice["or"]))),
        "a cause in the text": _share(list(map(_is_right, with_cause))),
        "that, or the second line": _share(list(map(_is_right_by_either, with_cause))),
        "no cause in the text": _share([_is_right(row) for row in held_out if row["holds"] == "none"]),
        "sure and wrong": _share([row["right"] == "no" for row in sure]),
    }


def _is_right(row: Mapping[str, str]) -> bool:
    """Whether the first lines of an answer contained the cause."""
    return row["right"] == "yes"


def _is_right_by_either(row: Mapping[str, str]) -> bool:
    """Whether the first lines of an answer, or the line shown as an alternative, contained the cause."""
    return _is_right(row) or row["voice"] == "or-right"


def _share(tried: Sequence[bool]) -> Share:
    """Return a share with its range."""
    return Share(sum(tried), len(tried), *_wilson(sum(tried), len(tried)))


def _wilson(right: int, answers: int) -> tuple[float, float]:
    """Return the 95 % confidence interval of a share. [fractions]"""
    if not answers:
        return 0.0, 1.0
    z, share = _Z, right / answers
    middle = share + z * z / (2 * answers)
    half = z * math.sqrt(share * (1 - share) / answers + z * z / (4 * answers * answers))
    scale = 1 + z * z / answers
    return min(share, max(0.0, (middle - half) / scale)), max(share, min(1.0, (middle + half) / scale))


@dataclass(slots=True, kw_only=True)
class Cause:
    """One candidate for the cause.

    Parameters
    ----------
    code, title : str
    fault : {"user", "system", "either"}
    who : {"user", "staff", "vendor", "unclear"}
        Who acts.
    confidence : str
        A key of `CONFIDENCE`.
    rule : Rule or None
        None for a message of the program.
    count : int
        Lines of evidence.
    hits : list of Hit
        Lines to quote, the most important first.
    explains : list of str
        Codes of other messages in the text that it explains.
    fields : dict
        Known fields: rank, node, nid, cname, time, exit code, file, ...
    advice : list of str
    confirm : str
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
