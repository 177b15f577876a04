"""Recognize the kind of a text: a job script, the output of a job, a trace, an I/O log, run times, and so on. Each kind
has markers: lines that only its tools print. A text may have markers of several kinds (job output may contain an IOR
table); all of them are then returned, most likely first, and the right one is the one that can be read.
"""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass

from hopperkit.readers.jobs.columns import lacking

# Only this much of longer texts is examined. [characters]
_LOOKED_AT = 200_000
# Initial bytes of binary files, as shown by a page or a terminal.
_BINARY = {
    "\x89PNG": "a picture (PNG)",
    "\ufffdPNG": "a picture (PNG)",
    "%PDF-": "a PDF",
    "\x7fELF": "a program (ELF)",
    "PK\x03\x04": "a zip archive",
}
_DARSHAN = re.compile(r"[23]\.\d\d\0")
_LAUNCHERS = "aprun|srun|mpirun|mpiexec|mpiexec.hydra|prterun|jsrun|lrun|ibrun|flux|sbatch|qsub|salloc"
_COMPILERS = "ftn|cc|CC|gcc|g\\+\\+|gfortran|icc|icpc|ifort|ifx|mpicc|mpicxx|mpif90|mpifort|nvcc|hipcc|pgf90|crayftn"


@dataclass(frozen=True, slots=True)
class Kind:
    """A possible kind of a text.

    Parameters
    ----------
    name : str
        ``script``, ``output``, ``trace``, ``io``, ``lustre``, ``history``, ``times``, ``hardware``, ``machine``,
        ``buddyinfo`` or ``build``.
    title : str
        Name in words, with its article.
    why : str
        The evidence: "it has #SBATCH lines".
    """

    name: str
    title: str
    why: str


