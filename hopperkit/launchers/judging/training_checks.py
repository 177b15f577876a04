"""Scripts that train models: how many workers they start on the GPUs of a node, and whether they use all nodes.

No machine is needed: the script itself says how many GPUs a node has for it.

References
----------
PyTorch documentation, torchrun (Elastic Launch): "--nproc-per-node", "--nnodes", "--rdzv-endpoint", one agent per node;
Hugging Face Accelerate documentation, "Launching your 🤗 Accelerate scripts": "--num_processes" counts all machines;
DeepSpeed, Getting Started: "--num_gpus", "--no_local_rank"; SchedMD, srun man page: one process per task.
"""

import re
from collections.abc import Iterator, Sequence
from posixpath import basename
from typing import NamedTuple

from hopperkit.launchers.batch.requested import Requested, requested_by_job, requested_by_line
from hopperkit.launchers.scripts import LaunchLine, Script
from hopperkit.launchers.shell import RawWord
from hopperlib.finding import Finding
from hopperlib.text import count

_STARTERS = ("torchrun", "torch.distributed.run", "torch.distributed.launch", "accelerate", "deepspeed")


class _Starter(NamedTuple):
    """A program that starts workers on one node: its name, its workers there, the nodes and the port that it is given."""

    name: str
    workers: int | None
    nodes: int | None
    port: int | None


def check_training(script: Script) -> Iterator[Finding]:
    r"""Yield mistakes of scripts that start workers with torchrun, accelerate or deepspeed.

    Parameters
    ----------
    script : Script

    Examples
    --------
    >>> from hopperkit.launchers.scripts import read_script
    >>> job = "#SBATCH -N 2 --gres=gpu:8 --ntasks-per-node=8\n"
    >>> line = "srun torchrun --nnodes=2 --nproc-per-node=8 t.py"
    >>> (finding,) = check_training(read_script(job + line))
    >>> finding.code
    'workers-times-tasks'
    >>> print(finding.message)
    Line 2: 8 tasks per node each start torchrun with 8 workers: 64 workers on the 8 GPUs of a node.
    """
    job = requested_by_job(script)
    launched = {line.line for line in script.lines}
    for line in script.lines:
        starter = _starter_in([word.text for word in line.words])
        if starter and line.launcher == "srun":
            yield from _under_srun(line, starter, requested_by_line(line).over(job), job)
    for number, words in _plain_commands(script, launched):
        starter = _starter_in(words)
        if starter and job.nodes and job.nodes > 1:
            yield from _without_srun(script, number, starter, job)
    yield from _same_port(script)


def _starter_in(words: Sequence[str]) -> _Starter | None:
    """Return the starter that a command holds, in a container or behind Python too."""
    for at, word in enumerate(words):
        name = next((each for each in _STARTERS if basename(word) == each), "")
        if name == "accelerate" and words[at + 1 : at + 2] != ["launch"]:
            continue
        if name:
            return _read_starter(name, words[at + 1 :])
    # A shell may be handed the whole command as one word.
    quoted = next((word for word in words if " " in word and any(each in word for each in _STARTERS)), "")
    return _starter_in(quoted.split()) if quoted else None


