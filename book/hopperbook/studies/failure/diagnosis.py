"""Mysterious error messages: the words printed by a failing job, and their causes.

Documented: messages, their meaning, and that the loudest one is generic. The meaning of a single message is an input:
the rules were written from it. The diagnosis of whole outputs, composed of the messages, is checked, and the fields
that the rules extract from a message.
"""

from hopperbook.studies.study import Study, study_texts
from hopperlib.failure.diagnosis.diagnosis import Diagnosis, diagnose

_TEXTS = study_texts()["diagnosis"]
_PRINTED: dict[str, str] = _TEXTS["texts"]
GNI, REPLAY, NODE_FAILED = (_PRINTED[name] for name in ("gni", "replay", "node-failed"))
# One message of each kind that the source names in addition to the GNI message, in the real format.
COMPANIONS: dict[str, str] = _TEXTS["companions"]
# The source's short list, as printed there, and the code of the rule for each.
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
