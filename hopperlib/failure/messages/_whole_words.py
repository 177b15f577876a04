"""Which lines of a text may hold a message: found by whole words, whatever their number.

Splitting a text into words and looking each up in a set takes the same time
for ten words and for a thousand, and less than searching the text for a few
dozen. Every anchor of a rule is found by one word of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from hopperlib.failure.messages._expressions import words
from hopperlib.failure.messages._templates import INSIDE, SUSPICIOUS_WORDS
from hopperlib.failure.messages.rules import Rule

# Upper case becomes lower case, all that is no letter parts words; places and ends of lines stay.
_LETTERS = bytes(
    byte if 97 <= byte <= 122 or byte == 10 else byte + 32 if 65 <= byte <= 90 else 32 for byte in range(256)
)
_DIGITS = b"0123456789"

_SUSPICIOUS = frozenset((*SUSPICIOUS_WORDS, *INSIDE))


# Too frequent in ordinary output to tell anything.
_FREQUENT = frozenset(words("frequent"))


def gate(anchor: bytes) -> bytes:
    """Return the word of an anchor by which its lines are found.

    A word that is looked for anyway costs nothing; else it is the longest one
    that is not frequent. Anchors begin and end with whole words.
    """
    words = anchor.translate(_LETTERS).split()
    for word in words:
        if word in _SUSPICIOUS:
            return word
        for part in INSIDE:
            if part in word:
                return part
    return max(words, key=lambda word: (word not in _FREQUENT and len(word) > 2, len(word)))


@dataclass(frozen=True, slots=True)
class Worded:
    """A line with at least one of the words.

    Parameters
    ----------
    start, end : int
        Where it stands in the text.
    rules : tuple of Rule
        Rules of which an anchor stands in the line, in the order in which they are tried.
    suspicious : bool
        Whether one of the words speaks of trouble.
    """

    start: int
    end: int
    rules: tuple[Rule, ...]
    suspicious: bool


class WordIndex:
    r"""The words of a set of rules.

    Parameters
    ----------
    rules : sequence of Rule
        In the order in which they are tried.
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = tuple(rules)
        # For each word the anchors that are found by it, with the places of their rules.
        self._anchors: dict[bytes, list[tuple[bytes, int]]] = {word: [] for word in _SUSPICIOUS}
        for place, rule in enumerate(self.rules):
            for anchor, key in zip(rule.anchors, rule.keys, strict=True):
                self._anchors.setdefault(gate(anchor.encode()), []).append((key, place))
        self._words = frozenset(self._anchors)

    def lines(self, text: bytes) -> list[Worded]:
        """Return the lines of a text that a rule may match or that are suspicious."""
        letters = text.translate(_LETTERS) + b" "
        inside = [part for part in INSIDE if part in letters]
        if not inside and self._words.isdisjoint(letters.split()):
            return []
        lines, start = [], 0
        # A space ends each line's letters: some of what is looked for ends in one.
        for line, own in zip(text.split(b"\n"), letters.replace(b"\n", b" \n").split(b"\n"), strict=True):
            words = self._words.intersection(own.split()).union(part for part in inside if part in own)
            if words:
                lowered = line.lower().translate(None, _DIGITS)
                places = {place for word in words for key, place in self._anchors[word] if key in lowered}
                suspicious = not _SUSPICIOUS.isdisjoint(words)
                if places or suspicious:
                    rules = tuple(self.rules[place] for place in sorted(places))
                    lines.append(Worded(start, start + len(line), rules, suspicious))
            start += len(line) + 1
        return lines