def _read_starter(name: str, words: Sequence[str]) -> _Starter:
    """Return a starter with the numbers that stand behind its name."""
    text = " ".join(words)

    def number(options: str) -> int | None:
        match = re.search(rf"(?<!\S)--?(?:{options})[= ]+(\d{{1,6}})(?!\S)", text)
        return int(match[1]) if match else None

    nodes = number("nnodes|num[-_]machines|num[-_]nodes")
    workers = number("nproc[-_]per[-_]node|num[-_]gpus")
    if name == "accelerate" and (all_workers := number("num[-_]processes")):
        workers = -(-all_workers // (nodes or 1))
    endpoint = re.search(r"--rdzv[-_]endpoint[= ]+\S*?:(\d{2,5})(?!\S)", text)
    port = int(endpoint[1]) if endpoint else number("master[-_]port|main[-_]process[-_]port")
    return _Starter(name, workers, nodes, port)


def _under_srun(line: LaunchLine, starter: _Starter, asked: Requested, job: Requested) -> Iterator[Finding]:
    """Workers per node against the GPUs, and nodes that are not used."""
    tasks, gpus = asked.tasks_of_node, asked.gpus_of_node or job.gpus_of_node
    evidence = {"line": line.line}
    workers = starter.workers
    if tasks and tasks > 1 and workers and workers > 1 and (gpus is None or tasks * workers > gpus):
        on = f"the {gpus} GPUs of a node" if gpus else "a node"
        what = f"{tasks} tasks per node each start {starter.name} with {workers} workers: {tasks * workers} workers on {on}."
        advice = (
            f"Start one {starter.name} per node: --ntasks-per-node=1 for srun (PyTorch, torchrun: one agent per node)."
        )
        yield Finding("workers-times-tasks", f"Line {line.line}: {what}", "problem", evidence, advice)
    elif workers and gpus and workers > gpus * (tasks or 1) and (tasks or 1) == 1:
        what = f"{starter.name} starts {workers} workers per node, and the job requests {count(gpus, 'GPU')} per node."
        yield Finding("workers-over-gpus", f"Line {line.line}: {what}", "problem", evidence, _per_gpu(starter, gpus))
    elif workers and gpus and workers * (tasks or 1) < gpus:
        used = workers * (tasks or 1)
        what = f"{starter.name} starts {count(used, 'worker')} per node, and the job requests {gpus} GPUs per node: {gpus - used} are idle."
        yield Finding("gpus-unused", f"Line {line.line}: {what}", "problem", evidence, _per_gpu(starter, gpus))
    if starter.nodes and asked.nodes and starter.nodes < asked.nodes:
        yield _nodes_unused(line.line, starter, asked.nodes)


def _per_gpu(starter: _Starter, gpus: int) -> str:
    """Return the advice to start one worker for each GPU."""
    options = {
        "deepspeed": f"--num_gpus {gpus}",
        "accelerate": f"{gpus} processes per machine (--num_processes counts all)",
    }
    return f"Start one worker per GPU: {options.get(starter.name, f'--nproc-per-node={gpus}')}."


def _nodes_unused(line: int, starter: _Starter, nodes: int) -> Finding:
    """Return the finding of nodes that are requested and not used."""
    what = f"Line {line}: {starter.name} runs on {count(starter.nodes or 1, 'node')}, and the job requests {nodes}: the others are charged and idle."
    option = (
        "--num_machines"
        if starter.name == "accelerate"
        else "--num_nodes"
        if starter.name == "deepspeed"
        else "--nnodes"
    )
    return Finding("nodes-unused", what, "problem", {"line": line}, f"Write {option}={nodes}, or request fewer nodes.")


def _plain_commands(script: Script, launched: set[int]) -> Iterator[tuple[int, list[str]]]:
    """Yield the commands that no launcher starts, with their lines; those inside loops over hosts or ssh are left out."""
    for statement in script.statements:
        words = [_plain(word) for word in statement]
        first = basename(words[0]) if words else ""
        if statement.line not in launched and first not in (
            "ssh",
            "pdsh",
            "echo",
            "printf",
            "for",
            "alias",
            "which",
            "pip",
        ):
            yield statement.line, words


def _plain(word: RawWord) -> str:
    """Return a word without its outer quotes."""
    return word.raw.strip("'\"") if " " not in word.raw else word.raw


def _without_srun(script: Script, line: int, starter: _Starter, job: Requested) -> Iterator[Finding]:
    """A starter that runs on the first node of several only."""
    text = script.text
    first = text.split("\n")[line - 1]
    # DeepSpeed reaches other nodes over ssh by its host file; a starter in a variable or a function may run under srun.
    others = starter.name == "deepspeed" and re.search(r"--hostfile|/job/hostfile|--launcher", text)
    if others or re.search(r"\bssh\b|\bsrun\b|mpirun|mpiexec|--use_ray", text) or re.match(r"\s*\w+\+?=", first):
        return
    what = f"Line {line}: {starter.name} runs on the first of {job.nodes} nodes only: a batch script runs once, on one node."
    advice = f"Start it on each node: srun --ntasks-per-node=1 {starter.name} ... (torchrun: one agent per node)."
    yield Finding("srun-missing", what, "problem", {"line": line}, advice)


def _same_port(script: Script) -> Iterator[Finding]:
    """Several starters at the same time on one rendezvous port."""
    ports: dict[tuple[int, int], list[int]] = {}
    for line in script.lines:
        starter = _starter_in([word.text for word in line.words])
        if starter and starter.port and line.background:
            ports.setdefault((line.group, starter.port), []).append(line.line)
    for (_, port), lines in ports.items():
        if len(lines) > 1:
            where = " and ".join(map(str, lines[:3]))
            what = f"Lines {where} run at the same time and meet on port {port}: one takes the other's workers, or cannot bind."
            advice = "Give each a different port: --rdzv-endpoint=HOST:PORT, --master_port or --main_process_port."
            yield Finding("port-shared", what, "problem", {"line": lines[0]}, advice)
