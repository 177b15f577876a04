"""Results of a scan of a job's output: messages that match rules, and suspicious lines that match none."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from hopperlib.failure.messages._lines import LineReader
from hopperlib.failure.messages._quotations import Doubt
from hopperlib.failure.messages._tasks import TaskEnds
from hopperlib.failure.messages._templates import Suspicion
from hopperlib.failure.messages.rules import Rule

# Number of last runs of a file that are stored.
_RUNS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One line that a rule matched, or one that is suspicious.

    Parameters
    ----------
    file : int
        Number of the file in the order given, from 0.
    line : int
        Number of the line in it, from 1.
    text : str
        The line, shortened, without control characters.
    fields : mapping
        Fields from the rule's named groups and the line: rank, node, nid, ...
    moment : datetime or None
        Time of the message, if it carries a complete one.
    before : tuple of str
        Lines directly before it, nearest last, where they may add information: for suspicious lines, symptoms and
        generic causes.
    after : tuple of str
        Lines that continue the sentence of a cause.
    doubt : {"", "quoted", "handled"}
        Why the program that printed it may not have ended there.
    """

    file: int
    line: int
    text: str
    fields: Mapping[str, str]
    moment: datetime | None = None
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    doubt: Doubt = ""


@dataclass(slots=True, kw_only=True)
class MessageHits:
    """A message that was found: its rule, how often, and where first.

    Parameters
    ----------
    rule : Rule
    count : int
        Number of lines with the message.
    hits : list of Hit
        The first of them in the order of the files, at most `Scanner.HITS`.
    earliest : Hit or None
        The one with the earliest time, if any carries a time.
    last_line : int
        The last line with the message, in the last file that contains it.
    """

    rule: Rule
    count: int = 0
    hits: list[Hit] = field(default_factory=list)
    earliest: Hit | None = None
    last_line: int = 0

    @property
    def first(self) -> Hit:
        """The earliest hit in time where times are known, otherwise the first in the files."""
        return self.earliest or self.hits[0]

    def split_by_file(self, file: int) -> "tuple[MessageHits, MessageHits]":
        """Split into lines of one file and lines of others.

        Parameters
        ----------
        file : int
            Index of the file, from 0.
        """
        own = [hit for hit in self.hits if hit.file == file]
        other = [hit for hit in self.hits if hit.file != file]
        # The file of lines that were only counted is unknown.
        count = len(own) if other else self.count
        return MessageHits(rule=self.rule, count=count, hits=own, last_line=self.last_line), MessageHits(
            rule=self.rule, count=len(other), hits=other, last_line=other[-1].line if other else 0
        )


@dataclass(slots=True, kw_only=True)
class Unknown:
    """Suspicious lines of one template that match no rule.

    Parameters
    ----------
    template : str
    suspicion : {"fatal", "error", "end", "hint"}
    count : int
    first, last : Hit
        First and last stored line of the group.
    last_line : int
        Number of the last line of all.
    following : list of str
        Lines directly after the last one: messages often continue there.
    missed : bool
        Whether they report a missed goal.
    """

    template: str
    suspicion: Suspicion
    count: int
    first: Hit
    last: Hit
    last_line: int = 0
    following: list[str] = field(default_factory=list)
    missed: bool = False


@dataclass(slots=True, kw_only=True)
class Evidence:
    """All that a scan found.

    Parameters
    ----------
    messages : dict of str to MessageHits
        By code.
    unknown : list of Unknown
        In the order of their first line.
    unknown_left_out : int
        Suspicious lines beyond the number of groups that are kept.
    files : list of LineReader
    life : dict of int to list of int
        By file, lines that show that a program continued after a failure.
    ends : dict of int to TaskEnds
        By file, tasks that launchers report as failed.
    earlier : list of Evidence
        Contents of runs before the last one, if a file holds several.
    ordinary : list of (Rule, Hit)
        Lines of causes that successful runs print too: not among `messages`.
    """

    messages: dict[str, MessageHits] = field(default_factory=dict)
    unknown: list[Unknown] = field(default_factory=list)
    unknown_left_out: int = 0
    files: list[LineReader] = field(default_factory=list)
    life: dict[int, list[int]] = field(default_factory=dict)
    ends: dict[int, TaskEnds] = field(default_factory=dict)
    earlier: "list[Evidence]" = field(default_factory=list)
    ordinary: list[tuple[Rule, Hit]] = field(default_factory=list)

    def _ended(self, start: int) -> bool:
        """Whether a line below reports the end of a run, good or bad."""
        # Only the first hits are kept: more hits of a frequent message may be below.
        return any(
            message.hits[-1].line > start or message.count > len(message.hits)
            for message in self.messages.values()
            if message.rule.success or message.rule.shows_failure
        ) or any(group.suspicion in ("fatal", "end") and group.last.line > start for group in self.unknown)

    def set_aside_run(self, file: int, line: str) -> bool:
        """Set aside the part of a file before the start of a run, if a run of the same kind ended there; return whether
        one did.

        Parameters
        ----------
        file : int
            Index of the file, from 0.
        line : str
            Number of the line that begins the run, from 1.
        """
        starts = [
            hit.line
            for message in self.messages.values()
            if message.rule.begins
            for hit in message.hits
            if hit.file == file and hit.text.split()[:1] == line.split()[:1]
        ]
        if not starts:
            return False
        run = Evidence(
            files=self.files, life=self.life, unknown=[group for group in self.unknown if group.first.file == file]
        )
        rest = {}
        for code, message in self.messages.items():
            # Hits in other files are kept: only this file starts over.
            own, other = message.split_by_file(file)
            if own.hits:
                run.messages[code] = own
            if other.hits:
                rest[code] = other
        if ended := run._ended(starts[0]):
            self.earlier = [*self.earlier[-_RUNS + 1 :], run]
            self.messages = rest
            self.unknown = [group for group in self.unknown if group.first.file != file]
        return ended

    def progress_after(self, hit: Hit) -> int | None:
        """Return the first line that shows progress after another line of its file; None if there is none.

        Parameters
        ----------
        hit : Hit
            The line to start from.
        """
        return next((line for line in self.life.get(hit.file, ()) if line > hit.line), None)

    @property
    def lines(self) -> tuple[int, int]:
        """First and last line with a finding; (0, 0) if there is none."""
        hits = [hit.line for message in self.messages.values() for hit in message.hits]
        hits += [line for group in self.unknown for line in (group.first.line, group.last.line)]
        return min(hits, default=0), max(hits, default=0)

    @property
    def in_order(self) -> list[MessageHits]:
        """Messages in the order of their first line."""
        return sorted(self.messages.values(), key=lambda message: (message.hits[0].file, message.hits[0].line))

    @property
    def suspicious(self) -> list[Unknown]:
        """Suspicious lines that match no rule, the most informative first; of equal lines, the last."""
        order = ("fatal", "error", "end", "hint")
        return sorted(
            self.unknown, key=lambda group: (order.index(group.suspicion), -group.last.file, -group.last.line)
        )

    @property
    def lines_read(self) -> int:
        """Lines of all files."""
        return sum(file.lines for file in self.files)
