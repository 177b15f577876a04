"""Which lines of a text may hold a message: found by whole words, whatever their number.

Splitting a text into words and looking each up in a set takes the same time
for ten words and for a thousand, and less than searching the text for a few
dozen. Every anchor of a rule is found by one word of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hopperlib.failure.messages._expressions import words
from hopperlib.failure.messages._templates import INSIDE, SUSPICIOUS_WORDS
from hopperlib.failure.messages.rules import Rule

__all__ = ["WordIndex", "Worded", "gate"]

# Upper case becomes lower case, all that is no letter parts words; places stay.
_LETTERS = bytes(byte if 97 <= byte <= 122 else byte + 32 if 65 <= byte <= 90 else 32 for byte in range(256))
_DIGITS = b"0123456789"

_SUSPICIOUS = frozenset((*SUSPICIOUS_WORDS, *INSIDE))

# With more words than this in a block, each of its lines is looked at.
_MOST_SEARCHES = 12

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
        letters = b" " + text.translate(_LETTERS) + b" "
        present = self._words.intersection(letters.split())
        inside = [part for part in INSIDE if part in letters]
        if not present and not inside:
            return []
        found: dict[int, list[bytes]] = {}
        ends: dict[int, int] = {}
        if len(present) <= _MOST_SEARCHES:
            searches = [(word, b" " + word + b" ") for word in present.difference(inside)]
            for word, needle in (*searches, *((part, part) for part in inside)):
                _search(text, letters, word, needle, found, ends)
        else:
            self._look_up(text, letters, inside, found, ends)
        lines = []
        for start in sorted(found):
            line = text[start : ends[start]].lower().translate(None, _DIGITS)
            places = [place for word in found[start] for key, place in self._anchors[word] if key in line]
            suspicious = not _SUSPICIOUS.isdisjoint(found[start])
            if places or suspicious:
                rules = tuple(self.rules[place] for place in sorted(set(places)))
                lines.append(Worded(start, ends[start], rules, suspicious))
        return lines

    def _look_up(
        self, text: bytes, letters: bytes, inside: list[bytes], found: dict[int, list[bytes]], ends: dict[int, int]
    ) -> None:
        """Find the lines with words by looking at each line: better where many words are present."""
        start = 0
        for line in text.split(b"\n"):
            end = start + len(line)
            # The letters begin one place later.
            own = letters[start + 1 : end + 1]
            words = self._words.intersection(own.split()).union(part for part in inside if part in own)
            if words:
                found[start], ends[start] = list(words), end
            start = end + 1


def _search(
    text: bytes, letters: bytes, word: bytes, needle: bytes, found: dict[int, list[bytes]], ends: dict[int, int]
) -> None:
    """Find the lines with a word by searching the text for it."""
    place = letters.find(needle)
    while place >= 0:
        # With the space before it, a word begins at the same place in the text.
        inner = place if needle != word else place - 1
        start = text.rfind(b"\n", 0, inner) + 1
        end = ends.get(start)
        if end is None:
            end = text.find(b"\n", inner)
            end = ends[start] = end if end >= 0 else len(text)
            found[start] = [word]
        else:
            found[start].append(word)
        # The space before the next word may be the line's own end.
        place = letters.find(needle, end)
