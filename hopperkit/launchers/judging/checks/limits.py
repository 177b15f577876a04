"""Partitions, queues, types of GPU, node counts and times of a script, checked against the machine file.

References
----------
SchedMD, Slurm 23.11, sbatch man page (time formats); Altair PBS Professional user's guide (walltime).
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from hopperkit.launchers.batch.node_request import requested_partitions
from hopperkit.launchers.judging._edits import add_directive, set_value
from hopperkit.launchers.judging.job import Job
from hopperkit.launchers.judging.remedies import Draft
from hopperkit.launchers.options import read_options
from hopperkit.launchers.scripts import Directive, Script
from hopperkit.launchers.words.shell import Edit
from hopperlib.finding import Level
from hopperlib.machine import QueueLimit
from hopperlib.placement.components import LaunchError
from hopperlib.text import count

_GPU_OPTIONS = ("--gres", "--gpus", "-G", "--gpus-per-node", "--gpus-per-task", "--gpus-per-socket")
# How each choice is typed; several directives may spell it otherwise.
_SPELLED = {"constraint": "-C", "partition": "-p", "qos": "-q", "account": "-A", "queue": "-q"}
_MOST_LISTED = 12


def check_choices(job: Job) -> Iterator[Draft]:
    r"""Yield a constraint, partition, QOS or queue that the machine does not have.

    Parameters
    ----------
    job : Job
        The job with its script.

    Examples
    --------
    >>> from hopperkit.launchers import read_script
    >>> from hopperlib.machine import Machine
    >>> job = Job(read_script("#SBATCH -p standrad\nsrun ./a"), Machine.load("archer2"), ())
    >>> [draft.remedies[0].words for draft in check_choices(job)]
    ['Write -p standard.']
    """
    machine = job.machine
    if any(directive.option == "--reservation" for directive in job.script.directives):
        return
    for sort, name, line in requested_partitions(job.script):
        known = [each.partition("=")[2] for each in machine.queues if each.startswith(f"{sort}=")]
        # PBS reservations are queues too, with arbitrary names.
        if sort not in machine.complete_queues or name in known:
            continue
        there_are = f" There are: {', '.join(known)}." if 0 < len(known) <= _MOST_LISTED else ""
        problem = f"{sort}={name} does not exist on {machine.title}{job.cited('complete_queues')}.{there_are}"
        level: Level = "advice" if sort == "queue" else "problem"
        import difflib

        close = difflib.get_close_matches(name, known, n=3)
        typed = next((each for each in job.script.directives if each.line == line and name in each.value), None)
        changes = [(_typed(typed, other), set_value(job.script, typed, other)) for other in close if typed]
        plain = f"Choose a {sort} of {machine.title}."
        yield job.draft("asks-unknown", line, problem, plain, level=level, remedies=changes)


def _typed(directive: Directive, value: str) -> str:
    """Return the advice to give an option another value."""
    return f"Write {directive.option}{'=' if directive.option.startswith('--') else ' '}{value}."


def check_gpu_types(job: Job) -> Iterator[Draft]:
    r"""Yield a type of GPU that no kind of node has.

    Parameters
    ----------
    job : Job
        The job with its script.

    Examples
    --------
    >>> from hopperkit.launchers import read_script
    >>> from hopperlib.machine import Machine
    >>> job = Job(read_script("#SBATCH --gres=gpu:h100:4\nsrun ./a"), Machine.load("perlmutter"), ())
    >>> [draft.remedies[0].words for draft in check_gpu_types(job)]
    ['Leave the type out: --gres=gpu:4.']
    """
    kinds = [node for node in job.machine.node_kinds if node.gpu_model]
    paths = [f"node.{node.name}.gpu_model" for node in kinds]
    if not kinds or any(job.machine.provenance[path].source is None for path in paths):
        return
    models = list(dict.fromkeys(node.gpu_model or "" for node in kinds))
    for option, value, line in _options(job.script):
        typed = re.search(r"(?:^|gpu:)(?!gpu\b)([A-Za-z][\w-]*):\d+$", value)
        if option in _GPU_OPTIONS and typed and not _names_a_model(typed[1], models):
            problem = (
                f"the GPUs of {job.machine.title} are {' and '.join(models)}, not {typed[1]}{job.cited(paths[0])}."
            )
            plain = value.replace(f"{typed[1]}:", "")
            words = f"Leave the type out: {option}{'=' * (len(option) > 2)}{plain}."
            edits = _in_line(job.script, line, value, plain)
            yield job.draft("gpu-type-unknown", line, problem, "Leave the type out.", remedies=[(words, edits)])


def _in_line(script: Script, line: int, old: str, new: str) -> tuple[Edit, ...]:
    """Return the edit of a value on one line, in a directive or a launch line."""
    directive = next((each for each in script.directives if each.line == line and each.value == old), None)
    if directive:
        return set_value(script, directive, new)
    words = ((word, place) for each in script.lines if each.line == line for word, place in _placed_words(each))
    return next(
        (
            (Edit(start, end, script.text[start:end].replace(old, new)),)
            for text, (start, end) in words
            if old in text and old in script.text[start:end]
        ),
        (),
    )


def _placed_words(line: object) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the words of a launch line with where they were typed."""
    places, words = line.places[1:], line.words  # type: ignore[attr-defined]
    yield from ((word.text, place) for word, place in zip(words, places, strict=False))


