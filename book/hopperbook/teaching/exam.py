"""The test of the workshop: twelve questions before it and twelve after it, with the same aims and other numbers.

Every answer comes from the models, like those of the pages. Names of checks are ``test-VARIANT-AIM``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import hopperkit
from hopperbook.self_checks import Check, ChoiceCheck, NumberCheck, Option
from hopperkit.launchers.placing import place_tasks
from hopperkit.launchers.reader import read_launch
from hopperkit.questions.question import load
from hopperlib.failure.nodes.risk import chance_of_bad_node, chance_of_enough
from hopperlib.machine import Machine
from hopperlib.network.torus.distances import Torus
from hopperlib.placement.models.memory import memory_per_task
from hopperlib.scheduling.scheduler import simulate
from hopperlib.scheduling.workload import Job, Workload
from hopperlib.storage.lustre.client import write_rate_gb_s
from hopperlib.storage.lustre.dumps import barriered_dump, osts_with_slow
from hopperlib.units import SECONDS_PER_HOUR

VARIANTS = ("before", "after")
PAGES = {variant: f"book/test-{variant}" for variant in VARIANTS}


class Aim(NamedTuple):
    """Subject of a question of the test: the module of the workshop, and its learning objective."""

    module: str
    aim: str


AIMS = {
    "share": Aim("The node", "say how much memory each task has"),
    "fill": Aim("The node", "say where a launch line puts its tasks"),
    "charge": Aim("The node", "work out what idle cores cost"),
    "client": Aim("Storage", "say what limits the rate at which one node writes"),
    "stripe": Aim("Storage", "say when a larger stripe count helps"),
    "slow": Aim("Storage", "work out what one slow OST costs"),
    "hops": Aim("Network", "count hops on a torus"),
    "runs": Aim("Network", "say how many runs show a gain"),
    "backfill": Aim("Scheduler", "say which waiting job may start early, and when"),
    "cause": Aim("Failures", "find the line that names the cause"),
    "bad-nodes": Aim("Failures", "work out how often a job meets a bad node"),
    "alarms": Aim("Monitoring", "work out how often a limit on single runs raises a false alarm"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Setting:
    """The numbers of one variant."""

    tasks_per_node: int
    line: str
    charged: tuple[int, int, int]
    writers: tuple[int, int, int]
    stripes: tuple[int, int]
    slow_share: float
    ring: tuple[int, int]
    gain_percent: float
    noise_percent: float
    third_job_h: int
    log: str
    bad: tuple[int, int]
    alarm: tuple[float, int]


_LOGS = {
    "before": """Step 118 of 400, residual 3.1e-05
slurmstepd: error: Detected 1 oom-kill event(s) in StepId=83121.0. Some of your processes may have been killed by the cgroup out-of-memory handler.
srun: error: nid000412: task 37: Out Of Memory
srun: Terminating StepId=83121.0""",
    "after": """Reading restart.0040
