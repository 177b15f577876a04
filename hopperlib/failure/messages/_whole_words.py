"""Lines of a text that may contain a message, found by whole words, however many there are.

Splitting a text into words and looking each up in a set takes the same time
for ten words and for a thousand, and less than searching the text for a few
dozen. Every anchor of a rule is found by one word of it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from hopperlib.failure.messages._expressions import words
from hopperlib.failure.messages._templates import INSIDE, SUSPICIOUS_WORDS
from hopperlib.failure.messages.rules import Rule

# Convert to lower case and replace other characters than letters by spaces; positions are unchanged.
_LETTERS = bytes(byte if 97 <= byte <= 122 else byte + 32 if 65 <= byte <= 90 else 32 for byte in range(256))
_DIGITS = b"0123456789"

# Up to this many distinct words of a text are searched one by one; otherwise lines are searched in batches of this
# size. [bytes]
_FEW = 24
_TOGETHER = 600

_SUSPICIOUS = frozenset((*SUSPICIOUS_WORDS, *INSIDE))

# A phrase is searched for only if its first word occurs.
_PHRASES = {part.split()[0]: part for part in INSIDE if b" " in part}
_PARTS = tuple(part for part in INSIDE if b" " not in part)

# Too frequent in ordinary output to be evidence.
_FREQUENT = frozenset(words("frequent"))


def search_words(anchor: bytes) -> tuple[bytes, bytes]:
    """Return the word of an anchor that finds its lines, and the word that identifies it in them.

    A word that is searched for anyway costs nothing; otherwise the longest infrequent word is taken. Anchors
    begin and end with whole words, with an optional plural or prefix. The longest word between separates the many
    anchors that share a word such as "error".
    """
    words = anchor.translate(_LETTERS).split()
    for word in words:
        for part in (word, *INSIDE):
            if part in word and part in _SUSPICIOUS:
                return part, max(words[1:-1], key=_rarity, default=part)
    rarest = max(words, key=_rarity)
    return rarest, rarest


def _rarity(word: bytes) -> tuple[bool, int]:
    """Return the sort key by which a word is more specific than another."""
    return word not in _FREQUENT and len(word) > 2, len(word)


def _starts(text: bytes, letters: bytes, pieces: Iterable[bytes]) -> list[int]:
    """Return the starts of the lines that contain one of several pieces of text."""
    starts = set()
    for piece in pieces:
        place = letters.find(piece)
        while place >= 0:
            # The space before a word may be the end of the line above.
            starts.add(text.rfind(b"\n", 0, place + 1 if piece[:1] == b" " else place) + 1)
            end = text.find(b"\n", place)
            place = letters.find(piece, end + 1) if end >= 0 else -1
    return sorted(starts)


@dataclass(frozen=True, slots=True)
class Worded:
    """A line with at least one of the words.

    Parameters
    ----------
    start, end : int
        Its position in the text.
    rules : tuple of Rule
        Rules with an anchor in the line, in the order in which they are tried.
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
        # For each word, the anchors that it finds, with the indices of their rules.
        self._anchors: dict[bytes, list[tuple[bytes, int]]] = {}
        words = set(_SUSPICIOUS)
        for place, rule in enumerate(self.rules):
            for anchor, key in zip(rule.anchors, rule.keys, strict=True):
                looked_for, rarest = search_words(anchor.encode())
                words.add(looked_for)
                self._anchors.setdefault(rarest, []).append((key, place))
        self._words = frozenset(words.difference(INSIDE).union(_PHRASES))
        self._gates = frozenset(_PHRASES.keys() - words)

    def lines(self, text: bytes) -> list[Worded]:
        """Return the lines of a text that a rule may match or that are suspicious."""
        # A space at both ends, where words, and some search terms, begin and end.
        letters = b" %b " % text.translate(_LETTERS)
        present = self._present(letters)
        starts = _starts(text, letters, present) if len(present) <= _FEW else self._starts_near(text, letters)
        return [worded for start in starts if (worded := self._worded(text, letters, start))]

    def _present(self, letters: bytes) -> set[bytes]:
        """Return the search terms that occur in a piece of text: words between spaces, others within words."""
        found = self._words.intersection(letters.split())
        phrases = (_PHRASES[word] for word in found & _PHRASES.keys())
        words = {b" %b " % word for word in found.difference(self._gates)}
        return words.union(filter(letters.__contains__, (*_PARTS, *phrases)))

    def _starts_near(self, text: bytes, letters: bytes) -> Iterator[int]:
        """Yield the starts of the lines near a search term, several at once."""
        start = 0
        while start <= len(text):
            end = text.find(b"\n", start + _TOGETHER)
            end = len(text) if end < 0 else end
            if self._present(letters[start : end + 2]):
                for line in text[start:end].split(b"\n"):
                    yield start
                    start += len(line) + 1
            start = end + 1

    def _worded(self, text: bytes, letters: bytes, start: int) -> Worded | None:
        """Return a line with its rules; None if it contains no search term."""
        end = text.find(b"\n", start)
        end = len(text) if end < 0 else end
        own = letters[start : end + 2]
        words = {*own.split(), *filter(own.__contains__, INSIDE)}
        rules = self._rules_of(text[start:end], words)
        suspicious = not _SUSPICIOUS.isdisjoint(words)
        return Worded(start, end, rules, suspicious) if rules or suspicious else None

    def _rules_of(self, line: bytes, words: set[bytes]) -> tuple[Rule, ...]:
        """Return the rules with an anchor in a line that contains these words, in order."""
        lowered = line.lower().translate(None, _DIGITS)
        anchors = (self._anchors[word] for word in self._anchors.keys() & words)
        places = {place for keyed in anchors for key, place in keyed if key in lowered}
        return tuple(self.rules[place] for place in sorted(places))
