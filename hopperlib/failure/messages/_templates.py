"""Lines that no rule knows: which of them are suspicious, and what they have in common.

A new message should stand out, not drown: lines are grouped by their template,
what is left when numbers, names, paths and quoted words are taken out.

========  =====================================================================
fatal     says that something ends, and mostly why
error     speaks of an error
end       says that a program, a command or a job ended badly, but not why:
          what it has to say stands above it
hint      reads like bad news where something failed, and means nothing elsewhere
========  =====================================================================
"""

from __future__ import annotations

import re
from typing import Literal

__all__ = ["INSIDE", "SUSPICIOUS_WORDS", "Suspicion", "suspicion", "template", "words_of"]

Suspicion = Literal["fatal", "error", "end", "hint", ""]

# A line must hold one of these, in any case, to be looked at; `suspicion` then reads the line.
SUSPICIOUS_WORDS = tuple(
    b"abnormal abnormally abandoned achieved abandoning abor bad bug cannot cant corrupt corrupted corruption couldn crash crashed critical"
    b" denied died diverged diverges divergence diverging exceeded exceeds exhausted exist existent exiting finish found giving halt halted"
    b" illegal impossible incompatible inconsistent incorrect insufficient internal interrupted invalid kill killed killing lost mismatch missing nan"
    b" nans nonexistent oom overflow overrun panic prematurely recipe refuse refused refuses rejected severe stop stopped stopping terminate terminated"
    b" terminating termination timeout traceback unable undefined unexpected unknown unphysical unreachable unrecognised unrecognized"
    b" unrecoverable unsupported violation wrong".split()
)
# Looked for inside of words too: CmiAbort, RuntimeError, NullPointerException; and words that are written apart. Letters only.
INSIDE = (b"error", b"exception", b"abort", b"fail", b"fatal", b"could not", b"can t ", b"e r r o r", b"timed out")