forrtl: No space left on device
forrtl: severe (38): error during write, unit 21, file /scratch/run7/restart.0041
srun: error: nid001207: task 0: Exited with exit code 38
srun: Terminating StepId=91450.0""",
}

SETTINGS = {
    "before": _Setting(
        tasks_per_node=16,
        line="aprun -n 200 -N 10 ./a.out",
        charged=(640, 8, 3),
        writers=(24, 1, 6),
        stripes=(8, 64),
        slow_share=1 / 3,
        ring=(1, 15),
        gain_percent=5.0,
        noise_percent=4.0,
        third_job_h=3,
        log=_LOGS["before"],
        bad=(6, 500),
        alarm=(2.0, 30),
    ),
    "after": _Setting(
        tasks_per_node=20,
        line="aprun -n 140 -N 14 ./a.out",
        charged=(480, 10, 4),
        writers=(48, 2, 8),
        stripes=(4, 32),
        slow_share=1 / 4,
        ring=(2, 13),
        gain_percent=10.0,
        noise_percent=12.0,
        third_job_h=5,
        log=_LOGS["after"],
        bad=(10, 200),
        alarm=(1.0, 90),
    ),
}

_Made = Callable[[_Setting], Check]


@cache
def _hopper() -> Machine:
    return Machine.load("hopper")


def _share(given: _Setting, name: str) -> Check:
    node = _hopper().node()
    return NumberCheck(
        name=name,
        question=f"A node has {node.memory_gb:g} GB of memory, of which {node.usable_memory_gb:g} GB can be allocated. {given.tasks_per_node} tasks share it. How much can each allocate?",
        unit="GB",
        answer=memory_per_task(node, given.tasks_per_node),
        decimals=2,
        misconceptions={node.memory_gb / given.tasks_per_node: "Divide what can be allocated, not what is installed."},
        explanation="The tasks share the usable memory.",
    )


def _fill(given: _Setting, name: str) -> Check:
    node = _hopper().node()
    placed = place_tasks(read_launch(given.line, _hopper()), _hopper()).nodes[0]
    cores = tuple(core for task in placed.tasks for core in task.cores)
    used = {core // node.cores_per_numa_node for core in cores}
    return ChoiceCheck(
        name=name,
        question=f"`{given.line}` runs on nodes of {node.numa_nodes} NUMA nodes with {node.cores_per_numa_node} cores each. Choose every NUMA node of the first node that gets tasks.",
        node=(node.numa_nodes, node.cores_per_numa_node),
        tasks=cores,
        several=True,
        options=tuple(
            Option(
                text=f"NUMA node {die}",
                feedback="The cores are filled in order."
                if die in used
                else "The cores are filled in order, so this one stays empty.",
                right=die in used,
            )
            for die in range(node.numa_nodes)
        ),
        explanation="Without `-S`, aprun fills the cores of a node in order.",
    )


def _charge(given: _Setting, name: str) -> Check:
    tasks, per_node, hours = given.charged
    cores = _hopper().node().cores
    nodes = -(-tasks // per_node)
    return NumberCheck(
        name=name,
        question=f"{tasks} tasks run {per_node} to a node, on nodes of {cores} cores that no other job uses, for {hours} hours. How many core-hours is the job charged?",
        unit="core-hours",
        spellings=("core hours", "core h"),
        answer=nodes * cores * hours,
        misconceptions={tasks * hours: "Idle cores are charged too.", nodes * hours: "Those are node-hours."},
        explanation="Nodes times cores per node times hours, whether or not the cores are used.",
    )


def _most(values: list[float], near: float = 1.05) -> int | None:
    """Return the largest value; None if the next is about as large."""
    first, second = sorted(values, reverse=True)[:2]
    return values.index(first) if first > near * second else None


def _client(given: _Setting, name: str) -> Check:
    tasks, few, many = given.writers
    rates = [1000 * write_rate_gb_s(_hopper(), tasks, task_rate_gb_s=0.2, nodes=nodes) for nodes in (few, many)]
    best = _most(rates)
    return ChoiceCheck(
        name=name,
        question=f"{tasks} tasks write a file each to a large Lustre file system. They fill {few} node{'s' if few > 1 else ''}, or are spread over {many}. Which writes faster?",
        quantity="Rate of all tasks together [MB/s]",
        options=(
            Option(
                text=f"on {few} node{'s' if few > 1 else ''}",
                feedback="All tasks of a node share its one client.",
                right=best == 0,
                value=rates[0],
            ),
            Option(text=f"spread over {many}", feedback="Each node brings a client.", right=best == 1, value=rates[1]),
            Option(
                text="both the same: the disks decide",
                feedback="So few nodes cannot keep the disks busy.",
                right=best is None,
            ),
        ),
        explanation="The limit is what a node can pass on.",
    )


def _stripe(given: _Setting, name: str) -> Check:
    few, many = given.stripes
    rates = [
        float(hopperkit.stripe(size_gb=100, writers=1, nodes=1, pattern="shared", stripe_count=count, stripe_mib=16).facts["rate_gb_s"])
        for count in given.stripes
    ]  # fmt: skip
    gain = rates[1] / rates[0]
    return ChoiceCheck(
        name=name,
        question=f"One task on one node of Hopper writes a file of 100 GB. Its stripe count is raised from {few} to {many}. What happens to its rate?",
        options=(
            Option(
                text=f"it grows about {many // few} times",
                feedback="Only if the OSTs were the limit.",
                right=gain > 0.8 * many / few,
            ),
            Option(text="it stays about the same", feedback="The node is the limit.", right=abs(gain - 1) < 0.1),
            Option(
                text="it falls by half or more",
                feedback="More OSTs cost little as long as locks do not matter.",
                right=gain <= 0.5,
            ),
        ),
        explanation=f"In the model the rate becomes {gain:.2f} times what it was: one node cannot keep so many OSTs busy.",
    )


def _slow(given: _Setting, name: str) -> Check:
    osts, rate, variables = 100, 0.25, 4
    healthy, slow = (
        barriered_dump(
            100, osts_with_slow(osts, rate, slow=count, slow_rate_gb_s=rate * given.slow_share), variables=variables
        ).time_s
        for count in (0, 1)
    )
    return NumberCheck(
        name=name,
        question=f"A dump is spread evenly over {osts} OSTs, with a barrier after each of its {variables} variables. One OST has 1/{round(1 / given.slow_share)} of the rate of the others. How many times as long does the dump take as without it?",
        answer=slow / healthy,
        decimals=1,
        tolerance=0.15,
        misconceptions={1.0: "At each barrier everybody waits for the slowest OST."},
        explanation="Each variable takes as long as the slowest OST needs for its part.",
    )


def _hops(given: _Setting, name: str) -> Check:
    x, y, z = _hopper().network.dimensions  # type: ignore[union-attr,misc]
    first, second = given.ring
    return NumberCheck(
        name=name,
        question=f"A torus has rings of {x} routers along x. How many hops are there between routers {first} and {second} of one ring?",
        answer=Torus((x, y, z)).hops((first, 0, 0), (second, 0, 0)),
        misconceptions={second - first: "A ring is closed: the way round the other end may be shorter."},
        explanation="Messages take the shorter way around the ring.",
    )


def _runs(given: _Setting, name: str) -> Check:
    needed = (
        load("runs-needed").run(gain_percent=given.gain_percent, noise_percent=given.noise_percent).facts["runs_needed"]
    )
    return NumberCheck(
        name=name,
        question=f"Runs of your code differ by {given.noise_percent:g} % (one standard deviation). A change promises {given.gain_percent:g} %. About how many runs with it and how many without do you need, each, to see that in four of five attempts?",
        answer=float(needed),
        tolerance=needed / 3,
        misconceptions={1.0: "One run of each shows the noise, not the change."},
        explanation="The number of runs grows with the square of the noise over the gain.",
    )


def _backfill(given: _Setting, name: str) -> Check:
    hour = int(SECONDS_PER_HOUR)
    limits = ((6, 4), (8, 2), (4, given.third_job_h))
    jobs = [Job(number, 0, nodes, hours * hour, hours * hour) for number, (nodes, hours) in enumerate(limits, start=1)]
    # It waits from hour 0 on.
    wait_s = simulate(Workload(jobs), 10).wait_time_s(2) or 0
    return NumberCheck(
        name=name,
        question=f"A machine of 10 nodes uses backfill (EASY). At hour 0 job 1 starts on 6 nodes for 4 hours. Job 2 waits for 8 nodes for 2 hours; after it, job 3 needs 4 nodes for {given.third_job_h} hours. All run to their limit. At which hour does job 3 start?",
        unit="h",
        spellings=("hours", "hour"),
        answer=wait_s // hour,
        explanation="A job may pass the first in the queue only if it does not delay it.",
    )


def _cause(given: _Setting, name: str) -> Check:
    lines = given.log.splitlines()
    named = hopperkit.diagnose(given.log).facts["line"]
    return ChoiceCheck(
        name=name,
        question="A job failed, and these are the last lines of its output. Which line names the cause?",
        options=tuple(
            Option(
                text=f"`{line}`",
                feedback="This line says why." if at == named else "This is work as usual, or what followed.",
                right=at == named,
            )
            for at, line in enumerate(lines, start=1)
        ),
        explanation="The cause comes first; what the launcher writes after it only reports that tasks ended.",
    )


def _bad_nodes(given: _Setting, name: str) -> Check:
    bad, job = given.bad
    nodes = _hopper().nodes
    chance = 100 * chance_of_bad_node(nodes, bad, job)
    return NumberCheck(
        name=name,
        question=f"{bad} of {nodes:,} nodes are bad, and nobody knows which. How likely is it that a job on {job} nodes meets at least one of them?",
        unit="%",
        spellings=("percent", "per cent"),
        answer=chance,
        tolerance=3.0,
        misconceptions={100 * bad / nodes: "That is the chance of a single node."},
        explanation="It is one minus the chance that all nodes of the job are good.",
    )


def _alarms(given: _Setting, name: str) -> Check:
    percent, days = given.alarm
    chance = 100 * (1 - chance_of_enough(1 - percent / 100, days))
    return NumberCheck(
        name=name,
        question=f"A benchmark runs once a day. When nothing is wrong, {percent:g} % of its runs fall below a fixed limit, independently of each other. How likely is at least one false alarm in {days} days?",
        unit="%",
        spellings=("percent", "per cent"),
        answer=chance,
        tolerance=3.0,
        misconceptions={percent: "That is the chance of one day."},
        explanation="Each day is a new chance for a false alarm.",
    )


_MADE: Mapping[str, Callable[[_Setting, str], Check]] = {
    "share": _share,
    "fill": _fill,
    "charge": _charge,
    "client": _client,
    "stripe": _stripe,
    "slow": _slow,
    "hops": _hops,
    "runs": _runs,
    "backfill": _backfill,
    "cause": _cause,
    "bad-nodes": _bad_nodes,
    "alarms": _alarms,
}


def exam(variant: str) -> dict[str, Check]:
    """Return the questions of a variant, by their aim.

    Parameters
    ----------
    variant : {"before", "after"}

    Raises
    ------
    ValueError
        If there is no such variant.

    Examples
    --------
    >>> exam("before")["share"].answer_text, exam("after")["share"].answer_text
    ('1.94 GB', '1.55 GB')
    """
    if variant not in SETTINGS:
        raise ValueError(f"variant={variant!r} must be one of: {', '.join(VARIANTS)}")
    return {aim: make(SETTINGS[variant], f"test-{variant}-{aim}") for aim, make in _MADE.items()}


def exam_data() -> list[dict[str, Any]]:
    """Return the aims in order, as the page that compares both tests needs them.

    Examples
    --------
    >>> exam_data()[0]
    {'key': 'share', 'module': 'The node', 'aim': 'say how much memory each task has'}
    """
    return [{"key": key, **aim._asdict()} for key, aim in AIMS.items()]
