"""Locate a log's jobs in a site's network."""

import csv
import io
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from hopperkit.frames import TableMixin
from hopperkit.readers.jobs import read_job_trace
from hopperkit.readers.jobs.trace import Trace
from hopperkit.readers.networks.hosts import hosts_of
from hopperkit.readers.networks.site_network import SiteNetwork, read_site_network
from hopperkit.readers.source import Source
from hopperkit.traces.group_cost import Ran
from hopperlib.errors import InputError, did_you_mean
from hopperlib.network.fabrics.allocation_spread import AllocationSpread, allocation_spread, group_sizes_of

_METRICS = ("nodes", "groups", "fewest_groups", "switches", "runs", "inside_group", "inside_switch")


class PlacedJob(NamedTuple):
    """A job of a log: its name, location, run and wait. [s]"""

    name: str
    spread: AllocationSpread
    ran: Ran
    wait_s: float


@dataclass(frozen=True, repr=False)
class Placements(TableMixin):
    """The jobs of a log in a network, one row each.

    Parameters
    ----------
    jobs : list of PlacedJob
        Jobs with all nodes in the network.
    left_out : int
        Jobs without nodes or a start, or on nodes outside the network.
    group_sizes : Counter
        Number of nodes in each group.
    """

    jobs: list[PlacedJob]
    left_out: int
    group_sizes: Counter[int]

    def frame_data(self) -> Mapping[str, list[Any]]:
        """Return columns by name: the job, its metrics, wait and run time."""
        metrics = {name: [getattr(job.spread, name) for job in self.jobs] for name in _METRICS}
        times = {"wait_s": [job.wait_s for job in self.jobs], "run_time_s": [job.ran.run_time_s for job in self.jobs]}
        return {"job": [job.name for job in self.jobs]} | metrics | times

    def csv(self) -> str:
        """Return the table as CSV."""
        text, columns = io.StringIO(), self.frame_data()
        csv.writer(text, lineterminator="\n").writerows([columns, *zip(*columns.values(), strict=True)])
        return text.getvalue()


def jobs_in_network(jobs: Source, network: Source) -> Placements:
    r"""Return the locations of a log's jobs: groups and switches used, and the share of nearby node pairs.

    Parameters
    ----------
    jobs : str, bytes, path-like, file or iterable of str
        As for `hopperkit.readers.jobs.read_job_trace`, with the nodes of each job.
    network : str, bytes, path-like, file or iterable of str
        As for `hopperkit.readers.networks.read_site_network`.

    Raises
    ------
    InputError
        If either cannot be read, or no job ran on nodes of the network.

    Examples
    --------
    >>> log = ["JobID|State|Submit|Start|ElapsedRaw|NNodes|NodeList",
    ...        "7|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:10:00|60|3|n[1-3]"]
    >>> frame = jobs_in_network(log, "SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[3-4]\nSwitchName=t Switches=a,b").to_frame()
    >>> print(*frame.loc[0, ["job", "groups", "switches", "wait_s"]])
    7 2 2 600
    """
    return locate_jobs(read_job_trace(jobs), read_site_network(network))


def locate_jobs(trace: Trace, site: SiteNetwork) -> Placements:
    """Return the same for a log and a network that have been read.

    Parameters
    ----------
    trace : Trace
        The job trace.
    site : SiteNetwork
        The site's network.

    Raises
    ------
    InputError
        If no job in the log ran on nodes of the network.

    Examples
    --------
    >>> log = ["JobID|State|Submit|Start|ElapsedRaw|NNodes|NodeList",
    ...        "7|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:10:00|60|2|n[1-2]", "8|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:10:00|60|1|"]
    >>> placements = locate_jobs(read_job_trace(log), read_site_network("SwitchName=a Nodes=n[1-2]"))
    >>> len(placements.jobs), placements.left_out
    (1, 1)
    """
    tree, jobs = site.tree, trace.workload
    number = {name: place for place, name in enumerate(tree.node_names)}
    sizes, placed = group_sizes_of(tree), []
    for index, start_s in enumerate(jobs.observed_start_s):
        names = _hosts(jobs.word("node_list", index))
        places = [number[name] for name in names if name in number]
        if names and len(places) == len(names) and start_s >= 0:
            kind = jobs.user[index], jobs.nodes[index], jobs.requested_time_s[index], jobs.word("queue", index)
            ran = Ran(kind, jobs.run_time_s[index], start_s, Counter(map(tree.group_of, places)))
            name = trace.names.get(jobs.job[index], str(jobs.job[index]))
            spread = allocation_spread(tree, places, rates=False, group_sizes=sizes)
            placed.append(PlacedJob(name, spread, ran, start_s - jobs.submit_time_s[index]))
    if not placed:
        listed = [names for names in map(_hosts, jobs.words["node_list"]) if names]
        if not listed:
            raise InputError("no job in the log has a node list; include NodeList in sacct's output")
        example = next((name for names in listed for name in names if name not in number), "")
        if not example:
            raise InputError("no job in the log that ran on nodes of the network has a start time")
        known = did_you_mean(example, number)
        raise InputError(f"no job in the log ran on nodes of the network only: it has no {example!r}{known}")
    return Placements(placed, len(jobs) - len(placed), sizes)


def _hosts(text: str) -> list[str]:
    """Return the hosts of a job; empty if the list cannot be read."""
    try:
        return hosts_of(text)
    except InputError:
        return []