# A kind, its title, its marker as a regular expression for lines, and the marker in words. The first match is the most
# likely.
_MARKS: tuple[tuple[str, str, str, str], ...] = (
    ("io", "the text of a Darshan log", r"^# darshan log version:", "it begins as darshan-parser prints it"),
    ("machine", "a machine file", r"^\[\[node\]\]\s*$", "it has a table [[node]]"),
    (
        "lustre",
        "the output of lfs",
        r"^UUID\s+.*Mounted on|^\S+_UUID\s+\d|^\s*(?:lmm_)?stripe_count:\s",
        "it has the columns of lfs",
    ),
    (
        "buddyinfo",
        "a copy of /proc/buddyinfo",
        r"Node \d+, zone +\w+(?: +\d+){5}",
        "it lists zones with their free blocks",
    ),
    ("hardware", "a description of nodes", r"^\s*NodeName=\S+", "it has NodeName=, as scontrol prints it"),
    (
        "hardware",
        "a description of a node",
        r"^Architecture:\s|^\s*<topology\b|^<!DOCTYPE topology|^Machine \(.*total|^\s*\"lscpu\": \["
        r"|^CPU\(s\):|^node \d+ cpus:|^\s+(?:pcpus|resources_available\.ncpus) = \d|^MemTotal: +\d+ kB|^ +NUMA:$",
        "lscpu, lstopo, numactl, amd-smi, pbsnodes or /proc/meminfo print such lines",
    ),
    (
        "trace",
        "a job trace",
        r"^;\s*(?:Version|Computer|MaxJobs|MaxNodes|UnixStartTime)\s*:",
        "it has the header of SWF",
    ),
    (
        "trace",
        "Slurm's accounting",
        r"^\W*JobID(?:Raw)?(?:[|,\t]| .*\b(?:State|Elapsed|ExitCode|Submit|Start)\b)|^(?=.*[|,\t]JobID(?:Raw)?\b)(?=.*\b(?:Submit|State)\b)",
        "it has the columns of sacct",
    ),
    ("trace", "Slurm's finished jobs", r"^JobId=\d+ .*\bJobState=", "it has the jobs of jobcomp/filetxt"),
    (
        "trace",
        "PBS accounting",
        r"^\d{1,2}/\d{1,2}/\d{4} \d{1,2}:\d\d:\d\d;E;[^;]*;.*\bstart=",
        "it has records of ended jobs",
    ),
    ("trace", "LSF accounting", r'^"JOB_FINISH" "', "it has records JOB_FINISH"),
    ("trace", "Slurm's accounting", r'(?:^\s*|[{,]\s*)"jobs": ?\[', "it has the jobs of sacct --json"),
    ("io", "the output of IOR", r"^IOR-[\d.]+\S*: ", "it has the banner of IOR"),
    (
        "io",
        "the output of IOR",
        r'"(?:bwMiB|bwMaxMIB|TestID)"\s*:|^access(?:,|\s+)(?:bw\(|rank,)|^Max (?:Write|Read): ',
        "it has the results of IOR",
    ),
    ("io", "the output of mdtest", r"^-- started at .* --$|^mdtest-[\d.]+|^SUMMARY rate", "it has the lines of mdtest"),
    ("io", "the output of IO500", r"^\[RESULT\]\s+\S+|^IO500 version", "it has the results of IO500"),
)
_SCRIPT = re.compile(r"^\s*#(?:SBATCH|PBS|BSUB|COBALT|MSUB|FLUX:|@|\$ -)", re.MULTILINE)
# Words that may precede a launcher, with their options.
_BEFORE = r"(?:(?:time|nohup|exec|env|timeout|numactl|taskset)\b(?: +(?:-\S+|\w+=\S*|[\d.]+[smh]?))* +)?"
_LAUNCH = re.compile(
    rf"^\s*(?:\$ )?(?:\w+=\S* +)*{_BEFORE}(?:{_LAUNCHERS})\s+(?!noticed|detected|was|has)\S", re.MULTILINE
)
# A shell's prompt with a host or a folder in it.
_PROMPT = re.compile(
    r"^[ \t]*(?:\([^()\n]*\)[ \t]*)?(?:(?:\[[^\[\]\n]*\])+|[\w.-]+@[\w.-]+(?::[\w~/.-]*)?|[\w.-]+:[~/][\w/.-]*)[ \t]?[$%>#][ \t]+(?=\S)",
    re.MULTILINE,
)
_PREPARES = re.compile(r"\s*(?:(?:export|module|ml|cd|source|ulimit|unset|set) |\w+=\S*\s*$)")
_LINK = re.compile(rf"^\s*(?:\$ )?(?:{_COMPILERS})\s+\S*.*-\w", re.MULTILINE)
_MODULES = re.compile(r"^\s*Currently Loaded Module", re.MULTILINE)
_LOADED = re.compile(
    r"^\s*(?:\d+\)\s+\S+\s*)+$|^\s*$|^\s*Currently Loaded Module|^\s*(?:\$ )?module (?:list|load|swap)"
)
_TROUBLE = re.compile(r"error|fail|abort|killed|traceback|exception|signal|denied|cannot|fatal", re.IGNORECASE)
NO_MARKS = "nothing points to another kind"
_SWF_FIELDS = 18
# A table heading is not a sentence. [characters]
_LONGEST_NAME = 40
_DATE = re.compile(r"\s*\d{4}-\d\d(?:-\d\d)?\b|\s*\d{1,2}([/.])\d{1,2}\1\d{2,4}\b|\s*\d{9,10}(?:\.\d+)?\s*$")
_DATED = re.compile(r"\s*(\d[-\d/.]{5,9}(?:[T ][\d:]+)?)[,;\s]\s*([\d.,]+)\s*$")
_LABELLED = re.compile(r"\s*[A-Za-z][\w .#-]*[:=]\s*([\d.]+)\s*(?:s|sec|seconds)$")
_TIMES = re.compile(r"time|elapsed|seconds|duration|wall|\breal\b|_s\b")
_SHELL_TIME = re.compile(r"(?:real|user|sys)\s+(?:(\d+)m)?(\d+(?:\.\d+)?)s?$")
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?s?$|(?:\d+:)?\d\d?:\d\d(?:\.\d+)?$")