# Values of errors, counts of none, and names: words of trouble that speak of none, whatever stands beside them.
_NUMBER = rb"[-+]?(?:\d[\d.,]{0,20}|\.\d{1,20}|nan\b|inf(?:inity)?\b)(?:[eEdD][-+]?\d{1,3})?"
_NEVER = re.compile(
    rb"(?i:\bnon-?fatal|\babort_on|\bon_error|\baborting loop|\b(?:no|zero|without|0) (?:\w{1,12} )?(?:errors?|failures?|exceptions?|warnings?)\b"
    rb"|\babort\+0x|\bnormal(?:ly)? terminat|\bterminated normally|\bstop(?:ping)? criteri|\bstopped (?:on:? [A-Z]|in {2,})|\bnot? (?:an )?error\b|\bexception was the direct cause\b|\banother exception occurred\b|\berror ?= {0,6}[-+\d.]"
    rb"|\berrors?(?! ?(?:code|number|status|id|no)\b)[\w ()|,-]{0,30}[:=]{1,2} {0,12}"
    + _NUMBER
    + rb"(?: {0,3}[\w/^%.]{1,6})?(?: {0,40}$| {0,3}[,;)\]+|])"
    rb"|\berror {0,2}(?:\([\w /^%.]{1,16}\) {0,3}$|\([\w /^%.]{1,16}\) {2,40}\w| {2,20}[a-z(]| {0,40}[-+=]{2,9}))"
    rb"|(?:^|[\s:\[])(?:INFO|DEBUG|TRACE)\b|[Ee]rror {3,20}[A-Z][a-z]"
)
_FATAL = re.compile(
    rb"(?i:\bfatal\b|\bpanic\b|\babort(?:ing|ed|s)?\b|abort\b|\babor\d|\bunrecoverable|\bcritical error|\bsevere\b(?: error| ?\(|:|$)|\berror stop\b|\be r r o r\b"
    rb"|\b(?:error|err)!|\bstopping (?:because|due)|\bterminating (?:due|because|with)|\b(?:exiting|ending|quitting|shutting down) (?:due|because)\b|\binternal error|\bassert(?:ion)?\b.{0,60}\bfail|\bterminated? abnormal|\babnormal(?:ly)? \w{0,12}terminat)"
    rb"|\bSTOP\b[: ]{1,4}['\"]?[A-Za-z]|^[ \t*#|!-]{0,12}(?:ERROR|FAIL)\b|^ {0,8}\d{0,6}:? ?Error(?::| [A-Z]{4}|: )|\[ERROR\]|\bERROR[:!]| ERROR \S"
)
_ERROR = re.compile(
    rb"(?i:\berror\b|\b[1-9]\d{0,8} errors\b|\berrors (?:occurred|while|during|found|were|have)\b|\bfail(?:ed|ures?)\b|\bexception\b|\bcannot\b|\bcan not\b|\bcan'?t\b|\bcould(?: not|n'?t)\b|\bunable to\b"
    rb"|\binvalid\b|\billegal\b|\bdenied\b|\bkilled\b|\bterminated\b|\bnot found\b|\bexceed(?:s|ed)\b|\bcorrupt(?:ed|ion)?\b|\bdiverg(?:ed|es|ing|ence)\b"
    rb"|\brefus(?:e|ed|es|ing)\b|\babandon(?:ed|ing)\b|\btimed out\b|\b(?:does|do|did) not exist|\bnot (?:been )?achieved\b|\bnon-?existent|\bcrashed\b|\bhalt(?:ed|ing)\b|\boom\b"
    rb"|\bstopped\b|\bFINISH called)|\w\w(?:Error|Exception)\b|(?:[A-Z]_?|_|\b)(?:ERROR|ERR|FAIL(?:ED|URE)?|ABORT)(?:_|\b)|_(?:error|failed|fail)(?:_|\b)|\bFAILS?\b"
)
_END = re.compile(
    rb"(?i:^\s{0,20}g?n?make(?:\[\d{1,3}\])?: \*\*\*|recipe for target|\berror termination\b|\b(?:job|run|program|execution|calculation|simulation|task|step|process"
    rb"|nwchem|script|command|forecast|model)s?\b(?: has| was| have)?(?: been)? (?:aborted|abort|failed|crashed|terminated|stopped|halted|exited)\b.{0,40}$"
    rb"|\bprogram (?:will |is )?(?:stop|exit|terminat)\w{0,6}\b(?! normal)|\bstopping (?:now|program)|\bterminating (?:program|run|job|the (?:program|run|job))|\bexiting with error"
    rb"|\bcannot continue|\bgiving up\b|\babort(?:ing)? the (?:run|job|program|calculation|execution)|called \w{0,20}abort|\bmpi_?abort\b"
    rb"|\b(?:exit|return)\w{0,3}\b.{0,30}\b(?:code|status|value)\b\W{0,6}-?[1-9]\d{0,4}\b"
    rb"|\breturned (?:an )?error|terminated badly|\bstack ?trace|\bnot yet been assigned to a category"
    rb"|^[\W_]{0,90}(?:fatal )?(?:error|abort(?:ed|ing)?|stop(?:ping)?|exiting|quitting|terminating|halting|failed)(?: (?:now|run|job|stop|program|code|called))?[\W_]{0,90}$"
    rb"|\berror stop\W{0,3}\d{0,4}$|\bstop {0,4}-?[1-9]\d{0,4}$"
    rb"|\bcode -?\d{1,5}\W{0,3}$|^ {0,8}\w{1,30} called from \w|\bsubprocess\.\w{1,30}error|\bcallback returned error|errors? (?:was|were) (?:encountered|reported|detected|found)\W{0,20}$"
    rb"|\bthere (?:was|were) (?:an? |\d{1,6} )?errors?\W{0,12}$|\ban error (?:has )?occurred\W{0,12}$)"
)
_HINT = re.compile(
    rb"(?i:\b(?:bad|bug|crash|died|exhausted|halt|impossible|incompatible|inconsistent|incorrect|insufficient|interrupted|lost|mismatch|missing|nans?|non-?existent|overflow"
    rb"|overrun|prematurely|rejected|timeout|traceback|undefined|unexpected|unknown|unphysical|unreachable|unrecogni[sz]ed|unsupported|violation|wrong|kill(?:ed|ing)?"
    rb"|no|not|never|too|must|should|only|zero|negative|please|already|problems?|outside|out of|below|above|larger|smaller|singular|lacks?|beyond|end of file)\b|n't\b|!)"
)
# Words of trouble in lines that speak of none: counts of zero, kinds of errors, options, file names.
_HARMLESS = re.compile(
    rb"(?i:\berrors?[ :=]{1,4}0\b|\bfail(?:ed|ures?)?[ :=]{1,4}0\b|\b0 {1,3}(?:failed|failures?)\b"
    rb"|\b(?:absolute|relative|rms|rmse|mean|max|maximum|min|standard|l1|l2|linf"
    rb"|estimated|truncation|residual|round-?off|discretization|integration|statistical|fitting|training|test|validation|energy|force"
    rb"|quadrature|interpolation|global|local|diis|scf|gradient|density|symmetry) errors?\b|\berror (?:norm|bound|bars?|estimat|toleran|function|analysis|handl|check|control|level|correct|vector|matri|code:? 0\b)"
    rb"|-Werror|\berrno = 0|\b(?:erf|errors?)\(|\bif\b.{1,60}\b(?:fail|error)|\bprint(?:f|ing)?\b.{0,40}\berror"
    rb"|\bstop time|\bstop_|\bstop date|\bfail-?safe|\bfailover|\w\.(?:err|error)\b|\b(?:not|never) (?:be )?exceed|\btimeout (?:is|set|after|of|=)"
    rb"|\bbackward error|\bkill(?:ing)? time|\berror(?:s)? (?:file|log|output|stream|messages? (?:will|are) )|\bstandard (?:error|exception)"
    rb"|[_-]errors?\b {0,4}=|\bwarn(?:ing)?s?\b|\bignor(?:e|ed|ing)\b|\breconnect|\b(?:was|were|is|are) (?:clipped|skipped|reset)|\bexception handling|\bvectori[sz]e|\bkilled:? 0\b"
    rb"|\b(?:see|check|look at|refer to)\b.{0,60}\b(?:log|errors?|above|output|manual|documentation)|\bretry(?:ing)?\b|\bfall(?:s|ing)? back|\bfallback)"
)

