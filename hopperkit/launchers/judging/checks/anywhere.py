"""Contradictions inside a job script that show without its machine: the launcher of another batch system, and threads
without CPUs.

References
----------
SchedMD, srun man page (srun is a part of Slurm) and sbatch man page (``--ignore-pbs``: sbatch reads ``#PBS`` lines);
Altair PBS Professional user's guide (``ncpus``, ``mpiprocs``, ``ompthreads``).
"""

import re
from collections.abc import Iterator

from hopperkit.launchers.batch.requested import requested_by_job, requested_by_line
from hopperkit.launchers.judging.job import Job
from hopperkit.launchers.judging.remedies import Draft
from hopperlib.placement.components import DIRECTIVES

# More threads per CPU than any common processor has hardware threads per core.
_MOST_PER_CORE = 2


def check_launcher(job: Job) -> Iterator[Draft]:
    r"""Yield the launch lines of a batch system other than the one that reads the directives.

    Parameters
    ----------
    job : Job

    Examples
    --------
    >>> from hopperkit.launchers.scripts import read_script
    >>> from hopperlib.machine import Machine
    >>> script = read_script("#PBS -l select=2:mpiprocs=48\nsrun -n 96 ./a\n")
    >>> (draft,) = check_launcher(Job(script, Machine.load("cluster"), ()))
    >>> print(draft.finding.message.partition(", unless")[0])
    Line 2 "srun -n 96 ./a": srun is a part of Slurm, and the directives are #PBS lines: a job of PBS has no srun
    """
    systems = {directive.system for directive in job.script.directives}
    if len(systems) != 1:
        return
    (system,) = systems
    for line in job.script.lines:
        if line.launcher == "srun" and system in ("pbs", "lsf", "cobalt"):
            spelled = DIRECTIVES[system]
            unless = ", unless this script goes to sbatch, which reads some #PBS lines too" if system == "pbs" else ""
            name = {"pbs": "PBS", "lsf": "LSF", "cobalt": "Cobalt"}[system]
            problem = (
                f"srun is a part of Slurm, and the directives are {spelled} lines: a job of {name} has no srun{unless}."
            )
            plain = "Start the program with mpiexec, or write #SBATCH lines."
            yield job.draft("launcher-foreign", line.line, problem, plain, level="advice")
        elif line.launcher == "aprun" and system == "slurm":
            problem = (
                "aprun is the launcher of Cray's ALPS, and the directives are #SBATCH lines: a job of Slurm has srun."
            )
            yield job.draft("launcher-foreign", line.line, problem, "Start the program with srun.", level="advice")


def check_threads(job: Job) -> Iterator[Draft]:
    r"""Yield the requests of a job for fewer CPUs than its tasks have threads.

    Parameters
    ----------
    job : Job

    Examples
    --------
    >>> from hopperkit.launchers.scripts import read_script
    >>> from hopperlib.machine import Machine
    >>> script = read_script("#SBATCH -n 4 -c 2\nexport OMP_NUM_THREADS=8\nsrun ./a\n")
    >>> [draft.finding.code for draft in check_threads(Job(script, Machine.load("cluster"), ()))]
    ['depth-missing']
    """
    yield from _threads_of_chunks(job)
    requested = requested_by_job(job.script)
    for line in job.script.lines:
        threads, cpus = line.environment.get("OMP_NUM_THREADS"), requested_by_line(line).over(requested).cpus_per_task
        slurm = line.launcher == "srun" and all(each.system == "slurm" for each in job.script.directives)
        if not slurm or not cpus or not isinstance(threads, str) or not re.fullmatch(r"\d{1,4}", threads):
            continue
        if int(threads) >= _MOST_PER_CORE * cpus and job.script.directives:
            problem = f"each task has {threads} threads (OMP_NUM_THREADS) and {cpus} CPU{'s' * (cpus > 1)} (-c)."
            plain = "Let -c and OMP_NUM_THREADS agree."
            yield job.draft("depth-missing", line.line, problem, plain, level="advice")


def _threads_of_chunks(job: Job) -> Iterator[Draft]:
    """Yield PBS chunks whose tasks have more threads than the chunk has CPUs."""
    lines = [line.environment.get("OMP_NUM_THREADS") for line in job.script.lines]
    for directive in job.script.directives:
        if directive.system != "pbs" or not directive.value.startswith("select="):
            continue
        for chunk in directive.value.removeprefix("select=").split("+"):
            has = dict(re.findall(r"(ncpus|mpiprocs|ompthreads)=(\d{1,6})(?!\d)", chunk))
            typed = [each for each in lines if isinstance(each, str) and re.fullmatch(r"\d{1,4}", each)]
            threads = int(typed[0] if typed else has.get("ompthreads", 1))
            cpus, tasks = int(has.get("ncpus", 0)), int(has.get("mpiprocs", 0))
            if cpus and tasks and tasks * threads > cpus:
                each = f"{tasks * threads / cpus:.3g} threads share a CPU"
                problem = f"requests {cpus} CPUs for {tasks} tasks of {threads} thread{'s' * (threads > 1)}: {each}"
                # Some sites count cores, each with two hardware threads.
                few = tasks * threads <= _MOST_PER_CORE * cpus
                problem += ", or a core if ncpus counts cores with two hardware threads." if few else "."
                plain = f"Write mpiprocs={max(1, cpus // threads)}, or fewer threads."
                yield job.draft("depth-missing", directive.line, problem, plain, level="advice")