def not_text(text: str) -> str:
    r"""Return the actual type of a file that is not text; empty for text.

    Parameters
    ----------
    text : str
        Contents of a file, decoded.

    Examples
    --------
    >>> not_text("\x89PNG\r\n\x1a\n"), not_text("srun -n 4 ./a.out")
    ('a picture (PNG)', '')
    """
    for mark, kind in _BINARY.items():
        if mark in text[:8]:
            return kind
    if _DARSHAN.match(text):
        return "a Darshan log itself (hopper io reads it; for a page print it with darshan-parser)"
    head = text[:4000]
    odd = sum(sign in "\x00\ufffd" or (sign < " " and sign not in "\t\n\r\x1b\f\b\a") for sign in head)
    # Many logs contain a few control characters.
    return "a binary file" if odd > 0.02 * len(head) else ""


def recognise(text: str) -> tuple[Kind, ...]:
    r"""Return the possible kinds of a text, most likely first; empty for an empty text.

    Parameters
    ----------
    text : str
        The full contents of a file, or pasted text.

    Returns
    -------
    tuple of Kind
        Job output is usually the last: any text may be one.

    Examples
    --------
    >>> [kind.name for kind in recognise("#!/bin/bash\n#SBATCH -N 2\nsrun ./a.out")]
    ['script', 'output']
    >>> recognise("aprun -n 24 ./a.out")[0]
    Kind(name='script', title='a launch line', why='it begins with aprun')
    >>> recognise("12.5\n13.1\n12.9")[0].title
    'run times'
    """
    head = plain_prompts(text[:_LOOKED_AT].lstrip("\ufeff"))
    lines = [line for line in head.splitlines() if line.strip()]
    if not lines:
        return ()
    found = [*_scripts(lines), *_marked(head), *_builds(lines), *_tables(lines)]
    found.append(Kind("output", "the output of a job", "any text may be one" if found else NO_MARKS))
    return tuple({kind.name: kind for kind in reversed(found)}.values())[::-1]


def plain_prompts(text: str) -> str:
    """Return the text with every shell prompt replaced by a dollar sign.

    Parameters
    ----------
    text : str
        Text from a terminal.

    Examples
    --------
    >>> plain_prompts("root@node3:~# lscpu"), plain_prompts("[ann@login1 run]$ srun -n 4 ./a.out")
    ('$ lscpu', '$ srun -n 4 ./a.out')
    """
    return _PROMPT.sub("$ ", text)


def in_trouble(text: str) -> bool:
    """Whether a text mentions errors, as job output does.

    Parameters
    ----------
    text : str
        Text of any kind.

    Examples
    --------
    >>> in_trouble("write 2427 MiB/s"), in_trouble("task 3: Killed")
    (False, True)
    """
    return bool(_TROUBLE.search(text))


def _marked(head: str) -> Iterator[Kind]:
    """Yield the kinds with evidence in a text."""
    for name, title, mark, why in _MARKS:
        if re.search(mark, head, re.MULTILINE):
            yield Kind(name, title, why)


def _scripts(lines: list[str]) -> Iterator[Kind]:
    """Yield a job script, judged by its beginning; a job's output may contain the same lines later."""
    comment = lines[0].lstrip().startswith("#")
    if comment and (directive := _SCRIPT.search("\n".join(lines))):
        yield Kind("script", "a job script", f"it has {directive[0].strip()} lines")
    elif comment and _LAUNCH.search("\n".join(lines)):
        yield Kind("script", "a job script", "it begins with a comment and launches a program")
    elif (launch := _first_launch(lines)) and len(lines) <= 12 and not _is_printed(lines):
        launcher = next(word for word in launch[0].split() if re.fullmatch(_LAUNCHERS, word))
        yield Kind(
            "script", "a launch line", f"it {'begins' if launch.string == lines[0] else 'continues'} with {launcher}"
        )


def _first_launch(lines: list[str]) -> re.Match[str] | None:
    """Return the launch of a program, if only preparations precede it."""
    rest = [line for line in lines if not _PREPARES.match(line)]
    return _LAUNCH.match(rest[0]) if rest else None


def _is_printed(lines: list[str]) -> bool:
    """Whether the text after a command is its output: errors, or lines without a prompt."""
    after = lines[1:]
    prompted = lines[0].lstrip().startswith("$ ") and any(not line.lstrip().startswith("$ ") for line in after)
    return prompted or bool(_TROUBLE.search("\n".join(after)))


