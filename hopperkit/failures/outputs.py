"""Many outputs at once: the files of each job, and a one-row summary of each diagnosis."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hopperlib.failure.diagnosis.causes import Cause
from hopperlib.failure.diagnosis.diagnosis import Diagnosis, Verdict, diagnose
from hopperlib.failure.diagnosis.failing_rank import FirstFailure, first_failure
from hopperlib.failure.messages._tasks import expanded

# How the names of a job's two streams differ: job.e123 and job.o123, job-1.err and job-1.out.
_STREAM = re.compile(r"(?<=[._-])e(?=\d)|(?<=[._-])err(?=$|[._-])|stderr")
# Forms of a node list in a job's output, within this distance of its beginning. [bytes]
_NODES = re.compile(
    r"\b(?:SLURM_(?:JOB_)?NODELIST|node ?list|(?:running )?on (?:nodes?|hosts?)|nodes?|hosts?|hostname)\b"
    r"\W{1,6}((?:[A-Za-z][\w.-]{0,40}(?:\d[\w.-]{0,20}|\[[\d,-]{1,400}\]),? ?){1,2000})",
    re.IGNORECASE,
)
_HEAD = 16_384
# Evidence of different jobs: a time, a job number, or this many affected tasks.
_DATED = re.compile(r"\d\d:\d\d:\d\d|(?i:job|step|pid)\D{0,12}\d{4}")
_FOLLOWED = 8


@dataclass(frozen=True, slots=True)
class OutputRow:
    """One-line summary of a job's diagnosis.

    Parameters
    ----------
    file : str
        Its first file.
    verdict : {"cause", "failed", "no-cause", "succeeded"}
    code, title, confidence, who : str
        Code of the first cause; empty if there is no cause.
    node : str
        The node that failed first, if the text shows it.
    task : int or None
        The first task named by a launcher.
    followed : int
        Number of tasks named after that.
    text : str
        The line of the cause.
    nodes : tuple of str
        The nodes of the job, if its first lines name them.
    ending : str
        The lines of its cause without the node, if they contain a time, a job number or many tasks: these are unique to
        a job.
    """

    file: str
    verdict: Verdict
    code: str
    title: str
    confidence: str
    who: str
    node: str
    task: int | None
    followed: int
    text: str
    nodes: tuple[str, ...] = ()
    ending: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain data, without the node list and the lines of the cause."""
        return {name: value for name, value in asdict(self).items() if name not in ("nodes", "ending")}


def jobs_of(paths: Iterable[Path]) -> list[tuple[Path, ...]]:
    """Return the files of each job together: standard output and standard error differ by a word in their names.

    Parameters
    ----------
    paths : iterable of Path
        Files and folders.

    Examples
    --------
    >>> jobs_of([Path("a.err"), Path("a.out"), Path("b.log"), Path("job.e7"), Path("job.o7")])
    ... # doctest: +ELLIPSIS
    [(...('a.out'), ...('a.err')), (...('b.log'),), (...('job.o7'), ...('job.e7'))]
    """
    listed = sorted(paths)
    known = set(listed)
    jobs: dict[Path, list[Path]] = {}
    for path in listed:
        other = path.with_name(_STREAM.sub(lambda part: {"e": "o", "err": "out"}.get(part[0], "stdout"), path.name))
        jobs.setdefault(other if other in known else path, []).append(path)
    # Standard output first, as a reader would open them.
    return [tuple(sorted(files, key=lambda path: path != job)) for job, files in jobs.items()]


def files_under(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield files, and recursively the files in folders, except hidden ones.

    Parameters
    ----------
    paths : iterable of Path
        Files and folders.

    Examples
    --------
    >>> [file.name for file in files_under([Path(__file__)])]
    ['outputs.py']
    """
    for path in paths:
        if path.is_dir():
            inside = (file for file in path.rglob("*") if file.is_file())
            yield from (
                file for file in inside if not any(part.startswith(".") for part in file.relative_to(path).parts)
            )
        else:
            yield path


def read_output(files: Sequence[Path]) -> OutputRow:
    """Diagnose the files of one job.

    Parameters
    ----------
    files : sequence of Path
        Files of the job.

    Raises
    ------
    OSError
        If one of them cannot be read.

    Examples
    --------
    >>> read_output([Path(__file__)]).file.endswith("outputs.py")
    True
    """
    contents = [(file.name, file.read_bytes()) for file in files]
    head = "\n".join(content[:_HEAD].decode(errors="replace") for _, content in contents)
    return row_of(str(files[0]), diagnose(contents), nodes=nodes_listed(head))


def nodes_listed(head: str) -> tuple[str, ...]:
    """Return the nodes listed at the beginning of an output.

    Parameters
    ----------
    head : str
        Beginning of the output.

    Examples
    --------
    >>> nodes_listed("SLURM_JOB_NODELIST=nid[0009-0010]")
    ('nid0009', 'nid0010')
    >>> nodes_listed("Running on 4 nodes")
    ()
    """
    names = {name for match in _NODES.finditer(head) for name in expanded(match[1].replace(" ", ",")) if name}
    return tuple(sorted(names))


def row_of(file: str, diagnosis: Diagnosis, *, nodes: tuple[str, ...] = ()) -> OutputRow:
    """Return a diagnosis as one row.

    Parameters
    ----------
    file : str
        Name of the file.
    diagnosis : Diagnosis
        Diagnosis of the job.
    nodes : tuple of str, default ()
        Names of the nodes.

    Examples
    --------
    >>> row = row_of("a.out", diagnose([("a.out", "srun: error: n12: task 3: Out Of Memory")]))
    >>> row.code, row.node, row.task, row.confidence
    ('SLURM-OOM', 'n12', 3, 'certain')
    """
    cause = diagnosis.cause if diagnosis.verdict == "cause" else None
    first = first_failure(diagnosis.evidence) if diagnosis.verdict != "succeeded" else None
    named = (cause.fields.get("node") or _nid(cause.fields.get("nid"))) if cause else ""
    node = first.node if first else next(iter(expanded(named)), "")
    return OutputRow(
        file=file,
        verdict=diagnosis.verdict,
        code=cause.code if cause else "",
        title=cause.title if cause else "",
        confidence=cause.confidence if cause else "",
        who=cause.who if cause else "",
        node=node,
        task=first.task if first else None,
        followed=first.followed if first else 0,
        text=cause.hits[0].text.strip() if cause else "",
        nodes=nodes,
        ending=_ending(cause, first, node),
    )


def _ending(cause: Cause | None, first: FirstFailure | None, node: str) -> str:
    """Return the lines of a cause and what failed first, without the node; empty if other jobs may have the same."""
    lines = [hit.text for hit in cause.hits] if cause else []
    said = "\n".join([*lines, f"{first.task} of {first.tasks} on {first.nodes}"] if first else lines)
    telling = _DATED.search(said) or (first and first.followed > _FOLLOWED)
    return said.replace(node, "") if node and telling else ""


def _nid(number: str | None) -> str:
    """Return the name of a node with a number."""
    return f"nid{int(number):05d}" if number and number.isdigit() else ""
