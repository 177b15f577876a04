"""Lines that no rule knows: which of them are suspicious, and what they have in common.

A new message should stand out, not drown: lines are grouped by their template,
what is left when numbers, names, paths and quoted words are taken out.
"""

from __future__ import annotations

import re
from typing import Literal

__all__ = ["SUSPICIOUS_WORDS", "Suspicion", "suspicion", "template"]

Suspicion = Literal["fatal", "error", ""]

# A line must hold one of these, in any case, to be looked at; `suspicion` then reads the line.
SUSPICIOUS_WORDS = tuple(
    b"abort aborting aborted aborts cannot corrupt corrupted corruption critical denied diverged diverges divergence diverging"
    b" error errors exceeded exceeds exception exceptions exiting fail failed fails failure failures fatal found giving illegal internal"
    b" invalid killed panic severe stop stopped stopping terminate terminated terminating unable unrecoverable".split()
)

_FATAL = re.compile(
    rb"(?i:\bfatal\b|\bpanic\b|\babort(?:ing|ed|s)?\b|\bunrecoverable|\bcritical error|\bsevere\b|\berror stop\b"
    rb"|\b(?:error|err)!|\bprogram (?:will |is )?(?:stop|exit|terminat)|\bstopping (?:now|program|because|due)"
    rb"|\bterminating (?:due|because|with|program|run|job|the (?:program|run|job))|\bexiting (?:due|because|with error)"
    rb"|\bcannot continue|\bgiving up\b|\binternal error)|\bSTOP\b {1,4}[A-Za-z]|^ {0,8}\*{2,6} {0,3}ERROR|^ {0,8}ERROR\b|^ {0,8}Error(?::| [A-Z]{4})"
)
_ERROR = re.compile(
    rb"(?i:\berror\b|\b[1-9]\d{0,8} errors\b|\bfail(?:ed|ure)\b|\bexception\b|\bcannot\b|\bcan not\b|\bunable to\b|\binvalid\b|\billegal\b|\bdenied\b"
    rb"|\bkilled\b|\bterminated\b|\bnot found\b|\bexceed(?:s|ed)\b|\bcorrupt(?:ed|ion)?\b|\bdiverg(?:ed|es|ing|ence)\b"
    rb"|\w{2,40}(?:Error|Exception)\b|\bstopped\b)"
)
# Never a sign of an end, whatever other words stand beside it.
_NEVER = re.compile(
    rb"(?i:\bnon-?fatal|\babort_on|\bon_error|\baborting loop|\b(?:no|zero|without|0) (?:\w{1,12} )?(?:errors?|failures?|exceptions?)\b"
    rb"|\babort\+0x|\bnormal(?:ly)? terminat|\bterminated normally|\bstop(?:ping)? criteri)|(?:^|[\s:\[])(?:INFO|DEBUG|TRACE)\b"
)
# Words of trouble in lines that speak of none: counts of zero, sizes of errors, options, file names.
_HARMLESS = re.compile(
    rb"(?i:\berrors?[ :=]{1,4}0\b|\bfail(?:ed|ures?)?[ :=]{1,4}0\b"
    rb"|\berror[\w ()|,-]{0,30}[:=]{1,2} {0,12}[-+]?(?:\d|\.\d|nan|inf)|\b(?:absolute|relative|rms|rmse|mean|max|maximum|min|standard|l1|l2|linf"
    rb"|estimated|truncation|residual|round-?off|discretization|integration|statistical|fitting|training|test|validation|energy|force"
    rb"|quadrature|interpolation|global|local) errors?\b|\berror (?:norm|bound|bars?|estimat|toleran|function|analysis|handl|check|control|level|correct|code:? 0\b)"
    rb"|-Werror|\berrno = 0|\b(?:erf|errors?)\(|\bif\b.{1,60}\b(?:fail|error)"
    rb"|\bstop time|\bstop_|\bstop date|\bfail-?safe|\bfailover|\b\w{1,30}\.(?:err|error)\b"
    rb"|\bbackward error|\bkill(?:ing)? time|\berror(?:s)? (?:file|log|output|stream|messages? (?:will|are) )"
    rb"|\b[\w-]{1,30}[_-]errors?\b {0,4}=|\bwarn(?:ing)?s?\b)"
)

_STRIPPED = re.compile(
    rb"\"[^\"\n]{0,120}\"|'[^'\n]{0,120}'|`[^'`\n]{0,120}['`]|(?:[\w.~-]{0,60}/){1,30}[\w.~-]{0,120}|[\w.+-]{0,60}\d[\w.+%-]{0,80}"
)
_SPACES = re.compile(rb"\s{2,200}")

# An expression is worth running where one of these pieces stands in the line, in lower case: each of its branches
# holds one. Most suspicious lines are then read by two expressions of the four, which is most of the work.
_NEVER_PIECES = (
    b"error",
    b"failure",
    b"exception",
    b"fatal",
    b"abort",
    b"normal",
    b"stop",
    b"info",
    b"debug",
    b"trace",
)
_FATAL_PIECES = (
    *(b"error", b"fatal", b"abort", b"stop", b"terminat", b"exit", b"err!", b"panic", b"severe", b"critical"),
    *(b"unrecoverable", b"cannot", b"giving"),
)
_HARMLESS_PIECES = (b"err", b"fail", b"stop", b"kill", b"warn", b"erf")

# Only this much of a line is read for words, and makes its template.
_READ = 400
_TEMPLATE_LENGTH = 240


def suspicion(line: bytes) -> Suspicion:
    """Say whether a line reads as if something went wrong."""
    line = line[:_READ]
    lowered = line.lower()
    if _holds(lowered, _NEVER_PIECES) and _NEVER.search(line):
        return ""
    if _holds(lowered, _FATAL_PIECES) and _FATAL.search(line):
        return "fatal"
    if not _ERROR.search(line):
        return ""
    return "" if _holds(lowered, _HARMLESS_PIECES) and _HARMLESS.search(line) else "error"


def _holds(lowered: bytes, pieces: tuple[bytes, ...]) -> bool:
    """Whether one of the pieces stands in a line."""
    for piece in pieces:  # noqa: SIM110 - a generator takes twice as long, and this is the inner loop
        if piece in lowered:
            return True
    return False


def template(line: bytes) -> bytes:
    """Return a line without numbers, names, paths and quoted words."""
    return _SPACES.sub(b" ", _STRIPPED.sub(b"#", line[:_TEMPLATE_LENGTH])).strip()