def _names_a_model(typed: str, models: Sequence[str]) -> bool:
    """Whether a GPU type matches one of some models: a100 for NVIDIA A100."""
    plain = re.sub(r"[^a-z0-9]", "", typed.lower())
    words = [word for model in models for word in re.findall(r"[a-z]+\d+\w*", model.lower())]
    return any(word in plain or plain in word for word in words)


def _options(script: Script) -> Iterator[tuple[str, str, int]]:
    """Yield the options of the directives and of the srun lines, with their values and lines."""
    yield from ((each.option, each.value, each.line) for each in script.directives if each.system == "slurm")
    for line in script.lines:
        with suppress(LaunchError):
            given = read_options(line.words, "srun", where="")[0] if line.launcher == "srun" else ()
            yield from ((each.name, each.value, line.line) for each in given)


def minutes_of(text: str) -> float | None:
    """Minutes of a time limit as Slurm and PBS read it; None if it is invalid. [min]

    Parameters
    ----------
    text : str
        Time limit as written in a script.

    Examples
    --------
    >>> minutes_of("30"), minutes_of("1:30:00"), minutes_of("2-12"), minutes_of("soon")
    (30.0, 90.0, 3600.0, None)
    """
    match = re.fullmatch(r"(?:(\d{1,4})-)?(\d{1,7})(?::(\d{1,7}))?(?::(\d{1,7}))?", text)
    if match is None:
        return None
    days, *rest = (int(part) if part else 0 for part in match.groups())
    if match[1]:
        return days * 1440.0 + rest[0] * 60 + rest[1] + rest[2] / 60
    # Without days, two numbers are minutes and seconds.
    return rest[0] * 60.0 + rest[1] + rest[2] / 60 if match[4] else rest[0] + rest[1] / 60


def requested_time(script: Script) -> tuple[float, Directive] | None:
    r"""Return the time limit that a script requests [min] with its directive; None without one.

    Parameters
    ----------
    script : Script
        Batch script.

    Examples
    --------
    >>> from hopperkit.launchers import read_script
    >>> requested_time(read_script("#PBS -l walltime=02:00:00\n"))[0]
    120.0
    """
    for directive in script.directives:
        typed = directive.value if directive.option in ("-t", "--time") else ""
        if directive.system == "pbs":
            walltime = re.search(r"walltime=([\d:]+)", directive.value)
            typed = walltime[1] if walltime else ""
            # PBS reads a plain number as seconds.
            typed = f"0:0:{typed}" if typed.isdigit() else f"0:{typed}" if typed.count(":") == 1 else typed
        minutes = minutes_of(typed)
        if minutes is not None:
            return minutes, directive
    return None


def check_limits(job: Job) -> Iterator[Draft]:
    r"""Yield node counts or times above the site's limit for a partition, a QOS or a queue.

    Parameters
    ----------
    job : Job
        The job with its script.

    Examples
    --------
    >>> from hopperkit.launchers import read_script
    >>> from hopperlib.machine import Machine
    >>> job = Job(read_script("#SBATCH -q debug -C cpu -t 45\nsrun -n 4 ./a"), Machine.load("perlmutter"), ())
    >>> [draft.remedies[0].words for draft in check_limits(job)]
    ['Request 00:30:00 or less.']
    """
    choices = [(f"{sort}={name}", line) for sort, name, line in requested_partitions(job.script)]
    sorts = {choice.partition("=")[0] for choice, _ in choices}
    defaults = {limit.chosen_by for limit in job.machine.limits if limit.by_default}
    left_out = [choice for choice in defaults if choice.partition("=")[0] not in sorts]
    for choice, line in (*choices, *((choice, 0) for choice in left_out)):
        tables = [limit for limit in job.machine.limits if limit.chosen_by == choice]
        if tables:
            yield from _over_limit(job, choice, line, tables)


