"""Mysterious error messages: the words that a failing job prints, and what is behind them.

Documented: messages, what they mean, and that the loudest one is generic. What
a single message means is an input: the rules were written from it. What is
checked is the diagnosis of whole outputs, put together from the messages, and
that the rules read out of a message what it prints.
"""

from hopperbook.studies.study import Study, Value, study_texts
from hopperlib.failure.diagnosis.diagnosis import Diagnosis, diagnose
from hopperlib.failure.messages.locations import facts

_TEXTS = study_texts()["diagnosis"]
_PRINTED: dict[str, str] = _TEXTS["texts"]
GNI, REPLAY, NODE_FAILED = (_PRINTED[name] for name in ("gni", "replay", "node-failed"))
# One message of each kind that the source names beside the GNI message, in the real format.
COMPANIONS: dict[str, str] = _TEXTS["companions"]
# The source's short list, as printed there, and the code of the rule that knows each.
MESSAGES: dict[str, str] = _TEXTS["messages"]


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
    """Return what the rules read out of a message, or the node that reports it."""
    if field == "reporter":
        return facts(text.encode()).named.get("nid", "").zfill(5)
    finding = next(iter(diagnosed(text).evidence.messages.values()))
    return next((hit.fields[field] for hit in finding.hits if field in hit.fields), "")


def _values() -> dict[str, Value]:
    read: dict[str, Value] = {row: _read(_PRINTED[name], field) for row, (name, field) in _TEXTS["fields"].items()}
    return read | {"gni-generic": _companion_tells(), "replay-many-then-node-failed": _replays_end_in_node_failure()}


STUDY = Study("diagnosis", _values)
