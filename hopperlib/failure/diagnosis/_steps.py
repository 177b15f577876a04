"""The speaker of a line, and which failures a line of success can clear.

A job's output is a sequence of steps: the batch script, its commands, a launcher, the program, the site's epilogue, the
scheduler. "Ended well" applies only to the step that reports it:

==========  ======================================================================================
program     a line that only one program prints (``APPLICATION-DONE``): clears what the same
            program printed before it, if it continued in between
script      a sentence that any command can print (``SCRIPT-DONE``): clears only complaints
            of commands before it
scheduler   an exit status of 0 (``BATCH-DONE``, ``FLUX-EVENT-DONE``, a record): that of the last
            command of a script, so it clears no more than the script's sentence
==========  ======================================================================================
"""

import re
from collections.abc import Iterable, Sequence

from hopperlib.failure.messages._quotations import ordinary_lines_at_end
from hopperlib.failure.messages.evidence import Evidence, Hit, MessageHits

# A command of the job script that complains: the program before it had ended, and the job had not.
COMMAND = re.compile(
    r"\W{0,4}(?:cp|mv|rm|ls|cat|mkdir|tar|cd|chmod|ln|git|fatal|remote|conda|Conda\w{0,20}Error|CommandNotFoundError|module|Lmod|ERROR: Unable to locate a module(?:file)?|sbatch|scancel|squeue|qsub|msub|bsub|flux-(?:batch|submit|alloc)"
    r"|srun(?=: error: (?:Unable|Invalid|Job|Requested))|\S{1,160}: line \d{1,6})\b"
)
# Commands whose complaint means a failed job only if there is other evidence.
_SIDE = re.compile(
    r"\W{0,4}(?:\S{1,160}: line \d{1,6}: )?(?:cp|mv|rm|ls|cat|mkdir|cd|chmod|ln|tput|stty|seff|sacct|scontrol|squeue|jobstats|nvidia-smi)\b"
)
# Codes of launchers and schedulers: a program's success does not clear them.
OUTSIDE = ("SLURM-", "FLUX-", "PALS-", "PBS-", "LSF-", "ALPS-", "SGE-", "HTCONDOR-", "OMPI-", "HYDRA-", "MPI-BAD", "SCHEDULER-", "LAUNCHER-")  # fmt: skip
# Last lines of a file in which words of an end count.
_AT_END = 40
# Ordinary lines that an epilogue or an echo may print after such words.
_FEW = 3
# A program's last block of lines, which contains its line of success. [lines]
_BLOCK = 8


def ended_badly(evidence: Evidence, success: Iterable[MessageHits]) -> bool:
    """Whether a file closes with words of an end that give no reason: after the last success of a program, and with
    hardly any output after them.
    """
    done = [hit for message in success if reports_success(message) for hit in message.hits]
    for group in evidence.unknown:
        last, read = group.last, evidence.files[group.last.file]
        if (
            group.suspicion != "end"
            or read.filled - group.last_line > _AT_END
            or evidence.progress_after(last) is not None
        ):
            continue
        later = any(hit.file == last.file and hit.line > last.line - _BLOCK for hit in done)
        if not later and ordinary_lines_at_end(read.tail, read.lines - group.last_line) <= _FEW:
            return True
    return False


def reports_success(message: MessageHits) -> bool:
    """Whether a program known by name, not a script, launcher or scheduler, reports success."""
    return message.rule.code == "APPLICATION-DONE"


def cleared(code: str, hits: Sequence[Hit], success: Iterable[MessageHits], evidence: Evidence) -> bool:
    """Whether lines of success clear a failure.

    Parameters
    ----------
    code : str
        Code of the failure; it identifies its source.
    hits : sequence of Hit
        Its lines.
    success : iterable of MessageHits
        Messages that report success.
    evidence : Evidence
    """
    ends = [(message, hit) for message in success for hit in message.hits]
    by_side_command = all(_SIDE.match(hit.text) for hit in hits)
    return all(
        any(_clears(message, end, code, hit, evidence, by_side_command) for message, end in ends) for hit in hits
    )


def _clears(message: MessageHits, end: Hit, code: str, hit: Hit, evidence: Evidence, by_side_command: bool) -> bool:
    """Whether one line of success clears one line of a failure."""
    after = end.file == hit.file and end.line > hit.line
    if by_side_command:
        return after or end.file != hit.file
    if not reports_success(message) or code.startswith(OUTSIDE):
        return False
    return after and _worked_between(hit, end, evidence)


def _worked_between(hit: Hit, end: Hit, evidence: Evidence) -> bool:
    """Whether the program printed ordinary lines between a failure and its success; assumed if they are no longer
    stored.
    """
    read = evidence.files[hit.file]
    tail = read.tail.split(b"\n")
    behind = read.lines - hit.line
    if behind >= len(tail):
        return True
    between = tail[len(tail) - behind : len(tail) - (read.lines - end.line) - 1]
    return ordinary_lines_at_end(b"\n".join(between), len(between)) > 0
