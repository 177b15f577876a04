"""Question: how long a job takes to load its libraries or modules, five ways."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from hopperkit.filesystems.node_lines import node_lines
from hopperkit.questions import ask
from hopperkit.questions.figures import Axis, Series, chart
from hopperkit.questions.result import Column, Figure, Result, Snippet, Table, table
from hopperlib.machine import Machine
from hopperlib.storage.loading import METHODS, LoadTime, Method, load_range_s, load_time, loading_finding
from hopperlib.text import count, digits, duration

_WAYS: dict[Method, str] = {
    "serial": "one request after another (DVS on Hopper)",
    "parallel": "all servers side by side",
    "cached": "one task per node requests, and the node caches the replies",
    "broadcast": "one task reads and broadcasts to all others",
    "image": "each node opens one image (squashfs, container)",
}


class Job(ask.Setting):
    """A job, what each of its tasks loads, and the servers that it loads from."""

    machine: Machine = ask.machine(help="Machine whose launcher the commands use.")
    nodes: int = ask.whole("Nodes of the job", 256, (1, 1_000_000))
    tasks_per_node: int = ask.whole("Tasks per node", 24, (1, 1024))
    files: int = ask.whole(
        "Libraries or modules per task",
        400,
        (1, 1_000_000),
        assumed="One import of scipy tried about 4,000 files on a later machine of the same center: here 400 in ten places each.",
    )
    tries: int = ask.slider(
        "Search-path entries per library",
        10,
        (1, 60, 1),
        help="Entries of the search path, times the names that are tried in each.",
        assumed="Ten places for each of 400 files make the 4,000 files tried.",
    )
    size_mb: float = ask.number(
        "Total size", 200.0, (0.1, 1_000_000.0, 10.0), unit="MB", assumed="No source prints it."
    )
    servers: int = ask.slider(
        "Servers that work in parallel",
        8,
        (1, 64, 1),
        assumed="No source prints how many there were. With sequential requests, all but one are idle.",
    )
    requests_per_s: float = ask.number(
        "Request rate of a server",
        9000.0,
        (1.0, 10_000_000.0, 100.0),
        unit="1/s",
        help="32,768 tasks that opened 100 files each took six minutes on another machine: 9,100 per second.",
        assumed="From a measurement on another machine; no source gives that of Hopper.",
    )
    server_gb_s: float = ask.number(
        "Read bandwidth of a server",
        1.0,
        (0.001, 10_000.0, 0.1),
        unit="GB/s",
        assumed="No source prints it.",
        advanced=True,
    )
    link_gb_s: float = ask.number(
        "Network bandwidth of a node",
        6.0,
        (0.001, 1000.0, 0.1),
        unit="GB/s",
        help="Documented for the network of Hopper.",
        advanced=True,
    )
    machine_file: str = ask.machine_file()

    def _settings(self, nodes: int = 0) -> dict[str, Any]:
        """Settings of the model, for the nodes of the job or another number."""
        return {
            "nodes": nodes or self.nodes,
            "tasks_per_node": self.tasks_per_node,
            "files": self.files,
            "tries": self.tries,
            "size_mb": self.size_mb,
            "servers": self.servers,
            "requests_per_s": self.requests_per_s,
            "server_gb_s": self.server_gb_s,
            "link_gb_s": self.link_gb_s,
        }

    def time(self, method: Method, nodes: int = 0) -> LoadTime:
        """Time of one way, on the nodes of the job or on another number."""
        return load_time(method, **self._settings(nodes))

    def range_s(self, method: Method) -> tuple[float, float, float]:
        """Minimum, typical and maximum time of one way. [s]"""
        return load_range_s(method, **self._settings())

    @cached_property
    def times(self) -> dict[Method, LoadTime]:
        """Time of each way."""
        return {method: self.time(method) for method in METHODS}

    @property
    def tasks(self) -> int:
        """Tasks of the job."""
        return self.nodes * self.tasks_per_node

    @property
    def best(self) -> Method:
        """The shortest way."""
        return min(METHODS, key=lambda method: self.times[method].total_s)


def answer(job: Job) -> Result:
    """Return the answer.

    Parameters
    ----------
    job : Job
        A job, what each of its tasks loads, and the servers that it loads from.

    Returns
    -------
    Result
        The answer.

    Examples
    --------
    >>> round(answer(Job()).facts['serial_s'])
    2782
    """
    return Result(
        summary=_summary(job),
        findings=(loading_finding(job.times["serial"]),),
        figures=(_times(job),),
        copyables=tuple(_lines(job)),
        tables=(_parts(job),),
        facts={
            "tasks": job.tasks,
            "nodes": job.nodes,
            "files": job.files,
            "best": job.best,
            **{f"{method}_s": time.total_s for method, time in job.times.items()},
        },
    )


def _summary(job: Job) -> str:
    loads = count(job.tasks, "task loads", "tasks load")
    ways: tuple[Method, ...] = ("serial", "cached", "image", "broadcast")
    serial, cached, image, broadcast = (duration(job.times[way].total_s) for way in ways)
    return (
        f"{loads} for {serial} if requests are answered one after another, for {cached} if each node requests once, "
        f"for {image} from one image per node, and for {broadcast} with a broadcast."
    )


def _lines(job: Job) -> Iterator[Snippet]:
    """Yield commands that copy the environment to the nodes, with the machine's launcher."""
    lines = node_lines(job.machine, nodes=job.nodes, tasks=job.tasks)
    if lines is None:
        return
    archive, send = ("/tmp/env.tar", "sbcast env.tar /tmp/env.tar\n") if lines.broadcasts else ("env.tar", "")
    read = "" if lines.broadcasts else "Each node reads the archive itself. "
    yield Snippet(
        f"Copy to each node of {job.machine.title}",
        f"tar cf env.tar -C $CONDA_PREFIX .\n{send}"
        f"{lines.once} sh -c 'mkdir -p /tmp/env && tar xf {archive} -C /tmp/env'\n"
        f"{lines.everywhere} /tmp/env/bin/python program.py",
        f"{read}If /tmp is in memory, the copy uses memory on each node. Paths inside may need conda-pack.",
    )
    yield Snippet(
        "Or pack it into one image",
        "python -m compileall -q $VIRTUAL_ENV\nmksquashfs $VIRTUAL_ENV env.squashfs -noappend -no-recovery\n"
        f"{lines.once} sh -c 'mkdir -p /tmp/env && squashfuse env.squashfs /tmp/env'\n"
        f"{lines.everywhere} /tmp/env/bin/python program.py",
        "Needs squashfuse on the nodes, or a container runtime that mounts the image.",
    )


