"""Scripts that train models: how many workers they start on the GPUs of a node, and whether they use all nodes.

No machine is needed: the script itself defines the number of GPUs per node.

References
----------
PyTorch documentation, torchrun (Elastic Launch): "--nproc-per-node", "--nnodes", "--rdzv-endpoint", one agent per node;
Hugging Face Accelerate documentation, "Launching your 🤗 Accelerate scripts": "--num_processes" counts all machines;
DeepSpeed, Getting Started: "--num_gpus", "--no_local_rank"; SchedMD, srun man page: one process per task, and output
environment variables (SLURM_NODEID, SLURM_PROCID); Lightning documentation, "Run on an on-prem cluster (advanced)":
nodes and tasks per node match the Trainer's.
"""

import re
from collections.abc import Iterable, Iterator

from hopperkit.launchers.batch.requested import Requested, requested_by_job, requested_by_line
from hopperkit.launchers.judging._edits import (
    change_line,
    line_range,
    replace_in_line,
    set_option,
    set_variable,
)
from hopperkit.launchers.judging.remedies import Draft, Remedy
from hopperkit.launchers.judging.training import (
    NODES,
    PORT,
    WORKERS,
    Starter,
    is_rank_of_script,
    plain_commands,
    starter_in,
    tasks_of_mpirun,
)
from hopperkit.launchers.scripts import LaunchLine, Script
from hopperkit.launchers.words.shell import Edit
from hopperlib.finding import Finding, Level
from hopperlib.text import count

_TASKS = ("--ntasks-per-node",)
# How other programs of a script may start it on each node.
_STARTED_ELSEWHERE = re.compile(
    r"\bssh\b|\bpdsh\b|\bsrun\b|mpirun|mpiexec|\bray\b|\bdask\b|submitit|--use_ray|clush|parallel"
)


def check_training(script: Script) -> Iterator[Draft]:
    r"""Yield mistakes of scripts that start the workers of a training job.

    Parameters
    ----------
    script : Script

    Examples
    --------
    >>> from hopperkit.launchers.scripts import read_script
    >>> job = "#SBATCH -N 2 --gres=gpu:8 --ntasks-per-node=8\n"
    >>> line = "srun torchrun --nnodes=2 --nproc-per-node=8 --rdzv-endpoint=$HEAD:29500 t.py"
    >>> (draft,) = check_training(read_script(job + line))
    >>> draft.finding.code, draft.remedies[0].words
    ('workers-times-tasks', 'Start one torchrun per node: --ntasks-per-node=1 (PyTorch, torchrun: one agent per node).')
    >>> print(draft.finding.message)
    Line 2: 8 tasks per node each start torchrun with 8 workers: 64 workers on the 8 GPUs of a node.
    """
    job = requested_by_job(script)
    for line in script.lines:
        starter = starter_in(line.words)
        requested = _line_request(line, job)
        if starter:
            yield from _workers(script, line, starter, requested, job)
            yield from _cpus(script, line, starter, requested)
            yield from _nodes(script, line, starter, requested)
        else:
            yield from _ranks(script, line, requested)
    for number, words in plain_commands(script):
        starter = starter_in(words)
        if starter and (job.nodes or 1) > 1:
            yield from _without_srun(script, number, starter, job)
        elif starter:
            yield from _on_one_node(script, number, starter, job)
    yield from _same_port(script)


def _line_request(line: LaunchLine, job: Requested) -> Requested:
    """Return a launch line's request within its job."""
    if line.launcher == "srun":
        return requested_by_line(line).over(job)
    return job._replace(tasks=None, tasks_per_node=tasks_of_mpirun(line, job.nodes))


def _draft(
    code: str,
    line: int,
    what: str,
    plain: str,
    remedies: Iterable[tuple[str, tuple[Edit, ...]]],
    times: float = 0,
    *,
    level: Level = "problem",
) -> Draft:
    """Return a finding on a line with the changes to try."""
    evidence = {"line": line, **({"times": round(times, 3)} if times > 1 else {})}
    finding = Finding(code, f"Line {line}: {what}", level, evidence, plain)
    return Draft(finding, tuple(Remedy(words, edits) for words, edits in remedies if edits))


