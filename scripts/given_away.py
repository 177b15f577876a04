"""Report which predictions of a built book come after their answers: ``python scripts/given_away.py _build/html``.

Before a prediction are the page's title, its description and all text before its section, including descriptions of
pictures, except collapsed parts. A number of two digits or more counts as given away if it occurs there, in digits or
as a word; smaller ones occur everywhere.
"""

import json
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

# Elements that never close, and those whose text nobody reads.
_VOID = {"meta", "link", "img", "input", "br", "hr", "source", "wbr"}
_UNREAD = {"script", "style"}
_FOLDED = ("hopper-further", "hopper-check ", "cell_input", "bd-sidebar-primary")
_WORDS = dict(
    enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
        ]
    )
)
_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")


class _Page(HTMLParser):
    """Text of a page, up to each of its predictions."""

    def __init__(self) -> None:
        super().__init__()
        self.above = self._before = ""
        self.checks: list[tuple[Any, ...]] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        name = f"{tag} {given.get('id', '')} {given.get('class', '')}"
        self.above += " " + " ".join(given.get(each, "") for each in ("alt", "title", "aria-label"))
        if given.get("name") == "description":
            self.above += " " + given["content"]
        if given.get("id") == "predict-first":
            self._before = self.above
        if "hopper-check" in given.get("class", "").split():
            first = any("predict-first" in each for each in self._open)
            self.checks.append((self._before if first else self.above, first))
        if tag not in _VOID:
            self._open.append(name)

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop().split()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        within = self._open[-1].split()[0] if self._open else ""
        if within == "script" and self.checks and "hopper-check" in " ".join(self._open):
            above, first = self.checks.pop()
            self.checks.append((above, first, json.loads(data)))
        folded = any(part in f"{each} " for each in self._open for part in _FOLDED)
        if within not in _UNREAD and not folded:
            self.above += " " + data


def _answers(check: dict[str, Any]) -> list[str]:
    """Return the numbers in which an answer is given."""
    if check["kind"] == "number":
        return _NUMBER.findall(check["answer_text"])
    if check["kind"] == "choice":
        right, wrong = (
            {
                number
                for option in check["options"]
                if option["right"] is is_right
                for number in _numbers(option["text"])
            }
            for is_right in (True, False)
        )
        return sorted(right - wrong - set(_numbers(check["question"])))
    return [] if check["kind"] != "curve" else sorted({f"{y:.3g}" for y in check["answer"]} - {"0", "1", "100"})


def _numbers(text: str) -> list[str]:
    """Return the numbers of a text, those written as words as digits."""
    words = {word: str(number) for number, word in _WORDS.items()}
    return [found.replace(",", "") for found in _NUMBER.findall(text)] + [
        words[word] for word in re.findall(r"[a-z]+", text.lower()) if word in words
    ]


def given_away(html: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield, for each prediction of a page, its name, its kind and those of its numbers that occur before it."""
    page = _Page()
    page.feed(html)
    for above, first, *check in page.checks:
        if check and (first or check[0]["kind"] == "curve"):
            there = set(_numbers(above))
            answers = [number.replace(",", "") for number in _answers(check[0])]
            yield (
                check[0]["name"],
                check[0]["kind"],
                [number for number in answers if number in there and len(number) > 1],
            )


def main() -> int:
    """Print a line for each prediction; return 1 if one is given away, and 2 if there is no book."""
    pages = sorted(Path(sys.argv[1]).glob("notebooks/*/*.html")) if len(sys.argv) == 2 else []
    if not pages:
        print("usage: python scripts/given_away.py _build/html, where `make html` has built the book", file=sys.stderr)
        return 2
    bad = 0
    for path in pages:
        for name, kind, found in given_away(path.read_text(encoding="utf-8")):
            bad += bool(found)
            print(
                f"{path.parent.name}/{path.stem}: {name} ({kind}): {'given away: ' + ', '.join(found) if found else 'ok'}"
            )
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
