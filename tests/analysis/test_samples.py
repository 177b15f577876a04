"""The bundled run times and jobs are synthetic: these lines draw the files."""

import math
import random
from statistics import NormalDist

from hopperkit.traces.scheduler import simulate
from hopperlib.data_files import data_folder
from hopperlib.scheduling.generator import SizeClass, draw_workload
from tests.readers.jobs.swf_writer import write_swf


def _normal(rng):
    return NormalDist().inv_cdf(rng.random())


def run_times():
    """40 jobs of three runs: a lognormal excess of the job's over a fastest time, and noise that only slows a run."""
    rng = random.Random(1)
    yield "job,run,run_time_s\n"
    for job in range(4712, 4752):
        placed = 840 + math.exp(5.2 + 0.55 * _normal(rng))
        for run in (1, 2, 3):
            yield f"{job},{run},{placed * (1 + 0.012 * abs(_normal(rng))):.1f}\n"


def jobs():
    """Two weeks of a machine of 92 nodes, through EASY and first fit."""
    classes = (
        SizeClass(1, 1, 0.02, 48),
        SizeClass(2, 8, 0.23, 48),
        SizeClass(9, 24, 0.40, 24),
        SizeClass(25, 64, 0.35, 12),
    )
    yield "; Computer: none; synthetic, drawn for the Hopper book\n"
    yield from write_swf(simulate(draw_workload(classes, nodes=92, days=14, load=0.9, rng=random.Random(1)), 92))


def test_run_times_are_what_is_drawn():
    path = data_folder() / "samples" / "run-times" / "synthetic-run-times.csv"
    assert path.read_text(encoding="utf-8") == "".join(run_times())


def test_jobs_are_what_is_drawn():
    path = data_folder() / "samples" / "jobs" / "synthetic-jobs.swf"
    assert path.read_text(encoding="utf-8") == "".join(jobs())
