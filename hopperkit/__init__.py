"""The tool behind the command ``hopper``: questions about your job, as functions.

==================================================  ==================================================================
`Machine`, `Result`                                 a machine, by name or by the path of its file; an answer
`machines`, `place`, `memory`, `hybrid`             how machines compare, where tasks run, their memory, how many threads pay
`torus`, `rank_order`, `interconnect`, `overlap`    torus and order of ranks, dragonfly and fat tree, overlap
`simulate`, `locality`, `fragmentation`, ...         a trace through a scheduler, nodes of the jobs of a log, an aged machine
`variability`, `runs_needed`                        run times of MILC; runs that show a gain
`stripe`, `iobuf`, `io_log`, `io_node`, ...         files: stripes, buffers, logs of I/O, one node, slow OSTs, loading
`diagnose`, `build`, `preflight`, `bad_nodes`       why a job failed, problems of a build, nodes before a run
`runs`                                              why runs of one program differ
`ssp`, `detection_delay`, `watch`                   benchmarks over time
`identify`                                          what a text is, and what follows from it
`read_job_trace`, `read_ior`, `read_darshan`, ...   files of other programs as records
`report`, `fit`, `explain_runs`, `run_ensemble`     a report on files, run times, a function over many settings
`load`, `explore`, `to_frame`                       a question as an explorer, as a widget; records as a DataFrame
==================================================  ==================================================================

Omitted arguments are missing: no function answers from a sample. The models are in `hopperlib`, whose modules are the
namespace: ``from hopperlib.placement.layouts import layouts``.
"""

import sys
from typing import TYPE_CHECKING, Any

from hopperkit.api.analysis import explain_runs, explore, fit, load, node_hours_used, report, run_ensemble, to_frame
from hopperkit.api.failure import bad_nodes, build, diagnose, huge_pages, preflight
from hopperkit.api.files import identify
from hopperkit.api.io import chunks, io_log, iobuf, load_time, slow_ost
from hopperkit.api.jobs import fragmentation, locality, runs_needed, scheduling, simulate, variability
from hopperkit.api.monitoring import detection_delay, runs, ssp, watch
from hopperkit.api.network import interconnect, overlap, rank_order, torus
from hopperkit.api.node import hybrid, machines, memory, place
from hopperkit.api.readers import (
    jobs_in_network,
    read_benchmark_history,
    read_darshan,
    read_darshan_logs,
    read_io500,
    read_ior,
    read_job_trace,
    read_mdtest,
    read_run_times,
    read_sacct,
    read_swf,
)
from hopperkit.api.storage import io_node, small_files, stripe, trillion
from hopperlib import __version__

if TYPE_CHECKING:
    from hopperkit.questions.result import Result
    from hopperlib.machine import Machine
else:
    # The two classes are imported when they are first used: a command starts three times as fast without them.
    def __getattr__(name: str) -> Any:
        """Import a class."""
        if name == "Machine":
            from hopperlib.machine import Machine

            return Machine
        if name == "Result":
            from hopperkit.questions.result import Result

            return Result
        raise AttributeError(f"module 'hopperkit' has no attribute {name!r}")


__all__ = [
    "Machine",
    "Result",
    "__version__",
    "bad_nodes",
    "build",
    "chunks",
    "detection_delay",
    "diagnose",
    "explain_runs",
    "explore",
    "fit",
    "fragmentation",
    "huge_pages",
    "hybrid",
    "identify",
    "interconnect",
    "io_log",
    "io_node",
    "iobuf",
    "jobs_in_network",
    "load",
    "load_time",
    "locality",
    "machines",
    "memory",
    "node_hours_used",
    "overlap",
    "place",
    "preflight",
    "rank_order",
    "read_benchmark_history",
    "read_darshan",
    "read_darshan_logs",
    "read_io500",
    "read_ior",
    "read_job_trace",
    "read_mdtest",
    "read_run_times",
    "read_sacct",
    "read_swf",
    "report",
    "run_ensemble",
    "runs",
    "runs_needed",
    "scheduling",
    "simulate",
    "slow_ost",
    "small_files",
    "ssp",
    "stripe",
    "to_frame",
    "torus",
    "trillion",
    "variability",
    "watch",
]


def __dir__() -> list[str]:
    """List the public names, so that Tab shows them."""
    return __all__


if "IPython" in sys.modules:
    import importlib

    # Explorers, charts and answers use the widgets for their display in a notebook.
    importlib.import_module("hopperkit.render.widgets").register_here()
