"""Exercises in Python for the studies of the node."""

from hopperbook.self_checks.code import CodeCheck
from hopperlib.machine import Machine
from hopperlib.machine.faults import affected_files
from hopperlib.placement.launch_line import read_launch_line
from hopperlib.placement.models.hybrid import RunShares, thread_costs
from hopperlib.placement.models.memory import most_tasks_per_node
from hopperlib.placement.models.pages import paged_bandwidth_gb_s
from hopperlib.placement.placement import place_tasks


def _placement() -> CodeCheck:
    """Return the exercise of the study of placement."""
    hopper = Machine.load("hopper")

    def counts(tasks: int) -> list[int]:
        placed = place_tasks(read_launch_line(f"aprun -n {tasks} -N {tasks} a.out", hopper), hopper)
        return [len(each) for each in placed.tasks_by_numa_node(0)]

    return CodeCheck(
        name="placement-code",
        question="`aprun` fills one NUMA node after the other. Fix `counts`, which deals the tasks evenly: how many tasks does each of the four NUMA nodes get?",
        start="def counts(tasks):\n    found = []\n    for numa_node in range(4):\n        found.append(tasks / 4)\n    return found\n\ncounts(8)",
        solution="def counts(tasks):\n    found = []\n    for numa_node in range(4):\n        here = min(6, tasks)\n        found.append(here)\n        tasks = tasks - here\n    return found\n\ncounts(8)",
        values={f"counts({tasks})": counts(tasks) for tasks in (8, 12, 20, 24)},
        hints=("A NUMA node has six cores.", "Keep what is left for the next NUMA node."),
        explanation="The first NUMA nodes are full, one has what is left, and the others are empty: that is why twelve tasks share the memory channels of two NUMA nodes.",
    )


def _memory() -> CodeCheck:
    """Return the exercise of the study of memory."""
    node = Machine.load("hopper").node()
    return CodeCheck(
        name="memory-code",
        question="Fix `most_tasks`: how many tasks with this memory need fit on a node? A node has no more tasks than cores, and only part of its memory can be allocated.",
        start='from hopperlib.machine import Machine\n\nnode = Machine.load("hopper").node()\n\ndef most_tasks(need_gb):\n    return node.memory_gb / need_gb\n\nmost_tasks(2.0)',
        solution='from hopperlib.machine import Machine\n\nnode = Machine.load("hopper").node()\n\ndef most_tasks(need_gb):\n    fitting = int(node.usable_memory_gb / need_gb)\n    return min(fitting, node.cores)\n\nmost_tasks(2.0)',
        values={f"most_tasks({need})": most_tasks_per_node(node, need) for need in (2.0, 3.0, 0.5, 40.0)},
        hints=("`node.usable_memory_gb` is what can be allocated.", "`int` rounds down, and `min` keeps to the cores."),
        explanation="Usable memory divided by the need, rounded down, and never more than one task for each core.",
    )


def _hybrid() -> CodeCheck:
    """Return the exercise of the study of threads."""
    costs = thread_costs(Machine.load("hopper").node(), 8192, elsewhere=1)

    def longer(threads: int, shared: float) -> float:
        cost = next(each for each in costs if each.threads == threads)
        return cost.run_time(RunShares(parallel_fraction=shared, mpi_share=0.0, memory_bound_fraction=0.0))

    return CodeCheck(
        name="hybrid-code",
        question="Several tasks are merged into one with as many threads, which share a part `shared` of the work. Fix `run_time`, the time relative to one thread per task: what the threads do not share is done by one of them, for all the merged tasks.",
        start="def run_time(threads, shared):\n    serial = 1 - shared\n    return serial + shared / threads\n\nrun_time(6, 0.9)",
        solution="def run_time(threads, shared):\n    serial = (1 - shared) * threads\n    return serial + shared\n\nrun_time(6, 0.9)",
        values={
            f"run_time({n}, {shared})": longer(n, shared) for n, shared in ((6, 0.9), (3, 0.9), (2, 0.5), (1, 0.7))
        },
        hints=("Merging six tasks gives one task six times the work.",),
        explanation="The shared part takes as long as before, as six times the work is done by six threads; the rest takes as many times longer as there are threads.",
    )


def _pages() -> CodeCheck:
    """Return the exercise of the study of pages."""
    large, cost = 53.0, 0.08
    sizes = (4096, 65536, 2097152)
    return CodeCheck(
        name="pages-code",
        question="Each page costs a little time in addition to that of its bytes. Fix `bandwidth`, which forgets it.",
        start=f"large_gb_s = {large}\npage_cost_us = {cost}\n\ndef bandwidth(page_bytes):\n    time_s = page_bytes / (large_gb_s * 1e9)\n    return page_bytes / time_s / 1e9\n\nbandwidth(4096)",
        solution=f"large_gb_s = {large}\npage_cost_us = {cost}\n\ndef bandwidth(page_bytes):\n    time_s = page_bytes / (large_gb_s * 1e9) + page_cost_us * 1e-6\n    return page_bytes / time_s / 1e9\n\nbandwidth(4096)",
        values={
            f"bandwidth({size})": paged_bandwidth_gb_s(size, large_gb_s=large, page_cost_us=cost) for size in sizes
        },
        hints=("A microsecond is a millionth of a second.",),
        explanation="The cost of a page is the same for every size, so large pages carry less of it for each byte.",
    )


def _machines() -> CodeCheck:
    """Return the exercise of the study of machines."""
    scratch = Machine.load("hopper").file_systems[0]
    return CodeCheck(
        name="machines-code",
        question="A server with six of the 156 OSTs is lost. `chance` adds up the chances of each stripe, which counts files with two lost stripes twice. Fix it: multiply the chances that no stripe is lost.",
        start="osts, lost = 156, 6\n\ndef chance(stripes):\n    return stripes * lost / osts\n\nchance(2)",
        solution="osts, lost = 156, 6\n\ndef chance(stripes):\n    safe = 1.0\n    for other in range(stripes):\n        safe = safe * (osts - lost - other) / (osts - other)\n    return 1 - safe\n\nchance(2)",
        values={f"chance({count})": affected_files(scratch, count) for count in (1, 2, 4, 40)},
        hints=("The first stripe is safe with 150 chances in 156.", "The second then has 149 of 155 that are left."),
        explanation="No two stripes of a file are on the same OST, so each is drawn from the remaining OSTs.",
    )


EXERCISES = {
    "placement": _placement,
    "memory": _memory,
    "hybrid": _hybrid,
    "pages-and-libraries": _pages,
    "machines": _machines,
}