def _visible(line: LaunchLine, requested: Requested, job: Requested) -> int | None:
    """Return the number of GPUs that the workers of one starter see."""
    gpus = requested.gpus_of_node or job.gpus_of_node
    chosen = line.environment.get("CUDA_VISIBLE_DEVICES")
    if isinstance(chosen, str) and re.fullmatch(r"\d+(,\d+)*", chosen):
        return len(chosen.split(","))
    # With --gpus-per-task, a task sees those alone.
    per_task = requested.gpus_per_task
    return min(per_task, gpus or per_task) if per_task and (requested.tasks_of_node or 1) == 1 else gpus


def _workers(
    script: Script, line: LaunchLine, starter: Starter, requested: Requested, job: Requested
) -> Iterator[Draft]:
    """Workers per node against the GPUs."""
    tasks, gpus, workers = requested.tasks_of_node, _visible(line, requested, job), starter.workers
    if not workers:
        return
    # In one piece: the three faults exclude each other. With too many starters, the number of each one's workers means nothing.
    if tasks and tasks > 1 and workers > 1 and (gpus is None or tasks * workers > gpus):
        on = f"the {gpus} GPUs of a node" if gpus else "a node"
        problem = f"{tasks} tasks per node each start {starter.name} with {workers} workers: {tasks * workers} workers on {on}."
        plain = f"Start one {starter.name} per node (PyTorch, torchrun: one agent per node)."
        yield _draft("workers-times-tasks", line.line, problem, plain, _one_task_each(script, line, starter, requested))
    elif gpus and workers > gpus * (tasks or 1) and (tasks or 1) == 1:
        problem = f"{starter.name} starts {workers} workers per node, and they see {count(gpus, 'GPU')}."
        yield _draft(
            "workers-over-gpus", line.line, problem, _PER_GPU, _worker_changes(script, line.line, starter, gpus)
        )
    elif gpus and workers * (tasks or 1) < (full := requested.gpus_of_node or job.gpus_of_node or gpus):
        used = workers * (tasks or 1)
        problem = f"{starter.name} starts {count(used, 'worker')} per node, and the job requests {full} GPUs per node: {full - used} are idle."
        changes = _worker_changes(script, line.line, starter, full)
        yield _draft("gpus-unused", line.line, problem, _PER_GPU, changes, full / used)


def _cpus(script: Script, line: LaunchLine, starter: Starter, requested: Requested) -> Iterator[Draft]:
    """Workers that share fewer CPUs than there are of them."""
    workers, cpus, tasks = starter.workers, requested.cpus_per_task, requested.tasks_of_node
    if workers and cpus and workers > cpus and (tasks or 1) == 1:
        problem = f"{count(workers, 'worker')} of {starter.name} share the {count(cpus, 'CPU')} of one task."
        wider = [
            (f"Write --cpus-per-task={workers} at least.", set_option(script, ("-c", "--cpus-per-task"), str(workers)))
        ]
        yield _draft("workers-over-cpus", line.line, problem, "Request a CPU for each worker.", wider, workers / cpus)


_PER_GPU = "Start one worker per GPU."


def _one_task_each(
    script: Script, line: LaunchLine, starter: Starter, requested: Requested
) -> Iterator[tuple[str, tuple[Edit, ...]]]:
    """Yield the changes that start one task on each node."""
    if line.launcher != "srun":
        return
    words = f"Start one {starter.name} per node: --ntasks-per-node=1 (PyTorch, torchrun: one agent per node)."
    yield words, change_line(script, line, {"--ntasks-per-node": "1"}, "srun")
    yield words, set_option(script, _TASKS, "1")
    if requested.nodes:
        words = f"Start one {starter.name} per node: -n {requested.nodes} --ntasks-per-node=1 on the line."
        changes = {"-n": str(requested.nodes), "--ntasks-per-node": "1"}
        yield words, change_line(script, line, changes, "srun")


