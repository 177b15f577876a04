"""A job script as its checks see it: the text, the machine, and its launch lines where they could be placed."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from hopperkit.launchers.judging.remedies import Draft, Remedy
from hopperkit.launchers.placing import Placement
from hopperkit.launchers.scripts import LaunchLine, Script
from hopperkit.launchers.words.shell import Edit
from hopperlib.finding import Finding, Level
from hopperlib.machine import Machine


class PlacedLine(NamedTuple):
    """A launch line of a script with where its tasks run."""

    line: LaunchLine
    placement: Placement


class Job(NamedTuple):
    """A script, the machine it is for, and its lines as far as they could be placed."""

    script: Script
    machine: Machine
    placed: Sequence[PlacedLine]

    @property
    def nodes(self) -> int | None:
        """Nodes that the script reserves."""
        reservation = self.placed[0].placement.launch.reservation if self.placed else None
        return reservation.nodes if reservation else None

    def draft(
        self,
        code: str,
        line: int,
        what: str,
        plain: str = "",
        *,
        level: Level = "problem",
        remedies: Iterable[tuple[str, Iterable[Edit]]] = (),
        evidence: Mapping[str, Any] | None = None,
    ) -> Draft:
        """Return a finding about a line of the script, with the changes to try.

        Parameters
        ----------
        code : str
        line : int
        what : str
            The problem.
        plain : str
            Advice if none of the changes is possible, without commands.
        level : str
        remedies : iterable of (str, edits)
            Advice in words, with its edits; advice without an edit is omitted.
        evidence : mapping
            Numbers not on the line.
        """
        text = " ".join(self.script.raw[line - 1].split())
        shown = text if len(text) <= 60 else text[:57] + "..."
        message = f'Line {line} "{shown}": {what}'
        finding = Finding(code, message, level, {"line": line, **(evidence or {})}, plain)
        made = ((words, tuple(edits)) for words, edits in remedies)
        return Draft(finding, tuple(Remedy(words, edits) for words, edits in made if edits))

    def cited(self, path: str) -> str:
        """Return the source of a machine-file value, as the end of a sentence."""
        fact = self.machine.provenance.get(path)
        if fact is None or fact.source is None:
            return f" (file of {self.machine.title})"
        return f" ({self.machine.sources[fact.source]}: {fact.at})"
