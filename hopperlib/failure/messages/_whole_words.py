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

# Upper case becomes lower case, all that is no letter parts words; places stay.
_LETTERS = bytes(byte if 97 <= byte <= 122 else byte + 32 if 65 <= byte <= 90 else 32 for byte in range(256))
_DIGITS = b"0123456789"

# Lines of so much text together are searched for words at once. [bytes]
_TOGETHER = 600

_SUSPICIOUS = frozenset((*SUSPICIOUS_WORDS, *INSIDE))

# Pieces of several words need no look where their first word does not stand.
_PHRASES = {part.split()[0]: part for part in INSIDE if b" " in part}
_PARTS = tuple(part for part in INSIDE if b" " not in part)

# Too frequent in ordinary output to tell anything.
_FREQUENT = frozenset(words("frequent"))


def gate(anchor: bytes) -> tuple[bytes, bytes]:
    """Return the words of an anchor by which its lines are found, and by which it is found in them.

    A word that is looked for anyway finds a line at no cost; else it is the
    longest one that is not frequent. Anchors begin and end with whole words,
    but a plural or a prefix may stand there: the longest one between, if there
    is one, tells the many anchors of a word such as "error" apart.
    """
    words = anchor.translate(_LETTERS).split()
    for word in words:
        for part in (word, *INSIDE):
            if part in word and part in _SUSPICIOUS:
                return part, max(words[1:-1], key=_rarity, default=part)
    rarest = max(words, key=_rarity)
    return rarest, rarest


def _rarity(word: bytes) -> tuple[bool, int]:
    """Return what makes a word tell more than another."""
    return word not in _FREQUENT and len(word) > 2, len(word)


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
        Whether one of the words means trouble.
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
        self._anchors: dict[bytes, list[tuple[bytes, int]]] = {}
        words = set(_SUSPICIOUS)
        for place, rule in enumerate(self.rules):
            for anchor, key in zip(rule.anchors, rule.keys, strict=True):
                looked_for, rarest = gate(anchor.encode())
                words.add(looked_for)
                self._anchors.setdefault(rarest, []).append((key, place))
        self._words = frozenset(words.difference(INSIDE).union(_PHRASES))
        self._gates = frozenset(_PHRASES.keys() - words)

    def lines(self, text: bytes) -> list[Worded]:
        """Return the lines of a text that a rule may match or that are suspicious."""
        letters = text.translate(_LETTERS) + b" "
        inside = [part for part in _PARTS if part in letters]
        lines, start, last = [], 0, len(text)
        while start <= last:
            # Most lines hold none of the words, which several tell at once. Each ends in a space: so does some of what is looked for.
            end = text.find(b"\n", start + _TOGETHER)
            end = last if end < 0 else end
            together = letters[start : end + 1]
            present = self._words.intersection(together.split()).union(filter(together.__contains__, inside))
            phrases = [_PHRASES[word] for word in present & _PHRASES.keys() if _PHRASES[word] in together]
            present = present.difference(self._gates).union(phrases)
            for line in text[start:end].split(b"\n") if present else ():
                own = letters[start : start + len(line) + 1]
                if any(map(own.__contains__, present)):
                    words = {*own.split(), *filter(own.__contains__, [*inside, *phrases])}
                    rules = () if present.isdisjoint(words) else self._rules_of(line, words)
                    suspicious = not _SUSPICIOUS.isdisjoint(words)
                    if rules or suspicious:
                        lines.append(Worded(start, start + len(line), rules, suspicious))
                start += len(line) + 1
            start = end + 1
        return lines

    def _rules_of(self, line: bytes, words: set[bytes]) -> tuple[Rule, ...]:
        """Return the rules of which an anchor stands in a line that holds some words, in their order."""
        lowered = line.lower().translate(None, _DIGITS)
        anchors = (self._anchors[word] for word in self._anchors.keys() & words)
        places = {place for keyed in anchors for key, place in keyed if key in lowered}
        return tuple(self.rules[place] for place in sorted(places))
