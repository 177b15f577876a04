"""A launch line read, placed, judged and improved: the whole way in one call."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from hopperlib.finding import Finding
from hopperlib.machine import Machine
from hopperlib.node.launch.components import LauncherKind
from hopperlib.node.launch.reader import read_launches
from hopperlib.node.placement import Placement, place_tasks
from hopperlib.node.review.advice import advise
from hopperlib.node.review.slowdown import Cost, placement_cost
from hopperlib.node.review.suggestions import BetterLine, better_line, equivalent_line


class Suggestion(NamedTuple):
    """Lines to use instead.

    Parameters
    ----------
    better : BetterLine or None
        A better line for the same launcher; None if none was found.
    equivalent : str or None
        A line of the other launcher with the same task-to-core map as the line given.
    """

    better: BetterLine | None
    equivalent: str | None

    def lines(self, launcher: LauncherKind) -> dict[str, str | None]:
        """Return both by launcher: the better line for the one given, the equivalent for the other."""
        better = self.better.line if self.better else None
        aprun, srun = (better, self.equivalent) if launcher == "aprun" else (self.equivalent, better)
        return {"aprun": aprun, "srun": srun}


class Review(NamedTuple):
    """All that is said about a launch line.

    Parameters
    ----------
    placement : Placement
        Where its tasks run.
    cost : Cost
        What memory bandwidth makes of that.
    advice : tuple of Finding
        What to know about it, worst first.
    suggestion : Suggestion
        The better line, and the equivalent one of the other launcher.
    """

    placement: Placement
    cost: Cost
    advice: tuple[Finding, ...]
    suggestion: Suggestion

    @property
    def problems(self) -> tuple[Finding, ...]:
        """The advice that is of level problem."""
        return tuple(finding for finding in self.advice if finding.level == "problem")

    def gain_range(self, low: float, high: float) -> tuple[float, float] | None:
        """Return what the better line may buy: run time of this line over its, for fractions from low to high.

        None if there is no better line, or it puts other numbers of tasks on
        the nodes: then both have a spread run of their own, and the model does
        not compare those.

        Examples
        --------
        >>> review = review_line("aprun -n 384 -N 12 vasp", Machine.load("hopper"))
        >>> [round(end, 2) for end in review.gain_range(0, 1)]
        [1.0, 2.0]
        """
        better = self.suggestion.better
        if better is None:
            return None
        here, there = ([len(node.pattern) for node in placed.nodes] for placed in (self.placement, better.placement))
        if here != there:
            return None
        # A ratio of two straight lines has no turning point, so the ends are the extremes.
        ends = [self.cost.worst.slowdown(part) / better.cost.worst.slowdown(part) for part in (low, high)]
        return min(ends), max(ends)


def review_line(text: str, machine: Machine, **given: Any) -> Review:
    """Return what is to be said about the first launch line of a text; the arguments are those of `review_lines`.

    Examples
    --------
    >>> review = review_line("aprun -n 384 -N 12 vasp", Machine.load("hopper"))
    >>> review.problems[0].code, review.suggestion.better.line
    ('idle-numa-nodes', 'aprun -n 384 -N 12 -S 3 vasp')
    """
    return review_lines(text, machine, **given)[0]


def review_lines(
    text: str,
    machine: Machine,
    *,
    threads: int | None = None,
    kind: str | None = None,
    core_cap_gb_s: float | None = None,
    memory_per_task_gb: float | None = None,
) -> tuple[Review, ...]:
    r"""Return what is to be said about each launch line of a script; lines that are alike share an answer.

    Parameters
    ----------
    text : str
        An aprun, srun or mpiexec line, or the batch script around it.
    machine : Machine
    threads : int or None
        OpenMP threads of a task, in place of what the text says.
    kind : str or None
        Kind of node; None is the ordinary one.
    core_cap_gb_s : float or None
        What one core can draw; None takes the machine file's value. [GB/s]
    memory_per_task_gb : float or None
        Memory of a task; None takes what the line asks for, if it does. [GB]

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
    launches = read_launches(text, machine, threads=threads, kind=kind)
    cost_of = partial(placement_cost, core_cap_gb_s=core_cap_gb_s, memory_per_task_gb=memory_per_task_gb)
    # The same words may stand for other things where a variable has changed between two lines.
    alike = {(launch.text, launch.components, launch.openmp_threads): launch for launch in reversed(launches)}
    judged = {key: _judged(place_tasks(launch, machine, kind=kind), cost_of) for key, launch in alike.items()}
    return tuple(judged[launch.text, launch.components, launch.openmp_threads] for launch in launches)


def _judged(placement: Placement, cost_of: Callable[[Placement], Cost]) -> Review:
    """Return all that is said about a launch line that has been placed."""
    launch, cost = placement.launch, cost_of(placement)
    with_gpus = any(component.gpus for component in launch.components)
    # What cannot be told cannot be bettered, steps that share a job are not judged one by one, aprun knows no GPUs.
    known = not placement.doubts and launch.steps == 1 and launch.launcher in ("aprun", "srun")
    better = better_line(placement, cost_of) if known else None
    equivalent = equivalent_line(placement) if known and not with_gpus else None
    return Review(placement, cost, advise(placement, cost), Suggestion(better, equivalent))
