"""A site's rules: queues, priorities, and limits.

NERSC changed its queues over the years. ``queues.toml`` has two of three archived versions of the page that lists them,
from February 2013 and the last one. No version is from 2011, the period of the studies. Two more tables there are
orders without queues.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple

from hopperlib.errors import InputError
from hopperlib.scheduling.workload import Job, Workload
from hopperlib.schema import key, read_record, read_toml

ORDERS: tuple[str, ...] = ("submission", "size", "length", "multifactor")
# Slurm's weights have 32 bits.
_HEAVIEST = 4_294_967_295


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """Limit on the concurrent use of one user, account, QOS or queue; jobs above it wait without blocking others.

    Parameters
    ----------
    per : {"user", "account", "qos", "queue", "licence"}
    of : str
        The one to which it applies; empty for each one. A license has a name.
    jobs, nodes : int or None
        Maximum that run at a time; None for no limit. For a license, `jobs` is the number of licenses.
    """

    per: Literal["user", "account", "qos", "queue", "licence"] = key(name="per")
    of: str = ""
    jobs: int | None = key(None, low=1)
    nodes: int | None = key(None, low=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Weights of Slurm's multifactor priority, and limits.

    A job's priority is the sum of weight times factor, each factor from 0 to 1 [1]_: waiting time since it was eligible
    over `max_age_days`, at most 1; its share of the nodes; the table values of its queue and QOS; and 2 ** (-usage /
    share), with usage the decayed node-seconds of its user over those of all, and share one over the number of users;
    with `shares`, those of its account. It is computed when a job is submitted, and for all waiting jobs at events at
    least `period_s` after the last time.

    Parameters
    ----------
    age, size, queue, qos, fair_share : float
        Weights, at most 4,294,967,295 as Slurm's, which have 32 bits.
    max_age_days, half_life_days : float
        [days]
    period_s : int
        [s]
    queue_factors, qos_factors, shares : mapping of str to float
    limits : tuple of Limit
    first : tuple of str
        "qos", "queue" or "user", and the name whose jobs go before all others.

    References
    ----------
    .. [1] SchedMD, "Multifactor Priority Plugin" (PriorityWeightAge and the others, PriorityDecayHalfLife,
       PriorityMaxAge, PriorityCalcPeriod) and "Classic Fairshare Algorithm".
    """

    age: float = key(0.0, low=0, high=_HEAVIEST)
    size: float = key(0.0, low=0, high=_HEAVIEST)
    queue: float = key(0.0, low=0, high=_HEAVIEST)
    qos: float = key(0.0, low=0, high=_HEAVIEST)
    fair_share: float = key(0.0, low=0, high=_HEAVIEST)
    max_age_days: float = key(7.0, above=0)
    half_life_days: float = key(7.0, above=0)
    period_s: int = key(300, low=1)
    queue_factors: Mapping[str, float] | None = None
    qos_factors: Mapping[str, float] | None = None
    shares: Mapping[str, float] | None = None
    limits: tuple[Limit, ...] = key((), name="limit")
    first: tuple[str, ...] = ()


class Closure(NamedTuple):
    """A period in which no job with a requested time above a limit starts: running jobs continue. [s]"""

    start_s: int
    end_s: int
    over_s: int


def fixed_priorities(workload: Workload, order: str, rules: Rules, nodes: int) -> list[float] | None:
    """Return the constant part of each job's priority, as sort values with the highest first; None if all are equal.

    Parameters
    ----------
    workload : Workload
        The jobs.
    order : str
        Name of the node order.
    rules : Rules
        The rules.
    nodes : int
        Number of nodes.

    Raises
    ------
    InputError
        If there is no such order.

    Examples
    --------
    >>> from hopperlib.scheduling.workload import Job
    >>> fixed_priorities(Workload([Job(1, 0, 4, 60, 90), Job(2, 0, 2, 60, 60)]), "length", Rules(), 8)
    [-90, -60]
    """
    if order not in ORDERS:
        raise InputError(f"queue_order={order!r} must be one of: {', '.join(ORDERS)}", name="queue_order")
    values = _values(workload, order, rules, nodes)
    if not rules.first:
        return values
    per, name = rules.first
    column, number = workload.group(per, name)
    values = values or [0.0] * len(workload)
    ahead = 1.0 + max(values, default=0) - min(values, default=0) + rules.age + rules.fair_share
    return [value + ahead * (group == number) for value, group in zip(values, column, strict=True)]


