"""Data that nobody measured, drawn with stated truths: run times in jobs, histories with a loss, an accounting."""

from __future__ import annotations

import math
import random
from datetime import datetime, timedelta

import numpy as np

from hopperlib.monitoring.history import History


def runs_in_jobs(rng: np.random.Generator, jobs: int = 20, runs: int = 5, between: float = 0.1, within: float = 0.02):
    """Return times and jobs: lognormal levels of jobs, lognormal runs about each; log-sd `between` and `within`."""
    of = np.repeat(np.arange(jobs), runs)
    logs = between * rng.normal(size=jobs)[of] + within * rng.normal(size=len(of))
    return 1000 * np.exp(logs), of


def history(rng: random.Random, name: str, loss: float, spread: float, runs: int = 60, at: int = 40) -> History:
    """Return a nightly benchmark that loses a fraction from run `at` on; log-sd `spread`."""
    values = tuple(100 * math.exp(rng.gauss(0, spread)) * (1 - loss * (run >= at)) for run in range(runs))
    times = tuple((datetime(2026, 1, 1) + timedelta(days=run)).date().isoformat() for run in range(runs))
    return History(
        name=name, values=values, times=times, better="higher", kind="parallel" if name != "ior" else "file system"
    )


def accounting(rng: random.Random, jobs: int, last: datetime, hours: float) -> str:
    """Return output of sacct with a clock without a zone: jobs evenly over a number of hours, the last at `last`."""
    head = "JobID|User|Account|Partition|State|Submit|Start|End|Elapsed|Timelimit|NNodes|NodeList"
    lines = [head]
    for number in range(jobs):
        submit = last - timedelta(hours=hours * (jobs - 1 - number) / (jobs - 1))
        start, run = submit + timedelta(seconds=rng.randint(0, 7200)), rng.randint(60, 9000)
        who = rng.choice(("ann|phys", "bob|chem", "cem|bio"))
        if number % 20 == 7:
            lines.append(
                f"{number}|{who}|regular|CANCELLED by 5|{submit:%FT%T}|Unknown|Unknown|00:00:00|04:00:00|4|None assigned"
            )
            continue
        clock = f"{run // 3600:02}:{run // 60 % 60:02}:{run % 60:02}"
        end = start + timedelta(seconds=run)
        lines.append(
            f"{number}|{who}|regular|COMPLETED|{submit:%FT%T}|{start:%FT%T}|{end:%FT%T}|{clock}|04:00:00|4|nid[1-4]"
        )
    return "\n".join(lines) + "\n"


def darshan_text(rng: random.Random, number: int) -> str:
    """Return output of darshan-parser for a job in which each of four tasks writes a separate file."""
    lines = [
        f"# exe: ./solver\n# jobid: {number}\n# nprocs: 4\n# start_time: 1772000000\n# end_time: 1772000100\n# run time: 100\n"
    ]
    for rank in range(4):
        counters = {
            "POSIX_OPENS": 1,
            "POSIX_WRITES": 100,
            "POSIX_BYTES_WRITTEN": (number + 1) * 10**8,
            "POSIX_F_WRITE_TIME": 5 + rng.random(),
        }
        lines += [
            f"POSIX\t{rank}\t{rank + 1}\t{name}\t{value}\t/out.{rank}\t/\text4\n" for name, value in counters.items()
        ]
    return "".join(lines)
