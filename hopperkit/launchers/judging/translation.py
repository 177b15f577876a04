"""A line of another site's launcher, written for the launcher of this machine.

What the tasks need is kept: how many there are, how many per node, their threads, their environment, the program and
its arguments. Bindings are rewritten, as launchers name them differently. A line with an option that has no
equal is not translated.
"""

import re
from collections.abc import Callable, Iterator

from hopperkit.launchers.judging.advice import advise
from hopperkit.launchers.judging.proposals import (
    BetterLine,
    LineInScript,
    better_line,
    counted_codes,
    layout_options,
    layout_text,
)
from hopperkit.launchers.line_writer import read_line_options
from hopperkit.launchers.options import Given
from hopperkit.launchers.placing import Placement, place_tasks
from hopperkit.launchers.reader import read_launches
from hopperkit.launchers.scripts import LaunchLine, Script
from hopperkit.launchers.words.shell import Edit
from hopperlib.machine import Machine
from hopperlib.placement.components import LauncherKind, LaunchError
from hopperlib.placement.slowdown import Cost, placement_cost

# Options that count or bind tasks, by the family of the launcher: the new line says the same in other words.
_PLACING = {
    "aprun": frozenset(["-n", "-N", "-d", "-S", "-sn", "-sl", "-ss", "-cc", "-F", "-b", "-q"]),
    "srun": frozenset(
        [
            "-n",
            "-N",
            "-c",
            "-m",
            "--ntasks-per-node",
            "--ntasks-per-socket",
            "--ntasks-per-core",
            "--hint",
            "--threads-per-core",
            "--cpu-bind",
            "--mem-bind",
            "--exclusive",
            "--exact",
            "--overlap",
            "--mpi",
        ]
    ),
    "mpiexec": frozenset(
        [
            "-n",
            "-ppn",
            "-npernode",
            "-d",
            "-cpu-bind",
            "-map-by",
            "-bind-to",
            "-rank-by",
            "-bind-to-core",
            "-bind-to-socket",
            "-bind-to-none",
            "-bycore",
            "-bysocket",
            "-bynode",
            "-cpus-per-proc",
            "-pernode",
            "-oversubscribe",
            "-use-hwthread-cpus",
            "-report-bindings",
            "-mem-bind",
            "-allow-run-as-root",
            "-envall",
            "-genvall",
        ]
    ),
}
_COUNTS = ("-n", "-N", "-ppn", "-npernode", "--ntasks-per-node")
# Options that set a variable of the tasks.
_SETTING = ("-e", "-x", "-env", "--export")


def foreign_launcher(line: LaunchLine, machine: Machine) -> LauncherKind | None:
    """Return the launcher that a machine has in place of that of a line; None if it has this one, or several, or none known.

    Parameters
    ----------
    line : LaunchLine
    machine : Machine

    Examples
    --------
    >>> from hopperkit.launchers.scripts import read_script
    >>> (line,) = read_script("aprun -n 4 ./a").lines
    >>> [foreign_launcher(line, Machine.load(name)) for name in ("hopper", "perlmutter", "polaris")]
    [None, 'srun', 'pals']
    """
    documented = [launcher.kind for launcher in machine.launchers if launcher.assumed is None]
    # A machine with several, or with aprun, is either a plain cluster or one of the past.
    if len(documented) != 1 or documented[0] not in ("srun", "pals"):
        return None
    typed = line.launcher if line.launcher in ("aprun", "srun", "ibrun", "flux") else "mpiexec"
    return None if typed == ("srun" if documented == ["srun"] else "mpiexec") else documented[0]


def translated(
    where: LineInScript, placement: Placement, cost_of: Callable[[Placement], Cost] = placement_cost
) -> BetterLine | None:
    """Return a line of a script for the launcher of the machine; None if it has an option without an equivalent.

    Parameters
    ----------
    where : LineInScript
        The script that contains the line.
    placement : Placement
        Where the line would put its tasks, which says how many per node and with how many threads.
    cost_of : callable
        What bandwidth makes of a placement.

    Examples
    --------
    >>> from hopperkit.launchers.scripts import read_script
    >>> machine, script = Machine.load("perlmutter"), read_script("aprun -n 64 -N 32 -d 2 ./a in.txt > log")
    >>> placement = place_tasks(read_launches(script, machine)[0], machine)
    >>> translated(LineInScript(script), placement).line
    'srun -n 64 --ntasks-per-node=32 -N 2 -c 8 --cpu-bind=cores ./a in.txt > log'
    """
    plain = _translated(where, placement, cost_of)
    if plain is None:
        return None
    before, after = (_problems(each, cost_of) for each in (placement, plain.placement))
    if not after <= before:
        return None
    return better_line(plain.placement, where._replace(script=plain.script), cost_of) or plain


def _problems(placement: Placement, cost_of: Callable[[Placement], Cost]) -> set[str]:
    """Return the codes of what is wrong with a placement."""
    return {found.code for found in advise(placement, cost_of(placement)) if found.level == "problem"}


def _options(line: LaunchLine, placement: Placement) -> tuple[Given, ...] | None:
    """Return the options of a line that can be translated; None for any other line."""
    launch = placement.launch
    if (
        foreign_launcher(line, placement.machine) is None
        or len(launch.components) != 1
        # Concurrent steps divide the job's cores, which no single line does.
        or launch.steps != 1
        or line.background
        or len(line.places) != len(line.words) + 1
    ):
        return None
    given = read_line_options(line, launch.launcher)
    if given is None or len(given) != 1 or len(set(line.places)) != len(line.places):
        # Words from one variable share its position, and part of it cannot be changed.
        return None
    return given[0].given


