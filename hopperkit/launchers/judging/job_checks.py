r"""The whole job script before it is submitted: what will not run, and what is paid for and not used.

What a site allows stands in the machine's file with its source, and only what stands there is held against the
script: a partition that a file does not name is an error where the file says that it names all of them.

References
----------
SchedMD, Slurm 23.11, sbatch and srun man pages, and the release notes of 22.05 (SLURM_CPUS_PER_TASK); OpenMP 5.2,
OMP_PROC_BIND; Intel oneAPI compilers, KMP_AFFINITY; Intel MPI Library, I_MPI_PIN; MVAPICH2 user guide,
MV2_ENABLE_AFFINITY; GNU libgomp manual, GOMP_CPU_AFFINITY.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from hopperkit.launchers.batch.node_request import requested_partitions
from hopperkit.launchers.dialects.slurm import slurm_release
from hopperkit.launchers.judging.gpu_aware_checks import check_gpu_aware
from hopperkit.launchers.judging.training_checks import check_training
from hopperkit.launchers.judging.typing_checks import check_typing
from hopperkit.launchers.option_values import memory_gb
from hopperkit.launchers.options import read_options
from hopperkit.launchers.placing import Placement
from hopperkit.launchers.scripts import Directive, LaunchLine, Script
from hopperlib.errors import did_you_mean
from hopperlib.finding import Finding, Level
from hopperlib.machine import Machine, QueueLimit
from hopperlib.placement.components import DIRECTIVES, BatchSystem, LaunchError
from hopperlib.text import count

_MPI_MODULES = re.compile(r"open-?mpi|mpich|impi|intel-?mpi|mvapich|hpcx|psmpi|mpt|oneapi|abi", re.IGNORECASE)
_FOREIGN = re.compile(r"^[ \t]*(?:time[ \t]+)?(jsrun|lrun|ibrun|ccc_mprun|mpirun_rsh|poe|runjob)\b", re.MULTILINE)
_BATCH_OF: dict[str, BatchSystem] = {"srun": "slurm", "pals": "pbs"}
_GPU_OPTIONS = ("--gres", "--gpus", "-G", "--gpus-per-node", "--gpus-per-task", "--gpus-per-socket")
# A task with this many times the cores that its threads need leaves them idle; a job, with this many times its tasks.
_FAR_UNDER = 2
_OFF = ("0", "off", "no", "disable", "disabled", "none", "false")


class PlacedLine(NamedTuple):
    """A launch line of a script with where its tasks run."""

    line: LaunchLine
    placement: Placement


class _Job(NamedTuple):
    """A script, the machine it is for, and its lines as far as they could be placed."""

    script: Script
    machine: Machine
    placed: Sequence[PlacedLine]

    @property
    def nodes(self) -> int | None:
        """Nodes that the script reserves."""
        reservation = self.placed[0].placement.launch.reservation if self.placed else None
        return reservation.nodes if reservation else None

    def finding(self, code: str, line: int, what: str, change: str, level: Level = "problem") -> Finding:
        """Return a finding with the line it is about."""
        text = " ".join(self.script.raw[line - 1].split())
        shown = text if len(text) <= 60 else text[:57] + "..."
        return Finding(code, f'Line {line} "{shown}": {what}', level, {"line": line}, change)

    def cited(self, path: str) -> str:
        """Return where a value of the machine's file stands, as the end of a sentence."""
        fact = self.machine.provenance.get(path)
        if fact is None or fact.source is None:
            return f" (file of {self.machine.title})"
        return f" ({self.machine.sources[fact.source]}: {fact.at})"


