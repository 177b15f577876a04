"""Mysterious error messages: the words that a failing job prints, and what is behind them.

Documented: messages, what they mean, and that the loudest one is generic. What
a single message means is an input: the rules were written from it. What is
checked is the diagnosis of whole outputs, put together from the messages, and
that the rules read out of a message what it prints.
"""

from __future__ import annotations

from hopperlib.failure.diagnosis.diagnosis import Diagnosis, diagnose
from hopperlib.failure.diagnosis.locations import facts
from hopperlib.studies.study import Check, Study

__all__ = ["COMPANIONS", "GNI", "MESSAGES", "NODE_FAILED", "STUDY", "WRITE_FAILURE", "diagnosed"]

GNI = (
    "[0] ERROR - nem_gni_error_handler(): a transaction error was detected, error category 0x4 error code 0xb2e\n"
    "Rank 0 [Mon Mar 7 03:46:10 2011] [c6-3c1s5n1] GNI transaction error detected\n"
)
REPLAY = "[0] ERROR - MPID_nem_gni_check_localCQ(): Replaying failed network transaction\n"
NODE_FAILED = "[NID 03782] 2011-04-20 18:45:43 Apid 1925046 killed. Received node failed or halted event for nid xxxx\n"
WRITE_FAILURE = (
    "[NID 01083] 2011-04-20 09:39:07 distributeControlMsg: Apid 1919514 write failure to node 449, 10.128.1.196, "
    "port 607, Connection reset by peer\n"
)
MOAB = "WARNING: excessive memory in use (8597 MB) -- restart Moab?\n"

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
    finding = next(iter(diagnosed(text).evidence.findings.values()))
    return next((hit.fields[field] for hit in finding.hits if field in hit.fields), "")


def _reporter(text: str) -> str:
    """Return the node ID of the node that reports, in the five digits of ALPS."""
    return (facts(text.encode()).nid or "").zfill(5)


def _checks() -> tuple[Check, ...]:
    read = "read back out of the printed message"
    meaning = "what the message means: the rule was written from it"
    codes = "the rule knows the message whatever its codes; no source says what they stand for"
    staff = "what the staff found out; the text of a job does not hold it"
    return (
        Check(id="diagnosis.moab-memory", role="identity", reproduced=_read(MOAB, "memory_mb"), reason=read),
        Check(id="diagnosis.moab-message-means-orphans", role="input", reason=meaning),
        Check(id="diagnosis.gni-error-category", role="not modelled", reason=codes),
        Check(id="diagnosis.gni-error-code", role="not modelled", reason=codes),
        Check(id="diagnosis.gni-rank", role="identity", reproduced=_read(GNI, "rank"), reason=read),
        Check(id="diagnosis.gni-time", role="identity", reproduced=_read(GNI, "time"), reason=read),
        Check(id="diagnosis.gni-cname", role="identity", reproduced=_read(GNI, "cname"), reason=read),
        Check(id="diagnosis.gni-companions", role="input", reason="the messages that are put beside the GNI message"),
        Check(
            id="diagnosis.gni-generic",
            role="shape",
            reproduced=_companion_tells(),
            reason="alone it gives no cause; beside each of the four companions the companion is the cause",
        ),
        Check(
            id="diagnosis.replay-many-then-node-failed",
            role="shape",
            reproduced=_replays_end_in_node_failure(),
            reason="forty replays before the node failure count as its consequence",
        ),
        Check(id="diagnosis.node-failed-nid", role="identity", reproduced=_reporter(NODE_FAILED), reason=read),
        Check(id="diagnosis.node-failed-time", role="identity", reproduced=_read(NODE_FAILED, "time"), reason=read),
        Check(id="diagnosis.node-failed-apid", role="identity", reproduced=_read(NODE_FAILED, "apid"), reason=read),
        Check(
            id="diagnosis.node-failed-nid-hidden", role="identity", reproduced=_read(NODE_FAILED, "nid"), reason=read
        ),
        Check(id="diagnosis.franklin-binary-message", role="input", reason="the message as Portals spells it"),
        Check(id="diagnosis.franklin-binary", role="input", reason=meaning),
        Check(id="diagnosis.control-message-nid", role="identity", reproduced=_reporter(WRITE_FAILURE), reason=read),
        Check(
            id="diagnosis.control-message-time", role="identity", reproduced=_read(WRITE_FAILURE, "time"), reason=read
        ),
        Check(
            id="diagnosis.control-message-apid", role="identity", reproduced=_read(WRITE_FAILURE, "apid"), reason=read
        ),
        Check(
            id="diagnosis.control-message-node", role="identity", reproduced=_read(WRITE_FAILURE, "nid"), reason=read
        ),
        Check(
            id="diagnosis.control-message-address",
            role="identity",
            reproduced=_read(WRITE_FAILURE, "address"),
            reason=read,
        ),
        Check(id="diagnosis.control-message-port", role="not modelled", reason="the port says nothing about the cause"),
        Check(id="diagnosis.control-message-cause", role="not modelled", reason=staff),
        Check(id="diagnosis.control-message-many-users", role="not modelled", reason=staff),
        Check(id="diagnosis.shared-library-message", role="input", reason=meaning),
        Check(id="diagnosis.oom-message", role="input", reason=meaning),
        Check(id="diagnosis.node-count-message", role="input", reason=meaning),
        Check(id="diagnosis.segfault-message", role="input", reason=meaning),
        Check(id="diagnosis.compute-nodes-message", role="input", reason=meaning),
    )


STUDY = Study(
    name="diagnosis",
    title="What went wrong?",
    part="failure",
    question="Which of the messages that a failed job prints names the cause, and who acts?",
    checks=_checks,
    assumptions=(
        "A specific message outranks a generic one, and a cause outranks what follows from it; no source prints a rule for ranking.",
        "A consequence may be logged up to a minute before its cause, because clocks and buffers differ.",
        "The four companions of the GNI message stand for their kinds: the source names the kinds, and no whole output.",
        "The words for confidence are ours; the labelled outputs say how far they can be trusted.",
    ),
)