def _worker_changes(script: Script, line: int, starter: Starter, gpus: int) -> Iterator[tuple[str, tuple[Edit, ...]]]:
    """Yield the changes that start one worker for each GPU."""
    options, number = (
        ("num[-_]processes", gpus * (starter.nodes or 1)) if starter.name == "accelerate" else (WORKERS, gpus)
    )
    yield from _renumbered(script, line, options, number, "Start one worker per GPU")


def _renumbered(
    script: Script, line: int, options: str, number: int, why: str
) -> Iterator[tuple[str, tuple[Edit, ...]]]:
    """Yield the edit of a number after one of some options, on the lines of a statement."""
    start, _ = line_range(script, line)
    match = re.compile(rf"(?<!\S)(--?(?:{options})[= ]+)(\d+)(?![\w.])").search(script.text, start)
    if match:
        yield f"{why}: {match[1]}{number}.", (Edit(match.start(2), match.end(2), str(number)),)


def _nodes(script: Script, line: LaunchLine, starter: Starter, requested: Requested) -> Iterator[Draft]:
    """Nodes that a starter does not use, or waits for forever; nodes that do not find each other."""
    nodes = requested.nodes
    if not nodes or nodes < 2:
        return
    if starter.nodes and starter.nodes < nodes:
        yield _nodes_unused(script, line.line, starter, nodes)
    elif starter.nodes and starter.nodes > nodes * (requested.tasks_of_node or 1):
        problem = f"{starter.name} waits for {starter.nodes} nodes, and the job requests {nodes}: it never starts."
        changes = _renumbered(script, line.line, NODES, nodes, "Write as many nodes as the job has")
        yield _draft("nodes-missing", line.line, problem, "Request as many nodes as the line waits for.", changes)
    elif (
        not re.search(rf"--(?:{NODES})\b", starter.text)
        and starter.is_complete
        and (requested.tasks_of_node or 1) == 1
        and not _is_hosted(starter)
    ):
        problem = f"{starter.name} is given no number of nodes, so each of the {nodes} nodes trains by itself."
        option = {"accelerate": "--num_machines", "deepspeed": "--num_nodes"}.get(starter.name, "--nnodes")
        words = f"Write {option}={nodes}."
        edits = replace_in_line(
            script, line.line, rf"((?:{re.escape(starter.name)})(?: launch)?)(?=\s)", rf"\1 {option}={nodes}"
        )
        yield _draft("nodes-apart", line.line, problem, "Give it the number of nodes.", [(words, edits)], nodes)
    if starter.nodes and starter.nodes > 1:
        yield from _meeting(script, line, starter)


def _is_hosted(starter: Starter) -> bool:
    """Whether a starter reaches the other nodes through a host list."""
    return bool(re.search(r"--hostfile|--launcher|--include", starter.text))


def _meeting(script: Script, line: LaunchLine, starter: Starter) -> Iterator[Draft]:
    """Starters of several nodes that do not find each other, or take themselves for the same node."""
    at_home = starter.meets_at_home or _local_address(line)
    if at_home:
        problem = f"each of the {starter.nodes} nodes looks for the others on itself (localhost), and waits forever."
        plain = "Give all of them the name of the job's first node."
        yield _draft("rendezvous-local", line.line, problem, plain, [])
    if not starter.meets_by_rank:
        return
    state = "is put in by the batch script's shell, where it is 0 for all" if is_rank_of_script(line.words) else ""
    if starter.rank is not None:
        state = f"is {starter.rank} on all {starter.nodes} nodes"
    elif _leaves_out_rank(script, starter):
        state = f"is left out, and is 0 on all {starter.nodes} nodes then"
    if state:
        option = "--machine_rank" if starter.name == "accelerate" else "--node-rank"
        problem = f"{option} {state}: the nodes overwrite each other."
        plain = "Let a shell on each node put in its number (bash -c with single quotes around the command)."
        # Without any address a line may be cut short, as examples are.
        has_address = re.search(
            r"--(?:master[-_]addr|rdzv|main[-_]process[-_]ip|node[-_]rank|machine[-_]rank)", starter.text
        )
        level: Level = "problem" if has_address else "advice"
        yield _draft("node-rank-constant", line.line, problem, plain, [], level=level)


