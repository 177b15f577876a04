"""Steps that need more CPUs than their job is granted: srun refuses them where jobs share nodes, and LSF's slots are shared.

References
----------
SchedMD, Slurm 23.11, sbatch and srun man pages (``--ntasks``, ``--cpus-per-task``, ``--exclusive``), and
``slurm_errno.c`` ("More processors requested than permitted"); IBM Spectrum LSF, bsub (``-n``, ``-x``, ``affinity``).
"""

import re
from collections.abc import Iterator

from hopperkit.launchers.batch.node_request import requested_node_kind
from hopperkit.launchers.batch.requested import cpus_beyond_grant, requested_by_job
from hopperkit.launchers.judging.job import Job
from hopperkit.launchers.judging.remedies import Draft
from hopperkit.launchers.scripts import LaunchLine

_REFUSAL = '"More processors requested than permitted"'


def check_grant(job: Job, *, known: bool) -> Iterator[Draft]:
    r"""Yield the srun lines that need more CPUs than the job's tasks and CPUs per task grant.

    A job that gets whole nodes has all of their CPUs, whatever it requests; there is no finding on a machine whose file
    documents its nodes, unless the job's partition or QOS is one that shares them. Memory beyond a site's limit per CPU
    also adds CPUs; that limit is unknown here.

    Parameters
    ----------
    job : Job
    known : bool
        Whether the script is known to be for the job's machine.

    Examples
    --------
    >>> from hopperkit.launchers.scripts import read_script
    >>> from hopperlib.machine import Machine
    >>> script = read_script("#SBATCH -n 1 -c 4\nsrun -n 8 -c 4 ./a\n")
    >>> (draft,) = check_grant(Job(script, Machine.load("cluster"), ()), known=False)
    >>> print(draft.finding.message.partition(", ")[0])
    Line 2 "srun -n 8 -c 4 ./a": needs 32 CPUs
    """
    # Tasks get whole cores: of two CPUs at most, where the threads per core are unknown.
    per_core, shared = 2, False
    if known:
        node = requested_node_kind(job.script, job.machine, None)
        per_core, shared = max(per_core, node.kind.threads_per_core), node.shared
        documented = job.machine.provenance[f"node.{node.kind.name}.cores_per_numa_node"].source is not None
        if documented and not shared:
            return
    for line in job.script.lines:
        beyond = cpus_beyond_grant(job.script, line, per_core)
        if not beyond:
            continue
        needs, has = beyond
        where = "srun refuses it" if shared else "on shared nodes srun refuses it"
        whole = "" if shared else " Where jobs get whole nodes, it may run."
        problem = f"needs {needs} CPUs, and the job is granted at most {has}: {where} ({_REFUSAL}).{whole}"
        plain = "Request the step's tasks and CPUs per task in the #SBATCH lines."
        # A job that counts nodes may well be for a site that gives them whole.
        sure = shared or requested_by_job(job.script).nodes is None
        evidence = {"needs_cpus": needs, "granted_cpus": has}
        level = "problem" if sure else "advice"
        yield job.draft("step-over-grant", line.line, problem, plain, level=level, evidence=evidence)  # type: ignore[arg-type]


def check_slots(job: Job) -> Iterator[Draft]:
    r"""Yield the lines of an LSF job whose tasks have more threads than the job has slots.

    Parameters
    ----------
    job : Job

    Examples
    --------
    >>> from hopperkit.launchers.scripts import read_script
    >>> from hopperlib.machine import Machine
    >>> script = read_script("#BSUB -n 80\nexport OMP_NUM_THREADS=4\nmpirun -n 80 ./a\n")
    >>> (draft,) = check_slots(Job(script, Machine.load("cluster"), ()))
    >>> print(draft.finding.message)
    Line 3 "mpirun -n 80 ./a": 80 tasks of 4 threads (OMP_NUM_THREADS) in 80 slots (-n): 4 threads per slot, and a slot is usually one core.
    """
    directives = [each for each in job.script.directives if each.system == "lsf"]
    slots = [each.value for each in directives if each.option == "-n"]
    # A job alone on its hosts (-x), or with cores bound to each slot, has more than one core per slot.
    more = any(each.option == "-x" or "affinity[" in each.value or "exclusive" in each.value for each in directives)
    if more or len(slots) != 1 or not re.fullmatch(r"[1-9]\d{0,6}", slots[0]):
        return
    has = int(slots[0])
    for line in job.script.lines:
        threads = line.environment.get("OMP_NUM_THREADS")
        tasks = _tasks_of(line, has)
        if not tasks or not isinstance(threads, str) or not re.fullmatch(r"[1-9]\d{0,3}", threads):
            continue
        total = tasks * int(threads)
        if int(threads) > 1 and total > has:
            each = f"{total / has:.3g} threads per slot, and a slot is usually one core"
            problem = f"{tasks} tasks of {threads} threads (OMP_NUM_THREADS) in {has} slots (-n): {each}."
            plain = "Request a slot for each thread, or cores for each slot with affinity[core(...)]."
            yield job.draft("depth-missing", line.line, problem, plain, level="advice")


def _tasks_of(line: LaunchLine, slots: int) -> int | None:
    """Return the tasks of an mpiexec line in LSF; one per slot by default, None where that is unclear."""
    if line.launcher in ("srun", "aprun", "ibrun", "flux"):
        return None
    words = [word.text for word in line.words]
    if ":" in words or any(re.match(r"-(ppn|perhost|npernode|-?map-by|N|f|hostfile)\b", word) for word in words):
        return None
    at = next((at for at, word in enumerate(words) if word in ("-n", "-np", "--np", "-c")), None)
    if at is None:
        return slots
    value = words[at + 1] if at + 1 < len(words) else ""
    return int(value) if re.fullmatch(r"[1-9]\d{0,6}", value) else None
