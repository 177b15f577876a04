r"""Checks of a whole job script before submission: steps that will fail, and resources charged but not used.

A site's rules are in the machine file with their sources, and the script is checked only against these: an unknown
partition is an error only if the file claims to list all of them.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from hopperkit.launchers.judging._edits import difference, insert_line, line_range
from hopperkit.launchers.judging.advice import advise
from hopperkit.launchers.judging.checks.anywhere import check_launcher, check_threads
from hopperkit.launchers.judging.checks.environment import check_environment
from hopperkit.launchers.judging.checks.gpu_aware import check_gpu_aware
from hopperkit.launchers.judging.checks.grant import check_grant, check_slots
from hopperkit.launchers.judging.checks.limits import check_choices, check_gpu_types, check_limits
from hopperkit.launchers.judging.checks.training import check_training
from hopperkit.launchers.judging.checks.typing import check_typing
from hopperkit.launchers.judging.checks.waiting import check_waiting
from hopperkit.launchers.judging.checks.widths import check_counts, check_memory, check_widths
from hopperkit.launchers.judging.job import Job, PlacedLine
from hopperkit.launchers.judging.proposals import LineInScript
from hopperkit.launchers.judging.remedies import Draft, Judged, with_tried_advice
from hopperkit.launchers.judging.translation import foreign_launcher, translated
from hopperkit.launchers.placing import Placement, place_tasks
from hopperkit.launchers.reader import read_in_job
from hopperkit.launchers.scripts import Script
from hopperkit.launchers.words.shell import Edit
from hopperlib.finding import Finding
from hopperlib.machine import Machine
from hopperlib.placement.components import DIRECTIVES, BatchSystem, LaunchError
from hopperlib.placement.slowdown import placement_cost

_MPI_MODULES = re.compile(r"open-?mpi|mpich|impi|intel-?mpi|mvapich|hpcx|psmpi|mpt|oneapi|abi", re.IGNORECASE)
_FOREIGN = re.compile(
    r"^[ \t]*(?:time[ \t]+)?(jsrun|lrun|ibrun|flux[ \t]+run|ccc_mprun|mpirun_rsh|poe|runjob)\b", re.MULTILINE
)
_BATCH_OF: dict[str, BatchSystem] = {"srun": "slurm", "pals": "pbs"}


def check_job(
    script: Script,
    machine: Machine,
    placed: Sequence[PlacedLine] = (),
    *,
    known: bool = True,
    kind: str | None = None,
    threads: int | None = None,
    tried: bool = True,
) -> tuple[Finding, ...]:
    r"""Return the problems of a job script, and resources charged but not used; problems first.

    Parameters
    ----------
    script : Script
    machine : Machine
    placed : sequence of PlacedLine
        Its launch lines, as far as they can be placed.
    known : bool
        Whether the script is known to be for this machine; otherwise only machine-independent findings are reported.
    kind : str or None
        Kind of node on which the lines were placed; None is the one that the script names.
    threads : int or None
        OpenMP threads per task used for the placement, overriding the text.
    tried : bool
        Whether changes are tried on the text; without that, as for options that came from elsewhere, the advice names
        nothing to type.

    Examples
    --------
    >>> from hopperkit.launchers import read_script
    >>> script = read_script("#SBATCH -p standard-q\n#SBATCH -N 2 -t 48:00:00\nsrun -n 16 ./a.out\n")
    >>> finding = check_job(script, Machine.load("lumi-g"))[0]
    >>> print(finding.message)
    Line 1 "#SBATCH -p standard-q": partition=standard-q does not exist on LUMI-G (LUMI user guide, Slurm partitions: both tables). There are: standard-g, small-g, dev-g, bench.
    >>> finding.advice
    'Write -p standard-g.'
    """
    drafts = _drafts(Job(script, machine, placed), known=known)
    findings = [draft.finding for draft in drafts]
    if tried and any(draft.remedies for draft in drafts):
        judge = _judge_of(machine, kind, threads) if known else partial(_judge_anywhere, machine=machine)
        findings = list(with_tried_advice(drafts, script, judge, judge(script)))
    return tuple(sorted(findings, key=lambda finding: finding.level != "problem"))


def _drafts(job: Job, *, known: bool) -> list[Draft]:
    """Return the results of the checks; two lines with one setting share one finding."""
    anywhere = (
        *(lambda each: check_typing(each.script), _late_directives, lambda each: check_training(each.script)),
        *(lambda each: check_waiting(each.script), lambda each: check_grant(each, known=known), check_slots),
    )
    of_machine = (
        *(check_choices, check_gpu_types, check_limits, _batch_system, _launchers),
        *(check_memory, check_environment, check_widths, check_counts),
        lambda each: check_gpu_aware(each.script, each.machine),
    )
    # Where the machine is known, its launcher and the placement show the same and more.
    rules = (*anywhere, *of_machine) if known else (*anywhere, check_launcher, check_threads)
    drafts = {(each.finding.code, each.finding.message): each for rule in rules for each in rule(job)}
    return list(drafts.values())


def _judge_anywhere(script: Script, machine: Machine) -> Judged:
    """Return a function that judges a script without a known machine."""
    return Judged.of(draft.finding for draft in _drafts(Job(script, machine, ()), known=False))


def _judge_of(machine: Machine, kind: str | None, threads: int | None) -> Callable[[Script], Judged]:
    """Return a function that reads, places and judges a script on a machine."""

    def judge(script: Script) -> Judged:
        placed: list[PlacedLine] = []
        refusal = ""
        try:
            in_job, launches = read_in_job(script, machine, threads=threads, kind=kind)
            places = [place_tasks(launch, machine, kind=kind) for launch in launches]
            placed = [PlacedLine(*pair) for pair in zip(in_job.lines, places, strict=True)]
        except LaunchError as error:
            refusal = str(error)
        found = [draft.finding for draft in _drafts(Job(script, machine, placed), known=True)]
        for _, placement in placed:
            found += (each for each in advise(placement, placement_cost(placement)) if each.level == "problem")
        return Judged.of(found, refusal)

    return judge


def _late_directives(job: Job) -> Iterator[Draft]:
    """Directives after the first command, which Slurm and PBS ignore; those in a here-document belong to another
    script.
    """
    script = job.script
    late = [each for each in script.late_directives if each[1].startswith(("#SBATCH", "#PBS"))]
    if not late or "<<" in script.text:
        return
    rest = f", and so {'does' if len(late) == 2 else 'do'} {len(late) - 1} more" if len(late) > 1 else ""
    problem = f"follows the first command, where the batch system ignores it{rest}."
    plain = "Move the directives above the first command."
    lines = script.text.split("\n")
    first = 1 + next(at for at, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#"))
    moved = insert_line(script, first, "\n".join(text for _, text in late))
    removals = tuple(edit for number, _ in late for edit in _without(script, number))
    yield job.draft("directives-late", late[0][0], problem, plain, remedies=[(plain, (*moved, *removals))])


def _without(script: Script, number: int) -> tuple[Edit, ...]:
    """Return the edit that takes a line away."""
    start, end = line_range(script, number)
    return (Edit(start, min(end + 1, len(script.text)), ""),)


def _site_launchers(machine: Machine) -> list[str]:
    """Return the launchers that a machine has for sure."""
    return [launcher.kind for launcher in machine.launchers if launcher.assumed is None]


def _batch_system(job: Job) -> Iterator[Draft]:
    """Directives to a batch system that the machine does not run."""
    documented = _site_launchers(job.machine)
    system = _BATCH_OF.get(documented[0]) if len(documented) == 1 else None
    foreign = next((each for each in job.script.directives if system and each.system != system), None)
    if foreign and system:
        spelled = DIRECTIVES[system]
        problem = f"{job.machine.title} reads {spelled} lines, and takes this one for a comment."
        yield job.draft("scheduler-foreign", foreign.line, problem, f"Write what the job needs in {spelled} lines.")


def _launchers(job: Job) -> Iterator[Draft]:
    """The launcher of another system."""
    documented = _site_launchers(job.machine)
    # A machine with several, or with aprun, is either a plain cluster or one of the past.
    if len(documented) != 1 or documented[0] not in _BATCH_OF:
        return
    right = "srun" if documented == ["srun"] else "mpiexec"
    plain = f"Start the program with {right}."
    for match in _FOREIGN.finditer(job.script.text):
        number = job.script.text.count("\n", 0, match.start(1)) + 1
        problem = f"{match[1]} starts tasks elsewhere; on {job.machine.title} {right} does."
        yield job.draft("launcher-foreign", number, problem, plain)
    brought = any(_MPI_MODULES.search(module.name) for module in job.script.modules)
    placed = {each.line.line: each.placement for each in job.placed}
    for number, line in enumerate(job.script.lines):
        # The launchers of other sites are found above.
        if not foreign_launcher(line, job.machine) or line.launcher in ("ibrun", "flux"):
            continue
        problem = f"{line.launcher} is not how tasks are started on {job.machine.title}; {right} is."
        remedies = _with_launcher(job.script, number, placed.get(line.line))
        if line.launcher in ("aprun", "srun"):
            yield job.draft("launcher-foreign", line.line, problem, plain, remedies=remedies)
        elif not brought:
            problem += " It is there only if a module or a container brings it."
            yield job.draft("launcher-foreign", line.line, problem, plain, level="advice", remedies=remedies)


def _with_launcher(script: Script, number: int, placement: Placement | None) -> Iterator[tuple[str, tuple[Edit, ...]]]:
    """Yield the change of a line into one of the machine's launcher, where it could be placed."""
    found = translated(LineInScript(script, number), placement) if placement else None
    if found:
        joined = " ".join(re.sub(r"\\\n", " ", found.line).split())
        yield f"Write {joined}", (difference(script.text, found.script.text),)