def _leaves_out_rank(script: Script, starter: Starter) -> bool:
    """Whether a starter gets no rank; Accelerate may have it from the user's configuration, torchrun from PET_NODE_RANK."""
    if re.search(r"--(?:node|machine)[-_]rank", starter.text) or not starter.is_complete or "PET_" in script.text:
        return False
    return starter.name != "deepspeed" and (starter.name != "accelerate" or "main_process_ip" in starter.text)


def _local_address(line: LaunchLine) -> bool:
    """Whether the environment sets the local node as the rendezvous address."""
    return line.environment.get("MASTER_ADDR") in ("localhost", "127.0.0.1", "0.0.0.0")


def _nodes_unused(script: Script, line: int, starter: Starter, nodes: int) -> Draft:
    """Nodes that are requested and not used."""
    problem = f"{starter.name} runs on {count(starter.nodes or 1, 'node')}, and the job requests {nodes}: the others are charged and idle."
    changes = _renumbered(script, line, NODES, nodes, "Use them all")
    return _draft(
        "nodes-unused", line, problem, "Use all nodes, or request fewer.", changes, nodes / (starter.nodes or 1)
    )


def _ranks(script: Script, line: LaunchLine, requested: Requested) -> Iterator[Draft]:
    """Tasks that are workers themselves: identical rank numbers, and Lightning's trainer."""
    text = " ".join(word.text for word in line.words)
    tasks = requested.tasks or (requested.tasks_of_node or 0) * (requested.nodes or 1)
    if line.launcher != "srun" or not re.search(r"\bpython|\.py\b", text) or tasks < 2:
        return
    yield from _constant_ranks(script, line, tasks)
    yield from _world_size(script, line, tasks)
    if _local_address(line) and (requested.nodes or 1) > 1:
        problem = (
            f"MASTER_ADDR is the local node on each of the {requested.nodes} nodes: they wait for each other forever."
        )
        yield _draft("rendezvous-local", line.line, problem, "Give all of them the name of the job's first node.", [])
    yield from _trainer(script, line, text, requested)


def _constant_ranks(script: Script, line: LaunchLine, tasks: int) -> Iterator[Draft]:
    """Ranks expanded by the batch script's shell, where they are 0 for all tasks."""
    for setting in script.variables:
        typed = script.text.split("\n")[setting.line - 1]
        constant = re.search(rf"\b{setting.name}=\"?\$\{{?(SLURM_PROCID|SLURM_LOCALID|SLURM_NODEID)\b", typed)
        if (
            setting.name in ("RANK", "LOCAL_RANK", "NODE_RANK")
            and setting.exported
            and constant
            and setting.line < line.line
        ):
            problem = f"{setting.name} is taken from {constant[1]} of the batch script, where it is 0: all {tasks} tasks get rank 0."
            plain = f"Set {setting.name} in each task, inside what srun starts."
            yield _draft("rank-constant", setting.line, problem, plain, [])


def _world_size(script: Script, line: LaunchLine, tasks: int) -> Iterator[Draft]:
    """A number of workers that differs from the number of tasks."""
    world = line.environment.get("WORLD_SIZE")
    if isinstance(world, str) and re.fullmatch(r"\d{1,7}", world) and int(world) != tasks:
        where = next((each.line for each in reversed(script.variables) if each.name == "WORLD_SIZE"), line.line)
        problem = f"WORLD_SIZE is {world}, and srun starts {tasks} tasks: they wait for each other forever, or leave some out."
        changes = [(f"Write WORLD_SIZE={tasks}.", set_variable(script, "WORLD_SIZE", str(tasks), where))]
        yield _draft("world-size", where, problem, "Give it the number of tasks.", changes)


def _trainer(script: Script, line: LaunchLine, text: str, requested: Requested) -> Iterator[Draft]:
    """Devices and nodes of Lightning's trainer against the tasks of the job."""
    for option, has, unit in (
        ("devices", requested.tasks_of_node, "tasks per node"),
        ("num_nodes", requested.nodes, "nodes"),
    ):
        match = re.search(rf"(?<![\w.])(?:--)?trainer\.{option}[= ](\d{{1,5}})(?!\S)", text)
        if match and has and int(match[1]) != has:
            problem = (
                f"the trainer has {option}={match[1]}, and the job {has} {unit}: Lightning requires the same number."
            )
            changes = _renumbered(script, line.line, rf"trainer\.{option}|-trainer\.{option}", has, "Write")
            yield _draft("trainer-mismatch", line.line, problem, "Give the trainer the numbers of the job.", changes)


