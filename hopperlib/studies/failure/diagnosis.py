"""Mysterious error messages: the words that a failing job prints, and what is behind them.

Documented: messages, what they mean, and that the loudest one is generic. What
a single message means is an input: the rules were written from it. What is
checked is the diagnosis of whole outputs, put together from the messages, and
that the rules read out of a message what it prints.
"""

from __future__ import annotations

from typing import NamedTuple

from hopperlib.documented.data_files import rows
from hopperlib.failure.diagnosis.diagnosis import Diagnosis, diagnose
from hopperlib.failure.messages.locations import facts
from hopperlib.studies.study import Study, Value

__all__ = ["COMPANIONS", "GNI", "MESSAGES", "NODE_FAILED", "STUDY", "Score", "diagnosed", "scores"]

GNI = (
    "[0] ERROR - nem_gni_error_handler(): a transaction error was detected, error category 0x4 error code 0xb2e\n"
    "Rank 0 [Mon Mar 7 03:46:10 2011] [c6-3c1s5n1] GNI transaction error detected\n"
)
REPLAY = "[0] ERROR - MPID_nem_gni_check_localCQ(): Replaying failed network transaction\n"
NODE_FAILED = "[NID 03782] 2011-04-20 18:45:43 Apid 1925046 killed. Received node failed or halted event for nid xxxx\n"
_WRITE_FAILURE = (
    "[NID 01083] 2011-04-20 09:39:07 distributeControlMsg: Apid 1919514 write failure to node 449, 10.128.1.196, "
    "port 607, Connection reset by peer\n"
)
_MOAB = "WARNING: excessive memory in use (8597 MB) -- restart Moab?\n"

# One message of each kind that the source names beside the GNI message, in the real format.
COMPANIONS: dict[str, str] = {
    "Fatal MPI error": "Fatal error in MPI_Recv: Message truncated, error stack:\n",
    "ALPS error": "[NID 01323] 2011-03-07 03:46:11 Apid 1925046: OOM killer terminated this process.\n",
    "PGFIO/stdio error": "PGFIO-F-217/list-directed read/unit=11/attempt to read past end of file.\n",
    "segmentation fault": "_pmii_daemon(SIGCHLD): PE 0 exit signal Segmentation fault\n",
}

# The source's short list, as printed there, and the code of the rule that knows each.
MESSAGES: dict[str, str] = {
    "error while loading shared libraries: libxxxx.so not found": "LIB-MISSING",
    "OOM killer terminated this process": "ALPS-OOM",
    "node count exceeds reservation claim": "ALPS-CLAIM-NODES",
    "segmentation fault": "SEGV",
    "compute nodes initiated termination": "ALPS-INITIATED",
    "PtlNIInit failed : PTL_NOT_REGISTERED": "PORTALS-NOT-REGISTERED",
}


def diagnosed(text: str) -> Diagnosis:
    """Return the diagnosis of a text.

    Examples
    --------
    >>> diagnosed(GNI).verdict
    'no-cause'
    >>> diagnosed(GNI + COMPANIONS["ALPS error"]).cause.code
    'ALPS-OOM'
    """
    return diagnose([("job", text)])


class Score(NamedTuple):
    """How a method did on labelled outputs; wrong causes called certain or likely are counted where a method says how sure it is."""

    method: str
    with_cause: int
    first_cause_right: int
    without_cause: int
    no_cause_right: int
    wrong_confident: int | None


def scores(group: str) -> list[Score]:
    """Return the recorded scores of the diagnosis and of two simple methods on the outputs, ``composed`` or ``real``.

    Examples
    --------
    >>> [found.method for found in scores("real")]
    ['diagnosis', 'first suspicious line', 'last line']
    """
    answers: dict[str, list[dict[str, str]]] = {}
    for row in rows("diagnosis/answers.csv"):
        if row["set"] == group:
            answers.setdefault(row["method"], []).append(row)
    found = []
    for method, said in answers.items():
        right: dict[bool, list[bool]] = {True: [], False: []}
        for row in said:
            right[row["expected"] not in ("no-cause", "succeeded")].append(row["right"] == "yes")
        wrong = sum(row["right"] == "no" and row["confidence"] in ("certain", "likely") for row in said)
        counts = (len(right[True]), sum(right[True]), len(right[False]), sum(right[False]))
        found.append(Score(method, *counts, wrong if method == "diagnosis" else None))
    return found


def _companion_tells() -> bool:
    """Whether the GNI message alone has no cause, and beside any companion is explained by it."""
    if diagnosed(GNI).verdict != "no-cause":
        return False
    for companion in COMPANIONS.values():
        cause = diagnosed(GNI + companion).cause
        if cause is None or "GNI-TRANSACTION" not in cause.explains:
            return False
    return True


def _replays_end_in_node_failure() -> bool:
    """Whether many replayed transactions count as the work of the node failure after them."""
    cause = diagnosed(REPLAY * 40 + NODE_FAILED).cause
    return cause is not None and cause.code == "ALPS-NODE-FAILED" and "GNI-REPLAY" in cause.explains


def _read(text: str, field: str) -> str:
    """Return a field that the diagnosis reads out of a message."""
    finding = next(iter(diagnosed(text).evidence.messages.values()))
    return next((hit.fields[field] for hit in finding.hits if field in hit.fields), "")


def _reporter(text: str) -> str:
    """Return the node ID of the node that reports, in the five digits of ALPS."""
    return (facts(text.encode()).nid or "").zfill(5)


def _values() -> dict[str, Value]:
    return {
        "moab-memory": _read(_MOAB, "memory_mb"),
        "gni-rank": _read(GNI, "rank"),
        "gni-time": _read(GNI, "time"),
        "gni-cname": _read(GNI, "cname"),
        "gni-generic": _companion_tells(),
        "replay-many-then-node-failed": _replays_end_in_node_failure(),
        "node-failed-nid": _reporter(NODE_FAILED),
        "node-failed-time": _read(NODE_FAILED, "time"),
        "node-failed-apid": _read(NODE_FAILED, "apid"),
        "node-failed-nid-hidden": _read(NODE_FAILED, "nid"),
        "control-message-nid": _reporter(_WRITE_FAILURE),
        "control-message-time": _read(_WRITE_FAILURE, "time"),
        "control-message-apid": _read(_WRITE_FAILURE, "apid"),
        "control-message-node": _read(_WRITE_FAILURE, "nid"),
        "control-message-address": _read(_WRITE_FAILURE, "address"),
    }


STUDY = Study.read("diagnosis", _values)
