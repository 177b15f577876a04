"""Jobs for the scheduler, stored in columns.

A year of a large machine is a million jobs. Separate objects would take hundreds of megabytes; integer columns take a
few dozen bytes per job. Times are whole seconds, so that a run gives the same bytes everywhere.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from hopperlib.errors import InputError
from hopperlib.tables import Columns


class Job(NamedTuple):
    """One batch job: its request and, if a trace has it, its observed schedule.

    Parameters
    ----------
    job : int
        Its number in the trace.
    submit_time_s, run_time_s, requested_time_s : int
        Submission time, run time if not killed, and requested limit. [s]
    nodes : int
        Whole nodes.
    user : int
        Number of the user; 0 if unknown.
    queue : str
        Its queue or partition; empty if unknown.
    eligible_time_s : int or None
        Earliest start (``--begin``, holds, dependencies); None: at submission. [s]
    observed_start_s : int or None
        Observed start; None if unknown. [s]
    cores, gpus, memory_mb : int
        Totals over all its nodes; 0 if unknown or none. [-, -, MiB]
    account, qos, state : str
        Names in the trace; empty if unknown.
    node_list : str
        The nodes that it used, as named in the trace.
    licences : str
        Licenses in use while it runs, such as ``matlab:2,ansys``; empty for none.
    """

    job: int
    submit_time_s: int
    nodes: int
    run_time_s: int
    requested_time_s: int
    user: int = 0
    queue: str = ""
    eligible_time_s: int | None = None
    observed_start_s: int | None = None
    cores: int = 0
    gpus: int = 0
    memory_mb: int = 0
    account: str = ""
    qos: str = ""
    state: str = ""
    node_list: str = ""
    licences: str = ""


# Storage of each field: numbers unchanged, -1 for None; words as indices into a list of words ("w").
_KEPT = dict(zip(Job._fields, "qqiqqqwqqiiqwwwww", strict=True))
#: Fields that hold words.
WORDS = frozenset(name for name, kind in _KEPT.items() if kind == "w")
_BATCH = 4096


def _jobs_of(table: Any) -> Iterator[Job]:
    """Yield the jobs of a DataFrame."""
    missing = [name for name in Job._fields if name not in table.columns and name not in Job._field_defaults]
    if missing:
        raise InputError(f"the table of jobs has no column {missing[0]!r}; it needs: {', '.join(Job._fields[:5])}")
    names = [name for name in Job._fields if name in table.columns]
    filled = (table[name].astype(object).where(table[name].notna(), Job._field_defaults.get(name)) for name in names)
    whole = [column if name in WORDS else map(_whole, column) for name, column in zip(names, filled, strict=True)]
    for values in zip(*whole, strict=True):
        yield Job(**dict(zip(names, values, strict=True)))


def _whole(value: Any) -> int | None:
    return None if value is None else int(value)


def _kept(name: str, values: Sequence[Any], numbers: Mapping[str, dict[str, int]]) -> Sequence[int]:
    """Return values of a field in stored form; new words are added to its list."""
    if name in WORDS:
        known = numbers[name]
        return [known.setdefault(word, len(known)) for word in values]
    if name in ("eligible_time_s", "observed_start_s"):
        return [-1 if value is None else value for value in values]
    return values


def _is_sorted(times: Sequence[int]) -> bool:
    """Whether times never decrease."""
    return all(map(int.__le__, times, islice(times, 1, None)))


class Workload(Columns):
    """Jobs in the order in which they may start: of submission, unless one is eligible later; ties keep their order.

    Each field of `Job` is a column of the same name; words are stored as the columns ``queue_number``,
    ``account_number``, ``qos_number``, ``state_number``, ``node_list_number`` and ``licences_number``, with the words
    in `words`.

    Parameters
    ----------
    jobs : iterable of Job, or DataFrame
        A DataFrame has a row for each job and columns named as in `Job`; other columns are ignored.

    Raises
    ------
    InputError
        If a job has no nodes or a negative time; the message names the job.

    Examples
    --------
    >>> workload = Workload([Job(1, 60, 4, 100, 200), Job(2, 0, 1, 50, 50)])
    >>> len(workload), [job.job for job in workload], workload.node_seconds
    (2, [2, 1], 450)
    >>> workload
    Workload(2 jobs)
    """

    job: array[int]
    submit_time_s: array[int]
    arrival_s: array[int]
    nodes: array[int]
    run_time_s: array[int]
    requested_time_s: array[int]
    user: array[int]
    queue_number: array[int]
    eligible_time_s: array[int]
    observed_start_s: array[int]
    cores: array[int]
    gpus: array[int]
    memory_mb: array[int]
    account_number: array[int]
    qos_number: array[int]
    state_number: array[int]
    node_list_number: array[int]
    licences_number: array[int]

    def __init__(self, jobs: Iterable[Job] = ()) -> None:
        # : Names of users by number, if a trace has them.
        self.users: Mapping[int, str] = {}
        self._columns = [array("i" if kind == "w" else kind) for kind in _KEPT.values()]
        numbers: dict[str, dict[str, int]] = {name: {} for name in sorted(WORDS)}
        rest = iter(_jobs_of(jobs) if hasattr(jobs, "iloc") else jobs)
        # In batches: rows are converted to columns at once, and only one batch of jobs is stored as objects.
        while batch := list(islice(rest, _BATCH)):
            for name, column, values in zip(Job._fields, self._columns, zip(*batch, strict=True), strict=True):
                column.extend(_kept(name, values, numbers))
        self._settle(numbers)

    @classmethod
    def of_columns(cls, **columns: Sequence[Any]) -> Workload:
        """Return jobs from columns named as in `Job`, faster than one by one; missing columns are unknown.

        Examples
        --------
        >>> columns = {"nodes": (4, 1), "run_time_s": (100, 50), "requested_time_s": (200, 50)}
        >>> Workload.of_columns(job=(1, 2), submit_time_s=(60, 0), **columns)[0].job
        2
        """
        jobs, count = cls(), len(columns["job"])
        numbers: dict[str, dict[str, int]] = {name: {} for name in sorted(WORDS)}
        for name, column in zip(Job._fields, jobs._columns, strict=True):
            kept = _kept(name, columns.get(name, (Job._field_defaults.get(name),)), numbers)
            column.extend(kept if name in columns else [*kept] * count)
        jobs._settle(numbers)
        return jobs

    def _settle(self, numbers: Mapping[str, Mapping[str, int]]) -> None:
        """Store the words by number, check the jobs, and sort them."""
        #: The words of each field that holds words.
        self.words: dict[str, list[str]] = {name: list(known) for name, known in numbers.items()}
        self._name_columns()
        self._check()
        self.sorted_on_entry = _is_sorted(self.submit_time_s)
        if not _is_sorted(self.arrival_s):
            # Python's sort keeps equal ones in place.
            self._take(sorted(range(len(self)), key=self.arrival_s.__getitem__))

    def _name_columns(self) -> None:
        """Make every column an attribute; `arrival_s` is the earliest start of a job."""
        for name, column in zip(Job._fields, self._columns, strict=True):
            setattr(self, f"{name}_number" if name in self.words else name, column)
        self.arrival_s = self.submit_time_s
        if any(map(int.__gt__, self.eligible_time_s, self.submit_time_s)):
            self.arrival_s = array("q", map(max, self.submit_time_s, self.eligible_time_s))

    def _take(self, rows: Sequence[int]) -> None:
        """Keep these rows, in this order."""
        self._columns = [array(column.typecode, [column[row] for row in rows]) for column in self._columns]
        self._name_columns()

    def _check(self) -> None:
        """Reject invalid jobs."""
        # Check whole columns first, and single jobs only to name the invalid one.
        if not len(self) or (
            min(self.nodes) > 0 <= min(map(min, (self.submit_time_s, self.run_time_s, self.requested_time_s)))
        ):
            return
        for job in self:
            if job.nodes < 1:
                raise InputError(f"job {job.job}: nodes={job.nodes} must be at least 1")
            if min(job.submit_time_s, job.run_time_s, job.requested_time_s) < 0:
                raise InputError(
                    f"job {job.job}: submit_time_s={job.submit_time_s}, run_time_s={job.run_time_s} and "
                    f"requested_time_s={job.requested_time_s} must not be negative"
                )

    @property
    def queues(self) -> list[str]:
        """Names of the queues, by their number."""
        return self.words["queue"]

    def of(self, rows: Sequence[int]) -> Workload:
        """Return the jobs of some rows, in the order of the rows.

        Parameters
        ----------
        rows : sequence of int
            Indices of the jobs.

        Examples
        --------
        >>> Workload([Job(1, 0, 4, 100, 200), Job(2, 0, 1, 50, 50)]).of([1])[0].job
        2
        """
        part = Workload()
        part.words, part._columns, part.users = self.words, self._columns, self.users
        part._take(rows)
        return part

    def group(self, per: str, of: str = "") -> tuple[Sequence[int], int | None]:
        """Return the column of users, accounts, QOS or queues, and the number of one of them: None without a name, -1
        if it does not occur.

        Parameters
        ----------
        per : str
            ``user``, ``account``, ``qos`` or ``queue``.
        of : str, default ''
            Name of one of them; empty for none.

        Examples
        --------
        >>> jobs = Workload([Job(1, 0, 4, 100, 200, 7, "debug"), Job(2, 0, 1, 50, 50, 8, "long")])
        >>> list(jobs.group("queue", "long")[0]), jobs.group("queue", "long")[1], jobs.group("user", "7")[1]
        ([0, 1], 1, 7)
        """
        column: Sequence[int] = self.user if per == "user" else getattr(self, f"{per}_number")
        if not of:
            return column, None
        if per == "user":
            known = (number for number, name in self.users.items() if name == of)
            return column, next(known, int(of) if of.isdecimal() and len(of) < 10 else -1)
        return column, self.words[per].index(of) if of in self.words[per] else -1

    def licences(self) -> dict[str, dict[int, int]]:
        """Return, by license, the number that each job with such a license uses.

        Examples
        --------
        >>> Workload([Job(1, 0, 1, 9, 9, licences="matlab:2,ansys"), Job(2, 0, 1, 9, 9)]).licences()
        {'matlab': {0: 2}, 'ansys': {0: 1}}
        """
        held: dict[str, dict[int, int]] = {}
        for job, number in enumerate(self.licences_number):
            for part in filter(None, re.split("[,|; ]", self.words["licences"][number])):
                name, _, tokens = part.replace("=", ":").partition(":")
                held.setdefault(name, {})[job] = int(tokens[:9]) if tokens.isdecimal() else 1
        return held

    def word(self, name: str, index: int) -> str:
        """Return the word of a job: its queue, account, qos, state or node_list.

        Parameters
        ----------
        name : str
            ``queue``, ``account``, ``qos``, ``state`` or ``node_list``.
        index : int
            Index of the job.
        """
        number: int = getattr(self, f"{name}_number")[index]
        return self.words[name][number]

    def frame_data(self) -> dict[str, Any]:
        """Return the columns by the names of `Job`, words as texts; entirely unknown columns are left out."""
        columns = dict(zip(Job._fields, self._told(), strict=True))
        always = Job._fields[: Job._fields.index("user")]
        known = (
            name for name in columns if name in always or any(value not in (0, None, "") for value in columns[name])
        )
        return {name: columns[name] for name in known}

    def __repr__(self) -> str:
        return f"Workload({len(self):,} jobs)"

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if type(self) is type(other) else NotImplemented

    __hash__ = object.__hash__

    def __len__(self) -> int:
        return len(self.job)

    def _told(self, rows: slice = slice(None)) -> Iterator[Sequence[Any]]:
        """Yield the fields of some jobs in the form of `Job`."""
        for name, column in zip(Job._fields, self._columns, strict=True):
            if name in self.words:
                yield [self.words[name][number] for number in column[rows]]
            elif name in ("eligible_time_s", "observed_start_s"):
                yield [None if value < 0 else value for value in column[rows]]
            else:
                yield column[rows]

    def __getitem__(self, index: int) -> Job:
        index = range(len(self))[index]
        return Job(*(values[0] for values in self._told(slice(index, index + 1))))

    def __iter__(self) -> Iterator[Job]:
        return map(Job._make, zip(*self._told(), strict=True))

    @property
    def node_seconds(self) -> int:
        """Node-seconds of all jobs, if each runs its full time. [s]"""
        return sum(nodes * run for nodes, run in zip(self.nodes, self.run_time_s, strict=True))
