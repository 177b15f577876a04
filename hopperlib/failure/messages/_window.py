"""Beginning and end of a text of any size, line by line: the input of the ranker."""

from collections.abc import Iterator

# Bytes of the beginning and of the end that are kept.
HEAD, END = 65_536, 262_144


class Window:
    r"""Keeps the first and the last lines of a stream of blocks.

    Examples
    --------
    >>> window = Window()
    >>> window.add(1, b"a\nb")
    >>> window.add(3, b"c")
    >>> list(window.lines())
    [(1, b'a'), (2, b'b'), (3, b'c')]
    """

    def __init__(self) -> None:
        self._head: list[tuple[int, bytes]] = []
        self._end: list[tuple[int, bytes]] = []
        self._held = [0, 0]

    def add(self, first_line: int, data: bytes) -> None:
        """Add a block."""
        if self._held[0] < HEAD:
            self._head.append((first_line, data))
            self._held[0] += len(data)
            return
        self._end.append((first_line, data))
        self._held[1] += len(data)
        while len(self._end) > 1 and self._held[1] - len(self._end[0][1]) >= END:
            self._held[1] -= len(self._end.pop(0)[1])

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield number and text of the stored lines; of a line with carriage returns, the last segment."""
        kept = 0
        for place, (first_line, data) in enumerate(self._head):
            texts = data.split(b"\n")
            for number, text in enumerate(texts, first_line):
                # The first block of a large text is larger than the part that is kept.
                if self._end and (kept := kept + len(text) + 1) > HEAD and place == len(self._head) - 1:
                    break
                yield number, _last_written(text)
        left = self._held[1] - END
        for first_line, data in self._end:
            for number, text in enumerate(data.split(b"\n"), first_line):
                left -= len(text) + 1
                if left < 0:
                    yield number, _last_written(text)


def _last_written(text: bytes) -> bytes:
    """Return the final state of a progress bar's line."""
    return text.rsplit(b"\r", 1)[-1] if b"\r" in text else text
