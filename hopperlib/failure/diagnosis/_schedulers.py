"""Scheduler of a job, and its terms for a job's record, its limits and the options that change them.

A step of a rule uses ``<record>``, ``<limits>``, ``<memory>`` and ``<without>`` where the terms differ
(``schedulers.toml``).
"""

import re
from dataclasses import dataclass
from functools import cache
from itertools import islice

from hopperlib.failure.messages.evidence import Evidence
from hopperlib.package_data import load_toml_resource
from hopperlib.schema import read_record

# First lines of a file that are searched for signs of a scheduler.
_HEAD = 400
_WORD = re.compile(r"<(record|limits|memory|without)>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduler:
    """A scheduler: how to recognize it, and its terms."""

    name: str
    codes: str
    regex: str
    record: str
    limits: str
    memory: str
    without: str
    source: str

    def speak(self, step: str) -> str:
        """Return a step of advice in the terms of this scheduler."""
        return _WORD.sub(lambda word: str(getattr(self, word[1])), step)


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedulers:
    """Contents of ``schedulers.toml``, in the order in which schedulers are tried."""

    scheduler: tuple[Scheduler, ...]


@cache
def schedulers() -> tuple[Scheduler, ...]:
    """Return the known schedulers, the generic one last."""
    return read_record(Schedulers, load_toml_resource(__file__, "schedulers.toml"), name="schedulers.toml").scheduler


def scheduler_of(evidence: Evidence) -> Scheduler:
    """Return the scheduler that ran the job of a text, identified by a message in it or else by its lines; the generic
    one if neither identifies it.

    Parameters
    ----------
    evidence : Evidence
    """
    known = schedulers()[:-1]
    by_code = (one for one in known if any(code.startswith(tuple(one.codes.split())) for code in evidence.messages))
    if found := next(by_code, None):
        return found
    text = "\n".join(
        "\n".join(line.decode(errors="replace") for _, line in islice(file.window.lines(), _HEAD))
        + "\n"
        + file.tail.decode(errors="replace")
        for file in evidence.files
    )
    return next((one for one in known if re.search(one.regex, text)), schedulers()[-1])