_STRIPPED = re.compile(
    rb"\"[^\"\n]{0,120}\"|'[^'\n]{0,120}'|`[^'`\n]{0,120}['`]|(?<![\w.~-])(?:[\w.~-]{0,60}/){1,30}[\w.~-]{0,120}|(?<![\w.+-])[\w.+-]{0,60}\d[\w.+%-]{0,80}"
)
_SPACES = re.compile(rb"\s{2,200}")
_WORD = re.compile(r"[^\W\d_]{2,40}")
# Lines of a frame, of a table of numbers, of a stack.
_NO_WORDS = re.compile(
    r"^[\W\d_]*$|^\s*(?:#\d+ |at |from |File \"|\[[\w.:-]{1,60}\] ?\[ ?\d+\]|0x[0-9a-f]+)|\+0x[0-9a-f]{1,16}|\bUnknown {2,}Unknown\b|^\s*Image {3,}PC\b"
)

# An expression is worth running where one of these pieces stands in the line, in lower case: each of its branches holds one.
_FATAL_PIECES = (
    *(
        b"error",
        b"fatal",
        b"abor",
        b"stop",
        b"terminat",
        b"exit",
        b"ending due",
        b"err!",
        b"panic",
        b"severe",
        b"critical",
    ),
    *(b"unrecoverable", b"cannot", b"giving", b"fail", b"e r r o r"),
)
_HARMLESS_PIECES = tuple(
    b"err fail stop kill warn exceed timeout ignor retry fall exception connect clip skip vector reset".split()
)

# Only this much of a line is read for words, and makes its template.
_READ = 400
_TEMPLATE_LENGTH = 240


def suspicion(line: bytes) -> Suspicion:
    """Say whether a line reads as if something went wrong."""
    line = line[:_READ]
    lowered = line.lower()
    if _NEVER.search(line):
        return ""
    if _END.search(line):
        return "end"
    if _holds(lowered, _FATAL_PIECES) and _FATAL.search(line):
        return "fatal"
    if _ERROR.search(line):
        return "" if _holds(lowered, _HARMLESS_PIECES) and _HARMLESS.search(line) else "error"
    return "hint" if _HINT.search(line) else ""


def _holds(lowered: bytes, pieces: tuple[bytes, ...]) -> bool:
    """Whether one of the pieces stands in a line."""
    for piece in pieces:  # noqa: SIM110 - a generator takes twice as long, and this is the inner loop
        if piece in lowered:
            return True
    return False


def template(line: bytes) -> bytes:
    """Return a line without numbers, names, paths and quoted words."""
    return _SPACES.sub(b" ", _STRIPPED.sub(b"#", line[:_TEMPLATE_LENGTH])).strip()


def words_of(text: str) -> int:
    """Return the words of a line that says something; 0 for frames, stacks and tables of numbers."""
    if _NO_WORDS.search(text):
        return 0
    words = len(_WORD.findall(text))
    return words if 2 * words > len(text.split()) else 0