def check_job(
    script: Script, machine: Machine, placed: Sequence[PlacedLine] = (), *, known: bool = True
) -> tuple[Finding, ...]:
    r"""Return what a job script asks for in vain, or pays for and does not use; problems first.

    Parameters
    ----------
    script : Script
    machine : Machine
    placed : sequence of PlacedLine
        Its launch lines, as far as they can be placed.
    known : bool
        Whether it is known that the script is for this machine; if not, only what holds anywhere is said.

    Examples
    --------
    >>> from hopperkit.launchers import read_script
    >>> script = read_script("#SBATCH -p standard-q\n#SBATCH -N 2 -t 60:00:00\nsrun -n 16 ./a.out\n")
    >>> finding = check_job(script, Machine.load("lumi-g"))[0]
    >>> print(finding.message)
    Line 1 "#SBATCH -p standard-q": partition=standard-q is none of LUMI-G (LUMI user guide, Slurm partitions: both tables).
    >>> finding.advice
    "did you mean 'standard-g'?"
    """
    job = _Job(script, machine, placed)
    of_machine = (
        _queues,
        _gpu_types,
        _limits,
        _batch_system,
        _launchers,
        _memory,
        _environment,
        _widths,
        _counts,
        _gpu_aware,
    )
    anywhere = (_typing, _late_directives, _training)
    rules = (*anywhere, *of_machine) if known else anywhere
    # Two lines under one setting share what there is to say of it.
    findings = {(each.code, each.message): each for rule in rules for each in rule(job)}
    return tuple(sorted(findings.values(), key=lambda finding: finding.level != "problem"))


def _typing(job: _Job) -> Iterator[Finding]:
    """Characters that look like those of a shell."""
    yield from check_typing(job.script)


def _training(job: _Job) -> Iterator[Finding]:
    """Workers of training scripts against GPUs and nodes."""
    yield from check_training(job.script)


def _gpu_aware(job: _Job) -> Iterator[Finding]:
    """GPU-aware MPI whose tasks see one GPU each."""
    yield from check_gpu_aware(job.script, job.machine)


def _late_directives(job: _Job) -> Iterator[Finding]:
    """Directives behind the first command, which Slurm and PBS do not read; those in a here-document are another script's."""
    late = [each for each in job.script.late_directives if each[1].startswith(("#SBATCH", "#PBS"))]
    if late and "<<" not in job.script.text:
        rest = f", and so do {len(late) - 1} more" if len(late) > 1 else ""
        what = f"stands behind the first command, where the batch system no longer reads it{rest}."
        yield job.finding("directives-late", late[0][0], what, "Move the directives above the first command.")


def _queues(job: _Job) -> Iterator[Finding]:
    """A constraint, partition, QOS or queue that the machine does not have."""
    machine = job.machine
    if any(directive.option == "--reservation" for directive in job.script.directives):
        return
    for sort, name, line in requested_partitions(job.script):
        known = [each.partition("=")[2] for each in machine.queues if each.startswith(f"{sort}=")]
        # Reservations of PBS are queues too, with names of their own.
        if sort not in machine.complete_queues or name in known:
            continue
        what = f"{sort}={name} is none of {machine.title}{job.cited('complete_queues')}."
        level: Level = "advice" if sort == "queue" else "problem"
        yield job.finding("asks-unknown", line, what, did_you_mean(name, known).removeprefix("; "), level)


def _gpu_types(job: _Job) -> Iterator[Finding]:
    """A type of GPU that no kind of node has."""
    kinds = [node for node in job.machine.node_kinds if node.gpu_model]
    paths = [f"node.{node.name}.gpu_model" for node in kinds]
    if not kinds or any(job.machine.provenance[path].source is None for path in paths):
        return
    models = list(dict.fromkeys(node.gpu_model or "" for node in kinds))
    for option, value, line in _options(job.script):
        typed = re.search(r"(?:^|gpu:)(?!gpu\b)([A-Za-z][\w-]*):\d+$", value)
        if option in _GPU_OPTIONS and typed and not _names_a_model(typed[1], models):
            what = f"the GPUs of {job.machine.title} are {' and '.join(models)}, not {typed[1]}{job.cited(paths[0])}."
            change = f"Leave the type out: {option}{'=' * (len(option) > 2)}{value.replace(typed[1] + ':', '')}."
            yield job.finding("gpu-type-unknown", line, what, change)