def _over_limit(job: Job, choice: str, line: int, tables: Sequence[QueueLimit]) -> Iterator[Draft]:
    """Nodes or a time above the limits of one choice; line 0 means a choice that the script omits."""
    nodes = job.nodes
    default = "" if line else f", which is the default{job.cited(f'limit.{tables[0].name}.by_default')}"
    fitting = [each for each in tables if nodes is None or each.min_nodes <= nodes <= (each.max_nodes or nodes)]
    others = list(_other_choices(job, choice, line))
    if fitting:
        yield from _time_over_limit(job, f"{choice}{default}", line, fitting, others)
    else:
        yield _nodes_over_limit(job, f"{choice}{default}", line, tables, others)


def _other_choices(job: Job, choice: str, line: int) -> Iterator[tuple[str, tuple[Edit, ...]]]:
    """Yield the changes to another partition, QOS or queue that has limits."""
    sort, _, name = choice.partition("=")
    typed = next((each for each in job.script.directives if each.line == line and each.value == name), None)
    others = dict.fromkeys(each.chosen_by for each in job.machine.limits)
    for other in (each.partition("=")[2] for each in others if each.startswith(f"{sort}=") and each != choice):
        if typed:
            yield _typed(typed, other), set_value(job.script, typed, other)
        elif not line:
            yield f"Add {_SPELLED[sort]} {other}.", add_directive(job.script, f"{_SPELLED[sort]} {other}")


def _nodes_over_limit(
    job: Job, choice: str, line: int, tables: Sequence[QueueLimit], others: Sequence[tuple[str, tuple[Edit, ...]]]
) -> Draft:
    """Nodes that no table of a choice takes."""
    nodes, most = job.nodes or 0, max(each.max_nodes or 0 for each in tables)
    bound = f"at most {most:,}" if nodes > most else f"at least {min(each.min_nodes for each in tables):,}"
    source = job.cited(f"limit.{tables[0].name}.{'max' if nodes > most else 'min'}_nodes")
    problem = f"{count(nodes, 'node')} with {choice}, which takes {bound}{source}."
    plain, level = "Request a node count within that, or another queue.", "problem" if line else "advice"
    return job.draft("nodes-over-limit", line or _first_line(job), problem, plain, level=level, remedies=others)  # type: ignore[arg-type]


def _time_over_limit(
    job: Job, choice: str, line: int, fitting: Sequence[QueueLimit], others: Sequence[tuple[str, tuple[Edit, ...]]]
) -> Iterator[Draft]:
    """Yield a time over the longest of the tables that take the job's nodes."""
    time, longest = requested_time(job.script), max(fitting, key=lambda each: each.max_minutes or 0)
    most = longest.max_minutes or 0
    if time is None or any(each.max_minutes is None for each in fitting) or time[0] <= most:
        return
    with_nodes = f" of {count(job.nodes, 'node')}" if job.nodes else ""
    source = job.cited(f"limit.{longest.name}.max_minutes")
    problem = f"{_duration(time[0])} with {choice}, whose jobs{with_nodes} run for at most {_duration(most)}{source}."
    value = re.sub(r"(?<=walltime=)[\d:]+", _clock(most), time[1].value) if "=" in time[1].value else _clock(most)
    shorter = (f"Request {_clock(most)} or less.", set_value(job.script, time[1], value))
    plain, level = "Request a shorter time, or another queue.", "problem" if line else "advice"
    yield job.draft("time-over-limit", time[1].line, problem, plain, level=level, remedies=[shorter, *others])  # type: ignore[arg-type]


def _first_line(job: Job) -> int:
    """Return the line of the first directive."""
    return job.script.directives[0].line if job.script.directives else 1


def _duration(minutes: float) -> str:
    """Return minutes in words: 20 min, 48 h."""
    return f"{minutes / 60:.4g} h" if minutes >= 60 else f"{minutes:.4g} min"


def _clock(minutes: int) -> str:
    """Return minutes as a batch system takes them."""
    return f"{minutes // 60:02}:{minutes % 60:02}:00"
