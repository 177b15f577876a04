"""Explorer: which layouts give each task its memory, and what each is charged."""

from __future__ import annotations

from dataclasses import replace

from hopperlib.machine import NodeKind
from hopperlib.node.layouts import cheapest, layouts, obstacle
from hopperlib.node.memory import buffer_memory
from hopperlib.questions.controls import Number, Slider, Switch
from hopperlib.questions.explorer import Example, Explorer
from hopperlib.questions.machine_choice import chosen_machine, machine_control, machine_file_control
from hopperlib.questions.node import memory_parts as parts
from hopperlib.questions.result import Result

__all__ = ["EXPLORER"]


def _kinds(kinds: tuple[NodeKind, ...], every_kind: bool, usable_gb: float) -> tuple[NodeKind, ...]:
    """Return the kinds of node to use; what the reader sets as usable holds for the ordinary one."""
    ordinary = replace(kinds[0], usable_memory_gb=usable_gb) if usable_gb else kinds[0]
    return (ordinary, *kinds[1:]) if every_kind else (ordinary,)


def _answer(
    *,
    need_gb: float,
    tasks: int,
    threads: int,
    machine: str,
    every_kind: bool,
    files: int,
    machine_file: str,
    usable_gb: float,
    thread_efficiency: float,
    copied_fraction: float,
    hours: float,
) -> Result:
    """Answer for one job. Zeros stand for what is not given."""
    chosen = chosen_machine(machine, machine_file)
    kinds = _kinds(chosen.node_kinds, every_kind, usable_gb)
    whole_need_gb = need_gb + buffer_memory(files)
    asked = parts.Question(
        machine=chosen,
        kinds=kinds,
        need_gb=whole_need_gb,
        buffers_gb=buffer_memory(files),
        tasks=tasks,
        threads=threads or None,
        usable_given=bool(usable_gb),
        thread_efficiency=thread_efficiency,
        copied_fraction=copied_fraction,
        hours=hours,
    )
    found = layouts(
        chosen,
        need_gb=whole_need_gb,
        tasks=tasks,
        threads=asked.threads,
        thread_efficiency=thread_efficiency,
        kinds=kinds,
    )
    best = cheapest(found)
    plain = cheapest(found, threads=threads or 1, kind=kinds[0])
    hindered = obstacle(chosen, need_gb=whole_need_gb, tasks=tasks, threads=asked.threads, kinds=kinds)
    return Result(
        summary=parts.summary(asked, best, plain, hindered),
        warnings=tuple(parts.notices(asked, best, plain, hindered)),
        values=tuple(parts.values(asked, found, best, plain)),
        figures=tuple(parts.figures(asked, found)),
        copyables=tuple(parts.copyables(asked, best, plain)),
        tables=tuple(parts.tables(asked, found, best)),
        facts=parts.facts(asked, best, plain),
    )


EXPLORER = Explorer(
    name="memory",
    title="Memory for each task",
    question="Which layouts give each task the memory it needs, and which is the cheapest?",
    controls=(
        Number(name="need_gb", label="Memory of a task", unit="GB", low=0.01, high=4096.0, step=0.05, default=2.0),
        Number(name="tasks", label="MPI tasks of the job", low=1, high=1_000_000, step=1, default=384),
        Number(
            name="threads",
            label="Threads of a task",
            low=0,
            high=1024,
            step=1,
            default=0,
            help="0: one thread, and beside it as many as find a core of their own.",
        ),
        machine_control(),
        Switch(
            name="every_kind",
            label="Use nodes with more memory too",
            default=True,
            help="A job runs on one kind of node. The larger ones are few, and often have a queue of their own.",
        ),
        Number(
            name="files",
            label="Files that each task has open through iobuf",
            low=0,
            high=10_000,
            step=1,
            default=0,
            help="Each takes 4 MB of buffers from the task's node.",
        ),
        machine_file_control(),
        Number(
            name="usable_gb",
            label="Memory that an ordinary node leaves to programs",
            unit="GB",
            low=0.0,
            high=100_000.0,
            step=0.1,
            default=0.0,
            advanced=True,
            help="0: as the machine file says. Run `free -m` on a node to see yours.",
        ),
        Slider(
            name="thread_efficiency",
            label="Work of each further thread, in tasks",
            low=0.0,
            high=1.0,
            step=0.05,
            default=1.0,
            advanced=True,
            assumed="No source prints how well threads work: 1 is as well as a task, 0 is not at all.",
        ),
        Slider(
            name="copied_fraction",
            label="Share of a task's memory that every task has a copy of",
            low=0.0,
            high=1.0,
            step=0.05,
            default=0.5,
            advanced=True,
            assumed="No source prints it; the table of merged tasks says how much it would have to be.",
        ),
        Number(
            name="hours",
            label="Run time",
            unit="h",
            low=0.01,
            high=10_000.0,
            step=0.5,
            default=1.0,
            advanced=True,
            help="With one thread a task, or with as many as set above.",
        ),
    ),
    answer=_answer,
    examples=(
        Example(label="2 GB a task on Hopper", values={"need_gb": 2.0, "machine": "hopper"}),
        Example(label="The same, ordinary nodes only", values={"need_gb": 2.0, "every_kind": False}),
        Example(label="1.8 GB on Franklin", values={"need_gb": 1.8, "machine": "franklin"}),
        Example(label="1.8 GB on Hopper", values={"need_gb": 1.8, "machine": "hopper"}),
        Example(label="More than any node has", values={"need_gb": 70.0, "tasks": 16}),
        Example(label="6 GB on Perlmutter", values={"need_gb": 6.0, "tasks": 1024, "machine": "perlmutter"}),
    ),
)