def _names_a_model(typed: str, models: Sequence[str]) -> bool:
    """Whether a type of GPU stands for one of some models: a100 for NVIDIA A100."""
    plain = re.sub(r"[^a-z0-9]", "", typed.lower())
    words = [word for model in models for word in re.findall(r"[a-z]+\d+\w*", model.lower())]
    return any(word in plain or plain in word for word in words)


def _options(script: Script) -> Iterator[tuple[str, str, int]]:
    """Yield the options of the directives and of the srun lines, with their values and lines."""
    yield from ((each.option, each.value, each.line) for each in script.directives if each.system == "slurm")
    for line in script.lines:
        with suppress(LaunchError):
            given = read_options(line.words, "srun", where="")[0] if line.launcher == "srun" else ()
            yield from ((each.name, each.value, line.line) for each in given)


def minutes_of(text: str) -> float | None:
    """Minutes of a time limit as Slurm and PBS read it; None where it is none. [min]

    Examples
    --------
    >>> minutes_of("30"), minutes_of("1:30:00"), minutes_of("2-12"), minutes_of("soon")
    (30.0, 90.0, 3600.0, None)
    """
    match = re.fullmatch(r"(?:(\d{1,4})-)?(\d{1,7})(?::(\d{1,7}))?(?::(\d{1,7}))?", text)
    if match is None:
        return None
    days, *rest = (int(part) if part else 0 for part in match.groups())
    if match[1]:
        return days * 1440.0 + rest[0] * 60 + rest[1] + rest[2] / 60
    # Without days, two numbers are minutes and seconds.
    return rest[0] * 60.0 + rest[1] + rest[2] / 60 if match[4] else rest[0] + rest[1] / 60


def _requested_time(job: _Job) -> tuple[float, Directive] | None:
    """Return the time that the script asks for, with its directive."""
    for directive in job.script.directives:
        typed = directive.value if directive.option in ("-t", "--time") else ""
        if directive.system == "pbs":
            walltime = re.search(r"walltime=([\d:]+)", directive.value)
            typed = walltime[1] if walltime else ""
            # PBS counts seconds where a number stands alone.
            typed = f"0:0:{typed}" if typed.isdigit() else f"0:{typed}" if typed.count(":") == 1 else typed
        minutes = minutes_of(typed)
        if minutes is not None:
            return minutes, directive
    return None


def _limits(job: _Job) -> Iterator[Finding]:
    """Nodes or a time over what the site allows to a partition, a QOS or a queue."""
    asked = [(f"{sort}={name}", line) for sort, name, line in requested_partitions(job.script)]
    sorts = {choice.partition("=")[0] for choice, _ in asked}
    defaults = {limit.asked for limit in job.machine.limits if limit.by_default}
    left_out = [choice for choice in defaults if choice.partition("=")[0] not in sorts]
    for choice, line in (*asked, *((choice, 0) for choice in left_out)):
        tables = [limit for limit in job.machine.limits if limit.asked == choice]
        if tables:
            yield from _over_limit(job, choice, line, tables)


def _over_limit(job: _Job, choice: str, line: int, tables: Sequence[QueueLimit]) -> Iterator[Finding]:
    """Nodes or a time over the limits of one choice; line 0 stands for one that the script leaves out."""
    nodes = job.nodes
    default = "" if line else f", which is the default{job.cited(f'limit.{tables[0].name}.by_default')}"
    fitting = [each for each in tables if nodes is None or each.min_nodes <= nodes <= (each.max_nodes or nodes)]
    if fitting:
        yield from _time_over_limit(job, f"{choice}{default}", line, fitting)
    else:
        yield _nodes_over_limit(job, f"{choice}{default}", line, tables)


