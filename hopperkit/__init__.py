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
`jobs_in_network`                                   where the jobs of a log lay in a site's network, as a table
`read_run_times`, `read_benchmark_history`          run times; benchmarks over time (CSV, ReFrame, TOKIO, Open XDMoD)
`read_ior`, `read_mdtest`, `read_io500`             what tools of I/O printed or left in a folder
`read_darshan`, `read_darshan_logs`                 a Darshan log, and a folder of them
`report`, `run_ensemble`                            a report on files of your own; a function over many settings and seeds
`explain_runs`, `node_hours_used`                   what explains run times; use of a machine between moments
`load`, `explore`                                   a question as an explorer; the same as a widget with traits
`data_folder`                                       where the samples of the book are
`layouts`, `place_tasks`, `pace_of`, ...            functions of the models that the studies of the book call
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

from hopperlib import __version__

__all__ = ["__version__"]

# What is no question: name -> where it is.
_MODULES = {
    "Machine": "hopperlib.machine",
    "explore": "hopperkit.render.widgets.linked",
    "data_folder": "hopperlib.data_files",
    "explain_runs": "hopperkit.analysis.explained",
    "fit": "hopperkit.analysis.fit_answer",
    "jobs_in_network": "hopperkit.readers.networks",
    "load": "hopperkit.questions.question",
    "node_hours_used": "hopperkit.analysis.job_report",
    "read_benchmark_history": "hopperkit.readers.benchmark_history",
    "read_darshan": "hopperkit.readers.darshan",
    "read_darshan_logs": "hopperkit.readers.darshan",
    "read_io500": "hopperkit.readers.ior.io500",
    "read_ior": "hopperkit.readers.ior.reader",
    "read_job_trace": "hopperkit.readers.jobs",
    "read_mdtest": "hopperkit.readers.ior.mdtest",
    "read_run_times": "hopperkit.readers.run_times",
    "read_sacct": "hopperkit.readers.jobs.sacct",
    "read_swf": "hopperkit.readers.jobs.swf",
    "report": "hopperkit.analysis.reports",
    "run_ensemble": "hopperkit.analysis.ensembles",
    "to_frame": "hopperkit.frames",
}

