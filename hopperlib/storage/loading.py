"""Time for a job to load its shared libraries or Python modules. Each task searches for each file in several places,
and every try is a request to a metadata server; then each node reads the file. The methods differ in the requesters and
the servers:

=========  ==============================================================================
serial     every task sends requests, and one server answers them one after another
parallel   every task sends requests, and the servers answer in parallel
cached     one task per node sends requests, and the node caches the answers for the others
broadcast  one task of the job sends requests and reads, and broadcasts the files along a tree of nodes
image      everything is in one file, a squashfs image or a container, which each node opens and reads
=========  ==============================================================================

Simultaneous requests share the servers by the law of `hopperlib.contention.saturation`: a few are served as fast as one
alone, many as fast as the servers can, and where both rates are about equal they wait for each other. The law never
falls. Real servers do under overload: of 35 public curves of metadata servers, seven fall by more than 20 % beyond
their maximum, and no known property predicts which. `load_range_s` includes them.

Not modeled: other users of the same servers, and the linking itself, which each task does with all five methods. A copy
to the nodes (sbcast, then unpacked to /tmp) corresponds to the broadcast.
"""

import math
from typing import Any, Literal, NamedTuple, get_args

from hopperlib.contention.saturation import Kind, spread_of, throughput
from hopperlib.errors import above, at_least, refusal
from hopperlib.finding import Finding

Method = Literal["serial", "parallel", "cached", "broadcast", "image"]
METHODS: tuple[Method, ...] = get_args(Method)
# Resources shared by lookups, and by reads.
_KINDS: tuple[Kind, Kind] = ("metadata", "own-files")
# Times below this need no improvement. [s]
_SHORT_S = 60


class LoadTime(NamedTuple):
    """Time to load all files, in its parts.

    Parameters
    ----------
    lookups_s, reads_s, passing_on_s : float
        Requests for metadata, reads from the servers, and the broadcast along the tree. [s]
    """

    lookups_s: float
    reads_s: float
    passing_on_s: float

    @property
    def total_s(self) -> float:
        """Total time. [s]"""
        return sum(self)


def load_time(
    method: Method,
    *,
    nodes: int,
    tasks_per_node: int,
    files: int,
    tries: float,
    size_mb: float,
    servers: int,
    requests_per_s: float,
    server_gb_s: float,
    link_gb_s: float,
) -> LoadTime:
    """Compute the time for a job to load its files.

    Parameters
    ----------
    method : {"serial", "parallel", "cached", "broadcast", "image"}
    nodes, tasks_per_node : int
    files : int
        Libraries or modules of a task.
    tries : float
        Search-path entries tried for each file, including the one where it is found.
    size_mb : float
        Total size. [MB]
    servers : int
        Servers that can answer in parallel.
    requests_per_s : float
        Request rate of one server. [1/s]
    server_gb_s, link_gb_s : float
        Rate of one server to its clients, and receive rate of a node. [GB/s]

    Raises
    ------
    InputError
        If a quantity is out of its range.

    Examples
    --------
    A thousand nodes of 24 tasks whose imports try 4,000 files:

    >>> job = {"nodes": 1000, "tasks_per_node": 24, "files": 400, "tries": 10, "size_mb": 200, "servers": 8,
    ...        "requests_per_s": 20_000, "server_gb_s": 1.0, "link_gb_s": 6.0}
    >>> [round(load_time(method, **job).total_s) for method in METHODS]
    [5000, 625, 50, 1, 25]
    """
    if method not in METHODS:
        raise refusal("method", method, f"must be one of: {', '.join(METHODS)}")
    at_least(1, nodes=nodes, tasks_per_node=tasks_per_node, files=files, tries=tries, servers=servers)
    above(0, requests_per_s=requests_per_s, server_gb_s=server_gb_s, link_gb_s=link_gb_s, size_mb=size_mb)
    asking, reading = _users(method, nodes, tasks_per_node)
    # For an image, only its name is looked up on the servers; other names are found inside it, on the node.
    looked_up = 1 if method == "image" else files * tries
    lookups_s, read_s = looked_up / requests_per_s, size_mb / 1e3 / server_gb_s
    # No task is served by more than one server at a time.
    side_by_side = 1 if method == "serial" else servers
    levels = math.ceil(math.log2(nodes)) if method == "broadcast" else 0
    return LoadTime(
        lookups_s * asking / throughput(asking, 1.0, side_by_side),
        read_s * reading / throughput(reading, 1.0, side_by_side),
        levels * size_mb / 1e3 / link_gb_s,
    )


def load_range_s(method: Method, **job: Any) -> tuple[float, float, float]:
    """Least, usual and greatest time to load all files, an interval for 80 % of public servers. [s]

    The throughput of servers varies about the law as on the public curves of metadata servers and of file reads; the
    broadcast time does not vary.

    Parameters
    ----------
    method : {"serial", "parallel", "cached", "broadcast", "image"}
    **job
        As in `load_time`.

    Raises
    ------
    InputError
        As in `load_time`.

    Examples
    --------
    >>> job = {"nodes": 1000, "tasks_per_node": 24, "files": 400, "tries": 10, "size_mb": 200, "servers": 8,
    ...        "requests_per_s": 20_000, "server_gb_s": 1.0, "link_gb_s": 6.0}
    >>> [round(end) for end in load_range_s("parallel", **job)]
    [544, 625, 1053]
    """
    usual = load_time(method, **job)
    users = _users(method, job["nodes"], job["tasks_per_node"])
    ends = [usual.passing_on_s, usual.passing_on_s]
    for part_s, count, kind in zip(usual[:2], users, _KINDS, strict=True):
        # A single user is as fast as specified.
        low, high = spread_of(kind) if count > 1 else (1.0, 1.0)
        ends = [ends[0] + part_s / high, ends[1] + part_s / low]
    return ends[0], usual.total_s, ends[1]


def _users(method: Method, nodes: int, tasks_per_node: int) -> tuple[int, int]:
    """Return the number of simultaneous lookups, and of simultaneous reads."""
    looking_up = {"broadcast": 1, "cached": nodes, "image": nodes}.get(method, nodes * tasks_per_node)
    return looking_up, 1 if method == "broadcast" else nodes


def loading_finding(serial: LoadTime) -> Finding:
    """Return the change that would reduce the loading time most.

    Parameters
    ----------
    serial : LoadTime
        Loading with one request after another.

    Examples
    --------
    >>> loading_finding(LoadTime(lookups_s=300.0, reads_s=20.0, passing_on_s=0.0)).code
    'lookups'
    """
    if serial.total_s < _SHORT_S:
        message = "Even the slowest way takes less than a minute, so there is nothing to improve at this size."
        return Finding("short", message, "ok")
    if serial.lookups_s > serial.reads_s:
        message = (
            "Most of the time goes into looking for files, not into reading them. "
            "Fewer imports, a shorter search path or a single archive help more than smaller files."
        )
        return Finding("lookups", message)
    return Finding("reads", "Most of the time goes into reading the files. Copy them to the nodes once.")