def _nodes_over_limit(job: _Job, choice: str, line: int, tables: Sequence[QueueLimit]) -> Finding:
    """Nodes that no table of a choice takes."""
    nodes, most = job.nodes or 0, max(each.max_nodes or 0 for each in tables)
    bound = f"at most {most:,}" if nodes > most else f"at least {min(each.min_nodes for each in tables):,}"
    source = job.cited(f"limit.{tables[0].name}.{'max' if nodes > most else 'min'}_nodes")
    what = f"{count(nodes, 'node')} with {choice}, which takes {bound}{source}."
    change = "Ask for that many, or for another queue."
    return job.finding("nodes-over-limit", line or _first_line(job), what, change, "problem" if line else "advice")


def _time_over_limit(job: _Job, choice: str, line: int, fitting: Sequence[QueueLimit]) -> Iterator[Finding]:
    """A time over the longest of the tables that take the job's nodes."""
    time, longest = _requested_time(job), max(fitting, key=lambda each: each.max_minutes or 0)
    most = longest.max_minutes or 0
    if time is None or any(each.max_minutes is None for each in fitting) or time[0] <= most:
        return
    with_nodes = f" of {count(job.nodes, 'node')}" if job.nodes else ""
    source = job.cited(f"limit.{longest.name}.max_minutes")
    what = f"{_duration(time[0])} with {choice}, whose jobs{with_nodes} run for at most {_duration(most)}{source}."
    change = f"Ask for {_clock(most)} or less, or for another queue."
    yield job.finding("time-over-limit", time[1].line, what, change, "problem" if line else "advice")


def _first_line(job: _Job) -> int:
    """Return the line of the first directive."""
    return job.script.directives[0].line if job.script.directives else 1


def _duration(minutes: float) -> str:
    """Return minutes in words: 20 min, 48 h."""
    return f"{minutes / 60:.4g} h" if minutes >= 60 else f"{minutes:.4g} min"


def _clock(minutes: int) -> str:
    """Return minutes as a batch system takes them."""
    return f"{minutes // 60:02}:{minutes % 60:02}:00"


def _site_launchers(machine: Machine) -> list[str]:
    """Return the launchers that a machine has for sure."""
    return [launcher.kind for launcher in machine.launchers if launcher.assumed is None]


def _batch_system(job: _Job) -> Iterator[Finding]:
    """Directives to a batch system that the machine does not run."""
    own = _site_launchers(job.machine)
    system = _BATCH_OF.get(own[0]) if len(own) == 1 else None
    foreign = next((each for each in job.script.directives if system and each.system != system), None)
    if foreign and system:
        spelled = DIRECTIVES[system]
        what = f"{job.machine.title} reads {spelled} lines, and takes this one for a comment."
        yield job.finding("scheduler-foreign", foreign.line, what, f"Write what the job needs in {spelled} lines.")


def _launchers(job: _Job) -> Iterator[Finding]:
    """The launcher of another system."""
    own = _site_launchers(job.machine)
    # A machine with several, or with aprun, is either a plain cluster or one of the past.
    if len(own) != 1 or own[0] not in _BATCH_OF:
        return
    right = "srun" if own == ["srun"] else "mpiexec"
    for match in _FOREIGN.finditer(job.script.text):
        number = job.script.text.count("\n", 0, match.start(1)) + 1
        what = f"{match[1]} starts tasks elsewhere; on {job.machine.title} {right} does."
        yield job.finding("launcher-foreign", number, what, f"Start the program with {right}.")
    brought = any(_MPI_MODULES.search(module.name) for module in job.script.modules)
    for line in job.script.lines:
        typed = line.launcher if line.launcher in ("aprun", "srun") else "mpiexec"
        if typed == right:
            continue
        what = f"{line.launcher} is not how tasks are started on {job.machine.title}; {right} is."
        change = f"Start the program with {right}."
        if typed != "mpiexec":
            yield job.finding("launcher-foreign", line.line, what, change)
        elif not brought:
            what += " It is there only if a module or a container brings it."
            yield job.finding("launcher-foreign", line.line, what, change, "advice")