# Functions of the models, by the module that has them; NAME=OTHER stands here as NAME, as OTHER alone says too little.
_MODELS = {
    "hopperkit.documented": "documented_value=documented erratum printed",
    "hopperkit.proofs": "evaluate_proof",
    "hopperlib.machine.derived": "mpi_bandwidth_per_core_mb_s",
    "hopperlib.machine.faults": "files_hit machine_faults=faults",
    "hopperkit.launchers.reader": "launch_line=read_launch",
    "hopperlib.placement.models.free_cores": "break_even_service",
    "hopperlib.placement.models.hybrid": "best_threads memory_times RunShares stream_gb_s thread_costs",
    "hopperlib.placement.layouts": "break_even_efficiency cheapest_layout=cheapest layouts",
    "hopperlib.placement.models.memory": "copied_fraction_needed memory_per_task merged_need merged_tasks_per_node=seats most_tasks_per_node",
    "hopperlib.placement.models.pages": "page_cost_us paged_bandwidth_gb_s",
    "hopperkit.launchers.placing": "place_tasks",
    "hopperlib.placement.slowdown": "placement_cost",
    "hopperlib.network.fabrics.bisection": "effective_bisection",
    "hopperlib.network.fabrics.dragonfly": "Dragonfly",
    "hopperlib.network.fabrics.fabric": "Traffic",
    "hopperlib.network.fabrics.of_machine": "fabric_of",
    "hopperlib.network.fabrics.rates": "lay_traffic=lay pace_of",
    "hopperlib.network.fabrics.tree": "fat_tree",
    "hopperlib.network.rank_order": "balanced_column_major best_block block_order diagonal_major off_node_pairs triangle_imbalance",
    "hopperlib.network.runtime.milc": "milc_exchange_share=exchange_share milc_jobs milc_lost_order=lost_order milc_model=model milc_run_times=run_times milc_slowdown=slowdown",
    "hopperlib.network.runtime.overlap": "cache_speedup combined_factor merged_collectives_s overlapped_s separate_collectives_s",
    "hopperlib.network.runtime.power": "chance_to_show=power gain_shown runs_to_show=runs_needed",
    "hopperlib.network.torus.distances": "Torus",
    "hopperlib.network.torus.maps": "compactness",
    "hopperlib.network.torus.orders": "compute_nodes order_nodes",
    "hopperlib.network.torus.wiring": "Wiring",
    "hopperlib.scheduling.aging": "free_runs probe_allocation=probe",
    "hopperkit.traces.backtest": "backtest",
    "hopperkit.traces.learned": "Clock",
    "hopperkit.traces.whatif": "what_if",
    "hopperkit.traces.why": "explain_wait",
    "hopperkit.traces.scheduler": "schedule_jobs=simulate",
    "hopperlib.scheduling.workload": "Job Workload",
    "hopperlib.storage.iobuf": "IobufBuffers=Buffers iobuf_costs=documented_costs transfer_for_gain_bytes unaligned_fraction",
    "hopperlib.storage.loading": "loading_time=load_time",
    "hopperlib.storage.lustre.client": "ceiling_gb_s file_system_of write_curve write_rate_gb_s",
    "hopperlib.storage.lustre.dumps": "barrier_rate_gb_s barriered_dump close_cost_s exclude_slow explaining_rate_gb_s gain_without_close osts_with_slow probe_osts=probe",
    "hopperlib.storage.lustre.imbalance": "expected_fullest",
    "hopperkit.filesystems.stripe_advice": "stripe_advice=advise",
    "hopperlib.storage.lustre.striping": "FileLayout=Layout",
    "hopperlib.failure.builds.default_modules": "default_module_outcomes=outcomes",
    "hopperlib.failure.builds.known_problems": "build_line=read_build check_build repaired_build=repaired",
    "hopperlib.failure.builds.rules": "build_rule build_rules=load_build_rules",
    "hopperlib.failure.builds.versions": "version_key",
    "hopperlib.failure.diagnosis.causes": "diagnosis_rates=measured",
    "hopperlib.failure.messages.rules": "message_rule=rule message_rules=load_rules",
    "hopperlib.failure.nodes.huge_pages": "buddy_blocks strays_allowed",
    "hopperkit.failures.preflight": "buddyinfo_nodes=read_buddyinfo node_list NodeMemory short_nodes=report",
    "hopperlib.failure.nodes.risk": "chance_of_bad_node chance_of_enough days_of_machine explaining_bad_nodes value_of_check=check_value",
    "hopperlib.monitoring.delays": "measured_delay=measured synthetic_history",
    "hopperlib.monitoring.ssp": "rate_per_task=rate speedup_term system_improvement=improvement",
    "hopperlib.monitoring.together": "machine_parts=subsystems parts_to_blame=read",
    "hopperkit.iologs.darshan_findings": "darshan_findings=findings",
    "hopperkit.questions.network.traces.rules": "backtest_result why_result",
    "hopperkit.questions.network.traces.what_if": "scenarios_of what_if_result",
    "hopperkit.questions.node.drawings": "node_drawing",
    "hopperkit.questions.storage.darshan_answer": "darshan_result",
    "hopperkit.analysis.distributions": "fit_all",
}
_MODULES |= {name: module for module, names in _MODELS.items() for name in names.split()}
_MODULES = {name.partition("=")[0]: f"{module}:{name.rpartition('=')[2]}" for name, module in _MODULES.items()}


def __getattr__(name: str) -> Any:
    """Import what is asked for by its name at the front door."""
    if name in _MODULES:
        module, _, inner = _MODULES[name].partition(":")
        asked_for = getattr(importlib.import_module(module), inner)
        if not name.startswith("read_"):
            return asked_for
        from hopperkit.readers.source import by_path

        return by_path(asked_for)
    if name in _questions():
        from hopperkit.questions.question import load

        return load(name.replace("_", "-")).as_function()
    raise AttributeError(f"module 'hopperkit' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List what stands at the front door, so that Tab shows it."""
    return sorted([*_MODULES, *_questions(), "__version__"])


def _questions() -> list[str]:
    """Return the names of the questions, as Python writes them."""
    from hopperkit.questions.catalogue import QUESTIONS

    # These are called as parts of the package are.
    return [name.replace("-", "_") for name in QUESTIONS if name not in ("documented", "machines", "scheduling")]


if "IPython" in sys.modules:
    # Explorers, charts and answers look in a notebook as the widgets say.
    _widgets = importlib.import_module("hopperkit.render.widgets")
    if _formatter := _widgets.display_formatter():
        _widgets.register(_formatter)
