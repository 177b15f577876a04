"""Find the messages of rules in a text of any size.

Most lines of a job's output differ only in numbers, and almost all are unrelated to its failure. The work is therefore
reduced step by step: digits are removed from a whole block at once; one of each group of equal lines is examined; of
those, only lines with a word of an anchor or an error word; and for these, only rules with an anchor in the line run
their regular expressions. Where lines do not repeat, the first two steps are skipped.

Memory is bounded for any input:

=======================  ===================================================
`LINE_LIMIT`             bytes of a line that are read (`hopperlib.failure.messages._lines`)
`Scanner.SHAPES`         distinct lines that are remembered
`Scanner.SHAPE_BYTES`    and their bytes
`Scanner.HITS`           lines of one message that are kept; all are counted
`Scanner.EXAMINED`       lines of one shape that are read for task, node, time
`Scanner.UNKNOWN`        groups of suspicious lines
`WINDOW`                 bytes around an anchor that an expression sees
=======================  ===================================================
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate, pairwise
from typing import BinaryIO

from hopperlib.failure.messages._expressions import matches_words
from hopperlib.failure.messages._lines import Block, LineReader
from hopperlib.failure.messages._matching import WINDOW, Match, match, quote
from hopperlib.failure.messages._progress import ProgressWatch
from hopperlib.failure.messages._quotations import doubt
from hopperlib.failure.messages._tasks import TaskEnds
from hopperlib.failure.messages._templates import printed_by_successful_runs, suspicion, template
from hopperlib.failure.messages._whole_words import Worded, WordIndex
from hopperlib.failure.messages.evidence import Evidence, Hit, MessageHits, Unknown
from hopperlib.failure.messages.locations import facts
from hopperlib.failure.messages.rules import Rule, load_rules

# Hexadecimal digits: numbers, and the addresses of stack traces. Lines that are equal without digits are treated as the
# same. The letters among them form no word of any anchor.
_HEXADECIMAL = b"0123456789ABCDEFabcdef"
# Lines stored after an unknown one, and before one that may end a message. [lines; bytes]
_FOLLOWING = 5
_BEFORE = 12
_BEFORE_BYTES = 2_000
# Lines below a message that may report how the program handled it. [lines]
_BELOW = 3

# The part of a block that shows whether its lines repeat. [bytes]
_SAMPLE = 32_768

# Lines of these widths may be broken, by a terminal or by Fortran's records. [characters]
_WIDTHS = (79, 80, 132)
# The rest of a name, and of any word.
_REST_OF_NAME = re.compile(rb"[\w+-]{0,80}[./'\")\]]")
_REST = re.compile(rb"[a-z]|" + _REST_OF_NAME.pattern)
# A line that ends a sentence early is not running text. [characters]
_FULL = 40
# A bracket that a line opens and does not close.
_OPEN = re.compile(r"<[A-Za-z][^<>]{0,200}$")
# Blocks with more relevant lines are not examined line by line.
_MANY = 256
# Most kinds of lines that are counted one by one.
_FEW = 4


@dataclass(slots=True)
class _Shape:
    """Lines that are equal except for their digits: the rules to try, and the result for the last one."""

    rules: tuple[Rule, ...]
    digit_keys: tuple[bytes, ...]
    suspicious: bool
    found: Rule | None = None
    group: Unknown | None = None
    examined: int = 0


class Scanner:
    r"""Reads files one after the other and gathers evidence.

    Parameters
    ----------
    rules : sequence of Rule or None
        In the order in which they are tried; default: the rules of the library.

    Examples
    --------
    >>> import io
    >>> scanner = Scanner()
    >>> scanner.read("job.err", io.BytesIO(b"step 1\nsrun: error: n12: task 3: Out Of Memory\n"))
    >>> hit = scanner.evidence.messages["SLURM-OOM"].hits[0]
    >>> hit.line, hit.fields["rank"], hit.fields["node"]
    (2, '3', 'n12')
    """

    SHAPES = 60_000
    SHAPE_BYTES = 16_000_000
    HITS = 32
    EXAMINED = 64
    UNKNOWN = 400

    def __init__(self, rules: Sequence[Rule] | None = None) -> None:
        self._index = _library_index() if rules is None else WordIndex(rules)
        self._boring: set[bytes] = set()
        self._boring_bytes = 0
        self._shapes: dict[bytes, _Shape] = {}
        self._groups: dict[bytes, Unknown] = {}
        self._open: list[Unknown] = []
        self._tail = b""
        self._file = 0
        self._progress = ProgressWatch()
        self.evidence = Evidence()

    def read(self, name: str, stream: BinaryIO) -> None:
        """Read a file to its end.

        Parameters
        ----------
        name : str
            Name of the input in the answer.
        stream : binary file
        """
        self._file = len(self.evidence.files)
        self._open, self._tail, self._progress = [], b"", ProgressWatch()
        reader = LineReader(stream, name)
        ends = self.evidence.ends[self._file] = TaskEnds()
        for block in reader:
            if reader.foreign and reader.foreign.whole:
                # The message was printed elsewhere.
                continue
            self._scan(block)
            # Rules cover all lines that it reads.
            if self.evidence.messages:
                ends.read(block.first_line, block.data)
        self.evidence.life[self._file] = self._progress.marks
        self.evidence.files.append(reader)
        self._sort()

    def _sort(self) -> None:
        """Put the groups of suspicious lines into the order of their first line."""
        self.evidence.unknown = sorted(self._groups.values(), key=lambda group: (group.first.file, group.first.line))

    def _split(self, block: Block, starts: list[int]) -> bool:
        """Examine the parts of a block between lines that may begin a run, if any; set aside findings of a run that
        ended before the first.
        """
        if starts == [0] and self.evidence.messages:
            first = block.data.split(b"\n", 1)[0]
            self._sort()
            if match(first, [rule for rule in self._index.rules if rule.begins]) and self.evidence.set_aside_run(
                self._file, quote(first)
            ):
                self._groups = {key: group for key, group in self._groups.items() if group.first.file != self._file}
                for shape in self._shapes.values():
                    shape.found, shape.group, shape.examined = None, None, 0
        if not any(starts):
            return False
        number = block.first_line
        for start, end in pairwise(sorted({0, *starts, len(block.data) + 1})):
            self._scan(Block(number, block.data[start : end - 1]))
            number += block.data.count(b"\n", start, end)
        return True

    def _scan(self, block: Block) -> None:
        """Examine one block."""
        for group in self._open:
            group.following += _next_lines(block.data, 0, _FOLLOWING - len(group.following))
        self._open = []
        if self._repeats(block):
            self._scan_repeating(block)
        else:
            self._scan_fresh(block)
        self._progress.look(block.first_line, block.data)
        self._tail = block.data[-_BEFORE_BYTES:] + b"\n"
        # Dropped shapes are examined again when they recur; their counts remain.
        if len(self._boring) > self.SHAPES or self._boring_bytes > self.SHAPE_BYTES:
            self._boring.clear()
            self._boring_bytes = 0
        if len(self._shapes) > self.SHAPES // 8:
            self._shapes.clear()

    def _repeats(self, block: Block) -> bool:
        """Whether the lines at the start of a block are mostly repetitions, or were seen before."""
        if b"\n" not in block.data:
            return True
        keys = block.data[:_SAMPLE].translate(None, _HEXADECIMAL).split(b"\n")
        new = {key for key in keys if key not in self._boring and key not in self._shapes}
        return len(new) <= len(keys) // 2

    def _scan_fresh(self, block: Block) -> None:
        """Examine a block whose lines hardly repeat: only the lines with one of the words."""
        text = block.data.replace(b"\r", b"\n")
        number, counted = block.first_line, 0
        lines = self._index.lines(text)
        if len(lines) > _MANY:
            # With this many relevant lines, checking for repetition pays after all.
            self._scan_repeating(block)
            return
        if self._split(block, [worded.start for worded in lines if any(rule.begins for rule in worded.rules)]):
            return
        for worded in lines:
            line = text[worded.start : worded.end]
            key = line.translate(None, _HEXADECIMAL)
            shape = self._shapes.get(key)
            if shape is None:
                shape = self._shapes[key] = _shape(worded, line)
            number += block.data.count(b"\n", counted, worded.start)
            counted = worded.start
            self._look(shape, line, number, block.data, worded.start, worded.end)

    def _scan_repeating(self, block: Block) -> None:
        """Examine a block whose lines repeat: each shape once, then the lines of relevant shapes."""
        keys = block.pieces(block.data.translate(None, _HEXADECIMAL))
        unseen = set(keys).difference(self._boring)
        new = list(unseen - self._shapes.keys())
        pieces: list[bytes] = []
        if new:
            pieces = block.pieces()
            self._learn(new, pieces, keys)
        matter = {key: self._shapes[key] for key in unseen if key in self._shapes}
        begins = {key for key, shape in matter.items() if any(rule.begins for rule in shape.rules)}
        if begins:
            lengths = accumulate((len(piece) + 1 for piece in block.pieces()), initial=0)
            if self._split(block, [start for start, key in zip(lengths, keys, strict=False) if key in begins]):
                return
        if matter:
            self._take(matter, block, pieces or block.pieces(), keys)

    def _learn(self, new: list[bytes], pieces: list[bytes], keys: list[bytes]) -> None:
        """Separate new relevant shapes from irrelevant ones; the first line of each represents all of them."""
        # Built backwards: of equal keys the last one set is kept, which is the first line.
        first = dict(zip(reversed(keys), range(len(keys) - 1, -1, -1), strict=True))
        owner = {pieces[first[key]]: key for key in new}
        text = b"\n".join(owner)
        for worded in self._index.lines(text):
            line = text[worded.start : worded.end]
            self._shapes[owner[line]] = _shape(worded, line)
        boring = [key for key in new if key not in self._shapes]
        self._boring.update(boring)
        self._boring_bytes += sum(map(len, boring))

    def _take(self, matter: dict[bytes, _Shape], block: Block, pieces: list[bytes], keys: list[bytes]) -> None:
        """Examine the lines of relevant shapes; count those of shapes seen often enough."""
        seen = {key for key, shape in matter.items() if self._is_known(shape)}
        looked = self._wait_until_known(matter, seen, block, pieces, keys)
        # If there are few, counting them one by one takes a third of the time.
        counts = {key: keys.count(key) for key in seen} if len(seen) < _FEW else Counter(keys)
        rest = {key: counts[key] - looked[key] for key in seen if counts[key] > looked[key]}
        telling = self._telling({key: looked[key] for key in rest if matter[key].digit_keys}, matter, pieces, keys)
        for key, count in rest.items():
            shape = matter[key]
            found, group = shape.found, shape.group
            for index in telling.get(key, ()):
                self._look_at(shape, block, pieces, index)
            # Those lines may be other messages than most of their shape, for which the rest is counted.
            shape.found, shape.group = found, group
            uncounted = count - len(telling.get(key, ()))
            last = block.line_of(len(keys) - 1 - keys[::-1].index(key))
            if found:
                message = self.evidence.messages[found.code]
                message.count, message.last_line = message.count + uncounted, max(message.last_line, last)
            elif group:
                group.count += uncounted
                self._seen_again(group, last)

    def _wait_until_known(
        self, matter: dict[bytes, _Shape], seen: set[bytes], block: Block, pieces: list[bytes], keys: list[bytes]
    ) -> Counter[bytes]:
        """Examine lines until each shape was seen often enough, add those shapes to `seen`, and return the number of
        lines examined.
        """
        looked: Counter[bytes] = Counter()
        for index, key in enumerate(keys if len(seen) < len(matter) else ()):
            if key in matter and key not in seen:
                self._look_at(matter[key], block, pieces, index)
                looked[key] += 1
                if self._is_known(matter[key]):
                    seen.add(key)
                    if len(seen) == len(matter):
                        break
        return looked

    def _telling(
        self, looked: dict[bytes, int], matter: dict[bytes, _Shape], pieces: list[bytes], keys: list[bytes]
    ) -> dict[bytes, list[int]]:
        """Return the positions of lines with significant digits, beyond those already examined."""
        telling: dict[bytes, list[int]] = {}
        if not looked:
            return telling
        places = [index for index, key in enumerate(keys) if key in looked]
        lowered = b"\n".join([pieces[index] for index in places]).lower()
        present = {digits for key in looked for digits in matter[key].digit_keys if digits in lowered}
        if present:
            for index in places:
                key = keys[index]
                if looked[key]:
                    looked[key] -= 1
                elif any(digits in pieces[index].lower() for digits in present.intersection(matter[key].digit_keys)):
                    telling.setdefault(key, []).append(index)
        return telling

    def _is_known(self, shape: _Shape) -> bool:
        """Whether more lines of a shape need only be counted."""
        if shape.examined >= self.EXAMINED:
            return True
        # For a message that was read often enough, one line of a new shape suffices.
        return shape.found is not None and self.evidence.messages[shape.found.code].count > self.EXAMINED

    def _look_at(self, shape: _Shape, block: Block, pieces: list[bytes], index: int) -> None:
        """Examine one piece of a block."""
        before = b"".join(piece + b"\n" for piece in pieces[max(0, index - _BEFORE) : index])
        data = before + b"\n".join(pieces[index : index + _FOLLOWING + 1])
        self._look(shape, pieces[index], block.line_of(index), data, len(before), len(before) + len(pieces[index]))

    def _look(self, shape: _Shape, text: bytes, number: int, data: bytes, start: int, end: int) -> None:
        """Match one line and record the result; `start` and `end` are its positions in `data`, which holds its
        neighbors.
        """
        shape.examined += 1
        matched, text = self._matched(shape, text, data, end)
        if matched and self._is_ordinary(matched, text, number):
            matched = None
        shape.found = matched[0] if matched else None
        if matched is None:
            if shape.suspicious:
                self._suspect(shape, text, number, data, start, end)
            return
        rule, fields, place = matched
        finding = self.evidence.messages.setdefault(rule.code, MessageHits(rule=rule))
        finding.count += 1
        finding.last_line = number
        if finding.count > self.EXAMINED:
            return
        if rule.role in ("cause", "symptom"):
            self._progress.failed(number)
        hit = self._hit(text, number, fields, place)
        if rule.role in ("cause", "symptom", "cascade") and len(finding.hits) < self.HITS:
            above, below = self._lines_before(data, start), _next_lines(data, end + 1, _FOLLOWING)
            hit = replace(hit, doubt=doubt(text, place, above, self._of_the_same(below[:_BELOW])))
            hit = _with_neighbors(hit, rule, above, below) if finding.count == 1 else hit
        self._note(finding, hit)

    def _is_ordinary(self, matched: Match, text: bytes, number: int) -> bool:
        """Whether successful runs print the line too, or mark it as a warning; the former is recorded as such."""
        rule = matched[0]
        # A message that counts only where a run failed, and that is marked as a warning, did not end the run.
        if rule.strength == "weak" and rule.requires and matches_words("warned", text, text.lower()):
            return True
        if rule.role != "cause" or rule.strength == "strong" or not printed_by_successful_runs(text):
            return False
        if len(self.evidence.ordinary) < self.HITS:
            self.evidence.ordinary.append((rule, self._hit(text, number, *matched[1:])))
        return True

    def _of_the_same(self, below: list[str]) -> list[str]:
        """Return the lines below a message up to the next cause: later retries belong to the next cause."""
        for place, line in enumerate(map(str.encode, below)):
            found = match(line, [rule for worded in self._index.lines(line) for rule in worded.rules])
            if found and found[0].role == "cause":
                return below[:place]
        return below

    def _matched(self, shape: _Shape, text: bytes, data: bytes, end: int) -> tuple[Match | None, bytes]:
        """Return the rule that matches a line, and the line, joined if it was broken."""
        matched = match(text, shape.rules)
        whole = _unwrapped(text, data, end, _REST_OF_NAME if matched else _REST)
        if whole is None:
            return matched, text
        again = match(whole, [rule for worded in self._index.lines(whole) for rule in worded.rules])
        # It counts if it is a fuller version of the message, or if its first segment was uninformative.
        fuller = again is not None and (matched is None or again[0] is matched[0])
        return (again, whole) if fuller else (matched, text)

    def _suspect(self, shape: _Shape, text: bytes, number: int, data: bytes, start: int, end: int) -> None:
        """Record a suspicious line that matches no rule, with the lines around it."""
        if shape.group is None:
            shape.group = self._group(shape, text, number)
        group = shape.group
        if group is None:
            return
        group.count += 1
        self._seen_again(group, number)
        if group.count <= self.HITS:
            if group.suspicion == "fatal":
                self._progress.failed(number)
            group.last = replace(self._hit(text, number, {}, 0), before=self._lines_before(data, start))
            group.following = _next_lines(data, end + 1, _FOLLOWING)
            if len(group.following) < _FOLLOWING and group not in self._open:
                self._open.append(group)

    def _seen_again(self, group: Unknown, number: int) -> None:
        """Record the last line of a group; for missed goals, only progress after that line shows that the goal was
        reached after all.
        """
        # Lines that were only counted, in another file than the last stored one, have no position.
        if group.count <= self.HITS or group.last.file == self._file:
            group.last_line = number
        if group.missed:
            self._progress.failed(number)
            group.last = replace(group.last, line=number)

    def _group(self, shape: _Shape, text: bytes, number: int) -> Unknown | None:
        """Return the group of a suspicious line, or None if it is harmless or there are too many."""
        name = template(text)
        group = self._groups.get(name)
        if group is None and len(self._groups) >= self.UNKNOWN:
            # Also ignored: error words in this many sentences are the subject of the text.
            self.evidence.unknown_left_out += 1
            return None
        kind = suspicion(text)
        missed = kind != "" and matches_words("missed", text, text.lower())
        if not kind or (kind == "hint" and not missed):
            shape.suspicious = False
            return None
        if group is None:
            hit = self._hit(text, number, {}, 0)
            group = Unknown(
                template=name.decode(errors="replace"), suspicion=kind, count=0, first=hit, last=hit, missed=missed
            )
            self._groups[name] = group
        return group

    def _lines_before(self, data: bytes, start: int) -> tuple[str, ...]:
        """Return the lines before a place, the nearest last."""
        text = data[max(0, start - _BEFORE_BYTES) : start]
        if len(text) == start:
            text = (self._tail + text)[-_BEFORE_BYTES:]
        return tuple(quote(line) for line in re.split(rb"[\r\n]", text)[-_BEFORE - 1 : -1])

    def _note(self, finding: MessageHits, hit: Hit) -> None:
        """Store a hit if it is among the first, or the earliest in time."""
        if len(finding.hits) < self.HITS:
            finding.hits.append(hit)
        if hit.moment and (not finding.earliest or not finding.earliest.moment or hit.moment < finding.earliest.moment):
            finding.earliest = hit

    def _hit(self, text: bytes, number: int, fields: dict[str, str], start: int) -> Hit:
        """Build a hit from a line."""
        location = facts(text[:WINDOW])
        named = location.named
        if "reporting_node" in fields:
            # The node that reports is not the node that the message is about.
            named = {key: value for key, value in named.items() if key not in ("node", "nid", "cname")}
        return Hit(
            file=self._file, line=number, text=quote(text, start), fields={**named, **fields}, moment=location.moment
        )


@cache
def _library_index() -> WordIndex:
    """Return the word index of the library's rules."""
    return WordIndex(load_rules())