def _memory(job: _Job) -> Iterator[Finding]:
    """Memory that the job gives away though it is charged for whole nodes."""
    if not job.placed:
        return
    placement = job.placed[0].placement
    kind, launch = placement.node_kind, placement.launch
    documented = job.machine.provenance[f"node.{kind.name}.count"].source is not None
    directive = next((each for each in job.script.directives if each.option == "--mem"), None)
    # Where jobs share nodes, to ask for a part of one is right.
    if directive is None or not documented or launch.doubts or launch.reservation is None:
        return
    try:
        asked = memory_gb("--mem", directive.value)
    except LaunchError:
        return
    if 0 < asked < kind.usable_memory_gb / 2:
        what = (
            f"the job may use {asked:.3g} GB of a node, which has {kind.usable_memory_gb:g} GB for it and is charged "
            f"whole{job.cited(f'node.{kind.name}.memory_gb')}."
        )
        yield job.finding("memory-given-away", directive.line, what, "Leave --mem out, or write --mem=0.", "advice")


def _environment(job: _Job) -> Iterator[Finding]:
    """Variables that undo what the line binds."""
    for line, placement in job.placed:
        launch, pattern = placement.launch, placement.nodes[0].pattern
        threads = max(len(seat.thread_cores) for seat in pattern)
        for name, (what, change, level) in _undone(launch.environment, threads, len(pattern), line).items():
            setting = next((each for each in reversed(job.script.variables) if each.name == name), None)
            where = setting.line if setting else line.line
            yield job.finding("environment-undoes", where, what, change, level)


def _undone(
    environment: Mapping[str, str], threads: int, tasks: int, line: LaunchLine
) -> dict[str, tuple[str, str, Level]]:
    """Return by variable what it does against the line, what to do, and how much it matters."""
    values = {name: value.strip().lower() for name, value in environment.items()}
    found = _threads_undone(values, threads) if threads > 1 else {}
    explicit = "GOMP_CPU_AFFINITY" if "GOMP_CPU_AFFINITY" in values else "KMP_AFFINITY"
    if tasks > 1 and ("proclist" in values.get(explicit, "") or explicit.startswith("GOMP")):
        what = f"each of the {tasks} tasks of a node puts its threads on the same CPUs, whatever the line gives it."
        found[explicit] = (what, "Write OMP_PLACES=cores and OMP_PROC_BIND=close instead.", "problem")
    if line.launcher == "srun":
        found |= _bound_twice(values)
    elif values.get("I_MPI_PIN", "") in _OFF:
        what = "the tasks are not bound, and may move away from their memory (Intel MPI, I_MPI_PIN)."
        found["I_MPI_PIN"] = (what, "Leave I_MPI_PIN out.", "advice")
    return found


def _threads_undone(values: Mapping[str, str], threads: int) -> dict[str, tuple[str, str, Level]]:
    """Return the same for what says where the threads of a task run."""
    found: dict[str, tuple[str, str, Level]] = {}
    bind, places = values.get("OMP_PROC_BIND", ""), "OMP_PLACES" in values
    if bind in ("master", "primary"):
        what = f"all {threads} threads of a task run where its first one does (OpenMP 5.2, OMP_PROC_BIND)."
        found["OMP_PROC_BIND"] = (what, "Write OMP_PROC_BIND=spread or close.", "problem")
    elif bind == "false" and places:
        what = "the threads are not bound, so OMP_PLACES has no effect (OpenMP 5.2, OMP_PROC_BIND)."
        found["OMP_PROC_BIND"] = (what, "Write OMP_PROC_BIND=spread or close.", "advice")
    if values.get("KMP_AFFINITY", "").split(",")[-1] in _OFF and (places or bind):
        what = "Intel's OpenMP binds no threads then, whatever OMP_PROC_BIND and OMP_PLACES say (KMP_AFFINITY)."
        found["KMP_AFFINITY"] = (what, "Unset KMP_AFFINITY.", "advice")
    if values.get("MV2_ENABLE_AFFINITY") in ("1", "on", "true") and "MV2_CPU_BINDING_POLICY" not in values:
        what = f"MVAPICH2 binds each task to one core, so its {threads} threads share it (MVAPICH2 user guide)."
        found["MV2_ENABLE_AFFINITY"] = (what, "Write MV2_ENABLE_AFFINITY=0.", "problem")
    return found


