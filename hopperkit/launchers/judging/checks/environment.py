"""Variables of a script that override its launch line's binding.

References
----------
OpenMP 5.2, OMP_PROC_BIND; Intel oneAPI compilers, KMP_AFFINITY; Intel MPI Library, I_MPI_PIN; MVAPICH2 user guide,
MV2_ENABLE_AFFINITY; GNU libgomp manual, GOMP_CPU_AFFINITY.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hopperkit.launchers.judging._edits import set_variable
from hopperkit.launchers.judging.job import Job
from hopperkit.launchers.judging.remedies import Draft
from hopperkit.launchers.scripts import LaunchLine
from hopperlib.finding import Level

_OFF = ("0", "off", "no", "disable", "disabled", "none", "false")


class _Undone(NamedTuple):
    """A variable's conflict with the line, the values to try for it (None: unset), its severity, and the cost of the
    change.
    """

    what: str
    values: tuple[str | None, ...]
    level: Level
    times: float = 1.0


def check_environment(job: Job) -> Iterator[Draft]:
    r"""Yield the variables that override the binding of the lines.

    Parameters
    ----------
    job : Job
        The job with its script.

    Examples
    --------
    >>> from hopperkit.launchers import read_script
    >>> from hopperkit.launchers.judging.job import PlacedLine
    >>> from hopperkit.launchers.placing import place_tasks
    >>> from hopperkit.launchers.reader import read_launches
    >>> from hopperlib.machine import Machine
    >>> script, machine = read_script("export OMP_NUM_THREADS=4 OMP_PROC_BIND=master\nsrun -c 4 ./a"), Machine.load("cluster")
    >>> placed = [PlacedLine(script.lines[0], place_tasks(read_launches(script, machine)[0], machine))]
    >>> [remedy.words for draft in check_environment(Job(script, machine, placed)) for remedy in draft.remedies]
    ['Write OMP_PROC_BIND=close.', 'Write OMP_PROC_BIND=spread.']
    """
    for line, placement in job.placed:
        launch, pattern = placement.launch, placement.nodes[0].pattern
        threads = max(len(seat.thread_cores) for seat in pattern)
        for name, undone in _undone(launch.environment, threads, len(pattern), line).items():
            setting = next((each for each in reversed(job.script.variables) if each.name == name), None)
            where = setting.line if setting else line.line
            remedies = ((_words(name, value), set_variable(job.script, name, value, where)) for value in undone.values)
            plain = "Leave the binding to the launcher."
            evidence = {"times": undone.times} if undone.times > 1 else {}
            yield job.draft(
                "environment-undoes",
                where,
                undone.what,
                plain,
                level=undone.level,
                remedies=remedies,
                evidence=evidence,
            )


def _words(name: str, value: str | None) -> str:
    """Return the advice to set a variable, or to leave it out."""
    return f"Leave {name} out." if value is None else f"Write {name}={value}."


def _undone(environment: Mapping[str, str], threads: int, tasks: int, line: LaunchLine) -> dict[str, _Undone]:
    """Return the conflicts with the line by variable."""
    values = {name: value.strip().lower() for name, value in environment.items()}
    found = _threads_undone(values, threads) if threads > 1 else {}
    explicit = "GOMP_CPU_AFFINITY" if "GOMP_CPU_AFFINITY" in values else "KMP_AFFINITY"
    if tasks > 1 and ("proclist" in values.get(explicit, "") or explicit.startswith("GOMP")):
        problem = f"each of the {tasks} tasks of a node puts its threads on the same CPUs, regardless of its binding."
        found[explicit] = _Undone(problem, (None,), "problem", float(tasks))
    if line.launcher == "srun":
        found |= _bound_twice(values)
    elif values.get("I_MPI_PIN", "") in _OFF:
        problem = "the tasks are not bound, and may move away from their memory (Intel MPI, I_MPI_PIN)."
        found["I_MPI_PIN"] = _Undone(problem, (None,), "advice")
    return found


def _threads_undone(values: Mapping[str, str], threads: int) -> dict[str, _Undone]:
    """Return the conflicts of variables that place the threads of a task."""
    found: dict[str, _Undone] = {}
    bind, places = values.get("OMP_PROC_BIND", ""), "OMP_PLACES" in values
    if bind in ("master", "primary"):
        problem = f"all {threads} threads of a task run where its first one does (OpenMP 5.2, OMP_PROC_BIND)."
        found["OMP_PROC_BIND"] = _Undone(problem, ("close", "spread"), "problem", float(threads))
    elif bind == "false" and places:
        problem = "the threads are not bound, so OMP_PLACES has no effect (OpenMP 5.2, OMP_PROC_BIND)."
        found["OMP_PROC_BIND"] = _Undone(problem, ("close", "spread"), "advice")
    if values.get("KMP_AFFINITY", "").split(",")[-1] in _OFF and (places or bind):
        problem = "Intel's OpenMP then binds no threads, regardless of OMP_PROC_BIND and OMP_PLACES (KMP_AFFINITY)."
        found["KMP_AFFINITY"] = _Undone(problem, (None,), "advice")
    if values.get("MV2_ENABLE_AFFINITY") in ("1", "on", "true") and "MV2_CPU_BINDING_POLICY" not in values:
        problem = f"MVAPICH2 binds each task to one core, so its {threads} threads share it (MVAPICH2 user guide)."
        found["MV2_ENABLE_AFFINITY"] = _Undone(problem, ("0",), "problem", float(threads))
    return found


def _bound_twice(values: Mapping[str, str]) -> dict[str, _Undone]:
    """Return the variables by which an MPI library binds tasks that srun has bound."""
    names = ("I_MPI_PIN_PROCESSOR_LIST", "I_MPI_PIN_DOMAIN", "MV2_CPU_MAPPING", "MV2_CPU_BINDING_POLICY")
    problem = (
        "the MPI library binds the tasks again, by the CPUs of the node and not by those that srun gives to a task."
    )
    return {name: _Undone(problem, (None,), "advice") for name in names if name in values}