def _builds(lines: list[str]) -> Iterator[Kind]:
    """Yield a build if the text is only a list of modules or a compile line."""
    if any(map(_MODULES.match, lines[:2])) and all(_LOADED.match(line) or _LINK.match(line) for line in lines):
        yield Kind("build", "a list of modules", "module list printed it")
    elif _LINK.match(lines[0]) and len(lines) <= 12 and not _TROUBLE.search("\n".join(lines[1:])):
        yield Kind("build", "a compile line", f"it begins with {lines[0].split()[0]}")


def _tables(lines: list[str]) -> Iterator[Kind]:
    """Yield the possible kinds of a table or a column of numbers."""
    rows = [line for line in lines[:200] if not line.startswith(("#", ";"))]
    numbers = [row for row in rows if _NUMBER.match(row.strip())]
    if rows and all(map(_is_swf, rows)):
        yield Kind("trace", "a job trace", f"its lines have the {_SWF_FIELDS} numbers of SWF")
    elif times_in("\n".join(rows)):
        yield Kind("times", "run times", "it contains only times")
    elif numbers and numbers == rows[1:] and _TIMES.search(rows[0].lower()):
        yield Kind("times", "run times", "it is a column of times")
    elif len(rows) > 1:
        yield from _named_columns(_cells(rows))
        if all(map(_DATED.match, rows)):
            yield Kind("history", "a benchmark history", "each line is a date and a value")


def _cells(rows: list[str]) -> list[list[str]]:
    """Split rows into cells at the first row's most frequent delimiter, or at blanks; quoted cells may contain it."""
    delimiter = max(",;\t|", key=rows[0].count)
    if delimiter not in rows[0]:
        return [[cell.strip('"') for cell in row.split()] for row in rows]
    # One row at a time, so that an unclosed quotation mark ends with its line.
    parted = (next(csv.reader([row], delimiter=delimiter, skipinitialspace=True)) for row in rows)
    return [[cell.strip(' "') for cell in cells] for cells in parted]


def times_in(text: str) -> list[str]:
    r"""Return the times in a text that contains nothing else: one per line, all on one line, or as printed by the
    shell's ``time``.

    Parameters
    ----------
    text : str
        Text of any kind.

    Examples
    --------
    >>> times_in("12.5s\n13.1s"), times_in("12.5, 13.1, 12.9"), times_in("real\t1m2.5s\nuser\t0m3.0s")
    (['12.5', '13.1'], ['12.5', '13.1', '12.9'], ['62.5'])
    """
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith(("#", ";"))]
    if lines and all(map(_SHELL_TIME.match, lines)):
        return _shell_times(lines)
    labelled = [each[1] for each in map(_LABELLED.match, lines) if each]
    if len(labelled) == len(lines) > 1:
        return labelled
    if len(lines) == 1:
        lines = re.split(r"[,;\s]+", lines[0])
    return [line.removesuffix("s") for line in lines] if all(map(_NUMBER.match, lines)) else []


def _shell_times(lines: list[str]) -> list[str]:
    """Return the elapsed times in the output of the shell's ``time``."""
    real = (_SHELL_TIME.match(line) for line in lines if line.startswith("real"))
    return [f"{60 * int(each[1] or 0) + float(each[2]):g}" for each in real if each]


def _is_swf(row: str) -> bool:
    """Whether a line has as many numbers as a line of the Standard Workload Format."""
    fields = row.split()
    return len(fields) == _SWF_FIELDS and all(map(_NUMBER.match, fields))


def _named_columns(rows: list[list[str]]) -> Iterator[Kind]:
    """Yield the possible kinds of a table with headings: a history has timestamps, plain run times do not."""
    header = rows[0]
    named = all(len(cell) <= _LONGEST_NAME for cell in header) and not any(map(_NUMBER.match, header))
    if len(header) < 2 or not named or any(len(row) != len(header) for row in rows):
        return
    if not lacking(",".join(header)):
        yield Kind("trace", "a job trace", "it is a table of jobs with their times and nodes")
        return
    if any(map(_DATE.match, rows[1])):
        yield Kind("history", "a benchmark history", "it is a table of values with their dates")
    if _TIMES.search(" ".join(header).lower()):
        yield Kind("times", "run times", "it is a table with a column of times")
