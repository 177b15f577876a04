"""Message slowness on a dragonfly in production, all routes minimal: ``data/dragonfly-slowness.csv``.

    python -m hopperbook.forecasts.dragonfly

makes it in some minutes. A job is placed twice a day on a substitute for a Cray XC30, Edison, among jobs with the
widths of Hopper's and the traffic of those in the study on variability. With the best mixture of minimal routes and
detours none of these jobs is slowed down; adaptive routing is between that and this result.
"""

import csv
import random
from functools import cache

from hopperlib.data_files import data_folder, rows
from hopperlib.machine import Machine
from hopperlib.network.fabrics.fabric import Traffic
from hopperlib.network.fabrics.of_machine import fabric_of
from hopperlib.network.fabrics.patterns import messages_of
from hopperlib.network.fabrics.rates import fair_rates
from hopperlib.network.runtime.sharing import MIXES, draw_habit
from hopperlib.scheduling.aging import aged_machine, probe
from hopperlib.scheduling.schedule import Schedule

_FILE = "dragonfly-slowness.csv"
#: Pattern and nodes of the jobs that are placed.
CASES = (("all-to-all", 512), ("all-to-all", 256), ("neighbors-3", 128), ("neighbors-2", 189))
_HALF_DAYS = range(6, 28)


@cache
def slowness(pattern: str, nodes: int) -> tuple[float, ...]:
    """Return the factor by which messages take longer in each placement, all routes minimal.

    Examples
    --------
    >>> min(slowness("neighbors-3", 128)) >= 1
    True
    """
    return tuple(
        float(row["slowness"]) for row in rows(_FILE) if (row["pattern"], row["nodes"]) == (pattern, f"{nodes}")
    )


@cache
def _schedule() -> Schedule:
    """Return fifteen days of the machine."""
    return aged_machine("production", nodes=Machine.load("edison").nodes, days=15, load=0.95)


def placed(pattern: str, nodes: int, half_day: int) -> float:
    """Return the slowdown of the messages of a job placed at the end of each half day.

    Examples
    --------
    >>> placed("neighbors-1", 2, 0)
    1.0
    """
    fabric, schedule = fabric_of(Machine.load("edison")), _schedule()
    landed = probe(schedule, 43_200 * half_day, nodes)
    jobs = [(landed.runs, pattern, fabric.node_gb_s)]
    for index in schedule.running(landed.start_s):
        habit = draw_habit(random.Random(index))
        everybody = habit.pattern < MIXES["assumed"].all_to_all
        jobs.append(
            (schedule.runs(index), "all-to-all" if everybody else f"neighbors-{habit.dimensions}", habit.rate_gb_s)
        )
    traffics = []
    for runs, kind, _ in jobs:
        places = [place for low, high in runs for place in range(low, high)]
        traffics.append(Traffic.between(fabric, places, messages_of(kind, len(places), random.Random(1))))
    loads = [fabric.loads(traffic, fabric.routings[0]) for traffic in traffics]
    return round(fabric.node_gb_s / fair_rates(fabric, traffics, [wants for *_, wants in jobs], loads)[0], 4)


if __name__ == "__main__":
    with (data_folder() / _FILE).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["pattern", "nodes", "half_day", "slowness"])
        writer.writerows((*case, half_day, placed(*case, half_day)) for case in CASES for half_day in _HALF_DAYS)
