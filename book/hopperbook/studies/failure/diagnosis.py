"""Mysterious error messages: the words that a failing job prints, and what is behind them.

Documented: messages, what they mean, and that the loudest one is generic. What
a single message means is an input: the rules were written from it. What is
checked is the diagnosis of whole outputs, put together from the messages, and
that the rules read out of a message what it prints.
"""

from hopperbook.studies.study import Study, study_texts
from hopperlib.failure.diagnosis.diagnosis import Diagnosis, diagnose

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
    'failed'
    >>> diagnosed(GNI + COMPANIONS["ALPS error"]).cause.code
    'ALPS-OOM'
    """
    return diagnose([("job", text)])


STUDY = Study("diagnosis", dict)