def _values(workload: Workload, order: str, rules: Rules, nodes: int) -> list[float] | None:
    """Return the sort values of a queue order."""
    if order == "submission":
        return None
    if order == "size":
        return list(workload.nodes)
    if order == "length":
        return [-limit for limit in workload.requested_time_s]
    queues = [rules.queue * (rules.queue_factors or {}).get(name, 0.0) for name in workload.queues]
    qos = [rules.qos * (rules.qos_factors or {}).get(name, 0.0) for name in workload.words["qos"]]
    return [
        queues[queue] + qos[quality] + rules.size * width / nodes
        for queue, quality, width in zip(workload.queue_number, workload.qos_number, workload.nodes, strict=True)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """A batch queue.

    Its fields are those of a row of ``queues.toml``.

    Parameters
    ----------
    name : str
    priority : int
        Lower values go first, as in NERSC's tables.
    nodes : (int, int) or None
        Range of job sizes. [nodes]
    max_hours : float or None
        Longest requested time. [h]
    run_limit : int or None
        Jobs of one user that may run at a time.
    charge_factor : float
        Charge per hour; in the file ``charge``.
    regular : bool
        Whether jobs that name no queue of the table go here.

    Examples
    --------
    >>> Queue(name="debug", nodes=(1, 512)).check(Job(7, 0, 600, 60, 60))
    Traceback (most recent call last):
    hopperlib.errors.InputError: job 7 requests nodes=600; queue 'debug' allows 1 to 512
    """

    name: str
    priority: int = key(0, required=True)
    nodes: tuple[int, int] | None = key(None, required=True, low=1, form="[fewest, most] nodes, whole numbers")
    max_hours: float | None = key(None, required=True, above=0)
    run_limit: int | None = key(None, low=1)
    charge_factor: float = key(1.0, name="charge", low=0)
    regular: bool = False

    @property
    def max_time_s(self) -> int | None:
        """Longest requested time. [s]"""
        return None if self.max_hours is None else round(3600 * self.max_hours)

    def takes(self, nodes: int, requested_time_s: int) -> bool:
        """Whether a job of this size and limit may go here.

        Parameters
        ----------
        nodes : int
            Nodes of a job.
        requested_time_s : int
            Requested time of the job. [s]
        """
        low, high = self.nodes or (1, nodes)
        longest = self.max_time_s
        return low <= nodes <= high and (longest is None or requested_time_s <= longest)

    def check(self, job: Job) -> None:
        """Reject a job that is not allowed in this queue.

        Parameters
        ----------
        job : Job
            The job.

        Raises
        ------
        InputError
            If the job is too narrow, too wide or too long.
        """
        low, high = self.nodes or (1, job.nodes)
        if not low <= job.nodes <= high:
            raise InputError(f"job {job.job} requests nodes={job.nodes}; queue {self.name!r} allows {low} to {high}")
        if not self.takes(job.nodes, job.requested_time_s):
            raise InputError(
                f"job {job.job} requests requested_time_s={job.requested_time_s}; queue {self.name!r} allows at most "
                f"{self.max_time_s} s"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueTable:
    """Inputs of the queue order: queues as listed on a page, and the rules of a site.

    Parameters
    ----------
    queues : tuple of Queue
        In the file ``queue``.
    like : str
        Name of a table whose queues are used, instead of a list.
    order : {"submission", "size", "length", "multifactor"}
        Order within one priority: by submission, widest first, shortest limit first, or by the weights of `rules`.
    rules : Rules
        Weights of the multifactor order, and limits on concurrent use.
    title : str
        Its title and date.
    source : str
        Source of the table.
    notes : tuple of str
        Omissions and errors of the page.
    name : str
        Its heading in the file.
    """

    queues: tuple[Queue, ...] = key((), name="queue", least=0)
    like: str = ""
    order: Literal["submission", "size", "length", "multifactor"] = "submission"
    rules: Rules = Rules()
    title: str = ""
    source: str = ""
    notes: tuple[str, ...] = ()
    name: str = ""


@cache
def _tables() -> dict[str, QueueTable]:
    """Read the data file, once."""
    return read_queues(files("hopperlib.scheduling").joinpath("queues.toml").read_text(encoding="utf-8"))


def read_queues(text: str) -> dict[str, QueueTable]:
    r"""Return the tables of a TOML text in the form of ``queues.toml``.

    Parameters
    ----------
    text : str
        Contents of a TOML file with ``[[queue]]`` tables.

    Raises
    ------
    TableError
        If it is not TOML, or a table is invalid; the message lists all errors.
    InputError
        If a table is empty, or `like` names no table.

    Examples
    --------
    >>> mine = read_queues('[mine]\nlike = "hopper-final"\n[mine.rules]\nage = 1000\n[[mine.rules.limit]]\nper = "user"\njobs = 3')
    >>> len(mine["mine"].queues), mine["mine"].rules.age, mine["mine"].rules.limits[0].jobs
    (11, 1000, 3)
    >>> read_queues('[ours]\nqueue = [{name = "1", nodes = [1, 8], max_hours = 2, priority = 1}]')["ours"].queues[0].max_time_s
    7200
    """
    return queues_of(read_toml(text, name="queues"))


def queues_of(document: Mapping[str, Any]) -> dict[str, QueueTable]:
    """Return the tables of a parsed file, as `read_queues` does.

    Parameters
    ----------
    document : mapping of str to Any
        Output of the TOML parser.

    Raises
    ------
    InputError
        If a table is invalid; the message lists its errors.

    Examples
    --------
    >>> queues_of({"own": {}})
    Traceback (most recent call last):
    hopperlib.errors.InputError: own: is empty: a table has queues ([[queue]], or like), an order, or rules
    """
    tables = {}
    for name, table in document.items():
        listed = read_record(QueueTable, table if isinstance(table, dict) else {}, name=name)
        if listed == QueueTable():
            raise InputError(f"{name}: is empty: a table has queues ([[queue]], or like), an order, or rules")
        queues = queue_table(listed.like).queues if listed.like else listed.queues
        tables[name] = replace(listed, name=name, title=listed.title or name, queues=queues)
    return tables


def put_into_queues(workload: Workload, table: QueueTable) -> tuple[Workload, int, list[int]]:
    """Return the workload with every job in a queue of the table, and the assignments made.

    A job stays in the queue that it names, if the table has it. Otherwise it goes to the first regular queue that
    allows its nodes and limit or, without one, to the first queue that does.

    Parameters
    ----------
    workload : Workload
        The jobs.
    table : QueueTable
        The queues.

    Returns
    -------
    (Workload, int, list of int)
        The jobs; the number of jobs in a queue that they did not name; and the indices of jobs that no queue allows, or
        not the one that they name.

    Examples
    --------
    >>> jobs, named, refused = put_into_queues(Workload([Job(1, 0, 700, 60, 3600)]), queue_table("hopper-final"))
    >>> jobs[0].queue, named, refused
    ('reg_med', 1, [])
    """
    named = {queue.name: queue for queue in table.queues}
    choices = sorted(table.queues, key=lambda queue: not queue.regular)
    placed, given, refused = [], 0, []
    for index, job in enumerate(workload):
        queue_ = named.get(job.queue)
        if queue_ is None:
            queue_ = next((queue for queue in choices if queue.takes(job.nodes, job.requested_time_s)), None)
            given += queue_ is not None
        if queue_ is None or not queue_.takes(job.nodes, job.requested_time_s):
            refused.append(index)
        placed.append(job if queue_ is None else job._replace(queue=queue_.name))
    return Workload(placed), given, refused


def queue_tables() -> tuple[str, ...]:
    """Return the names of the tables in the library.

    Examples
    --------
    >>> queue_tables()
    ('hopper-2013', 'hopper-final', 'widest-first', 'shortest-first')
    """
    return tuple(_tables())


def queue_table(name: str) -> QueueTable:
    """Return a table of queues.

    Parameters
    ----------
    name : str
        Name of a table in the library.

    Raises
    ------
    InputError
        If there is no table of that name.

    Examples
    --------
    >>> {queue.name: queue.charge_factor for queue in queue_table("hopper-2013").queues if queue.name.startswith("reg_m")}
    {'reg_med': 0.6}
    """
    tables = _tables()
    if name not in tables:
        raise InputError(f"there is no queue table {name!r}; there are: {', '.join(tables)}")
    return tables[name]
