"""A launch line read, placed, judged and improved: the whole way in one call."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from hopperkit.launchers.judging.advice import advise
from hopperkit.launchers.judging.placement_remedies import with_remedies
from hopperkit.launchers.judging.proposals import BetterLine, LineInScript, better_line
from hopperkit.launchers.judging.remedies import Judged, with_tried_advice
from hopperkit.launchers.judging.translation import foreign_launcher, translated
from hopperkit.launchers.placing import Placement, place_tasks
from hopperkit.launchers.reader import read_in_job
from hopperkit.launchers.scripts import LOOPS, LaunchLine, Script, read_script
from hopperlib.finding import Finding
from hopperlib.machine import Machine
from hopperlib.placement.components import Launch
from hopperlib.placement.slowdown import Cost, placement_cost

# Launchers for which lines are written.
_BETTERED = ("aprun", "srun", "pals")


class Review(NamedTuple):
    """Review of a launch line.

    Parameters
    ----------
    placement : Placement
        Where its tasks run.
    cost : Cost
        Effect of memory bandwidth.
    advice : tuple of Finding
        Findings, worst first.
    better : BetterLine or None
        The better line; None if there is none.
    line : LaunchLine
        The line in its script.
    script : Script
    """

    placement: Placement
    cost: Cost
    advice: tuple[Finding, ...]
    better: BetterLine | None
    line: LaunchLine
    script: Script

    @property
    def problems(self) -> tuple[Finding, ...]:
        """The advice that is of level problem."""
        return tuple(finding for finding in self.advice if finding.level == "problem")

    @property
    def won(self) -> tuple[str, ...]:
        """Codes of the findings that the better line cures.

        Examples
        --------
        >>> review_line("aprun -n 384 -N 12 vasp", Machine.load("hopper")).won
        ('idle-numa-nodes',)
        """
        if self.better is None:
            return ()
        rest = {finding.code for finding in advise(self.better.placement, self.better.cost) if finding.level != "note"}
        codes = dict.fromkeys(finding.code for finding in self.advice if finding.level != "note")
        return tuple(code for code in codes if code not in rest)

    @property
    def searched(self) -> bool:
        """Whether a better line was searched for: unknown placements cannot be improved, nor can steps that share a
        job.
        """
        return _can_be_improved(self.placement, self.line)

    def suggested_lines(self) -> dict[str, str | None]:
        """Return the better line under its launcher, which is that of this line if the machine has it; nothing under others."""
        placement, line = (self.better.placement, self.better.line) if self.better else (self.placement, None)
        return {"aprun": None, "srun": None, placement.launch.launcher: line}


def review_line(text: str | Script, machine: Machine, **given: Any) -> Review:
    """Review the first launch line of a text; the arguments are those of `review_lines`.

    Parameters
    ----------
    text : str or Script
        Launch line.
    machine : Machine
        Machine that it runs on.

    Examples
    --------
    >>> review = review_line("aprun -n 384 -N 12 vasp", Machine.load("hopper"))
    >>> review.problems[0].code, review.better.line
    ('idle-numa-nodes', 'aprun -n 384 -N 12 -S 3 vasp')
    """
    return review_lines(text, machine, **given)[0]


def review_lines(
    text: str | Script,
    machine: Machine,
    *,
    threads: int | None = None,
    kind: str | None = None,
    memory_per_task_gb: float | None = None,
    doubt: str = "",
) -> tuple[Review, ...]:
    r"""Review each launch line of a script; identical lines share an answer.

    Parameters
    ----------
    text : str or Script
        An aprun, srun or mpiexec line, or the batch script around it, read already or not.
    machine : Machine
    threads : int or None
        OpenMP threads per task, overriding the text.
    kind : str or None
        Kind of node; None is the ordinary one.
    memory_per_task_gb : float or None
        Memory per task; default: the line's request, if any. [GB]
    doubt : str
        Why it is in doubt that the text is for this machine; nothing is proposed then.

    Raises
    ------
    LaunchError
        If the launcher or the batch system would refuse one of the lines.
    ValueError
        If another argument is out of bounds.

    Examples
    --------
    >>> script = "aprun -n 24 ./first\naprun -n 24 -N 12 ./second\naprun -n 24 ./first\n"
    >>> reviews = review_lines(script, Machine.load("hopper"))
    >>> [len(review.problems) for review in reviews], reviews[0] is reviews[2]
    ([0, 1, 0], True)
    """
    script = text if isinstance(text, Script) else read_script(text)
    script, launches = read_in_job(script, machine, threads=threads, kind=kind)
    cost_of = partial(placement_cost, memory_per_task_gb=memory_per_task_gb)
    judged: dict[object, Review] = {}
    reviews = []
    for number, launch in enumerate(launches):
        # The same words may mean something else if a variable changed between two lines.
        key = launch.text, launch.components, launch.openmp_threads
        if key not in judged:
            placement = place_tasks(launch, machine, kind=kind)
            if doubt:
                placement = placement._replace(doubts=(doubt, *placement.doubts))
            judged[key] = _judge(placement, cost_of, LineInScript(script, number, threads, kind))
        reviews.append(judged[key])
    return tuple(reviews)


def _can_be_improved(placement: Placement, line: LaunchLine) -> bool:
    """Whether lines can be tried: not in doubt, nor for steps that share a job, which are not judged one by one."""
    # How often a loop in the background runs is not known where it is counted once.
    if line.background and line.times == 1 and any(each.split()[0] in LOOPS for each in line.inside):
        return False
    return not placement.doubts and placement.launch.steps == 1 and placement.launch.launcher in _BETTERED


def _in_place_of(placement: Placement, cost_of: Callable[[Placement], Cost], where: LineInScript) -> BetterLine | None:
    """Return the line to use in place of one: a better one, or the same job for the launcher that the machine has."""
    line = where.script.lines[where.number]
    if not foreign_launcher(line, placement.machine):
        return better_line(placement, where, cost_of) if _can_be_improved(placement, line) else None
    return None if placement.doubts else translated(where, placement, cost_of)


def _judge(placement: Placement, cost_of: Callable[[Placement], Cost], where: LineInScript) -> Review:
    """Return the review of a launch line that has been placed."""
    cost, line = cost_of(placement), where.script.lines[where.number]
    better = _in_place_of(placement, cost_of, where)
    review = Review(placement, cost, advise(placement, cost), better, line, where.script)
    return review._replace(advice=_tried_advice(review, where, cost_of))


def _tried_advice(review: Review, where: LineInScript, cost_of: Callable[[Placement], Cost]) -> tuple[Finding, ...]:
    """Return the findings of a line with a change that cures each, where the better line does not."""
    machine, cured = review.placement.machine, review.won
    # No option cures a line that another launcher replaces.
    replaced = foreign_launcher(review.line, machine) is not None
    drafts = [
        draft._replace(remedies=()) if replaced or draft.finding.code in cured else draft
        for draft in with_remedies(review.advice, review.placement, where.script, where.number)
    ]

    def judge(script: Script) -> Judged:
        script, launches = read_in_job(script, machine, threads=where.threads, kind=where.kind)
        if len(script.lines) != len(where.script.lines):
            return Judged(Counter(), Counter(), "the script has other launch lines then")
        judged = Judged.of(found(launches, where.number))
        # A change may affect the lines of other steps: problems there count too.
        earlier = read_in_job(where.script, machine, threads=where.threads, kind=where.kind)[1]
        for number, (new, old) in enumerate(zip(script.lines, where.script.lines, strict=True)):
            if number != where.number and new.text != old.text:
                then, now = (Judged.of(found(each, number)).problems for each in (earlier, launches))
                judged = judged._replace(problems=judged.problems + (now - then))
        return judged

    def found(launches: Sequence[Launch], number: int) -> list[Finding]:
        placement = place_tasks(launches[number], machine, kind=where.kind)
        return [each for each in advise(placement, cost_of(placement)) if each.level != "note"]

    before = Judged.of(each for each in review.advice if each.level != "note")
    return tuple(with_tried_advice(drafts, where.script, judge, before))