def _translated(where: LineInScript, placement: Placement, cost_of: Callable[[Placement], Cost]) -> BetterLine | None:
    """Return the translation with the fewest findings."""
    script, number = where.script, where.number
    line, machine = script.lines[number], placement.machine
    launch = placement.launch
    options = _options(line, placement)
    if options is None:
        return None
    kept = _kept(script, line, options, launch.launcher, machine.launcher().kind)
    if kept is None:
        return None
    component, kind = launch.components[0], placement.node_kind
    per_node = _tasks_per_node(placement, options)
    before = counted_codes(advise(placement, cost_of(placement)))
    cpus = component.threads_per_task
    cores = {"aprun": cpus, "srun": cpus // kind.threads_per_core}.get(launch.launcher, 1)
    width = max(launch.openmp_of(component) or 1, cores)
    end = max((line.places[each.words[1]][1] for each in options if each.words[1]), default=line.places[0][1])
    best: BetterLine | None = None
    best_rank: tuple[int, ...] = ()
    for placing in layout_options(machine, kind, min(per_node, component.tasks), width):
        written = layout_text(machine, placing, component.tasks, per_node).removesuffix(" ./a.out")
        head = _with_typed_counts(written, script, line, options)
        edit = Edit(line.places[0][0], end, " ".join((head, *kept)))
        found = _tried(where._replace(script=script.edited((edit,))), placement, per_node, cost_of)
        if found:
            codes = counted_codes(advise(found.placement, found.cost))
            rank = (codes - before).total(), codes.total()
            if best is None or rank < best_rank:
                best, best_rank = found, rank
    return best


def _tried(
    where: LineInScript, placement: Placement, per_node: int, cost_of: Callable[[Placement], Cost]
) -> BetterLine | None:
    """Return a translation that the machine's launcher accepts and that keeps the tasks, their nodes and their program."""
    machine, kind = placement.machine, where.kind
    try:
        launch = read_launches(where.script, machine, threads=where.threads, kind=kind)[where.number]
        then = place_tasks(launch, machine, kind=kind)
    except (LaunchError, IndexError):
        return None
    (was,), (now, *others) = placement.launch.components, launch.components
    same = (now.tasks, now.command) == (was.tasks, was.command) and not others and not then.doubts
    if not same or max(len(node.pattern) for node in then.nodes) != min(per_node, was.tasks):
        return None
    return BetterLine(where.script.line_as_typed(where.number), where.script, then, cost_of(then))


def _tasks_per_node(placement: Placement, options: tuple[Given, ...]) -> int:
    """Return tasks on the fullest node: as placed, or shared out over the job's nodes where only the job says how many."""
    launch = placement.launch
    tasks = launch.components[0].tasks
    placed = max(len(node.pattern) for node in placement.nodes)
    counted = any(each.name in _COUNTS[1:] for each in options)
    if launch.launcher in ("aprun", "srun") or counted or launch.reservation is None:
        return placed
    return min(placed, -(-tasks // max(launch.reservation.nodes, 1)))


def _family(launcher: LauncherKind) -> str:
    """Return the family of a launcher, which has similar options."""
    return launcher if launcher in ("aprun", "srun") else "mpiexec"


def _kept(
    script: Script, line: LaunchLine, options: tuple[Given, ...], launcher: LauncherKind, right: LauncherKind
) -> list[str] | None:
    """Return the options of the new line that set variables; None if an option has no equal."""
    family, settings = _family(launcher), []
    for each in options:
        if each.name in _PLACING.get(family, ()):
            continue
        if each.name == "-j" and each.value in ("0", "1"):
            continue
        pairs = list(_pairs(script, line, each)) if each.name in _SETTING else []
        if not pairs or (right == "srun" and any("," in pair for pair in pairs)):
            return None
        settings += pairs
    # srun, like mpirun, hands the whole environment on: a name without a value needs no option.
    settings = [pair for pair in settings if "=" in pair]
    if right == "srun":
        return [f"--export=ALL,{','.join(settings)}"] if settings else []
    return [f"--env {pair}" for pair in settings]


def _pairs(script: Script, line: LaunchLine, given: Given) -> Iterator[str]:
    """Yield what an option sets, as typed: NAME=value, or NAME alone for one that is handed on."""
    first, end = given.words
    typed = [script.text[slice(*line.places[at + 1])] for at in range(first, end)]
    if given.name == "--export":
        text = typed[-1].removeprefix("--export=")
        names = text.split(",")
        # Without ALL nothing else is handed on, which no option of the other launchers says.
        yield from names[1:] if names[0] == "ALL" and len(names) > 1 and '"' not in text else ()
    elif len(typed) == 3:
        yield f"{typed[1]}={typed[2]}"
    elif len(typed) == 2 and re.match(r"\w+(=|$)", typed[1]):
        yield typed[1]


def _with_typed_counts(head: str, script: Script, line: LaunchLine, options: tuple[Given, ...]) -> str:
    """Return the start of the new line with counts that came from a variable as the user typed them, the plainest first."""
    typed = {}
    for each in options:
        at = each.words[1]
        if each.name in _COUNTS and at and "$" in (text := script.text[slice(*line.places[at])]):
            name = "tasks" if each.name == "-n" else "per_node"
            typed[name] = text.removeprefix(each.typed).lstrip("=")
    head = re.sub(r"^(\S+) (-N \d+) (-n \d+)( --ntasks-per-node=\d+)?", r"\1 \3\4 \2", head)
    if "tasks" in typed:
        # The number of nodes follows from the variable.
        head = re.sub(r" -N \d+", "", re.sub(r" -n \d+", lambda _: f" -n {typed['tasks']}", head, count=1))
    if "per_node" in typed:
        head = re.sub(
            r" (--ntasks-per-node=|--ppn )\d+", lambda found: f" {found[1]}{typed['per_node']}", head, count=1
        )
    return head