def _on_one_node(script: Script, line: int, starter: Starter, job: Requested) -> Iterator[Draft]:
    """A starter of the batch script itself, on the only node of a job."""
    gpus, workers = job.gpus_of_node, starter.workers
    if not gpus or not workers or workers == gpus or re.match(r"\s*\w+\+?=", script.text.split("\n")[line - 1]):
        return
    plain_lines = sum(starter_in(words) is not None for _, words in plain_commands(script))
    if workers > gpus:
        problem = f"{starter.name} starts {workers} workers, and the job requests {count(gpus, 'GPU')}."
        yield _draft("workers-over-gpus", line, problem, _PER_GPU, _worker_changes(script, line, starter, gpus))
    elif plain_lines == 1 and "CUDA_VISIBLE_DEVICES" not in script.text:
        problem = f"{starter.name} starts {count(workers, 'worker')}, and the job requests {gpus} GPUs: {gpus - workers} are idle."
        yield _draft(
            "gpus-unused", line, problem, _PER_GPU, _worker_changes(script, line, starter, gpus), gpus / workers
        )


def _without_srun(script: Script, line: int, starter: Starter, job: Requested) -> Iterator[Draft]:
    """A starter that runs on the first node of several only."""
    text = script.text
    first = text.split("\n")[line - 1]
    # DeepSpeed reaches other nodes over ssh through its host file; a starter in a variable or a function may run under
    # srun.
    others = starter.name == "deepspeed" and re.search(r"--hostfile|/job/hostfile|--launcher", text)
    if others or _STARTED_ELSEWHERE.search(text) or re.match(r"\s*\w+\+?=", first):
        return
    problem = f"{starter.name} runs on the first of {job.nodes} nodes only: a batch script runs once, on one node."
    words = f"Start it on each node: srun --ntasks-per-node=1 {starter.name} ... (torchrun: one agent per node)."
    edits = replace_in_line(script, line, r"^([ \t]*)(?=\S)", r"\g<1>srun --ntasks-per-node=1 ")
    plain = "Start it once on each node."
    yield _draft("srun-missing", line, problem, plain, [(words, edits)], job.nodes or 1)


def _same_port(script: Script) -> Iterator[Draft]:
    """Several starters at the same time on one rendezvous port."""
    ports: dict[tuple[int, int], list[int]] = {}
    for line in script.lines:
        starter = starter_in(line.words)
        if starter and starter.port and line.background:
            ports.setdefault((line.group, starter.port), []).append(line.line)
    for number, words in plain_commands(script):
        starter = starter_in(words)
        if starter and starter.port and _in_background(script, number):
            ports.setdefault((_waits_before(script, number), starter.port), []).append(number)
    for (_, port), lines in ports.items():
        if len(lines) > 1:
            where = " and ".join(map(str, lines[:3]))
            problem = f"Lines {where} run at the same time and use port {port}: one takes the other's workers, or cannot bind."
            free = next(each for each in range(port + 1, port + 100) if str(each) not in script.text)
            pattern = rf"((?:{PORT})[= ]+|rdzv[-_]endpoint[= ]+\S*?:){port}(?!\d)"
            edits = replace_in_line(script, lines[-1], pattern, rf"\g<1>{free}")
            plain = "Give each a different port."
            finding = Finding("port-shared", problem, "problem", {"line": lines[0]}, plain)
            yield Draft(
                finding, (Remedy(f"Give each a different port, line {lines[-1]} {free}.", edits),) if edits else ()
            )


def _in_background(script: Script, number: int) -> bool:
    """Whether the statement of a line runs in the background."""
    return any(each.background for each in script.statements if each.line == number)


def _waits_before(script: Script, number: int) -> int:
    """Return the number of waits of the script before a line."""
    return sum(each.line < number for each in script.statements if each and each[0].raw == "wait")