def _times(job: Job) -> Figure:
    """Return the chart of the time against nodes."""
    sizes = sorted({job.nodes, *(2**power for power in range(max(job.nodes, 4096).bit_length()))})
    nodes = count(job.nodes, "node")
    return chart(
        title="Time to load against nodes",
        alt="; ".join(f"{_WAYS[way]}: {digits(time.total_s, 3)} s on {nodes}" for way, time in job.times.items()),
        x=Axis(title="Nodes", log=True),
        y=Axis(title="Time to load", unit="s", log=True, decimals=3),
        series=[
            Series(name=method, x=sizes, y=[job.time(method, size).total_s for size in sizes]) for method in METHODS
        ],
    )


def _parts(job: Job) -> Table:
    """Return the time of each method by part."""
    return table(
        "Where the time goes",
        METHODS,
        {
            "Way": lambda method: _WAYS[method],
            Column("Looking up", "s", 1, "predicted"): lambda method: job.times[method].lookups_s,
            Column("Reading", "s", 1, "predicted"): lambda method: job.times[method].reads_s,
            Column("Passing on", "s", 1, "predicted"): lambda method: job.times[method].passing_on_s,
            Column("Total", "s", 1, "predicted"): lambda method: job.times[method].total_s,
            Column("At least", "s", 1, "predicted"): lambda method: job.range_s(method)[0],
            Column("At most", "s", 1, "predicted"): lambda method: job.range_s(method)[2],
        },
        marked=(METHODS.index(job.best),),
        marked_label="the shortest",
    )


QUESTION = ask.declared(
    Job,
    answer,
    title="How long does it take to load?",
    examples={
        "A whole machine": {"nodes": 6384},
        "Half the imports": {"files": 200},
        "Everything in one library": {"files": 1, "tries": 1},
    },
)
