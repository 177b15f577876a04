"""A big HPC machine as models you can run, each checked against what was printed about NERSC's Hopper.

The front door: what a reader asks for by name. Each is imported when it is first used.

==================================================  ==================================================================
`Machine`                                           a machine, by name or by the path of its file
`place`, `memory`, `hybrid`                         where tasks land, what memory they get, how many threads pay
`torus`, `rank_order`, `simulate`                   who sits where, who talks to whom, and a trace through a scheduler
`interconnect`, `where`                             a dragonfly or fat tree, and where the jobs of a log lay in one
`stripe`, `iobuf`                                   how to lay out a file, and how to buffer it
`diagnose`, `build`, `preflight`                    why a job failed, known problems of a build, nodes before a run
`huge_pages`, `load_time`, `runs_needed`            whole memory on all nodes, loading of modules, runs that show a gain
`ssp`, `detection_delay`, `watch`, ...              every other question of ``hopper --help``
`fit`, `scorecard`                                  the distribution of run times, and how well the models do
`read_job_trace`, `read_swf`, `read_sacct`          job traces: any, and those of one form (Open XDMoD's too)
`read_run_times`, `read_benchmark_history`          run times; benchmarks over time (CSV, ReFrame, TOKIO, Open XDMoD)
`read_ior`, `read_mdtest`, `read_io500`             what tools of I/O printed or left in a folder
`read_darshan`, `read_darshan_logs`                 a Darshan log, and a folder of them
`report`, `run_ensemble`                            a report on files of your own; a function over many settings and seeds
`explain_runs`, `node_hours_used`                   what explains run times; use of a machine between moments
`load`, `explore`                                   a question as an explorer; the same as a widget with traits
`data_folder`                                       where the samples of the book are
`to_frame`                                          any of these, and any records, as a pandas DataFrame
==================================================  ==================================================================

The parts, from the lowest up, each of which imports from those before it only:
`errors`, `units`, `text`, `finding`, `frames` and their like (the ground),
`documented` and `machine` (facts), `launchers`, `placement`, `scheduling`,
`network`, `storage`, `failure`, `monitoring` (models), `readers` (files of other
tools), `questions` (what can be asked, everywhere), `render` (answers for a
person or a program), `analysis` (statistics), `cli` (the command ``hopper``).
"""

import importlib
import sys
from typing import Any

__version__ = "0.1.0"

# What is no question: name -> where it is.
_MODULES = {
    "Machine": "hopperlib.machine",
    "explore": "hopperlib.render.widgets.linked",
    "data_folder": "hopperlib.data_files",
    "explain_runs": "hopperlib.analysis.explained",
    "fit": "hopperlib.analysis.fit_answer",
    "load": "hopperlib.questions.question",
    "node_hours_used": "hopperlib.analysis.job_report",
    "read_benchmark_history": "hopperlib.readers.benchmark_history",
    "read_darshan": "hopperlib.readers.darshan",
    "read_darshan_logs": "hopperlib.readers.darshan",
    "read_io500": "hopperlib.readers.ior.io500",
    "read_ior": "hopperlib.readers.ior.reader",
    "read_job_trace": "hopperlib.readers.jobs",
    "read_mdtest": "hopperlib.readers.ior.mdtest",
    "read_run_times": "hopperlib.readers.run_times",
    "read_sacct": "hopperlib.readers.jobs.sacct",
    "read_swf": "hopperlib.readers.jobs.swf",
    "report": "hopperlib.analysis.reports",
    "run_ensemble": "hopperlib.analysis.ensembles",
    "to_frame": "hopperlib.frames",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for by its name at the front door."""
    if name in _MODULES:
        asked_for = getattr(importlib.import_module(_MODULES[name]), name)
        if not name.startswith("read_"):
            return asked_for
        from hopperlib.readers.source import by_path

        return by_path(asked_for)
    if name in _questions():
        from hopperlib.questions.question import load

        return load(name.replace("_", "-")).as_function()
    raise AttributeError(f"module 'hopperlib' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List what stands at the front door, so that Tab shows it."""
    return sorted([*_MODULES, *_questions(), "__version__"])


def _questions() -> list[str]:
    """Return the names of the questions, as Python writes them."""
    from hopperlib.questions.catalogue import QUESTIONS

    # These are called as parts of the package are.
    return [name.replace("-", "_") for name in QUESTIONS if name not in ("documented", "machines", "scheduling")]


if "IPython" in sys.modules:
    # Explorers, charts and answers look in a notebook as the widgets say.
    _widgets = importlib.import_module("hopperlib.render.widgets")
    if _formatter := _widgets.display_formatter():
        _widgets.register(_formatter)