def _shape(worded: Worded, line: bytes) -> _Shape:
    """Build a shape from its first line."""
    lowered = line.lower()
    # Only pieces of text whose digits also match this line can separate it from similar lines.
    digit_keys = {key for rule in worded.rules for key in rule.digit_keys if _any_digits(key).search(lowered)}
    return _Shape(worded.rules, tuple(digit_keys), worded.suspicious)


@cache
def _any_digits(key: bytes) -> re.Pattern[bytes]:
    """Return an expression for a piece of text in which digits match any digits."""
    return re.compile(re.sub(rb"[0-9]{1,20}", rb"[0-9]{1,20}", re.escape(key)))


def _unwrapped(text: bytes, data: bytes, end: int, rest: re.Pattern[bytes]) -> bytes | None:
    """Return a line that is as wide as a terminal, completed by the rest of its last word if the line below begins with
    it.
    """
    if len(text) not in _WIDTHS:
        return None
    # A record of Fortran begins with a space.
    below = data[end + 1 : end + 1 + WINDOW].split(b"\n", 1)[0].removeprefix(text[:1] if text[:1] == b" " else b"")
    return text + below if rest.match(below) and not text[-1:].isspace() else None


def _with_neighbors(hit: Hit, rule: Rule, above: tuple[str, ...], below: list[str]) -> Hit:
    """Return a hit with informative lines around it: a specific cause is complete, but its sentence may continue."""
    kept = above if rule.role != "cause" or rule.general else ()
    return replace(hit, before=kept, after=_sentence(hit.text, below) if rule.role == "cause" else ())


def _sentence(text: str, below: list[str]) -> tuple[str, ...]:
    """Return the lines that continue a line's sentence: after a colon, or if it has not ended and they begin in lower
    case.
    """
    # An open bracket is closed in a line below.
    if text.endswith((":", "TaskFailedException")) or _OPEN.search(text):
        return tuple(line for line in below if line.strip())[:1]
    lines: list[str] = []
    for line in below:
        # A name and a colon begin another message.
        is_continued = line.lstrip()[:1].islower() and not line.split(maxsplit=1)[0].endswith(":")
        if not is_continued or len(text) < _FULL or text.endswith((".", "!", ")", "'", '"')):
            break
        lines.append(line)
        text = line
    return tuple(lines)


def _next_lines(data: bytes, start: int, count: int) -> list[str]:
    """Return the lines after a place."""
    if start > len(data):
        return []
    return [quote(line) for line in re.split(rb"[\r\n]", data[start : start + 4 * WINDOW], maxsplit=count)[:count]]