def _bound_twice(values: dict[str, str]) -> dict[str, tuple[str, str, Level]]:
    """Return the variables by which an MPI library binds tasks that srun has bound."""
    names = ("I_MPI_PIN_PROCESSOR_LIST", "I_MPI_PIN_DOMAIN", "MV2_CPU_MAPPING", "MV2_CPU_BINDING_POLICY")
    what = (
        "the MPI library binds the tasks once more, by the CPUs of the node and not by those that srun gives to a task."
    )
    level: Level = "advice"
    return {name: (what, f"Unset {name}, and bind with srun.", level) for name in names if name in values}


def _widths(job: _Job) -> Iterator[Finding]:
    """CPUs of a task that do not reach it, or that its threads do not use."""
    for placed in job.placed:
        lost = _not_passed_on(job, placed)
        yield from [lost] if lost else _cores_unused(job, placed)


def _not_passed_on(job: _Job, placed: PlacedLine) -> Finding | None:
    """CPUs that the job asks for, and that srun of some releases does not take over from it."""
    line, launch = placed.line, placed.placement.launch
    width = (launch.reservation and launch.reservation.threads_per_task) or 1
    if launch.launcher != "srun" or width == 1 or launch.components[0].given("-c") is not None:
        return None
    launcher = job.machine.launcher("srun")
    if not (22, 5) <= slurm_release(launcher) < (23, 11):
        return None
    what = (
        f"-c {width} of the job does not reach srun of Slurm {launcher.version}: each task "
        f"gets one CPU{job.cited('launcher.srun.version')}."
    )
    change = 'Write "export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK" before it, or -c on it.'
    return job.finding("cpus-not-passed-on", line.line, what, change)


def _cores_unused(job: _Job, placed: PlacedLine) -> Iterator[Finding]:
    """Cores of a task that its threads leave idle."""
    launch, pattern = placed.placement.launch, placed.placement.nodes_of(0)[0].pattern
    threads, cores = launch.openmp_threads, min(len(seat.cores) for seat in pattern)
    alone = len(launch.components) == 1 and not launch.doubts and launch.components[0].given("-c") is not None
    if threads is None or not alone or any(seat.gpus for seat in pattern):
        return
    few = 4 * threads * len(pattern) <= len(placed.placement.node_kind.usable_cores)
    if threads * _FAR_UNDER <= cores and (threads > 1 or few):
        what = f"{count(threads, 'thread')} run on the {cores} cores of each task; the others are charged and idle."
        change = f"Write -c for {count(threads, 'core')}, or OMP_NUM_THREADS={cores}, unless the tasks need the memory."
        yield job.finding("cores-unused", placed.line.line, what, change, "advice")


def _counts(job: _Job) -> Iterator[Finding]:
    """Tasks that the job asks for and no line starts."""
    lines = [each for each in job.placed if each.placement.launch.launcher != "aprun"]
    reserved = lines[0].placement.launch.reservation if lines else None
    if reserved is None or reserved.tasks is None or any(line.background for line, _ in lines):
        return
    most, started = max((placement.launch.tasks, line.line) for line, placement in lines)
    if most * _FAR_UNDER <= reserved.tasks:
        what = f"starts {count(most, 'task')}, and the job asks for {reserved.tasks:,}: the rest is charged and idle."
        yield job.finding("tasks-unused", started, what, "Ask for as many tasks as are started.", "advice")
